"""Tries other orders of planning: a product that reused parts of others is planned first and computes these parts.

The product planned first takes the order that is best for it alone. Later ones reuse existing parts. So the value
`norm2(V'*S*W)^2` computes `V'*S`, and its gradient `S*W*W'*S'*V` needs a second product with S; if the gradient is
planned first, `S*W` serves both. Only products whose best order alone differs can come first: they are few.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from matcalc.compiler.plan.rows.by_rows import Planned
from matcalc.tensor.nodes.node import Node

MOST = 3
"""The largest number of products that are tried."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A plan of nodes in an order, its cost, and its products whose order depends on parts of others."""

    cost: float
    planned: tuple[Planned, ...]
    order: Sequence[Node]
    form_all: bool
    reordered: Sequence[Node]

    def is_better(self, other: Candidate) -> bool:
        """Whether it is cheaper and has the same size arguments."""
        return self.cost < other.cost and self.planned[0].program.size_args == other.planned[0].program.size_args


def with_best_output_order(best: Candidate, plan: Callable[[Sequence[Node], bool], Candidate]) -> Candidate:
    """Return the cheapest of a plan and those that begin with a product whose order depended on others."""
    tried: set[Node] = {best.order[0]}
    while len(tried) <= MOST:
        first = next((node for node in best.reordered if node not in tried), None)
        if first is None:
            break
        tried.add(first)
        found = plan([first, *best.order], best.form_all)
        best = found if found.is_better(best) else best
    return best
