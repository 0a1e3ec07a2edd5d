"""Computes the value of a text and its slope along a direction by the tests' evaluator: complex steps or differences.

Differences are taken at several widths and extrapolated; their error is estimated from the last two orders. A point
with different slopes on its two sides is a kink. A point at which no width is accurate is ill-conditioned.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import NamedTuple

import numpy as np

from oracle import values
from oracle.arrays import NotAnalytic
from oracle.linear_algebra import LINEAR_ALGEBRA
from oracle.values import evaluate, shaped

Array = np.ndarray
Data = Mapping[str, Array | int]

STEP = 1e-30
WIDTHS = (0.05, 0.01, 0.002, 0.0004, 0.000005)
OTHERWISE = 0.6
"""The factor by which the widths of a second estimate are narrower."""
ORDERS = 4
ANALYTIC = 1e-9
"""Required relative accuracy of a complex step, and of the estimate that it is compared with."""


class Slope(NamedTuple):
    """A derivative along a direction with an error bound; `way` is "step", "differences" or the fault."""

    value: float
    error: float
    way: str


@contextmanager
def quiet() -> Iterator[None]:
    """Silence warnings, and make a complex number that is converted to a real one an error."""
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warnings.simplefilter("error", np.exceptions.ComplexWarning)
        yield


@contextmanager
def shaken(rng: np.random.Generator) -> Iterator[None]:
    """Perturb the last digits of the value of every function called inside; symmetric values stay symmetric.

    The perturbation of a matrix function is relative to its largest entry, also in its zeros and ones.
    """
    called = values.call

    def call(tree: tuple[object, ...], env: Mapping[str, Array]) -> Array:
        found = called(tree, env)
        size = np.max(np.abs(found), initial=0.0) if tree[1] in LINEAR_ALGEBRA else None
        return disturbed(found, rng, size)

    values.call = call
    try:
        yield
    finally:
        values.call = called


def disturbed(array: Array, rng: np.random.Generator, size: float | None = None) -> Array:
    """Return an array with noise of 1e-13, symmetric if it is square, relative to each entry that is not an integer.

    With a `size` the noise is relative to it, in all entries.
    """
    noise = rng.standard_normal(array.shape)
    noise = noise + noise.T if noise.ndim == 2 and noise.shape[0] == noise.shape[1] else noise
    if size is not None:
        return np.asarray(array + 1e-13 * size * noise)
    return np.asarray(np.where(array == np.round(array.real), array, array * (1 + 1e-13 * noise)))


def value(text: str, data: Data, sizes: Mapping[str, int], shape: tuple[int, ...]) -> Array:
    """Return the value of a text in NumPy's shape; raise LinAlgError if SciPy rejects non-finite values inside."""
    try:
        return shaped(evaluate(text, dict(data), dict(sizes)), shape)
    except ValueError as error:
        if "infs or NaNs" in str(error):
            raise np.linalg.LinAlgError(str(error)) from error
        raise


def evaluated(text: str, data: Data, sizes: Mapping[str, int]) -> Array:
    """Return the value of a text, two-dimensional."""
    return np.asarray(evaluate(text, dict(data), dict(sizes)))


def has(array: Array, facts: Sequence[str]) -> bool:
    """Whether a value has the facts that a domain requires; facts that are known by construction are not tested."""
    return all(TESTS[fact](array) for fact in facts if fact in TESTS)


TESTS: Mapping[str, Callable[[Array], bool]] = {
    "positive": lambda x: bool(np.all(x > 0)),
    "nonnegative": lambda x: bool(np.all(x >= 0)),
    "spd": lambda x: bool(np.all(np.linalg.eigvalsh((x + x.T) / 2) > 1e-10 * np.max(np.abs(x), initial=0.0))),
    "psd": lambda x: bool(np.all(np.linalg.eigvalsh((x + x.T) / 2) >= 0)),
}


def along(
    text: str, data: Data, sizes: Mapping[str, int], direction: Data, cotangent: Array, by_step: bool = True
) -> Slope:
    """Return the derivative of sum(cotangent .* text) along `direction` of the data.

    Without `by_step` it is computed twice, by differences at different widths, which must agree.
    """
    shape = cotangent.shape

    def f(t: complex) -> complex:
        moved = {name: array + t * direction[name] if name in direction else array for name, array in data.items()}
        found = np.sum(cotangent * shaped(evaluate(text, moved, dict(sizes)), shape))
        return complex(found) if np.iscomplexobj(found) else float(found)  # type: ignore[return-value]

    if by_step:
        try:
            stepped = f(STEP * 1j)
            if isinstance(stepped, complex) and np.isfinite(stepped.imag):
                return Slope(stepped.imag / STEP, ANALYTIC * abs(stepped.imag / STEP), "step")
        except (NotAnalytic, TypeError, ValueError, np.exceptions.ComplexWarning):
            pass
        return differences(f)
    return agreed(differences(f), differences(f, OTHERWISE))


def agreed(one: Slope, other: Slope) -> Slope:
    """Return a slope with the error implied by another estimate."""
    return one._replace(error=max(one.error, abs(one.value - other.value)))


def differences(f: Callable[[float], Array], scale: float = 1.0) -> Slope:
    """Return the slope of f at 0 by extrapolated central differences, at the widths with the least error.

    A width that a narrower one contradicts beyond both errors is left out: a kink may be near. If all others contradict
    the best, the error is the distance to the nearest of them.
    """
    centre, found = float(np.real(f(0.0))), []
    for width in WIDTHS:
        steps = [scale * width / 2**k for k in range(ORDERS + 1)]
        ends = [(float(np.real(f(h))), float(np.real(f(-h)))) for h in steps]
        if not np.all(np.isfinite(ends)):
            continue
        table = [(a - b) / (2 * h) for (a, b), h in zip(ends, steps, strict=True)]
        for order in range(1, ORDERS + 1):
            last = table
            table = [(4**order * b - a) / (4**order - 1) for a, b in zip(table, table[1:], strict=False)]
        a, b = ends[-1]
        rounding = 1e-15 * (abs(a) + abs(b) + abs(centre)) / steps[-1]
        error = abs(table[0] - last[-1]) + rounding
        bend = abs(a + b - 2 * centre) / steps[-1]
        first = abs(ends[0][0] + ends[0][1] - 2 * centre) / steps[0]
        is_kink = bend > 1e-3 * abs(table[0]) + 1e-9 and bend > first / 4
        found.append(Slope(table[0], error, "kink" if is_kink else "differences"))
    if not found:
        return Slope(np.nan, np.inf, "ill-conditioned")
    near = [one for k, one in enumerate(found) if not any(_contradict(one, other) for other in found[k + 1 :])]
    best = min(near, key=lambda slope: slope.error)
    others = [one for one in found if one is not best]
    if not others or not all(_contradict(best, other) for other in others):
        return best
    return best._replace(error=min(abs(best.value - other.value) for other in others))


def _contradict(one: Slope, other: Slope) -> bool:
    """Whether two slopes differ by more than both errors."""
    return abs(one.value - other.value) > one.error + other.error
