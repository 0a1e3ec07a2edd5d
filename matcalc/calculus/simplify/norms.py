"""Rewrites powers of sums of squares as powers of norms: `sum(x.^2)^(3/4)` as `norm2(x)^(3/2)`, for slices too.

A norm has a derivative where it is 0; the derivative of a power of a sum of squares would be infinity times 0. In the
normal form a sum of squares is a product in which every operand occurs twice with the same indices, or has an even
power. So one test serves every order.
"""

from __future__ import annotations

from collections import Counter
from fractions import Fraction

from matcalc.calculus.row_distances import as_squares
from matcalc.rulebook.load import default_rulebook
from matcalc.tensor.constructors import apply, number, operate, power, product, scale
from matcalc.tensor.nodes.node import Node, Operand, exponent_of
from matcalc.tensor.sums import split_coef


def as_norm(node: Node) -> Node | None:
    """Return a fractional or free power of a square or sum of squares as a power of its root; None for other nodes."""
    if node.kind != "map" or node.rule.role not in ("fixed_power", "free_power"):
        return None
    exponent = node.params[0] if node.rule.role == "fixed_power" else None
    if exponent is None:
        root = _root(node.args[0])
        return None if root is None else apply(node.rule, [root, scale(2, node.args[1])])
    if exponent.denominator == 1:
        return None
    coef, squares = split_coef(as_squares(node.args[0]) or node.args[0])
    root = _root(squares) if coef > 0 else None
    if root is None:
        return None
    axes = tuple(range(node.rank))
    return product(1, [(power(number(coef), exponent), ()), (power(root, 2 * exponent), axes)], axes)


def _root(node: Node) -> Node | None:
    """Return the norm or magnitude whose square a node is, None if it is not written as a square."""
    if node.kind != "product" or node.coef != 1 or len(set(node.out)) < len(node.out):
        return None
    counts: Counter[Operand] = Counter()
    numbers: list[Operand] = []
    for arg, at in node.operands:
        base, exponent = exponent_of(arg)
        is_square = exponent.denominator == 1 and exponent % 2 == 0
        if is_square and not at:
            numbers.append((apply(default_rulebook().playing("magnitude"), [power(base, exponent / 2)]), ()))
        else:
            counts[(power(base, exponent / 2) if is_square else arg, at)] += 1 + is_square
    if not any(node.indices) or any(count % 2 for count in counts.values()):
        return None
    half = [operand for operand, count in counts.items() for _ in range(count // 2)]
    measured = {i for _, at in half for i in at}
    if not measured.issuperset(node.out):
        return None
    summed = tuple(i for i in range(len(node.index_sizes)) if i not in node.out)
    root = product(Fraction(1), half, (*node.out, *summed), node.sizes)
    book = default_rulebook()
    axes = tuple(range(node.rank))
    if not summed:
        found = apply(book.playing("magnitude"), [root])
    else:
        found = operate(book.playing("euclidean_length"), [root], batches=[axes], batch_sizes=node.shape)
    return product(1, [*numbers, (found, axes)], axes)
