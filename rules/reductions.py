"""Functions for the values in `reductions.toml`: norms, shares of the largest entry, products of all other entries."""

import itertools
import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from matcalc.rules.elementwise import ratio0_

Array = NDArray[Any]


def max_at_(x: Array) -> Array:
    top = x == np.max(x, initial=-np.inf)
    return top / np.sum(top)


def max_min_at_(x: Array) -> Array:
    n = len(x)
    if n > 1 and np.all(x == x[0]):
        return (1 - np.eye(n)) / (n * (n - 1))
    return np.outer(max_at_(x), max_at_(-x))


def norm2_(x: Array) -> float:
    """Return the Euclidean norm without overflow; for complex x its analytic continuation, without absolute values."""
    top = np.max(np.abs(x), initial=0.0)
    if not 0 < top < np.inf:
        return top
    return top * (np.sqrt(np.sum((x / top) ** 2)) if np.iscomplexobj(x) else np.linalg.norm(np.ravel(x / top)))


def variance_(x: Array, ddof: int = 0) -> Any:
    """Return the variance; for complex x its analytic continuation, without absolute values."""
    return np.sum((x - np.mean(x)) ** 2) / (np.size(x) - ddof) if np.iscomplexobj(x) else np.var(x, ddof=ddof)


def normp_(x: Array, p: float) -> float:
    """Return (sum |x|^p)^(1/p), scaled by the largest entry; NaN for an order that is NaN."""
    top = np.max(np.abs(x), initial=0)
    if np.isnan(p):
        return np.nan
    return top if top == np.inf and not np.any(np.isnan(x)) else top * np.sum(ratio0_(np.abs(x), top) ** p) ** (1 / p)


def softmax_(x: Array) -> Array:
    """Return exp(x)/sum(exp(x)); if the largest entries are infinite, equal shares of them."""
    top = np.max(x, initial=-np.inf)
    if not np.isfinite(top):
        return max_at_(x)
    powers = np.exp(x - top)
    return powers / np.sum(powers)


def logsumexp_(x: Array) -> Any:
    """Return log(sum(exp(x))) without overflow; the largest entry is added last, so that log(1 + tiny) is right."""
    if not np.size(x) or not np.isfinite(np.max(x)):
        return np.max(x, initial=-np.inf)
    top = np.argmax(x)
    return x[top] + np.log1p(np.sum(np.exp(np.delete(x, top) - x[top])))


def median_at_(x: Array) -> Array:
    if not np.size(x):
        return x
    middle = np.sort(np.ravel(x))[[(np.size(x) - 1) // 2, np.size(x) // 2]]
    return np.where(np.any(x != x), np.nan, sum((x == v) / np.sum(x == v) for v in middle) / 2)


def equal_mean_(w: Array, g: Array) -> Array:
    """Return, for each entry of g, the mean of the entries at which w is the same."""
    return np.array([np.mean(g[w == v]) if v == v else g[i] for i, v in enumerate(w)])


def prod_others_(x: Array, *E: Array) -> Array:
    """Return the gradient of prod or its differential along E: products of all other entries."""
    flat, r = np.ravel(x), np.zeros(np.size(x))
    for i in range(flat.size):
        others = [j for j in range(flat.size) if j != i]
        for js in itertools.permutations(others, len(E)):
            r[i] += np.prod(np.delete(flat, [i, *js])) * math.prod(np.ravel(e)[j] for e, j in zip(E, js, strict=True))
    return r.reshape(np.shape(x))
