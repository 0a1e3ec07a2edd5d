"""Elementwise functions and reductions for the arrays of any framework, written with NumPy's names."""

import numpy as np


def powr(x, p):
    """x^p; NaN for x < 0 and p not an integer."""
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
    """exp(x)/sum(exp(x)); if the largest entries are infinite, equal shares of them."""
    top = np.max(x, initial=-np.inf)
    share = np.exp(x - top)
    return np.where(np.isfinite(top), share / np.sum(share), max_at(x))


def log_softmax(x):
    """x - logsumexp(x)."""
    top = np.max(x, initial=-np.inf)
    return np.where(np.isfinite(top), (x - top) - np.log(np.sum(np.exp(x - top))), np.log(max_at(x)))


def row_tops(X):
    """Return the largest entry of each row, as a column."""
    return np.max(X, axis=1, initial=-np.inf)[:, None]


def max_at_rows(X):
    """1 at the largest entry of each row, ties in equal shares."""
    top = np.where(row_tops(X) == X, 1.0, 0.0)
    share = top / np.maximum(np.sum(top, axis=1)[:, None], 1.0)
    return np.where(np.isnan(np.sum(X, axis=1)[:, None]) & np.isnan(row_tops(X)), np.nan, share)


def logsumexp_rows(X):
    """Return the logsumexp of each row."""
    top = row_tops(X)
    return np.where(np.isfinite(top), top + np.log(np.sum(np.exp(X - top), axis=1)[:, None]), top)[:, 0]


def softmax_rows(X):
    """Return the softmax of each row."""
    top = row_tops(X)
    share = np.exp(X - top)
    return np.where(np.isfinite(top), share / np.sum(share, axis=1)[:, None], max_at_rows(X))


def log_softmax_rows(X):
    """Return the log_softmax of each row."""
    top = row_tops(X)
    logs = (X - top) - np.log(np.sum(np.exp(X - top), axis=1)[:, None])
    return np.where(np.isfinite(top), logs, np.log(max_at_rows(X)))


def prod_others(x):
    """Return, for each i, the product of all other entries, without division."""
    if len(x) == 0:
        return x
    ahead = np.concatenate((np.ones(1), np.cumprod(x)[:-1]))
    after = np.flip(np.concatenate((np.ones(1), np.cumprod(np.flip(x))[:-1])))
    return ahead * after


def prod_others_along(x, e):
    """Return the derivative of prod_others at x along e."""
    n = len(x)
    rows = np.where(np.eye(n) > 0.0, e[None, :], np.broadcast_to(x, (n, n)))
    y = np.zeros(n)
    for j in range(n):
        y = y + np.where(np.eye(n)[j] > 0.0, 0.0, prod_others(rows[j]))
    return y


def prod_others_along_two(x, e, f):
    """Return the coefficient of t*u in the product of x[k] + t*e[k] + u*f[k] over all k but i."""
    n = len(x)
    y = np.zeros(n)
    for j in range(n):
        at = np.eye(n)[j] > 0.0
        y = y + np.where(at, 0.0, prod_others_along(np.where(at, e, x), np.where(at, 0.0, f)))
    return y


def sin_pi(x):
    """sin(pi*x), 0 at integers."""
    r = x - 2.0 * np.rint(0.5 * x)
    return np.sin(np.pi * np.where(np.abs(r) > 0.5, np.copysign(1.0, r) - r, r))


def sinc(x):
    """sin(pi*x)/(pi*x), 1 at 0, 0 at other integers."""
    return np.where(x == 0.0, 1.0, sin_pi(x) / (np.pi * np.where(x == 0.0, 1.0, x)))


def ratio0(x, y):
    """x/y, 0 where both are 0."""
    both = (x == 0.0) & (y == 0.0)
    return np.where(both, 0.0, x / np.where(both, 1.0, y))


def over_hypot(x, y):
    """x/hypot(x, y), 0 at (0, 0), computed from the smaller of x/y and y/x."""
    wide, flat = np.abs(ratio0(x, y)), np.abs(ratio0(y, x))
    is_flat = np.abs(x) < np.abs(y)
    value = np.where(is_flat, wide, 1.0) / np.sqrt(1.0 + np.square(np.where(is_flat, wide, flat)))
    return np.where((x == 0.0) & (y == y), 0.0, np.sign(x) * value)


def jump(a, b):
    """(sign(a) - sign(b))/(a - b), 0 on the same side, NaN where both are 0."""
    s = np.sign(a) - np.sign(b)
    value = np.where(s == 0.0, s, s / np.where(s == 0.0, 1.0, a - b))
    return np.where((a == 0.0) & (b == 0.0), np.nan, value)


def step_jump(a, b):
    """(step(a) - step(b))/(a - b), 0 on the same side, NaN where both are 0."""
    s = step_of(a) - step_of(b)
    value = np.where(s == 0.0, s, s / np.where(s == 0.0, 1.0, a - b))
    return np.where((a == 0.0) & (b == 0.0), np.nan, value)


def step_of(x):
    """1 for x > 0, 1/2 at 0, else 0."""
    return np.where(x > 0.0, 1.0, np.where(x < 0.0, 0.0, 0.5))


def between(x, low, high):
    """1 where low < x < high, 1/2 at one bound, 0 where both bounds equal x or x is beyond one."""
    at_bound = (low < high) & ((x == low) | (x == high))
    outside = (x < low) | (x > high) | ((x == low) & (x == high))
    return np.where(outside, 0.0, np.where((low < x) & (x < high), 1.0, np.where(at_bound, 0.5, np.nan)))


