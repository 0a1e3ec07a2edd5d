"""Exact numbers beyond floats: no range becomes 0 or infinite by rounding, and numbers stay short enough to write."""

from fractions import Fraction
from math import isinf

import pytest

import matcalc as mc
from matcalc.tensor.facts.ranges import added, exactly, multiplied, scaled
from matcalc.tensor.nodes.node import Range

LET = "x: scalar; y: scalar; p: scalar positive"
TINY, HUGE = "1e-400", "1e400"
KEPT = [
    "{c}*x",
    "-{c}*x",
    "{c}*sin(x)",
    "{c}*max(x, -1)",
    "{c}*min(x, 1)",
    "{c}*tanh(x)*tanh(y)",
    "sigmoid(x) - {c}",
    "{c}*sigmoid(x) - 1",
    "1 - {c}*sigmoid(x) - tanh(y)",
    "{c}*x - {c}*p",
    "1 + {c}*sin(x) - sigmoid(y)*2",
]


@pytest.mark.sampled(6)
@pytest.mark.parametrize("c", [TINY, HUGE, "1e-330", "1e-308", "1e308", "1e-17", "1/3"])
@pytest.mark.parametrize("text", KEPT)
def test_no_sign_is_known_of_what_takes_both(text, c):
    inner = text.format(c=c)
    node = mc.expression(inner, LET).node
    assert not node.range.nonnegative or node.range.low < 0
    assert mc.expression(f"abs({inner})", LET).simplify().node is not mc.expression(inner, LET).simplify().node
    assert "nonnegative" not in node.facts and "positive" not in node.facts


@pytest.mark.parametrize("c", [TINY, HUGE, "1e-330", "3/7"])
def test_signs_that_are_sure_are_known(c):
    for text in ("{c}*p", "{c}*exp(x)", "{c}*x^2 + {c}", "{c}"):
        assert "positive" in mc.expression(text.format(c=c), LET).node.facts
    assert str(mc.expression(f"{HUGE}*abs({TINY}*x)", LET).simplify()) != "x"


ENDS = [-5e-324, -1e-320, -1e-200, -1.0, -1 / 3, 5e-324, 1e-310, 1e-200, 1 / 3, 1.0, 3.0, 1e200, 1.7e308]
FACTORS = [Fraction(1, 10**400), Fraction(10**400), Fraction(1, 3), Fraction(-1, 3), Fraction(-1, 10**330), Fraction(7)]


def holds(interval, exact):
    return is_above(exact, interval.low, interval.low_open) and is_above(-exact, -interval.high, interval.high_open)


def is_above(exact, end, is_open):
    if isinf(end):
        return end < 0
    return exact > Fraction(end) or (exact == Fraction(end) and not is_open)


def test_intervals_hold_what_exact_arithmetic_gives():
    for a in ENDS:
        for factor in FACTORS:
            assert holds(scaled(Range(a, a), factor), Fraction(a) * factor)
            assert holds(scaled(exactly(Fraction(a) * factor), Fraction(1)), Fraction(a) * factor)
        for b in ENDS:
            assert holds(added(Range(a, a), Range(b, b)), Fraction(a) + Fraction(b))
            made = multiplied(Range(min(a, 0.0), max(a, 0.0)), Range(min(b, 0.0), max(b, 0.0)))
            assert holds(made, Fraction(a) * Fraction(b))


def lengthened(e):
    for _ in range(40):
        e = e * 12345678901234567890**20
    return e


def divided(e):
    for _ in range(90):
        e = (e + 1) / 7**300
    return e


LONG = [
    lambda: lengthened(mc.symbols("x: scalar")[0]),
    lambda: divided(mc.symbols("x: scalar")[0]),
    lambda: mc.symbols("x: scalar")[0] + Fraction(1, 3**9000),
    lambda: mc.symbols("x: scalar")[0] ** (10**4400),
    lambda: mc.expression(lambda x: x * 10**5000, "x: scalar"),
    lambda: mc.expression("sum(x)/m", "x: vector(m)").substitute(m=10**4400),
]


@pytest.mark.parametrize("make", LONG)
def test_numbers_that_are_too_long_are_refused(make):
    with pytest.raises(mc.MatcalcError, match="bits"):
        str(make().simplify())


def test_long_numbers_are_written_as_quotients():
    e = mc.symbols("x: scalar")[0]
    for _ in range(80):
        e = e / 2**100
    assert str(e).startswith("x/") and str(2**8000) in str(e)
