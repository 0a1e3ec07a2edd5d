r"""Reads subscripts in LaTeX: names, entries, rows, and the indices of sums.

`x_1` is the first entry of a declared vector x, else a name. Inside a sum over i, `x_i` is an entry of x, or row or
column i of a declared matrix X, if the bound of the sum is the length of one axis only. Subscripts count from 1, and
ranges include both ends: x_{2:3} is x[1:3]. A sum from 2 to n - 1 is a sum over parts, so x_{i+1} needs no own rule.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import cast

from matcalc.language.latex.latex_layout import unbraced
from matcalc.language.latex.latex_scope import (
    Index,
    Key,
    Reading,
    Scope,
    Value,
    fault,
    font_of,
    key_of,
    key_of_subscript,
    name_of,
    needed,
    subscript_of,
)
from matcalc.language.one_based import added
from matcalc.language.syntax import Ast, walk
from matcalc.language.write import text as written

_RANKS = {"scalar": 0, "vector": 1, "row": 1, "matrix": 2}


def named(reading: Reading, layout: Ast, below: Ast | None, scope: Scope, raised: bool = False) -> Value:
    """Return the symbol, the entry or the row that a letter with a subscript denotes.

    Raises: ParseError if it is ambiguous.
    """
    key = cast(Key, key_of(layout))
    if below is None:
        if len(key) == 1 and (key[0] in scope.indices or key[0] in scope.parameters):
            return Value(Ast("name", (), key[0], layout.span), "scalar")
        return symbol(reading, key, layout)
    added = key_of_subscript(below)
    if added is not None and (*key, *added) in reading.keys:
        return symbol(reading, (*key, *added), layout)
    bound = [x for x in letters_in(below) if x in scope.indices]
    is_part = bool(bound) or any(x.head == "slice" for x in walk(below))
    if key in reading.keys:
        base = symbol(reading, key, layout)
        if base.kind == "scalar" and not is_part and added is not None:
            return symbol(reading, (*key, *added), layout)
        if is_part or _counts(reading, below):
            return part_of(reading, base, str(cast(Ast, base.tree).value), below, scope, layout)
        if added is None or _is_open(below, base.kind):
            hint = "an index is bound by a sum, as in \\sum_{i=1}^{n} x_i; declare any other symbol"
            raise fault(f"the subscript of {'_'.join(key)} is unknown", below, hint)
        return symbol(reading, (*key, *added), layout)
    if not is_part:
        if added is None:
            raise fault("this subscript cannot be part of a name", below)
        _check_not_row(reading, key, below, layout)
        return symbol(reading, (*key, *added), layout)
    return _of_undeclared(reading, key, below, scope, layout, bound)


def symbol(reading: Reading, key: Key, layout: Ast) -> Value:
    """Return the symbol of a key: the declared one, else one whose name is built from the key."""
    names = reading.keys.get(key, ())
    if len(names) > 1:
        hint = f"{' and '.join(names)} look alike in LaTeX: give one of them another name"
        raise fault(f"this can be {' or '.join(names)}", layout, hint)
    base = unbraced(layout)
    if (
        not names
        and len(key[0].replace("d ", "")) > 1
        and base.head == "word"
        and font_of(layout) not in ("italic", "roman")
    ):
        hint = f"declare {key[0]}, or give each letter its own font"
        raise fault(f"'{key[0]}' can be one name or a product of letters", layout, hint)
    if not names and base.head == "letter" and font_of(layout) == "script":
        hint = f"declare {key[0]} if it is a symbol; the number of elements of a set is a size, n"
        raise fault(f"the script letter {key[0]} can be a set or a symbol", layout, hint)
    name = names[0] if names else name_of(key, layout.caret)
    if (
        not names
        and font_of(layout) == "bold"
        and reading.known.default(name) == "scalar"
        and name not in reading.known.sizes
    ):
        reading.ranks[name] = 1
    return Value(Ast("name", (), name, layout.span), reading.kind_of(name))


def letters_in(layout: Ast) -> list[str]:
    return [str(leaf.value[0]) for leaf in walk(layout) if leaf.head == "letter"]  # type: ignore[index]


def _counts(reading: Reading, below: Ast) -> bool:
    """Return whether a subscript consists of numbers and sizes."""
    leaves = [x for x in walk(below) if not x.args]
    if any(x.head == "word" and x.value[0] == "end" for x in leaves):  # type: ignore[index]
        return True
    letters = [x for x in leaves if x.head == "letter"]
    others = all(x.head in ("letter", "number", "operator", "lone") for x in leaves)
    return others and all(x.value[0] in reading.known.sizes | reading.known.indices for x in letters)  # type: ignore[index]


def _is_open(below: Ast, kind: str) -> bool:
    """Return whether a subscript consists of letters, at most one for each axis, as for an entry."""
    axes = _axes(below, _RANKS.get(kind), Scope())
    return len(axes) <= _RANKS.get(kind, len(axes)) and all(x.head == "letter" for x in axes)


def elements(layout: Ast) -> tuple[Ast, ...]:
    return layout.args if layout.head == "fence" and layout.value == "brace" else (layout,)


def _check_not_row(reading: Reading, key: Key, below: Ast, layout: Ast) -> None:
    """Raise ParseError for x_1 and x_i if only a matrix X is declared."""
    large = _large(reading, key)
    if large and all(x.head in ("number", "letter") for x in elements(below)):
        shown = "_".join(key)
        last = "".join(str(x.value[2 if x.head == "number" else 0]) for x in elements(below))  # type: ignore[index]
        hint = f"declare {shown}_{last} if it is a symbol; rows are {large}_{{{last},:}}, columns {large}_{{:,{last}}}"
        raise fault(f"this can be a symbol, or a row or column of {large}", layout, hint)


def _large(reading: Reading, key: Key) -> str:
    """Return the declared matrix whose rows or columns have this name, X for x; "" if there is none."""
    base = key[0][:1].upper() + key[0][1:]
    names = reading.keys.get((base, *key[1:]), ())
    if base == key[0] or len(names) != 1 or reading.kind_of(names[0]) != "matrix":
        return ""
    return names[0]


def _of_undeclared(reading: Reading, key: Key, below: Ast, scope: Scope, layout: Ast, bound: Sequence[str]) -> Value:
    """Return an entry or row of an undeclared name, if the context determines it.

    Raises: ParseError with the possible readings.
    """
    shown = "_".join(key)
    axes = _axes(below, None, scope)
    large = _large(reading, key)
    kind = reading.known.default(name_of(key, layout.caret))
    if large and len(axes) == 1 and len(bound) == 1:
        found = _row_of(reading, large, scope.indices[bound[0]], layout, _offset(reading, axes[0], bound))
        if found is not None:
            return found
        kinds = f"{large}: matrix({', '.join(reading.known.shapes[large])})"
        hint = f"a row is {large}_{{{bound[0]},:}}, a column {large}_{{:,{bound[0]}}}; or declare {shown}: vector(n)"
        raise fault(f"this can be row or column {bound[0]} of {kinds}, or an entry of {shown}", layout, hint)
    if large and len(axes) == 2 and kind != "matrix":
        return part_of(reading, Value(Ast("name", (), large, layout.span), "matrix"), large, below, scope, layout)
    if len(axes) == 2 and kind == "matrix" or (len(axes) == 1 and kind == "vector" and key[0] in reading.bare):
        return part_of(reading, symbol(reading, key, layout), None, below, scope, layout)
    if len(axes) == 1 and kind != "matrix":
        capital = key[0][:1].upper() + key[0][1:]
        hint = f"declare {shown}: vector(n) or {capital}: matrix(n, p), with n as the sum's bound for rows"
        raise fault(f"this can be an entry of a vector {shown}, or a row or column of a matrix {capital}", layout, hint)
    raise fault(f"{shown} has a subscript but is not declared", layout, f"declare {shown} with its sizes")


def _row_of(reading: Reading, large: str, index: Index, layout: Ast, offset: Ast) -> Value | None:
    """Return row or column i + offset of a matrix, if the bound of the sum over i, n or n - 1, decides which."""
    shape = reading.known.shapes[large]
    bound = written(index.high) if index.high is not None else index.size
    sizes = [str(x.value) for x in walk(index.high) if x.head == "name"] if index.high is not None else []
    axes = [k for k, length in enumerate(shape) if length == bound or [length] == sizes]
    if len(axes) != 1:
        return None
    name = Ast("name", (), large, layout.span)
    at = _indexed(reading, index, offset, shape[axes[0]])
    below = [at, (_all(layout), None)] if axes[0] == 0 else [(_all(layout), None), at]
    return Value(_part(name, below, layout), "vector")


def length_of(reading: Reading, body: Ast, letter: str) -> str:
    """Return the length of the axes of declared symbols that a letter is an index of; "" if they differ."""
    lengths: set[str] = set()
    for node in walk(body):
        below = subscript_of(node) if node.head == "script" else None
        key = key_of(node.args[0]) if below is not None else None
        large = _large(reading, key) if key and key not in reading.keys else ""
        for name in (*reading.keys.get(key or (), ()), *([large] if large else [])):
            shape = reading.known.shapes.get(name, ())
            if name == large and len(_axes(cast(Ast, below), 2, Scope())) != 2:
                continue
            axes = _axes(cast(Ast, below), len(shape), Scope())
            lengths |= {n for x, n in zip(axes, shape, strict=False) if x.head == "letter" and x.value[0] == letter}  # type: ignore[index]
    return lengths.pop() if len(lengths) == 1 else ""


# Parts.


def part_of(reading: Reading, base: Value, name: str | None, below: Ast, scope: Scope, layout: Ast) -> Value:
    """Return entries of a value: its subscripts count from 1, ranges include both ends.

    Raises: ParseError if there are too many or too few, or one is not an index, number or size.
    """
    shape = reading.known.shapes.get(name or "", ())
    rank = len(shape) if shape else _RANKS.get(base.kind)
    if rank == 0:
        raise fault("a scalar has no entries", layout)
    axes = _axes(below, rank, scope)
    if rank is not None and len(axes) != rank:
        shown = name or "A"
        one = "" if rank != 2 else f"; a row is {shown}_{{i,:}}, a column {shown}_{{:,i}}"
        count = "one subscript" if len(axes) == 1 else f"{len(axes)} subscripts"
        raise fault(f"{count} for {rank} axes", below, f"write {rank}{one}")
    made = []
    for k, axis in enumerate(axes):
        length = shape[k] if k < len(shape) else ""
        made.append(_axis(reading, axis, length, scope))
    ranges = [tree.head == "slice" for tree, _ in made]
    kinds = ("scalar", "vector", "matrix", "tensor")
    found = _part(cast(Ast, base.tree), made, layout)
    gathered = any(_is_several(reading, tree) for tree, _ in made)
    if ranges == [False, True] and not gathered:
        return Value(Ast("transpose", (found,), None, layout.span, layout.caret), "row")
    return Value(found, kinds[min(sum(ranges) + gathered, 3)])


def _is_several(reading: Reading, subscript: Ast) -> bool:
    """Return whether a subscript is a vector of indices that are data, or a range of one."""
    base, *at = subscript.args if subscript.head == "part" else (subscript,)
    known = reading.known
    return (
        base.value in known.indices and len(known.shapes[str(base.value)]) == 1 and all(x.head == "slice" for x in at)
    )


_Axis = tuple[Ast, Ast | None]
"""A subscript, and the range that is cut out before it applies."""


def _part(base: Ast, axes: Sequence[_Axis], layout: Ast) -> Ast:
    """Return a part; if a sum covers only a range of an axis, that range is cut out first."""
    if any(cut is not None for _, cut in axes):
        base = Ast("part", (base, *(cut or _all(layout) for _, cut in axes)), None, layout.span, layout.caret)
    return Ast("part", (base, *(tree for tree, _ in axes)), None, layout.span, layout.caret)


def _all(layout: Ast) -> Ast:
    return Ast("slice", (Ast("empty"),) * 3, None, layout.span)


def _axes(below: Ast, rank: int | None, scope: Scope) -> tuple[Ast, ...]:
    """Return the subscripts of each axis; `ij` and `12` are two if there are two axes."""
    all_ = elements(below)
    if len(all_) != 1:
        return all_
    one = all_[0]
    if one.head == "row" and all(_is_axis(x) for x in one.args):
        expected = rank if rank is not None else len(one.args)
        letters = [x for x in one.args if x.head == "letter"]
        if expected == len(one.args) and (rank is not None or all(x.value[0] in scope.indices for x in letters)):  # type: ignore[index]
            return one.args
    if one.head == "number" and rank is not None and rank > 1 and len(str(one.value[2])) == rank:  # type: ignore[index]
        digits = str(one.value[2])  # type: ignore[index]
        return tuple(Ast("number", (), (Fraction(digit), "", digit), one.span) for digit in digits)
    return all_


def _is_axis(item: Ast) -> bool:
    return item.head in ("letter", "number") or (item.head == "operator" and item.value in (r"\cdot", "*", r"\ast"))


def _axis(reading: Reading, axis: Ast, length: str, scope: Scope) -> _Axis:
    if axis.head in ("operator", "lone") and axis.value in (r"\cdot", "*", r"\ast"):
        return _all(axis), None
    if axis.head == "slice":
        return _range(reading, axis), None
    bound = [x for x in letters_in(axis) if x in scope.indices]
    if not bound:
        return _from_zero(reading, axis), None
    index = scope.indices[bound[0]]
    offset = _offset(reading, axis, bound)
    return _indexed(reading, index, offset, length, axis)


def _indexed(reading: Reading, index: Index, offset: Ast, length: str, axis: Ast | None = None) -> _Axis:
    """Return an index along an axis, with the range that its bounds select unless that is the whole axis."""
    span = axis.span if axis is not None else offset.span
    name = Ast("name", (), index.name, span)
    shifted = not is_number(offset, 0)
    if index.high is None or index.low is None:
        if shifted:
            raise fault("a shifted index of a sum without bounds", cast(Ast, axis), r"write \sum_{i=1}^{n-1}")
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


def _offset(reading: Reading, axis: Ast, bound: Sequence[str]) -> Ast:
    """Return c of the subscript i + c."""
    zero = Ast("number", (), Fraction(0), axis.span)
    if axis.head == "letter":
        return zero
    hint = "subscripts are an index, a number, a size, or an index and a number: x_{i+1}"
    if len(bound) > 1 or axis.head != "chain":
        raise fault("this subscript is not supported", axis, hint)
    signs = axis.value[0]  # type: ignore[index]
    total = zero
    for sign, term in zip(signs, axis.args, strict=True):
        if term.head == "letter" and term.value[0] == bound[0]:  # type: ignore[index]
            if sign < 0:
                raise fault("an index that counts down is not supported", axis, hint)
            continue
        if bound[0] in letters_in(term):
            raise fault("this subscript is not supported", axis, hint)
        total = sum_of(total, cast(Ast, needed(reading, term).tree), sign)
    return total


def _range(reading: Reading, axis: Ast) -> Ast:
    """Return a Python range: from 0, the end excluded."""
    start, stop, step = axis.args
    backwards = False
    if step.head != "empty":
        by = needed(reading, step).tree
        backwards = by is not None and written(by) == "-1"
    first = start if start.head == "empty" else _from_zero(reading, start)
    last = stop if stop.head == "empty" else _last(reading, stop, backwards)
    by_tree = step if step.head == "empty" else cast(Ast, needed(reading, step).tree)
    return Ast("slice", (first, last, by_tree), None, axis.span, axis.at)


def _last(reading: Reading, stop: Ast, backwards: bool) -> Ast:
    if backwards:
        return sum_of(_from_zero(reading, stop), Ast("number", (), Fraction(1)), -1)
    end = _from_end(reading, stop)
    if end is None:
        return cast(Ast, needed(reading, stop).tree)
    return Ast("empty") if is_number(end, 0) else _negated(end)


def _from_zero(reading: Reading, axis: Ast) -> Ast:
    """Return the index from 0 of a subscript that counts from 1."""
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
    if tree.head == "number" and cast(Fraction, tree.value) < 1:
        raise fault("subscripts count from 1", axis)
    return added(tree, -1)


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
