"""Products and Cholesky inverses of few rows and columns, at all small sizes around the loops that compute them."""

from itertools import product

import numpy as np
import pytest
from codegen.running import kernel

SCALES = [(1.0, 0.0), (-2.0, 1.0), (0.5, -3.0), (0.0, 2.0)]


@pytest.mark.parametrize("turned", [(0, 0), (0, 1), (1, 0), (1, 1)])
def test_gemm_at_all_small_sizes(turned):
    ta, tb = turned
    rng, gemm = np.random.default_rng(0), kernel("gemm")
    for m, n, k in product(range(6), range(6), range(6)):
        A, B = rng.standard_normal((k, m) if ta else (m, k)), rng.standard_normal((n, k) if tb else (k, n))
        for alpha, beta in SCALES:
            C = rng.standard_normal((m, n)) if beta else np.full((m, n), np.nan)
            want = alpha * ((A.T if ta else A) @ (B.T if tb else B)) + (beta * C if beta else 0.0)
            gemm(ta, tb, alpha, A, B, beta, C)
            np.testing.assert_allclose(
                C, want, rtol=0, atol=1e-14 * (k + 1) * 10, err_msg=f"{m} {n} {k} {alpha} {beta}"
            )


@pytest.mark.parametrize("rows", [8, 9, 13])
def test_gemm_turns_all_rows_of_its_second_operand(rows):
    """Four rows at a time are transposed, then the rest."""
    rng, gemm = np.random.default_rng(1), kernel("gemm")
    for n, k in product(range(1, 10), (1, 3, 8, 17)):
        A, B, C = rng.standard_normal((rows, k)), rng.standard_normal((n, k)), np.full((rows, n), np.nan)
        gemm(0, 1, 1.0, A, B, 0.0, C)
        np.testing.assert_allclose(C, A @ B.T, rtol=0, atol=1e-13, err_msg=f"{n} {k}")


@pytest.mark.parametrize("n", range(12))
def test_inverse_of_small_cholesky_factors(n):
    rng = np.random.default_rng(n)
    for power in (0, 2, 4):
        Q, _ = np.linalg.qr(rng.standard_normal((n, n)))
        S = (Q * np.logspace(0, power, n)) @ Q.T
        L, C = np.linalg.cholesky(S) if n else np.zeros((0, 0)), np.full((n, n), np.nan)
        kernel("chol_inv")(L, C)
        np.testing.assert_allclose(C @ (L @ L.T), np.eye(n), rtol=0, atol=1e-13 * 10**power)
        np.testing.assert_array_equal(C, C.T)


@pytest.mark.parametrize("n", [1, 2, 5, 8, 9])
def test_nan_in_a_small_factor_stays(n):
    L, C = np.eye(n), np.zeros((n, n))
    L[n - 1, n - 1] = np.nan
    kernel("chol_inv")(L, C)
    assert np.isnan(C[n - 1, n - 1])
