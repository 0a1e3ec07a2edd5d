"""Evaluates names, numbers, operators, parts and blocks of a syntax tree."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from math import inf, pi
from typing import cast

import numpy as np

from matcalc.errors import NoReference
from matcalc.evidence.written import arithmetic, indices
from matcalc.evidence.written.evaluator import Evaluator, Scope, Steps
from matcalc.evidence.written.values import Value, exact
from matcalc.language.index_lists import entries, is_list
from matcalc.language.index_sums import with_sums
from matcalc.language.syntax import Ast, definition, value_of_leaf

Operands = Sequence[Value]


def number_value(at: Evaluator, tree: Ast, scope: Scope, operands: Operands) -> Value:
    return _number(tree)


@lru_cache(maxsize=1024)
def _number(tree: Ast) -> Value:
    """Return the value of a number, which all points share."""
    return exact(cast(Fraction, tree.value))


def name_value(at: Evaluator, tree: Ast, scope: Scope, operands: Operands) -> Value:
    word = str(tree.value)
    if word in scope.bound:
        label = scope.bound[word]
        found = indices.index(label, at.length(label), at.starts.get(label, 0))
        return found._replace(array=found.array.astype(float))
    if word in scope.parameters:
        return scope.parameters[word]
    data = at.base if scope.is_base else at.data
    if word in data:
        found = data[word]
        return found if isinstance(found, Value) else Value(np.asarray(found))
    if word in at.sizes:
        return exact(at.sizes[word])
    if word in ("pi", "inf"):
        return Value(np.asarray(pi if word == "pi" else inf), fixed=True)
    raise NoReference(f"the name {word}")


def leaf_value(at: Evaluator, tree: Ast, scope: Scope, operands: Operands) -> Value:
    node = value_of_leaf(tree)
    if node.kind == "number" and isinstance(node.value, Fraction | int):
        return exact(node.value)
    if node.kind == "size":
        terms = node.size.substitute({n: at.sizes[n] for n in node.size.names})
        return exact(terms.constant)
    found = at.leaf(tree, at.base if scope.is_base else at.data, at.sizes)
    return Value(found, fixed=node.kind == "constant")


def sum_value(at: Evaluator, tree: Ast, scope: Scope, operands: Operands) -> Value:
    return arithmetic.total(operands, cast("tuple[int, ...]", tree.value), at.expands)


def product_value(at: Evaluator, tree: Ast, scope: Scope, operands: Operands) -> Value:
    return arithmetic.chain(operands, cast("tuple[str, ...]", tree.value), at.numpy, at.by_role)


def negative_value(at: Evaluator, tree: Ast, scope: Scope, operands: Operands) -> Value:
    return arithmetic.negative(operands[0])


def transpose_value(at: Evaluator, tree: Ast, scope: Scope, operands: Operands) -> Value:
    return arithmetic.transposed(operands[0], at.numpy)


def power_value(at: Evaluator, tree: Ast, scope: Scope, operands: Operands) -> Value:
    base, exponent = operands
    return arithmetic.power(base, exponent, tree.value == ".^", at.numpy, at.by_role)


def power_by_letter(at: Evaluator, tree: Ast, scope: Scope) -> Steps:
    """Evaluate `A^-T`: the inverse transpose if T is not a declared name."""
    base = yield tree.args[0], scope
    if "T" not in at.data and "T" not in at.sizes:
        return arithmetic.transposed(at.by_role("inverse", [base]), at.numpy)
    return power_value(at, tree, scope, [base, (yield tree.args[1], scope)])


def is_by_letter(tree: Ast) -> bool:
    """Whether a power is written `A^-T`."""
    exponent = tree.args[1]
    if tree.value != "^" or exponent.head != "negative":
        return False
    return exponent.args[0].head == "name" and exponent.args[0].value == "T"


def condition_value(at: Evaluator, tree: Ast, scope: Scope, operands: Operands) -> Value:
    left, right = operands
    return indices.condition(left, str(tree.value), right)


def block_value(at: Evaluator, tree: Ast, scope: Scope) -> Steps:
    rows: list[list[Value]] = []
    for row in tree.args:
        rows.append([])
        for operand in row.args:
            rows[-1].append((yield operand, scope))
    return indices.block(rows)


def part_value(at: Evaluator, tree: Ast, scope: Scope) -> Steps:
    base = yield tree.args[0], scope
    subscripts: list[indices.Subscript] = []
    for axis, one in enumerate(tree.args[1:]):
        if one.head == "slice":
            bounds = []
            for bound in one.args:
                bounds.append(None if bound.head == "empty" else _bound(bound, (yield bound, scope)))
            subscripts.append(slice(*bounds))
            continue
        if is_list(one):
            chosen = []
            for entry in entries(one):
                chosen.append(as_integer((yield entry, scope)))
            subscripts.append(indices.listed(chosen, base.shape[axis]))
            continue
        label = scope.bound.get(str(one.value)) if one.head == "name" else None
        if label is not None:
            length = at.lengths.setdefault(label, base.shape[axis])
            if length != base.shape[axis] and label not in at.starts:
                raise NoReference("an index that subscripts axes of different lengths")
            subscripts.append(indices.index(label, length, at.starts.get(label, 0)))
            continue
        value = yield one, scope
        subscripts.append(as_integers(value) if value.exact is None else as_integer(value))
    return indices.part(base, subscripts)


def _bound(tree: Ast, value: Value) -> int:
    """Return a bound of a range.

    Raises: IndexError for `-n` with n = 0, which NumPy would count from the start.
    """
    at = as_integer(value)
    if not at and tree.head == "negative":
        raise IndexError("a bound counted from the end is 0")
    return at


def as_integer(value: Value) -> int:
    if value.exact is None or value.exact.denominator != 1:
        raise NoReference("a subscript that is not an integer")
    return int(value.exact)


def as_integers(value: Value) -> Value:
    """Return computed subscripts as integers."""
    rounded = np.rint(value.array)
    if not np.array_equal(rounded, value.array):
        raise NoReference("a subscript that is not an integer")
    return value._replace(array=rounded.astype(np.int64))


def shared_value(at: Evaluator, tree: Ast, scope: Scope) -> Steps:
    """Evaluate a named part once for all its uses, outside the scope of indices there."""
    key = definition(tree), scope.is_base
    if key not in at.shared:
        explicit = with_sums(definition(tree), lambda word: word not in at.data and word not in at.sizes)
        at.shared[key] = yield explicit, Scope(is_base=scope.is_base)
    return at.shared[key]
