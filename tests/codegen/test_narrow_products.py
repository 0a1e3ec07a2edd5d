"""Products with few columns, computed as wide products and transposed, at sizes around the threshold."""

import numpy as np
import pytest
from codegen.running import kernel

SIZES = [
    (801, 200, 2600),
    (805, 201, 2600),
    (2100, 31, 1000),
    (1000, 9, 160),
    (1000, 7, 160),
    (41, 10, 60000),
    (40, 10, 60000),
    (3, 2, 5),
]
SCALES = [(1.0, 0.0), (-2.0, 1.0), (0.5, -3.0), (0.0, 2.0)]


@pytest.mark.thinned(2)
@pytest.mark.sampled(165)
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("scales", SCALES)
@pytest.mark.parametrize("turned", [(0, 0), (0, 1), (1, 0), (1, 1)])
def test_gemm_of_few_columns(size, scales, turned):
    (m, n, k), (alpha, beta), (ta, tb) = size, scales, turned
    rng = np.random.default_rng(m + n + k)
    A, B = rng.standard_normal((k, m) if ta else (m, k)), rng.standard_normal((n, k) if tb else (k, n))
    C = rng.standard_normal((m, n)) if beta else np.full((m, n), np.nan)
    want = alpha * ((A.T if ta else A) @ (B.T if tb else B)) + (beta * C if beta else 0.0)
    kernel("gemm")(ta, tb, alpha, A, B, beta, C)
    np.testing.assert_allclose(C, want, rtol=0, atol=1e-12 * k * max(1.0, abs(alpha)))


@pytest.mark.parametrize("beta", [0.0, 1.0])
def test_nan_in_a_row_stays_in_it(beta):
    m, n, k = 2100, 31, 1000
    A, B, C = np.ones((m, k)), np.ones((k, n)), np.zeros((m, n))
    A[5, 3] = C[7, 2] = np.nan
    kernel("gemm")(0, 0, 1.0, A, B, beta, C)
    assert np.argwhere(np.isnan(C)).tolist() == [[5, j] for j in range(n)] + [[7, 2]] * (beta != 0.0)
