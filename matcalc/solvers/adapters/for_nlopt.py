"""Adapts a formula to NLopt, which calls a function `g(x, grad)`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from numpy.typing import ArrayLike

from matcalc.solvers.derivatives import Scalar
from matcalc.solvers.packing import Vector
from matcalc.solvers.problem_input import read_inputs, scalar


class NloptFunction:
    """A scalar formula as `g(x, grad)`, which returns the value and writes the gradient into `grad` if it is not empty.

    `dim` is the number of variables, `x0` the packed start, or None.
    """

    def __init__(self, objective: Scalar) -> None:
        self._objective, given = objective, objective.given
        self.pack, self.unpack, self.dim, self.x0 = (
            given.packing.pack,
            given.packing.unpack,
            given.packing.size,
            given.x0,
        )

    def __call__(self, x: Vector, grad: Vector) -> float:
        if not grad.size:
            return self._objective.value(x)
        value, grad[:] = self._objective.both(x)
        return value


def nlopt(
    f: Any,
    wrt: Any,
    data: Mapping[Any, ArrayLike] | None = None,
    start: Mapping[Any, ArrayLike] | None = None,
    sizes: Mapping[Any, int] | None = None,
    *,
    declarations: str = "",
    dialect: str = "matrix",
    target: str = "numba",
) -> NloptFunction:
    """Return the scalar `f` in the symbols `wrt` as NLopt takes objectives and constraints.

    `opt.set_min_objective(g)`, `opt.add_inequality_constraint(g)` (g <= 0), `opt.add_equality_constraint(g)`;
    `g.unpack(opt.optimize(g.x0))` returns arrays by name.

    Raises: as `problem`.
    """
    given = read_inputs(f, wrt, data, start, sizes, declarations, dialect, target)
    return NloptFunction(Scalar(given, scalar(given.formulas[0])))
