"""Infinite entries of arrays in traced functions: values and gradients against the function itself on arrays."""

import numpy as np
import pytest
from scipy import special, stats

import matcalc as mc

RNG = np.random.default_rng(5)
MASK = np.array([[1.0, 0, 1, 1], [1, 1, 0, 0], [0, 1, 0, 1], [1, 1, 1, 1]])
S, X, x = RNG.standard_normal((4, 4)), RNG.standard_normal((8, 3)), RNG.standard_normal(4)
SAME = (RNG.random((8, 8)) < 0.5) * 1.0
ORDERED = {"X": X, "y": np.array([0, 1, 2, 3] * 2), "b": RNG.standard_normal(3) / 2, "th": np.array([-1.0, 0.1, 0.2])}


def neighbours(A, X, M):
    Z = X @ A.T
    D = np.sum((Z[:, None] - Z[None]) ** 2, -1)
    np.fill_diagonal(D, np.inf)
    return np.sum(special.softmax(-D, axis=1) * M)


def neighbours_by_index(A, X, M):
    Z = X @ A.T
    D = np.sum(Z**2, 1)[:, None] + np.sum(Z**2, 1) - 2 * Z @ Z.T
    D[np.diag_indices_from(D)] = np.inf
    E = np.exp(-D)
    return np.sum(M * E / E.sum(1, keepdims=True))


def cut_points(X, y, b, th):
    c = np.concatenate([[-np.inf], [th[0]], th[0] + np.cumsum(np.exp(th[1:])), [np.inf]])
    return np.sum(np.log(stats.norm.cdf(c[y + 1] - X @ b) - stats.norm.cdf(c[y] - X @ b)))


def cut_points_in_a_row(X, y, b, th):
    c = np.r_[-np.inf, np.cumsum(np.append(th[0], np.exp(th[1:]))), np.inf]
    return -np.sum(np.log(special.expit(c[1:][y] - X @ b) - special.expit(c[:-1][y] - X @ b)))


def cut_points_side_by_side(X, y, b, th):
    c = np.hstack((-np.inf, th[0], th[0] + np.exp(th[1:]).cumsum(), np.inf))
    return np.sum(np.log(special.ndtr(c[y + 1] - X @ b) - special.ndtr(c[y] - X @ b)))


def masked(S, N):
    return np.sum(special.softmax(S + np.where(N > 0, 0, -np.inf), axis=1) * np.arange(4))


def causal(S):
    return np.sum(special.softmax(S + np.triu(np.full((4, 4), -np.inf), k=1), axis=-1) ** 2)


def written(S):
    L = S.copy()
    L[np.triu_indices(4, 1)] = -np.inf
    return np.sum(special.softmax(L, axis=1)[:, 0] ** 2)


def filled(x):
    L = np.full((4, 4), -np.inf)
    L[np.arange(4), np.arange(4)] = x
    L[0, :] = x
    return np.sum(special.logsumexp(L, axis=1))


LETS = {"A": "A: matrix(2, n)", "X": "X: matrix(m, n)", "M": "M: matrix(m, m)", "y": "y: index(m)", "b": "b: vector(n)",
        "th": "th: vector(k)", "S": "S: matrix(4, 4)", "N": "N: matrix(4, 4)", "x": "x: vector(4)"}  # fmt: skip
CASES = [
    (neighbours, "A", {"A": RNG.standard_normal((2, 3)) / 2, "X": X, "M": SAME}),
    (neighbours_by_index, "A", {"A": RNG.standard_normal((2, 3)) / 2, "X": X, "M": SAME}),
    *((f, wrt, ORDERED) for f in (cut_points, cut_points_in_a_row, cut_points_side_by_side) for wrt in ("b", "th")),
    (masked, "S", {"S": S, "N": MASK}),
    (causal, "S", {"S": S}),
    (written, "S", {"S": S}),
    (filled, "x", {"x": x}),
    (lambda x: np.sum(np.where(np.isfinite(x) & (x < np.inf), x**2, 0.0)), "x", {"x": x}),
    (lambda x: np.max(np.append(x, -np.inf)) + np.maximum(x, -np.inf).sum(), "x", {"x": x}),
]


@pytest.mark.thinned(2)
@pytest.mark.sampled(26)
@pytest.mark.parametrize(("function", "wrt", "data"), CASES)
def test_value_and_gradient(function, wrt, data):
    both = mc.value_and_gradient(function, wrt, "; ".join(LETS[name] for name in data))
    value, gradient = both(**{name: data[name] for name in both.args})
    np.testing.assert_allclose(value, function(**data), rtol=1e-12)
    expected = np.zeros_like(data[wrt])
    for at in np.ndindex(*expected.shape):
        step = np.zeros_like(expected)
        step[at] = 1e-6
        expected[at] = (function(**data | {wrt: data[wrt] + step}) - function(**data | {wrt: data[wrt] - step})) / 2e-6
    np.testing.assert_allclose(gradient, expected, rtol=1e-6, atol=1e-7)


def test_infinities_beside_text():
    assert str(mc.expression("sum(where(x < inf, x, 0))").gradient("x")) == "when(inf > x)"
    e = mc.expression(lambda x: np.hstack([x, np.inf]), "x: vector(n)")
    assert mc.expression(str(e), e.declarations).node is e.node
