"""A drawing of a directed graph without cycles, in layers.

A node lies one layer below the lowest of its users. An edge that passes layers has a place in each. Places in
a layer are ordered by the mean of those above and below, some rounds of it, and move there as far as there is room.
Source: Sugiyama, Tagawa & Toda 1981.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

ROUNDS = 8
GAP, LEVEL, MARGIN, THIN = 18.0, 74.0, 12.0, 8.0
HEIGHT = 30.0


class Box(NamedTuple):
    """What is placed."""

    width: float


class Drawing(NamedTuple):
    """Centres of the boxes, and for each edge the points that its line goes through."""

    boxes: Sequence[Box]
    centres: list[tuple[float, float]]
    lines: list[list[tuple[float, float]]]
    width: float
    height: float


def placed(boxes: Sequence[Box], edges: Sequence[tuple[int, int]]) -> Drawing:
    """Return where the boxes lie; an edge goes from a user to an operand, which has a greater number."""
    depth = [0] * len(boxes)
    for a, b in sorted(edges):
        depth[b] = max(depth[b], depth[a] + 1)
    widths = [box.width for box in boxes]
    chains: list[list[int]] = []
    links: set[tuple[int, int]] = set()
    for a, b in edges:
        chain = [a]
        for level in range(depth[a] + 1, depth[b]):
            chain.append(len(widths))
            widths.append(THIN)
            depth.append(level)
        chain.append(b)
        chains.append(chain)
        links.update(zip(chain, chain[1:], strict=False))
    rows: list[list[int]] = [[] for _ in range(max(depth) + 1)]
    for k, level in enumerate(depth):
        rows[level].append(k)
    x = _across(rows, widths, sorted(links))
    left = min(x[k] - widths[k] / 2 for k in range(len(widths))) - MARGIN
    place = [(round(x[k] - left, 1), depth[k] * LEVEL + MARGIN + HEIGHT / 2) for k in range(len(widths))]
    width = max(place[k][0] + widths[k] / 2 for k in range(len(widths))) + MARGIN
    height = (len(rows) - 1) * LEVEL + HEIGHT + 2 * MARGIN
    return Drawing(boxes, place[: len(boxes)], [[place[k] for k in chain] for chain in chains], round(width), height)


def _across(rows: list[list[int]], widths: Sequence[float], links: Sequence[tuple[int, int]]) -> list[float]:
    """Return the middle of each place in its layer."""
    above: list[list[int]] = [[] for _ in widths]
    below: list[list[int]] = [[] for _ in widths]
    for a, b in links:
        below[a].append(b)
        above[b].append(a)
    x = [0.0] * len(widths)
    for row in rows:
        _side_by_side(row, widths, x)
    for turn in range(2 * ROUNDS):
        near = above if turn % 2 == 0 else below
        for row in rows if turn % 2 == 0 else rows[::-1]:
            wanted = {k: _mean([x[other] for other in near[k]], x[k]) for k in row}
            row.sort(key=lambda k: wanted[k])  # noqa: B023 - used at once
            _side_by_side(row, widths, x)
            _drawn_to(row, widths, x, wanted)
    return x


def _side_by_side(row: Sequence[int], widths: Sequence[float], x: list[float]) -> None:
    """Place a layer close together, its middle at 0."""
    total = sum(widths[k] for k in row) + GAP * (len(row) - 1)
    edge = -total / 2
    for k in row:
        x[k] = edge + widths[k] / 2
        edge += widths[k] + GAP


def _drawn_to(row: Sequence[int], widths: Sequence[float], x: list[float], wanted: dict[int, float]) -> None:
    """Move the places of a layer to where they are wanted, in their order: the mean of pushing from both sides."""
    right, edge = {}, float("-inf")
    for k in row:
        right[k] = max(wanted[k], edge + widths[k] / 2)
        edge = right[k] + widths[k] / 2 + GAP
    left, edge = {}, float("inf")
    for k in reversed(row):
        left[k] = min(wanted[k], edge - widths[k] / 2)
        edge = left[k] - widths[k] / 2 - GAP
    for k in row:
        x[k] = (left[k] + right[k]) / 2


def _mean(values: Sequence[float], otherwise: float) -> float:
    return sum(values) / len(values) if values else otherwise
