"""The chain view: a product read as a path of matrices with vector weights on its indices.

Most matrix products are such paths; facts, matching and planning read them here instead of walking the
index tuples each in their own way. What is no path has no chain view (None), never a wrong one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from matcalc.tensor.node import Node


class Links(NamedTuple):
    """A path: matrices with their direction (True: rows first), weights of each index passed, scalars."""

    matrices: tuple[tuple[Node, bool], ...]
    weights: tuple[tuple[Node, ...], ...]
    scalars: tuple[Node, ...]

    @property
    def weighted(self) -> bool:
        return any(self.weights)


def chain_between(node: Node, first: int, last: int) -> Links | None:
    """Return the path of a product from index `first` to index `last` that uses every operand once."""
    at: dict[int, list[int]] = {}
    weights: dict[int, list[Node]] = {}
    scalars: list[Node] = []
    count = 0
    for place, (arg, indices) in enumerate(node.operands):
        if not indices:
            scalars.append(arg)
        elif len(indices) == 1:
            weights.setdefault(indices[0], []).append(arg)
        elif len(indices) == 2 and indices[0] != indices[1]:
            count += 1
            for i in indices:
                at.setdefault(i, []).append(place)
        else:
            return None
    matrices: list[tuple[Node, bool]] = []
    passed = [first]
    used: set[int] = set()
    here = first
    while here != last or len(used) < count:
        ways = [p for p in at.get(here, ()) if p not in used]
        if len(ways) != 1 or (here == last and used):
            return None
        place = ways[0]
        used.add(place)
        left, right = node.indices[place]
        matrices.append((node.args[place], left == here))
        here = right if left == here else left
        if here in passed and here != last:
            return None
        passed.append(here)
    if any(i not in passed for i in weights):
        return None
    return Links(tuple(matrices), tuple(tuple(weights.get(i, ())) for i in passed), tuple(scalars))


def halves(node: Node, is_psd: Callable[[Node], bool]) -> bool:
    """Whether a product is B'*M*B (or x'*M*x) with M positive semidefinite, up to its coefficient."""
    if any(not arg.range.nonnegative for arg in node.args if arg.rank == 0):
        return False
    if node.rank == 0:
        ends = _ends(node)
        return ends is not None and _mirrored(chain_between(node, *ends), is_psd)
    if node.rank != 2 or len(set(node.out)) < 2:
        return False
    first, last = node.out
    if all(len(i) == 0 or set(i) == {first, last} for i in node.indices):
        return all(is_psd(arg) for arg, i in node.operands if i)
    links = chain_between(node, first, last)
    return _mirrored(links, is_psd) if links is not None else _separated(node, first, last)


def _ends(node: Node) -> tuple[int, int] | None:
    """Return the two indices where a closed chain of matrices between vectors begins and ends."""
    degree: dict[int, int] = {}
    for indices in node.indices:
        if len(indices) == 2:
            for i in indices:
                degree[i] = degree.get(i, 0) + 1
    ends = [i for i, d in degree.items() if d == 1]
    return (ends[0], ends[1]) if len(ends) == 2 else None


def _mirrored(links: Links | None, is_psd: Callable[[Node], bool]) -> bool:
    if links is None:
        return False
    matrices, weights = links.matrices, links.weights
    if any(
        sorted(a.digest for a in w) != sorted(a.digest for a in v)
        for w, v in zip(weights, reversed(weights), strict=True)
    ):
        return False
    for (left, forward), (right, backward) in zip(matrices, reversed(matrices), strict=True):
        unlike = left is not right or (forward == backward and "symmetric" not in left.facts and len(matrices) > 1)
        is_middle = len(matrices) % 2 and left is right and left is matrices[len(matrices) // 2][0]
        if unlike and not is_middle:
            return False
    middle = len(matrices) // 2
    if len(matrices) % 2:
        return is_psd(matrices[middle][0]) and not (weights[middle] and weights[middle] != weights[middle + 1])
    centre = weights[middle]
    return all(v.range.nonnegative or centre.count(v) % 2 == 0 for v in centre)


def _separated(node: Node, first: int, last: int) -> bool:
    """Whether no operand links the two outputs: then a symmetric product is f*f' of one vector f."""
    side: dict[int, int] = {first: 0, last: 1}
    pending = list(node.indices)
    while pending:
        rest = []
        for indices in pending:
            sides = {side[i] for i in indices if i in side}
            if len(sides) > 1:
                return False
            if sides:
                side.update(dict.fromkeys(indices, sides.pop()))
            elif indices:
                rest.append(indices)
        if len(rest) == len(pending):
            return False
        pending = rest
    return first in {i for t in node.indices for i in t}
