r"""Finds the number of the first entry of each sequence that is read at the steps of a recurrence.

Sequences count like the steps, from 0 or from 1, unless their length or the subscript 0 shows the other: beside steps
from 1 that end at T, T + 1 entries count from 0. T entries of which the steps read the first T - 1 count from 1.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from fractions import Fraction
from typing import cast

from matcalc.language.latex.latex_axes import sum_of
from matcalc.language.latex.latex_large_letters import large_of
from matcalc.language.latex.latex_scope import Key, Reading, fault, key_of, name_of
from matcalc.language.latex.latex_subscripts import axis_of_steps
from matcalc.language.latex.layout.latex_layout import unbraced
from matcalc.language.latex.recurrences.steps import Found, reads
from matcalc.language.one_based import added
from matcalc.language.read import read
from matcalc.language.syntax import Ast, name, number, walk
from matcalc.language.write import text as written


def place_sequences(reading: Reading, found: Found, rest: Sequence[Ast]) -> None:
    """Note the number of the first entry of each sequence that is read at steps."""
    lows: dict[tuple[str, int], list[int]] = {}
    highs: dict[tuple[str, int], list[str]] = {}
    steps = reading.steps
    for layout, letter, low, count in _readers(reading, found, rest):
        for own, axis, offset in _sequences(reading, layout, letter, found.keys):
            lows.setdefault((own, axis), []).append(low + offset)
            last = [written(added(count, low + offset - 1))] if count is not None else []
            highs.setdefault((own, axis), []).extend(last)
    everything = [*(one.right for one in found.equations), *rest]
    for (own, axis), first in lows.items():
        from_zero = 0 in first or _reads_zero(reading, everything, own, axis)
        shape = reading.known.shapes.get(own, ())
        ends = {written(added(read(shape[axis]), more)): more for more in (-1, 0)} if axis < len(shape) else {}
        fits = {ends[last] for last in highs[own, axis] if last in ends}
        if not from_zero and min(first) >= 1:
            begins = min(steps.begins.values())
            is_longer = axis < len(shape) and not shape[axis].isidentifier() and not shape[axis].isdigit()
            from_zero = 0 not in fits if begins <= 0 else is_longer and -1 in fits and 0 not in fits
        steps.firsts[own, axis] = 0 if from_zero else 1


def _readers(reading: Reading, found: Found, rest: Sequence[Ast]) -> Iterator[tuple[Ast, str, int, Ast | None]]:
    """Yield layouts that are read at steps, with the index, its first value and the number of its values."""
    steps = reading.steps
    for one in found.equations:
        if one.letter:
            count = steps.counts[one.letter]
            yield one.right, one.letter, steps.begins[one.letter], read(count) if count else None
    for node in (node for layout in rest for node in walk(layout) if node.head == "big"):
        for letter, begin in steps.begins.items():
            low, count_ = bounds_of(node, letter)
            if low is not None:
                yield node.args[-1], letter, low, count_
            elif any(x.head == "letter" and x.value[0] == letter for x in walk(node.args[0])):  # type: ignore[index]
                count = steps.counts[letter]
                yield node.args[-1], letter, begin, read(count) if count else None


def bounds_of(node: Ast, letter: str) -> tuple[int | None, Ast | None]:
    r"""Return the first value of the index of \sum_{t=1}^{T}, and the number of its values; None without bounds."""
    scripts = dict(zip(cast("tuple[tuple[str, ...], ...]", node.value)[1], node.args, strict=False))
    for one in [x for script in scripts.values() for x in (script, *script.args)]:
        if one.head != "relation" or one.value != ("==",) or "^" not in scripts or one.args[1].head != "number":
            continue
        if one.args[0].head == "letter" and one.args[0].value[0] == letter:  # type: ignore[index]
            low = int(one.args[1].value[0])  # type: ignore[index]
            return low, added(constant(unbraced(scripts["^"])), 1 - low)
    return None, None


def _sequences(reading: Reading, layout: Ast, letter: str, keys: Collection[Key]) -> Iterator[tuple[str, int, int]]:
    """Yield the declared arrays that a layout reads with a step index: name, axis, and the number added to it."""
    for node, axes, k, offset in reads(layout, letter):
        key = key_of(node.args[0])
        if key in keys:
            continue
        names = reading.keys.get(key, ()) if key is not None else ()
        own = names[0] if names else (large_of(reading, key) or name_of(key, node.caret)) if key is not None else ""
        shape = reading.known.shapes.get(own, ())
        axis: int | None = k
        if len(axes) < len(shape):
            axis = axis_of_steps(reading, own, letter)
        if own and axis is not None:
            yield own, axis, offset


def _reads_zero(reading: Reading, layouts: Sequence[Ast], own: str, axis: int) -> bool:
    """Whether the entry with the number 0 is read along an axis."""
    for node in (node for layout in layouts for node in walk(layout) if node.head == "script"):
        key = key_of(node.args[0])
        if key is None or own not in (*reading.keys.get(key, ()), large_of(reading, key)) or "_" not in node.value:  # type: ignore[operator]
            continue
        below = node.args[1]
        axes = below.args if below.head == "fence" else (below,)
        one = axes[axis] if axis < len(axes) else axes[0] if len(axes) == 1 else None
        if one is not None and one.head == "number" and not one.value[0]:  # type: ignore[index]
            return True
    return False


def constant(layout: Ast) -> Ast:
    """Return the subscript of a start, a number or an expression of sizes, as a tree."""
    if layout.head == "number":
        return number(layout.value[0])  # type: ignore[index]
    if layout.head == "letter" or (layout.head == "word" and layout.value[1] != "\\"):  # type: ignore[index]
        return name(str(layout.value[0]))  # type: ignore[index]
    if layout.head == "chain":
        signs = cast("tuple[int, ...]", layout.value[0])  # type: ignore[index]
        total = number(0)
        for sign, term in zip(signs, layout.args, strict=True):
            tree = constant(term)
            is_number = tree.head == "number"
            total = added(total, sign * int(cast(Fraction, tree.value))) if is_number else sum_of(total, tree, sign)
        if total.head == "negative" and total.args[0].head == "number":
            return number(-cast(Fraction, total.args[0].value))
        return total
    raise fault("a start has the subscript of a number or a size", layout)
