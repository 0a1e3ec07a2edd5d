"""Infinity as a value of choices and bounds: values and gradients of masked formulas, also of rows without an entry.

The convention for a row that is masked completely: its logsumexp and maximum are -inf, its softmax is uniform, and
the gradient in what is masked is 0.
"""

import numpy as np
import pytest
from scipy import special

import matcalc as mc

LET = "M: matrix(m, n); S: matrix(m, n); G: matrix(m, n); x: vector(n)"
RNG = np.random.default_rng(0)
M, S, G = RNG.standard_normal((3, 4, 5))
M[1], M[2] = -1.0, 1.0  # no entry, and all entries
X = RNG.standard_normal(5)
DATA = {"M": M, "S": S, "G": G, "x": X}
W = np.where(M > 0, S, -np.inf)
SHOWN = (M > 0).astype(float)
SUMS = special.logsumexp(W, axis=1)
P = np.where(np.isfinite(SUMS)[:, None], np.exp(W - np.where(np.isfinite(SUMS), SUMS, 0)[:, None]), 1 / 5)
MASKED = "where(M > 0, S, -inf)"
WEIGHTED = np.sum(G * SHOWN, axis=1, keepdims=True)

CASES = [
    (f"logsumexp({MASKED}, axis=1)", SUMS, None),
    (f"max({MASKED}, axis=1)", W.max(axis=1), None),
    (f"softmax({MASKED}, axis=1)", P, None),
    (f"sum(G.*softmax({MASKED}, axis=1))", np.sum(G * P), SHOWN * P * (G - np.sum(G * P, axis=1, keepdims=True))),
    (f"sum(G.*exp({MASKED}))", np.sum(G * np.exp(W)), SHOWN * G * np.exp(S)),
    (f"max({MASKED})", W.max(), (W.max() == W).astype(float)),
    (f"sum(max({MASKED}, 0))", np.maximum(W, 0).sum(), SHOWN * (S > 0)),
    (
        f"sum(where(M > 0, G.*log_softmax({MASKED}, axis=1), 0))",
        np.sum(G * np.log(np.where(M > 0, P, 1))),
        SHOWN * G - P * SHOWN * WEIGHTED,
    ),
    (f"logsumexp({MASKED}[0, :])", SUMS[0], SHOWN * P * (np.arange(4) == 0)[:, None]),
    ("sum(clip(x, 0, inf))", np.maximum(X, 0).sum(), (X > 0).astype(float)),
    ("sum(max(x, -inf))", X.sum(), np.ones(5)),
    ("min(where(x > 0, x, inf))", X[X > 0].min(), (X[X > 0].min() == X).astype(float)),
]


@pytest.mark.sampled(3)
@pytest.mark.parametrize(("text", "value", "gradient"), CASES, ids=[row[0] for row in CASES])
def test_value_and_gradient(text, value, gradient):
    e = mc.expression(text, LET)
    np.testing.assert_allclose(_at(e), value, rtol=1e-12)
    assert mc.expression(str(e), LET).node is e.node
    assert mc.expression(e.latex(), LET, dialect="latex").node is e.node
    if gradient is not None:
        found = e.gradient("S" if "S" in text else "x")
        np.testing.assert_allclose(_at(found), gradient, rtol=1e-12, atol=1e-15)


@pytest.mark.whole
@pytest.mark.parametrize(("text", "value", "gradient"), CASES, ids=[row[0] for row in CASES])
def test_compiled(text, value, gradient):
    e = mc.expression(text, LET)
    np.testing.assert_allclose(_at(mc.compile(e), e), value, rtol=1e-12)
    if gradient is not None:
        found = e.gradient("S" if "S" in text else "x")
        np.testing.assert_allclose(_at(mc.compile(found), found), gradient, rtol=1e-12, atol=1e-15)


def _at(function, e=None):
    with np.errstate(all="ignore"):
        return function(**{name: DATA[name] for name in map(str, (function if e is None else e).symbols)})


def test_numpy():
    @mc.function(LET)
    def loss(M, S, G):
        return np.sum(G * np.exp(np.where(M > 0, S, -np.inf))) + np.sum(np.clip(np.minimum(S, np.inf), -np.inf, 1.0))

    want = np.sum(G * np.exp(W)) + np.minimum(S, 1).sum()
    np.testing.assert_allclose(_at(loss), want, rtol=1e-12)
    text = mc.expression("np.sum(np.exp(np.where(M > 0, S, -np.inf)))", LET, dialect="numpy")
    assert text.node is mc.expression(f"sum(exp({MASKED}))", LET).node


@pytest.mark.parametrize("text", ["x + inf", "inf*x", "x.^inf", "where(x > 0, x, -inf) - inf"])
def test_refused(text):
    with pytest.raises(mc.ShapeError, match="no number to calculate with") as caught:
        mc.expression(text, LET)
    assert "where(M > 0, S, -inf)" in caught.value.hint


def test_a_declared_name():
    assert str(mc.expression("inf*x", "inf: scalar; x: vector(n)")) == "inf*x"


@pytest.mark.parametrize(
    ("text", "wrt"),
    [
        ("max(2*max(x, -inf))", "x"),
        ("sum(clip(x, 0, inf))", "x"),
        ("sum(clip(x, -inf, c))", "c"),
        ("sum(min(-x, inf))", "x"),
    ],
)
def test_gradients_are_read(text, wrt):
    let = "x: vector(n); c: scalar"
    g = mc.expression(text, let).gradient(wrt)
    assert mc.expression(str(g), let).node is g.node
