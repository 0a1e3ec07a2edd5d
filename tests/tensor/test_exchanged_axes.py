"""Exchanged axes of tensors: the sign against the values, and Cholesky factors of kernels of differences."""

import numpy as np
import pytest

import matcalc as mc
from matcalc.tensor.exchanged_axes import exchange_sign

LET = "X: matrix(m, n); l: vector(m); c: scalar positive; A: matrix(m, m)"
SAME = [
    "{i,j: sum{k: sin(X[i,k] - X[j,k])^2}}", "{i,j: sum{k: abs(X[i,k] - X[j,k])}}", "{i,j: cos(l[i] - l[j])}",
    "{i,j: exp(-sum{k: (sin(c*(X[i,k] - X[j,k]))/c)^2})}", "max(l*ones(m)', ones(m)*l')", "A + A' + c*eye(m)",
    "{i,j: sin(l[i] - l[j])*(l[i] - l[j])}", "{i,j: sum{k: max(X[i,k], X[j,k])}}", "l*l' + A*A'",
]  # fmt: skip
OPPOSITE = ["sin(l .- l')", "A - A'", "{i,j: sin(l[i] - l[j])*cos(l[i] - l[j])}", "{i,j: l[i]*l[j]^2 - l[j]*l[i]^2}"]
NEITHER = ["A", "{i,j: exp(l[i] - l[j])}", "{i,j: atan2(l[i], l[j])}", "l*ones(m)'", "A*A"]
CASES = [*((text, 1) for text in SAME), *((text, -1) for text in OPPOSITE), *((text, 0) for text in NEITHER)]


@pytest.mark.parametrize(("text", "sign"), CASES)
def test_sign(text, sign):
    e = mc.expression(text, LET)
    assert exchange_sign(e.node, 0, 1) == sign
    rng = np.random.default_rng(3)
    known = {"X": rng.normal(size=(4, 3)), "l": rng.normal(size=4), "c": 0.7, "A": rng.normal(size=(4, 4))}
    value = e(**{name: known[name] for name in e.symbols})
    if sign:
        np.testing.assert_allclose(value.T, sign * value, rtol=1e-14, atol=1e-15)
    else:
        assert not np.allclose(value.T, value) and not np.allclose(value.T, -value)


def test_the_factor_of_a_kernel_of_differences():
    def loss(X, c, y):
        base = np.pi * (X[:, None, :] - X[None, :, :]) / c
        K = np.exp(-0.5 * np.sum(np.sin(base) ** 2, axis=-1)) + 0.1 * np.eye(len(X))
        L = np.linalg.cholesky(K)
        return np.sum(np.log(np.diag(L))) + y @ np.linalg.solve(K, y)

    rng = np.random.default_rng(1)
    X, c, y = rng.normal(size=(5, 2)), 1.7, rng.normal(size=5)
    gradient = mc.gradient(loss, "c", "X: matrix(m, n); c: scalar; y: vector(m)")
    expected = (loss(X, c + 1e-5, y) - loss(X, c - 1e-5, y)) / 2e-5
    np.testing.assert_allclose(gradient(X=X, c=c, y=y), expected, rtol=1e-7)
