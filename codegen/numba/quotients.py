"""Quotients with a removable singularity, and their derivatives of every order.

Each is f(x) = g(x)/x for a function g with g(0) = 0. Away from 0 the derivatives follow from x*f_k + k*f_(k - 1) = g_k,
near 0 from a power series.
"""

import math

import numpy as np
from numba import njit

from matcalc.codegen.numba.call import EXACT
from matcalc.codegen.numba.circular import vsin
from matcalc.codegen.numba.elementary import INLINED, vexp, vexpm1, vlog1p, vtanh


@njit(**INLINED)
def sinc1(x):
    """sin(x)/x, 1 at 0."""
    return 1.0 if x == 0.0 else vsin(x) / x


@njit(**INLINED)
def log1pc(x):
    """log(1 + x)/x, 1 at 0, 0 at infinity."""
    y = vlog1p(x) / x
    y = 0.0 if x == math.inf else y
    return 1.0 if x == 0.0 else y


@njit(**INLINED)
def expm1c(x):
    """(exp(x) - 1)/x, 1 at 0."""
    return 1.0 if x == 0.0 else vexpm1(x) / x


@njit(**INLINED)
def tanhc(x):
    """tanh(x)/x, 1 at 0."""
    return 1.0 if x == 0.0 else vtanh(x) / x


@njit(**INLINED)
def xexp(x):
    """x*exp(x), 0 at -inf."""
    return 0.0 if x == -math.inf else x * vexp(x)


@njit(**INLINED)
def xexpm1(x):
    """x/(exp(x) - 1), 1 at 0, without overflow."""
    y = abs(x)
    quotient = (1.7e308 if y > 1.7e308 and x > 0.0 else y) / -vexpm1(-y)
    return 1.0 if x == 0.0 else (quotient * vexp(-y) if x > 0.0 else quotient)


@njit(**EXACT)
def sine_series(order, x):
    """Return the order-th derivative of sin(x)/x by its power series, for |x| < max(1, order/2)."""
    odd = order % 2
    term = 1.0 if (order + odd) % 4 == 0 else -1.0
    term *= x if odd else 1.0
    total, power = 0.0, 0
    for _ in range(30):
        total += term / (power + odd + order + 1.0)
        power += 2
        term *= -x * x / ((power + odd - 1.0) * (power + odd))
    return total


@njit(**EXACT)
def sinc1_diff(order, x):
    """Return the k-th derivative of sin(x)/x."""
    count = int(order)
    if abs(x) < max(1.0, 0.5 * order):
        return sine_series(count, x)
    if abs(x) == math.inf:
        return 0.0
    s, c = math.sin(x), math.cos(x)
    f = s / x
    for k in range(1, count + 1):
        turn = k % 4
        slope = s if turn == 0 else (c if turn == 1 else (-s if turn == 2 else -c))
        f = (slope - k * f) / x
    return f


@njit(**EXACT)
def expm1c_diff(order, x):
    """Return the integral of u^k*exp(x*u) over u from 0 to 1: by a series of positive terms, or recurrences."""
    count = int(order)
    if x > 710.0:
        return math.inf
    if x > 20.0 + order:
        f = math.expm1(x) / x
        for k in range(1, count + 1):
            f = (math.exp(x) - k * f) / x
        return f
    if x < -40.0 - 2.0 * order:
        f = -1.0 / x
        for k in range(1, count + 1):
            f *= -k / x
        return f
    y = abs(x)
    if x >= 0.0:
        term, total, j = 1.0, 0.0, 0.0
        while term > 1e-18 * total or j < y:
            total += term / (order + 1.0 + j)
            j += 1.0
            term *= y / j
        return total
    term = 1.0 / (order + 1.0)
    total, j = 0.0, order + 1.0
    while term > 1e-18 * total or j < y:
        total += term
        j += 1.0
        term *= y / j
    return math.exp(x) * total if y == y else x


