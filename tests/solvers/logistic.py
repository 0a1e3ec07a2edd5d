"""Logistic regression with a known answer for the adapters, solved here by Newton's method in plain NumPy."""

import numpy as np

RNG = np.random.default_rng(7)
X = np.column_stack([np.ones(60), RNG.standard_normal((60, 3)) * [1.0, 3.0, 0.3]])
Y = (RNG.random(60) < 1 / (1 + np.exp(-X @ [0.5, 1.0, -0.7, 0.4]))).astype(float)
RIDGE = 0.1
FORMULA = "sum(softplus(X*w)) - y'*X*w + c/2*norm2(w)^2"
DECLARATIONS = "X: matrix(m, n); y: vector(m); w: vector(n); c: scalar"
DATA = {"X": X, "y": Y, "c": RIDGE}


def value(w):
    z = X @ w
    return np.sum(np.logaddexp(0, z)) - Y @ z + RIDGE / 2 * w @ w


def gradient(w):
    return X.T @ (1 / (1 + np.exp(-X @ w)) - Y) + RIDGE * w


def hessian(w):
    p = 1 / (1 + np.exp(-X @ w))
    return X.T @ ((p * (1 - p))[:, None] * X) + RIDGE * np.eye(X.shape[1])


def solution():
    w = np.zeros(X.shape[1])
    for _ in range(30):
        w = w - np.linalg.solve(hessian(w), gradient(w))
    assert np.max(np.abs(gradient(w))) < 1e-12
    return w
