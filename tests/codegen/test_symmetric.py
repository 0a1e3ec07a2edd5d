"""Symmetric matrices of unknown definiteness: Cholesky, or LU where it fails; both give the same results."""

import itertools

import numpy as np
import pytest

import matcalc as mc

SIZES = (1, 2, 5, 32, 33, 70)  # sizes for small_chol, LAPACK's routine, and several of its blocks
LET = "S: matrix(n, n) symmetric; b: vector(n); B: matrix(n, k)"
SOLVE = "S: matrix(n, n) symmetric; b: vector(n)"
USES = {
    "inv(S)*b": lambda S, b, B: np.linalg.solve(S, b),
    "inv(S)*B": lambda S, b, B: np.linalg.solve(S, B),
    "B'*inv(S)": lambda S, b, B: np.linalg.solve(S, B).T,
    "inv(S)": lambda S, b, B: np.linalg.inv(S),
    "det(S)": lambda S, b, B: np.linalg.det(S),
    "logdet(S)": lambda S, b, B: np.linalg.slogdet(S)[1],
    "slogdet(S)[0]": lambda S, b, B: np.linalg.slogdet(S)[0],
    "slogdet(S)[1]": lambda S, b, B: np.linalg.slogdet(S)[1],
}


def of_spectrum(values):
    Q = np.linalg.qr(np.random.default_rng(len(values)).standard_normal((len(values),) * 2))[0]
    S = Q * values @ Q.T
    return (S + S.T) / 2.0


def last_pivot_negative(n):
    """Return a matrix of which only the last Cholesky pivot is negative; the diagonal is positive from 2 rows on."""
    S = of_spectrum(np.linspace(1.0, 2.0, n))
    if n > 1:
        S[-1, -1] = 0.5 * S[-1, :-1] @ np.linalg.solve(S[:-1, :-1], S[-1, :-1])
    return S


MATRICES = {
    "definite": lambda n: of_spectrum(np.linspace(1.0, 2.0, n)),
    "negative": lambda n: of_spectrum(-np.linspace(1.0, 2.0, n)),
    "indefinite": lambda n: of_spectrum(np.linspace(1.0, 2.0, n) * (-1.0) ** np.arange(n)),
    "one negative": lambda n: of_spectrum(np.r_[-1.0, np.linspace(1.0, 2.0, n - 1)]),
    "last pivot negative": last_pivot_negative,
    "zero diagonal": lambda n: np.ones((n, n)) - np.eye(n) if n > 1 else np.ones((1, 1)),
    "tiny": lambda n: 1e-300 * of_spectrum(np.linspace(1.0, 2.0, n)),
    "huge": lambda n: 1e300 * of_spectrum(np.linspace(1.0, 2.0, n)),
    "diagonal of all magnitudes": lambda n: np.diag(10.0 ** np.linspace(-4.0, 3.0, n)),
}


@pytest.mark.whole
@pytest.mark.parametrize("target", ["numpy", "numba"])
def test_every_use_of_every_matrix(target):
    fn = mc.compile([mc.expression(use, LET) for use in USES], target=target)
    for (name, matrix), n in itertools.product(MATRICES.items(), SIZES):
        S, b, B = matrix(n), np.linspace(1.0, 2.0, n), np.linspace(-1.0, 1.0, 2 * n).reshape(n, 2)
        given = {"S": S, "b": b, "B": B}
        with np.errstate(over="ignore", under="ignore"):
            results = fn(*(given[a] for a in fn.args))
            for (use, truth), got in zip(USES.items(), results, strict=True):
                np.testing.assert_allclose(
                    got,
                    truth(S, b, B),
                    rtol=1e-9,
                    atol=0.0 if n == 1 else 1e-12 * np.max(np.abs(truth(S, b, B))),
                    err_msg=f"{use}, {name}, n = {n}",
                )


@pytest.mark.parametrize("target", ["numpy", "numba"])
def test_singular_is_said_and_what_is_not_finite_stays(target):
    solve = mc.compile("inv(S)*b", declarations=SOLVE, target=target)
    definite = mc.compile("inv(S)*b", declarations=SOLVE.replace("symmetric", "spd"), target=target)
    for n in (1, 2, 40):
        with pytest.raises(np.linalg.LinAlgError, match="S is singular"):
            solve(np.zeros((n, n)), np.ones(n))
        for bad, i in itertools.product((np.nan, np.inf, -np.inf), (0, n - 1)):
            S = of_spectrum(np.linspace(1.0, 2.0, n))
            S[i, 0] = S[0, i] = bad
            assert np.isnan(solve(S, np.ones(n))).any(), (n, bad, i)
            assert np.isnan(definite(S, np.ones(n))).any(), (n, bad, i)
    assert solve(np.empty((0, 0)), np.empty(0)).shape == (0,)


@pytest.mark.parametrize("target", ["numba", "numpy"])
def test_nearly_singular_is_solved_to_rounding(target):
    """Rounding decides whether the last pivot is positive; the result solves the system either way."""
    S, b = np.array([[2.0, 1.0], [1.0, 0.5 + 2.0**-52]]), np.array([1.0, 1.0])
    x = mc.compile("inv(S)*b", declarations=SOLVE, target=target)(S, b)
    assert np.max(np.abs(S @ x - b)) <= 1e-15 * np.max(np.abs(S) @ np.abs(x))
