"""Elementwise functions and reductions beyond those of NumPy and SciPy."""

import numpy as np
from scipy import special


def mended(fast, points, *given):
    """`fast`, or where it holds NaN the sum point by point that the function `points` takes."""
    if not np.any(np.isnan(fast)):
        return np.array(fast)
    value = np.empty_like(fast)
    points(value, *given)
    return value


def powr(x, p):
    """x^p, NaN for x < 0 and no integer p: NumPy's is a number at -inf."""
    value = np.power(x, p)
    return np.where((x == -np.inf) & (p != np.floor(p)), np.nan, value) if np.any(x == -np.inf) else value


def norm2(x):
    """Euclidean norm, scaled against overflow."""
    top = np.max(np.abs(x), initial=0.0)
    return top if top in (0.0, np.inf) or np.isnan(top) else top * np.sqrt(np.sum(np.square(x / top)))


def normalize(x):
    """x/norm2(x), 0 where x is 0."""
    length = norm2(x)
    return x / (1.0 if length == 0.0 else length)


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


def median(x):
    """The middle entry of x, or the mean of the two middle ones; NaN of nothing."""
    if not x.size or np.any(np.isnan(x)):
        return np.nan
    below, above = np.sort(x)[[(x.size - 1) // 2, x.size // 2]]
    return below / 2 + above / 2


def median_at(x):
    """The gradient of median: equal shares of the entries that are equal to a middle one."""
    middle = np.sort(x)[[(x.size - 1) // 2, x.size // 2]] if x.size else x
    if np.any(np.isnan(x)):
        return np.full(x.shape, np.nan)
    return sum(((x == v) / (2 * np.count_nonzero(x == v)) for v in middle), np.zeros(x.shape))


def softmax(x):
    """exp(x)/sum(exp(x)); equal shares of the largest entries where these are infinite."""
    return special.softmax(x) if np.all(np.isfinite(np.max(x, initial=0.0))) and np.any(x > -np.inf) else max_at(x)


def log_softmax(x):
    """x - logsumexp(x)."""
    top = np.max(x, initial=-np.inf)
    return (x - top) - (logsumexp(x) - top) if np.isfinite(top) else np.log(max_at(x))


def logsumexp_rows(X):
    """The logsumexp of each row."""
    is_plain = X.size > 0 and np.all(np.isfinite(X))
    return special.logsumexp(X, axis=1) if is_plain else np.array([logsumexp(x) for x in X])


def softmax_rows(X):
    """The softmax of each row."""
    is_plain = X.size > 0 and np.all(np.isfinite(X))
    return special.softmax(X, axis=1) if is_plain else np.array([softmax(x) for x in X]).reshape(X.shape)


def log_softmax_rows(X):
    """The log_softmax of each row."""
    is_plain = X.size > 0 and np.all(np.isfinite(X))
    return special.log_softmax(X, axis=1) if is_plain else np.array([log_softmax(x) for x in X]).reshape(X.shape)


def prod_others(x):
    """The product of all entries but the i-th, without division."""
    ahead = np.concatenate(([1.0], np.cumprod(x)[:-1])) if x.size else x
    after = np.concatenate((np.cumprod(x[::-1])[::-1][1:], [1.0])) if x.size else x
    return ahead * after


def prod_others_along(x, e):
    """The derivative of prod_others at x along e."""
    y = np.zeros(x.shape)
    for j in range(x.size):
        others = x.copy()
        others[j] = e[j]
        others = prod_others(others)
        others[j] = 0.0
        y += others
    return y
