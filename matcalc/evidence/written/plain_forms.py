"""How names, numbers, operators, parts and blocks of a syntax tree are evaluated."""

from __future__ import annotations

from collections.abc import Generator
from fractions import Fraction
from math import pi
from typing import Any, cast

import numpy as np

from matcalc.errors import NoReference
from matcalc.evidence.written import arithmetic, indices
from matcalc.evidence.written.evaluator import Evaluator, Place, Steps
from matcalc.evidence.written.values import Value, exact
from matcalc.language.index_sums import with_sums
from matcalc.language.syntax import Ast, definition, given_value


def number_value(at: Evaluator, tree: Ast, place: Place) -> Value:
    return exact(cast(Fraction, tree.value))


def name_value(at: Evaluator, tree: Ast, place: Place) -> Value:
    return _meaning(at, str(tree.value), place)


def _meaning(at: Evaluator, word: str, place: Place) -> Value:
    if word in place.bound:
        return indices.index(place.bound[word], at.length(place.bound[word]))
    if word in place.parameters:
        return place.parameters[word]
    data = at.base if place.is_base else at.data
    if word in data:
        return Value(np.asarray(data[word]))
    if word in at.sizes:
        return exact(at.sizes[word])
    if word == "pi":
        return Value(np.asarray(pi), fixed=True)
    raise NoReference(f"the name {word}")


def leaf_value(at: Evaluator, tree: Ast, place: Place) -> Value:
    node = given_value(tree)
    if node.kind == "number" and isinstance(node.value, Fraction | int):
        return exact(node.value)
    if node.kind == "size":
        terms = node.size.substitute({n: at.sizes[n] for n in node.size.names})
        return exact(terms.constant)
    found = at.leaf(tree, at.base if place.is_base else at.data, at.sizes)
    return Value(found, fixed=node.kind == "constant")


def _operands(tree: Ast, place: Place) -> Generator[tuple[Ast, Place], Any, list[Value]]:
    found = []
    for operand in tree.args:
        found.append((yield operand, place))
    return found


def sum_value(at: Evaluator, tree: Ast, place: Place) -> Steps:
    values = yield from _operands(tree, place)
    return arithmetic.total(values, cast("tuple[int, ...]", tree.value), at.expands)


def product_value(at: Evaluator, tree: Ast, place: Place) -> Steps:
    values = yield from _operands(tree, place)
    return arithmetic.chain(values, cast("tuple[str, ...]", tree.value), at.numpy, at.by_role)


def negative_value(at: Evaluator, tree: Ast, place: Place) -> Steps:
    return arithmetic.negative((yield tree.args[0], place))


def transpose_value(at: Evaluator, tree: Ast, place: Place) -> Steps:
    return arithmetic.transposed((yield tree.args[0], place), at.numpy)


def power_value(at: Evaluator, tree: Ast, place: Place) -> Steps:
    base = yield tree.args[0], place
    if _is_inverse_transpose(at, tree):
        return arithmetic.transposed(at.by_role("inverse", [base]), at.numpy)
    exponent = yield tree.args[1], place
    return arithmetic.power(base, exponent, tree.value == ".^", at.numpy, at.by_role)


def _is_inverse_transpose(at: Evaluator, tree: Ast) -> bool:
    """Whether a power is `A^-T` with T no name."""
    turned = tree.args[1]
    if tree.value != "^" or turned.head != "negative" or "T" in at.data or "T" in at.sizes:
        return False
    return turned.args[0].head == "name" and turned.args[0].value == "T"


def block_value(at: Evaluator, tree: Ast, place: Place) -> Steps:
    rows = []
    for row in tree.args:
        rows.append((yield from _operands(row, place)))
    return indices.block(rows)


def part_value(at: Evaluator, tree: Ast, place: Place) -> Steps:
    base = yield tree.args[0], place
    subscripts: list[indices.Subscript] = []
    for axis, one in enumerate(tree.args[1:]):
        if one.head == "slice":
            bounds = []
            for bound in one.args:
                bounds.append(None if bound.head == "empty" else _bound(bound, (yield bound, place)))
            subscripts.append(slice(*bounds))
            continue
        label = place.bound.get(str(one.value)) if one.head == "name" else None
        if label is not None:
            length = at.lengths.setdefault(label, base.shape[axis])
            if length != base.shape[axis]:
                raise NoReference("an index of two lengths")
            subscripts.append(indices.index(label, length))
            continue
        value = yield one, place
        subscripts.append(value if value.exact is None else as_place(value))
    return indices.part(base, subscripts)


def _bound(tree: Ast, value: Value) -> int:
    """Return a bound of a range.

    Raises: IndexError for a size that counts from the end and is 0 here: NumPy counts it from the start.
    """
    at = as_place(value)
    if not at and tree.head == "negative":
        raise IndexError("a bound from the end that is 0")
    return at


def as_place(value: Value) -> int:
    if value.exact is None or value.exact.denominator != 1:
        raise NoReference("a subscript that is no integer")
    return int(value.exact)


def condition_value(at: Evaluator, tree: Ast, place: Place) -> Steps:
    left, right = yield from _operands(tree, place)
    return indices.condition(left, str(tree.value), right)


def shared_value(at: Evaluator, tree: Ast, place: Place) -> Steps:
    """Evaluate a named part once for all its places, out of the reach of indices there."""
    key = definition(tree), place.is_base
    if key not in at.shared:
        explicit = with_sums(definition(tree), lambda word: word not in at.data and word not in at.sizes)
        at.shared[key] = yield explicit, Place(is_base=place.is_base)
    return at.shared[key]
