"""Computes slopes of a reference along random directions, the numbers that derivatives are compared with.

First derivatives come from a complex step that agrees with a real difference, else from differences at many steps.
Second derivatives are differences of complex steps, or second differences. Each comes with an error estimate.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import chain
from typing import Any, NamedTuple

import numpy as np

from matcalc.evidence.numeric.differences import COMPLEX, STEPS, Line, by_complex_step, extrapolated, slope
from matcalc.evidence.written.moves import ahead
from matcalc.evidence.written.values import Array, largest

STEP, SMALL_STEP, ROUGH = 1e-5, 1e-7, 1e-4
"""The steps of differences, and the relative error up to which one confirms a complex step."""

SMALL = 1e-6
"""The error of a small entry, relative to the magnitude of all, up to which a difference confirms a complex step."""

ROUNDING, CLOSE = 1e-15, 0.1
FEW_STEPS = tuple(2.0**-k for k in range(6, 10))
SECOND_STEPS = tuple(2.0**-k for k in range(4, 12))
SECOND_SMALL = 2.0**-14
"""The step of a second difference that must agree with those at larger steps, as in `_error_nearby`."""


class Truth(NamedTuple):
    """A value to compare with, its estimated error, and the magnitude to which rounding errors are relative.

    `by_complex_step` marks the result of a complex step that differences confirmed, here or at another point.
    """

    value: Array
    error: float
    scale: float
    by_complex_step: bool = False


def quickly(f: Line, value: Array, is_confirmed: bool = False) -> Truth | None:
    """Return f'(0) by a complex step that one real difference confirms, else by differences at a few steps.

    `value` is f(0). With `is_confirmed` complex steps were confirmed at another point.

    Return None if neither is reliable.
    """
    exact = by_complex_step(f, value.shape)
    try:
        if exact is None:
            return _by_few(f, value)
        scale = _scale(exact, value)
        if is_confirmed:
            return Truth(exact, ROUNDING * scale, scale, True)
        quotients = chain([_quotient_ahead(f, value)], (_quotient(f, h) for h in (STEP, SMALL_STEP)))
        if any(_is_near(quotient, exact, scale) for quotient in quotients):
            return Truth(exact, ROUNDING * scale, scale, True)
        return _by_few(f, value)
    except (np.linalg.LinAlgError, IndexError, TypeError):
        return None


def _is_near(rough: Array, exact: Array, scale: float) -> bool:
    """Whether a difference quotient confirms every entry of a slope, also a small one beside larger ones."""
    return bool(np.all(np.abs(rough - exact) <= ROUGH * np.abs(exact) + SMALL * scale))


def _by_few(f: Line, value: Array) -> Truth | None:
    noise = ROUNDING * max(largest(value), 1e-300)
    ahead(f, _pairs((*FEW_STEPS, STEP, SMALL_STEP)))
    found = extrapolated((_quotient(f, h), noise / h) for h in FEW_STEPS)
    scale = _scale(found.value, value)
    is_sure = bool(np.all(np.isfinite(found.value))) and found.error <= ROUGH**2 * scale
    nearby = _error_nearby(f, found.value, value) if is_sure else None
    return None if nearby is None else Truth(found.value, max(found.error, nearby), scale)


def _error_nearby(f: Line, found: Array, value: Array) -> float | None:
    """Return how far, beyond rounding, a slope is from a quotient at a small step; None if that is more than a tenth.

    Near a pole or a kink, differences at larger steps converge to another number.
    """
    for h in (STEP, SMALL_STEP):
        one = _quotient(f, h)
        noise = 100 * ROUNDING * largest(value) / h
        off = largest(one - found)
        if off <= CLOSE * max(largest(one), largest(found)) + noise:
            return max(off - noise, 0.0)
    return None


def _pairs(steps: Sequence[float]) -> list[tuple[float]]:
    """Return steps in both directions."""
    return [(sign * h,) for h in steps for sign in (1, -1)]


def _quotient_ahead(f: Line, value: Array) -> Array:
    """Return the difference quotient from f(0), the value, to a small step: one evaluation, of an error below ROUGH."""
    return np.asarray(np.asarray(f(SMALL_STEP), dtype=float) - value) / SMALL_STEP


def _quotient(f: Line, h: float) -> Array:
    return np.asarray(np.asarray(f(h), dtype=float) - np.asarray(f(-h), dtype=float)) / (2 * h)


def slowly(f: Line, value: Array) -> Truth | None:
    """Return f'(0) by differences at many steps; None if they do not converge, or quotients at small steps differ."""
    ahead(f, _pairs((*STEPS, STEP, SMALL_STEP)))
    try:
        found = slope(f)
        nearby = _error_nearby(f, found.value, value)
    except (np.linalg.LinAlgError, IndexError):
        return None
    scale = _scale(found.value, value)
    if not np.all(np.isfinite(found.value)) or not found.error <= ROUGH * scale or nearby is None:
        return None
    return Truth(found.value, max(found.error, nearby), scale)


