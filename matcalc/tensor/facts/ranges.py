"""Computes ranges: the intervals of sums, products, powers and monotone functions of values in intervals."""

from __future__ import annotations

from fractions import Fraction
from math import copysign, inf, isfinite, isinf, isnan, nextafter
from sys import float_info

from matcalc.rulebook.rule import Rule
from matcalc.tensor.nodes.node import ANY, Range

POSITIVE = Range(0.0, inf, low_open=True)
NONNEGATIVE = Range(0.0, inf)
LARGEST = float_info.max


def as_float(value: Fraction | float) -> float:
    """Return a rational as a float, infinite if it is too large."""
    try:
        return float(value)
    except OverflowError:
        return inf if value > 0 else -inf


def digits(value: Fraction | float) -> str:
    """Return a number as a float of generated code."""
    found = as_float(value)
    return repr(found) if isfinite(found) else "np.nan" if isnan(found) else f"{'-' if found < 0 else ''}np.inf"


def exactly(value: Fraction | float) -> Range:
    """Return the interval of one number, between the two nearest floats if it is not a float."""
    if isinstance(value, float):
        return Range(value, value)
    low, high = _rounded(value, False), _rounded(value, True)
    return Range(low, high, low != high, low != high)


def scaled(interval: Range, factor: Fraction | float) -> Range:
    """Return the interval of the multiples of values in an interval, with ends rounded outwards."""
    if factor == 0:
        return Range(0.0, 0.0)
    if factor == 1:
        return interval
    low, high, low_open, high_open = interval
    if factor < 0:
        low, high, low_open, high_open = high, low, high_open, low_open
    return Range(*_joined(_times(low, factor, False), _times(high, factor, True), low_open, high_open))


def added(a: Range, b: Range) -> Range:
    """Return the interval of the sums of values in two intervals, with ends rounded outwards."""
    low, high = _plus(a.low, b.low, False), _plus(a.high, b.high, True)
    return Range(*_joined(low, high, a.low_open or b.low_open, a.high_open or b.high_open))


def _joined(
    low: tuple[float, bool], high: tuple[float, bool], low_open: bool, high_open: bool
) -> tuple[float, float, bool, bool]:
    """Return the ends of an interval; a rounded end is open."""
    return low[0], high[0], low_open or low[1], high_open or high[1]


def _rounded(exact: Fraction, up: bool) -> float:
    """Return the float next to an exact number on one side, or the number itself if it is a float."""
    found = as_float(exact)
    if isinf(found):
        return found if (found > 0) == up else copysign(LARGEST, found)
    beyond = Fraction(found) - exact
    if beyond == 0 or (beyond > 0) == up:
        return found
    return nextafter(found, inf if up else -inf)


def _times(end: float, factor: Fraction | float, up: bool) -> tuple[float, bool]:
    """Return an end of an interval times a nonzero number, and whether it was rounded."""
    if end == 0 or not isfinite(end):
        return (end if factor > 0 else -end) + 0.0, False
    if isinstance(factor, float) and not isfinite(factor):
        return end * factor, False
    exact = Fraction(end) * Fraction(factor)
    found = _rounded(exact, up)
    return found, not isfinite(found) or found != exact


def _plus(a: float, b: float, up: bool) -> tuple[float, bool]:
    """Return the sum of two ends of intervals, and whether it was rounded."""
    if a == 0 or b == 0 or not isfinite(a) or not isfinite(b):
        return a + b, False
    exact = Fraction(a) + Fraction(b)
    found = _rounded(exact, up)
    return found, not isfinite(found) or found != exact


def multiplied(a: Range, b: Range) -> Range:
    if a.positive and b.positive:
        return POSITIVE if not (a.high <= 1 and b.high <= 1) else Range(0.0, 1.0, low_open=True)
    if a.nonnegative and b.nonnegative:
        return NONNEGATIVE if not (a.high <= 1 and b.high <= 1) else Range(0.0, 1.0)
    if any(x * y != x * y for x in a[:2] for y in b[:2]):
        return ANY
    low, high = (pick(_corner(x, y, up) for x in a[:2] for y in b[:2]) for pick, up in ((min, False), (max, True)))
    is_open = a.nonzero and b.nonzero
    return Range(low, high, is_open and low == 0, is_open and high == 0)


def _corner(x: float, y: float, up: bool) -> float:
    """Return the product of two ends, rounded to one side."""
    return x * y if 0 in (x, y) else _times(x, y, up)[0]


def square_of(own: Range) -> Range:
    """Return the interval of the even powers of values in an interval."""
    if max(-own.low, own.high) > 1:
        return POSITIVE if own.nonzero else NONNEGATIVE
    is_open = own.low > -1 or own.low_open, own.high < 1 or own.high_open
    return Range(0.0, 1.0, own.nonzero, all(is_open))


def image(rule: Rule, known: Range) -> Range:
    """Return the image of an interval under a monotone function, by the value at its one known point."""
    found = Range(*(rule.interval or (-inf, inf, True, True)))
    if rule.through is None:
        return found
    x, y = rule.through
    above = known.low >= x, known.low > x or known.low_open
    below = known.high <= x, known.high < x or known.high_open
    if rule.monotone == "decreasing":
        above, below = below, above
    if above[0] and y >= found.low:
        return found._replace(low=y, low_open=above[1])
    if below[0] and y <= found.high:
        return found._replace(high=y, high_open=below[1])
    return found


def power_range(base: Range, numerator: int, denominator: int) -> Range:
    if base.positive:
        return POSITIVE
    if denominator == 1 and numerator % 2 == 0:
        return POSITIVE if base.nonzero else NONNEGATIVE
    return NONNEGATIVE if base.nonnegative or denominator % 2 == 0 else ANY
