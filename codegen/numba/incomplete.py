"""The incomplete gamma and beta functions and the log of the beta function, with all derivatives in all arguments.

A derivative in a parameter is that of a power series near the ends. Elsewhere the differentiated density is integrated
over the side where the weight of first order has one sign, so that it does not cancel. The densities have Loader's form
(Fast and accurate computation of binomial probabilities, 2000). Mixed derivatives are coefficients of a power series:
c[p, q] belongs to the p-th derivative in a and the q-th in b.
"""

import math

import numpy as np
from numba import njit

from matcalc.codegen.numba.call import EXACT, special_function
from matcalc.codegen.numba.elementary import SCALAR
from matcalc.codegen.numba.special import EULER_MACLAURIN, digamma, gamma, gammaln, polygamma

betainc = special_function("betainc", 3)
gammainc = special_function("gammainc", 2)
gammaincc = special_function("gammaincc", 2)


@njit(**SCALAR)
def stirling(a):
    """log(gamma(a)) minus Stirling's (a - 1/2)*log(a) - a + log(2*pi)/2, for a >= 10."""
    u = 1.0 / (a * a)
    tail = 1.0 / 1680.0 - u * (1.0 / 1188.0 - u * (691.0 / 360360.0 - u / 156.0))
    return (1.0 / 12.0 - u * (1.0 / 360.0 - u * (1.0 / 1260.0 - u * tail))) / a


@njit(**SCALAR)
def digamma_less_log(a):
    """digamma(a) - log(a)."""
    if a < 10.0:
        return digamma(a) - math.log(a)
    u = 1.0 / (a * a)
    tail = 1.0 / 240.0 - u * (1.0 / 132.0 - u * 691.0 / 32760.0)
    return -0.5 / a - u * (1.0 / 12.0 - u * (1.0 / 120.0 - u * (1.0 / 252.0 - u * tail)))


@njit(**SCALAR)
def less_log(u, v):
    """u - log(v) for v = 1 + u, by a series near u = 0."""
    if abs(u) >= 0.3:
        return u - math.log(v) if v < 0.5 else u - math.log1p(u)
    w = u / (2.0 + u)
    square, tail = w * w, 0.0
    for n in range(12, 0, -1):
        tail = square * (tail + 2.0 / (2.0 * n + 1.0))
    return u * w - w * tail


@njit(**SCALAR)
def less_line(u):
    """exp(u) - 1 - u, by a series near 0."""
    if abs(u) >= 0.5:
        return math.expm1(u) - u
    total = 0.0
    for n in range(18, 2, -1):
        total = (total + 1.0) * u / n
    return 0.5 * u * u * (1.0 + total)


@njit(**SCALAR)
def betaln(a, b):
    """log of the beta function of positive arguments; large arguments use Stirling's formula."""
    if not (a >= 0.0 and b >= 0.0):
        return math.nan
    low, high = min(a, b), max(a, b)
    if high == math.inf:
        return math.nan if low == 0.0 else -math.inf
    if low == 0.0:
        return math.inf
    n = low + high
    if high < 10.0:
        return gammaln(low) + gammaln(high) - gammaln(n)
    r = (high - 0.5) * math.log1p(low / high)
    if low < 10.0:
        return gammaln(low) - r - low * math.log(n) + low - (stirling(n) - stirling(high))
    ratio = low / high
    middle = -r + low * (math.log(ratio) - math.log1p(ratio))
    return 0.5 * math.log(6.283185307179586 / low) + middle + stirling(low) + stirling(high) - stirling(n)


