"""Takes common factors out of sums where that saves operations.

Factors that shorten a formula may cost more: `A*(B*x + C*x)` has fewer products than `A*B*x + A*C*x`, and `A*(B + C)*x`
needs a new matrix. So each factor is judged by the operations of the sum with it and without it, each product in its
cheapest order. What another result computes costs nothing: beside `(A - B*K)*X`, `P*A - P*B*K` is `P*(A - B*K)`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from matcalc.calculus.simplify.factor import single_factors
from matcalc.calculus.simplify.shorten import Measure, shortened
from matcalc.compiler.plan.values.estimate import Estimate
from matcalc.tensor.nodes.node import Node, toposort


def cheaper_sums(roots: Sequence[Node], estimate: Estimate) -> list[Node]:
    """Return the roots with those common factors of terms taken out that save operations."""
    known: dict[Node, float] = {}
    found = list(roots)
    for k, root in enumerate(roots):
        others = frozenset(toposort([*found[:k], *found[k + 1 :]]))
        found[k] = _cheaper(root, others, known, estimate)
    return found


def _cheaper(root: Node, others: frozenset[Node], known: dict[Node, float], estimate: Estimate) -> Node:
    """Return a root with those factors taken out that save operations beside those of other results."""
    totals: dict[Node, Measure] = {}

    def work(node: Node) -> Measure:
        if node not in totals:
            order = toposort(node)
            known.update((one, _work(one, estimate)) for one in order if one not in known)
            totals[node] = int(sum(known[one] for one in order if one not in others)), len(order)
        return totals[node]

    def completed(node: Node) -> Iterator[Node]:
        """Yield a sum with one of its factors taken out, and all that this makes possible."""
        return (shortened([one], (single_factors,), work)[0] for one in single_factors(node))

    (found,) = shortened([root], (completed,), work)
    return found


def _work(node: Node, estimate: Estimate) -> float:
    """Return the operations of a node beyond those of its operands."""
    if node.kind == "product":
        return _contraction(node, estimate)
    return estimate.volume(node.shape) * len(node.args) if node.args else 0.0


def _contraction(node: Node, estimate: Estimate) -> float:
    """Return the operations of a product whose cheapest pair of operands is always multiplied first."""
    pending = [frozenset(at) for arg, at in node.operands if arg.kind != "selector"]
    total = 0.0
    while len(pending) > 1:
        pairs = [(i, k) for k in range(len(pending)) for i in range(k)]
        joined = {pair: pending[pair[0]] | pending[pair[1]] for pair in pairs}
        best = min(pairs, key=lambda pair: estimate.volume(node.index_sizes[i] for i in joined[pair]))
        total += estimate.volume(node.index_sizes[i] for i in joined[best])
        rest = [indices for k, indices in enumerate(pending) if k not in best]
        pending = [*rest, joined[best] & frozenset(node.out).union(*rest)]
    return total
