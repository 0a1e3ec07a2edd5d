"""Losses as people write them: classes that the function constructs, helpers, masks by type, and SciPy's idioms.

The reference is the function itself on arrays, and its differences.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np
import pytest
from scipy import linalg
from scipy.special import logsumexp

import matcalc as mc

rng = np.random.default_rng(3)


class Penalty:
    strength = 0.5

    @staticmethod
    def halved(value):
        return 0.5 * np.sum(np.zeros(len(value)) + value**2)

    @property
    def doubled(self):
        return 2 * self.strength

    def __call__(self, w):
        return self.doubled * self.halved(w)


class Logistic(Penalty):
    def __init__(self, C=1.0, fit_intercept=True, weights=None):
        self.C, self.fit_intercept, self.weights = C, fit_intercept, weights

    def decision(self, w, X):
        if self.fit_intercept:
            return X @ w[:-1] + w[-1]
        return X @ w

    def __call__(self, w):
        return super().__call__(w[:-1]) + 1.0

    def objective(self, w, X, y):
        n_samples, n_features = X.shape
        weights = np.ones(n_samples) if self.weights is None else self.weights
        assert w.shape[0] == n_features + self.fit_intercept, f"bad shape {w.shape}"
        assert isinstance(self, Penalty)
        return np.sum(weights * np.log1p(np.exp(-y * self.decision(w, X)))) + self(w) / self.C


def logistic_class(w, X, y):
    return Logistic(C=2.0).objective(w, X, y)


def periodic_process(ell, per, t, y):
    distance = np.abs(np.subtract.outer(t, t))
    K = np.exp(-2 * np.sin(np.pi * distance / per) ** 2 / ell**2) + 0.3 * np.eye(t.size)
    L = linalg.cholesky(K, lower=True)
    z = linalg.solve_triangular(L, y, lower=True)
    return 0.5 * z.dot(z) + np.log(np.diag(L)).sum()


def implicit_feedback(U, V, C):
    P = (C > 0).astype(np.float64)
    seen = (C > 0).astype(int)
    return np.sum((1.0 + 40 * C) * np.square(P - U.dot(V.T))) + np.sum(seen * U.dot(V.T))


def rotated(points, vectors):
    theta = np.linalg.norm(vectors, axis=1)[:, np.newaxis]
    with np.errstate(invalid="ignore"):
        v = np.nan_to_num(vectors / theta)
    dot = np.sum(points * v, axis=1)[:, np.newaxis]
    turned = np.cos(theta) * points + np.sin(theta) * np.cross(v, points) + dot * (1 - np.cos(theta)) * v
    return np.sum(np.sin(turned))


def partial_credit(theta, delta, X):
    steps = theta[:, None, None] - delta[None]
    zero = np.zeros((theta.shape[0], delta.shape[0], 1))
    cum = np.cumsum(np.concatenate([zero, steps], axis=2), axis=2)
    logp = cum - logsumexp(cum, axis=2, keepdims=True)
    n = theta.shape[0]
    return -sum(logp[np.arange(n), j, X].sum() for j in range(4))


def contrastive_pairs(first, second):
    z = np.concatenate([first, second], axis=0)
    z = z / np.sqrt(np.sum(z**2, axis=1, keepdims=True))
    sim = z @ z.T / 0.5
    n = first.shape[0]
    np.fill_diagonal(sim, -np.inf)
    positives = np.concatenate([np.arange(n) + n, np.arange(n)])
    return np.mean(-sim[np.arange(2 * n), positives] + logsumexp(sim, axis=1))


def causal_attention(Q, K, V):
    scores = Q @ K.T / np.sqrt(Q.shape[-1])
    mask = np.triu(np.ones((4, 4)), k=1).astype(bool)
    scores = np.where(mask, -np.inf, scores)
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights /= weights.sum(axis=-1, keepdims=True)
    return ((weights @ V) ** 2).sum()


def normal(*shape):
    return rng.standard_normal(shape)


CASES = {
    logistic_class: (
        "w: vector(n + 1); X: matrix(m, n); y: vector(m)",
        {"w": normal(4), "X": normal(6, 3), "y": np.sign(normal(6))},
        ["w"],
    ),
    periodic_process: (
        "ell: scalar positive; per: scalar positive; t: vector(m); y: vector(m)",
        {"ell": np.array(0.9), "per": np.array(1.7), "t": normal(6), "y": normal(6)},
        ["ell", "per"],
    ),
    implicit_feedback: (
        "U: matrix(m, k); V: matrix(n, k); C: matrix(m, n)",
        {"U": normal(5, 2), "V": normal(4, 2), "C": rng.poisson(1.0, (5, 4)).astype(float)},
        ["U", "V"],
    ),
    rotated: (
        "points: matrix(m, 3); vectors: matrix(m, 3)",
        {"points": normal(5, 3), "vectors": normal(5, 3)},
        ["points", "vectors"],
    ),
    partial_credit: (
        "theta: vector(p); delta: matrix(i, 3); X: index(p)",
        {"theta": normal(5), "delta": normal(4, 3), "X": np.array([0, 3, 1, 2, 2])},
        ["theta", "delta"],
    ),
    contrastive_pairs: (
        "first: matrix(4, 3); second: matrix(4, 3)",
        {"first": normal(4, 3), "second": normal(4, 3)},
        ["first"],
    ),
    causal_attention: (
        "Q: matrix(4, d); K: matrix(4, d); V: matrix(4, e)",
        {"Q": normal(4, 3), "K": normal(4, 3), "V": normal(4, 2)},
        ["Q", "K", "V"],
    ),
}


FIRST = (logistic_class, implicit_feedback)


@pytest.mark.sampled(4)
@pytest.mark.parametrize(
    "function",
    [f if f in FIRST else pytest.param(f, marks=pytest.mark.whole) for f in CASES],
    ids=lambda function: function.__name__,
)
def test_value_and_gradient(function):
    declared, given, wrt = CASES[function]
    both = mc.value_and_gradient(function, wrt, declared)
    value, gradients = both(**given)
    np.testing.assert_allclose(value, function(**given), rtol=1e-11)
    for name, gradient in zip(wrt, gradients, strict=True):
        slope = np.zeros_like(given[name])
        for at in np.ndindex(*slope.shape):
            step = np.zeros_like(slope)
            step[at] = 1e-5
            ends = [function(**given | {name: given[name] + sign * step}) for sign in (1, -1)]
            slope[at] = (ends[0] - ends[1]) / 2e-5
        np.testing.assert_allclose(gradient, slope, rtol=1e-6, atol=1e-7)


def test_what_a_size_decides_is_refused_with_a_way_out():
    with pytest.raises(mc.NotSupported, match="a subscript that the size m decides") as caught:
        mc.expression(lambda first: first[np.repeat(np.arange(len(first)), 2)], "first: matrix(m, 3)")
    assert caught.value.hint == "declare its size as a number"


def test_nan_to_num_replaces_what_numpy_replaces():
    e = mc.expression(
        lambda x: np.nan_to_num(x / np.abs(x), nan=0.5) + np.nan_to_num(1 / x, posinf=9.0, neginf=-7.0), "x: vector(n)"
    )
    x = np.array([0.0, -0.0, 2.0, -4.0])
    with np.errstate(all="ignore"):
        expected = np.nan_to_num(x / np.abs(x), nan=0.5) + np.nan_to_num(1 / x, posinf=9.0, neginf=-7.0)
        np.testing.assert_allclose(e(x), expected)


class Kernel(ABC):
    __slots__ = ("v",)

    def __init__(self, v):
        self.v = v

    @abstractmethod
    def k(self, X): ...

    def __add__(self, other):
        return Added(self, other)

    def total(self, X):
        return np.sum(self.k(X)) + np.sum(np.ones(len(X)))


class Bump(Kernel):
    __slots__ = ()

    def k(self, X):
        return self.v * np.exp(-(X**2))

    @classmethod
    def of(cls, v):
        return cls(v)


class Added(Kernel):
    __slots__ = ("a", "b")

    def __init__(self, a, b):
        self.a, self.b = a, b

    def k(self, X):
        return self.a.k(X) + self.b.k(X)


@dataclass
class Scale:
    a: float = 1.0

    def of(self, x):
        return self.a * np.sum(np.ones(len(x)) * x)


class Terms(dict):
    def total(self):
        return sum(self.values())


OUTSIDE = Bump(0.3)


def of_many_classes(x):
    kernel = Bump.of(2.0) + Bump(x[0])
    assert isinstance(OUTSIDE, Bump) and isinstance(kernel, Kernel)
    return kernel.total(x) + Scale(3.0).of(x) + Terms(a=x.sum(), b=x[0]).total()


def test_classes_of_each_kind():
    x = np.array([0.3, -0.8, 1.1])
    gradient = mc.gradient(of_many_classes, "x", "x: vector(n)")(x)
    steps = 1e-6 * np.eye(3)
    slope = [(of_many_classes(x + d) - of_many_classes(x - d)) / 2e-6 for d in steps]
    np.testing.assert_allclose(gradient, slope, rtol=1e-7)
