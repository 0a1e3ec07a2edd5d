"""The log of the beta function, and all derivatives of it and of the incomplete beta function.

They use power series near the ends, else integrals of the differentiated density over the side where the weight of
first order has one sign. Mixed derivatives are coefficients of a power series: c[p, q] belongs to the p-th derivative
in a and the q-th in b.
"""

import itertools
import math

import numpy as np
from scipy import special

BERNOULLI = (
    8.333333333333333e-2, -1.388888888888889e-3, 3.306878306878307e-5, -8.267195767195768e-7,
    2.08767569878681e-8, -5.284190138687493e-10, 1.3382536530684679e-11, -3.3896802963225827e-13,
    8.586062056277845e-15, -2.174868698558062e-16, 5.5090028283602295e-18, -1.3954464685812524e-19,
)  # fmt: skip
"""(-1)^(j + 1) B(2j)/(2j)!, j = 1..12, as terms of Euler and Maclaurin's sum"""


def stirling(a):
    """log(gamma(a)) minus Stirling's (a - 1/2)*log(a) - a + log(2*pi)/2, for a >= 10."""
    u = 1 / (a * a)
    return (
        1 / 12 - u * (1 / 360 - u * (1 / 1260 - u * (1 / 1680 - u * (1 / 1188 - u * (691 / 360360 - u / 156)))))
    ) / a


def less_log(u, v):
    """u - log(v) for v = 1 + u, by a series near u = 0."""
    w = u / (2 + u)
    tail = sum(2 * w ** (2 * n) / (2 * n + 1) for n in range(12, 0, -1))
    return np.where(np.abs(u) < 0.3, u * w - w * tail, u - np.where(v < 0.5, np.log(v), np.log1p(u)))


def betaln(a, b):
    """log of the beta function of positive arguments; large arguments use Stirling's formula."""
    low, high = np.minimum(a, b), np.maximum(a, b)
    with np.errstate(all="ignore"):
        n, r = low + high, np.log1p(low / high)
        plain = special.gammaln(low) + special.gammaln(high) - special.gammaln(n)
        one = special.gammaln(low) - (high - 0.5) * r - low * np.log(n) + low - (stirling(n) - stirling(high))
        middle = low * (np.log(low / high) - r) - (high - 0.5) * r
        both = 0.5 * np.log(2 * np.pi / low) + middle + stirling(low) + stirling(high) - stirling(n)
        value = np.where(high < 10, plain, np.where(low < 10, one, both))
        ends = np.where(low == 0, np.where(high < np.inf, np.inf, np.nan), -np.inf)
    return np.where(low >= 0, np.where((low == 0) | (high == np.inf), ends, value), np.nan)


def psi_gap(order, a, b):
    """Return the k-th derivative of digamma at a minus that at a + b, by Euler-Maclaurin sums, term by term."""
    k = int(order)
    with np.errstate(all="ignore"):
        a, b = np.broadcast_arrays(np.asarray(a, dtype=float), b)
        total, z = 0.0, a
        for n in range(11 + k):
            total = total - (a + n) ** -(k + 1.0) * np.expm1(-(k + 1) * np.log1p(b / (a + n)))
        z, s, factor = a + (11 + k), k + 1, k + 1
        log = np.log1p(b / z)
        total = total + (log if k == 0 else -(z**-k) * np.expm1(-k * log) / k)
        total = total - 0.5 * z**-s * np.expm1(-s * log)
        for c in BERNOULLI:
            total = total - c * factor * z ** (-s - 1.0) * np.expm1(-(s + 1) * log)
            factor, s = factor * (s + 1) * (s + 2), s + 2
        value = (-1.0) ** (k + 1) * math.factorial(k) * total
        far = np.where(k == 0, -np.inf, special.polygamma(k, a))
        value = np.where((b == np.inf) & (a > 0) & (a < np.inf), far, value)
        value = np.where((a == 0) & (b > 0), (-1.0) ** (k + 1) * np.inf, value)
        undefined = ~((a >= 0) & (b >= 0)) | ((a == 0) & (b == 0)) | ((a == np.inf) & (b == np.inf))
    return np.where(undefined, np.nan, value)


