"""Second derivatives along a zero direction are 0, also at equal eigenvalues and singular values, on every path."""

import numpy as np
import pytest

import matcalc as mc

FUNCTIONS = (
    "norm_two(X)", "norm_two(X)^3", "norm_nuc(X)", "lambda_max(sym(X))", "lambda_min(sym(X))",
    "sum(abs(eigvalsh(sym(X))))", "svdsum(t -> max(t - 1, 0), X)", "tr(matfun(t -> max(t, 1), sym(X)))",
)  # fmt: skip
TIES = (np.eye(2), np.zeros((2, 2)), np.diag([1.0, 2.0, 1.0]), np.ones((3, 3)), np.array([[3.0]]))


@pytest.mark.sampled(2)
@pytest.mark.parametrize("text", FUNCTIONS)
def test_second_derivatives_along_zero(text):
    h = mc.expression(text, "X: matrix(n, n)").hvp("X")
    ways = h, mc.compile(h, target="numpy"), mc.compile(h, target="numba")
    for X in TIES:
        data = {name: X if name == "X" else np.zeros(X.shape) for name in h.symbols}
        for way in ways:
            np.testing.assert_array_equal(way(**data), np.zeros(X.shape))
