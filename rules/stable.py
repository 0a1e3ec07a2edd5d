"""Functions for the values in `stable.toml`: derivatives of quotients, logarithms of differences.

They are slow, obvious, and independent of the compiler: Gauss quadrature where terms would cancel, else recurrences.
"""

import math
from typing import Any

import numpy as np
import scipy.special as sp
from numpy.typing import NDArray

Array = NDArray[Any]


def gauss_() -> tuple[Array, Array]:
    """Return nodes and weights of Gauss's rule with 15 points on each quarter of [0, 1].

    NumPy's rule with 60 points has an error of 1e-12.
    """
    nodes, weights = np.polynomial.legendre.leggauss(15)
    return np.concatenate([(nodes + 1 + 2 * k) / 8 for k in range(4)]), np.concatenate([weights / 8] * 4)


def by_parts_(k: int, x: Array, value: Array, slopes: list[Array], near: Array, is_near: Array) -> Array:
    """Return the k-th derivative of g(x)/x: `near` where `is_near`, else by x*f_j + j*f_(j - 1) = g_j.

    `value` is g(x)/x and `slopes` are the derivatives g_j.
    """
    f = value
    for j in range(1, k + 1):
        f = (slopes[j] - j * f) / np.where(x == 0, 1, x)
    return np.where(is_near, near, f)


def sinc1_diff_(k: int, x: Array) -> Array:
    """Return the k-th derivative of sin(x)/x; near 0 from the integral of cos(x*u) over u from 0 to 1."""
    nodes, weights = gauss_()
    x = np.asarray(x, dtype=float)
    is_near = np.abs(x) < 8 + k
    angle = np.where(is_near, x, 0.0)[..., None] * nodes
    wave = (np.cos(angle), -np.sin(angle), -np.cos(angle), np.sin(angle))[k % 4]
    with np.errstate(all="ignore"):
        waves = [(np.sin(x), np.cos(x), -np.sin(x), -np.cos(x))[j % 4] for j in range(k + 1)]
        value = by_parts_(k, x, waves[0] / x, waves, np.sum(weights * nodes**k * wave, -1), is_near)
    return np.where(np.isinf(x), 0.0, value)


def expm1c_diff_(k: int, x: Array) -> Array:
    """Return the k-th derivative of (exp(x) - 1)/x: the integral of u^k*exp(x*u) over u from 0 to 1."""
    nodes, weights = gauss_()
    x = np.asarray(x, dtype=float)
    is_near = np.abs(x) < 8 + k
    near = np.sum(weights * nodes**k * np.exp(np.where(is_near, x, 0.0)[..., None] * nodes), -1)
    with np.errstate(all="ignore"):
        left = math.factorial(k) * sp.gammainc(k + 1, np.maximum(-x, 0.0)) * np.abs(x) ** (-k - 1.0)
        right = by_parts_(k, x, np.expm1(x) / x, [np.exp(x)] * (k + 1), near, is_near)
    right = np.where(x > 710, np.inf, right)
    return np.where(is_near | (x > 0), right, left)


def log1pc_diff_(k: int, x: Array) -> Array:
    """Return the k-th derivative of log(1 + x)/x: (-1)^k*k! times the integral of u^k/(1 + x*u)^(k + 1) over [0, 1]."""
    nodes, weights = gauss_()
    x = np.asarray(x, dtype=float)
    is_near = np.abs(x) < 0.5
    rows = 1 + np.where(is_near, x, 0.0)[..., None] * nodes
    near = (-1) ** k * math.factorial(k) * np.sum(weights * nodes**k / rows ** (k + 1), -1)
    with np.errstate(all="ignore"):
        slopes = [np.log1p(x)] + [(-1.0) ** (j - 1) * math.factorial(j - 1) / (1 + x) ** j for j in range(1, k + 1)]
        value = by_parts_(k, x, slopes[0] / x, slopes, near, is_near)
    value = np.where(x == np.inf, 0.0, value)
    return np.where(x == -1, (-1.0) ** k * np.inf, np.where(x >= -1, value, np.nan))


