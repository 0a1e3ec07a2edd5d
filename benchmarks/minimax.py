"""Computes the nearly best polynomials whose coefficients are in `codegen/numba`.

    python -m benchmarks.minimax            prints all
    python -m benchmarks.minimax gammaln    prints those whose name begins with gammaln

The error relative to `scale` is minimised by least squares at Chebyshev points, with many digits: within a bit of the
best. The coefficients of the lowest powers are rounded to float64 one by one; after each, the others are fitted again.
The leading coefficient is printed first, as `horner` takes them.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass

import mpmath
from mpmath import mp, mpf

ONE_BY_ONE = 3
Function = Callable[[mpf], mpf]


@dataclass(frozen=True)
class Nearly:
    """A function to approximate by a polynomial of `count` coefficients on [low, high]; errors relative to scale.

    With `rest` the constant coefficient is a sum of two numbers, which are printed last.
    """

    function: Function
    low: mpf
    high: mpf
    count: int
    scale: Function
    rest: bool = False


def coefficients(best: Nearly) -> tuple[list[float], mpf]:
    """Return the float64 coefficients of a nearly best polynomial, leading first, and the largest relative error."""
    constant = fitted(best, [])[0]
    rest = [float(constant - float(constant))] if best.rest else []
    fixed = [float(constant) + mpf(sum(rest))]
    while len(fixed) < ONE_BY_ONE:
        fixed.append(mpf(float(fitted(best, fixed)[0])))
    fixed += [mpf(float(c)) for c in fitted(best, fixed)]
    points = mpmath.linspace(best.low, best.high, 1001)
    error = max(abs((value(fixed, x) - best.function(x)) / best.scale(x)) for x in points)
    return [*map(float, fixed[::-1]), *rest], error


def value(powers: list[mpf], x: mpf) -> mpf:
    """Return the value of the polynomial with these coefficients, lowest first."""
    return mpmath.polyval(powers[::-1], x)


def fitted(best: Nearly, fixed: list[mpf]) -> list[mpf]:
    """Return the coefficients above the fixed lowest ones, by least squares of the relative error."""
    first, free, points = len(fixed), best.count - len(fixed), 4 * best.count
    nodes = [mpmath.cos(mp.pi * (k + mpf(1) / 2) / points) for k in range(points)]
    xs = [(best.low + best.high + (best.high - best.low) * t) / 2 for t in nodes]
    scales = [best.scale(x) for x in xs]
    powers = mpmath.matrix([[x ** (first + j) / s for j in range(free)] for x, s in zip(xs, scales, strict=True)])
    rest = [(best.function(x) - value(fixed, x)) / s for x, s in zip(xs, scales, strict=True)]
    return list(mpmath.lu_solve(powers.T * powers, powers.T * mpmath.matrix(rest)))


GAMMALN_CENTRE = mpf("1.8125")  # where the constant coefficients are close to float64 numbers
DIGAMMA_CENTRE = mpf("1.65625")


def gammaln_near(t: mpf) -> mpf:
    """log(gamma(x))/((x - 1)*(x - 2)) at x = centre + t."""
    x = GAMMALN_CENTRE + t
    return mpmath.loggamma(x) / ((x - 1) * (x - 2))


def gammaln_far(w: mpf) -> mpf:
    """The error of Stirling's formula, times x, as a function of w = 1/x^2."""
    x = 1 / mpmath.sqrt(w)
    return (mpmath.loggamma(x) - ((x - mpf(1) / 2) * mpmath.log(x) - x + mpmath.log(2 * mp.pi) / 2)) * x


def digamma_near(t: mpf) -> mpf:
    """digamma(x)/(x - root) at x = centre + t."""
    x = DIGAMMA_CENTRE + t
    return mpmath.digamma(x) / (x - mpmath.findroot(mpmath.digamma, 1.46))


def digamma_far(w: mpf) -> mpf:
    """log(x) - 1/(2*x) - digamma(x), times x^2, as a function of w = 1/x^2."""
    x = 1 / mpmath.sqrt(w)
    return (mpmath.log(x) - 1 / (2 * x) - mpmath.digamma(x)) * x**2


def from_unit(c: mpf, t: mpf) -> mpf:
    """The x >= 0 with t = (x - c)/(x + c), t below 1."""
    return c * (1 + t) / (1 - t)


def scaled_erfc(x: mpf) -> mpf:
    """exp(x^2)*erfc(x), for large x by its continued fraction (DLMF 7.9.1)."""
    if x < 30:
        return mpmath.exp(x * x) * mpmath.erfc(x)
    below = x
    for k in range(200, 0, -1):
        below = x + k / (2 * below)
    return 1 / (mpmath.sqrt(mp.pi) * below)


ERFCX_CENTRE = mpf("3.75")
MILLS_CENTRE = mpf("5.25")
TRIGAMMA_CENTRE = mpf("1.75")


def erfcx_all(t: mpf) -> mpf:
    """exp(x^2)*erfc(x)*(1 + 9/8*x) for x >= 0 as a function of t = (x - centre)/(x + centre)."""
    x = from_unit(ERFCX_CENTRE, t)
    return scaled_erfc(x) * (1 + mpf(9) / 8 * x)


