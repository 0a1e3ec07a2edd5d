"""Families that are closed under differentiation: `f_diff(k, x)` is the k-th derivative of f, accurate to rounding.

Their formulas do not cancel where the textbook's do: repeated integrals of erfc (DLMF 7.18), the Taylor series of sinc
near 0, cumulants of a truncated normal distribution.
"""

import math

import numpy as np
from numba import njit

from matcalc.codegen.numba.call import EXACT, special_function
from matcalc.codegen.numba.elementary import SCALAR, count_of, rint
from matcalc.codegen.numba.quotients import sine_series
from matcalc.codegen.numba.special import dawsn, gamma

erfcx = special_function("erfcx", 1)


@njit(**EXACT)
def erfc_ratios(x, ratios):
    """Compute E_k/E_(k - 1), k = 1, 2, ..., for E_k = exp(x^2) times the k-th integral of erfc (DLMF 7.18.7)."""
    count = ratios.shape[0]
    if x < 0.0:
        above, here = 1.1283791670955126, erfcx(x)
        for k in range(1, count + 1):
            above, here = here, (above - 2.0 * x * here) / (2.0 * k)
            ratios[k - 1] = here / above
    elif x < 0.5:
        last = 1.0
        for k in range(count + 1):
            even, odd = 1.0 / gamma(0.5 * k + 1.0), -x * (k + 1.0) / gamma(0.5 * k + 1.5)
            total, scale = 0.0, 2.0 * x * x
            for m in range(0, 80, 2):
                total += even + odd
                even *= scale * (k + m + 1.0) / ((m + 1.0) * (m + 2.0))
                odd *= scale * (k + m + 2.0) / ((m + 2.0) * (m + 3.0))
            if k > 0:
                ratios[k - 1] = 0.5 * total / last
            last = total
    else:
        top = count + 30 + count_of(200.0 / min(x * x, 1e3)) if x > 0.0 else count
        ratio = 1.0 / (x + math.sqrt(x * x + 2.0 * (top + 1.0)))
        for k in range(top, 0, -1):
            ratio = 1.0 / (2.0 * x + 2.0 * (k + 1.0) * ratio)
            if k <= count:
                ratios[k - 1] = ratio


@njit(**EXACT)
def erfcx_diff(order, x):
    """Return the k-th derivative of erfcx: (-2)^k k! times exp(x^2) times the k-th integral of erfc."""
    ratios = np.empty(int(order))
    erfc_ratios(x, ratios)
    y = erfcx(x)
    for k in range(ratios.shape[0]):
        y *= -1.0 if abs(y) == math.inf else -2.0 * (k + 1.0) * ratios[k]
    return y


@njit(**EXACT)
def dawsn_diff(order, x):
    """Return the k-th derivative of dawsn: by recurrence near 0, far out by the asymptotic series, else by samples.

    The samples are Rybicki's: the sum over odd n of exp(-(x - n*h)^2)/n, over sqrt(pi), is exact to rounding.
    """
    if order == 0.0:
        return dawsn(x)
    if math.isnan(x):
        return x
    count, z = int(order), abs(x)
    total = 0.0
    if z < 1.0:
        before, total = dawsn(z), 1.0 - 2.0 * z * dawsn(z)
        for n in range(1, count):
            before, total = total, -2.0 * z * total - 2.0 * n * before
    elif z < 7.0:
        middle = 2.0 * rint(2.0 * z)
        for j in range(52):
            n = middle + 2.0 * j - 51.0
            u = z - 0.25 * n
            before, here = 1.0, -2.0 * u
            for k in range(1, count):
                before, here = here, -2.0 * u * here - 2.0 * k * before
            total += here * math.exp(-u * u) / n
        total *= 0.5641895835477563
    else:
        term = 0.5 / z
        for n in range(1, count + 1):
            term *= -n / z
        for j in range(24):
            total += term
            term *= (2.0 * j + 1.0 + order) / z * ((2.0 * j + 2.0 + order) / z) / (4.0 * (j + 1.0))
    return total if x > 0.0 or count % 2 == 1 else -total


@njit(**EXACT)
def log_ndtr_diff(order, x):
    """Return the k-th derivative, k > 0, of log_ndtr: by cumulants in the left tail, else by h' = -h*(x + h)."""
    count = int(order)
    d = np.empty(count)
    if x < -1.0:
        ratios, moments = np.empty(count), np.empty(count)
        erfc_ratios(-0.7071067811865476 * x, ratios)
        moment = 1.0
        for n in range(count):
            moment *= (n + 1.0) * 1.4142135623730951 * ratios[n]
            moments[n] = moment
        for n in range(count):
            d[n], binomial = moments[n], 1.0
            for j in range(n):
                d[n] -= binomial * d[j] * moments[n - 1 - j]
                binomial *= (n - j) / (j + 1.0)
        if count == 1:
            return d[0] - x
        return d[1] - 1.0 if count == 2 else d[count - 1]
    d[0] = 0.7978845608028654 / erfcx(-0.7071067811865476 * x)
    for n in range(count - 1):
        total, binomial = 0.0, 1.0
        for j in range(n + 1):
            other = d[n - j] + (x if j == n else (1.0 if j == n - 1 else 0.0))
            total += binomial * d[j] * other
            binomial *= (n - j) / (j + 1.0)
        d[n + 1] = -total
    return d[count - 1]


@njit(**SCALAR)
def sin_pi(x):
    """sin(pi*x), 0 at integers."""
    r = x - 2.0 * rint(0.5 * x)
    r = math.copysign(1.0, r) - r if abs(r) > 0.5 else r
    return math.sin(3.141592653589793 * r)


@njit(**SCALAR)
def sinc(x):
    """sin(pi*x)/(pi*x), 1 at 0, 0 at other integers."""
    return 1.0 if x == 0.0 else sin_pi(x) / (3.141592653589793 * x)


@njit(**SCALAR)
def sinc_diff(order, x):
    """Return the k-th derivative of sinc: Taylor's series near 0, y*S_k + k*S_(k - 1) = sin_k(y) away from it."""
    y = 3.141592653589793 * x
    count = int(order)
    scale = math.pow(3.141592653589793, order)
    if abs(y) < max(1.0, 0.5 * order):
        return scale * sine_series(count, y)
    total = sinc(x)
    for k in range(1, count + 1):
        total = (sin_pi(x + 0.5 * k) - k * total) / y
    return scale * total
