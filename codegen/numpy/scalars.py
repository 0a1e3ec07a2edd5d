"""Elementwise functions and reductions beyond those of NumPy and SciPy."""

import numpy as np
from scipy import special


def mended(fast, points, *given):
    """`fast`; where it is NaN, the values of the function `points`, which sums point by point."""
    if not np.any(np.isnan(fast)):
        return np.array(fast)
    value = np.empty_like(fast)
    points(value, *given)
    return value


def powr(x, p):
    """x^p; NaN for x < 0 and p not an integer, also at -inf, where NumPy returns a number."""
    value = np.power(x, p)
    return np.where((x == -np.inf) & (p != np.floor(p)), np.nan, value) if np.any(x == -np.inf) else value


def max_at(x):
    """1 at the largest entry, ties in equal shares."""
    top = np.max(x, initial=-np.inf)
    if np.isnan(top):
        return np.full(x.shape, np.nan)
    return (x == top) / max(np.count_nonzero(x == top), 1)


def logsumexp(x):
    """log(sum(exp(x))) without overflow."""
    top = np.max(x, initial=-np.inf)
    return top + np.log(np.sum(np.exp(x - top))) if np.isfinite(top) else top


def softmax(x):
    """exp(x)/sum(exp(x)); if the largest entries are infinite, equal shares of them."""
    return special.softmax(x) if np.all(np.isfinite(np.max(x, initial=0.0))) and np.any(x > -np.inf) else max_at(x)


def log_softmax(x):
    """x - logsumexp(x)."""
    top = np.max(x, initial=-np.inf)
    return (x - top) - (logsumexp(x) - top) if np.isfinite(top) else np.log(max_at(x))


def logsumexp_rows(X):
    """Return the logsumexp of each row."""
    is_plain = X.size > 0 and np.all(np.isfinite(X))
    return special.logsumexp(X, axis=1) if is_plain else np.array([logsumexp(x) for x in X])


def softmax_rows(X):
    """Return the softmax of each row."""
    is_plain = X.size > 0 and np.all(np.isfinite(X))
    return special.softmax(X, axis=1) if is_plain else np.array([softmax(x) for x in X]).reshape(X.shape)


def log_softmax_rows(X):
    """Return the log_softmax of each row."""
    is_plain = X.size > 0 and np.all(np.isfinite(X))
    return special.log_softmax(X, axis=1) if is_plain else np.array([log_softmax(x) for x in X]).reshape(X.shape)


def prod_others(x):
    """Return, for each i, the product of all other entries, without division."""
    ahead = np.concatenate(([1.0], np.cumprod(x)[:-1])) if x.size else x
    after = np.concatenate((np.cumprod(x[::-1])[::-1][1:], [1.0])) if x.size else x
    return ahead * after


def prod_others_along(x, e):
    """Return the derivative of prod_others at x along e."""
    y = np.zeros(x.shape)
    for j in range(x.size):
        others = x.copy()
        others[j] = e[j]
        others = prod_others(others)
        others[j] = 0.0
        y += others
    return y
