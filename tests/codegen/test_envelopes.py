"""Matrices with bands, blocks and equal diagonals, which kernels find by their entries: residuals, inverses, faults."""

import mpmath
import numpy as np
import pytest
from scipy import linalg

RNG = np.random.default_rng(5)


def banded(n, width):
    X = np.tril(np.triu(RNG.uniform(-1, 1, (n, n)), -width), width)
    return X @ X.T + 0.1 * np.eye(n)


def blocks(n, size):
    X = linalg.block_diag(*(RNG.uniform(-1, 1, (k, k)) for k in np.diff([*range(0, n, size), n])))
    return X @ X.T + 0.1 * np.eye(n)


def arrow(n):
    """Rows of different reach; the last one is full."""
    X = np.diag(RNG.uniform(1, 2, n))
    for i in range(0, n, 5):
        X[i, max(0, i - i % 13)] = 0.5
    X[-1] = 0.3
    return X @ X.T


def differing(n):
    """A Toeplitz matrix but for its last entry."""
    S = linalg.toeplitz(0.8 ** np.arange(n))
    S[-1, -1] = 1.5
    return S


DEFINITE = {
    "diagonal": lambda n: np.diag(RNG.uniform(1, 2, n)),
    "tridiagonal": lambda n: banded(n, 1),
    "band": lambda n: banded(n, 3),
    "blocks": lambda n: blocks(n, 4),
    "arrow": arrow,
    "autoregressive": lambda n: linalg.toeplitz(0.8 ** np.arange(n)),
    "alternating": lambda n: linalg.toeplitz((-0.95) ** np.arange(n)),
    "Toeplitz with a long tail": lambda n: linalg.toeplitz(1 / (1 + np.arange(n)) ** 2),
    "Toeplitz with a band": lambda n: linalg.toeplitz([2.5, -1, *np.zeros(n - 2)]),
    "Toeplitz with zeros": lambda n: linalg.toeplitz(np.where(np.arange(n) % 3 == 0, 0.6 ** np.arange(n), 0)),
    "all but Toeplitz": differing,
    "circulant": lambda n: linalg.circulant([4.0, *(0.5 ** np.minimum(np.arange(1, n), n - np.arange(1, n)))]),
}


@pytest.mark.sampled(5)
@pytest.mark.parametrize("name", DEFINITE)
@pytest.mark.parametrize("n", [33, *(pytest.param(n, marks=pytest.mark.whole) for n in (64, 150))])
def test_definite_matrices(name, n, numba_names):
    """The factor's residual is that of a stable algorithm; inverse and logarithm are those of NumPy."""
    S = DEFINITE[name](n)
    scale = np.abs(S).max()
    only_lower = np.tril(S) + np.triu(np.full((n, n), 7.0), 1)
    L, F, C, p = np.empty((n, n)), np.empty((n, n)), np.empty((n, n)), np.full(n, 9, np.int32)
    assert numba_names["chol"](only_lower, L) == 0
    numba_names["definite_or_lu"](S, F, p)
    for factor in (L, F):
        assert np.all(np.triu(factor, 1) == 0) and p[0] == 0
        assert np.abs(factor @ factor.T - S).max() <= 1e-15 * n * scale
    want = np.linalg.inv(S)
    bound = 1e-15 * n * np.linalg.cond(S) * np.abs(want).max()
    assert numba_names["symmetric_inv"](F, p, C) == 0
    assert np.abs(C - want).max() <= bound
    numba_names["chol_inv"](L, C)
    assert np.abs(C - want).max() <= bound
    np.testing.assert_array_equal(C, C.T)
    logdet = np.linalg.slogdet(S)[1]
    assert abs(numba_names["symmetric_logdet"](F, p) - logdet) <= 1e-15 * (n * np.linalg.cond(S) + abs(logdet))


@pytest.mark.whole
@pytest.mark.parametrize("scale", [1.0, 1.5, 2.0, 2.5])
def test_inverses_of_smooth_kernels_are_as_accurate_as_by_cholesky(scale, numba_names):
    """Against 60 digits at condition numbers of 1e2 to 1e11; NumPy's own error is at most a few times smaller."""
    n = 40
    T = linalg.toeplitz(np.exp(-((np.arange(n) / scale) ** 2) / 2) + 1e-10 * (np.arange(n) == 0))
    with mpmath.workdps(60):
        exact = np.array(mpmath.inverse(mpmath.matrix(T.tolist())).tolist(), float)
    F, C, p = np.empty((n, n)), np.empty((n, n)), np.empty(n, np.int32)
    numba_names["definite_or_lu"](T, F, p)
    assert list(p[:2]) == [0, 1]
    numba_names["symmetric_inv"](F, p, C)
    by_numpy = np.linalg.inv(np.linalg.cholesky(T))
    error, theirs = (np.abs(X - exact).max() for X in (C, by_numpy.T @ by_numpy))
    assert error <= 5 * theirs


@pytest.mark.parametrize("name", ["band", "blocks", "autoregressive", "Toeplitz with a band"])
@pytest.mark.parametrize("n", [33, 60])
def test_what_is_not_definite_or_not_finite(name, n, numba_names):
    """An indefinite matrix fails in `chol`, and has LU factors; NaN and infinity give NaN."""
    S = DEFINITE[name](n)
    L, C, p = np.empty((n, n)), np.empty((n, n)), np.empty(n, np.int32)
    shifted = S - (np.linalg.eigvalsh(S)[1] + np.linalg.eigvalsh(S)[0]) / 2 * np.eye(n)
    assert numba_names["chol"](shifted, L) == 1
    numba_names["definite_or_lu"](shifted, L, p)
    assert p[0] != 0 and numba_names["symmetric_inv"](L, p, C) == 0
    np.testing.assert_allclose(C @ shifted, np.eye(n), atol=1e-12 * np.linalg.cond(shifted))
    for bad in (np.nan, np.inf, -np.inf):
        for at in ((0, 0), (n - 1, n - 1), (n - 1, n - 2)):
            spoilt = S.copy()
            spoilt[at] = spoilt[at[::-1]] = bad
            assert numba_names["chol"](spoilt, L) == 0
            assert np.isnan(L).any()
    everywhere = linalg.toeplitz([1.0, np.nan, *np.zeros(n - 2)])
    assert numba_names["chol"](everywhere, L) == 0 and np.isnan(L).any()


@pytest.mark.parametrize(("below", "above"), [(0, 0), (1, 1), (0, 2), (3, 0), (2, 1)])
@pytest.mark.parametrize("n", [33, 80, 200])
def test_bands_of_general_matrices(below, above, n, numba_names):
    """LU factors with row swaps as LAPACK computes them: the same pivots, the same factors up to rounding."""
    X = np.tril(np.triu(RNG.uniform(-1, 1, (n, n)), -below), above)
    F, p, z = np.empty((n, n)), np.empty(n, np.int32), np.empty(n)
    numba_names["getrf"](X, F, p)
    want, swaps, _ = linalg.lapack.dgetrf(X.T)
    np.testing.assert_array_equal(p, swaps + 1)
    np.testing.assert_allclose(F.T, want, atol=1e-13 * n * np.abs(want).max())
    b = RNG.standard_normal(n)
    assert numba_names["lu_solve_vec"](0, F, p, b, z) == 0
    np.testing.assert_allclose(X @ z, b, atol=1e-12 * (np.abs(X) @ np.abs(z)).max())
    X[n // 2] = 0
    numba_names["getrf"](X, F, p)
    assert numba_names["lu_solve_vec"](0, F, p, b, z) == 1
