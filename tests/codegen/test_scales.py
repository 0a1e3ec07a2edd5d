"""Decompositions of matrices, and of matrices with one entry, of any magnitude of doubles, checked by definition.

LAPACK scales matrices far from 1, but not always correctly. OpenBLAS does not divide by subnormal numbers.
"""

import itertools

import numpy as np
import pytest

import matcalc as mc

LONG = np.longdouble
EXTREMES = (1e-310, 1e-300, 1e-200, 1e-160, 1.0, 1e139, 1e160, 1e250, 1e300)
"""Largest magnitudes of the matrices, or of one entry among others near 1."""


def of_svd(X, U, s, V):
    return (U * s) @ V.T - X, orthogonal(U), orthogonal(V)


def of_qr(X, Q, R):
    return Q @ R - X, orthogonal(Q), np.tril(R, -1)


def of_lu(X, P, L, U):
    return P @ L @ U - X, np.tril(U, -1), np.triu(L, 1), np.where(np.abs(L) > 1, L, 0)


def of_eigenvectors(S, w, V):
    return S @ V - V * w, orthogonal(V)


def of_radius(A, r):
    return (r - np.max(np.abs(np.linalg.eigvals(A.astype(float)))),)


def of_spectrum(X, norm, nuclear, least):
    s = np.linalg.svd(X.astype(float), compute_uv=False)
    return norm - s[0], nuclear - np.sum(s), least - s[-1]


def of_pinv(X, P):
    return (X @ P @ X - X,)


def orthogonal(Q):
    return (Q.T @ Q - np.eye(Q.shape[1])) * np.max(np.abs(Q))


CASES = {  # functions, the residuals of their results, and the degree of each in the matrix
    "svd_U(X) svd_s(X) svd_V(X)": (of_svd, (0, 1, 0)),
    "qr_Q(X) qr_R(X)": (of_qr, (0, 1)),
    "lu_P(X) lu_L(X) lu_U(X)": (of_lu, (0, 0, 1)),
    "eigh_w(S) eigh_V(S)": (of_eigenvectors, (1, 0)),
    "spectral_radius(A)": (of_radius, (1,)),
    "spectral_norm(X) nuclear_norm(X) least_singular(X)": (of_spectrum, (1, 1, 1)),
    "pinv(X)": (of_pinv, (-1,)),
}
LET = "X: matrix(m, n); A: matrix(n, n); S: matrix(n, n) symmetric"


def matrices(name):
    """Yield matrices, some tall, some wide, with all entries or one entry in a range."""
    for seed, extreme in itertools.product(range(12), EXTREMES):
        rng = np.random.default_rng(seed)
        m, n = rng.integers(1, 8, 2)
        X = rng.standard_normal((m, n) if name == "X" else (n, n))
        if name == "S":
            X += X.T
        whole = X / np.max(np.abs(X)) * extreme
        yield whole
        i, j = (rng.integers(length) for length in X.shape)
        X[i, j] = extreme
        if name == "S":
            X[j, i] = extreme
        yield X


@pytest.mark.parametrize("texts", CASES)
@pytest.mark.parametrize("target", [None, "numpy", "numba"], ids=["plain", "numpy", "numba"])
@pytest.mark.filterwarnings("ignore")
@pytest.mark.sampled(24)
def test_of_all_ranges(texts, target):
    residuals, degrees = CASES[texts]
    name = texts.split("(")[1][0]
    formulas = [mc.expression(text, LET) for text in texts.split()]
    together = mc.compile(formulas, target=target) if target else None
    for X in matrices(name):
        found = together(X) if target else [f(X) for f in formulas]
        found = found if isinstance(found, tuple | list) else (found,)
        size = LONG(np.max(np.abs(X)))
        near = [np.asarray(part) / size**degree for part, degree in zip(found, degrees, strict=True)]
        for residual in residuals(X / size, *near):
            away = np.max(np.abs(residual), initial=0)
            assert away < 1e-12 + 5e-323 / size or (size < 1e-300 and -1 in degrees), (X, found)


@pytest.mark.whole
@pytest.mark.parametrize("target", ["numpy", "numba"])
def test_gradients_of_the_spectral_radius(target):
    """A multiple of a matrix has the same gradient, from known left and right eigenvectors."""
    fn = mc.gradient("spectral_radius(A)", "A", "A: matrix(n, n)")
    fn = mc.compile(fn, target=target)
    Q = np.random.default_rng(1).standard_normal((4, 4))
    A = Q @ np.diag([1.0, 2, -3, 4]) @ np.linalg.inv(Q)
    for scale in EXTREMES[1:]:
        np.testing.assert_allclose(fn(A * scale), np.outer(np.linalg.inv(Q)[3], Q[:, 3]), atol=1e-11)


@pytest.mark.parametrize("target", ["numpy", "numba"])
@pytest.mark.sampled(2)
def test_real_eigenvalues(target):
    fn = mc.compile(["eigvals(A)", "eig_w(A)", "eig_V(A)"], declarations="A: matrix(n, n)", target=target)
    Q = np.random.default_rng(2).standard_normal((4, 4))
    A = Q @ np.diag([1.0, 2, -3, 4]) @ np.linalg.inv(Q)
    for scale in EXTREMES[1:]:
        values, w, V = fn(A * scale)
        np.testing.assert_allclose(values / scale, [-3, 1, 2, 4], rtol=1e-10)
        np.testing.assert_allclose(w / scale, [-3, 1, 2, 4], rtol=1e-10)
        np.testing.assert_allclose(A @ V, V * (w / scale), atol=1e-10)
