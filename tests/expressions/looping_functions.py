"""Functions with loops over a symbolic number of steps that are recurrences."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

A = npt.NDArray[np.float64]
MATRICES = "A: matrix(n, n); x: vector(n); c: vector(T)"
SERIES = "y: vector(T); a, b: scalar"
NETWORK = "W: matrix(n, n); U: matrix(n, m); b, h: vector(n); X: matrix(T, m)"
CONTROL = "A: matrix(n, n); B: matrix(n, m); x: vector(n); U: matrix(T, m); Q: matrix(n, n)"


def rows_of_a_network(W, U, b, h, X):
    for x in X:
        h = np.tanh(W @ h + U @ x + b)
    return np.sum(h)


def loss_of_a_network(W, U, b, h, X):
    loss = 0.0
    for t in range(X.shape[0]):
        h = np.tanh(W @ h + U @ X[t] + b)
        loss += h @ h
    return loss


def states_of_a_network(W, U, b, h, X):
    hs = []
    for x in X:
        h = np.tanh(W @ h + U @ x + b)
        hs.append(h)
    return np.sum(np.array(hs) ** 2)


def gates(W, U, b, h, X):
    c = np.zeros(h.shape)
    for x in X:
        z = 1 / (1 + np.exp(-(W @ h + U @ x + b)))
        c = z * c + (1 - z) * np.tanh(U @ x)
        h = z * np.tanh(c)
    return h @ c


def smoothing(y, a, b):
    s, loss = b, 0.0
    for v in y:
        loss = loss + (v - s) ** 2
        s = a * v + (1 - a) * s
    return loss


def enumerated(y, a, b):
    total = b
    for k, v in enumerate(y):
        total = a * total + v * k
    return total


def enumerated_from_one(y, a, b):
    total = b
    for k, v in enumerate(y, 1):
        total = total + a * (v - total) / k
    return total


def zipped(A, x, c, X):
    total = 0.0
    for w, u in zip(c, X, strict=False):
        x = A @ x + u
        total = total + w * np.sum(x)
    return total


def zipped_in_enumerate(A, x, c, X):
    s = 0
    for k, (u, w) in enumerate(zip(X, c, strict=True)):
        x = A @ x + u
        s = s + w * x * k
    return np.sum(s)


def linear_system(A, B, x, U, Q):
    cost = 0.0
    for t in range(len(U)):
        u = U[t]
        cost += x @ Q @ x + u @ u
        x = A @ x + B @ u
    return cost + x @ Q @ x


def closed_loop(A, B, x, U, Q):
    K = B.T @ Q
    for _ in range(U.shape[0]):
        x = A @ x - B @ (K @ x) / 10
    return x @ x


def riccati(A, B, x, U, Q):
    P = Q
    for _ in range(U.shape[0]):
        P = Q + A.T @ P @ A - A.T @ P @ B @ B.T @ P @ A / 50
    return x @ P @ x


def backward(A, x, c):
    for t in range(c.shape[0] - 1, -1, -1):
        x = c[t] * (A.T @ x)
    return np.sum(x)


def from_the_end(A, x, c):
    T = c.shape[0]
    for t in range(T):
        x = c[T - 1 - t] * (A @ x)
    return np.sum(x)


def reversed_rows(A, x, c):
    for w in reversed(c):
        x = A @ x * w
    return np.sum(x)


def reversed_slice(A, x, c):
    for w in c[::-1]:
        x = A @ x + w
    return np.sum(x)


def lagged(y, a, b):
    p, q = 0.0, b
    for v in y:
        p, q = q, a * q + b * p + v
    return p * q


def from_one(y, a, b):
    e = b
    for t in range(1, y.shape[0]):
        e = y[t] - a * y[t - 1] - b * e
    return e**2


def last_of_a_list(A, x, c):
    xs = [x]
    for w in c:
        xs.append(w * (A @ xs[-1]))
    return np.sum(np.stack(xs)) + xs[-1] @ x


def two_lists(y, a, b):
    s, ss, rs = b, [], []
    for v in y:
        r = v - s
        s = s + a * r
        ss.append(s)
        rs.append(r)
    return np.sum(np.array(ss)) + np.array(rs) @ y


def sum_of_a_list(y, a, b):
    terms = []
    for v in y:
        terms.append(np.exp(-a * v))
    return sum(terms) * b


def garch(y, a, b):
    h, loss = 1.0, 0.0
    for e in y:
        loss += np.log(h) + e**2 / h
        h = 0.1 + a**2 * e**2 + b**2 * h
    return loss / 2


def dictionary(A, x, c):
    state = {"x": x, "v": 0 * x}
    for w in c:
        state = {"x": state["x"] + 0.1 * state["v"], "v": state["v"] - w * (A @ state["x"])}
    return np.sum(state["x"])


def pair(A, x, c):
    state = (x, 1.0)
    for w in c:
        z, s = state
        state = (A @ z / s, s + w**2)
    return np.sum(state[0])


def helper(W, U, b, h, X):
    def cell(h, x):
        return np.tanh(W @ h + U @ x + b)

    for x in X:
        h = cell(h, x)
    return np.sum(h)


def branch(y, a, b, squared=True):
    total = b
    for v in y:
        total = a * total + v**2
        if not squared:
            total = total + v
    return total


def inner_loop(A, x, c):
    for w in c:
        for _ in range(2):
            x = w * np.tanh(A @ x)
    return np.sum(x)


def inner_symbolic_loop(A, x, c):
    total = 0.0
    for w in c:
        z = x * w
        for v in c:
            z = v * (A @ z)
        total = total + np.sum(z)
    return total


def two_loops(A, x, c):
    for w in c:
        x = w * (A @ x)
    for w in c:
        x = np.tanh(A @ x) + w
    return np.sum(x)


def runge_kutta(A, x, c):
    for h in c:
        k1 = A @ x
        k2 = A @ (x + h / 2 * k1)
        k3 = A @ (x + h / 2 * k2)
        k4 = A @ (x + h * k3)
        x = x + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
    return x @ x


def momentum(A, x, c):
    v = np.zeros_like(x)
    for step in c:
        v = 0.9 * v - step * (A @ x)
        x = x + v
    return x @ x


def power_iteration(A, x, c):
    for _ in range(c.shape[0]):
        x = A @ x
        x = x / np.linalg.norm(x)
    return x @ A @ x


def kalman(A, B, x, U, Q):
    H, R = B.T, np.eye(B.shape[1])
    P, V, loss = np.eye(A.shape[0]), np.eye(A.shape[0]), 0.0
    for u in U:
        S = H @ P @ H.T + R
        v = u - H @ x
        K = P @ H.T @ np.linalg.inv(S)
        loss += np.log(np.linalg.det(S)) + v @ np.linalg.solve(S, v)
        x = A @ (x + K @ v)
        P = A @ (P - K @ H @ P) @ A.T + V
    return loss + 0 * Q[0, 0]


def online_softmax(A, x, c):
    m, s = -10.0, 1e-3
    for v in c:
        new = np.maximum(m, v)
        s = s * np.exp(m - new) + np.exp(v - new)
        m = new
    return m + np.log(s) + 0 * (x @ A @ x)


def in_place(A, x, c):
    v = np.zeros(x.shape)
    w = v
    for s in c:
        v += s * x
        x = A @ x
    return np.sum(w) + v @ x


def new_and_in_place(A, x, c):
    v = np.zeros(x.shape)
    w = v
    for s in c:
        v = 0.9 * v
        v -= s * (A @ x)
        x = x + v
    return np.sum(w) + v @ x


def sum_of_a_generator(y, a, b):
    return sum(np.exp(-a * v) * k for k, v in enumerate(y)) + b


def comprehension(A, x, c):
    rows = [A @ x * w for w in c]
    return np.sum(np.array([r @ x for r in rows])) + np.sum(np.array(rows))


def comprehension_in_a_loop(A, x, c):
    for w in c:
        x = A @ x + sum(v * w for v in c)
    return np.sum(x)


def differences(y, a, b):
    for v, w in zip(y[:-1], y[1:], strict=True):
        b = a * b + w - v
    return b


def swapped(A, x, c):
    p, q = x, 2 * x
    for w in c:
        p, q = q, w * (A @ p)
    return p @ q


def decaying(y, a, b):
    w = b
    for t, v in enumerate(y):
        w = w - a / (t + 1) * (w - v)
    return w


def chain_of_logs(A, x, c):
    for w in c:
        x = np.log(np.exp(A).T @ np.exp(x)) + w
    return np.log(np.sum(np.exp(x)))


X = "; X: matrix(T, n)"
READ: list[tuple[Callable[..., Any], str]] = [
    *((f, NETWORK) for f in (rows_of_a_network, loss_of_a_network, states_of_a_network, gates, helper)),
    *((f, SERIES) for f in (smoothing, enumerated, enumerated_from_one, lagged, from_one, two_lists, sum_of_a_list)),
    *((f, SERIES) for f in (garch, branch, decaying, differences, sum_of_a_generator)),
    *((f, MATRICES + X) for f in (zipped, zipped_in_enumerate)),
    *((f, CONTROL) for f in (linear_system, closed_loop, riccati, kalman)),
    *((f, MATRICES) for f in (backward, from_the_end, reversed_rows, reversed_slice, last_of_a_list, dictionary, pair,
                              inner_loop, inner_symbolic_loop, two_loops, runge_kutta, momentum, power_iteration,
                              online_softmax, chain_of_logs, in_place, new_and_in_place,
                              comprehension, comprehension_in_a_loop, swapped)),
]  # fmt: skip