def tanh_slopes_(k: int, x: Array) -> list[Array]:
    """Return the derivatives 0 to k of tanh: polynomials in tanh times 1/cosh^2."""
    t, found, p = np.tanh(x), [np.tanh(x)], np.polynomial.Polynomial([1.0])
    square, less = 1 / np.cosh(np.clip(x, -400, 400)) ** 2, np.polynomial.Polynomial([1.0, 0.0, -1.0])
    for _ in range(k):
        found.append(square * p(t))
        p = less * p.deriv() - 2 * np.polynomial.Polynomial([0.0, 1.0]) * p
    return found


def tanhc_diff_(k: int, x: Array) -> Array:
    """Return the k-th derivative of tanh(x)/x; near 0 from the integral of 1/cosh(x*u)^2 over u from 0 to 1."""
    nodes, weights = gauss_()
    x = np.asarray(x, dtype=float)
    is_near = np.abs(x) < 1
    rows = np.where(is_near, x, 0.0)[..., None] * nodes
    near = np.sum(weights * nodes**k * tanh_slopes_(k + 1, rows)[k + 1], -1)
    with np.errstate(all="ignore"):
        return by_parts_(k, x, np.tanh(x) / x, tanh_slopes_(k, x), near, is_near)


def xexpm1_diff_(k: int, x: Array) -> Array:
    """Return the k-th derivative of f = x/(exp(x) - 1): by its series near 0, else from f*(exp(x) - 1) = x."""
    x = np.asarray(x, dtype=float)
    is_near = np.abs(x) < 1.5
    z, near, series = np.where(is_near, x, 0.0), np.zeros(()), [1.0]
    for n in range(1, k + 40):
        series.append(
            -sum(series[n - j] / math.factorial(j + 1) for j in range(1, n + 1)) if n % 2 == 0 or n == 1 else 0
        )
    for n in range(k, k + 40):
        near = near + math.perm(n, k) * series[n] * z ** (n - k)
    with np.errstate(all="ignore"):
        small = np.exp(-np.abs(x))
        f = [np.where(x > 0, x * small / (1 - small), x / (small - 1))]
        over = np.where(x > 0, 1 / (1 - small), small / (small - 1))
        for j in range(1, k + 1):
            less = sum(math.comb(j, i) * f[i] for i in range(j))
            own = np.where(x > 0, small / (1 - small), 1 / (small - 1)) if j == 1 else 0.0
            f.append(own - over * less)
    return np.where(is_near, near, np.where(np.isinf(x), np.where(x > 0, 0.0, -(k < 2) * x ** (1 - k)), f[k]))


def log1mexp_(x: Array) -> Array:
    """Return log(1 - exp(x)), NaN for x > 0."""
    with np.errstate(all="ignore"):
        return np.where(x > -math.log(2), np.log(-np.expm1(x)), np.log1p(-np.exp(x)))


def logdiffexp_(x: Array, y: Array) -> Array:
    """Return log(exp(x) - exp(y)), NaN for x < y."""
    with np.errstate(all="ignore"):
        return np.where(x == y, -np.inf, x + log1mexp_(y - x))


def tail_integrals_(a: Array, h: Array) -> tuple[Array, Array]:
    """Return the integrals over s from 0 to h of exp(-s*(2*a + s)) and of s times it, for a >= 0."""
    nodes, weights = gauss_()
    end = np.minimum(h, 42 / (a + np.sqrt(a * a + 42)))
    s = end[..., None] * nodes
    weights = weights * np.exp(-s * (2 * a[..., None] + s))
    return end * np.sum(weights, -1), end * np.sum(weights * s, -1)


def log_erf_diff_(x: Array, y: Array) -> Array:
    """Return log(erf(x) - erf(y)); if x and y are on one side of 0, from an integral without the factor exp(-y^2)."""
    x, y = np.broadcast_arrays(np.asarray(x, dtype=float), y)
    b, a = np.where(x + y < 0, -y, x), np.where(x + y < 0, -x, y)
    with np.errstate(all="ignore"):
        near = np.maximum(a, 0.0)
        tail = np.log(2 / math.sqrt(math.pi) * tail_integrals_(near, b - near)[0]) - near * near
        gap = sp.erf(b) - sp.erf(a)
        wide = np.log1p(-sp.erf(a) - sp.erfc(b))
        value = np.where(gap > 0.5, wide, np.where(a > 0, tail, np.log(gap)))
    return np.where(x > y, value, np.where(x == y, -np.inf, np.nan))


