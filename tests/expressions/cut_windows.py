"""Loops that read windows of which an end of the array cuts off a part, and entries that go around an axis."""

# ruff: noqa: N803

from __future__ import annotations

import numpy as np


def moving_average(x, v):
    total = 0.0
    for t in range(len(x)):
        total += x[max(0, t - 3) : t + 1].mean() ** 2
    return total


def trailing_sum_of_a_symbolic_width(x, v):
    p, out = len(v), np.zeros(len(x))
    for t in range(len(x)):
        out[t] = np.sum(x[max(0, t - p) : t + 1])
    return np.sum(out**2)


def newest_first(x, v):
    total, p = 0.0, len(v)
    for t in range(len(x)):
        past = x[max(0, t - p) : t][::-1]
        total += (x[t] - v[: len(past)] @ past) ** 2
    return total


def oldest_first(x, v):
    total, p = 0.0, len(v)
    for t in range(1, len(x)):
        past = x[max(0, t - p) : t]
        total += (x[t] - v[-len(past) :] @ past) ** 2
    return total


def count_first(x, v):
    total = 0.0
    for t in range(len(x)):
        m = min(t, len(v))
        total += np.dot(v[:m], x[t - m : t][::-1])
    return total


def centred(x, v, k=2):
    n = len(x)
    y = np.zeros(n)
    for i in range(n):
        near = x[max(0, i - k) : min(n, i + k + 1)]
        y[i] = near.max() - near.mean()
    return np.sum(y**2)


def centred_to_the_end(x, v, k=1):
    total = 0.0
    for i in range(len(x)):
        total += np.exp(np.sum(x[max(i - k, 0) : i + k + 1] ** 2))
    return total


def decaying_weights(x, v):
    out = np.zeros(len(x))
    for t in range(len(x)):
        window = x[max(0, t - 3) : t + 1]
        out[t] = np.sum(window * v[0] ** np.arange(len(window))[::-1])
    return np.sum(np.tanh(out))


def standard_score(x, v):
    total = 0.0
    for t in range(2, len(x)):
        past = x[max(0, t - 4) : t]
        total += ((x[t] - past.mean()) / (past.std() + 0.5)) ** 2
    return total


def rows(x, v):
    X = np.outer(x, v)
    total = 0.0
    for t in range(len(x)):
        total += np.sum(np.exp(X[max(0, t - 1) : t + 1].sum(axis=0)))
        total += np.sum(X[max(0, t - 2) : t + 1, 0] ** 2)
    return total


def circular_correlation(x, v):
    n, total = len(x), 0.0
    for i in range(n):
        r = 0.0
        for j in range(len(v)):
            r += x[(i + j) % n] * v[j]
        total += r**2
    return total


def circular_convolution(x, v):
    n = len(x)
    out = np.zeros(n)
    for i in range(n):
        for j in range(len(v)):
            out[i] += x[(i - j) % n] * v[j]
    return np.sum(np.sin(out))


def circular_with_a_shift(x, v):
    n, total = len(x), 0.0
    for i in range(n):
        for j in range(len(v)):
            total += np.exp(x[(j - i + 1) % n]) * v[j] * x[i]
    return total


WINDOWS = [
    moving_average,
    trailing_sum_of_a_symbolic_width,
    newest_first,
    oldest_first,
    count_first,
    centred,
    centred_to_the_end,
    decaying_weights,
    standard_score,
    rows,
    circular_correlation,
    circular_convolution,
    circular_with_a_shift,
]
