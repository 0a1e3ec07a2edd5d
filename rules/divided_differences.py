"""Plain NumPy values of divided differences, and of the radius within which a series represents a function.

They are slow, obvious, and independent of the compiler.
"""

import itertools
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from matcalc.rules.elementwise import EPS

Array = NDArray[Any]
Function = Callable[..., Array]


def dd_(f: Function, *points: Array, strict: bool = False) -> Array:
    """Return divided differences of f(x, k=0): by recursion across wide gaps and breaks, else by a mean derivative.

    With `strict` the result is NaN where f has no derivative. Without it any value may be returned there, for callers
    whose result does not depend on it.
    """
    points = np.broadcast_arrays(*points)
    shape = points[0].shape
    rows = zip(*(np.ravel(p) for p in points), strict=True)
    values = ((row, divided_(f, row)) for row in map(sorted, rows))
    return np.array([defined_(f, row, value) if strict else value for row, value in values]).reshape(shape)


def divided_(f: Function, points: Sequence[float]) -> float:
    """Return the divided difference of f; at one point its value, NaN if one of several points is not finite."""
    if len(points) == 1:
        return float(f(np.asarray(points[0]), 0))
    if not all(p - p == 0 for p in points):
        return np.nan
    return bounded_(f, points)[0]


def bounded_(f: Function, points: Sequence[float]) -> tuple[float, float]:
    """Return a divided difference and its rounding error."""
    order, gap = len(points) - 1, points[-1] - points[0]
    if gap == 0:
        value = float(f(np.asarray(points[0]), order)) / math.factorial(order)
        return value, 16 * EPS * abs(value)
    (low, below), (high, above) = bounded_(f, points[:-1]), bounded_(f, points[1:])
    quotient, error = (high - low) / gap, (below + above) / gap
    is_wide = gap > 0.1 * min(1.0, abs(points[0]) + abs(points[-1]))  # as wide as the distance to a pole at 0 may be
    if is_wide and not 1e-12 * abs(quotient) < error < np.inf:
        return quotient, error
    (rough, _), (mean, size) = mean_derivative_(f, points, 8), mean_derivative_(f, points, 12)
    if is_wide and not abs(rough - mean) <= 1e-14 * size:
        return quotient, error
    if abs(mean - quotient) > error + 1e-6 * abs(quotient):
        return quotient, error  # f has a jump or kink between the points, which its derivative does not show
    return mean, 16 * EPS * size


def mean_derivative_(f: Function, points: Sequence[float], count: int) -> tuple[float, float]:
    """Return the integral of the derivative over the simplex of the points (Hermite, Genocchi), and that of its size.

    Source: Gauss's rule with `count` points along each edge.
    """
    t, h = np.polynomial.legendre.leggauss(count)
    t, h = (t + 1) / 2, h / 2
    x, weight, scale = np.array([points[0]]), np.array([1.0]), np.array([1.0])
    for a, b in itertools.pairwise(points):
        x = (x[:, None] + (b - a) * np.outer(scale, t)).ravel()
        weight, scale = np.outer(weight * scale, h).ravel(), np.outer(scale, t).ravel()
    parts = weight * f(x, len(points) - 1)
    return float(np.sum(parts)), float(np.sum(np.abs(parts)))


def defined_(f: Function, points: Sequence[float], value: float) -> float:
    """Return `value`; NaN if points coincide where f jumps or is undefined, or all coincide at an infinite value."""
    met = {a for a, b in itertools.pairwise(points) if a == b}
    if any(np.isnan(f(np.asarray(x), 0)) or jumps_(f, x) for x in met):
        return np.nan
    return np.nan if np.isinf(value) and len(points) > 2 and points[0] == points[-1] else value


def jumps_(f: Function, x: float) -> bool:
    """Whether f jumps between finite values at x: the step does not shrink with the gap."""
    with np.errstate(all="ignore"):
        values = [f(np.array([x - h, x + h]), 0) for h in (1e-6 * (1 + abs(x)), 1e-12 * (1 + abs(x)))]
    wide, narrow = (abs(above - below) for below, above in values)
    return bool(max(wide / 2, 1e-9 * np.max(np.abs(values[1]))) < narrow < 2 * wide)


def radius_(f: Function, x: Array) -> Array:
    """Return the radius of convergence of the Taylor series of f at x, by the root test on terms 8 to 12."""
    with np.errstate(all="ignore"):
        roots = [np.abs(f(np.asarray(x), k) / math.factorial(k)) ** (-1 / k) for k in range(8, 13)]
    return np.min(roots, axis=0)
