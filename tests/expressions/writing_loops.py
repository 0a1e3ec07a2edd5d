"""Functions with loops over a symbolic number of steps that write to arrays, or read them at an index."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from expressions.looping_functions import MATRICES, SERIES

INDEXED = "A: matrix(n, n); x: vector(n); y: index(T); c: vector(T)"
HIDDEN = "A: matrix(n, n); B: matrix(n, m); x: vector(n); y: index(T, m)"


def rows_written(A, x, c):
    X = np.zeros((c.shape[0], x.shape[0]))
    for t in range(c.shape[0]):
        x = np.tanh(A @ x) + c[t]
        X[t] = x
    return np.sum(X**2)


def columns_written(A, x, c):
    X = np.empty((x.shape[0], c.shape[0]))
    for t in range(c.shape[0]):
        x = A @ x
        X[:, t] = c[t] * x
    return np.sum(X @ c)


def garch_written(y, a, b):
    T = len(y)
    h = np.zeros(T)
    h[0] = np.mean(y**2)
    for t in range(1, T):
        h[t] = 0.1 + a * y[t - 1] ** 2 + b * h[t - 1]
    return np.sum(np.log(h) + y**2 / h)


def one_longer(A, x, c):
    X = np.zeros((len(c) + 1, len(x)))
    X[0] = x
    for t in range(len(c)):
        X[t + 1] = A @ X[t] + c[t]
    return np.sum(X * X)


def column_states(A, x, c):
    X = np.zeros((len(x), len(c) + 1))
    X[:, 0] = x
    for t in range(len(c)):
        X[:, t + 1] = np.tanh(A @ X[:, t]) * c[t]
    return np.sum(X[:, -1])


def two_lags(y, a, b):
    z = np.zeros_like(y)
    z[0], z[1] = y[0], a
    for t in range(2, len(y)):
        z[t] = a * z[t - 1] + b * z[t - 2] + y[t]
    return np.sum(z**2)


def third_lag_only(y, a, b):
    z = y.copy()
    for t in range(3, len(y)):
        z[t] = z[t] + a * z[t - 3] * b
    return z @ z


def backward_pass(y, a, b):
    T = len(y)
    g = np.zeros(T)
    g[T - 1] = y[T - 1]
    for t in range(T - 2, -1, -1):
        g[t] = y[t] + a * b * g[t + 1]
    return np.sum(g * y)


def forward_and_backward(A, x, c):
    T = len(c)
    f, g = np.zeros((T, len(x))), np.ones((T, len(x)))
    f[0] = x * c[0]
    for t in range(1, T):
        f[t] = (A.T @ f[t - 1]) * c[t]
    for t in range(T - 2, -1, -1):
        g[t] = A @ (c[t + 1] * g[t + 1])
    return np.sum(np.log(np.sum(f * g, axis=1)))


def accumulated(y, a, b):
    s = np.zeros(len(y))
    for t in range(len(y)):
        s[t] += a * y[t]
        s[t] -= b
        s[t] *= y[t]
    return np.sum(s)


def entries_by_number(y, a, b):
    s = np.zeros((len(y), 2))
    for t in range(len(y)):
        s[t, 0] = a * y[t]
        s[t, 1] = b * s[t, 0]
    return np.sum(s[:, 1] * s[:, 0])


def two_states_in_rows(y, a, b):
    s = np.zeros((len(y) + 1, 2))
    for t in range(len(y)):
        s[t + 1, 0] = a * s[t, 0] + s[t, 1] * 0.3
        s[t + 1, 1] = b * s[t, 1] + y[t]
    return s[-1, 0] * s[-1, 1]


def ahead(y, a, b):
    z = y.copy()
    for t in range(1, len(y) - 1):
        z[t] = a * z[t - 1] + b * z[t + 1]
    return np.sum(z**2)


def written_twice(A, x, c):
    z = np.zeros(len(c))
    for t in range(len(c)):
        z[t] = c[t]
        z[t] = z[t] * np.sum(A @ x)
    return z @ c


def two_arrays(y, a, b):
    lev, tr = np.zeros(len(y)), np.zeros(len(y))
    lev[0], tr[0] = y[0], b
    for t in range(1, len(y)):
        lev[t] = a * y[t] + (1 - a) * (lev[t - 1] + tr[t - 1])
        tr[t] = b * (lev[t] - lev[t - 1]) + (1 - b) * tr[t - 1]
    return np.sum((y[1:] - lev[:-1] - tr[:-1]) ** 2)


def list_and_array(y, a, b):
    z, out = np.zeros(len(y)), []
    for t, v in enumerate(y):
        z[t] = a * v
        out.append(z[t] + b)
    return np.sum(np.array(out) * z)


def table_of_two(A, x, c):
    K = np.zeros((len(x), len(c)))
    for i in range(len(x)):
        for j in range(len(c)):
            K[i, j] = np.exp(-((x[i] - c[j]) ** 2)) * A[i, i]
    return np.sum(K @ c)


def table_by_rows(A, x, c):
    K = np.zeros((len(c), len(x)))
    for t in range(len(c)):
        for j in range(len(x)):
            K[t, j] = A[j] @ x * c[t]
    return np.sum(K**2)


def forward_by_entries(A, x, c):
    T, n = len(c), len(x)
    f = np.zeros((T, n))
    f[0] = x
    for t in range(1, T):
        for j in range(n):
            f[t, j] = c[t] * np.sum(f[t - 1] * A[:, j])
    return np.sum(f[T - 1])


def edit_costs(A, x, c):
    m, n = len(x), len(c)
    D = np.zeros((m + 1, n + 1))
    for i in range(m):
        for j in range(n):
            D[i + 1, j + 1] = (x[i] - c[j]) ** 2 - np.log(
                np.exp(-D[i, j]) + np.exp(-D[i, j + 1]) + np.exp(-D[i + 1, j])
            )
    return D[m, n] + 0 * A[0, 0]


def sweeps(A, x, c):
    u = x.copy()
    for w in c:
        for i in range(len(x)):
            u[i] = u[i] + w * (x[i] - A[i] @ u)
    return u @ u


def diagonal(A, x, c):
    for w in c:
        for j in range(x.shape[0]):
            x = x + w * A[j, j]
    return np.sum(x)


def entry_of_a_state(A, x, c):
    total = 0.0
    for i in range(len(x)):
        z = A @ x * np.sum(c)
        z[i] = 0.0
        total += z[i - i] + np.sum(z) * x[i]
    return total


def whole_array_read(A, x, c):
    z = np.zeros(len(c))
    for t in range(len(c)):
        z[t] = c[t] + np.sum(z) * np.sum(x)
    return np.sum(z) + 0 * A[0, 0]


def dictionary_written(A, x, c):
    state = {"x": x, "n": 0.0}
    for w in c:
        state["x"] = w * (A @ state["x"])
        state["n"] += 1
    return np.sum(state["x"]) * state["n"]


def skipped(y, a, b, full=False):
    for v in y:
        b = a * b + v
        if not full:
            continue
        b = b * 2
    return b


def gathered(A, x, y, c):
    s = 0.0
    for t in range(len(y)):
        s += A[y[t], 0] * x[y[t]] * c[t]
    return s


def transitions(A, x, y, c):
    s = x[y[0]]
    for t in range(1, len(y)):
        s += A[y[t - 1], y[t]] * c[t]
    return s


def gathered_state(A, x, y, c):
    s = x
    for k, w in zip(y, c, strict=True):
        s = np.tanh(A @ s) * w + A[k] + s[k]
    return np.sum(s)


def loop_over_an_index(A, x, y, c):
    total = 0.0
    for k in y:
        total = 0.5 * total + x[k] ** 2 * A[k, k]
    return total + 0 * c[0]


def scattered_sum(A, x, y, c):
    counts = np.zeros(len(x))
    for t in range(len(y)):
        counts[y[t]] += c[t]
    return counts @ A @ x


def scattered(A, x, y, c):
    z = x.copy()
    for t in range(len(y)):
        z[y[t]] = c[t]
    return z @ A @ x


def scattered_in_rows(A, x, y, c):
    Z = np.zeros((len(y), len(x)))
    for t in range(len(y)):
        Z[t, y[t]] = c[t]
    return np.sum(Z @ A @ x)


def scattered_and_read(A, x, y, c):
    z = x.copy()
    for t in range(len(y)):
        z[y[t]] = 0.5 * z[y[t]] + c[t] * z[0]
    return z @ A @ x


def softmax_rows(A, x, y, c):
    loss = 0.0
    for t in range(len(y)):
        z = A @ x * c[t]
        z = z - np.max(z)
        loss -= z[y[t]] - np.log(np.sum(np.exp(z)))
    return loss


def value_of_a_row(A, x, c):
    X = np.zeros((len(c), len(x)))
    for t in range(len(c)):
        X[t] = x * c[t]
        row = X[t]
        x = A @ row
    return np.sum(X) + np.sum(x)


WRITING: list[tuple[Callable[..., Any], str]] = [
    *((f, MATRICES) for f in (rows_written, columns_written, one_longer, column_states, written_twice, table_of_two,
                              table_by_rows, edit_costs, sweeps, diagonal, entry_of_a_state, whole_array_read,
                              dictionary_written, value_of_a_row)),
    *((f, SERIES) for f in (accumulated, entries_by_number, two_states_in_rows, list_and_array, skipped)),
    *((f, INDEXED) for f in (gathered, gathered_state, scattered_sum, scattered, scattered_in_rows,
                             scattered_and_read, softmax_rows)),
]  # fmt: skip
FROM_ONE: list[tuple[Callable[..., Any], str]] = [
    *((f, SERIES) for f in (garch_written, backward_pass, two_arrays)),
    *((f, MATRICES) for f in (forward_and_backward, forward_by_entries)),
    (transitions, INDEXED), (loop_over_an_index, INDEXED),
]  # fmt: skip
FROM_THREE: list[tuple[Callable[..., Any], str]] = [(f, SERIES) for f in (two_lags, third_lag_only, ahead)]
"""Functions and declarations, by the least number of steps: 0, 1 and 3."""
