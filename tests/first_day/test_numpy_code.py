"""First formulas of new users, as existing NumPy code: traced, differentiated, compiled, compared with differences.

The reference is the function itself, run by NumPy on arrays.
"""

import numpy as np
import pytest

import matcalc as mc


def ridge(X, w, y, lam):
    r = X @ w - y
    return np.dot(r, r) / len(y.shape) + lam * np.sum(w**2)


def logistic(X, w, y):
    return np.mean(np.logaddexp(0, -y * (X @ w)))


def cross_entropy(X, W, b, Y):
    Z = X @ W + b
    Z = Z - Z.max(axis=1, keepdims=True)
    P = Z - np.log(np.exp(Z).sum(axis=1, keepdims=True))
    return -np.mean(np.sum(Y * P, axis=1))


def attention(Q, K, V, C):
    scores = Q @ K.T / np.sqrt(K.shape[1])
    scores = scores - np.max(scores, axis=-1, keepdims=True)
    weights = np.exp(scores)
    weights = weights / np.sum(weights, axis=-1, keepdims=True)
    return np.sum(C * (weights @ V))


def layer_norm(X, g, b):
    mu = np.mean(X, axis=-1, keepdims=True)
    var = np.var(X, axis=-1, keepdims=True)
    return np.sum(np.tanh((X - mu) / np.sqrt(var + 1e-3) * g + b) ** 2)


def batch_norm(X, g, b):
    return np.sum(np.tanh((X - X.mean(0)) / np.sqrt(X.var(axis=0) + 1e-3) * g + b) ** 2)


def two_layers(X, A, a, B, b, Y):
    H = np.maximum(X @ A + a, 0)
    return np.linalg.norm(H @ B + b - Y) ** 2 / X.shape[0]


def gaussian(X, mu, S):
    D = X - mu
    sign, logdet = np.linalg.slogdet(S)
    return 0.5 * np.trace(np.linalg.solve(S, D.T @ D)) + 0.5 * X.shape[0] * logdet


def process(x, y, s, c, t):
    D = (x[:, None] - x[None, :]) ** 2
    K = s**2 * np.exp(-D / (2 * c**2)) + t**2 * np.diag(np.ones_like(x))
    return 0.5 * y @ np.linalg.solve(K, y) + 0.5 * np.linalg.slogdet(K)[1]


def factorisation(U, V, M, Z):
    return np.sum(M * (Z - U @ V.T) ** 2) + 0.1 * (np.sum(U**2) + np.sum(V**2))


def kalman(A, P, H, R, x, z):
    P1 = A @ P @ A.T + np.eye(2)
    S = H @ P1 @ H.T + R
    K = np.linalg.solve(S.T, (P1 @ H.T).T).T
    x1 = A @ x
    return np.sum((x1 + K @ (z - H @ x1)) ** 2)


def laplacian(W, f):
    L = np.diag(W.sum(axis=1)) - W
    return f @ L @ f


def distances(X, Y):
    D = np.sum(X**2, axis=1)[:, None] + np.sum(Y**2, axis=1) - 2 * X @ Y.T
    return np.sum(np.exp(-D / 2))


def rosenbrock(x):
    return np.sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)


def curve(p, t, y):
    return np.sum((p[0] * np.exp(-p[1] * t) + p[2] - y) ** 2)


def robust(X, w, y):
    r = X @ w - y
    return np.sum(np.where(np.abs(r) <= 1, 0.5 * r**2, np.abs(r) - 0.5))


def bilinear(T, u, v, w):
    return np.einsum("ijk,i,j,k->", T, u, v, w) + np.tensordot(T, T, axes=3)


def correlation(X, Y):
    A, B = X - X.mean(axis=0), Y - Y.mean(axis=0)
    C = A.T @ B / X.shape[0]
    return np.linalg.norm(C, "nuc") + np.linalg.norm(C, 2)


