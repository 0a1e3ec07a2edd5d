"""Functions for the values in `elementwise.toml`: special functions and their derivatives.

They are slow, obvious, and independent of the compiler. Integrals over a half line use double exponential quadrature.
Mixed derivatives are coefficients of a power series: c[p, q] belongs to the p-th derivative in the first argument and
the q-th in the second.
"""

import itertools
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.special as sp
from numpy.typing import NDArray

Array = NDArray[Any]
Function = Callable[..., Array]
Series = dict[tuple[int, int], Array]

EPS = 2.0**-52


def ratio0_(x: Array, y: Array) -> Array:
    """Return x/y, and 0 where both are 0."""
    both = (x == 0) & (y == 0)
    with np.errstate(all="ignore"):
        return np.where(both, 0.0, x / np.where(both, 1.0, y))


def over_hypot_(x: Array, y: Array) -> Array:
    """Return x/hypot(x, y), and 0 at (0, 0), computed from the smaller of x/y and y/x."""
    with np.errstate(all="ignore"):
        wide, flat = np.abs(x / y), np.abs(y / x)
        value = np.where(wide < flat, wide / np.hypot(1, wide), 1 / np.hypot(1, flat))
    return np.where((x == 0) & ~np.isnan(y), 0.0, np.sign(x) * value)


def between_(x: Array, lo: Array, hi: Array) -> Array:
    """Return 1 where lo < x < hi, 1/2 at one bound, and 0 outside or where both bounds equal x.

    x is also outside if it is beyond one bound and the other is NaN.
    """
    at_bound = (lo < hi) & ((x == lo) | (x == hi))
    outside = (x < lo) | (x > hi) | (x == lo) & (x == hi)
    return np.where(outside, 0.0, np.where((lo < x) & (x < hi), 1.0, np.where(at_bound, 0.5, np.nan)))


def integral_(f: Callable[[Array], Array], scale: Array) -> Array:
    """Return the integral of f(s) over s > 0, by double exponential quadrature along the last axis.

    f decays on a length of about `scale`.
    """
    t = np.linspace(-5.0, 5.0, 481)
    s = scale[..., None] * np.exp(t - np.exp(-t))
    with np.errstate(all="ignore"):
        return np.sum(f(s) * s * (1 + np.exp(-t)), -1) / 48


def erfcx_diff_(k: int, x: Array) -> Array:
    """Return the k-th derivative of erfcx: by an integral for x >= 0, by f' = 2*x*f - 2/sqrt(pi) for x < 0."""
    x = np.asarray(x, dtype=float)
    if k == 0:
        return sp.erfcx(x)
    above, z = np.maximum(x, 0.0), np.maximum(x, 0.0)[..., None]
    right = integral_(lambda s: (-2 * s) ** k * np.exp(-s * s - 2 * (z * s)), 1 / (1 + above))
    d = [sp.erfcx(x), 2 * x * sp.erfcx(x) - 2 / math.sqrt(math.pi)]
    for n in range(1, k):
        d.append(2 * x * d[n] + 2 * n * d[n - 1])
    return np.where(x < 0, d[k], np.where(x == np.inf, 0.0, 2 / math.sqrt(math.pi) * right))


def dawsn_diff_(k: int, x: Array) -> Array:
    """Return the k-th derivative of dawsn.

    Near 0 by F' = 1 - 2*x*F, far out by F = integral(exp(-t^2)/(x - t))/(2*sqrt(pi)), whose pole is then negligible,
    and between them by Rybicki's sum of exp(-(x - n/4)^2)/n over odd n, which is exact to rounding.
    """
    x = np.asarray(x, dtype=float)
    if k == 0:
        return sp.dawsn(x)
    near, far = np.where(np.abs(x) < 1, x, 0.0), np.where(np.abs(x) > 7, x, np.inf)
    d = [sp.dawsn(near), 1 - 2 * near * sp.dawsn(near)]
    for n in range(1, k):
        d.append(-2 * near * d[n] - 2 * n * d[n - 1])
    nodes, weights = np.polynomial.hermite.hermgauss(40)
    pole = (-1) ** k * math.factorial(k) / 2 / math.sqrt(math.pi)
    outside = pole * np.sum(weights / (far[..., None] - nodes) ** (k + 1), -1)
    z = np.where(np.abs(x) <= 7, np.abs(x), 0.0)[..., None]
    n = 2 * np.rint(2 * z) + np.arange(-51, 53, 2)
    u = z - n / 4
    before, slopes = np.ones_like(u), -2 * u
    for m in range(1, k):
        before, slopes = slopes, -2 * u * slopes - 2 * m * before
    between = np.sign(x) ** (k + 1) * np.sum(slopes * np.exp(-u * u) / n, -1) / math.sqrt(math.pi)
    value = np.where(np.abs(x) < 1, d[k], np.where(np.abs(x) > 7, outside, between))
    return np.where(np.isnan(x), x, value)


