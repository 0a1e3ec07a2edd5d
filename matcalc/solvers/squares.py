"""Writes a loss as a sum of squares f = |r|^2, for methods that work on residuals."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from matcalc.calculus.simplify.sum_of_squares import Term, squared
from matcalc.expressions.expression import Expression
from matcalc.solvers.derivatives import Values
from matcalc.solvers.packing import Vector
from matcalc.solvers.problem_input import Inputs


class Residuals:
    """Stacked residuals whose squares add up to a loss; `parts` has the root of the weight and the values of each."""

    def __init__(self, given: Inputs, terms: Sequence[Term]) -> None:
        names = given.formulas[0].names
        self.parts = [(weight**0.5, Values(given, Expression(node, names))) for weight, node in terms]

    def value(self, x: ArrayLike) -> Vector:
        """Return the residuals."""
        return np.concatenate([root * part.value(x) for root, part in self.parts])

    def jacobian(self, x: ArrayLike) -> Vector:
        """Return the Jacobian, a row for each residual."""
        return np.concatenate([root * part.jacobian(x) for root, part in self.parts])


def residuals(given: Inputs) -> Residuals | None:
    """Return the residuals of the objective; None if it is no sum of squares."""
    objective = given.formulas[0]
    variables = {objective.names.symbols[name] for name in given.names if name in objective.names.symbols}
    terms = squared(objective.node, frozenset(variables))
    return None if terms is None else Residuals(given, terms)