TASKS = [
    (ridge, "X: matrix(m, n); w: vector(n); y: vector(m); lam: scalar", "w lam"),
    (logistic, "X: matrix(m, n); w: vector(n); y: vector(m)", "w"),
    (cross_entropy, "X: matrix(m, n); W: matrix(n, k); b: vector(k); Y: matrix(m, k)", "W b"),
    (attention, "Q: matrix(m, k); K: matrix(n, k); V: matrix(n, p); C: matrix(m, p)", "Q K V"),
    (layer_norm, "X: matrix(m, n); g: vector(n); b: vector(n)", "X g b"),
    (batch_norm, "X: matrix(m, n); g: vector(n); b: vector(n)", "X g b"),
    (
        two_layers,
        "X: matrix(m, n); A: matrix(n, k); a: vector(k); B: matrix(k, p); b: vector(p); Y: matrix(m, p)",
        "A a B b",
    ),
    (gaussian, "X: matrix(m, n); mu: vector(n); S: matrix(n, n) spd", "mu"),
    (process, "x: vector(m); y: vector(m); s: scalar; c: scalar; t: scalar", "s c t"),
    (factorisation, "U: matrix(m, k); V: matrix(n, k); M: matrix(m, n); Z: matrix(m, n)", "U V"),
    (
        kalman,
        "A: matrix(2, 2); P: matrix(2, 2) symmetric; H: matrix(p, 2); R: matrix(p, p) spd; x: vector(2); z: vector(p)",
        "x z A",
    ),
    (laplacian, "W: matrix(n, n); f: vector(n)", "W f"),
    (distances, "X: matrix(m, n); Y: matrix(k, n)", "X Y"),
    (rosenbrock, "x: vector(n)", "x"),
    (curve, "p: vector(3); t: vector(m); y: vector(m)", "p"),
    (robust, "X: matrix(m, n); w: vector(n); y: vector(m)", "w"),
    (bilinear, "T: tensor(m, n, k); u: vector(m); v: vector(n); w: vector(k)", "T u v w"),
    (correlation, "X: matrix(m, n); Y: matrix(m, k)", "X"),
]
SIZES = {"m": 5, "n": 4, "k": 3, "p": 2}


def drawn(declarations):
    """Return random data for declarations, positive definite where declared."""
    rng = np.random.default_rng(11)
    found = {}
    for e in mc.symbols(declarations):
        shape = [s if isinstance(s, int) else SIZES[s] for s in e.shape]
        value = rng.standard_normal(shape)
        if e.facts & {"spd", "symmetric"}:
            value = value @ value.T + np.eye(len(value))
        found[e.node.name] = value if shape else float(np.abs(value) + 0.5)
    return found


def on_arrays(function, given):
    """Return NumPy's value of the function."""
    return float(function(**given))


def differences(function, given, name):
    base = np.asarray(given[name], dtype=float)
    found = np.zeros_like(base)
    for at in np.ndindex(base.shape):
        moved = []
        for sign in (1, -1):
            shifted = base.copy()
            shifted[at] += sign * 1e-6
            moved.append(on_arrays(function, {**given, name: shifted if base.shape else float(shifted)}))
        found[at] = (moved[0] - moved[1]) / 2e-6
    return found


@pytest.mark.parametrize("target", ["numpy", pytest.param("numba", marks=pytest.mark.whole)])
@pytest.mark.parametrize(("function", "declarations", "wrt"), TASKS, ids=[f.__name__ for f, *_ in TASKS])
@pytest.mark.sampled(9)
def test_value_and_gradient(function, declarations, wrt, target):
    given, names = drawn(declarations), wrt.split()
    fn = mc.value_and_gradient(function, names, declarations, target=target)
    value, gradients = fn(**given)
    expected = on_arrays(function, given)
    assert value == pytest.approx(expected, rel=1e-10)
    assert mc.expression(function, declarations)(**given) == pytest.approx(expected, rel=1e-10)
    for name, gradient in zip(names, gradients, strict=True):
        np.testing.assert_allclose(gradient, differences(function, given, name), rtol=1e-5, atol=1e-6, err_msg=name)
