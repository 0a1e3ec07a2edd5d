"""Chooses the runs of a long product: operands that become a product of their own.

The choice depends only on the operands and their indices, never on their order or on brackets. From WHOLE or more
operands that indices connect, or MOST scalars, a whole is cut off, which is never dissolved again: so a bracket in the
printed form reads back as the same node. If more than MOST operands remain, they form groups, which are dissolved and
made again wherever they occur.
A run begins at an end and takes the operands that leave the fewest indices open. So a chain of matrices is folded from
one end, and no run is an outer product of distant parts. The longest formulas come first: the terms of the gradient of
a recurrence share them. Full runs are cut off operands that summed indices connect. Of shorter parts the largest gives
up as many operands as necessary; then operands with equal indices do.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TypeVar

from matcalc.tensor.nodes.canonical_labels import Factor, Labels, components, order_operands
from matcalc.tensor.nodes.node import Indices

MOST = 12
"""The most operands of a node."""

WHOLE = 2 * MOST - 1
"""The least number of connected operands of a product that is never dissolved; MOST for scalars."""

T = TypeVar("T")
Run = list[int]
Part = list[Factor]


def full_runs(items: list[T]) -> list[list[T]]:
    """Return more than MOST items in runs of MOST, followed by runs of 1.

    Full runs are never dissolved again, so the printed form reads back as the same node.
    """
    count = min(-(-(len(items) - MOST) // (MOST - 1)), len(items) // MOST)
    grouped = [items[MOST * k : MOST * (k + 1)] for k in range(count)]
    return [*grouped, *([item] for item in items[MOST * count :])]


def is_long(operands: Sequence[Factor]) -> bool:
    """Return whether a product is, or contains, a whole."""
    return any(len(part) >= _whole(part) for part in _linked(operands))


def runs_of(operands: Sequence[Factor], out: Indices, lengths: Sequence[int]) -> list[Run]:
    """Return the positions of more than MOST operands in runs, fewer than there are operands.

    `lengths` are those of the operands' formulas, by position.
    """
    labels = {index: label for label, index in enumerate(dict.fromkeys(out))}
    ranks = {position: rank for rank, position in enumerate(order_operands(operands, labels)[0])}
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
    """Return the number of operands that make a part a whole."""
    return WHOLE if part[0].indices else MOST


def _linked(operands: Sequence[Factor]) -> list[Part]:
    """Return operands in groups that share no index at all; scalars are one group."""
    scalars = [operand for operand in operands if not operand.indices]
    return [*components([operand for operand in operands if operand.indices], {}), *([scalars] if scalars else [])]


def _alike(operands: list[Factor]) -> list[Part]:
    """Return operands in groups with equal indices."""
    found: dict[frozenset[int], Part] = {}
    for operand in operands:
        found.setdefault(frozenset(operand.indices), []).append(operand)
    return list(found.values())


def _cut(parts: list[Part], count: int, fixed: Labels) -> list[Run]:
    """Return parts with one full run cut off each part that is long enough."""
    return [run for part in parts for run in _first_run(part, fixed, count if len(part) >= count else 1)]


def _shortened(parts: list[Part], fixed: Labels) -> list[Run]:
    """Return parts with runs cut off the largest until MOST operands are left; empty if all are single operands."""
    left = total = sum(map(len, parts))
    runs: list[Run] = []
    for part in sorted(parts, key=len, reverse=True):
        count = max(1, min(len(part), left - MOST + 1))
        runs += _first_run(part, fixed, count)
        left -= count - 1
    return runs if left < total else []


def _first(ordered: list[Factor]) -> list[Run]:
    positions = [operand.place for operand in ordered]
    return [positions[:MOST], *([position] for position in positions[MOST:])]


def _first_run(part: Part, fixed: Labels, count: int) -> list[Run]:
    """Return a run of some operands of a part, each linked to those before, and the others one by one.

    It begins where the fewest summed indices remain open at its end: so it holds a selector with the operand whose
    entries it selects. A chain, whose operands all have other indices, begins at an end.
    """
    run, opened = _run_from(None, part, fixed, count)
    starts = {operand.indices: operand for operand in reversed(part)} if 1 < count < len(part) and opened else {}
    for start in reversed(starts.values()) if len(starts) <= MOST else ():  # more are a chain
        other, fewer = _run_from(start, part, fixed, count)
        run, opened = (other, fewer) if fewer < opened else (run, opened)
    return [[operand.place for operand in run], *([operand.place] for operand in part if operand not in run)]


def _run_from(start: Factor | None, part: Part, fixed: Labels, count: int) -> tuple[Part, int]:
    """Return a run that begins with an operand, or at an end, and the number of summed indices that it leaves open."""
    uses = Counter(index for operand in part for index in operand.indices)
    own = {operand.place: Counter(i for i in operand.indices if i not in fixed) for operand in part}
    inside = dict.fromkeys(uses, 0)
    latest: dict[int, int] = {}
    run: Part = []
    rest = list(part)

    def price(operand: Factor) -> tuple[bool, int, int, int]:
        counts = own[operand.place]
        opened = sum((inside[i] + n < uses[i]) - (0 < inside[i] < uses[i]) for i, n in counts.items())
        nearest = max((latest[i] for i in counts if i in latest), default=-1)
        return latest.keys().isdisjoint(operand.indices), opened, -nearest, len(operand.indices)

    while len(run) < count:
        best = start if start is not None and not run else min(rest, key=price)
        rest.remove(best)
        for index in best.indices:
            inside[index] += 1
            latest[index] = len(run)
        run.append(best)
    return run, sum(0 < inside[index] < uses[index] for index in uses if index not in fixed)