@njit(**SCALAR)
def psi_gap(k, a, b):
    """Return the k-th derivative of digamma at a minus that at a + b, by Euler-Maclaurin sums, term by term."""
    if not (a >= 0.0 and b >= 0.0):
        return math.nan
    sign = 1.0 if k % 2.0 == 1.0 else -1.0
    if a == 0.0 or b == math.inf:
        if b == 0.0 or a == math.inf:
            return math.nan
        return sign * math.inf if a == 0.0 or k == 0.0 else polygamma(k, a)
    s, total = k + 1.0, 0.0
    while a < 10.0 + s:
        total -= math.pow(a, -s) * math.expm1(-s * math.log1p(b / a))
        a += 1.0
    log = math.log1p(b / a)
    total += log if k == 0.0 else -math.pow(a, -k) * math.expm1(-k * log) / k
    total -= 0.5 * math.pow(a, -s) * math.expm1(-s * log)
    factor = s
    for c in EULER_MACLAURIN:
        total -= c * factor * math.pow(a, -s - 1.0) * math.expm1(-(s + 1.0) * log)
        factor *= (s + 1.0) * (s + 2.0)
        s += 2.0
    return sign * total * gamma(k + 1.0)


@njit(**EXACT)
def exp_series(c, W):
    """W = the power series of exp(g)/exp(g(0)), from the series c of g."""
    for p in range(c.shape[0]):
        for q in range(c.shape[1]):
            total = 1.0 if p + q == 0 else 0.0
            for r in range(p + 1):
                for s in range(q + 1):
                    if p > 0 and r > 0:
                        total += r * c[r, s] * W[p - r, q - s] / p
                    if p == 0 and s > 0:
                        total += s * c[r, s] * W[p, q - s] / q
            W[p, q] = total


@njit(**EXACT)
def falling_series(count, c, J):
    """J = the power series of c*(c - 1)*... of `count` factors."""
    J[:] = 0.0
    J[0] = 1.0
    for step in range(count):
        for p in range(J.shape[0] - 1, 0, -1):
            J[p] = J[p] * (c - step) + J[p - 1]
        J[0] *= c - step


@njit(**EXACT)
def at_end(exponent, factor):
    """factor*x^exponent at x = 0."""
    if factor == 0.0 or exponent > 0.0:
        return 0.0
    return factor if exponent == 0.0 else math.copysign(math.inf, factor)


@njit(**EXACT)
def gamma_prefix(a, x):
    """x^a*exp(-x)/gamma(a)."""
    if x == 0.0 or x == math.inf:
        return 0.0
    if a >= 10.0:
        u = (x - a) / a
        return math.sqrt(a / 6.283185307179586) * math.exp(-a * less_log(u, x / a) - stirling(a))
    if x > 800.0:
        return math.exp(a * math.log(x) - x - gammaln(a))
    half = math.exp(-0.5 * x)
    return math.pow(x, a) * half * half * a / gamma(a + 1.0)


@njit(**EXACT)
def gamma_density_diff(i, k, a, x):
    """Return the derivative of order i in a and k in x of x^(a - 1)*exp(-x)/gamma(a)."""
    if x == math.inf:
        return 0.0
    c, W, J = np.zeros((i + 1, 1)), np.empty((i + 1, 1)), np.empty(i + 1)
    factorial = 1.0
    for p in range(1, i + 1):
        c[p, 0] = -polygamma(p - 1.0, a) / (factorial * p)
        factorial *= p
    if i > 0:
        c[1, 0] = -math.inf if x == 0.0 else math.log(x / a) - digamma_less_log(a)
    exp_series(c, W)
    total, binomial, prefix = 0.0, 1.0, gamma_prefix(a, x)
    for m in range(k + 1):
        falling_series(m, a - 1.0, J)
        sign = 1.0 if (k - m) % 2 == 0 else -1.0
        for p in range(i + 1):
            if J[i - p] != 0.0:
                factor = sign * binomial * J[i - p] * W[p, 0]
                if x == 0.0:
                    total += at_end(a - 1.0 - m, factor / gamma(a))
                else:
                    total += prefix * factor / math.pow(x, m + 1.0)
        binomial *= (k - m) / (m + 1.0)
    return total * factorial


