"""Subscripts of LaTeX that count by more than 1, or that a bound with an outer index keeps inside."""

import itertools

import numpy as np
import pytest

import matcalc as mc

RNG = np.random.default_rng(8)


def read(latex, let):
    return mc.expression(latex, let, dialect="latex")


STRIDES = [(times, more) for times in (2, 3, -2) for more in (-1, 0, 1)]


@pytest.mark.sampled(3)
@pytest.mark.parametrize(("times", "more"), STRIDES)
@pytest.mark.parametrize("low", [1, 2])
@pytest.mark.parametrize("form", ["{a}i{b}", "{b}{a}i"])
def test_a_subscript_that_counts_by_more_than_one(times, more, low, form):
    """The entries are those of the bounds, also where the axis is longer on both sides."""
    n, shift = 4, more + (0 if times > 0 else 12)
    a = f"{times:+d}".lstrip("+") if form.startswith("{a}") else f"{times:+d}"
    b = f"{shift:+d}" if form.startswith("{a}") else str(shift) if shift else ""
    below = form.format(a=a, b=b).lstrip("+")
    e = read(rf"\sum_{{i={low}}}^{{n}} y_i x_{{{below}}}^2", "x: vector(m); y: vector(n); n: size")
    x, y = RNG.standard_normal(16), RNG.standard_normal(n)
    expected = sum(y[i - 1] * x[times * i + shift - 1] ** 2 for i in range(low, n + 1))
    np.testing.assert_allclose(e(x=x, y=y), expected)


def test_a_stride_beyond_the_axis_is_refused():
    with pytest.raises(mc.MatcalcError, match="outside"):
        read(r"\sum_{i=1}^{n} x_{2i}", "x: vector(n)")


BOUNDS = [
    (r"\sum_{t=1}^{T} y_t \sum_{s=1}^{t-1} w_s x_{t-s}", lambda t, s: 1 <= s <= t - 1, lambda t, s: t - s),
    (r"\sum_{t=2}^{T} y_t \sum_{s=1}^{t-1} w_s x_{t-s}", lambda t, s: 1 <= s <= t - 1, lambda t, s: t - s),
    (r"\sum_{t=1}^{T} y_t \sum_{s=1}^{t} w_s x_{t-s+1}", lambda t, s: 1 <= s <= t, lambda t, s: t - s + 1),
    (r"\sum_{t=1}^{T} y_t \sum_{s=t}^{T} w_s x_{s-t+1}", lambda t, s: s >= t, lambda t, s: s - t + 1),
    (r"\sum_{t=1}^{T} y_t \sum_{s=1}^{T-t} w_s x_{t+s}", lambda t, s: s <= 6 - t, lambda t, s: t + s),
    (r"\sum_{t=1}^{T-1} y_t \sum_{s=1}^{T-t} w_s x_{t+s}", lambda t, s: s <= 6 - t, lambda t, s: t + s),
    (r"\sum_{t=1}^{T} \sum_{s < t} y_t w_s x_{t-s}", lambda t, s: s < t, lambda t, s: t - s),
    (r"\sum_{t=1}^{T} y_t m_t, \quad m_t = \sum_{s=1}^{t-1} w_s x_{t-s}", lambda t, s: s <= t - 1, lambda t, s: t - s),
]


@pytest.mark.sampled(4)
@pytest.mark.parametrize(("latex", "holds", "place"), BOUNDS)
def test_a_bound_with_an_outer_index_keeps_a_subscript_inside(latex, holds, place):
    data = {name: RNG.standard_normal(6) for name in "ywx"}
    e = read(latex, "y, w, x: vector(T)")
    pairs = [(t, s) for t, s in itertools.product(range(1, 7), repeat=2) if holds(t, s)]
    terms = [data["y"][t - 1] * data["w"][s - 1] * data["x"][place(t, s) - 1] for t, s in pairs]
    np.testing.assert_allclose(e(**data), sum(terms))
    gradient = e.gradient("x")(**data)
    expected = np.zeros(6)
    for t, s in pairs:
        expected[place(t, s) - 1] += data["y"][t - 1] * data["w"][s - 1]
    np.testing.assert_allclose(gradient, expected, atol=1e-12)


OUTSIDE = [
    r"\sum_{t=1}^{T} \sum_{s=1}^{t} w_s x_{t-s}",
    r"\sum_{t=1}^{T} \sum_{s=1}^{T-t+1} w_s x_{t+s}",
    r"\sum_{t=1}^{T} \sum_{s=t}^{T} w_s x_{s-t}",
    r"\sum_{t=1}^{T} \sum_{s=1}^{T} w_s x_{t-s}",
]


@pytest.mark.parametrize("latex", OUTSIDE)
def test_a_subscript_that_leaves_the_axis_is_refused(latex):
    with pytest.raises(mc.MatcalcError, match="outside"):
        read(latex, "w, x: vector(T)")(w=np.ones(4), x=np.ones(4))


STARTS = [
    ("P_{t+1} = A P_t A^\\top + Q", r"\operatorname{tr}(P_4)", 3),
    ("P_t = A P_{t-1} A^\\top + Q", r"\operatorname{tr}(P_4)", 3),
]


@pytest.mark.parametrize(("step", "result", "n"), STARTS)
def test_a_start_of_zero_of_a_matrix(step, result, n):
    steps = r"t = 0, \dots, 3" if "+1" in step else r"t = 1, \dots, 4"
    e = read(rf"{step}, \quad P_0 = 0, \quad {steps}, \quad {result}", "A: matrix(n, n); Q: matrix(n, n) spd")
    A, P = RNG.standard_normal((n, n)), np.zeros((n, n))
    for _ in range(4):
        P = A @ P @ A.T + np.eye(n)
    np.testing.assert_allclose(e(A=A, Q=np.eye(n)), np.trace(P))