def erf_share_(x: Array, y: Array) -> Array:
    """Return exp(-x^2) divided by the integral of exp(-t^2) from y to x."""
    x, y = np.broadcast_arrays(np.asarray(x, dtype=float), y)
    with np.errstate(all="ignore"):
        left = 1 / tail_integrals_(np.maximum(-x, 0.0), x - y)[0]
        right = np.exp(-(x - y) * (x + y)) / tail_integrals_(np.maximum(y, 0.0), x - y)[0]
        middle = np.exp(-x * x) / (math.sqrt(math.pi) / 2 * (sp.erf(x) - sp.erf(y)))
    value = np.where(x <= 0, left, np.where(y > 0, right, middle))
    return np.where(x >= y, value, np.nan)


def erf_excess_(x: Array, y: Array) -> Array:
    """Return 2*x + erf_share(x, y); for x < 0 the sum is taken inside the integral."""
    x, y = np.broadcast_arrays(np.asarray(x, dtype=float), y)
    with np.errstate(all="ignore"):
        h = x - y
        whole, first = tail_integrals_(np.maximum(-x, 0.0), h)
        left = (np.exp(h * (x + y)) + 2 * first) / whole
    return np.where(x < 0, np.where(x >= y, left, np.nan), 2 * x + erf_share_(x, y))


def log_besseli_(k: Array, x: Array) -> Array:
    """Return log(besseli(k, x)): by the power series for small x, else by the scaled function; by Debye for large k."""
    k, x = np.broadcast_arrays(np.asarray(k, dtype=float), x)
    is_near = x * x < 4 * (k + 1)
    z, term, series = np.where(is_near, x, 0.0) ** 2 / 4, 1.0, 0.0
    with np.errstate(all="ignore"):
        for m in range(1, 40):
            term = term * z / (m * (k + m))
            series = series + term
        near = sp.xlogy(k, x / 2) - sp.gammaln(k + 1) + np.log1p(series)
        far = np.where(k < 100, np.log(sp.ive(k, x)) + x, debye_(np.maximum(k, 100.0), x)[0])
    return np.where((k >= 0) & (x >= 0), np.where(x == np.inf, x, np.where(is_near, near, far)), np.nan)


def log_besseli_diff_(j: int, k: Array, x: Array) -> Array:
    """Return the j-th derivative in x of log(besseli(k, x)).

    It is the derivative of k*log(x) plus a cumulant of cos(t) under the weight exp(x*cos(t))*sin(t)^(2*k).
    """
    k, x = np.broadcast_arrays(np.asarray(k, dtype=float), x)
    with np.errstate(all="ignore"):
        own = k / x
        for i in range(1, j):
            own = own * (-i / x)
        value = np.where(k == 0, 0.0, own) + (bessel_ratio_(k, x) if j == 1 else cosine_cumulant_(j, k, x))
    return np.where((k >= 0) & (x >= 0), value, np.nan)


def debye_coefficients_() -> tuple[list[Array], list[Array]]:
    """Return the polynomials U and V in p of Debye's expansions, DLMF 10.41.9 to 10.41.11."""
    P = np.polynomial.polynomial
    U, V = [np.array([1.0])], [np.array([1.0])]
    for _ in range(7):
        slope, last = P.polyder(U[-1]), U[-1]
        inside = P.polyint(P.polymul([1.0, 0.0, -5.0], last)) / 8
        U.append(P.polyadd(P.polymul([0.0, 0.0, 0.5, 0.0, -0.5], slope), inside))
        lower = P.polyadd(P.polymul([0.0, 0.5, 0.0, -0.5], last), P.polymul([0.0, 0.0, 1.0, 0.0, -1.0], slope))
        V.append(P.polysub(U[-1], lower))
    return U, V


def debye_(k: Array, x: Array) -> tuple[Array, Array]:
    """Return log(besseli(k, x)) and its derivative in x for k >= 100, by DLMF 10.41.3 and 10.41.5."""
    z = x / k
    root = np.sqrt(1 + z * z)
    U, V = (
        sum(np.polynomial.polynomial.polyval(1 / root, c) / k**n for n, c in enumerate(terms))
        for terms in debye_coefficients_()
    )
    power = k * (root + np.log(z / (1 + root)))
    return power - np.log(2 * math.pi * k * root) / 2 + np.log(U), root / z * V / U