@njit(**EXACT)
def gammainc_diff(order_a, order_x, a, x):
    """Return the derivative of gammainc of these orders: by the density, a power series or an integral."""
    i = int(order_a)
    if i == 0 and order_x == 0.0:
        return gammainc(a, x)
    if not (a > 0.0 and x >= 0.0):
        return math.nan
    if a == math.inf:
        return 0.0 if x < math.inf else math.nan
    if order_x > 0.0:
        return gamma_density_diff(i, int(order_x) - 1, a, x)
    if x == 0.0 or x == math.inf:
        return 0.0
    c, W = np.zeros((i + 1, 1)), np.empty((i + 1, 1))
    near = x <= 1.0
    factorial = 1.0
    for p in range(1, i + 1):
        c[p, 0] = -polygamma(p - 1.0, a + 1.0 if near else a) / (factorial * p)
        factorial *= p
    if near:
        c[1, 0] += math.log(x)
        exp_series(c, W)
        total, power = W[i, 0], 1.0
        for n in range(1, 25):
            power *= -x / n
            part = -n / (a + n)
            total += power * W[i, 0] * (a / (a + n))
            for q in range(1, i + 1):
                part /= -(a + n)
                total += power * W[i - q, 0] * part
        return factorial * total * math.pow(x, a) / gamma(a + 1.0)
    log = math.log(x / a) - digamma_less_log(a)
    side = -1.0 if log < 0.0 else 1.0
    scale = 1.0 / (abs(x - a) + math.sqrt(x))
    total = 0.0
    for node in range(-64, 80):
        t = node / 16.0
        below = math.exp(-t)
        s = scale * math.exp(t - below)
        c[1, 0] = log + side * s
        exp_series(c, W)
        total += W[i, 0] * math.exp((a - x) * side * s - x * less_line(side * s)) * s * (1.0 + below)
    return -side * factorial * gamma_prefix(a, x) * total / 16.0


@njit(**EXACT)
def beta_prefix(a, b, x, y):
    """x^a*y^b/beta(a, b) for y = 1 - x."""
    if x == 0.0 or y == 0.0:
        return 0.0
    if a < 10.0 or b < 10.0:
        log_x = math.log(x) if x < 0.5 else math.log1p(-y)
        log_y = math.log(y) if y < 0.5 else math.log1p(-x)
        return math.exp(a * log_x + b * log_y - betaln(a, b))
    n = a + b
    d = b * x - a * y
    power = a * less_log(d / a, x / a * n) + b * less_log(-d / b, y / b * n)
    return math.sqrt(a / n * b / 6.283185307179586) * math.exp(-power - stirling(a) - stirling(b) + stirling(n))


@njit(**EXACT)
def beta_logs(a, b, log_x, log_y, c):
    """c = the power series in a and b of the log of the beta density, from (log_x, log_y)."""
    c[0, 0] = 0.0
    factor = 1.0
    for p in range(c.shape[0]):
        each = factor
        for q in range(c.shape[1]):
            if p > 0 and q > 0:
                c[p, q] = polygamma(p + q - 1.0, a + b) / each
            elif p > 0:
                c[p, q] = -psi_gap(p - 1.0, a, b) / each
            elif q > 0:
                c[p, q] = -psi_gap(q - 1.0, b, a) / each
            each *= q + 1.0
        factor *= p + 1.0
    if c.shape[0] > 1:
        c[1, 0] += log_x
    if c.shape[1] > 1:
        c[0, 1] += log_y


@njit(**EXACT)
def beta_density_diff(i, j, k, a, b, x):
    """Return the derivative of order i in a, j in b, k in x of x^(a - 1)*(1 - x)^(b - 1)/beta(a, b)."""
    y = 1.0 - x
    c, W, A, B = np.empty((i + 1, j + 1)), np.empty((i + 1, j + 1)), np.empty(i + 1), np.empty(j + 1)
    ends = x == 0.0 or y == 0.0
    log_x = -math.inf if x == 0.0 else (math.log(x) if x < 0.5 else math.log1p(-y))
    beta_logs(a, b, log_x, -math.inf if y == 0.0 else math.log1p(-x), c)
    exp_series(c, W)
    total, binomial, prefix = 0.0, 1.0, beta_prefix(a, b, x, y)
    for m in range(k + 1):
        falling_series(m, a - 1.0, A)
        falling_series(k - m, b - 1.0, B)
        sign = 1.0 if (k - m) % 2 == 0 else -1.0
        for p in range(i + 1):
            for q in range(j + 1):
                if A[i - p] * B[j - q] != 0.0:
                    factor = sign * binomial * A[i - p] * B[j - q] * W[p, q]
                    if ends:
                        exponent = a - 1.0 - m if x == 0.0 else b - 1.0 - k + m
                        total += at_end(exponent, factor * math.exp(-betaln(a, b)))
                    else:
                        total += prefix * factor / (math.pow(x, m + 1.0) * math.pow(y, k - m + 1.0))
        binomial *= (k - m) / (m + 1.0)
    return total * gamma(i + 1.0) * gamma(j + 1.0)


