"""Losses that projects differentiate by hand, as NumPy functions: value and gradient equal those of the function."""

import math

import numpy as np
import pytest
from scipy import special
from scipy.linalg import cho_solve, cholesky
from scipy.spatial.distance import cdist, pdist, squareform
from scipy.special import gammaln, logsumexp

import matcalc as mc
from tests.expressions.test_numpy_functions import slopes

RNG = np.random.default_rng(5)


def gaussian_process(X, y, t):
    n = X.shape[0]
    Z = X / np.exp(t[1:-1])
    K = np.exp(t[0]) * np.exp(-0.5 * cdist(Z, Z, metric="sqeuclidean"))
    K[np.diag_indices_from(K)] += np.exp(t[-1])
    L = cholesky(K, lower=True)
    alpha = cho_solve((L, True), y)
    return -0.5 * y.dot(alpha) - np.log(np.diag(L)).sum() - n / 2 * np.log(2 * np.pi)


def stochastic_neighbours(Y, P):
    num = 1 / (1 + pdist(Y, "sqeuclidean"))
    Q = np.maximum(num / (2 * np.sum(num)), 1e-12)
    p = squareform(P)
    return 2 * np.dot(p, np.log(np.maximum(p, 1e-12) / Q))


def stress(Y, P):
    return ((squareform(pdist(Y)) - P) ** 2).sum() / 2


def multinomial(X, W, i):
    logits = X @ W
    logits -= logsumexp(logits, axis=1, keepdims=True)
    return -np.mean(logits[np.arange(len(i)), i]) + 0.05 * np.sum(W**2)


def negative_binomial(X, y, p):
    mu = np.exp(X @ p[:-1])
    size = 1 / p[-1] * mu
    prob = size / (size + mu)
    coeff = gammaln(size + y) - gammaln(y + 1) - gammaln(size)
    return np.sum(coeff + size * np.log(prob) + y * np.log(1 - prob))


def nearest_factors(Y, P):
    R = Y @ Y.T
    np.fill_diagonal(R, 1.0)
    G = R - P
    np.fill_diagonal(G, 0)
    return np.sum(G**2)


def free_loadings(v, L0, r, c, S):
    L = L0.copy()
    L[r, c] = v
    M = L @ L.T + np.eye(len(L))
    return np.linalg.slogdet(M)[1] + np.trace(S @ np.linalg.inv(M))


def transport(al, a, b, C):
    X = al[:, None] - C
    X /= 0.4
    return -al @ a + b @ (0.4 * (special.logsumexp(X, axis=0) - np.log(b)))


def spatial_lag(rho, y, X, M):
    n = len(y)
    A = np.eye(n) - rho * M
    beta = np.linalg.lstsq(X, A @ y, rcond=None)[0]
    e = A @ y - X @ beta
    return n / 2 * math.log(e @ e / n) - np.linalg.slogdet(A)[1]


def lennard_jones(R):
    total = 0
    for j in range(len(R)):
        for k in range(j + 1, len(R)):
            r2 = np.sum((R[j] - R[k]) ** 2)
            total += 4 * (r2**-6 - r2**-3)
    return total


def crf(E, T, k):
    n = len(E)
    score = E[np.arange(n), k].sum() + T[k[:-1], k[1:]].sum()
    a = E[0]
    for t in range(1, n):
        a = E[t] + logsumexp(a[:, None] + T, axis=0)
    return logsumexp(a) - score


def garch(e, q):
    s = np.zeros(len(e))
    s[0] = np.mean(e**2)
    for t in range(1, len(e)):
        s[t] = q[0] + q[1] * e[t - 1] ** 2 + q[2] * s[t - 1]
    return np.sum(np.log(s) + e**2 / s) / 2


POINTS = np.arange(8.0)[:, None] + RNG.standard_normal((8, 2)) / 4
DISTANCES = cdist(POINTS, POINTS)
X, Y = RNG.standard_normal((8, 3)) / 2, RNG.standard_normal((8, 2))
LABELS = np.array([0, 2, 1, 1, 0, 2, 2, 1])
CASES = [
    (
        gaussian_process,
        "X: matrix(m, n); y: vector(m); t: vector(n + 2)",
        "t",
        {"X": X, "y": X[:, 0], "t": np.ones(5) / 3},
    ),
    (stochastic_neighbours, "Y: matrix(m, n); P: matrix(m, m)", "Y", {"Y": Y, "P": DISTANCES / DISTANCES.sum()}),
    (stress, "Y: matrix(m, n); P: matrix(m, m)", "Y", {"Y": Y, "P": DISTANCES}),
    (multinomial, "X: matrix(m, n); W: matrix(n, k); i: index(m)", "W", {"X": X, "W": X[:3], "i": LABELS}),
    (
        negative_binomial,
        "X: matrix(m, n); y: vector(m); p: vector(n + 1)",
        "p",
        {"X": X, "y": LABELS.astype(float), "p": np.array([0.2, -0.3, 0.4, 0.7])},
    ),
    (nearest_factors, "Y: matrix(m, n); P: matrix(m, m)", "Y", {"Y": Y, "P": DISTANCES}),
    (
        free_loadings,
        "v: vector(q); L0: matrix(p, d); r: index(q); c: index(q); S: matrix(p, p)",
        "v",
        {"v": X[0], "L0": np.eye(4)[:, :2], "r": np.array([1, 2, 3]), "c": np.array([0, 0, 1]), "S": np.eye(4) * 2},
    ),
    (
        transport,
        "al: vector(m); a: vector(m); b: vector(n); C: matrix(m, n)",
        "al",
        {"al": X[0], "a": np.full(3, 1 / 3), "b": np.full(2, 0.5), "C": DISTANCES[:3, :2]},
    ),
    (
        spatial_lag,
        "rho: scalar; y: vector(m); X: matrix(m, n); M: matrix(m, m)",
        "rho",
        {"rho": np.array(0.3), "y": Y[:, 0], "X": X, "M": DISTANCES / 40},
    ),
    (lennard_jones, "R: matrix(5, 2)", "R", {"R": POINTS[:5]}),
    (crf, "E: matrix(5, 3); T: matrix(3, 3); k: index(5)", "T", {"E": X[:5], "T": X[5:8], "k": LABELS[:5]}),
    (garch, "e: vector(8); q: vector(3)", "q", {"e": Y[:, 1], "q": np.array([0.2, 0.15, 0.7])}),
]


@pytest.mark.sampled(16)
@pytest.mark.parametrize(("function", "declared", "wrt", "given"), CASES, ids=[one[0].__name__ for one in CASES])
def test_value_and_gradient_are_those_of_the_function(function, declared, wrt, given):
    fn = mc.value_and_gradient(function, wrt, declared, target="numpy")
    value, gradient = fn(**given)
    assert value == pytest.approx(function(**{name: np.copy(one)[()] for name, one in given.items()}), rel=1e-9)
    np.testing.assert_allclose(gradient, slopes(function, given, wrt), rtol=2e-5, atol=1e-7)
