"""Adapts a log density to samplers that use gradients (NUTS): a function of a vector, and nutpie's model."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from matcalc.solvers.adapters.for_c import CCallback, density
from matcalc.solvers.adapters.library import require
from matcalc.solvers.derivatives import Scalar
from matcalc.solvers.packing import Vector
from matcalc.solvers.problem_input import Inputs, read_inputs, scalar


class LogDensity:
    """A log density of named arrays as `logp_and_gradient(x)`; `dim` is the length of x, `x0` the start, or None."""

    def __init__(self, given: Inputs) -> None:
        self._given = given
        self._objective, self._packing = Scalar(given, scalar(given.formulas[0])), given.packing
        self.pack, self.unpack, self.dim, self.x0 = (
            given.packing.pack,
            given.packing.unpack,
            given.packing.size,
            given.x0,
        )

    def logp_and_gradient(self, x: ArrayLike) -> tuple[float, Vector]:
        """Return the log density and its gradient; -inf and zeros if its linear algebra fails (outside the domain)."""
        try:
            return self._objective.both(x)
        except np.linalg.LinAlgError:
            return -np.inf, np.zeros(self.dim)

    def cfunc(self) -> CCallback:
        """Return `int64 f(uint64 n, double *x, double *gradient, double *value, void *user_data)` for samplers in C.

        It returns 0 for success, a positive number if the linear algebra fails (outside the domain), and -1 if n is
        not `dim`. Pass its `address` and its `user_data` to C, and keep the object while C uses it.

        Raises: NotSupported on another target than numba.
        """
        return density(self._given)

    def nutpie(self) -> Any:
        """Return the model for `nutpie.sample`; chains begin near the start, if one was passed."""
        require("nutpie")
        from nutpie.compiled_pyfunc import from_pyfunc

        names, shapes = list(self._packing.shapes), list(self._packing.shapes.values())
        x0 = self.x0

        def make_logp() -> Callable[[Vector], tuple[float, Vector]]:
            return self.logp_and_gradient

        def make_expand(*_: Any) -> Callable[[Vector], dict[str, Vector]]:
            return self.unpack

        def begin(seed: int) -> Vector:
            near = np.random.default_rng(seed).uniform(-1, 1, self.dim)
            return near if x0 is None else x0 + 1e-3 * near

        types = [np.dtype(np.float64)] * len(names)
        return from_pyfunc(self.dim, make_logp, make_expand, types, shapes, names, make_initial_point_fn=begin)


def nuts(
    logp: Any,
    wrt: Any,
    data: Mapping[Any, ArrayLike] | None = None,
    start: Mapping[Any, ArrayLike] | None = None,
    sizes: Mapping[Any, int] | None = None,
    *,
    declarations: str = "",
    dialect: str = "matrix",
    target: str = "numba",
) -> LogDensity:
    """Return the log density `logp` in the symbols `wrt`, up to a constant, as a function for samplers.

    Variables must be unbounded. For a positive variable s, write `exp(t)` instead of s and add t to `logp`.

    Raises: as `problem`.
    """
    return LogDensity(read_inputs(logp, wrt, data, start, sizes, declarations, dialect, target))
