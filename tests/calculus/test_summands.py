"""Summands of a scalar: entries against NumPy, scalars that are no sum over rows, and two scalars at once."""

import numpy as np
import pytest

import matcalc as mc
from matcalc.calculus.derive.summands import summands

LET = """X: matrix(m, n); y: vector(m); w: vector(n); t: scalar; Y: matrix(m, k); B: matrix(n, k)
    S: matrix(k, k) spd; K: matrix(m, m)"""
RNG = np.random.default_rng(1)
X, Y, B, K = (RNG.standard_normal(shape) for shape in ((5, 3), (5, 2), (3, 2), (5, 5)))
y, w, t = RNG.standard_normal(5), RNG.standard_normal(3), 0.3
S = np.array([[2.0, 0.5], [0.5, 1.0]])
VALUES = {"X": X, "y": y, "w": w, "t": t, "Y": Y, "S": S, "B": B, "K": K}
r, R = X @ w - y, Y - X @ B
SUMS = [
    ("sum(y.*(X*w) - log(1 + exp(X*w)))", y * (X @ w) - np.log1p(np.exp(X @ w))),
    ("y'*X*w - sum(log(1 + exp(X*w)))", y * (X @ w) - np.log1p(np.exp(X @ w))),
    ("-norm2(X*w - y)^2/(2*exp(2*t)) - m*t - m*log(2*pi)/2", -(r**2) / (2 * np.exp(0.6)) - t - np.log(2 * np.pi) / 2),
    ("m/2*logdet(S) - tr((Y - X*B)*S*(Y - X*B)')/2", np.linalg.slogdet(S)[1] / 2 - np.sum((R @ S) * R, axis=1) / 2),
    ("mean((X*w - y).^2)", r**2 / 5),
    ("sum(X)", X.sum(axis=1)),
    ("t*(sum(y) + 2*(m*t - y'*X*w))", t * (y + 2 * (t - y * (X @ w)))),
    ("m*sum(y)", 5 * y),
    ("sum(logsumexp(X, axis=1))", np.log(np.sum(np.exp(X), axis=1))),
]
OTHERS = [
    "norm2(w)^2",
    "sum(y) + norm2(w)^2",
    "sum(y) + 1",
    "norm2(y)^4",
    "sum(y)*sum(X)",
    "y'*K*y",
    "logdet(K)",
    "norm2(y)",
    "t",
]


@pytest.mark.parametrize(("text", "entries"), SUMS, ids=[case[0] for case in SUMS])
def test_entries(text, entries):
    e = mc.expression(text, LET)
    node = summands(e.node, e.names.symbols["y"].shape[0])
    found = type(e)(node, e.names)
    assert np.allclose(found({name: VALUES.get(name, 5) for name in found.symbols}), entries, rtol=1e-12)


@pytest.mark.parametrize("text", OTHERS)
def test_what_is_no_sum_over_rows(text):
    e = mc.expression(text, LET)
    assert summands(e.node, e.names.symbols["y"].shape[0]) is None
