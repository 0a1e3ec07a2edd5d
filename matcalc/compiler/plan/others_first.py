"""Orders for all outputs together: a product that took parts of others is tried as the one whose parts others take.

What is planned first has the order that is best for it alone, and what comes later takes the parts that are there. So
the value `norm2(V'*S*W)^2` makes `V'*S`, and its gradient `S*W*W'*S'*V` has a second product with S; begun with the
gradient, `S*W` serves both. Only products that would have another order alone can begin otherwise: they are few.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from matcalc.compiler.plan.by_rows import Planned
from matcalc.tensor.node import Node

MOST = 3
"""How many products are tried."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A plan of nodes in an order, its cost, and the products in it that parts of others have swayed."""

    cost: float
    planned: tuple[Planned, ...]
    order: Sequence[Node]
    form_all: bool
    swayed: Sequence[Node]

    def is_better(self, other: Candidate) -> bool:
        """Whether it is cheaper, called with the same sizes."""
        return self.cost < other.cost and self.planned[0].program.size_args == other.planned[0].program.size_args


def with_others_first(best: Candidate, plan: Callable[[Sequence[Node], bool], Candidate]) -> Candidate:
    """Return the cheapest of a plan and those that begin with a product that others have swayed in the best so far."""
    tried: set[Node] = {best.order[0]}
    while len(tried) <= MOST:
        first = next((node for node in best.swayed if node not in tried), None)
        if first is None:
            break
        tried.add(first)
        found = plan([first, *best.order], best.form_all)
        best = found if found.is_better(best) else best
    return best
