"""Functions whose inner loop reads earlier entries of an array that the step writes, for open sizes: `e[t - j - 1]`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

TWO = "a: vector(m); c: vector(T)"


def innovations(a, c):
    e = np.zeros(len(c))
    for t in range(len(a), len(c)):
        e[t] = c[t]
        for j in range(len(a)):
            e[t] -= a[j] * e[t - j - 1]
    return np.sum(e**2)


def innovations_after_given_ones(a, c):
    e = np.empty(len(c))
    e[: len(a)] = np.sin(c[: len(a)])
    for t in range(len(a), len(c)):
        e[t] = c[t] - sum(a[j] * e[t - j - 1] for j in range(len(a)))
    return np.sum(np.cos(e) * c)


def behind_an_offset(a, c):
    p = len(a)
    e = np.ones(len(c) + p)
    for t in range(len(c)):
        s = c[t]
        for j in range(p):
            s = s - a[j] * np.tanh(e[t + p - 1 - j])
        e[t + p] = s
    return np.sum(e**3)


def guarded(a, c):
    e = np.zeros(len(c))
    for t in range(len(c)):
        e[t] = c[t]
        for j in range(1, len(a) + 1):
            if t >= j:
                e[t] -= a[j - 1] * np.tanh(e[t - j])
    return np.sum(e**2)


def bounded(a, c):
    e = np.zeros(len(c))
    for t in range(len(c)):
        e[t] = c[t]
        for j in range(min(len(a), t)):
            e[t] -= a[j] * e[t - j - 1]
        e[t] *= 0.5
    return np.sum(e**2)


def under_conditions_on_data(a, c):
    e = np.zeros(len(c))
    for t in range(len(a), len(c)):
        e[t] = 0.1
        for j in range(len(a)):
            if c[t - j] > 0.45:
                e[t] += a[j] * e[t - j - 1] + c[t]
            else:
                e[t] -= e[t - j - 1]
    return np.sum(e**2)


def with_another_state(a, c):
    e, s = np.zeros(len(c)), 0.3
    for t in range(len(a), len(c)):
        s = np.sin(s + c[t])
        e[t] = s
        for j in range(len(a)):
            e[t] = e[t] * 0.9 + a[j] * e[t - j - 1] * s
    return np.sum(e) + s


def of_the_nearest_last(a, c):
    e, p = np.zeros(len(c)), len(a)
    for t in range(p, len(c)):
        e[t] = c[t]
        for j in reversed(range(p)):
            e[t] -= a[p - 1 - j] * e[t - 1 - j]
    return np.sum(e**2)


def gap_of_two(a, c):
    e, p = np.zeros(len(c)), len(a)
    for t in range(p + 2, len(c)):
        e[t] = c[t]
        for j in range(p):
            e[t] += a[j] * e[t - j - 3]
    return np.sum(e**2)


def two_windows(a, c):
    e, p = np.zeros(len(c)), len(a)
    for t in range(p + 1, len(c)):
        e[t] = c[t]
        for j in range(p):
            e[t] += a[j] * e[t - j - 1]
        for k in range(p + 1):
            e[t] += 0.1 * e[t - k - 1]
    return np.sum(e**2)


def with_a_plain_lag(a, c):
    e, p = np.zeros(len(c)), len(a)
    for t in range(p + 1, len(c)):
        e[t] = c[t] - 0.5 * e[t - 1]
        for j in range(p):
            e[t] += a[j] * e[t - j - 1]
    return np.sum(e**2)


def a_copy_without_a_first_write(a, c):
    e, p = c.copy(), len(a)
    for t in range(p, len(c)):
        for j in range(p):
            e[t] -= a[j] * e[t - j - 1]
    return np.sum(e**2)


def the_array_as_a_state(a, c):
    e, kept = np.zeros(len(c)), np.zeros(len(c))
    for t in range(len(a), len(c)):
        e[t] = c[t]
        for j in range(len(a)):
            e[t] -= a[j] * e[t - j - 1]
        kept = kept + e
    return np.sum(kept**2)


def the_array_in_an_inner_state(a, c):
    e, total = np.zeros(len(c)), 0.0
    for t in range(len(a), len(c)):
        e[t] = c[t]
        for j in range(len(a)):
            e[t] -= a[j] * c[t - j - 1]
            total = total + np.sum(e)
    return total


OWN_LAGS: list[tuple[Callable[..., Any], str, int]] = [
    (innovations, TWO, 2),
    (innovations_after_given_ones, TWO, 2),
    (behind_an_offset, TWO, 1),
    (guarded, TWO, 1),
    (bounded, TWO, 1),
    (under_conditions_on_data, TWO, 2),
    (with_another_state, TWO, 2),
    (of_the_nearest_last, TWO, 2),
    (gap_of_two, TWO, 4),
    (two_windows, TWO, 3),
    (with_a_plain_lag, TWO, 3),
    (a_copy_without_a_first_write, TWO, 2),
    (the_array_as_a_state, TWO, 2),
    (the_array_in_an_inner_state, TWO, 2),
]
"""Functions, declarations, and the least number of steps that the function accepts."""