def log_ndtr_diff_(k: int, x: Array) -> Array:
    """Return the k-th derivative of log_ndtr, k > 0.

    For x < -1 log_ndtr is log(integral(exp(x*s - s^2/2))) - x^2/2, whose first term has cumulants as derivatives.
    Elsewhere h' = -h*(x + h) for the first derivative h.
    """
    x = np.asarray(x, dtype=float)
    z = np.minimum(x, -1.0)

    def moment(n: int) -> Array:
        return integral_(lambda s: s**n * np.exp(z[..., None] * s - s * s / 2), -1 / z)

    raw = [moment(n) for n in range(k + 1)]
    m, left = [r / raw[0] for r in raw], [-0.5 * z * z]
    for n in range(1, k + 1):
        left.append(m[n] - sum(math.comb(n - 1, j - 1) * left[j] * m[n - j] for j in range(1, n)))
    with np.errstate(all="ignore"):
        h = [np.exp(-x * x / 2 - sp.log_ndtr(x)) / math.sqrt(2 * math.pi)]
        for n in range(k - 1):
            q = [h[0] + x, *(h[i] + (i == 1) for i in range(1, n + 1))]
            h.append(-sum(math.comb(n, j) * h[j] * q[n - j] for j in range(n + 1)))
    tail = np.where(x == -np.inf, 0.0, left[k]) - (x if k == 1 else float(k == 2))
    return np.where(x < -1, tail, h[k - 1])


def sinc_diff_(k: int, x: Array) -> Array:
    """Return the k-th derivative of sinc: near 0 of the integral of cos(pi*x*u), else by its recurrence."""
    x = np.asarray(x, dtype=float)
    is_near = np.abs(x) < 8 + k
    near, far = np.where(is_near, x, 0.0), np.where(is_near, 8.0 + k, x)
    u, w = np.polynomial.legendre.leggauss(60)
    u, w = (u + 1) / 2, w / 2
    angle = np.pi * near[..., None] * u
    wave = (np.cos(angle), -np.sin(angle), -np.cos(angle), np.sin(angle))[k % 4]
    turn = np.pi * (far - 2 * np.round(far / 2))
    s = np.sin(turn) / (np.pi * far)
    for j in range(1, k + 1):
        s = (np.sin(turn + j * np.pi / 2) - j * s) / (np.pi * far)
    return np.where(is_near, np.sum(w * (np.pi * u) ** k * wave, -1), np.pi**k * s)


def owens_t_(h: Array, a: Array) -> Array:
    """Return Owen's T by Gauss's rule on the range that reaches its rounding error; for |a| > 1 by T(a*h, 1/a)."""
    nodes, weights = np.polynomial.legendre.leggauss(20)
    h, a = np.broadcast_arrays(np.abs(np.asarray(h, dtype=float)), np.asarray(a, dtype=float))
    b = np.abs(a)
    is_far = b > 1
    with np.errstate(all="ignore"):
        g = np.where(is_far, np.where(h == 0, 0.0, b * h), h)
        top = np.where(is_far, 1 / b, b)
        top = np.where(top * g <= 9, top, 9 / g)
        t = (top / 2)[..., None] * (1 + nodes)
        total = np.sum(weights * np.exp(-((g[..., None] * t) ** 2) / 2) / (1 + t * t), -1)
        near = np.round(16 * g) / 16
        scale = np.exp(-near * near / 2) * np.exp(-(g - near) * (g + near) / 2)
        inside = np.where(g > 40, 0.0, scale * top * total / (4 * np.pi))
        above, below = sp.erfc(h / math.sqrt(2)) / 2, sp.erfc(g / math.sqrt(2)) / 2
        value = np.where(is_far, (above + below) / 2 - above * below - inside, inside)
    return np.where(np.isnan(h + b), h + b, np.where(a < 0, -value, value))


def stirling_(a: Array) -> Array:
    """Return log(gamma(a)) minus Stirling's (a - 1/2)*log(a) - a + log(2*pi)/2."""
    u = 1 / (a * a)
    near = sp.gammaln(a) - (a - 0.5) * np.log(a) + a - math.log(2 * math.pi) / 2
    tail = 1 / 1260 - u * (1 / 1680 - u * (1 / 1188 - u * (691 / 360360 - u / 156)))
    return np.where(a < 10, near, (1 / 12 - u * (1 / 360 - u * tail)) / a)


