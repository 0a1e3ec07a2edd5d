"""Derivatives along a line by numbers alone: complex steps where they can be trusted, else differences.

This is the oracle of `check` and of rules: it sees a function of one number and nothing of the engine. Central
differences at ten steps are extrapolated (Richardson); the entry of the table with the least error estimate is
taken. A complex step is exact to rounding, but only for functions that NumPy continues analytically (not `abs`,
not a Hermitian factorisation, and an iteration that drops what is small drops its imaginary part too), so it is taken
where it agrees with the differences within a few times their error and not otherwise.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np

Array = np.ndarray[Any, np.dtype[Any]]
Line = Callable[[Any], Array]

STEPS = tuple(2.0**-k for k in range(4, 14))
ORDERS = 6
COMPLEX = 1e-30
ROUNDING = 1e-15


class Slope(NamedTuple):
    """A derivative along a line with its estimated absolute error, and how it was found."""

    value: Array
    error: float
    how: str


def slope(f: Line) -> Slope:
    """Return f'(0) of an array-valued f; NaN where f is not finite near 0."""
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a value that drops an imaginary part is no analytic function: seen below
        found = by_differences(f)
        exact = by_complex_step(f, found.value.shape)
    if exact is None or not np.all(np.isfinite(found.value)):
        return found
    size = float(np.max(np.abs(found.value), initial=0.0))
    if float(np.max(np.abs(exact - found.value), initial=0.0)) > 5 * found.error + 1e-12 * size:
        return found
    return Slope(exact, ROUNDING * max(size, 1e-300), "complex step")


def by_complex_step(f: Line, shape: tuple[int, ...]) -> Array | None:
    """Return Im f(ih)/h, None where f takes no complex number or gives none."""
    try:
        value = np.asarray(f(1j * COMPLEX))
    except (TypeError, ValueError, ArithmeticError, np.linalg.LinAlgError, NotImplementedError):
        return None
    if not np.iscomplexobj(value) or value.shape != shape:
        return None
    result = np.asarray(value.imag) / COMPLEX
    return result if np.all(np.isfinite(result)) else None


def by_differences(f: Line) -> Slope:
    """Return the extrapolated central difference with the least estimated error.

    Wide steps that leave the domain are left out; where all do, that is raised.
    """

    def quotients() -> Iterator[tuple[Array, float]]:
        inside = 0
        for h in STEPS:
            try:
                high, low = _real(f(h)), _real(f(-h))
            except np.linalg.LinAlgError:
                if inside > 1 or h == STEPS[-1]:
                    raise
                continue
            inside += 1
            yield (high - low) / (2 * h), ROUNDING * float(np.max(np.abs(high), initial=0.0)) / h

    return extrapolated(quotients())


def extrapolated(quotients: Iterable[tuple[Array, float]]) -> Slope:
    """Return the limit of differences at steps that are halved, each with the noise in it."""
    best: Slope | None = None
    above: list[Array] = []
    for first, noise in quotients:
        row = [first]
        for order in range(1, min(len(above), ORDERS) + 1):
            finer = (4.0**order * row[-1] - above[order - 1]) / (4.0**order - 1)
            error = max(_distance(finer, row[-1]), _distance(finer, above[order - 1])) + noise
            row.append(finer)
            if best is None or error < best.error or not np.isfinite(best.error):
                best = Slope(np.asarray(finer), error, "differences")
        above = row
    assert best is not None
    return best


def _real(value: Any) -> Array:
    return np.asarray(value, dtype=float)


def _distance(a: Array, b: Array) -> float:
    distance = float(np.max(np.abs(a - b), initial=0.0))
    return distance if np.isfinite(distance) else float("inf")
