"""Functions with two numbers of loops in one subscript, and with slices that grow or shrink from step to step."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from expressions.looping_functions import MATRICES

TWO = "a: vector(m); c: vector(T)"


def autoregression(a, c):
    total = 0.0
    for t in range(len(a), len(c)):
        expected = 0.1
        for k in range(len(a)):
            expected += a[k] * c[t - k - 1]
        total += (c[t] - expected) ** 2
    return total


def moving_average(a, c):
    e = np.zeros(len(c))
    for t in range(len(c)):
        e[t] = c[t]
        for j in range(len(a)):
            if t - j - 1 >= 0:
                e[t] -= a[j] * e[t - j - 1]
    return np.sum(e**2)


def valid_part(a, c):
    n, m = len(c), len(a)
    total = 0.0
    for i in range(n - m + 1):
        inner = 0.0
        for j in range(m):
            inner += a[j] * c[i + j]
        total += (c[i] - inner) ** 2
    return total


def product_of_polynomials(a, c):
    out = np.zeros(len(a) + len(c) - 1)
    for i in range(len(a)):
        for j in range(len(c)):
            out[i + j] += a[i] * c[j]
    return np.sum(np.tanh(out))


def causal(a, c):
    total = 0.0
    for t in range(len(c)):
        s = 0.0
        for k in range(t + 1):
            s = s + np.exp(-a[0] * k) / (0.5 + c[t - k])
        total += s**2
    return total


def autocovariances(a, c):
    n, total = len(c), 0.0
    for k in range(len(a)):
        s = 0.0
        for t in range(n - k):
            s += c[t] * c[t + k]
        total += a[k] * s**2
    return total


def mirrored(a, c):
    n, total = len(c), 0.0
    for i in range(n):
        for j in range(n - i):
            total += a[0] * np.sin(c[n - 1 - i - j]) * i
    return total


def along_rows(A, x, c):
    total = 0.0
    for i in range(len(x)):
        for j in range(len(x)):
            if i + j < len(x):
                total += A[i + j, i] * x[j]
    return total


def running_means(a, c):
    total = 0.0
    for t in range(1, len(c)):
        total += (c[t] - np.mean(c[:t])) ** 2 * a[0] + c[:t].max() - np.var(c[: t + 1])
    return total


def risk_sets(a, c):
    total = 0.0
    for i in range(len(c)):
        total += a[0] * c[i] - np.log(np.sum(np.exp(a[0] * c[i:])))
    return total


def excitations(a, c):
    total = 0.0
    for i in range(len(c)):
        total += np.log(0.1 + np.sum(np.exp(-a[0] * (c[i] - c[:i])))) + np.sum(a[0] / (0.1 + c[i + 1 :] - c[i] / 9))
    return total


def forward_substitution(A, x, c):
    z = np.zeros(len(x))
    for t in range(len(x)):
        z[t] = (x[t] - A[t, :t] @ z[:t]) / A[t, t]
    return np.sum(z**2) + c[0]


def shifted_slices(a, c):
    n, total = len(c), 0.0
    for k in range(n):
        total += a[0] * (c[: n - k] @ c[k:]) ** 2 + np.sum(c[k + 1 :] * c[k:-1])
    return total


def growing_rows(A, x, c):
    total = c[0]
    for t in range(1, len(x)):
        total += np.sum((x[t] - A[:t].mean(axis=0)) ** 2) + np.sum(A[:t].T @ x[:t]) + np.linalg.norm(A[t:] @ A[0])
    return total


LAGGING: list[tuple[Callable[..., Any], str, int]] = [
    (autoregression, TWO, 2),
    (moving_average, TWO, 1),
    (valid_part, TWO, 2),
    (product_of_polynomials, TWO, 1),
    (causal, TWO, 1),
    (autocovariances, TWO, 2),
    (mirrored, TWO, 1),
    (along_rows, MATRICES, 0),
    (running_means, TWO, 2),
    (risk_sets, TWO, 1),
    (excitations, TWO, 1),
    (forward_substitution, MATRICES, 1),
    (shifted_slices, TWO, 1),
    (growing_rows, MATRICES, 1),
]