def less_log_(u: Array, v: Array) -> Array:
    """Return u - log(v) for v = 1 + u, by a series near u = 0."""
    w = u / (2 + u)
    series = u * w - sum(2 * w ** (2 * n + 1) / (2 * n + 1) for n in range(12, 0, -1))
    return np.where(np.abs(u) < 0.3, series, u - np.where(v < 0.5, np.log(v), np.log1p(u)))


def pow_(x: Array, p: float) -> Array:
    """Return x^p; NaN for x < 0 and p not an integer, also at -inf, where NumPy returns a number."""
    return np.where((x < 0) & (p != np.round(p)), np.nan, np.power(x, p))


def betaln_(a: Array, b: Array) -> Array:
    """Return the logarithm of the beta function; NaN where a or b is negative."""
    low, high = np.minimum(a, b), np.maximum(a, b)
    with np.errstate(all="ignore"):
        ends = np.where(low > 0, -np.inf, np.where(high < np.inf, np.inf, np.nan))
        value = np.where((low == 0) | (high == np.inf), ends, sp.betaln(low, high))
    return np.where(low >= 0, value, np.nan)


def psi_gap_(k: int, a: Array, b: Array) -> Array:
    """Return psi^(k)(a) - psi^(k)(a + b), as the integral of s^k*exp(-a*s)*(1 - exp(-b*s))/(1 - exp(-s))."""
    a, b = np.broadcast_arrays(np.asarray(a, dtype=float), b)
    A, B = a[..., None], b[..., None]
    with np.errstate(all="ignore"):
        y = integral_(lambda s: s**k * np.exp(-A * s) * np.expm1(-B * s) / np.expm1(-s), 1 / a)
        y = np.where(a == np.inf, 0.0, y)
        y = np.where(b == np.inf, np.inf if k == 0 else np.abs(sp.polygamma(k, a)), y)
    y = np.where(a == 0, np.inf, y)
    is_defined = (a >= 0) & (b >= 0) & np.where(b == 0, a > 0, (b < np.inf) | (a < np.inf))
    return np.where(is_defined, y if k % 2 else -y, np.nan)


def exp_series_(i: int, j: int, c: Series) -> Series:
    """Return the power series of exp(g)/exp(g(0)) from the series c of g, up to orders i and j."""
    W, zero = {(0, 0): np.ones(())}, np.zeros(())
    for p, q in itertools.product(range(i + 1), range(j + 1)):
        if p:
            terms = itertools.product(range(1, p + 1), range(q + 1))
            W[p, q] = sum((r / p * c[r, s] * W[p - r, q - s] for r, s in terms), zero)
        elif q:
            W[0, q] = sum((s / q * c[0, s] * W[0, q - s] for s in range(1, q + 1)), zero)
    return W


def falling_series_(count: int, i: int, c: Array) -> list[Array]:
    """Return the power series, up to order i, of the product c*(c - 1)*... of `count` factors."""
    J = [np.ones_like(c), *(np.zeros_like(c) for _ in range(i))]
    for step in range(count):
        J = [J[p] * (c - step) + (J[p - 1] if p else 0) for p in range(i + 1)]
    return J


def at_end_(exponent: Array, factor: Array) -> Array:
    """Return factor*x^exponent at x = 0."""
    value = np.where(exponent == 0, factor, np.copysign(np.inf, factor))
    return np.where((factor == 0) | (exponent > 0), 0.0, value)


