"""Computes the diagonal of a Hessian in the time of its entries.

A block of the Hessian has terms without known zeros, such as `X'*diag(w)*X`, and others, such as those of neighbours in
a chain. The diagonal of the first is a formula. That of the others is a sparse result, since their entries on the
diagonal are few among the pairs of indices of the formula.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from matcalc.expressions.expression import Expression
from matcalc.solvers.packing import Vector
from matcalc.solvers.problem_input import Evaluator, Inputs
from matcalc.solvers.sparse_blocks import sparse_function_of
from matcalc.sparse_results.function import SparseFunction
from matcalc.sparse_results.terms import full_and_structured
from matcalc.tensor.constructors import product
from matcalc.tensor.nodes.node import Node


class Diagonal:
    """The diagonals of the blocks of a Hessian as one function of the vector of the variables."""

    def __init__(self, given: Inputs, blocks: Sequence[Expression]) -> None:
        self.given = given
        pairs = [full_and_structured(block.node) for block in blocks]
        self._full = self._compiled([_diagonal(full) for full, _ in pairs], blocks)
        self._structured = self._sparse([_on_diagonal(_diagonal(part)) for _, part in pairs], blocks)

    def _compiled(self, nodes: Sequence[Node], blocks: Sequence[Expression]) -> Evaluator | None:
        if all(node.is_zero for node in nodes):
            return None
        return self.given.evaluator([Expression(n, b.names) for n, b in zip(nodes, blocks, strict=True)])

    def _sparse(self, nodes: Sequence[Node], blocks: Sequence[Expression]) -> SparseFunction | None:
        if all(node.is_zero for node in nodes):
            return None
        matrices = [Expression(n, b.names) for n, b in zip(nodes, blocks, strict=True)]
        return sparse_function_of(self.given, matrices, [node.rank // 2 for node in nodes])

    def __call__(self, x: ArrayLike) -> Vector:
        """Return the diagonal at x."""
        packing = self.given.packing
        parts: list[Sequence[Any]] = []
        if self._full is not None:
            parts.append(self._full(x))
        if self._structured is not None:
            known = {**self.given.fixed, **packing.unpack(x)}
            found = self._structured(*(known[name] for name in self._structured.args))
            shapes = packing.shapes.values()
            parts.append([np.reshape(block.diagonal(), shape) for block, shape in zip(found, shapes, strict=True)])
        total = [sum(part, np.zeros(shape)) for *part, shape in zip(*parts, packing.shapes.values(), strict=True)]
        return packing.pack(dict(zip(packing.shapes, total, strict=True)))


def _diagonal(block: Node) -> Node:
    """Return the diagonal of a block with equal leading and trailing axes."""
    axes = tuple(range(block.rank // 2))
    return product(1, [(block, (*axes, *axes))], axes, {})


def _on_diagonal(entries: Node) -> Node:
    axes = tuple(range(entries.rank))
    return product(1, [(entries, axes)], (*axes, *axes), {})
