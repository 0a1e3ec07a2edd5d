"""Divided differences of every function of one operand, near ties and far apart, against high precision."""

from fractions import Fraction

import numpy as np
import pytest

import matcalc as mc
from matcalc.evidence.precise import digits, doubles, numbers, precise_oracle
from matcalc.rulebook import default_rulebook

BOOK = default_rulebook()
GAPS = (1e-9, 1e-3, 0.02, 0.1, 0.3, 1.0, 3.0, -0.5, -1.1)
POWERS = ("1/1000", "-1/1000", "1/10", "1/3", "1/2", "-1/2", "3/2", "5/2", "-1", "-2", "-3", "3", "4", "7")
DIGITS = 340
SHAKEN = 1e-25
BOUND = 3e-14
"""Bound of the error, divided by the relative sensitivity of the true value to the points."""

DRAWN = {"log1p": (0.0, 20.0), "acosh": (1.1, 30.0), "gamma": (0.5, 8.0), "lambertw": (0.1, 20.0)}
INSIDE = {"asin", "acos", "atanh", "erfinv"}
MAPS = [r for r in BOOK.rules.values() if r.kind == "map" and not r.opaque]
CALLS = [(r.name, f"{r.name}(t)", ()) for r in MAPS if [p.kind for p in r.parameters] == ["entry"]]
CALLS += [("pow", f"pow(t, {p})", (Fraction(p),)) for p in POWERS]


def points(name):
    """Return points on both sides of 0, small and large, in the domain of the function of that name."""
    rng = np.random.default_rng([1, *name.encode()])
    if name in INSIDE:
        return rng.uniform(-0.6, 0.6, 9)
    if name == "logit":
        return rng.uniform(0.1, 0.4, 9)
    if name in DRAWN:
        low, high = DRAWN[name]
        return rng.uniform(low, high, 9)
    sizes = np.concatenate([rng.uniform(0.1, 2, 3), rng.uniform(2, 9, 3), rng.uniform(9, 26, 3)])
    positive = BOOK.get(name).domain or BOOK.get(name).parameters[0].facts
    return sizes if positive else sizes * np.where(np.arange(9) % 2, 1, -1)


def exact(name, given, a, b):
    """Return the divided difference and its relative sensitivity to either point, as doubles."""
    value = precise_oracle(BOOK, BOOK.get(name))

    def quotient(a, b):
        return (value(a, *given) - value(b, *given)) / (a - b)

    with digits(DIGITS):
        a, b = numbers(a), numbers(b)
        there = quotient(a, b)
        moved = [quotient(a + a * SHAKEN, b), quotient(a, b + b * SHAKEN)]
        moves = [doubles((m - there) / there) / SHAKEN for m in moved]
        return doubles(there), np.maximum(1.0, np.max(np.abs(moves), axis=0))


@pytest.mark.parametrize(("name", "call", "given"), [pytest.param(*c, id=c[1]) for c in CALLS])
@pytest.mark.sampled(54)
@pytest.mark.thinned(2)
def test_against_many_digits(name, call, given):
    """No pair of points has an error above a few roundings times the condition of the problem."""
    with np.errstate(all="ignore"):
        found = mc.compile(f"dd(t -> {call}, a, b)", declarations="a: vector(n); b: vector(n)", target="numpy")
        for gap in GAPS:
            a = points(name)
            b = a * (1 + gap)
            truth, condition = exact(name, given, a, b)
            usable = np.isfinite(truth) & (np.abs(truth) > 1e-290) & np.isfinite(condition)
            error = np.abs(found(a=a, b=b) - truth) / np.abs(truth) / condition
            assert np.all(error[usable] <= BOUND), (gap, a[usable], error[usable])


SCALES = (1e-140, 1e-20, 1e-6, 1e-3)
SMALL = [c for c in CALLS if c[0] not in {"acosh", "gamma", "erfcinv"}]


@pytest.mark.parametrize(("name", "call", "given"), [pytest.param(*c, id=c[1]) for c in SMALL])
@pytest.mark.sampled(54)
def test_small_points(name, call, given):
    """Plain evaluation and compiled code, of points far apart beside their size: all digits of f(a) - f(b) cancel."""
    with np.errstate(all="ignore"):
        e = mc.expression(f"dd(t -> {call}, a, b)", "a: vector(n); b: vector(n)")
        ways = e, mc.compile(e, target="numpy")
        for scale in SCALES:
            a = scale * points(name)
            for ratio in (-0.7, 4.0):
                b = ratio * a
                truth, condition = exact(name, given, a, b)
                usable = np.isfinite(condition) & (np.abs(truth) > 1e-200) & (np.abs(truth) < 1e200)
                for way in ways:
                    error = np.abs(way(a=a, b=b) - truth) / np.abs(truth) / condition
                    assert np.all(error[usable] <= 10 * BOUND), (scale, ratio, way, a[usable], error[usable])
