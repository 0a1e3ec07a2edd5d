"""Computes A'*diag(d)*A with weights of one sign as a square of sqrt(|d|).*A, as in Hessians of sums over rows.

A kernel for squares does half the work of a product, and its result is symmetric to the last bit.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from fractions import Fraction

from matcalc.compiler.entrywise import Apply, Expr, Read
from matcalc.compiler.plan.products.session import Session
from matcalc.compiler.plan.values.describe import Factors
from matcalc.compiler.plan.values.values import Value, times
from matcalc.rulebook.load import default_rulebook
from matcalc.tensor.constructors import power, product
from matcalc.tensor.nodes.node import Node
from matcalc.tensor.sizes.size import Size

Indices = tuple[int, ...]
Term = tuple[Indices, Value | None, Node | None]
"""An operand of a product: the index of each axis, its value if it is computed, its node if it is one."""


def rooted(
    session: Session, terms: Sequence[Term], kept: frozenset[int], sizes: Mapping[int, Size]
) -> tuple[int, Value] | None:
    """Return the sign of d, and sqrt(|d|).*A, for operands A, A and weights d of the index that both are summed along.

    Return None for other operands, and if the sign of the weights is not known.
    """
    matrices = [(at, value) for at, value, _ in terms if len(at) == 2]
    weights = [(at, value, node) for at, value, node in terms if len(at) == 1]
    if len(matrices) != 2 or not weights or len(weights) + 2 != len(terms):
        return None
    (one, matrix), (other, same) = matrices
    met = set(one) & set(other)
    if matrix is None or matrix is not same or len(met) != 1 or met & kept or not {*one, *other} - met <= kept:
        return None
    index = met.pop()
    if one.index(index) != other.index(index):
        return None
    if any(at != (index,) or value is None for at, value, _ in weights):
        return None
    sign = _sign([node for *_, node in weights])
    if not sign:
        return None
    graph = session.graph
    factors: list[Expr] = [Read(value.name, graph.axes[:1]) for _, value, _ in weights if value is not None]
    root, size = (session.lowerings.scalars[default_rulebook().playing(r).name] for r in ("square_root", "magnitude"))
    formula = power(product(sign, [(node, (0,)) for *_, node in weights if node is not None], (0,)), Fraction(1, 2))
    weight = graph.point((sizes[index],), Apply(root, (Apply(size, (times(1, factors),)),)), formula)
    axes = graph.axes[:2]
    entry = times(1, [Read(weight.name, (axes[one.index(index)],)), Read(matrix.name, axes)])
    node = next(node for at, _, node in terms if at == one)
    subject = Factors(((formula, (index,)), (node, one)), one, sizes) if node is not None else ""
    return sign, graph.point(tuple(sizes[i] for i in one), entry, subject)


def _sign(nodes: Sequence[Node | None]) -> int:
    """Return the sign of a product from the ranges of factors that occur an odd number of times; 0 if it is unknown."""
    sign = 1
    for node, count in Counter(nodes).items():
        if node is None:
            return 0
        if count % 2:
            sign *= 1 if node.range.nonnegative else -1 if node.range.high <= 0 else 0
    return sign
