"""Functions of matrices of low rank with fixed arguments, and with leading axes: against NumPy on the whole matrix."""

from functools import cache

import numpy as np
import pytest

import matcalc as mc

LET = "A: matrix(n, k); d: vector(n) positive; y: vector(n)"


@cache
def likelihood(target="numba"):
    text = "logdet(K) + y'*inv(K)*y where K = A*A' + diag(d)"
    return mc.value_and_gradient(text, ["A", "d", "y"], LET, target=target)


def drawn(n, k, seed=0):
    rng = np.random.default_rng([seed, n, k])
    return {"A": rng.standard_normal((n, k)), "d": rng.uniform(0.5, 1.5, n), "y": rng.standard_normal(n)}


def agrees(found, A, d, y):
    value, gradients = found
    K = A @ A.T + np.diag(d)
    solved, inverse = np.linalg.solve(K, y), np.linalg.inv(K)
    G = inverse - np.outer(solved, solved)
    np.testing.assert_allclose(value, np.linalg.slogdet(K)[1] + y @ solved, rtol=1e-11)
    for mine, truth in zip(gradients, (2 * G @ A, np.diag(G), 2 * solved), strict=True):
        np.testing.assert_allclose(mine, truth, rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("fixed", (["A"], ["A", "d"], pytest.param(["y"], marks=pytest.mark.whole)))
@pytest.mark.parametrize("target", ("numba", pytest.param("numpy", marks=pytest.mark.whole)))
@pytest.mark.whole
def test_fixed_arguments(fixed, target):
    """With a matrix of many rows a call makes nothing of its size; with few rows its factor is computed once."""
    for n, k in ((200, 3), (6, 2), (4, 0), (3, 5)):
        data = drawn(n, k)
        bound = likelihood(target).bind({name: data[name] for name in fixed})
        if n == 200:
            assert "low_rank" in str(bound.plan)
        agrees(bound(**{name: data[name] for name in bound.args}), **data)


def test_fixed_arguments_of_other_parts_are_used_once():
    """A formula whose costly part is fixed and of full rank keeps what is computed once."""
    text = "norm2(X*w - z)^2 + logdet(A*A' + eye(n))"
    function = mc.value_and_gradient(text, ["w"], "X: matrix(p, n); w: vector(n); z: vector(p); A: matrix(n, k)")
    rng = np.random.default_rng(5)
    X, w, z, A = (rng.standard_normal(shape) for shape in ((900, 30), 30, 900, (30, 2)))
    bound = function.bind(X=X, z=z, A=A)
    assert "computed once" in str(bound.plan)
    value, (slope,) = bound(w)
    np.testing.assert_allclose(value, np.sum((X @ w - z) ** 2) + np.linalg.slogdet(A @ A.T + np.eye(30))[1], rtol=1e-11)
    np.testing.assert_allclose(slope, 2 * X.T @ (X @ w - z), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("over", (["y"], pytest.param(["A", "y"], marks=pytest.mark.whole)))
def test_leading_axes(over):
    rows = [drawn(15, 2, seed) for seed in range(3)]
    stacked = {name: np.stack([row[name] for row in rows]) if name in over else rows[0][name] for name in rows[0]}
    many = mc.batch(likelihood(), over=over)
    assert "low_rank" in many.source
    values, gradients = many(**stacked)
    for k, row in enumerate(rows):
        agrees((values[k], [g[k] for g in gradients]), **{n: row[n] if n in over else rows[0][n] for n in row})


@pytest.mark.parametrize("target", ("numba", "numpy"))
@pytest.mark.whole
def test_fixed_factors_of_a_kronecker_product(target):
    text, let = "logdet(K) + y'*inv(K)*y where K = kron(P, Q) + c*eye(m*n)", "P: matrix(m, m) spd; Q: matrix(n, n) spd"
    function = mc.value_and_gradient(text, ["y"], f"{let}; c: scalar positive; y: vector(m*n)", target=target)
    for m, n in ((7, 8), (2, 3)):
        rng = np.random.default_rng([m, n])
        P, Q = (x @ x.T + np.eye(len(x)) for x in (rng.standard_normal((m, m)), rng.standard_normal((n, n))))
        y = rng.standard_normal(m * n)
        K = np.kron(P, Q) + 0.3 * np.eye(m * n)
        value, (slope,) = function.bind(P=P, Q=Q, c=0.3)(y)
        solved = np.linalg.solve(K, y)
        np.testing.assert_allclose(value, np.linalg.slogdet(K)[1] + y @ solved, rtol=1e-11)
        np.testing.assert_allclose(slope, 2 * solved, rtol=1e-9, atol=1e-11)
