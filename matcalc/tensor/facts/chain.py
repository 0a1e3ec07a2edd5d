"""Reads a product as a chain: a path of matrices with vector weights on its indices.

Most matrix products are such paths. Facts, matching and planning read them here instead of each walking the index
tuples. A product that is not a path has no chain (None), never a wrong one.
"""

from __future__ import annotations

from typing import NamedTuple

from matcalc.tensor.nodes.named_parts import is_matrix
from matcalc.tensor.nodes.node import Node


class Links(NamedTuple):
    """A path: matrices with their direction (True: rows first), the weights of each index on it, and scalars."""

    matrices: tuple[tuple[Node, bool], ...]
    weights: tuple[tuple[Node, ...], ...]
    scalars: tuple[Node, ...]

    @property
    def directed(self) -> tuple[tuple[Node, bool], ...]:
        """The matrices with their direction, a symmetric one always rows first."""
        return tuple((a, forward or "symmetric" in a.facts) for a, forward in self.matrices)

    @property
    def weighted(self) -> bool:
        return any(self.weights)


def chain_between(node: Node, first: int, last: int) -> Links | None:
    """Return the path of a product from index `first` to index `last` that uses each operand once.

    A closed walk is not a matrix, and a path over an output index of the product is not a chain.
    """
    if first == last:
        return None
    at: dict[int, list[int]] = {}
    weights: dict[int, list[Node]] = {}
    scalars: list[Node] = []
    count = 0
    for position, (arg, indices) in enumerate(node.operands):
        if not indices:
            scalars.append(arg)
        elif len(indices) == 1:
            weights.setdefault(indices[0], []).append(arg)
        elif is_matrix(indices):
            count += 1
            for i in indices:
                at.setdefault(i, []).append(position)
        else:
            return None
    matrices: list[tuple[Node, bool]] = []
    passed = [first]
    used: set[int] = set()
    here = first
    while here != last or len(used) < count:
        candidates = [p for p in at.get(here, ()) if p not in used]
        if len(candidates) != 1 or (here == last and used):
            return None
        position = candidates[0]
        used.add(position)
        left, right = node.indices[position]
        matrices.append((node.args[position], left == here))
        here = right if left == here else left
        if here != last and (here in passed or here in node.out):
            return None
        passed.append(here)
    if any(i not in passed for i in weights):
        return None
    return Links(tuple(matrices), tuple(tuple(weights.get(i, ())) for i in passed), tuple(scalars))