def gammainc_diff_(i: int, k: int, a: Array, x: Array) -> Array:
    """Return the derivative of gammainc of order i in a and k in x.

    For k > 0 it is a derivative of the density in Loader's form. For k = 0 the density is integrated over the side of x
    on which the weight of first order has one sign.
    """
    a, x = np.broadcast_arrays(np.asarray(a, dtype=float), x)
    if i == k == 0:
        return sp.gammainc(a, x)
    with np.errstate(all="ignore"):
        prefix = np.sqrt(a / (2 * np.pi)) * np.exp(-a * less_log_((x - a) / a, x / a) - stirling_(a))
        prefix = np.where((x == 0) | (x == np.inf), 0.0, prefix)
        c = {(p, 0): -sp.polygamma(p - 1, a) / math.factorial(p) for p in range(1, i + 1)}
        c[1, 0] = np.log(x / a) + stirling_slope_(a)
        if k:
            W, y = exp_series_(i, 0, c), np.zeros(())
            for m, p in itertools.product(range(k), range(i + 1)):
                J = falling_series_(m, i, a - 1)[i - p]
                factor = (-1) ** (k - 1 - m) * math.comb(k - 1, m) * J * W[p, 0]
                term = np.where(x == 0, at_end_(a - 1 - m, factor / sp.gamma(a)), prefix * factor / x ** (m + 1))
                y = y + np.where((J == 0) | (x == np.inf), 0.0, term)
        else:
            side = np.where(c[1, 0] < 0, -1.0, 1.0)
            C = {key: v[..., None] for key, v in c.items()}

            def weighted(s: Array) -> Array:
                t = side[..., None] * s
                slope = np.where(np.abs(t) < 1e-3, t * t / 2 + t**3 / 6 + t**4 / 24 + t**5 / 120, np.expm1(t) - t)
                weight = exp_series_(i, 0, C | {(1, 0): C[1, 0] + t})[i, 0]
                return np.exp((a - x)[..., None] * t - x[..., None] * slope) * weight

            y = -side * prefix * integral_(weighted, 1 / (np.abs(x - a) + np.sqrt(x)))
            y = np.where(x <= 1, gamma_near_(i, a, np.minimum(x, 1.0)), y)
            y = np.where((x == 0) | (x == np.inf), 0.0, y)
    y = np.where(a == np.inf, np.where(x < np.inf, 0.0, np.nan), math.factorial(i) * y)
    return np.where((a > 0) & (x >= 0), y, np.nan)


def gamma_near_(i: int, a: Array, x: Array) -> Array:
    """Return 1/i! times the i-th derivative in a, for x <= 1, of x^a/gamma(a + 1)*sum((-x)^n/n!*a/(a + n))."""
    c = {(p, 0): -sp.polygamma(p - 1, a + 1) / math.factorial(p) for p in range(1, i + 1)}
    W, total = exp_series_(i, 0, c | {(1, 0): np.log(x) - sp.psi(a + 1)}), np.zeros(())
    for n, q in itertools.product(range(25), range(i + 1)):
        part = a / (a + n) if q == 0 else -n / (a + n) / (-(a + n)) ** q if n else 0.0
        total = total + (-x) ** n / math.factorial(n) * part * W[i - q, 0]
    return total * x**a / sp.gamma(a + 1)


def stirling_slope_(a: Array) -> Array:
    """Return log(a) - digamma(a)."""
    u = 1 / (a * a)
    tail = 1 / 252 - u * (1 / 240 - u * (1 / 132 - u * 691 / 32760))
    return np.where(a < 10, np.log(a) - sp.psi(a), 0.5 / a + u * (1 / 12 - u * (1 / 120 - u * tail)))


def betainc_diff_(i: int, j: int, k: int, a: Array, b: Array, x: Array) -> Array:
    """Return the derivative of betainc of order i in a, j in b and k in x.

    For k > 0 it is a derivative of the density in Loader's form. For k = 0 the density is integrated over the side of x
    on which the weight of first order has one sign.
    """
    a, b, x = np.broadcast_arrays(np.asarray(a, dtype=float), b, x)
    if i == j == k == 0:
        return sp.betainc(a, b, x)
    with np.errstate(all="ignore"):
        y = 1 - x
        inside = (a > 0) & (a < np.inf) & (b > 0) & (b < np.inf) & (x >= 0) & (x <= 1)
        if k == 0:
            upper = x * (a + b) > a
            upper = np.log(x) > psi_gap_(0, a, b) if not j else upper
            upper = np.log1p(-x) < psi_gap_(0, b, a) if not i else upper
            upper = (x * np.maximum(b, 1) > 0.5) & (upper | (y * np.maximum(a, 1) <= 0.5))
            left = beta_left_(i, j, *(np.where(upper, 0.5, v) for v in (a, b, x, y)))
            right = beta_left_(j, i, *(np.where(upper, v, 0.5) for v in (b, a, y, x)))
            Y = np.where((x == 0) | (x == 1), 0.0, np.where(upper, -right, left))
            return np.where(inside, Y, np.nan)
        prefix, c = beta_density_(i, j, a, b, x, y)
        W, Y = exp_series_(i, j, c), np.zeros(())
        for m, p, q in itertools.product(range(k), range(i + 1), range(j + 1)):
            J = falling_series_(m, i, a - 1)[i - p] * falling_series_(k - 1 - m, j, b - 1)[j - q]
            factor = (-1) ** (k - 1 - m) * math.comb(k - 1, m) * J * W[p, q]
            end = at_end_(np.where(x == 0, a - 1 - m, b - k + m), factor * np.exp(-sp.betaln(a, b)))
            term = np.where((x == 0) | (x == 1), end, prefix * factor / (x ** (m + 1) * y ** (k - m)))
            Y = Y + np.where(J == 0, 0.0, term)
    return np.where(inside, math.factorial(i) * math.factorial(j) * Y, np.nan)


