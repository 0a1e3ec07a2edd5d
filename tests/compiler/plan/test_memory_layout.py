"""Arrays are computed in the order of axes in which they are read, so that none is transposed without need."""

import re

import numpy as np
import pytest
from scipy.special import logsumexp, softmax

import matcalc as mc

TURNED = re.compile(r"= .*\[j, i\]")


def body(fn):
    return fn.source.partition("def f_into")[2].partition("\n\n\n")[0]


def mixture(X, M):
    Z = X @ M.T - np.sum(M * M, axis=1) / 2
    P = softmax(Z, axis=1) if Z.size else Z
    return np.sum(logsumexp(Z, axis=1)) if Z.size else 0.0, P.T @ X - P.sum(axis=0)[:, None] * M


@pytest.mark.whole
@pytest.mark.parametrize("m", [0, 1, 7, 1500])
def test_a_kernel_for_rows_has_its_operand_made_by_rows(m):
    let = "X: matrix(m, n); M: matrix(k, n)"
    fn = mc.value_and_gradient("sum(logsumexp(X*M' .- sum(M.^2, axis=1)'/2, axis=1))", "M", let)
    assert not TURNED.search(body(fn))
    rng = np.random.default_rng(m)
    X, M = rng.standard_normal((m, 50)), rng.standard_normal((6, 50))
    value, gradient = fn(X, M)
    want = mixture(X, M)
    np.testing.assert_allclose(value, want[0], rtol=1e-12)
    np.testing.assert_allclose(gradient, want[1], rtol=1e-11, atol=1e-11)


def test_a_sum_of_products_is_made_as_the_result_is_wanted():
    fn = mc.compile(mc.expression("G*X' + X'*G", "G: matrix(n, n); X: matrix(n, n)"))
    assert "for " not in body(fn)
    G, X = np.random.default_rng(0).standard_normal((2, 5, 5))
    np.testing.assert_allclose(fn(G, X), G @ X.T + X.T @ G, rtol=1e-13, atol=1e-13)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("n", [1, 4])
def test_an_array_that_is_wanted_both_ways(n):
    """The order of most readers is taken; the others transpose."""
    let = "A: matrix(n, k); B: matrix(k, p); C: matrix(n, p)"
    turned = ["3*tanh(A*B + C)' - C'", "exp(A*B)'.*C'"]
    texts = ["softmax(tanh(A*B + C), axis=1)", "softmax(tanh(A*B + C), axis=0)", *turned]
    fn = mc.compile([mc.expression(text, let) for text in texts])
    rng = np.random.default_rng(n)
    A, B, C = (rng.standard_normal(shape) for shape in ((n, 3), (3, n + 1), (n, n + 1)))
    T = np.tanh(A @ B + C)
    want = [softmax(T, axis=1), softmax(T, axis=0), 3 * T.T - C.T, np.exp(A @ B).T * C.T]
    for found, true in zip(fn(A=A, B=B, C=C), want, strict=True):
        np.testing.assert_allclose(found, true, rtol=1e-13, atol=1e-13)
