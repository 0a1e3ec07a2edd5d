"""A'*diag(d)*A with d >= 0 is computed as a square: exactly symmetric, with the values of the product by definition."""

import numpy as np
import pytest

import matcalc as mc

LET = "X: matrix(m, n); y: vector(m); w: vector(n); d: vector(m) nonnegative; e: vector(m)"
RNG = np.random.default_rng(8)
DATA = {"X": RNG.standard_normal((9, 4)), "y": RNG.standard_normal(9), "w": RNG.standard_normal(4),
        "d": RNG.random(9), "e": RNG.standard_normal(9)}  # fmt: skip
SQUARES = {
    "X'*diag(d)*X": lambda X, d, **_: np.einsum("k,ki,kj->ij", d, X, X),
    "X*diag(exp(w))*X'": lambda X, w, **_: np.einsum("k,ik,jk->ij", np.exp(w), X, X),
    "X'*diag(e.^2.*d)*X/m": lambda X, d, e, **_: np.einsum("k,ki,kj->ij", e**2 * d, X, X) / 9,
    "-3*X'*diag(e.*e)*X": lambda X, e, **_: -3 * np.einsum("k,ki,kj->ij", e**2, X, X),
    "X'*diag(relu(e))*X": lambda X, e, **_: np.einsum("k,ki,kj->ij", np.maximum(e, 0), X, X),
    "X'*diag(1 - tanh(e).^2)*X": lambda X, e, **_: np.einsum("k,ki,kj->ij", 1 - np.tanh(e) ** 2, X, X),
}
OTHERS = {
    "X'*diag(e)*X": lambda X, e, **_: np.einsum("k,ki,kj->ij", e, X, X),
    "X'*diag(e.^3)*X": lambda X, e, **_: np.einsum("k,ki,kj->ij", e**3, X, X),
    "X'*diag(d)*X*w": lambda X, d, w, **_: np.einsum("k,ki,kj,j->i", d, X, X, w),
    "X'*diag(d)*tanh(X)": lambda X, d, **_: np.einsum("k,ki,kj->ij", d, X, np.tanh(X)),
    "{i,j: X[k,i]*X[l,j]*d[k]*d[l]}": lambda X, d, **_: np.outer(X.T @ d, X.T @ d),
}


@pytest.mark.sampled(4)
@pytest.mark.parametrize("text", [*SQUARES, *OTHERS])
@pytest.mark.parametrize("target", ["numpy", pytest.param("numba", marks=pytest.mark.whole)])
def test_values(text, target):
    fn = mc.compile(text, declarations=LET, target=target)
    want = {**SQUARES, **OTHERS}[text](**DATA)
    got = fn({name: DATA[name] for name in fn.args})
    np.testing.assert_allclose(got, want, rtol=1e-13, atol=1e-13)
    if text in SQUARES and target == "numba":
        np.testing.assert_array_equal(got, got.T)


@pytest.mark.parametrize("text", [*SQUARES, *OTHERS])
@pytest.mark.sampled(4)
def test_plans(text):
    assert ("syrk" in mc.compile(text, declarations=LET, target="numpy").plan) == (text in SQUARES)


@pytest.mark.parametrize("loss", ["sum(softplus(-y.*(X*w)))", "sum(exp(X*w) - y.*(X*w))", "sum(d.*(X*w - y).^2)"])
def test_hessians_of_sums_over_rows_are_squares(loss):
    assert "syrk" in mc.compile(mc.hessian(loss, "w", declarations=LET), target="numpy").plan


@pytest.mark.parametrize("target", ["numpy", pytest.param("numba", marks=pytest.mark.whole)])
def test_special_weights(target):
    """Weights that are 0, tiny, large, infinite or NaN give the values of the definition."""
    fn = mc.compile("X'*diag(d)*X", declarations=LET, target=target)
    X = np.array([[1.0, -2.0], [3.0, 0.5], [0.0, 1.0]])
    for row in ([0.0, 0, 0], [1e-300, 0, 1e300], [np.inf, 1, 0], [np.nan, 0, 1], [1, 2, 5e-324]):
        d = np.array(row)
        with np.errstate(all="ignore"):
            want = (X.T * d) @ X
        np.testing.assert_allclose(fn({"X": X, "d": d}), want, rtol=1e-13, atol=1e-300)
    assert fn({"X": np.zeros((0, 2)), "d": []}).tolist() == [[0.0, 0.0], [0.0, 0.0]]
    assert fn({"X": np.zeros((3, 0)), "d": np.ones(3)}).shape == (0, 0)
