"""Runs: the chains of matrices inside a product that a matrix variable of a pattern can match.

`logdet(A*B)` matches `logdet(X*Y*Z)` twice: A is `X` and B `Y*Z`, or A is `X*Y` and B `Z`. A run includes the vectors
on its inner indices (`X'*diag(w)*X`); no other operand may have these indices.
"""

from __future__ import annotations

from typing import NamedTuple

from matcalc.tensor.constructors import product
from matcalc.tensor.nodes.named_parts import is_matrix
from matcalc.tensor.nodes.node import Indices, Node, cached_on_node


class Run(NamedTuple):
    """A chain of two or more operands of a product, read from one end to the other."""

    positions: frozenset[int]
    ends: Indices

    def of(self, subject: Node) -> Node:
        """Return the chain as a matrix."""
        operands = [(subject.args[p], subject.indices[p]) for p in sorted(self.positions)]
        return product(1, operands, self.ends)


@cached_on_node
def runs_in(subject: Node) -> tuple[Run, ...]:
    """Return the runs of a product in both directions, the shortest first; cached, since many patterns use them."""
    holders: dict[int, list[int]] = {}
    for position, indices in enumerate(subject.indices):
        for index in indices:
            holders.setdefault(index, []).append(position)
    found: dict[Run, None] = {}
    for start, indices in enumerate(subject.indices):
        if is_matrix(indices):
            for first, here in (indices, indices[::-1]):
                for positions, last in _walk(subject, start, here, holders):
                    if first != last:
                        found[Run(positions, (first, last))] = None
    return tuple(sorted(found, key=lambda run: (len(run.positions), sorted(run.positions), run.ends)))


def _walk(subject: Node, start: int, here: int, holders: dict[int, list[int]]) -> list[tuple[frozenset[int], int]]:
    """Return the operands passed and the index reached after each step over inner indices."""
    steps = []
    positions = frozenset([start])
    while here not in subject.out:
        others = [p for p in holders[here] if p not in positions]
        weights = [p for p in others if len(subject.indices[p]) == 1]
        matrices = [p for p in others if p not in weights]
        if len(matrices) != 1 or not is_matrix(subject.indices[matrices[0]]):
            break
        row, column = subject.indices[matrices[0]]
        here = column if row == here else row
        positions = positions.union(weights, matrices)
        steps.append((positions, here))
    return steps
