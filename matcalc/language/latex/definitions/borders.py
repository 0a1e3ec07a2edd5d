r"""Reads what a passage tells of entries beyond the ends of an array: u_{N+1} = u_1, u_0 = u_{N+1} = 0.

An array whose last entry the first one follows is read modulo its length. A vector with other values at its ends is
part of a longer one, whose entries the formula reads.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import NamedTuple, cast

from matcalc.language.latex.latex_axes import axes_in
from matcalc.language.latex.latex_scope import Reading, Scope, fault, key_of, subscript_of
from matcalc.language.latex.layout.latex_layout import unbraced
from matcalc.language.latex.layout.latex_patterns import same_layout
from matcalc.language.latex.names_in_lines import whole_key
from matcalc.language.syntax import Ast, rebuild, walk


class Border(NamedTuple):
    """The value of an array beyond one end of an axis; `is_last` is the end, `is_round` whether it is the other end."""

    name: str
    axis: int
    is_last: bool
    is_round: bool
    value: Ast


Lines = list[list[Ast]]


def without_borders(reading: Reading, lines: Lines, aside: list[Ast]) -> tuple[Lines, list[Ast], list[Border]]:
    """Return lines, and those behind them, without the values beyond ends, and these values."""
    found: list[Border] = []
    if sum(map(len, lines)) + len(aside) == 1:
        return lines, aside, found

    def is_formula(one: Ast) -> bool:
        own = _borders(reading, one)
        found.extend(own)
        return not own

    kept = [list(filter(is_formula, line)) for line in lines]
    return [line for line in kept if line], list(filter(is_formula, aside)), found


def _borders(reading: Reading, line: Ast) -> list[Border]:
    if line.head != "relation" or set(cast("tuple[str, ...]", line.value)) != {"=="}:
        return []
    *sides, value = line.args
    found = [_border(reading, side, value) for side in sides]
    return [] if None in found else cast("list[Border]", found)


def _border(reading: Reading, side: Ast, value: Ast) -> Border | None:
    """Return the border that a left side is, u_0 or u_{N+1}; None for any other."""
    name, axes = _entry(reading, side)
    shape = reading.known.shapes.get(name, ())
    ends = [(k, is_last) for k, x in enumerate(axes) for is_last in (False, True) if _is_beyond(x, shape[k], is_last)]
    if len(ends) != 1:
        return None
    k, is_last = ends[0]
    other, own = _entry(reading, value)
    others = other == name and all(same_layout(a, b) for j, (a, b) in enumerate(zip(axes, own, strict=True)) if j != k)
    is_round = others and _is_end(own[k], shape[k], not is_last)
    is_plain = len(shape) == 1 and shape[0] in reading.known.sizes
    return Border(name, k, is_last, is_round, value) if is_round or is_plain else None


def _entry(reading: Reading, side: Ast) -> tuple[str, tuple[Ast, ...]]:
    """Return a declared array and the subscripts of its entry; "" for anything else."""
    below = subscript_of(side) if side.head == "script" and side.value == ("_",) else None
    key = key_of(side.args[0]) if below is not None and whole_key(side) not in reading.keys else None
    names = reading.keys.get(key, ()) if key is not None else ()
    shape = reading.known.shapes.get(names[0], ()) if len(names) == 1 else ()
    axes = axes_in(cast(Ast, below), len(shape), Scope()) if shape else ()
    return (names[0], axes) if shape and len(axes) == len(shape) else ("", ())


def _is_end(axis: Ast, length: str, is_last: bool) -> bool:
    return axis.head == "letter" and axis.value[0] == length if is_last else _number(axis) == 1  # type: ignore[index]


def _is_beyond(axis: Ast, length: str, is_last: bool) -> bool:
    """Return whether a subscript is 0, or the length of the axis plus 1."""
    if not is_last:
        return _number(axis) == 0
    is_sum = axis.head == "chain" and axis.value == ((1, 1), False)
    return is_sum and _is_end(axis.args[0], length, True) and _number(axis.args[1]) == 1


def _number(axis: Ast) -> Fraction | None:
    return cast(Fraction, axis.value[0]) if axis.head == "number" else None  # type: ignore[index]


def with_borders(reading: Reading, lines: Sequence[Ast], borders: Sequence[Border]) -> list[Ast]:
    """Return lines in which entries beyond ends have their values."""
    done = list(lines)
    for name in dict.fromkeys(x.name for x in borders):
        own = [x for x in borders if x.name == name]
        if all(x.is_round for x in own):
            done = [rebuild(line, lambda node, own=own: _around(reading, node, own)) for line in done]  # type: ignore[misc]
        else:
            done = _longer(reading, done, own)
    return done


def _around(reading: Reading, node: Ast, borders: Sequence[Border]) -> Ast:
    """Return an entry u_{i+1} of an array that goes round as that of number i modulo its length, plus 1."""
    shown, own = _without_powers(node)
    name, axes = _entry(reading, shown)
    if name != borders[0].name:
        return node
    made = list(axes)
    for one in borders:
        axis, length = axes[one.axis], reading.known.shapes[name][one.axis]
        sign = 1 if one.is_last else -1
        if axis.head != "chain" or axis.value != ((1, sign), False) or _number(axis.args[1]) != 1:
            continue
        index = axis.args[0]
        if index.head != "letter" or index.value[0] in reading.known.sizes:  # type: ignore[index]
            continue
        size = Ast("letter", (), (length, ""), axis.span)
        number = Ast("number", (), (Fraction(2), "", "2"), axis.span)
        place = index if one.is_last else Ast("chain", (index, size, number), ((1, 1, -1), False), axis.span)
        inner = Ast("fence", (place,), "open", axis.span)
        remainder = Ast("row", (inner, Ast("operator", (), r"\bmod", axis.span), size), None, axis.span)
        made[one.axis] = Ast("chain", (remainder, _one(axis)), ((1, 1), False), axis.span, axis.at)
    below = Ast("fence", tuple(made), "brace", shown.span)
    return Ast("script", (shown.args[0], below, *own), node.value, node.span, node.at)


def _longer(reading: Reading, lines: Sequence[Ast], borders: Sequence[Border]) -> list[Ast]:
    """Return lines with entries of a longer vector in the place of the declared one, and the line that defines it."""
    name = borders[0].name
    ends = {x.is_last: x.value for x in borders}
    span = borders[0].value.span
    longer = "longer" + "".join(filter(str.isalpha, name))
    letter = Ast("letter", (), (longer, ""), span)
    length = reading.known.shapes[name][0]
    if False in ends and not any(_reads_last(reading, x, name) for line in lines for x in walk(line)):
        hint = f"declare {name} one longer, with this entry, or write the sum up to {length}"
        raise fault(f"this can be the first entry of {name} or one before it", borders[0].value, hint)
    reading.known = replace(reading.known, shapes={**reading.known.shapes, longer: (f"{length} + {len(ends)}",)})
    base: list[Ast] = []

    def change(node: Ast) -> Ast:
        shown, own = _without_powers(node)
        found, axes = _entry(reading, shown)
        if found != name or axes[0].head == "slice":
            return node
        base.append(shown.args[0])
        axis = axes[0]
        if False in ends and axis.head == "number":
            number = cast(Fraction, axis.value[0]) + 1  # type: ignore[index]
            axis = Ast("number", (), (number, "", str(number)), axis.span)
        elif False in ends and axis.head == "chain":
            signs, begins = cast("tuple[tuple[int, ...], bool]", axis.value)
            axis = Ast("chain", (*axis.args, _one(axis)), ((*signs, 1), begins), axis.span, axis.at)
        elif False in ends:
            axis = Ast("chain", (axis, _one(axis)), ((1, 1), False), axis.span, axis.span[0])
        return Ast("script", (letter, axis, *own), node.value, node.span, node.at)

    done = [rebuild(line, change) for line in lines]
    if not base:
        return done
    cells = [*([ends[False]] if False in ends else []), base[0], *([ends[True]] if True in ends else [])]
    rows = tuple(Ast("cells", (cell,), None, span) for cell in cells)
    return [*done, Ast("relation", (letter, Ast("matrix", rows, "pmatrix", span)), ("==",), span)]


def _reads_last(reading: Reading, big: Ast, name: str) -> bool:
    """Return whether a sum reads the last entry of a vector, by an index that runs up to its length."""
    if big.head != "big":
        return False
    scripts = dict(zip(cast("tuple[tuple[str, ...], ...]", big.value)[1], big.args, strict=False))
    high = unbraced(scripts["^"]) if "^" in scripts else None
    if high is not None and not _is_end(high, reading.known.shapes[name][0], True):
        return False
    entries = [_entry(reading, _without_powers(x)[0]) for x in walk(big.args[-1])]
    return any(own == name and axes[0].head == "letter" for own, axes in entries)


def _without_powers(node: Ast) -> tuple[Ast, tuple[Ast, ...]]:
    """Return a script with its subscript alone, and the layouts above it."""
    marks = cast("tuple[str, ...]", node.value) if node.head == "script" else ()
    if "_" not in marks or marks[0] != "_" or "'" in marks:
        return node, ()
    return Ast("script", (node.args[0], _list(node.args[1])), ("_",), node.span, node.at), node.args[2:]


def _list(below: Ast) -> Ast:
    return below if below.head == "fence" and len(below.args) > 1 else unbraced(below)


def _one(axis: Ast) -> Ast:
    return Ast("number", (), (Fraction(1), "", "1"), axis.span)
