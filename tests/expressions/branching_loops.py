"""Functions with loops whose steps depend on their numbers: conditions, and bounds of inner loops."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from expressions.looping_functions import MATRICES, SERIES


def first_step(y, a, b):
    for t in range(y.shape[0]):
        b = a * y[t] if t == 0 else a * b + y[t]
    return b


def named_in_the_first_step(y, a, b):
    for t, v in enumerate(y):
        if t == 0:
            level = v
        if t > 0:
            level = a * v + (1 - a) * level
        b = b + level**2
    return b


def not_in_the_first_step(y, a, b):
    h = np.empty_like(y)
    h[0] = b
    total = 0.0
    for t in range(len(y)):
        if t > 0:
            h[t] = 0.1 + a * y[t - 1] ** 2 + b * h[t - 1]
        total += np.log(h[t]) + y[t] ** 2 / h[t]
    return total


def last_step(y, a, b):
    s = b
    for t in range(len(y)):
        s = a * s + y[t]
        if t == len(y) - 1:
            s = s**2
    return s


def both_ends(y, a, b):
    z = np.zeros(len(y))
    for t in range(len(y)):
        left = y[t - 1] if t > 0 else 0.0
        right = y[t + 1] if t < len(y) - 1 else 0.0
        z[t] = a * left + b * right - y[t]
    return np.sum(z**2)


def truth_of_the_number(y, a, b):
    for t in range(len(y)):
        if t:
            b = a * b
        if not t:
            b = b + 1
        b = b + y[t]
    return b


def lists_and_conditions(y, a, b):
    out = []
    for t in range(len(y)):
        if t == 0:
            out.append(a * y[0])
        else:
            out.append(a * out[-1] + y[t])
    return np.sum(np.array(out)) * b


def after_a_burn_in(y, a, b):
    total = 0.0
    for t in range(len(y)):
        b = a * b + y[t]
        if t >= 2:
            total += b**2
    return total


def pairs_of_others(A, x, c):
    total = 0.0
    for i in range(len(x)):
        for j in range(len(x)):
            if i != j:
                total += A[i, j] / (x[i] - x[j]) ** 2
    return total * np.sum(c)


def skipped_pairs(A, x, c):
    total = 0.0
    for i in range(len(x)):
        for j in range(len(x)):
            if i == j:
                continue
            d = x[i] - x[j]
            total += A[i, j] * np.log(d**2)
    return total + np.sum(c)


def upper_pairs(A, x, c):
    total = 0.0
    for i in range(len(x)):
        for j in range(i + 1, len(x)):
            total += A[i, j] * np.abs(x[i] - x[j]) ** -1.5
    return total * np.sum(c)


def lower_pairs(A, x, c):
    total = 0.0
    for i in range(len(x)):
        for j in range(i):
            total = total + A[i, j] * np.sqrt((x[i] - x[j]) ** 2)
    return total * np.sum(c)


def with_the_diagonal(A, x, c):
    K = np.zeros((len(x), len(x)))
    for i in range(len(x)):
        for j in range(i + 1):
            K[i, j] = np.exp(-((x[i] - x[j]) ** 2)) * A[i, j]
    return np.sum(K @ x) + np.sum(c)


def filled_by_cases(A, x, c):
    K = np.zeros((len(x), len(x)))
    for i in range(len(x)):
        for j in range(len(x)):
            if i == j:
                K[i, j] = 1 + x[i]
            elif j > i:
                K[i, j] = A[i, j] * x[i]
            else:
                K[i, j] = x[j]
    return np.linalg.det(K + len(x) * np.eye(len(x))) + np.sum(c)


def substitution(A, x, c):
    z = np.zeros(len(x))
    for i in range(len(x)):
        s = x[i]
        for j in range(i):
            s -= A[i, j] * z[j]
        z[i] = s / (1 + A[i, i])
    return z @ z + np.sum(c)


def products_of_prefixes(A, x, c):
    total = 0.0
    for i in range(len(c)):
        p = 1.0
        for j in range(i):
            p = p * (1 - c[j])
        total += c[i] * p
    return total + x @ A @ x


def backward_bounds(A, x, c):
    total = 0.0
    for i in range(len(c)):
        s = 0.0
        for j in range(len(c) - 1, i, -1):
            s = 0.5 * s + c[j]
        total += s**2
    return total + x @ A @ x


def windows(y, a, b):
    w = np.array([a, b, 1.0])
    total = 0.0
    for t in range(3, len(y)):
        total += (y[t] - w @ y[t - 3 : t][::-1]) ** 2
    return total


def filtered(A, x, c):
    n, p = len(c), len(x)
    out = np.zeros(n - p + 1)
    for t in range(n - p + 1):
        out[t] = np.dot(A @ x, c[t : t + p])
    return np.sum(out**2)


def reversed_numbers(y, a, b):
    R, total = np.zeros(len(y)), b
    for t in reversed(range(len(y))):
        total = y[t] + a * total
        R[t] = total
    return R @ R


def values_of_actions(A, x, c):
    adv, last = np.zeros_like(c), 0.0
    for t in reversed(range(len(c) - 1)):
        last = c[t] + 0.9 * c[t + 1] * last
        adv[t] = last
    return np.sum(adv**2) + x @ A @ x


BRANCHING: list[tuple[Callable[..., Any], str, int]] = [
    (first_step, SERIES, 1), (named_in_the_first_step, SERIES, 1), (not_in_the_first_step, SERIES, 1),
    (last_step, SERIES, 1), (both_ends, SERIES, 2), (truth_of_the_number, SERIES, 1), (after_a_burn_in, SERIES, 2),
    (lists_and_conditions, SERIES, 1), (windows, SERIES, 4), (reversed_numbers, SERIES, 0), (filtered, MATRICES, 4),
    (values_of_actions, MATRICES, 1),
    *((f, MATRICES, 0) for f in (pairs_of_others, skipped_pairs, upper_pairs, lower_pairs, with_the_diagonal,
                                 filled_by_cases, substitution)),
    *((f, MATRICES, 1) for f in (products_of_prefixes, backward_bounds)),
]  # fmt: skip
"""Functions, declarations, and the least number of steps."""
