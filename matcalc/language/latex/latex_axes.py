r"""Reads the subscripts of one axis in LaTeX: an index, a number, a size or a range, which count from 1.

Ranges include both ends: x_{2:3} is x[1:3]. A sum from 2 to n - 1 is a sum over parts, so x_{i+1} needs no own rule.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import cast

from matcalc.language.latex.latex_computed import computed, is_computed
from matcalc.language.latex.latex_linear import kept_inside
from matcalc.language.latex.latex_scope import NUMBER, Index, Reading, Scope, fault, key_of, needed
from matcalc.language.one_based import added
from matcalc.language.syntax import Ast, walk
from matcalc.language.write import text as written

Axis = tuple[Ast, Ast | None]
"""A subscript, and the range that is cut out before it applies."""


def letters_in(layout: Ast) -> list[str]:
    return [str(leaf.value[0]) for leaf in walk(layout) if leaf.head == "letter"]  # type: ignore[index]


def elements(layout: Ast) -> tuple[Ast, ...]:
    return layout.args if layout.head == "fence" and layout.value == "brace" else (layout,)


def counts(reading: Reading, below: Ast) -> bool:
    """Return whether a subscript consists of numbers and sizes."""
    leaves = [x for x in walk(below) if not x.args]
    if any(x.head == "word" and x.value[0] == "end" for x in leaves):  # type: ignore[index]
        return True
    letters = [x for x in leaves if x.head == "letter"]
    others = all(x.head in ("letter", "number", "operator", "lone") for x in leaves)
    return others and all(x.value[0] in reading.known.sizes | reading.known.indices for x in letters)  # type: ignore[index]


def axes_in(below: Ast, rank: int | None, scope: Scope) -> tuple[Ast, ...]:
    """Return the subscripts of each axis; `ij` and `12` are two if there are two axes."""
    all_ = elements(below)
    if len(all_) != 1:
        return all_
    one = all_[0]
    if one.head == "row" and all(_is_axis(x) or rank is not None and _is_entry(x) for x in one.args):
        expected = rank if rank is not None else len(one.args)
        letters = [x for x in one.args if x.head == "letter"]
        if expected == len(one.args) and (rank is not None or all(x.value[0] in scope.indices for x in letters)):  # type: ignore[index]
            return tuple(x.args[0] if x.head == "fence" and x.value == "open" else x for x in one.args)
    if one.head == "number" and rank is not None and rank > 1 and len(str(one.value[2])) == rank:  # type: ignore[index]
        digits = str(one.value[2])  # type: ignore[index]
        return tuple(Ast("number", (), (Fraction(digit), "", digit), one.span) for digit in digits)
    return all_


def _is_axis(item: Ast) -> bool:
    return item.head in ("letter", "number") or (item.head == "operator" and item.value in (r"\cdot", "*", r"\ast"))


def _is_entry(item: Ast) -> bool:
    r"""Return whether an item can be an entry of data, s_t of \theta_{s_t a_t}, or a sum in parentheses, h_{k(n-1)}."""
    is_sum = item.head == "fence" and item.value == "open" and [x.head for x in item.args] == ["chain"]
    return item.head == "script" and item.value == ("_",) or item.head == "fence" and item.value == NUMBER or is_sum


def is_whole(axis: Ast) -> bool:
    r"""Return whether a subscript stands for a whole axis, \cdot or *."""
    return axis.head in ("operator", "lone") and axis.value in (r"\cdot", "*", r"\ast")


def axis_of(reading: Reading, axis: Ast, length: str, scope: Scope, first: int = 1) -> Axis:
    """Return a subscript along an axis of this length, whose first entry has the number `first`."""
    if is_whole(axis):
        return whole_axis(axis), None
    if axis.head == "slice":
        return _range(reading, axis, first), None
    if is_data(reading, axis):
        return cast(Ast, needed(reading, axis).tree), None
    bound = [x for x in letters_in(axis) if x in scope.indices]
    if not bound:
        return from_zero(reading, axis, first), None
    index = scope.indices[bound[0]]
    parts = walk(cast(Ast, needed(reading, axis).tree)) if axis.head == "chain" else ()
    if any(x.head == "product" and "/" in cast("tuple[str, ...]", x.value) for x in parts):
        hint = "declare the values between the entries as an array of their own: its entry i + 1 for f_{i+1/2}"
        raise fault("a subscript is a whole number", axis, hint)
    if is_computed(axis, bound) and not any(scope.indices[x].is_step for x in bound):
        position, cut = computed(reading, axis, bound, scope, first)
        place = cast(Ast, needed(reading, axis).tree)
        return position if cut else kept_inside(position, place, length, first, scope.indices), cut
    offset = sum_of(offset_of(reading, axis, bound), Ast("number", (), Fraction(1 - first)))
    if index.is_step:
        return _at_step(index, offset, axis), None
    return indexed(reading, index, offset, length, axis)


def is_data(reading: Reading, axis: Ast) -> bool:
    """Return whether a subscript is an index that is data, y_i, whose numbers count from 0 as its declaration says."""
    return any(set(reading.keys.get(key_of(x) or (), ())) & reading.known.indices for x in walk(axis))


def _at_step(index: Index, offset: Ast, axis: Ast) -> Ast:
    """Return the position, from 0, that a subscript with the index of a recurrence has at a step."""
    if offset.head != "number":
        raise fault(f"this subscript is not {index.name} plus a number", axis)
    shift = cast(Fraction, offset.value) + cast(Fraction, cast(Ast, index.low).value) - 1
    name = Ast("name", (), index.name, axis.span)
    if not shift:
        return name
    one = Ast("number", (), abs(shift), axis.span)
    return Ast("sum", (name, one), (1, 1 if shift > 0 else -1), axis.span, axis.caret)


def indexed(reading: Reading, index: Index, offset: Ast, length: str, axis: Ast | None = None) -> Axis:
    """Return an index along an axis, with the range that its bounds select unless that is the whole axis."""
    span = axis.span if axis is not None else offset.span
    name = Ast("name", (), index.name, span)
    shifted = not is_number(offset, 0)
    if index.high is None or index.low is None:
        if shifted:
            raise fault(
                "a shifted index of a sum without bounds",
                axis or offset,
                rf"write its range, \sum_{{{index.name}=1}}^{{n}}, or {index.name} = 1, \ldots, n beside the formula",
            )
        return name, None
    whole = is_number(index.low, 1) and not shifted
    if whole and (not length or length == written(index.high)):
        index.measured = index.measured or bool(length)
        return name, None
    index.measured = True
    start = sum_of(sum_of(index.low, offset), Ast("number", (), Fraction(1)), -1)
    if start.head == "negative" or start.head == "number" and cast(Fraction, start.value) < 0:
        hint = f"with a first entry of number 0, declare it one longer and write the subscript {index.name}+1"
        raise fault("subscripts count from 1", axis or offset, hint)
    cut = Ast("slice", (start, sum_of(index.high, offset), Ast("empty")), None, span)
    return name, cut


def offset_of(reading: Reading, axis: Ast, bound: Sequence[str]) -> Ast:
    """Return c of the subscript i + c."""
    zero = Ast("number", (), Fraction(0), axis.span)
    if axis.head == "letter":
        return zero
    hint = "subscripts are an index, a number, a size, or an index and a number: x_{i+1}"
    if axis.head == "script" and (key := key_of(axis.args[0])):
        hint = f"an index that is data is declared, {'_'.join(key)}: index(n)"
    if len(bound) > 1 or axis.head != "chain":
        raise fault("this subscript is not supported", axis, hint)
    total = zero
    for sign, term in _terms(axis):
        if term.head == "letter" and term.value[0] == bound[0]:  # type: ignore[index]
            if sign < 0:
                raise fault("an index that counts down is not supported", axis, hint)
            continue
        if bound[0] in letters_in(term):
            raise fault("this subscript is not supported", axis, hint)
        total = sum_of(total, cast(Ast, needed(reading, term).tree), sign)
    return total


def _terms(chain: Ast) -> Iterator[tuple[int, Ast]]:
    """Yield the terms of a sum with their signs, also those of sums in parentheses, (i + 1) + 1."""
    for sign, term in zip(chain.value[0], chain.args, strict=True):  # type: ignore[index]
        is_fence = term.head == "fence" and term.value in ("open", "brace") and len(term.args) == 1
        inner = term.args[0] if is_fence else term
        if inner.head == "chain":
            yield from ((sign * own, x) for own, x in _terms(inner))
        else:
            yield sign, term


def _range(reading: Reading, axis: Ast, first: int) -> Ast:
    """Return a Python range: from 0, the end excluded."""
    start, stop, step = axis.args
    backwards = False
    if step.head != "empty":
        by = needed(reading, step).tree
        backwards = by is not None and written(by) == "-1"
    low = start if start.head == "empty" else from_zero(reading, start, first)
    last = stop if stop.head == "empty" else _last(reading, stop, backwards, first)
    by_tree = step if step.head == "empty" else cast(Ast, needed(reading, step).tree)
    return Ast("slice", (low, last, by_tree), None, axis.span, axis.at)


def _last(reading: Reading, stop: Ast, backwards: bool, first: int) -> Ast:
    if backwards:
        return sum_of(from_zero(reading, stop, first), Ast("number", (), Fraction(1)), -1)
    end = _from_end(reading, stop)
    if end is None:
        return added(cast(Ast, needed(reading, stop).tree), 1 - first)
    return Ast("empty") if is_number(end, 0) else _negated(end)


def from_zero(reading: Reading, axis: Ast, first: int = 1) -> Ast:
    """Return the index from 0 of a subscript that counts from `first`."""
    end = _from_end(reading, axis)
    one = Ast("number", (), Fraction(1), axis.span)
    if end is not None:
        return _negated(sum_of(end, one))
    if axis.head == "number":
        tree = Ast("number", (), cast("tuple[object, ...]", axis.value)[0], axis.span)
    else:
        tree = cast(Ast, needed(reading, axis).tree)
    for leaf in walk(tree):
        if leaf.head == "name" and str(leaf.value) not in reading.known.sizes | reading.known.indices:
            hint = "an index is bound by a sum, a size is declared"
            raise fault(f"the subscript {leaf.value} is unknown", axis, hint)
    if tree.head == "number" and cast(Fraction, tree.value) < first:
        raise fault(f"subscripts count from {first}", axis)
    return added(tree, -first)


def _from_end(reading: Reading, axis: Ast) -> Ast | None:
    r"""Return c of the subscript \mathrm{end} - c."""
    terms = axis.args if axis.head == "chain" else (axis,)
    signs = axis.value[0] if axis.head == "chain" else (1,)  # type: ignore[index]
    if not (terms[0].head == "word" and terms[0].value[0] == "end" and signs[0] > 0):  # type: ignore[index]
        return None
    total = Ast("number", (), Fraction(0), axis.span)
    for sign, term in zip(signs[1:], terms[1:], strict=True):
        total = sum_of(total, cast(Ast, needed(reading, term).tree), -sign)
    return total


def whole_axis(layout: Ast) -> Ast:
    return Ast("slice", (Ast("empty"),) * 3, None, layout.span)


def _negated(tree: Ast) -> Ast:
    return Ast("negative", (tree,), None, tree.span)


def is_number(tree: Ast, number: int) -> bool:
    return tree.head == "number" and tree.value == number


def sum_of(tree: Ast, other: Ast, sign: int = 1) -> Ast:
    """Return a sum of sizes, evaluated if both are numbers."""
    if tree.head == other.head == "number":
        return Ast("number", (), cast(Fraction, tree.value) + sign * cast(Fraction, other.value), tree.span)
    if is_number(other, 0):
        return tree
    if is_number(tree, 0):
        return other if sign > 0 else _negated(other)
    return Ast("sum", (tree, other), (1, sign), tree.span)