def huber(x):
    """x^2/2 where |x| <= 1, |x| - 1/2 beyond."""
    return np.where(np.abs(x) <= 1.0, 0.5 * np.square(x), np.abs(x) - 0.5)


def sinc1(x):
    """sin(x)/x, 1 at 0."""
    return np.where(x == 0.0, 1.0, np.sin(x) / np.where(x == 0.0, 1.0, x))


def by_parts(order, x, f, slopes, near, is_near):
    """Return the k-th derivative of f = g/x from those of g, by x*f_j + j*f_(j - 1) = g_j; `near` close to 0."""
    safe = np.where(is_near, 1.0, x)
    for k in range(1, int(order) + 1):
        f = (slopes[k] - k * f) / safe
    return np.where(is_near, near, f)


def sinc1_diff(order, x):
    """Return the k-th derivative of sin(x)/x: Taylor's series near 0."""
    count = int(order)
    is_near = np.abs(x) < max(1.0, 0.5 * count)
    odd = count % 2
    z, series = np.where(is_near, x, 0.0), 0.0
    term = (1.0 if (count + odd) % 4 == 0 else -1.0) * (z if odd else 1.0)
    for m in range(odd, 60, 2):
        series = series + term / (m + count + 1.0)
        term = term * (-z * z / ((m + 1.0) * (m + 2.0)))
    s, c = np.sin(x), np.cos(x)
    slopes = [(s, c, -s, -c)[k % 4] for k in range(count + 1)]
    return by_parts(order, x, s / np.where(is_near, 1.0, x), slopes, series, is_near)


def expm1c_diff(order, x):
    """Return the k-th derivative of (exp(x) - 1)/x: the series of the integral of u^k*exp(x*u) near 0."""
    count = int(order)
    is_near = np.abs(x) < 2.0 + count
    z = np.where(is_near, np.abs(x), 0.0)
    right, left, term, other = 0.0, 0.0, 1.0, 1.0 / (count + 1.0)
    for j in range(40 + 4 * count):
        right, left = right + term / (count + 1.0 + j), left + other
        term, other = term * z / (j + 1.0), other * z / (count + 2.0 + j)
    near = np.where(x < 0.0, np.exp(-z) * left, right)
    slopes = [np.exp(x)] * (count + 1)
    return by_parts(order, x, np.expm1(x) / np.where(is_near, 1.0, x), slopes, near, is_near)


def log1pc_diff(order, x):
    """Return the k-th derivative of log(1 + x)/x: its series near 0."""
    count = int(order)
    is_near = np.abs(x) < 0.5
    z, near, term = np.where(is_near, x, 0.0), 0.0, 1.0
    for k in range(1, count + 1):
        term = -k * term
    for j in range(60 + 4 * count):
        near = near + term / (count + 1.0 + j)
        term = term * -z * (count + 1.0 + j) / (j + 1.0)
    f, slope, slopes = np.log1p(x) / np.where(is_near, 1.0, x), 1.0, [0.0]
    for k in range(1, count + 1):
        slope = slope / (1.0 + x) if k == 1 else slope * (1.0 - k) / (1.0 + x)
        slopes = [*slopes, slope]
    return by_parts(order, x, f, slopes, near, is_near)


def log1mexp(x):
    """log(1 - exp(x)), NaN for x > 0."""
    return np.where(x > -0.6931471805599453, np.log(-np.expm1(x)), np.log1p(-np.exp(x)))


def logdiffexp(x, y):
    """log(exp(x) - exp(y)), NaN for x < y."""
    return np.where(x == y, -np.inf, x + log1mexp(y - x))


def log_sigmoid_diff(x, y):
    """log(sigmoid(x) - sigmoid(y)): a sum of terms of one sign."""
    less = np.maximum(-x, 0.0) + np.log1p(np.exp(-np.abs(x))) + np.maximum(y, 0.0) + np.log1p(np.exp(-np.abs(y)))
    return log1mexp(y - x) - less


def norm2(x):
    """Return the Euclidean norm, without overflow."""
    top = np.max(np.abs(x), initial=0.0)
    is_plain = (top > 0.0) & np.isfinite(top)
    safe = np.where(is_plain, top, 1.0)
    return np.where(is_plain, safe * np.sqrt(np.sum(np.square(x / safe))), top)


def normalize(x):
    """x/norm2(x), 0 for x = 0."""
    top = np.max(np.abs(x), initial=0.0)
    unit = x / np.where(top == 0.0, 1.0, top)
    return unit / np.where(top == 0.0, 1.0, norm2(unit))


def median(x):
    """Return the middle entry, or the mean of the two middle ones; NaN for an empty x or one with NaN."""
    n = len(x)
    if n == 0:
        return np.full((), np.nan)
    z = np.sort(x)
    return np.where(np.any(np.isnan(x)), np.nan, 0.5 * z[(n - 1) // 2] + 0.5 * z[n // 2])


def median_at(x):
    """Return the gradient of the median, ties in equal shares."""
    n = len(x)
    if n == 0:
        return x
    z = np.sort(x)
    below = np.where(x == z[(n - 1) // 2], 1.0, 0.0)
    above = np.where(x == z[n // 2], 1.0, 0.0)
    return np.where(np.any(np.isnan(x)), np.nan, 0.5 * (below / np.sum(below) + above / np.sum(above)))
