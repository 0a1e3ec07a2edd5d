"""Rewrites powers of sums of squares as powers of norms: `sum(x.^2)^(3/4)` as `norm2(x)^(3/2)`, for slices too.

A norm has a derivative where it is 0; the derivative of a power of a sum of squares would be infinity times 0. In the
normal form a sum of squares is a product in which every operand occurs twice with the same indices. So one test serves
every order.
"""

from __future__ import annotations

from collections import Counter
from fractions import Fraction

from matcalc.rulebook.load import default_rulebook
from matcalc.tensor.constructors import apply, operate, power, product, scale
from matcalc.tensor.nodes.node import Node


def as_norm(node: Node) -> Node | None:
    """Return a fractional or free power of a square or sum of squares as a power of its root; None for other nodes."""
    if node.kind != "map" or node.rule.role not in ("fixed_power", "free_power"):
        return None
    root = _root(node.args[0])
    if root is None:
        return None
    if node.rule.role == "free_power":
        return apply(node.rule, [root, scale(2, node.args[1])])
    exponent = node.params[0]
    return power(root, 2 * exponent) if exponent.denominator > 1 else None


def _root(node: Node) -> Node | None:
    """Return the norm or magnitude whose square a node is, None if it is not written as a square."""
    if node.kind != "product" or node.coef != 1 or len(set(node.out)) < len(node.out):
        return None
    counts = Counter(node.operands)
    if not any(node.indices) or any(count % 2 for count in counts.values()):
        return None
    half = [operand for operand, count in counts.items() for _ in range(count // 2)]
    measured = {i for _, at in half for i in at}
    if not measured.issuperset(node.out):
        return None
    summed = tuple(i for i in range(len(node.index_sizes)) if i not in node.out)
    root = product(Fraction(1), half, (*node.out, *summed), node.sizes)
    book = default_rulebook()
    if not summed:
        return apply(book.playing("magnitude"), [root])
    batch = tuple(range(len(node.out)))
    return operate(book.playing("euclidean_length"), [root], batches=[batch], batch_sizes=node.shape)
