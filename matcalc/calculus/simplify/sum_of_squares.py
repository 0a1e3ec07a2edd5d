"""Finds a sum of squares in the normal form of a scalar.

In the normal form a sum of squares is a product in which every operand occurs twice with the same indices. An operand
that occurs once and contains no variable is a weight. Its root multiplies the residual, and is NaN for a negative
weight.
"""

from __future__ import annotations

from fractions import Fraction
from math import inf

from matcalc.calculus.simplify.simplify import simplify
from matcalc.tensor.constructors import number, power, product
from matcalc.tensor.facts.ranges import as_float
from matcalc.tensor.nodes.node import Node, toposort

Term = tuple[float, Node]
"""A weight, and the residual whose entries are squared."""
HALF = Fraction(1, 2)


def squared(node: Node, variables: frozenset[Node]) -> list[Term] | None:
    """Return the weights and residuals of a scalar, None if it is no sum of squares."""
    for form in (node, simplify(node)):  # simplifying may multiply the squares out
        terms = _terms(1.0, form, variables)
        if terms is not None:
            return terms
    return None


def _terms(weight: float, node: Node, variables: frozenset[Node]) -> list[Term] | None:
    """Return weights and residuals of `weight` times a scalar node, None if it is no sum of squares."""
    if node.shape or not 0 < weight < inf:
        return None
    if node.kind == "sum":
        parts = [_terms(weight * as_float(c), arg, variables) for c, arg in node.terms]
        return None if any(part is None for part in parts) else [term for part in parts for term in part or ()]
    if node.kind == "product":
        return _product(weight, node, variables)
    if node.kind == "number" and isinstance(node.data[0], (int, float, Fraction)) and node.data[0] > 0:
        return [(weight * as_float(node.data[0]), number(1))]
    return None


def _product(weight: float, node: Node, variables: frozenset[Node]) -> list[Term] | None:
    coef, _, _, lengths = node.data
    once: list[tuple[Node, tuple[int, ...]]] = []
    pairs: list[tuple[Node, tuple[int, ...]]] = []
    for operand in node.operands:
        if operand in once:
            once.remove(operand)
            pairs.append(operand)
        else:
            once.append(operand)
    varying = [operand for operand in once if not variables.isdisjoint(toposort(operand[0]))]
    roots = [(power(arg, HALF), at) for arg, at in once if (arg, at) not in varying]
    sizes = dict(enumerate(lengths))
    if not varying:
        out = tuple(range(len(lengths)))
        return [(weight * as_float(coef), product(1, [*pairs, *roots], out, sizes))] if coef > 0 else None
    if len(varying) > 1 or varying[0][1] or any(at for _, at in (*pairs, *roots)):
        return None
    inside = _terms(weight * as_float(coef), varying[0][0], variables)
    return inside and [(w, product(1, [*pairs, *roots, (r, tuple(range(len(r.shape))))],
                                   tuple(range(len(r.shape))), {})) for w, r in inside]  # fmt: skip
