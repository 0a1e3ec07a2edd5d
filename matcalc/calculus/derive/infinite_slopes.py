"""Weights beside slopes that are infinite where their function is finite: of a root at 0, of an arc cosine at 1.

A sum of `g .* sqrt(x)` does not depend on an entry of x whose weight g is 0. So its derivative there is 0 and not 0
times infinity. Factors that do not vary are such weights. A factor that varies with x is not: `sin(sqrt(x)) .* sqrt(x)`
has the slope 1 at 0. A linear or quadratic argument, as in `sqrt(x'*A*x)`, is even along every line through a point
where it and its derivative are 0; the mean of the slopes on both sides is 0 there.
"""

from __future__ import annotations

from collections.abc import Sequence, Set

from matcalc.tensor.constructors import product
from matcalc.tensor.nodes.node import Node, Operand, toposort
from matcalc.tensor.raw_nodes import product_node
from matcalc.tensor.switches import weight

MOST_VARYING = 2
"""The largest number of varying factors in an even argument of a root: `(x^3)^(1/3)` is x, and x^3 is not even."""


def with_weights(bar: Node, held: Set[Node], wrt: Sequence[Node]) -> Node:
    """Return a cotangent with the factors that do not vary as weights, except nodes of `held`."""
    if bar.kind != "product":
        return weight(bar) if _is_fixed(bar, held, wrt) else bar
    operands = [(weight(arg) if _is_fixed(arg, held, wrt) else arg, at) for arg, at in bar.operands]
    return product(bar.coef, operands, bar.out, bar.sizes)


def _is_fixed(node: Node, held: Set[Node], wrt: Sequence[Node]) -> bool:
    if node in held or node.structural or node.kind in ("number", "size", "constant", "selector"):
        return False
    return not any(n in wrt for n in toposort(node))


def is_steep_in(argument: Node, active: Set[Node]) -> bool:
    """Whether varying terms alone may take an argument to a border: in `x^2 + c^2` the other term keeps it away."""
    return argument.kind != "sum" or all(arg in active for arg in argument.args)


def switches_off(node: Node, active: Set[Node]) -> bool:
    """Whether a node is linear or quadratic in varying operands, or a sum of such products."""
    if node.kind == "sum":
        return all(switches_off(arg, active) for arg in node.args if arg in active)
    return node.kind == "product" and sum(arg in active for arg in node.args) <= MOST_VARYING


def weighed_product(node: Node, position: int, active: Set[Node]) -> Node:
    """Return a product with the operands other than `position` that do not vary as weights."""
    operands: list[Operand] = []
    for k, (arg, at) in enumerate(node.operands):
        is_weight = k != position and arg not in active and not arg.structural and arg.kind != "constant"
        operands.append((weight(arg) if is_weight else arg, at))
    args, indices = zip(*operands, strict=True)
    return product_node(node.coef, args, indices, node.out, node.index_sizes)