def exp_series(i, j, c):
    """Return the power series of exp(g)/exp(g(0)) from that of g."""
    W = {(0, 0): 1.0}
    for p, q in itertools.product(range(i + 1), range(j + 1)):
        if p:
            terms = itertools.product(range(1, p + 1), range(q + 1))
            W[p, q] = sum(r / p * c[r, s] * W[p - r, q - s] for r, s in terms)
        elif q:
            W[0, q] = sum(s / q * c[0, s] * W[0, q - s] for s in range(1, q + 1))
    return W


def falling_series(count, i, c):
    """Return the power series of c*(c - 1)*... of `count` factors."""
    J = [np.ones_like(c), *(np.zeros_like(c) for _ in range(i))]
    for step in range(count):
        J = [J[p] * (c - step) + (J[p - 1] if p else 0) for p in range(i + 1)]
    return J


def at_end(exponent, factor):
    """factor*x^exponent at x = 0."""
    value = np.where(exponent == 0, factor, np.copysign(np.inf, factor))
    return np.where((factor == 0) | (exponent > 0), 0.0, value)


def integral(f, scale):
    """Return the integral of f(s) over s > 0, for f with decay length `scale`: double exponential quadrature."""
    t = np.arange(-64, 80) / 16
    s = scale[..., None] * np.exp(t - np.exp(-t))
    return np.sum(f(s) * s * (1 + np.exp(-t)), -1) / 16


def beta_prefix(a, b, x, y):
    """x^a*y^b/beta(a, b) for y = 1 - x."""
    n, d = a + b, b * x - a * y
    power = a * less_log(d / a, x / a * n) + b * less_log(-d / b, y / b * n)
    large = np.sqrt(a / n * b / (2 * np.pi)) * np.exp(-power - stirling(a) - stirling(b) + stirling(n))
    small = np.exp(a * log_beside(x, y) + b * log_beside(y, x) - betaln(a, b))
    return np.where((x == 0) | (y == 0), 0.0, np.where((a < 10) | (b < 10), small, large))


def log_beside(x, y):
    """log(x) for y = 1 - x."""
    return np.where(x < 0.5, np.log(x), np.log1p(-y))


def beta_logs(i, j, a, b, log_x, log_y):
    """Return the power series in a and b of the log of the beta density, from (log_x, log_y)."""
    c = {(p, 0): -psi_gap(p - 1, a, b) / math.factorial(p) for p in range(1, i + 1)}
    c |= {(0, q): -psi_gap(q - 1, b, a) / math.factorial(q) for q in range(1, j + 1)}
    for p, q in itertools.product(range(1, i + 1), range(1, j + 1)):
        c[p, q] = special.polygamma(p + q - 1, a + b) / (math.factorial(p) * math.factorial(q))
    if i:
        c[1, 0] = c[1, 0] + log_x
    if j:
        c[0, 1] = c[0, 1] + log_y
    return c


def beta_density_diff(i, j, k, a, b, x):
    """Return the derivative of order i in a, j in b, k in x of x^(a - 1)*(1 - x)^(b - 1)/beta(a, b)."""
    y = 1 - x
    W, total = exp_series(i, j, beta_logs(i, j, a, b, log_beside(x, y), np.log1p(-x))), 0.0
    for m in range(k + 1):
        A, B = falling_series(m, i, a - 1), falling_series(k - m, j, b - 1)
        for p, q in itertools.product(range(i + 1), range(j + 1)):
            J = A[i - p] * B[j - q]
            factor = (-1.0) ** (k - m) * math.comb(k, m) * J * W[p, q]
            end = at_end(np.where(x == 0, a - 1 - m, b - 1 - k + m), factor * np.exp(-betaln(a, b)))
            inside = beta_prefix(a, b, x, y) * factor / (x ** (m + 1) * y ** (k - m + 1))
            total = total + np.where(J == 0, 0.0, np.where((x == 0) | (x == 1), end, inside))
    return math.factorial(i) * math.factorial(j) * total


