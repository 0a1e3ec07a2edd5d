r"""Finds the declared arrays whose first entry has the number 0, a of n + 1 entries in \sum_{k=0}^{n} a_k x^k.

Subscripts count from 1 elsewhere. An array counts from 0 if the passage reads its entry 0 without a shift, and its
length is one more than the last number that a sum reads.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import NamedTuple, cast

from matcalc.errors import ParseError
from matcalc.language.latex.latex_axes import axes_in, elements
from matcalc.language.latex.latex_large_letters import large_of
from matcalc.language.latex.latex_lengths import shift
from matcalc.language.latex.latex_scope import Reading, Scope, key_of, key_of_subscript, subscript_of
from matcalc.language.latex.layout.latex_layout import unbraced
from matcalc.language.latex.recurrences.first_subscripts import constant
from matcalc.language.one_based import added
from matcalc.language.read import read
from matcalc.language.syntax import Ast, walk
from matcalc.language.write import text as written


class _Read(NamedTuple):
    """Whether a subscript is 0 without a shift, and the number of the last entry that is read, as text."""

    is_zero: bool
    last: str


def from_zero_in(reading: Reading, lines: Sequence[Ast]) -> frozenset[tuple[str, int]]:
    """Return the declared arrays, with the axes, whose first entry has the number 0."""
    found: dict[tuple[str, int], list[_Read]] = {}
    for line in lines:
        for place, one in _numbers(reading, line):
            found.setdefault(place, []).append(one)
        for big in (x for x in walk(line) if x.head == "big"):
            for place, one in _of_sum(reading, big):
                found.setdefault(place, []).append(one)
    return frozenset(
        (name, axis)
        for (name, axis), reads in found.items()
        if any(x.is_zero for x in reads)
        and _before(reading.known.shapes[name][axis]) in {x.last for x in reads}
        and _length(reading.known.shapes[name][axis]) not in {x.last for x in reads}
    )


def _length(length: str) -> str:
    return written(read(length))


def _before(length: str) -> str:
    return written(added(read(length), -1))


def _numbers(reading: Reading, line: Ast) -> Iterator[tuple[tuple[str, int], _Read]]:
    """Yield the arrays that are read at numbers and sizes."""
    for name, axes, places in _scripts(reading, line):
        for k in places:
            one = axes[k] if len(axes) > k else axes[0]
            if one.head == "number":
                number = cast(Fraction, one.value[0])  # type: ignore[index]
                yield (name, k), _Read(not number, str(number))
            elif one.head == "letter" and one.value[0] in reading.known.sizes:  # type: ignore[index]
                yield (name, k), _Read(False, str(one.value[0]))  # type: ignore[index]


def _of_sum(reading: Reading, big: Ast) -> Iterator[tuple[tuple[str, int], _Read]]:
    """Yield the arrays that a sum with bounds reads at its index."""
    scripts = dict(zip(cast("tuple[tuple[str, ...], ...]", big.value)[1], big.args, strict=False))
    if "_" not in scripts or "^" not in scripts:
        return
    for element in elements(scripts["_"]):
        if element.head != "relation" or element.value != ("==",) or element.args[1].head != "number":
            continue
        letter, low = element.args[0], cast(Fraction, element.args[1].value[0])  # type: ignore[index]
        if letter.head != "letter" or low.denominator != 1:
            continue
        try:
            high = constant(unbraced(scripts["^"]))
        except ParseError:
            return
        for name, axes, places in _scripts(reading, big.args[-1]):
            for k in places:
                offset = shift(axes[k] if len(axes) > k else axes[0], str(letter.value[0]))  # type: ignore[index]
                if offset is not None:
                    yield (name, k), _Read(not low and not offset, written(added(high, offset)))


def _scripts(reading: Reading, layout: Ast) -> Iterator[tuple[str, tuple[Ast, ...], range]]:
    """Yield the entries and rows of declared arrays: the name, its subscripts, and the axes these can be of."""
    for node in walk(layout):
        below = subscript_of(node) if node.head == "script" else None
        key = key_of(node.args[0]) if below is not None else None
        if key is None or below is None:
            continue
        names = reading.keys.get(key, ())
        name = names[0] if len(names) == 1 else large_of(reading, key) if not names else ""
        shape = reading.known.shapes.get(name, ())
        added_ = key_of_subscript(below)
        if not shape or name in reading.known.indices or added_ is not None and (*key, *added_) in reading.keys:
            continue
        axes = axes_in(below, len(shape), Scope())
        if len(axes) in (1, len(shape)):
            yield name, axes, range(len(shape))
