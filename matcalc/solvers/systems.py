"""Adapts formulas to SciPy's `least_squares`, `root` and `solve_ivp`: values and Jacobian on flat vectors."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import prod
from typing import Any, cast

from numpy.typing import ArrayLike

from matcalc.errors import ShapeError
from matcalc.expressions.derivatives import name_of
from matcalc.expressions.read_input import with_wrt
from matcalc.language.identifiers import by_name
from matcalc.solvers.derivatives import Values
from matcalc.solvers.packing import Vector
from matcalc.solvers.problem_input import Inputs, read_inputs


class System:
    """A formula F of named arrays as `fun(x)` and its Jacobian `jac(x)`, a row per value; `x0` is the packed start."""

    def __init__(self, given: Inputs) -> None:
        self.values = Values(given, given.formulas[0])
        self.pack: Callable[[Mapping[str, ArrayLike]], Vector] = given.packing.pack
        self.unpack: Callable[[ArrayLike], dict[str, Vector]] = given.packing.unpack
        self.x0 = given.x0

    def fun(self, x: ArrayLike) -> Vector:
        """Return F, row-major."""
        return self.values.value(x)

    def jac(self, x: ArrayLike) -> Vector:
        """Return the Jacobian as a matrix."""
        return cast("Vector", self.values.jacobian(x))


class Flow:
    """A right-hand side as `fun(t, y)` and `jac(t, y)`, where y is the packed state; `y0` is the packed start."""

    def __init__(self, system: System, time: str) -> None:
        self._values, self._time = system.values, time
        self.pack, self.unpack, self.y0 = system.pack, system.unpack, system.x0

    def fun(self, t: float, y: ArrayLike) -> Vector:
        """Return dy/dt at time t, row-major."""
        return self._values.value(y, **self._at(t))

    def jac(self, t: float, y: ArrayLike) -> Vector:
        """Return the Jacobian of dy/dt in y as a matrix."""
        return cast("Vector", self._values.jacobian(y, **self._at(t)))

    def _at(self, t: float) -> dict[str, float]:
        return {self._time: float(t)} if self._time else {}


Arrays = Mapping[Any, ArrayLike]


def least_squares(
    r: Any,
    wrt: Any,
    data: Arrays | None = None,
    start: Arrays | None = None,
    sizes: Mapping[Any, int] | None = None,
    *,
    declarations: str = "",
    dialect: str = "matrix",
    target: str = "numba",
) -> System:
    """Return the residual `r`, of any shape, for SciPy's least_squares: `least_squares(s.fun, x0, jac=s.jac)`.

    Raises: as `problem`.
    """
    return System(read_inputs(r, wrt, data, start, sizes, declarations, dialect, target))


def root(
    F: Any,  # noqa: N803 - a matrix
    wrt: Any,
    data: Arrays | None = None,
    start: Arrays | None = None,
    sizes: Mapping[Any, int] | None = None,
    *,
    declarations: str = "",
    dialect: str = "matrix",
    target: str = "numba",
) -> System:
    """Return the equations `F = 0`, as many as unknowns, for SciPy's root: `root(s.fun, x0, jac=s.jac)`.

    Raises: as `problem`; ShapeError for another number of equations.
    """
    given = read_inputs(F, wrt, data, start, sizes, declarations, dialect, target)
    _check_square(given, "equations", "unknowns")
    return System(given)


def ode(
    rhs: Any,
    state: Any,
    data: Arrays | None = None,
    start: Arrays | None = None,
    sizes: Mapping[Any, int] | None = None,
    *,
    time: Any = "t",
    declarations: str = "",
    dialect: str = "matrix",
    target: str = "numba",
) -> Flow:
    """Return d state/dt = rhs for SciPy's solve_ivp: `solve_ivp(s.fun, span, y0, jac=s.jac)`.

    If the symbol `time` occurs in the right-hand side and has no value in the data, it is the time.

    Raises: as `problem`; ShapeError if the right-hand side and the state have different numbers of entries.
    """
    given = {name_of(key): value for key, value in by_name(data or {}, "data=").items()}
    known = with_wrt(rhs, state, declarations, dialect).names.symbols
    clock = name_of(time) if name_of(time) in known and name_of(time) not in given else ""
    read = read_inputs(rhs, state, given | ({clock: 0.0} if clock else {}), start, sizes, declarations, dialect, target)
    _check_square(read, "derivatives", "entries of the state")
    return Flow(System(read), clock)


def _check_square(given: Inputs, values: str, variables: str) -> None:
    """Raise ShapeError unless there are as many values as variables."""
    count = prod(size.evaluate(given.fixed) for size in given.formulas[0].node.shape)
    if count != given.packing.size:
        raise ShapeError(f"{count} {values} for {given.packing.size} {variables}")
