"""Writes matrices without symbols entry by entry, if SymPy has no name for them, such as `duplication(3)`."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import sympy
from numpy.typing import NDArray
from sympy import Basic

from matcalc.errors import NotSupported

MOST_BITS = 20
"""Most bits of the denominator of an entry: sums of such numbers are exact as floating-point numbers."""


def explicit(value: NDArray[np.float64]) -> Basic:
    """Return an array of order 1 or 2 as a SymPy matrix of exact numbers.

    Raises: NotSupported if a number may have been rounded.
    """
    columns = value.shape[1] if value.ndim > 1 else 1
    entries = [Fraction(float(x)) for x in value.flat]
    if any(x.denominator.bit_length() > MOST_BITS + 1 or x.numerator.bit_length() > MOST_BITS for x in entries):
        raise NotSupported("a matrix of numbers that are not exact has no SymPy form")
    rationals = [sympy.Rational(x.numerator, x.denominator) for x in entries]
    return sympy.ImmutableMatrix(value.shape[0], columns, rationals)