@njit(**EXACT)
def beta_left(i, j, a, b, x, y):
    """Return the derivative of betainc in a and b, from 0 to x, by a power series for small b*x or an integral."""
    n = a + b
    c, W = np.empty((i + 1, j + 1)), np.empty((i + 1, j + 1))
    log_x = math.log(x) if x < 0.5 else math.log1p(-y)
    beta_logs(a, b, log_x, math.log(y) if y < 0.5 else math.log1p(-x), c)
    factorials = gamma(i + 1.0) * gamma(j + 1.0)
    total = 0.0
    if x * max(b, 1.0) <= 0.5:
        factor = 1.0
        for p in range(1, i + 1):
            c[p, 0] = (polygamma(p - 1.0, n) - polygamma(p - 1.0, a + 1.0)) / (factor * p)
            factor *= p
        if i > 0:
            c[1, 0] += log_x
        if j > 0:
            c[0, 1] = -psi_gap(0.0, b, a)
        exp_series(c, W)
        C = np.zeros(j + 1)
        C[0] = 1.0
        total = W[i, j]
        for m in range(1, 60):
            for q in range(j, -1, -1):
                C[q] = (C[q] * (m - b) - (C[q - 1] if q > 0 else 0.0)) / m * x
            for q in range(j + 1):
                total += C[q] * W[i, j - q] * (a / (a + m))
                part = -m / (a + m)
                for p in range(1, i + 1):
                    part /= -(a + m)
                    total += C[q] * W[i - p, j - q] * part
        return factorials * total * math.exp(a * log_x - betaln(a, b)) / a
    slope, other = (c[1, 0] if i > 0 else 0.0), (c[0, 1] if j > 0 else 0.0)
    scale = 1.0 / (abs(a - n * x) + math.sqrt(n * x * y))
    for node in range(-64, 80):
        t = node / 16.0
        below = math.exp(-t)
        s = scale * math.exp(t - below)
        D = math.log1p(x * math.expm1(-s))
        if i > 0:
            c[1, 0] = slope - s - D
        if j > 0:
            c[0, 1] = other - D
        exp_series(c, W)
        total += W[i, j] * math.exp(-a * s - n * D) * s * (1.0 + below)
    return factorials * beta_prefix(a, b, x, y) * total / 16.0


@njit(**EXACT)
def betainc_diff(order_a, order_b, order_x, a, b, x):
    """Return the derivative of betainc of these orders: by the density, a power series or an integral."""
    i, j = int(order_a), int(order_b)
    if i + j == 0 and order_x == 0.0:
        return betainc(a, b, x)
    if not (a > 0.0 and b > 0.0 and x >= 0.0 and x <= 1.0 and a < math.inf and b < math.inf):
        return math.nan
    if order_x > 0.0:
        return beta_density_diff(i, j, int(order_x) - 1, a, b, x)
    if x == 0.0 or x == 1.0:
        return 0.0
    y = 1.0 - x
    upper = x * (a + b) > a
    if j == 0:
        upper = math.log(x) > psi_gap(0.0, a, b)
    elif i == 0:
        upper = math.log1p(-x) < psi_gap(0.0, b, a)
    if not (x * max(b, 1.0) <= 0.5) and (upper or y * max(a, 1.0) <= 0.5):
        return -beta_left(j, i, b, a, y, x)
    return beta_left(i, j, a, b, x, y)
