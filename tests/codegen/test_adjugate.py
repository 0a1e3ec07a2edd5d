"""The adjugate where the determinant overflows, against high precision."""

import math

import mpmath
import numpy as np
import pytest

import matcalc as mc


def adjugate(X):
    """Return adj(X) as det*inv in 60 digits, rounded to doubles; numbers that overflow are infinite."""
    with mpmath.workdps(60):
        exact = mpmath.matrix(X.tolist())
        C = mpmath.det(exact) * exact**-1
        return np.array([[float(C[i, j]) for j in range(C.cols)] for i in range(C.rows)])


@pytest.fixture(scope="module")
def compiled():
    """Return adj(X), compiled."""
    return mc.compile(mc.expression("adj(X)", "X: matrix(n, n)"))


@pytest.mark.whole
@pytest.mark.parametrize(("n", "scale"), [(4, 1e97), (6, 1e60), (6, -1e60), (12, 1e27), (2, 1e200)])
def test_large_determinants(compiled, n, scale):
    X = np.random.default_rng(n).standard_normal((n, n)) * scale
    wanted = adjugate(X)
    found = compiled(X)
    whole = np.isfinite(wanted)
    assert np.array_equal(found[~whole], wanted[~whole])
    assert np.allclose(found[whole] / 1e200, wanted[whole] / 1e200, rtol=1e-10, atol=0.0)


def test_what_overflows_is_infinite(compiled):
    X = np.diag(np.full(40, -1e12))
    found = compiled(X)
    assert np.all(np.diag(found) == -math.inf) and np.all(found[~np.eye(40, dtype=bool)] == 0.0)


def test_singular_and_bad_matrices(compiled):
    X = np.diag([1e99, 1e99, 1e99, 0.0])
    assert np.allclose(compiled(X) / 1e297, np.diag([0.0, 0.0, 0.0, 1.0]))
    assert np.isnan(compiled(np.full((3, 3), math.nan))).all()
    assert compiled(np.zeros((0, 0))).shape == (0, 0)
    assert np.array_equal(compiled(np.full((1, 1), 1e300)), [[1.0]])