def second_quickly(f: Callable[[Any, float], Array], value: Array, is_confirmed: bool = False) -> Truth | None:
    """Return d2f/ds dt at 0 by central differences in t of complex steps in s, confirmed by real differences.

    `is_confirmed` is as in `quickly`. None if the differences do not confirm it.
    """
    ahead(f, [(1j * COMPLEX, t) for t in (STEP, -STEP)])
    slopes = [by_complex_step(partial(_swapped, f, t), value.shape) for t in (STEP, -STEP)]
    if slopes[0] is None or slopes[1] is None:
        return _second(f, value, FEW_STEPS)
    exact = (slopes[0] - slopes[1]) / (2 * STEP)
    scale = _scale(exact, value)
    if not np.all(np.isfinite(exact)) or not (is_confirmed or _is_second(f, exact, scale)):
        return None
    noise = 1e-16 / STEP * max(largest(slopes[0]), largest(value))
    return Truth(exact, 10 * noise + 1e-8 * scale, scale, True)


def _swapped(f: Callable[[Any, float], Array], t: float, s: Any) -> Array:
    return f(s, t)


def _is_second(f: Callable[[Any, float], Array], exact: Array, scale: float) -> bool:
    """Whether a second derivative agrees with one real second difference."""
    h = 2.0**-9
    ahead(f, [(s * h, t * h) for s, t, _ in CORNERS])
    try:
        corners = [sign * np.asarray(f(s * h, t * h)) for s, t, sign in CORNERS]
    except (np.linalg.LinAlgError, IndexError):
        return False
    rough = sum(corners) / (4 * h * h)
    return not np.iscomplexobj(rough) and bool(largest(rough - exact) <= 100 * ROUGH * scale)


CORNERS = ((1, 1, 1), (1, -1, -1), (-1, 1, -1), (-1, -1, 1))


def second_slowly(f: Callable[[Any, float], Array], value: Array) -> Truth | None:
    """Return d2f/ds dt at 0 by real differences at many steps; None if they do not converge."""
    return _second(f, value, SECOND_STEPS)


def _second(f: Callable[[Any, float], Array], value: Array, steps: Sequence[float]) -> Truth | None:
    def at(h: float) -> tuple[Array, float]:
        corners = [sign * np.asarray(f(s * h, t * h), dtype=float) for s, t, sign in CORNERS]
        size = max(map(largest, corners))
        return sum(corners, start=np.zeros(value.shape)) / (4 * h * h), ROUNDING * size / h**2

    ahead(f, [(s * h, t * h) for h in (*steps, SECOND_SMALL) for s, t, _ in CORNERS])
    try:
        found = extrapolated(at(h) for h in steps)
        one, noise = at(SECOND_SMALL)
    except (np.linalg.LinAlgError, IndexError, TypeError):
        return None
    scale = _scale(found.value, value)
    if not np.all(np.isfinite(found.value)) or not found.error <= 10 * ROUGH * scale:
        return None
    off = largest(one - found.value)
    if not off <= CLOSE * max(largest(one), largest(found.value)) + 100 * noise:
        return None
    return Truth(found.value, max(10 * found.error, off - 100 * noise), scale)


def _scale(slope: Array, value: Array) -> float:
    """Return the magnitude of a slope, at least a small part of the value's, which bounds rounding errors."""
    return max(largest(slope), 1e-3 * largest(value), 1e-300)
