"""Elementwise functions and reductions beyond those of NumPy and SciPy."""

import numpy as np
from scipy import special


def step(x):
    """1 where x > 0, else 0; NaN for NaN."""
    return np.where(np.isnan(x), x, np.where(x > 0.0, 1.0, 0.0))


def above(x, y):
    """1 where x > y, else 0; NaN where there is one."""
    return np.where(x > y, 1.0, np.where(x <= y, 0.0, np.nan))


def reaches(x, y):
    """1 where x >= y, else 0; NaN where there is one."""
    return np.where(x >= y, 1.0, np.where(x < y, 0.0, np.nan))


def leads(x, y):
    """1 where x > y, 1/2 where x is y, else 0; NaN where there is one."""
    return np.where(x > y, 1.0, np.where(x < y, 0.0, np.where(x == y, 0.5, np.nan)))


def selected(f, v):
    """f*v, 0 where f is 0."""
    return np.where(f == 0.0, 0.0, f * v)


def mended(fast, points, *given):
    """`fast`, or where it holds NaN the sum point by point that the function `points` takes."""
    if not np.any(np.isnan(fast)):
        return np.array(fast)
    value = np.empty_like(fast)
    points(value, *given)
    return value


def huber(x):
    """x^2/2 for |x| <= 1, |x| - 1/2 outside."""
    return np.where(np.abs(x) <= 1.0, 0.5 * x * x, np.abs(x) - 0.5)


def logit(x):
    """log(x/(1 - x)), through log1p near 1/2."""
    near = (x > 0.3) & (x < 0.65)
    return np.where(near, np.log1p((2.0 * x - 1.0) / (1.0 - x)), np.log(x / (1.0 - x)))


def ratio0(x, y):
    """x/y, 0 where both are 0."""
    both = (x == 0.0) & (y == 0.0)
    return np.where(both, 0.0, x / np.where(both, 1.0, y))


def softmax2(x, y):
    """sigmoid(x - y); 1/2 where x is y, at infinity too."""
    with np.errstate(invalid="ignore"):
        return np.where(np.equal(x, y), 0.5, special.expit(np.subtract(x, y)))


def cosine(x, y):
    """x/hypot(x, y), 0 at (0, 0): of x/y or y/x, whichever is the smaller."""
    with np.errstate(all="ignore"):
        steep, flat = np.abs(np.divide(x, y)), np.divide(y, x)
        value = np.where(np.abs(x) < np.abs(y), steep / np.sqrt(1.0 + steep**2), 1.0 / np.sqrt(1.0 + flat**2))
    return np.where((x == 0.0) & ~np.isnan(y), 0.0, np.copysign(value, x))


def powr(x, p):
    """x^p, NaN for x < 0 and no integer p: NumPy's is a number at -inf."""
    value = np.power(x, p)
    return np.where((x == -np.inf) & (p != np.floor(p)), np.nan, value) if np.any(x == -np.inf) else value


def sinhc(x):
    """sinh(x)/x, 1 at 0."""
    return np.where(np.abs(x) < 1e-4, 1.0 + x * x / 6.0, np.sinh(x) / np.where(x == 0.0, 1.0, x))


def log1pc(x):
    """log(1 + x)/x, 1 at 0, 0 at infinity."""
    y = np.where(x == 0.0, 1.0, np.log1p(x) / np.where(x == 0.0, 1.0, x))
    return np.where(x == np.inf, 0.0, y)


def expm1c(x):
    """(exp(x) - 1)/x, 1 at 0."""
    return np.where(x == 0.0, 1.0, np.expm1(x) / np.where(x == 0.0, 1.0, x))


def jump(a, b):
    """(sign(a) - sign(b))/(a - b), 0 on the same side, NaN where both are 0."""
    s = np.where((a == 0.0) & (b == 0.0), np.nan, np.sign(a) - np.sign(b))
    return np.where(s == 0.0, s, s / np.where(s == 0.0, 1.0, a - b))


def step_jump(a, b):
    """(step(a) - step(b))/(a - b), 0 on the same side, NaN where both are 0."""
    s = np.where((a == 0.0) & (b == 0.0), np.nan, step(a) - step(b))
    return np.where(s == 0.0, s, s / np.where(s == 0.0, 1.0, a - b))


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
