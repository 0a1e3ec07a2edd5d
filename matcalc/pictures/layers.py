"""Lays out a directed acyclic graph in layers.

A node is one layer below the lowest of its users. An edge that crosses layers has a dummy node in each. Nodes of a
layer are ordered by the mean position of their neighbours above and below, in several rounds. They are moved towards
this position as far as there is room.
Source: Sugiyama, Tagawa & Toda 1981.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

ROUNDS = 8
GAP, LEVEL, MARGIN, THIN = 18.0, 74.0, 12.0, 8.0
HEIGHT = 30.0


class Box(NamedTuple):
    """A node of the layout."""

    width: float


class Drawing(NamedTuple):
    """The centres of the boxes, and for each edge the points of its line."""

    boxes: Sequence[Box]
    centres: list[tuple[float, float]]
    lines: list[list[tuple[float, float]]]
    width: float
    height: float


def placed(boxes: Sequence[Box], edges: Sequence[tuple[int, int]]) -> Drawing:
    """Return the layout of the boxes; an edge goes from a user to an operand, which has a greater number."""
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
    centres = [(round(x[k] - left, 1), depth[k] * LEVEL + MARGIN + HEIGHT / 2) for k in range(len(widths))]
    width = max(centres[k][0] + widths[k] / 2 for k in range(len(widths))) + MARGIN
    height = (len(rows) - 1) * LEVEL + HEIGHT + 2 * MARGIN
    return Drawing(
        boxes, centres[: len(boxes)], [[centres[k] for k in chain] for chain in chains], round(width), height
    )


def _across(rows: list[list[int]], widths: Sequence[float], links: Sequence[tuple[int, int]]) -> list[float]:
    """Return the horizontal centre of each node."""
    above: list[list[int]] = [[] for _ in widths]
    below: list[list[int]] = [[] for _ in widths]
    for a, b in links:
        below[a].append(b)
        above[b].append(a)
    x = [0.0] * len(widths)
    for row in rows:
        _side_by_side(row, widths, x)
    for sweep in range(2 * ROUNDS):
        near = above if sweep % 2 == 0 else below
        for row in rows if sweep % 2 == 0 else rows[::-1]:
            targets = {k: _mean([x[other] for other in near[k]], x[k]) for k in row}
            row.sort(key=lambda k: targets[k])  # noqa: B023 - used at once
            _side_by_side(row, widths, x)
            _drawn_to(row, widths, x, targets)
    return x


def _side_by_side(row: Sequence[int], widths: Sequence[float], x: list[float]) -> None:
    """Place the nodes of a layer close together, centred at 0."""
    total = sum(widths[k] for k in row) + GAP * (len(row) - 1)
    edge = -total / 2
    for k in row:
        x[k] = edge + widths[k] / 2
        edge += widths[k] + GAP


def _drawn_to(row: Sequence[int], widths: Sequence[float], x: list[float], targets: dict[int, float]) -> None:
    """Move the nodes of a layer towards their targets, keeping their order: the mean of pushing from both sides."""
    right, edge = {}, float("-inf")
    for k in row:
        right[k] = max(targets[k], edge + widths[k] / 2)
        edge = right[k] + widths[k] / 2 + GAP
    left, edge = {}, float("inf")
    for k in reversed(row):
        left[k] = min(targets[k], edge - widths[k] / 2)
        edge = left[k] - widths[k] / 2 - GAP
    for k in row:
        x[k] = (left[k] + right[k]) / 2


def _mean(values: Sequence[float], otherwise: float) -> float:
    return sum(values) / len(values) if values else otherwise