def beta_series(i, j, a, b, x, y):
    """Return the derivative of betainc in a and b where b*x is small."""
    n = a + b
    c = beta_logs(i, j, a, b, 0.0, 0.0)
    for p in range(1, i + 1):
        c[p, 0] = (special.polygamma(p - 1, n) - special.polygamma(p - 1, a + 1)) / math.factorial(p)
    if i:
        c[1, 0] = c[1, 0] + log_beside(x, y)
    W, C = exp_series(i, j, c), [np.ones_like(b), *(np.zeros_like(b) for _ in range(j))]
    total = W[i, j]
    for m in range(1, 60):
        C = [(C[q] * (m - b) - (C[q - 1] if q else 0)) / m * x for q in range(j + 1)]
        parts = [a / (a + m), *(-m / (a + m) / (-(a + m)) ** p for p in range(1, i + 1))]
        orders = itertools.product(range(i + 1), range(j + 1))
        total = total + sum(C[q] * parts[p] * W[i - p, j - q] for p, q in orders)
    return math.factorial(i) * math.factorial(j) * total * np.exp(a * log_beside(x, y) - betaln(a, b)) / a


def beta_integral(i, j, a, b, x, y):
    """Return the derivative of betainc in a and b, as an integral from 0 to x."""
    c = {key: v[..., None] for key, v in beta_logs(i, j, a, b, log_beside(x, y), log_beside(y, x)).items()}
    n = a + b
    A, N, X = a[..., None], n[..., None], x[..., None]

    def weighted(s):
        D = np.log1p(X * np.expm1(-s))
        d = dict(c)
        if i:
            d[1, 0] = c[1, 0] - s - D
        if j:
            d[0, 1] = c[0, 1] - D
        return np.exp(-A * s - N * D) * exp_series(i, j, d)[i, j]

    scale = 1 / (np.abs(a - n * x) + np.sqrt(n * x * y))
    return math.factorial(i) * math.factorial(j) * beta_prefix(a, b, x, y) * integral(weighted, scale)


def beta_left(i, j, a, b, x, y):
    """Return the derivative of betainc in a and b, from 0 to x."""
    is_near = x * np.maximum(b, 1) <= 0.5
    series = beta_series(i, j, a, b, np.where(is_near, x, 0.0), np.where(is_near, y, 1.0))
    return np.where(is_near, series, beta_integral(i, j, a, b, x, y))


def betainc_diff(order_a, order_b, order_x, a, b, x):
    """Return the derivative of betainc of these orders: by the density, a power series or an integral."""
    i, j, k = int(order_a), int(order_b), int(order_x)
    if i == j == k == 0:
        return special.betainc(a, b, x)
    with np.errstate(all="ignore"):
        a, b, x = np.broadcast_arrays(np.asarray(a, dtype=float), b, x)
        y = 1 - x
        if k:
            value = beta_density_diff(i, j, k - 1, a, b, x)
        else:
            upper = x * (a + b) > a
            if j == 0:
                upper = np.log(x) > psi_gap(0, a, b)
            elif i == 0:
                upper = np.log1p(-x) < psi_gap(0, b, a)
            upper = ~(x * np.maximum(b, 1) <= 0.5) & (upper | (y * np.maximum(a, 1) <= 0.5))
            turned = -beta_left(j, i, np.where(upper, b, 1.0), np.where(upper, a, 1.0), y, x)
            value = np.where(upper, turned, beta_left(i, j, a, b, x, y))
            value = np.where((x == 0) | (x == 1), 0.0, value)
    inside = (a > 0) & (b > 0) & (x >= 0) & (x <= 1) & (a < np.inf) & (b < np.inf)
    return np.where(inside, value, np.nan)
