"""Computes derivatives along a line numerically: by complex steps if they can be trusted, else by differences.

This is the oracle of `check` and of rules: it uses a function of one number and no part of the engine. Central
differences at ten steps are extrapolated (Richardson), and the table entry with the least error estimate is returned.
A complex step is exact to rounding, but only for functions that NumPy continues analytically: not for `abs`, Hermitian
factorisations, or iterations that drop small numbers. Therefore it is used only if it agrees with the differences
within a few times their error.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np

Array = np.ndarray[Any, np.dtype[Any]]
Line = Callable[[Any], Array]

STEPS = tuple(2.0**-k for k in range(4, 14))
RANGES = tuple(tuple(2.0**-k for k in range(first, first + 10)) for first in (4, 14, 24))
"""Ranges of steps, of which two must agree on a slope."""
STEADY, COARSE = 1e-6, 1e-4
"""The relative error of a slope that is accepted, and the distance from that of the other range."""
ORDERS = 6
COMPLEX = 1e-30
ROUNDING = 1e-15


class Slope(NamedTuple):
    """A derivative along a line, its estimated absolute error, and its method."""

    value: Array
    error: float
    how: str


def slope(f: Line) -> Slope:
    """Return f'(0) of an array-valued f; NaN if f is not finite near 0."""
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a dropped imaginary part is detected below
        found = by_differences(f)
        exact = by_complex_step(f, found.value.shape)
    if exact is None or not np.all(np.isfinite(found.value)):
        return found
    size = float(np.max(np.abs(found.value), initial=0.0))
    if float(np.max(np.abs(exact - found.value), initial=0.0)) > 5 * found.error + 1e-12 * size:
        return found
    return Slope(exact, ROUNDING * max(size, 1e-300), "complex step")


def by_complex_step(f: Line, shape: tuple[int, ...]) -> Array | None:
    """Return Im f(ih)/h; None if f does not support complex numbers."""
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

    Steps that leave the domain are skipped; if all do, the error is raised.
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


def steady(quotient: Callable[[float], Array], scale: float) -> Slope | None:
    """Return the limit of a difference quotient on which two ranges of steps agree; None if they do not.

    A function that is steep, or has a kink nearby, needs small steps. If it is chaotic, no steps agree. `scale` is the
    magnitude below which slopes count as 0. Where smaller steps leave the domain, larger ones decide.
    """
    before: Slope | None = None
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for steps in RANGES:
            try:
                here = extrapolated([(np.asarray(quotient(h)), 0.0) for h in steps])
            except (np.linalg.LinAlgError, ValueError):
                return before
            if before is not None:
                best = min(before, here, key=lambda one: one.error)
                size = max(float(np.max(np.abs(best.value), initial=0.0)), scale)
                if best.error <= STEADY * size and _distance(before.value, here.value) <= COARSE * size:
                    return best
            before = here
    return None


def extrapolated(quotients: Iterable[tuple[Array, float]]) -> Slope:
    """Return the limit of difference quotients at halved steps, each with its rounding noise."""
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