@njit(**EXACT)
def log1pc_diff(order, x):
    """Return the k-th derivative of log(1 + x)/x."""
    count = int(order)
    if not x > -1.0:
        return (math.inf if count % 2 == 0 else -math.inf) if x == -1.0 else math.nan
    if x == math.inf:
        return 0.0
    if abs(x) < 0.5:
        scale = 1.0
        for k in range(1, count + 1):
            scale *= -k
        total, term = 0.0, scale
        for j in range(60 + 4 * count):
            total += term / (order + 1.0 + j)
            term *= -x * (order + 1.0 + j) / (j + 1.0)
        return total
    f, slope, inverse = math.log1p(x) / x, 1.0, 1.0 / (1.0 + x)
    for k in range(1, count + 1):
        slope *= inverse if k == 1 else -(k - 1.0) * inverse
        f = (slope - k * f) / x
    return f


@njit(**EXACT)
def tanh_slopes(x, slopes):
    """Return the derivatives of tanh from order 0 on, by t' = 1 - t^2; the first one without cancellation."""
    t, c = math.tanh(x), math.cosh(min(abs(x), 400.0))
    count = slopes.shape[0]
    series = np.empty(count)
    series[0] = t
    for n in range(1, count):
        square = 0.0
        for j in range(n):
            square += series[j] * series[n - 1 - j]
        series[n] = 1.0 / (c * c) if n == 1 else -square / n
    factorial = 1.0
    for n in range(count):
        factorial *= max(n, 1)
        slopes[n] = series[n] * factorial


@njit(**EXACT)
def tanhc_diff(order, x):
    """Return the k-th derivative of tanh(x)/x; near 0 from the power series of tanh."""
    count = int(order)
    if abs(x) < 0.8:
        slopes = np.empty(count + 82)
        tanh_series(slopes)
        total, power = 0.0, 1.0
        for n in range(count, count + 80):
            factor = slopes[n + 1]
            for j in range(count):
                factor *= n - j
            total += factor * power
            power *= x
        return total
    if abs(x) == math.inf:
        return 0.0
    slopes = np.empty(count + 1)
    tanh_slopes(x, slopes)
    f = slopes[0] / x
    for k in range(1, count + 1):
        f = (slopes[k] - k * f) / x
    return f


@njit(**EXACT)
def tanh_series(series):
    """Return the power series of tanh at 0, by t' = 1 - t^2."""
    series[0] = 0.0
    for n in range(1, series.shape[0]):
        square = 0.0
        for j in range(n):
            square += series[j] * series[n - 1 - j]
        series[n] = (1.0 if n == 1 else 0.0) - square / n


@njit(**EXACT)
def xexpm1_diff(order, x):
    """Return the k-th derivative of x/(exp(x) - 1): by its power series near 0, else from f*(exp(x) - 1) = x."""
    count = int(order)
    if abs(x) == math.inf:
        return 0.0 if x > 0.0 or count > 1 else (-1.0 if count == 1 else math.inf)
    f = np.empty(count + 62)
    if abs(x) < 2.0:
        f[0] = 1.0
        for n in range(1, count + 62):
            total, term = 0.0, 0.5
            for j in range(1, n + 1):
                total -= term * f[n - j]
                term /= j + 2.0
            f[n] = total if n == 1 or n % 2 == 0 else 0.0
        total, power = 0.0, 1.0
        for n in range(count, count + 60):
            factor = f[n]
            for j in range(count):
                factor *= n - j
            total += factor * power
            power *= x
        return total
    small = math.exp(-abs(x))
    less = -math.expm1(-abs(x))
    f[0] = x * small / less if x > 0.0 else -x / less
    over = 1.0 / less if x > 0.0 else -small / less
    for k in range(1, count + 1):
        total, binomial = 0.0, 1.0
        for j in range(k):
            total += binomial * f[j]
            binomial *= (k - j) / (j + 1.0)
        own = (small / less if x > 0.0 else -1.0 / less) if k == 1 else 0.0
        f[k] = own - over * total
    return f[count]
