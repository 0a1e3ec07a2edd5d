"""Functions with loops that depend on data: conditions on it, bounds by `min`, and numbers that go around an axis."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from expressions.lagging_loops import TWO
from expressions.looping_functions import MATRICES, SERIES

LABELLED = "A: matrix(n, n); k: index(T); y: vector(T)"


def leverage(y, a, b):
    h = np.zeros(len(y))
    h[0] = b
    for t in range(1, len(y)):
        bad = a * y[t - 1] ** 2 if y[t - 1] < 0.45 else 0.0
        h[t] = 0.1 + bad + b * h[t - 1]
    return np.sum(np.log(h) + y**2 / h)


def events(y, a, b):
    for t in range(len(y)):
        if y[t] > 0.4:
            b += np.log(a) - a * np.sum(y[t:])
    return b


def three_cases(y, a, b):
    s = 0.0
    for v in y:
        if v < 0.3:
            s += a * v
        elif v < 0.5:
            s = s * b
        else:
            s = s - v**2
    return s + b


def both_conditions(y, a, b):
    s = b
    for v in y:
        if v > 0.3 and s < 0.6:
            s = a * s + v
        if not v > 0.4 or s == 0:
            s = s / 2
    return s


def even_steps(y, a, b):
    for t in range(y.shape[0]):
        if t % 2 == 0:
            b = a * b
        b = b + y[t]
    return b


def arrays_together(y, a, b):
    s = 0.0
    for v in y:
        if np.all(np.array([v, a]) > 0.3):
            s = s + a * v
        if (v > 0.4) | (v < 0.25):
            s = s * b
    return s


def continues(y, a, b):
    for v in y:
        if v < 0.4:
            continue
        b = a * b + v
    return b


def lists_of_either(y, a, b):
    out = []
    for v in y:
        if v > 0.4:
            out.append(a * v)
        else:
            out.append(b)
    return np.sum(np.array(out) ** 2)


def comprehension(y, a, b):
    return sum(a * v if v > 0.4 else b * v * v for v in y)


def roots_of_one_sign(y, a, b):
    s = 0.0
    for v in y:
        if v - 0.45 > 0:
            s += a * np.sqrt(v - 0.45)
        else:
            s += a * np.log(0.45 - v + 0.01)
    return s + b


def states_of_vectors(A, x, c):
    for w in c:
        if np.sum(x) > 0.9:  # noqa: SIM108 - as people write it
            x = w * (A @ x)
        else:
            x = x + w
    return np.sum(x)


def labels_under_a_condition(A, k, y):
    q = np.zeros(A.shape[0])
    s = 0.0
    for t in range(len(y)):
        s += A[k[t], 0] * q[k[t]]
        if y[t] > 0.4:
            q[k[t]] = q[k[t]] + A[0, 0] * (y[t] - q[k[t]])
    return s + np.sum(q**2)


def a_whole_index(A, k, y):
    q = np.zeros(len(k))
    for t in range(len(A)):
        q = np.sin(q + y) * A[t, k]
    return np.sum(q)


def alignment(A, k, y):
    n, m = len(A), len(k)
    q = np.full((n, m), -3.0)
    q[0, 0] = A[0, k[0]]
    for t in range(1, n):
        for s in range(m):
            move = q[t - 1, s - 1] if s > 0 else -3.0
            q[t, s] = np.logaddexp(q[t - 1, s], move) + A[t, k[s]] * y[s]
    return q[n - 1, m - 1]


def bound_of_two(a, c):
    total = 0.0
    for t in range(len(c)):
        s = 0.0
        for k in range(min(len(a), t + 1)):
            s += a[k] * c[t - k]
        total += np.sin(s)
    return total


def bounds_on_both_sides(a, c):
    n, p, total = len(c), len(a), 0.0
    for t in range(n + p - 1):
        s = 0.0
        for j in range(max(0, t - p + 1), np.minimum(t + 1, n)):
            s += a[t - j] * c[j]
        total += np.sin(s)
    return total


def own_lags(a, c):
    n, p = len(c), len(a)
    e = np.zeros(n)
    for t in range(p, n):
        e[t] = c[t]
        for j in range(p):
            e[t] -= a[j] * e[t - j - 1]
    return np.sum(np.sin(e))


def ring(A, x, c):
    n, s = len(x), 0.0
    for i in range(n):
        s += np.sin(x[i] * x[(i + 1) % n]) + c[0] * x[(i - 1) % n] * x[i] + x[(2 - i) % n] ** 3 * x[i]
    return s + np.sum(A)


def torus(A, x, c):
    n, s = len(x), 0.0
    for i in range(n):
        for j in range(n):
            s -= np.cos(A[i, j] - A[(i + 1) % n, j]) + c[0] * np.cos(A[i, j] - A[i, (j + 1) % n])
    return s


def seasons(A, x, c):
    season, level, loss = x.copy(), c[0], 0.0
    n = len(x)
    for t in range(1, len(c)):
        loss += (c[t] - level - season[t % n]) ** 2
        level = 0.3 * (c[t] - season[t % n]) + 0.7 * level
        season[t % n] = 0.4 * (c[t] - level) + 0.6 * season[t % n]
    return loss + np.sum(A)


def weekly_effects(A, x, c):
    s = 0.0
    for t in range(len(c)):
        s += c[t] * x[t % len(x)] * x[(t + 1) % 2] + A[(3 - t) % len(x), 0]
    return s


def written_around(A, x, c):
    n = len(x)
    z = np.zeros(n)
    for i in range(n):
        z[(i + 1) % n] += x[i] * A[i, (i + 1) % n]
    return np.sum(z**2)


BY_CASES: list[tuple[Callable[..., Any], str, int]] = [
    *((f, SERIES, 1) for f in (leverage, events, three_cases, both_conditions, even_steps, arrays_together, continues,
                               lists_of_either, comprehension, roots_of_one_sign)),
    (states_of_vectors, MATRICES, 1),
    *((f, LABELLED, 1) for f in (labels_under_a_condition, a_whole_index, alignment)),
    *((f, TWO, 1) for f in (bound_of_two, bounds_on_both_sides)),
    (own_lags, TWO, 2),
    *((f, MATRICES, 1) for f in (ring, torus, seasons, weekly_effects, written_around)),
]  # fmt: skip
"""Functions, declarations, and the least number of steps that the function accepts."""