def ratio_of_large_orders_(k: Array, x: Array) -> Array:
    """Return besseli(k + 1, x)/besseli(k, x) for k >= 100; for x < k by its recurrence, which converges quickly."""
    start = k + 20
    ratio = x / (start + 0.5 + np.sqrt((start + 1.5) ** 2 + x * x))
    for n in range(20, 0, -1):
        ratio = 1 / (2 * (k + n) / x + ratio)
    return np.where(x < k, ratio, debye_(k, x)[1] - k / x)


def bessel_ratio_(k: Array, x: Array) -> Array:
    """Return besseli(k + 1, x)/besseli(k, x); for x < 4 by power series."""
    z, above, below, term, other = np.minimum(x, 4.0) ** 2 / 4, 1.0, 1.0, 1.0, 1.0
    for m in range(1, 40):
        term, other = term * z / (m * (k + 1 + m)), other * z / (m * (k + m))
        above, below = above + term, below + other
    near = x / 2 / (k + 1) * above / below
    far = np.where(k < 100, sp.ive(k + 1, x) / sp.ive(k, x), ratio_of_large_orders_(np.maximum(k, 100.0), x))
    return np.where(x == np.inf, 1.0, np.where(x < 4, near, far))


def cosine_cumulant_(j: int, k: Array, x: Array) -> Array:
    """Return the j-th cumulant, j > 1, of cos(t) under exp(x*cos(t))*sin(t)^(2*k), t from 0 to pi."""
    K, X = k[..., None], x[..., None]
    ratio = bessel_ratio_(k, x)[..., None]
    wide = math.pi * np.minimum(1.0, np.sqrt((20 + 4 * np.sqrt(K) + 2 * K) / np.maximum(X, 1e-300)))
    peak, width = np.arccos(ratio), 9.5 / np.sqrt(2 * K / (1 - ratio**2) + X * ratio)
    low = np.where(K > 5, np.maximum(peak - width, 0.0), 0.0)
    high = np.where(K > 5, np.minimum(peak + width, math.pi), wide)
    nodes, w = np.polynomial.legendre.leggauss(15)
    v, w = np.concatenate([(nodes + 1 + 2 * k) / 40 for k in range(20)]), np.concatenate([w] * 20)
    # t is a cubic in v, so a power of t at an end is smooth enough for the rule
    t, slope = low + (high - low) * v * v * (3 - 2 * v), v * (1 - v)
    c = 2 * np.sin(t / 2) ** 2
    log_weight = sp.xlogy(2 * K, np.sin(np.minimum(t, math.pi))) - X * c
    weight = w * slope * np.exp(log_weight - np.max(log_weight, -1, keepdims=True))
    total = np.sum(weight, -1)
    mean = np.sum(weight * c, -1) / total
    m = [np.sum(weight * (mean[..., None] - c) ** n, -1) / total for n in range(j + 1)]
    cumulant = [total, np.zeros_like(mean)]
    for n in range(2, j + 1):
        lower = sum((math.comb(n - 1, i - 1) * cumulant[i] * m[n - i] for i in range(2, n)), np.zeros_like(mean))
        cumulant.append(m[n] - lower)
    return np.where(x > 1e150, 0.0, cumulant[j])


def log_gamma_(x: Array) -> Array:
    """Return gammaln(x), also at subnormal x, where SciPy's is infinite."""
    return np.where((x > 0) & (x < 1e-300), -np.log(np.abs(x)), sp.gammaln(x))


def log_poch_(a: Array, b: Array) -> Array:
    """Return gammaln(a + b) - gammaln(a); if b is small beside a, by an integral of digamma."""
    nodes, weights = gauss_()
    a, b = np.broadcast_arrays(np.asarray(a, dtype=float), b)
    is_near = 2 * np.abs(b) < a
    near = np.where(is_near, b, 0.0)
    with np.errstate(all="ignore"):
        mean = np.sum(weights * sp.psi(a[..., None] + near[..., None] * nodes), -1)
        return np.where(is_near, b * mean, log_gamma_(a + b) - log_gamma_(a))


