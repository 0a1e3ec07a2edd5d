r"""Finds the ranges of indices without bounds by the lengths of the declared arrays that have them as subscripts.

With shifts the range is that of the arrays without: beside r_t of T entries and s_{t+1} of T + 1, t runs from 1 to T.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import cast

from matcalc.language import syntax
from matcalc.language.latex.latex_axes import axes_in
from matcalc.language.latex.latex_large_letters import large_of
from matcalc.language.latex.latex_scope import Index, Reading, Scope, key_of, subscript_of
from matcalc.language.one_based import added
from matcalc.language.read import read
from matcalc.language.syntax import Ast, walk
from matcalc.language.write import text as written


def unbounded(reading: Reading, body: Ast, letter: str, size: str = "") -> Index:
    """Return an index without bounds, with its range if shifts in the body determine it, else with its length."""
    offsets: dict[tuple[str, tuple[str, ...]], list[int]] = {}
    for name, lengths, offset in _reads(reading, body, letter):
        offsets.setdefault((name, lengths), []).append(offset)
    exact = [lengths[0] for _, lengths in offsets if len(lengths) == 1]
    if all(set(own) == {0} for own in offsets.values()):
        return Index(letter, size=_length_of(reading, exact, letter) or size)
    fits = [
        last
        for last in dict.fromkeys(x for (_, lengths), own in offsets.items() if max(own) == 0 for x in lengths)
        if all(_ends_at(last, max(own), lengths) and min(own) >= 0 for (_, lengths), own in offsets.items())
    ]
    last = fits[0] if len(fits) == 1 else reading.ranges.get(letter, "")
    return Index(letter, syntax.number(1), read(last)) if last else Index(letter, size=size)


def _ends_at(last: str, offset: int, lengths: Sequence[str]) -> bool:
    """Return whether the last value of an index plus its offset is the length of an axis."""
    return written(added(read(last), offset)) in [written(read(length)) for length in lengths]


def _length_of(reading: Reading, lengths: list[str], letter: str) -> str:
    """Return the common length; "" if there are several. Without any, it is the range elsewhere in the passage."""
    return lengths[0] if len(set(lengths)) == 1 else "" if lengths else reading.ranges.get(letter, "")


def _reads(reading: Reading, body: Ast, letter: str) -> Iterator[tuple[str, tuple[str, ...], int]]:
    """Yield the declared arrays with a letter in a subscript: name, length of the axis, the number added to it.

    A row or column has the lengths of all axes, since only the sizes of the formula tell which.
    """
    for node in walk(body):
        below = subscript_of(node) if node.head == "script" else None
        key = key_of(node.args[0]) if below is not None else None
        large = large_of(reading, key) if key and {*reading.keys.get(key, ())} <= reading.known.sizes else ""
        for name in (*reading.keys.get(key or (), ()), *([large] if large else [])):
            shape = reading.known.shapes.get(name, ())
            axes = axes_in(cast(Ast, below), len(shape), Scope())
            is_part = len(axes) != len(shape) and (name == large or len(shape) == 2)
            for axis, length in zip(axes, shape, strict=False):
                offset = shift(axis, letter)
                if offset is not None:
                    yield name, shape if is_part else (length,), offset


def shift(axis: Ast, letter: str) -> int | None:
    """Return the number that is added to an index in a subscript; None for any other subscript."""
    terms = axis.args if axis.head == "chain" else (axis,)
    signs = cast("tuple[tuple[int, ...], bool]", axis.value)[0] if axis.head == "chain" else (1,)
    own = [sign for sign, x in zip(signs, terms, strict=True) if x.head == "letter" and x.value[0] == letter]  # type: ignore[index]
    others = [(sign, x) for sign, x in zip(signs, terms, strict=True) if x.head == "number"]
    if own != [1] or len(others) + 1 != len(terms):
        return None
    return sum(sign * int(cast("tuple[Fraction, ...]", x.value)[0]) for sign, x in others)
