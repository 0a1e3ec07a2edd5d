"""Recognises numbers of Python code that are short formulas of pi, 2 or a square root, so that they print as such."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from functools import lru_cache
from math import isfinite, log, pi, sqrt
from types import MappingProxyType

from matcalc.rulebook.load import Rulebook, default_rulebook
from matcalc.tensor.constructors import apply, constant, number, power, product, scale
from matcalc.tensor.nodes.node import Node

LARGEST = 1000
"""The largest integer whose square root is recognised."""
HALF = Fraction(1, 2)


def named_number(value: float) -> Node | None:
    """Return the formula of a number such as `2*pi`, `log(2*pi)` or `sqrt(3)`, or its negative; None for any other.

    The formula has the same double: `sqrt(3)` stands for 1.7320508075688772 alone.
    """
    size = abs(value)
    if not isfinite(size) or size * size > LARGEST + 1 or size.is_integer():
        return None
    found = _named(default_rulebook()).get(size)
    whole = round(size * size)
    if found is None and whole > 1 and sqrt(whole) == size:
        found = power(number(whole), HALF)
    return found if found is None or value > 0 else scale(-1, found)


@lru_cache(maxsize=4)
def _named(book: Rulebook) -> Mapping[float, Node]:
    """Return formulas by their values."""
    import numpy as np

    circle = constant(np.asarray(pi))
    twice = scale(2, circle)
    logarithm = apply(book.playing("logarithm"), [twice])
    found = {
        pi: circle,
        2 * pi: twice,
        pi / 2: scale(HALF, circle),
        sqrt(pi): power(circle, HALF),
        sqrt(2 * pi): power(twice, HALF),
        sqrt(2 / pi): power(product(2, [(power(circle, Fraction(-1)), ())], (), {}), HALF),
        log(2 * pi): logarithm,
        log(2 * pi) / 2: scale(HALF, logarithm),
        log(2): apply(book.playing("logarithm"), [number(2)]),
    }
    return MappingProxyType(found)
