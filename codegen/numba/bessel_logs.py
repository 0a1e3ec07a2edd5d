"""The logarithm of a modified Bessel function and its derivatives.

These are cumulants of cos(t) under exp(x*cos(t))*sin(t)^(2*k), t from 0 to pi (DLMF 10.32.2).
"""

import math

import numpy as np
from numba import njit

from matcalc.codegen.numba.call import EXACT, special_function
from matcalc.codegen.numba.gauss import NODES_40, WEIGHTS_40
from matcalc.codegen.numba.special import gammaln

ive = special_function("ive", 2)


def debye_polynomials():
    """Return the coefficients of the polynomials U and V in p, DLMF 10.41.9 to 10.41.11: a row for each order."""
    U, V = np.zeros((8, 22)), np.zeros((8, 22))
    U[0, 0] = V[0, 0] = 1.0
    for n in range(7):
        for m in range(20):
            u = U[n, m]
            U[n + 1, m + 1] += u * (0.5 * m + 0.125 / (m + 1))
            V[n + 1, m + 1] += u * (0.5 * m + 0.125 / (m + 1) - 0.5 - m)
            if m + 3 < 22:
                U[n + 1, m + 3] += u * (-0.5 * m - 0.625 / (m + 3))
                V[n + 1, m + 3] += u * (-0.5 * m - 0.625 / (m + 3) + 0.5 + m)
    return U, V


DEBYE_U = debye_polynomials()[0]
DEBYE_V = debye_polynomials()[1]


@njit(**EXACT)
def log_besseli(k, x):
    """log(besseli(k, x)), k >= 0: by series for small x, by Debye for large k, else by the scaled function."""
    if not (k >= 0.0 and x >= 0.0):
        return math.nan
    if x == math.inf:
        return x
    if x * x >= 4.0 * (k + 1.0):
        if k >= 100.0:
            root = math.sqrt(1.0 + (x / k) * (x / k))
            power = k * (root + math.log(x / k / (1.0 + root)))
            return power - 0.5 * math.log(2.0 * math.pi * k * root) + math.log(debye_sum(DEBYE_U, k, root))
        return math.log(ive(k, x)) + x
    term, series = 1.0, 0.0
    for m in range(1, 40):
        term *= 0.25 * x * x / (m * (k + m))
        series += term
    power = 0.0 if k == 0.0 else k * math.log(0.5 * x) - gammaln(k + 1.0)
    return power + math.log1p(series)


@njit(**EXACT)
def log_besseli_diff(order, k, x):
    """Return the j-th derivative of log(besseli(k, x)) in x."""
    if not (k >= 0.0 and x >= 0.0):
        return math.nan
    own = 0.0
    if k > 0.0:
        own = k / x
        for j in range(1, int(order)):
            own *= -j / x
    if order == 1.0:
        return own + bessel_ratio(k, x)
    return own + (0.0 if x > 1e150 else cosine_cumulant(int(order), k, x))


@njit(**EXACT)
def bessel_ratio(k, x):
    """besseli(k + 1, x)/besseli(k, x); for x < 4 by power series."""
    if x == math.inf:
        return 1.0
    if x >= 4.0:
        return ratio_of_large_orders(k, x) if k >= 100.0 else ive(k + 1.0, x) / ive(k, x)
    above, below, term, other = 1.0, 1.0, 1.0, 1.0
    for m in range(1, 40):
        term *= 0.25 * x * x / (m * (k + 1.0 + m))
        other *= 0.25 * x * x / (m * (k + m))
        above += term
        below += other
    return 0.5 * x / (k + 1.0) * above / below


@njit(**EXACT)
def ratio_of_large_orders(k, x):
    """besseli(k + 1, x)/besseli(k, x) for k >= 100: by its recurrence if x < k, else by Debye's expansion."""
    if x >= k:
        root = math.sqrt(1.0 + (x / k) * (x / k))
        return root * k / x * debye_sum(DEBYE_V, k, root) / debye_sum(DEBYE_U, k, root) - k / x
    start = k + 20.0
    ratio = x / (start + 0.5 + math.sqrt((start + 1.5) * (start + 1.5) + x * x))
    for n in range(20, 0, -1):
        ratio = 1.0 / (2.0 * (k + n) / x + ratio)
    return ratio


@njit(**EXACT)
def debye_sum(terms, k, root):
    """Sum of terms[n](1/root)/k^n."""
    p, total, power = 1.0 / root, 0.0, 1.0
    for n in range(terms.shape[0]):
        value = 0.0
        for m in range(terms.shape[1] - 1, -1, -1):
            value = value * p + terms[n, m]
        total += value * power
        power /= k
    return total


@njit(**EXACT)
def cosine_cumulant(count, k, x):
    """Return the cumulant of this order (at least 2) of cos(t), from central moments by Gauss's rule."""
    ratio = bessel_ratio(k, x)
    low, high = 0.0, math.pi * min(1.0, math.sqrt((20.0 + 4.0 * math.sqrt(k) + 2.0 * k) / max(x, 1e-300)))
    if k > 5.0:
        peak = math.acos(ratio)
        width = 9.5 / math.sqrt(2.0 * k / (1.0 - ratio * ratio) + x * ratio)
        low, high = max(peak - width, 0.0), min(peak + width, math.pi)
    top = 0.0 if k == 0.0 else k * math.log(max(1.0 - ratio * ratio, 1e-300)) + x * ratio - x
    values, weights = np.empty(80), np.empty(80)
    place, total, mean = 0, 0.0, 0.0
    for panel in range(2):
        for n in range(20):
            for side in (-1.0, 1.0):
                v = 0.5 * (panel + 0.5 + 0.5 * side * NODES_40[n])
                t = min(low + (high - low) * v * v * (3.0 - 2.0 * v), math.pi)
                s = math.sin(0.5 * t)
                c = 2.0 * s * s
                log_weight = (0.0 if k == 0.0 else 2.0 * k * math.log(math.sin(t))) - x * c - top
                weight = WEIGHTS_40[n] * v * (1.0 - v) * math.exp(log_weight)
                values[place], weights[place] = c, weight
                total += weight
                mean += weight * c
                place += 1
    mean /= total
    moments, cumulants = np.zeros(count + 1), np.zeros(count + 1)
    for n in range(80):
        power = weights[n] / total
        for m in range(count + 1):
            moments[m] += power
            power *= mean - values[n]
    for n in range(2, count + 1):
        cumulants[n], binomial = moments[n], float(n - 1)
        for i in range(2, n):
            cumulants[n] -= binomial * cumulants[i] * moments[n - i]
            binomial *= (n - i) / i
    return cumulants[count]