def mills_all(t: mpf) -> mpf:
    """Phi(-x)*exp(x^2/2)*(1 + 13/16*x) for x >= 0 as a function of t = (x - centre)/(x + centre)."""
    x = from_unit(MILLS_CENTRE, t)
    return scaled_erfc(x / mpmath.sqrt(2)) / 2 * (1 + mpf(13) / 16 * x)


def trigamma_all(t: mpf) -> mpf:
    """polygamma(1, x)*x for x >= 1 as a function of t = (x - 1 - centre)/(x - 1 + centre)."""
    x = 1 + from_unit(TRIGAMMA_CENTRE, t)
    return mpmath.zeta(2, x) * x


def near_bessel(k: int, weight: mpf) -> Function:
    """exp(-x)*besseli(k, x)/x^k*(1 + weight*x) at x = 4 + 4*t."""

    def value(t: mpf) -> mpf:
        x = 4 + 4 * t
        return mpmath.besseli(k, x) * mpmath.exp(-x) / x**k * (1 + weight * x)

    return value


def far_bessel(k: int) -> Function:
    """exp(-x)*besseli(k, x)*sqrt(x) at x = 16/(1 + t)."""

    def value(t: mpf) -> mpf:
        x = 16 / (1 + t)
        return mpmath.besseli(k, x) * mpmath.exp(-x) * mpmath.sqrt(x)

    return value


def quotient(function: Function, high: mpf, above: int, below: int) -> tuple[list[float], list[float]]:
    """Return a, b so that (1 + z*a(z))/(1 + z*b(z)) approximates a function on [0, high]; leading ones first."""
    points = 60
    places = [high * (1 + mpmath.cos(mp.pi * (k + mpf(1) / 2) / points)) / 2 for k in range(points)]
    values = [function(z) for z in places]
    rows = [
        [z ** (j + 1) / v for j in range(above)] + [-(z ** (j + 1)) for j in range(below)]
        for z, v in zip(places, values, strict=True)
    ]
    powers = mpmath.matrix(rows)
    solved = mpmath.lu_solve(powers.T * powers, powers.T * mpmath.matrix([(v - 1) / v for v in values]))
    found = [float(c) for c in solved]
    return found[:above][::-1], found[above:][::-1]


def root_series(function: Function) -> Function:
    """(function(s)/s - 1)/s^2 as a function of z = s^2."""
    return lambda z: (function(mpmath.sqrt(z)) / mpmath.sqrt(z) - 1) / z


def tangent_ratio(z: mpf) -> mpf:
    """tan(s)/s as a function of z = s^2."""
    return mpmath.tan(mpmath.sqrt(z)) / mpmath.sqrt(z)


def one(x: mpf) -> mpf:
    """1: errors are absolute."""
    return mpf(1)


def table() -> dict[str, Nearly]:
    """Return the approximations by the name of the function that uses them."""
    tiny, unit = mpf(10) ** -9, mpf(1)
    return {
        "gammaln near": Nearly(gammaln_near, 1 + tiny - GAMMALN_CENTRE, 2.5 - GAMMALN_CENTRE, 25, gammaln_near),
        "gammaln far": Nearly(gammaln_far, tiny, unit / 9, 12, one),
        "digamma near": Nearly(digamma_near, 1 + tiny - DIGAMMA_CENTRE, 2.5 - DIGAMMA_CENTRE, 27, digamma_near),
        "digamma far": Nearly(digamma_far, tiny, unit / 9, 13, one),
        "erfcx": Nearly(erfcx_all, -unit, unit - tiny, 29, erfcx_all, rest=True),
        "mills": Nearly(mills_all, -unit, unit - tiny, 29, mills_all, rest=True),
        "trigamma": Nearly(trigamma_all, -unit, unit - tiny, 27, trigamma_all, rest=True),
        "besseli 0 near": Nearly(near_bessel(0, unit / 2), -unit + tiny, unit, 31, near_bessel(0, unit / 2), rest=True),
        "besseli 1 near": Nearly(near_bessel(1, unit), -unit + tiny, unit, 31, near_bessel(1, unit), rest=True),
        "besseli 0 far": Nearly(far_bessel(0), -unit + tiny, unit, 28, far_bessel(0), rest=True),
        "besseli 1 far": Nearly(far_bessel(1), -unit + tiny, unit, 28, far_bessel(1), rest=True),
        "atanh": Nearly(root_series(mpmath.atanh), tiny, mpf("0.041"), 8, lambda z: 1 / z),
        "asin": Nearly(root_series(mpmath.asin), tiny, unit / 4, 12, lambda z: 1 / z),
    }


def main(prefix: str) -> None:
    """Print the coefficients of the functions whose name has this prefix."""
    with mp.workdps(90):
        for name, best in table().items():
            if name.startswith(prefix):
                found, error = coefficients(best)
                print(f"{name}: to 2^{float(mpmath.log(error, 2)):.1f}")
                print("\n".join(f"        {c!r}," for c in found), flush=True)
        if "tan".startswith(prefix):
            print("tan, above and below:", *quotient(tangent_ratio, (mp.pi / 4) ** 2, 3, 4), sep="\n")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "")
