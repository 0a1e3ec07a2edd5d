"""Runs: which operands of a long product stand together as a product of their own.

The choice depends on the operands and their indices alone, never on the order given or on brackets. Of WHOLE operands
or more that indices connect, or MOST scalars, a whole is cut off, which is never dissolved again: so what is read in
parentheses is what was printed. What is left has, where it is more than MOST operands, groups, which are dissolved and
made again wherever they stand. A run begins at an end and takes what leaves the fewest indices open, so that a chain of
matrices is folded from one end and no run is an outer product of far parts; the longest formulas first, which the terms
of the gradient of a recurrence have in common. Of operands that summed indices connect full runs are cut off; of
shorter parts the largest gives up as many as have to go; then what has equal indices does.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TypeVar

from matcalc.tensor.canonical_labels import Factor, Labels, components, order_operands
from matcalc.tensor.node import Indices

MOST = 12
"""Operands of a node."""

WHOLE = 2 * MOST - 1
"""Operands that indices connect, of a product that is never dissolved; of scalars there are MOST."""

T = TypeVar("T")
Run = list[int]
Part = list[Factor]


def full_runs(items: list[T]) -> list[list[T]]:
    """Return more than MOST items in runs of MOST and, after them, of 1.

    Full runs are never dissolved again, so that what is built from them is what is read from its printed form.
    """
    count = min(-(-(len(items) - MOST) // (MOST - 1)), len(items) // MOST)
    grouped = [items[MOST * k : MOST * (k + 1)] for k in range(count)]
    return [*grouped, *([item] for item in items[MOST * count :])]


def is_long(operands: Sequence[Factor]) -> bool:
    """Whether a product is, or has, a whole."""
    return any(len(part) >= _whole(part) for part in _linked(operands))


def runs_of(operands: Sequence[Factor], out: Indices, lengths: Sequence[int]) -> list[Run]:
    """Return the places of more than MOST operands in runs, fewer than there are operands.

    `lengths` are those of their formulas, by place.
    """
    labels = {index: label for label, index in enumerate(dict.fromkeys(out))}
    ranks = {place: rank for rank, place in enumerate(order_operands(operands, labels)[0])}
    ordered = sorted(operands, key=lambda operand: (-lengths[operand.place], ranks[operand.place]))
    linked = _linked(ordered)
    if any(len(operands) > _whole(part) <= len(part) for part in linked):
        return [run for part in linked for run in _cut([part], _whole(part), labels)]
    parts = components(ordered, labels)
    alike = _alike(ordered)
    long = next((found for found in (parts, alike) if any(len(part) >= MOST for part in found)), None)
    if long is not None:
        return _cut(long, MOST, labels)
    return _shortened(parts, labels) or _shortened(alike, labels) or _first(ordered)


def _whole(part: Part) -> int:
    """Return of how many operands of a part a whole is."""
    return WHOLE if part[0].indices else MOST


def _linked(operands: Sequence[Factor]) -> list[Part]:
    """Return operands in groups that share no index at all; scalars are one."""
    scalars = [operand for operand in operands if not operand.indices]
    return [*components([operand for operand in operands if operand.indices], {}), *([scalars] if scalars else [])]


def _alike(operands: list[Factor]) -> list[Part]:
    """Return operands in groups of those that have equal indices."""
    found: dict[frozenset[int], Part] = {}
    for operand in operands:
        found.setdefault(frozenset(operand.indices), []).append(operand)
    return list(found.values())


def _cut(parts: list[Part], count: int, fixed: Labels) -> list[Run]:
    """Return parts with a full run cut off each that is long enough."""
    return [run for part in parts for run in _first_run(part, fixed, count if len(part) >= count else 1)]


def _shortened(parts: list[Part], fixed: Labels) -> list[Run]:
    """Return parts with a run cut off the largest until MOST operands are left; nothing if all parts are single."""
    left = total = sum(map(len, parts))
    runs: list[Run] = []
    for part in sorted(parts, key=len, reverse=True):
        count = max(1, min(len(part), left - MOST + 1))
        runs += _first_run(part, fixed, count)
        left -= count - 1
    return runs if left < total else []


def _first(ordered: list[Factor]) -> list[Run]:
    places = [operand.place for operand in ordered]
    return [places[:MOST], *([place] for place in places[MOST:])]


def _first_run(part: Part, fixed: Labels, count: int) -> list[Run]:
    """Return a run of some operands of a part, each linked to those before, and the others one by one."""
    uses = Counter(index for operand in part for index in operand.indices)
    own = {operand.place: Counter(i for i in operand.indices if i not in fixed) for operand in part}
    inside = dict.fromkeys(uses, 0)
    latest: dict[int, int] = {}
    taken: Part = []
    rest = list(part)

    def price(operand: Factor) -> tuple[bool, int, int, int]:
        counts = own[operand.place]
        opened = sum((inside[i] + n < uses[i]) - (0 < inside[i] < uses[i]) for i, n in counts.items())
        nearest = max((latest[i] for i in counts if i in latest), default=-1)
        return latest.keys().isdisjoint(operand.indices), opened, -nearest, len(operand.indices)

    while len(taken) < count:
        best = min(rest, key=price)
        rest.remove(best)
        for index in best.indices:
            inside[index] += 1
            latest[index] = len(taken)
        taken.append(best)
    return [[operand.place for operand in taken], *([operand.place] for operand in rest)]
