"""Writes exact numbers in decimal notation, and bounds their length."""

from __future__ import annotations

from fractions import Fraction

from matcalc.errors import NotSupported

MAX_BITS = 9000
"""Bits of the numerator or denominator of an exact number: Python writes no integer of more than 4,300 digits."""


def check_bits(count: int) -> None:
    """Raise NotSupported for an exact number that is too long to compute with."""
    if count > MAX_BITS:
        hint = "scale the data, so that exact numbers have fewer digits"
        raise NotSupported(f"an exact number of {count} bits (at most {MAX_BITS})", hint=hint)


def number_text(value: Fraction) -> str:
    """Return the shorter exact decimal form of a number, `1/3` if it has none.

    A negative number has its sign and a quotient no parentheses; `level` determines whether they are needed.
    """
    sign, size = ("-" if value < 0 else ""), abs(value)
    places = decimals(size.denominator)
    digits = size.numerator * 10**places // size.denominator if places is not None else 0
    if places is None or digits.bit_length() > MAX_BITS:
        return f"{sign}{size.numerator}/{size.denominator}"
    return sign + _decimal(digits, places)


def decimals(denominator: int) -> int | None:
    """Return the number of decimals of 1/denominator, None if it is infinite."""
    found = 0
    while denominator % 10 == 0:
        denominator, found = denominator // 10, found + 1
    for prime in (2, 5):
        while denominator % prime == 0:
            denominator, found = denominator // prime, found + 1
    return found if denominator == 1 else None


def _decimal(digits: int, places: int) -> str:
    """Return digits * 10^-places, with an exponent if the number is far from 1 and that is shorter."""
    shown = str(digits)
    padded = shown.rjust(places + 1, "0")
    positional = f"{padded[:-places]}.{padded[-places:]}" if places else shown
    magnitude = len(shown) - places - 1
    if -5 < magnitude < 16 and not shown.endswith(8 * "0"):
        return positional
    mantissa = shown.rstrip("0")
    point = "." if len(mantissa) > 1 else ""
    scientific = f"{mantissa[0]}{point}{mantissa[1:]}e{magnitude}"
    return min(scientific, positional, key=len)