def poch_diff_(k: int, a: Array, b: Array) -> Array:
    """Return polygamma(k - 1, a + b) - polygamma(k - 1, a); if b is small beside a, by an integral of polygamma(k)."""
    nodes, weights = gauss_()
    a, b = np.broadcast_arrays(np.asarray(a, dtype=float), b)
    is_near = 2 * np.abs(b) < a
    near = np.where(is_near, b, 0.0)
    with np.errstate(all="ignore"):
        mean = np.sum(weights * sp.polygamma(k, a[..., None] + near[..., None] * nodes), -1)
        return np.where(is_near, b * mean, sp.polygamma(k - 1, a + b) - sp.polygamma(k - 1, a))


def power_slope_(i: int, n: int, b: Array, u: Array, w: Array) -> Array:
    """Return the i-th derivative in a of w^n, where w = a/(1 + a*b) and u = 1/(1 + a*b)."""
    total = np.zeros_like(w)
    for m in range(min(i, n) + 1):
        count = math.comb(i, m) * math.perm(n, m) * math.prod(range(n, n + i - m))
        total = total + count * (-b) ** (i - m) * w ** (n - m)
    return total * u**i


def log_area_(i: int, x: Array) -> Array:
    """Return the i-th derivative of the integral of log(1 + x*t) over t from 0 to 1."""
    nodes, weights = gauss_()
    t = np.where(np.abs(x) < 1, x, 0.0)[..., None] * nodes
    slope = np.log1p(t) if i == 0 else (-1) ** (i - 1) * math.factorial(i - 1) / (1 + t) ** i
    near = np.sum(weights * nodes**i * slope, -1)
    lower = i * log1pc_diff_(i - 1, x) if i else -1.0
    return np.where(np.abs(x) < 1, near, (1 + x) * log1pc_diff_(i, x) + lower)


def log_rising_diff_(i: int, j: int, a: Array, b: Array) -> Array:
    """Return the derivative of gammaln(b + 1/a) - gammaln(1/a) + b*log(a), i times in a and j times in b."""
    a, b = np.broadcast_arrays(np.asarray(a, dtype=float), np.asarray(b, dtype=float))
    with np.errstate(all="ignore"):
        is_near = (a >= 0) & (a <= 0.1) & (a <= 0.1 * (1 + a * b))
        near = rising_near_(i, j, np.where(is_near, a, 0.0), np.where(is_near, b, 0.0))
        far = rising_far_(i, j, 1 / np.where(is_near, 1.0, a), b)
        return np.where(is_near, near, far)


def rising_near_(i: int, j: int, a: Array, b: Array) -> Array:
    """Return the derivative of log_rising for small a, by Euler and Maclaurin's integral, end terms and corrections."""
    u = 1 / (1 + a * b)
    w, sign = a * u, (-1) ** j
    if j > 1:
        total = sign * math.factorial(j - 2) * power_slope_(i, j - 1, b, u, w)
    elif i > 0:
        total = b ** (i + 1) * log_area_(i, a * b) if j == 0 else -math.factorial(i - 1) * (-b * u) ** i
    else:
        total = b * log_area_(0, a * b) if j == 0 else np.log1p(a * b)
    if j > 0:
        total = total + sign / 2 * math.factorial(j - 1) * power_slope_(i, j, b, u, w)
    else:
        total = total - 0.5 * (np.log1p(a * b) if i == 0 else -math.factorial(i - 1) * (-b * u) ** i)
    bernoulli = sp.bernoulli(30)
    for n in range(1, 30, 2):
        coef = bernoulli[n + 1] / (n * (n + 1))
        term = sign * math.prod(range(n, n + j)) * power_slope_(i, n + j, b, u, w)
        total = total + coef * (term - (math.perm(n, i) * a ** max(n - i, 0) if j == 0 else 0))
    return total


def rising_far_(i: int, j: int, z: Array, b: Array) -> Array:
    """Return the derivative of log_rising in a = 1/z, from those in z."""

    def slope(k: int) -> Array:
        log = np.log(z) if k == 0 else (-1) ** (k - 1) * math.factorial(k - 1) / z**k
        if j == 0:
            return (poch_diff_(k, z, b) if k else log_poch_(z, b)) - b * log
        return sp.polygamma(j + k - 1, z + b) - (log if j == 1 else 0.0)

    if i == 0:
        return slope(0)
    lah = [math.comb(i - 1, k - 1) * math.factorial(i) // math.factorial(k) for k in range(1, i + 1)]
    return (-1) ** i * sum(count * z ** (i + k) * slope(k) for k, count in enumerate(lah, 1))
