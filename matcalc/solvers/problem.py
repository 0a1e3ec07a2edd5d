"""Defines `solvers.problem`: a formula as functions of one flat vector for optimisers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from matcalc.language.declare import Declarations
from matcalc.solvers.constraints import Comparison, bounded, comparisons, feasible
from matcalc.solvers.derivatives import Scalar
from matcalc.solvers.packing import Vector
from matcalc.solvers.parametrisations import Charts, charted
from matcalc.solvers.problem_input import Inputs, read_inputs, scalar


class Problem:
    """The minimisation of f over named arrays, as functions of one vector, each compiled on its first call.

    `fun`, `jac`, `hess`, `hessp`, `operator` are the value and its exact derivatives. `pack` and `unpack` convert
    between a dictionary of arrays and the vector. `constraints` and `bounds` are SciPy's objects (`bounds` is None if
    there are none). `x0` is the packed start, or None.
    """

    def __init__(
        self, given: Inputs, charts: Charts, written: Sequence[Comparison], bounds: Any, start: ArrayLike | None
    ) -> None:
        from scipy.optimize import Bounds

        self.given = given
        self.objective = Scalar(given, scalar(given.formulas[0]))
        self._charts = charts
        self.x0 = None if start is None else np.asarray(start, np.float64)
        at = np.zeros(given.packing.size) if self.x0 is None else self.x0
        found = feasible(given, written, given.formulas[1:], at)
        low, high = bounded(given.packing, bounds)
        low, high = np.maximum(low, found.lower), np.minimum(high, found.upper)
        if np.any(low > high):
            raise ValueError("the bounds leave no value: a lower end is above the upper one")
        self.constraints: list[Any] = found.constraints
        is_bounded = np.any(np.isfinite(low)) or np.any(np.isfinite(high))
        self.bounds = Bounds(low, high) if is_bounded else None

    def pack(self, arrays: Mapping[str, ArrayLike]) -> Vector:
        """Return arrays by name as a vector."""
        return self.given.packing.pack(self._charts.coordinates(arrays))

    def unpack(self, x: ArrayLike) -> dict[str, Vector]:
        """Return a vector as arrays by name."""
        return self._charts.arrays(self.given.packing.unpack(x))

    @property
    def is_parametrised(self) -> bool:
        """Whether the vector contains coordinates of some variable instead of its entries."""
        return bool(self._charts.made)

    @property
    def plan(self) -> str:
        """The plan of value and gradient, including parts that are computed once from the data."""
        return self.objective.plan

    def value(self, x: ArrayLike) -> float:
        """Return f(x), compiled without its gradient, for methods that use none."""
        return self.objective.value(x)

    def value_and_gradient(self, x: ArrayLike) -> tuple[float, Vector]:
        """Return f(x) and its gradient from one call; those of the last x are cached."""
        return self.objective.both(x)

    def fun(self, x: ArrayLike) -> float:
        """Return f(x)."""
        return self.objective.both(x)[0]

    def jac(self, x: ArrayLike) -> Vector:
        """Return the gradient."""
        return self.objective.both(x)[1]

    def hess(self, x: ArrayLike) -> Any:
        """Return the Hessian as a matrix, a CSR array with `sparse=True`."""
        return self.objective.hessian(x)

    def hessp(self, x: ArrayLike, v: ArrayLike) -> Vector:
        """Return the Hessian times v, without forming it."""
        return self.objective.product(x, v)

    def operator(self, x: ArrayLike) -> Any:
        """Return the Hessian at x as SciPy's LinearOperator, with `.diagonal()` for a preconditioner."""
        from scipy.sparse.linalg import LinearOperator

        objective, at = self.objective, np.array(x, np.float64)

        class Hessian(LinearOperator):  # type: ignore[misc]
            """The Hessian at one point: symmetric."""

            def _matvec(self, v: Vector) -> Vector:
                return objective.product(at, np.reshape(v, -1))

            def _adjoint(self) -> Any:
                return self

            def diagonal(self) -> Vector:
                """Return the diagonal."""
                return objective.diagonal(at)

        return Hessian(np.float64, (at.size, at.size))


def problem(
    f: Any,
    wrt: Any,
    data: Mapping[Any, ArrayLike] | None = None,
    constraints: str | Sequence[str] = "",
    bounds: Any = None,
    start: Mapping[Any, ArrayLike] | None = None,
    sizes: Mapping[Any, int] | None = None,
    *,
    declarations: Declarations = "",
    dialect: str = "matrix",
    target: str = "numba",
    parametrise: bool = False,
    check_facts: bool = False,
    sparse: bool = False,
) -> Problem:
    """Return the minimisation of the scalar `f` in the symbols `wrt` as functions of one vector.

    `data` has a value for each other symbol. `bounds` are pairs of None, numbers or arrays, by name. `constraints` are
    comparisons of formulas, `sum(w) == 1; w >= 0`, entry by entry for arrays. A constraint is linear if its derivative
    is constant, and a bound if it is linear in a single entry; `<` is read as `<=`. Sizes that the data do not
    determine come from `start` or `sizes`. With `parametrise`, variables declared positive, spd, symmetric, orthogonal
    and the like stay in their set: the vector then contains coordinates. `check_facts`, which needs a start, checks
    the declared facts of start and data. With `sparse`, `hess` and the Jacobians and Hessians of the constraints are
    SciPy CSR arrays with a fixed pattern, as in `compile(..., sparse=True)`.

    Shapes: vectors are (n,), with n the number of entries of all variables, row-major in the order of `wrt`; hess is
        (n, n).
    Raises: ValueError, UnknownName, ShapeError or ParseError for invalid input; what reading f raises.
    """
    written = comparisons(constraints)
    more = [comparison.difference for comparison in written]
    given = read_inputs(f, wrt, data, start, sizes, declarations, dialect, target, more, check_facts)
    given = replace(given, sparse=sparse)
    given, charts = charted(given) if parametrise else (given, Charts({}))
    both = [name for name in charts.made if isinstance(bounds, Mapping) and name in bounds]
    if both or (charts.made and bounds and not isinstance(bounds, Mapping)):
        which = ", ".join(both or charts.made)
        raise ValueError(f"{which} is parametrised: give its bounds as constraints")
    known = None if given.start is None else given.packing.pack(charts.coordinates(given.start))
    if known is not None and not np.all(np.isfinite(known)):
        raise ValueError("the start is not inside the declared sets of the variables")
    return Problem(given, charts, written, bounds or {}, known)