def beta_density_(i: int, j: int, a: Array, b: Array, x: Array, y: Array) -> tuple[Array, Series]:
    """Return x^a*y^b/beta(a, b), where y = 1 - x, and the power series of its logarithm in a and b."""
    n, d = a + b, b * x - a * y
    power = a * less_log_(d / a, x / a * n) + b * less_log_(-d / b, y / b * n)
    prefix = np.sqrt(a / n * b / (2 * np.pi)) * np.exp(stirling_(n) - stirling_(a) - stirling_(b) - power)
    c = {(p, 0): -psi_gap_(p - 1, a, b) / math.factorial(p) for p in range(1, i + 1)}
    c |= {(0, q): -psi_gap_(q - 1, b, a) / math.factorial(q) for q in range(1, j + 1)}
    for p, q in itertools.product(range(1, i + 1), range(1, j + 1)):
        c[p, q] = sp.polygamma(p + q - 1, n) / (math.factorial(p) * math.factorial(q))
    if i:
        c[1, 0] = c[1, 0] + np.where(x < 0.5, np.log(x), np.log1p(-y))
    if j:
        c[0, 1] = c[0, 1] + np.where(y < 0.5, np.log(y), np.log1p(-x))
    return prefix, c


def beta_left_(i: int, j: int, a: Array, b: Array, x: Array, y: Array) -> Array:
    """Return the derivative of betainc in a and b, integrated from 0 to x over points with odds x/y*exp(-s)."""
    is_near = x * np.maximum(b, 1) <= 0.5
    prefix, c = beta_density_(i, j, a, b, x, y)
    c = {key: v[..., None] for key, v in c.items()}

    def weighted(s: Array) -> Array:
        D, d = np.log1p(x[..., None] * np.expm1(-s)), dict(c)
        if i:
            d[1, 0] = c[1, 0] - s - D
        if j:
            d[0, 1] = c[0, 1] - D
        return np.exp(-a[..., None] * s - (a + b)[..., None] * D) * exp_series_(i, j, d)[i, j]

    scale = 1 / (np.abs(a - (a + b) * x) + np.sqrt((a + b) * x * y))
    near = beta_near_(i, j, a, b, np.where(is_near, x, 0.5), np.where(is_near, y, 0.5))
    return math.factorial(i) * math.factorial(j) * np.where(is_near, near, prefix * integral_(weighted, scale))


def beta_near_(i: int, j: int, a: Array, b: Array, x: Array, y: Array) -> Array:
    """Return 1/(i!*j!) times the derivative of betainc in a and b, for small b*x.

    betainc is x^a/(a*beta(a, b))*sum((1 - b)*...*(n - b)/n!*x^n*a/(a + n)).
    """
    prefix, c = beta_density_(i, j, a, b, x, y)
    for p in range(1, i + 1):
        c[p, 0] = (sp.polygamma(p - 1, a + b) - sp.polygamma(p - 1, a + 1)) / math.factorial(p)
    if i:
        c[1, 0] = c[1, 0] + np.where(x < 0.5, np.log(x), np.log1p(-y))
    if j:
        c[0, 1] = -psi_gap_(0, b, a)
    W, C, total = exp_series_(i, j, c), falling_series_(0, j, b), np.zeros(())
    for n in range(60):
        for p, q in itertools.product(range(i + 1), range(j + 1)):
            part = a / (a + n) if p == 0 else -n / (a + n) / (-(a + n)) ** p if n else 0.0
            total = total + C[q] * part * W[i - p, j - q]
        C = [(C[q] * (n + 1 - b) - (C[q - 1] if q else 0)) / (n + 1) * x for q in range(j + 1)]
    return total * prefix / a / y**b


def lambertw_(x: Array) -> Array:
    """Return the w >= -1 with w*exp(w) = x; -1 at the float64 nearest to -1/e, NaN below it."""
    end = -0.36787944117144233
    return np.where(x < end, np.nan, np.where(x == end, -1.0, sp.lambertw(np.where(x == end, 0.0, x)).real))


def mod_(x: Array, y: Array) -> Array:
    """Return x minus y times the quotient rounded down; of complex numbers the real parts decide."""
    if not np.iscomplexobj(x) and not np.iscomplexobj(y):
        return np.mod(x, y)
    return x - y * np.floor_divide(np.real(x), np.real(y))
