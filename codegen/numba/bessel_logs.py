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


@njit(**EXACT)
def log_besseli(k, x):
    """log(besseli(k, x)), k >= 0: by the power series for small x, else by the scaled function."""
    if not (k >= 0.0 and x >= 0.0):
        return math.nan
    if x == math.inf:
        return x
    if x * x >= 4.0 * (k + 1.0):
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
    if x >= 4.0:
        return 1.0 if x == math.inf else ive(k + 1.0, x) / ive(k, x)
    above, below, term, other = 1.0, 1.0, 1.0, 1.0
    for m in range(1, 40):
        term *= 0.25 * x * x / (m * (k + 1.0 + m))
        other *= 0.25 * x * x / (m * (k + m))
        above += term
        below += other
    return 0.5 * x / (k + 1.0) * above / below


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
