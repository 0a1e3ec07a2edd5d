"""A loss as a sum of squares: f = |r|^2, read off the normal form, for methods that work on residuals.

In the normal form a sum of squares is a product in which every operand stands twice at the same indices. What stands
once and holds no variable is a weight, and its root multiplies the residual; a negative weight makes that NaN, which
is refused at the start.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike

from matcalc.calculus.simplify.simplify import simplify
from matcalc.expressions.expression import Expression
from matcalc.solvers.derivatives import Values
from matcalc.solvers.given import Given
from matcalc.solvers.packing import Vector
from matcalc.tensor.constructors import number, product
from matcalc.tensor.node import Node, toposort

Term = tuple[float, Node]
"""A weight, and the residual whose entries are squared."""


class Residuals:
    """Residuals whose squares add up to a loss: values and Jacobian of each term, stacked; `parts` have the roots."""

    def __init__(self, given: Given, terms: Sequence[Term]) -> None:
        names = given.formulas[0].names
        self.parts = [(weight**0.5, Values(given, Expression(node, names))) for weight, node in terms]

    def value(self, x: ArrayLike) -> Vector:
        """Return the residuals."""
        return np.concatenate([root * part.value(x) for root, part in self.parts])

    def jacobian(self, x: ArrayLike) -> Vector:
        """Return the Jacobian, a row for each residual."""
        return np.concatenate([root * part.jacobian(x) for root, part in self.parts])


def residuals(given: Given) -> Residuals | None:
    """Return the residuals of the objective, None where it is no sum of squares."""
    objective = given.formulas[0]
    variables = {objective.names.symbols[name] for name in given.names if name in objective.names.symbols}
    for node in (objective.node, simplify(objective.node)):  # simplifying may multiply the squares out
        terms = _terms(1.0, node, frozenset(variables))
        if terms is not None:
            return Residuals(given, terms)
    return None


def _terms(weight: float, node: Node, variables: frozenset[Node]) -> list[Term] | None:
    """Return weights and residuals of `weight` times a scalar node, None where it is no sum of squares."""
    if node.shape or weight <= 0:
        return None
    if node.kind == "sum":
        parts = [_terms(weight * float(c), arg, variables) for c, arg in node.terms]
        return None if any(part is None for part in parts) else [term for part in parts for term in part or ()]
    if node.kind == "product":
        return _product(weight, node, variables)
    if node.kind == "number" and isinstance(node.data[0], (int, float, Fraction)) and node.data[0] > 0:
        return [(weight * float(node.data[0]), number(1))]
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
    roots = [(_root(arg), at) for arg, at in once if (arg, at) not in varying]
    sizes = dict(enumerate(lengths))
    if not varying:
        out = tuple(range(len(lengths)))
        return [(weight * float(coef), product(1, [*pairs, *roots], out, sizes))] if coef > 0 else None
    if len(varying) > 1 or varying[0][1] or any(at for _, at in (*pairs, *roots)):
        return None
    inside = _terms(weight * float(coef), varying[0][0], variables)
    return inside and [(w, product(1, [*pairs, *roots, (r, tuple(range(len(r.shape))))],
                                   tuple(range(len(r.shape))), {})) for w, r in inside]  # fmt: skip


def _root(node: Node) -> Node:
    from matcalc.tensor.symbols import Names

    made: Expression = Expression(node, Names({}, ())) ** Fraction(1, 2)
    return made.node
