"""Arguments over the whole range of elementwise functions, and errors in units of the last place against mpmath."""

from __future__ import annotations

from collections.abc import Callable

import mpmath
import numpy as np

from benchmarks.minimax import scaled_erfc


def erfcx(x: mpmath.mpf) -> mpmath.mpf:
    """exp(x^2)*erfc(x)."""
    return scaled_erfc(x) if x > 0 else 2 * mpmath.exp(x * x) - scaled_erfc(-x)


def log_ndtr(x: mpmath.mpf) -> mpmath.mpf:
    """The logarithm of the normal distribution function."""
    tail = scaled_erfc(abs(x) / mpmath.sqrt(2)) / 2
    if x < 0:
        return mpmath.log(tail) - x * x / 2
    return -mpmath.exp(-x * x / 2) * tail if x > 20 else mpmath.log1p(-mpmath.exp(-x * x / 2) * tail)


def log_ndtr_slope(x: mpmath.mpf) -> mpmath.mpf:
    """The normal density divided by the distribution function."""
    tail = scaled_erfc(abs(x) / mpmath.sqrt(2)) / 2
    density = 1 / mpmath.sqrt(2 * mpmath.pi)
    return density / tail if x < 0 else density / (mpmath.exp(x * x / 2) - tail)


EXACT: dict[str, Callable[..., object]] = {
    "exp": mpmath.exp, "expm1": mpmath.expm1, "log": mpmath.log, "log1p": mpmath.log1p,
    "log2": lambda x: mpmath.log(x, 2), "log10": mpmath.log10, "tanh": mpmath.tanh, "sinh": mpmath.sinh,
    "cosh": mpmath.cosh,
    "sigmoid": lambda x: 1 / (1 + mpmath.exp(-x)), "softplus": lambda x: mpmath.log1p(mpmath.exp(x)),
    "sin": mpmath.sin, "cos": mpmath.cos, "tan": mpmath.tan, "atan": mpmath.atan,
    "erf": mpmath.erf, "erfc": lambda x: mpmath.erfc(x) if x < 100 else mpmath.mpf(0),
    "pow": lambda x: x ** mpmath.mpf(2.5),
    "gammaln": lambda x: mpmath.loggamma(x), "digamma": mpmath.digamma,
    "polygamma 1": lambda x: mpmath.zeta(2, x) if x < 1e12 else 1 / x + 1 / (2 * x * x),
    "erfcx": erfcx, "log_ndtr": log_ndtr, "log_ndtr_diff 1": log_ndtr_slope,
    "asin": mpmath.asin, "acos": mpmath.acos, "asinh": mpmath.asinh, "acosh": mpmath.acosh, "atanh": mpmath.atanh,
}  # fmt: skip
"""Functions with vectorised implementations, with their formulas."""

DOMAIN = {
    "log": 0.0,
    "log2": 0.0,
    "log10": 0.0,
    "pow": 0.0,
    "gammaln": 0.0,
    "digamma": 0.0,
    "polygamma 1": 0.0,
    "acosh": 1.0,
    "log1p": -1.0,
}
"""Lower ends of the domains of functions."""
BOUNDED = ("asin", "acos", "atanh")
TURNING = ("sin", "cos", "tan")


def argument(name: str) -> str:
    """Return the formula of a function of x."""
    stem, _, parameter = name.partition(" ")
    return "x.^2.5" if name == "pow" else f"{stem}({parameter}{', ' if parameter else ''}x)"


def whole_range(name: str, count: int, seed: int = 0) -> np.ndarray:
    """Return about `count` arguments of a function and its edges, with both signs if the domain has them.

    A third have any magnitude; the others lie where functions change their form. Edges are zeros, subnormal numbers,
    neighbours of the points of argument reduction, overflow and underflow.
    """
    rng = np.random.default_rng(seed)
    any_size = rng.integers(0, 0x7FF0000000000000, count // 3).view(np.float64)
    spread = np.exp(rng.uniform(np.log(1e-9), np.log(800.0), count // 3))
    near = np.concatenate([rng.uniform(0.0, 6.0, count // 6), 1.0 + rng.uniform(-0.3, 0.42, count // 6)])
    halves = (np.arange(-1076, 1025, 29) + 0.5) * np.log(2.0)
    turns = np.concatenate([np.arange(1, 40), 2.0 ** np.arange(2, 41)]) * (np.pi / 4)
    edges = [
        5e-324,
        1e-310,
        2.2250738585072014e-308,
        1e-17,
        0.55,
        0.84,
        6.0,
        26.5,
        709.78,
        710.4,
        745.1,
        2.0**40,
        1.7e308,
    ]
    x = np.concatenate([any_size, spread, near, np.abs(halves), turns, edges])
    x = np.concatenate([x, -x])
    if name in BOUNDED:
        x = np.concatenate([x[np.abs(x) <= 1.0], np.tanh(x[np.abs(x) < 20.0]), 1.0 - np.abs(x[np.abs(x) < 0.5])])
    return x[x > DOMAIN[name]] if name in DOMAIN else x


def units(name: str, x: np.ndarray, got: np.ndarray) -> np.ndarray:
    """Return errors in units of the last place of the exact values; inf where one is finite and the other is not."""
    return np.array([_units(name, float(v), float(g)) for v, g in zip(x, got, strict=True)])


def _units(name: str, x: float, got: float) -> float:
    with mpmath.workdps(40 + (330 if name in TURNING and abs(x) > 1e9 else 0)):
        exact = mpmath.mpf(x) if name == "expm1" and abs(x) < 1e-30 else EXACT[name](mpmath.mpf(x))
        rounded = float(exact)  # type: ignore[arg-type]
        if rounded == got:
            return abs(float((mpmath.mpf(got) - exact) / _unit(rounded))) if np.isfinite(got) else 0.0
        if not (np.isfinite(rounded) and np.isfinite(got)):
            return np.inf
        return abs(float((mpmath.mpf(got) - exact) / _unit(rounded)))


def _unit(value: float) -> object:
    return mpmath.mpf(float(np.spacing(min(abs(value), 1.797e308))))
