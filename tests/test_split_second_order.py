"""Formulas that separate over rows: products with the Hessian, and Gauss-Newton matrices."""

import numpy as np
import pytest
from split_data import CUTS, DATA, LET, RNG, ROWS, cut

import matcalc as mc


@pytest.mark.whole
def test_the_product_with_the_hessian():
    v = RNG.standard_normal(3)
    s = mc.split("sum(log(1 + exp(-b.*(X*w))))", "m", wrt="w", declarations=LET)
    X, b, w = DATA["X"], DATA["b"], DATA["w"]
    _, gradient, product = s.over(cut(s.split, [0, 5, ROWS]), w=w, v=v, hvp=True)
    p = 1 / (1 + np.exp(-b * (X @ w)))
    assert np.allclose(gradient, -X.T @ (b * (1 - p)))
    assert np.allclose(product, X.T @ (p * (1 - p) * (X @ v)))


@pytest.mark.parametrize("cuts", CUTS)
@pytest.mark.whole
def test_gauss_newton(cuts):
    s = mc.split("norm2(tanh(X*w) - y)^2/m + c*w'*w", "m", wrt="w", declarations=LET)
    X, y, w, c = (DATA[n] for n in "Xywc")
    value, _, matrix = s.over(cut(s.split, cuts), w=w, c=c, gauss_newton=True)
    J = (1 - np.tanh(X @ w) ** 2)[:, None] * X
    assert value == pytest.approx(np.mean((np.tanh(X @ w) - y) ** 2) + c * w @ w)
    assert np.allclose(matrix, 2 * J.T @ J / ROWS + 2 * c * np.eye(3))


@pytest.mark.whole
def test_gauss_newton_of_several_variables_of_any_shape():
    s = mc.split("norm2(X*W - Z.*exp(u'))^2", "m", wrt=["W", "u"], declarations=LET)
    X, Z, W, u = (DATA[n] for n in "XZWu")
    _, _, ((ww, wu), (uw, uu)) = s.over(cut(s.split, [0, 5, ROWS]), W=W, u=u, gauss_newton=True)
    JW = np.einsum("ij,kl->ikjl", X, np.eye(2)).reshape(-1, 6)
    Ju = np.einsum("ik,kl->ikl", -Z * np.exp(u), np.eye(2)).reshape(-1, 2)
    assert np.allclose(ww.reshape(6, 6), 2 * JW.T @ JW)
    assert np.allclose(wu.reshape(6, 2), 2 * JW.T @ Ju)
    assert np.allclose(uw.reshape(2, 6), 2 * Ju.T @ JW)
    assert np.allclose(uu, 2 * Ju.T @ Ju)


def test_gauss_newton_needs_squares_and_is_one_way():
    s = mc.split("sum(exp(X*w))", "m", wrt="w", declarations=LET)
    with pytest.raises(mc.NotSupported, match="not recognised as a sum of squares"):
        s.over([], w=DATA["w"], gauss_newton=True)
    with pytest.raises(ValueError, match="choose one"):
        s.over([], w=DATA["w"], gauss_newton=True, hvp=True)
    with pytest.raises(ValueError, match="also= is 'hvp' or 'gauss_newton', not 'hessian'"):
        mc.split("sum(exp(X*w))", "m", wrt="w", declarations=LET, also="hessian")


def test_a_direction_is_projected_as_its_variable_is():
    """The Hessian of a symmetric variable times an unsymmetric matrix is that times its symmetric part."""
    s = mc.split("tr(S*S*S) + sum(diag(X*S*S*X'))", "m", wrt="S", declarations=LET)
    X, S, V = DATA["X"], DATA["S"], RNG.standard_normal((3, 3))
    E = (V + V.T) / 2
    want = 3 * (E @ S + S @ E) + E @ X.T @ X + X.T @ X @ E
    assert np.allclose(s.over(cut(s.split, [0, 5, ROWS]), S=S, v=V, hvp=True)[2], want)
