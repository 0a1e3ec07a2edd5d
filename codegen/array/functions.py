"""Elementwise functions and reductions on the arrays of any framework, in NumPy's words."""

import numpy as np


def powr(x, p):
    """x^p, NaN for x < 0 and no integer p."""
    q = np.float64(p)
    return np.where((x == -np.inf) & (q != np.floor(q)), np.nan, np.power(x, p))


def max_at(x):
    """1 at the largest entry, ties in equal shares."""
    top = np.where(x == np.max(x, initial=-np.inf), 1.0, 0.0)
    return np.where(np.any(np.isnan(x)), np.nan, top / np.maximum(np.sum(top), 1.0))


def logsumexp(x):
    """log(sum(exp(x))) without overflow."""
    top = np.max(x, initial=-np.inf)
    return np.where(np.isfinite(top), top + np.log(np.sum(np.exp(x - top))), top)


def softmax(x):
    """exp(x)/sum(exp(x)); equal shares of the largest entries where these are infinite."""
    top = np.max(x, initial=-np.inf)
    share = np.exp(x - top)
    return np.where(np.isfinite(top), share / np.sum(share), max_at(x))


def log_softmax(x):
    """x - logsumexp(x)."""
    top = np.max(x, initial=-np.inf)
    return np.where(np.isfinite(top), (x - top) - np.log(np.sum(np.exp(x - top))), np.log(max_at(x)))


def row_tops(X):
    """The largest entry of each row, as a column."""
    return np.max(X, axis=1, initial=-np.inf)[:, None]


def max_at_rows(X):
    """1 at the largest entry of each row, ties in equal shares."""
    top = np.where(row_tops(X) == X, 1.0, 0.0)
    share = top / np.maximum(np.sum(top, axis=1)[:, None], 1.0)
    return np.where(np.isnan(np.sum(X, axis=1)[:, None]) & np.isnan(row_tops(X)), np.nan, share)


def logsumexp_rows(X):
    """The logsumexp of each row."""
    top = row_tops(X)
    return np.where(np.isfinite(top), top + np.log(np.sum(np.exp(X - top), axis=1)[:, None]), top)[:, 0]


def softmax_rows(X):
    """The softmax of each row."""
    top = row_tops(X)
    share = np.exp(X - top)
    return np.where(np.isfinite(top), share / np.sum(share, axis=1)[:, None], max_at_rows(X))


def log_softmax_rows(X):
    """The log_softmax of each row."""
    top = row_tops(X)
    logs = (X - top) - np.log(np.sum(np.exp(X - top), axis=1)[:, None])
    return np.where(np.isfinite(top), logs, np.log(max_at_rows(X)))


def prod_others(x):
    """The product of all entries but the i-th, without division."""
    if len(x) == 0:
        return x
    ahead = np.concatenate((np.ones(1), np.cumprod(x)[:-1]))
    after = np.flip(np.concatenate((np.ones(1), np.cumprod(np.flip(x))[:-1])))
    return ahead * after


def prod_others_along(x, e):
    """The derivative of prod_others at x along e."""
    n = len(x)
    rows = np.where(np.eye(n) > 0.0, e[None, :], np.broadcast_to(x, (n, n)))
    y = np.zeros(n)
    for j in range(n):
        y = y + np.where(np.eye(n)[j] > 0.0, 0.0, prod_others(rows[j]))
    return y


def sin_pi(x):
    """sin(pi*x), 0 at integers."""
    r = x - 2.0 * np.rint(0.5 * x)
    return np.sin(np.pi * np.where(np.abs(r) > 0.5, np.copysign(1.0, r) - r, r))


def sinc(x):
    """sin(pi*x)/(pi*x), 1 at 0, 0 at other integers."""
    return np.where(x == 0.0, 1.0, sin_pi(x) / (np.pi * np.where(x == 0.0, 1.0, x)))
