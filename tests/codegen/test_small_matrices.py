"""Many small matrices at once: several blocks, wide ranges, ill-conditioned ones, and matrices that are not finite."""

import mpmath
import numpy as np
import pytest
from codegen.running import KERNELS, run_numba, run_numpy

NAMES = ("chol_rows", "inv_rows", "logdet_rows", "det_rows", "adj_rows")


def both(name, X, numba_names, numpy_names):
    """Return the result on Numba and on NumPy."""
    k, sizes = KERNELS[name], {"b": len(X), "i": X.shape[1]}
    result = k.results[0].name
    return [
        run(k, {"X": X}, (), sizes, names)[result]
        for run, names in ((run_numba, numba_names), (run_numpy, numpy_names))
    ]


def exact(name, X):
    """Return the value for one matrix, in 60 digits."""
    with mpmath.workdps(60):
        A = mpmath.matrix(X.tolist())
        found = {
            "inv_rows": lambda: mpmath.inverse(A),
            "logdet_rows": lambda: mpmath.log(abs(mpmath.det(A))),
            "det_rows": lambda: mpmath.det(A),
            "adj_rows": lambda: mpmath.det(A) * mpmath.inverse(A),
            "chol_rows": lambda: mpmath.cholesky(A),
        }[name]()
        return np.array(found.tolist() if isinstance(found, mpmath.matrix) else found, dtype=float)


@pytest.mark.whole
@pytest.mark.parametrize("name", NAMES)
def test_errors_are_bounded_by_the_condition(name, numba_names, numpy_names):
    """At condition numbers of 1 to 1e12, with clustered singular values: 130 matrices are three blocks."""
    rng = np.random.default_rng(1)
    for n in (1, 3, 6):
        X = np.empty((130, n, n))
        for m in range(len(X)):
            U, V = (np.linalg.qr(rng.standard_normal((n, n)))[0] for _ in range(2))
            s = 10.0 ** -rng.choice([0, 6 * m / 130, 12 * m / 130], n)
            X[m] = (U * s) @ (U if name == "chol_rows" else V).T
        X = (X + X.transpose(0, 2, 1)) / 2 if name == "chol_rows" else X
        want = np.array([exact(name, x) for x in X])
        condition = np.array([np.linalg.cond(x) for x in X])
        scale = np.abs(want).max(axis=(1, 2)) if want.ndim > 1 else np.abs(want) + (name == "logdet_rows")
        for got in both(name, X, numba_names, numpy_names):
            error = np.abs(got - want)
            error = error.max(axis=(1, 2)) if want.ndim > 1 else error
            assert np.all(error / scale <= 4e-16 * n * n * condition), (n, np.max(error / scale / condition))


@pytest.mark.sampled(9)
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("special", [np.nan, np.inf, -np.inf])
def test_a_matrix_that_is_not_finite_spoils_itself_alone(name, special, numba_names, numpy_names):
    """Each entry in turn; of a symmetric matrix only the lower triangle is read."""
    X = np.eye(3) * 4 + np.random.default_rng(2).uniform(-1, 1, (70, 3, 3))
    X = (X + X.transpose(0, 2, 1)) / 2
    clean = both(name, X, numba_names, numpy_names)
    entries = [(i, j) for i in range(3) for j in range(3) if j <= i or name != "chol_rows"]
    for m, (i, j) in enumerate(entries):
        X[5 + 7 * m, i, j] = special
    spoilt = 5 + 7 * np.arange(len(entries))
    for got, before in zip(both(name, X, numba_names, numpy_names), clean, strict=True):
        assert np.all(np.isnan(got[spoilt][:, *np.tril_indices(3)] if name == "chol_rows" else got[spoilt]))
        rest = np.delete(np.arange(70), spoilt)
        np.testing.assert_array_equal(got[rest], before[rest])


def test_pivots_of_any_size(numba_names, numpy_names):
    """The logarithm of a determinant is right where the determinant, or a part of it, leaves the range."""
    pivots = [
        (1e-200, 1e-200, 1e300),
        (1e200, 1e200, 1e-300),
        (1e300, 1e300, 1e300),
        (5e-324, 1e308, 1.0),
        (3.0, 2.0, 7.0),
    ]
    X = np.array([np.diag(p) for p in pivots])
    with mpmath.workdps(40):
        want = [float(sum(mpmath.log(x) for x in p)) for p in pivots]
    scale = np.abs(np.log(pivots)).sum(axis=1)  # the logarithms of the pivots are rounded
    for got in both("logdet_rows", X, numba_names, numpy_names):
        assert np.all(np.abs(got - want) <= 1e-15 * scale)
    for got in both("logdet_rows", np.zeros((2, 3, 3)), numba_names, numpy_names):
        assert np.all(got == -np.inf)
    for got in both("det_rows", np.ones((2, 3, 3)), numba_names, numpy_names):
        assert np.all(got == 0)


def test_adjugates_of_singular_and_of_extreme_matrices(numba_names, numpy_names):
    X = np.array([np.diag(d) for d in ([0.0, 2, 3], [0, 0, 3], [1e-200, 1e-120, 1], [1e200, 1e100, 1e-200], [2, 3, 4])])
    want = np.array([np.diag([x[1, 1] * x[2, 2], x[0, 0] * x[2, 2], x[0, 0] * x[1, 1]]) for x in X])
    for got in both("adj_rows", X, numba_names, numpy_names):
        np.testing.assert_allclose(got, want, rtol=1e-14)
