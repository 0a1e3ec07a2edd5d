"""Ranges: where sums, products, powers and monotone functions of what lies in intervals lie."""

from __future__ import annotations

from fractions import Fraction
from math import inf, isfinite, isnan

from matcalc.rulebook.rule import Rule
from matcalc.tensor.node import ANY, Range

POSITIVE = Range(0.0, inf, low_open=True)
NONNEGATIVE = Range(0.0, inf)


def as_float(value: Fraction | float) -> float:
    """Return a rational as a float, infinite where it is too large for one."""
    try:
        return float(value)
    except OverflowError:
        return inf if value > 0 else -inf


def digits(value: Fraction | float) -> str:
    """Return a number as a float of generated code."""
    found = as_float(value)
    return repr(found) if isfinite(found) else "np.nan" if isnan(found) else f"{'-' if found < 0 else ''}np.inf"


def scaled(interval: Range, factor: float) -> Range:
    if factor == 0:
        return Range(0.0, 0.0)
    low, high, low_open, high_open = interval
    if factor > 0:
        return Range(low * factor, high * factor, low_open, high_open)
    return Range(high * factor, low * factor, high_open, low_open)


def multiplied(a: Range, b: Range) -> Range:
    if a.positive and b.positive:
        return POSITIVE if not (a.high <= 1 and b.high <= 1) else Range(0.0, 1.0, low_open=True)
    if a.nonnegative and b.nonnegative:
        return NONNEGATIVE if not (a.high <= 1 and b.high <= 1) else Range(0.0, 1.0)
    corners = [x * y for x in a[:2] for y in b[:2]]
    if any(c != c for c in corners):
        return ANY
    low, high, is_open = min(corners), max(corners), a.nonzero and b.nonzero
    return Range(low, high, is_open and low == 0, is_open and high == 0)


def square_of(own: Range) -> Range:
    """Return where the even powers of what lies in a range lie."""
    if max(-own.low, own.high) > 1:
        return POSITIVE if own.nonzero else NONNEGATIVE
    is_open = own.low > -1 or own.low_open, own.high < 1 or own.high_open
    return Range(0.0, 1.0, own.nonzero, all(is_open))


def image(rule: Rule, known: Range) -> Range:
    """Return where a monotone function maps a range: above or below the value at the point that is known of it."""
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
