"""Families that are closed under differentiation: `f_diff(k, x)` is the k-th derivative of f, to the last digits."""

import math

import numpy as np
from scipy import special


def erfc_ratios(count, x):
    """The ratios E_k/E_(k - 1), k = 1, 2, ..., of E_k = exp(x^2) times the k-th integral of erfc (DLMF 7.18.7)."""
    ratios = []
    above, here = np.full(x.shape, 2.0 / math.sqrt(math.pi)), special.erfcx(x)
    far = np.where(x < 0.5, 0.5, x)
    ratio = 1.0 / (far + np.sqrt(far * far + 2.0 * (count + 831.0)))
    fractions = []
    for k in range(count + 830, 0, -1):
        ratio = 1.0 / (2.0 * far + 2.0 * (k + 1.0) * ratio)
        fractions.append(ratio)
    near, last = np.where((x < 0.0) | (x >= 0.5), 0.0, x), 1.0
    for k in range(count + 1):
        terms = range(60)
        series = sum((-near) ** m * (math.comb(k + m, m) / math.gamma(0.5 * (k + m) + 1.0)) for m in terms)
        if k > 0:
            above, here = here, (above - 2.0 * x * here) / (2.0 * k)
            right = np.where(x < 0.5, 0.5 * series / last, fractions[-k])
            ratios.append(np.where(x < 0.0, here / above, right))
        last = series
    return ratios


def erfcx_diff(order, x):
    """The k-th derivative of erfcx: (-2)^k k! times exp(x^2) times the k-th integral of erfc."""
    x = np.asarray(x, dtype=float)
    with np.errstate(all="ignore"):
        y = special.erfcx(x)
        for k, ratio in enumerate(erfc_ratios(int(order), x)):
            y = np.where(np.isinf(y), -y, y * (-2.0 * (k + 1.0)) * ratio)
    return y


def log_ndtr_diff(order, x):
    """The k-th derivative, k > 0, of log_ndtr: by cumulants on the left, by h' = -h*(x + h) elsewhere."""
    x = np.asarray(x, dtype=float)
    count = int(order)
    with np.errstate(all="ignore"):
        moments, moment = [], 1.0
        for n, ratio in enumerate(erfc_ratios(count, -math.sqrt(0.5) * x)):
            moment = moment * ((n + 1.0) * math.sqrt(2.0)) * ratio
            moments.append(moment)
        left = []
        for n in range(count):
            terms = (math.comb(n, j) * left[j] * moments[n - 1 - j] for j in range(n))
            left.append(moments[n] - sum(terms))
        tail = left[-1] - (x if count == 1 else float(count == 2))
        right = [math.sqrt(2.0 / math.pi) / special.erfcx(-math.sqrt(0.5) * x)]
        for n in range(count - 1):
            others = [right[m] + (x if m == 0 else float(m == 1)) for m in range(n + 1)]
            right.append(-sum(math.comb(n, j) * right[j] * others[n - j] for j in range(n + 1)))
    return np.where(x < -1.0, tail, right[-1])


def sin_pi(x):
    """sin(pi*x), 0 at integers."""
    r = x - 2.0 * np.rint(0.5 * x)
    return np.sin(np.pi * np.where(np.abs(r) > 0.5, np.copysign(1.0, r) - r, r))


def sinc(x):
    """sin(pi*x)/(pi*x), 1 at 0, 0 at other integers."""
    return np.where(x == 0.0, 1.0, sin_pi(x) / (np.pi * np.where(x == 0.0, 1.0, x)))


def sinc_diff(order, x):
    """The k-th derivative of sinc: Taylor's series near 0, y*S_k + k*S_(k - 1) = sin_k(y) away from it."""
    x = np.asarray(x, dtype=float)
    count = int(order)
    with np.errstate(all="ignore"):
        y = np.pi * x
        is_near = np.abs(y) < max(1.0, 0.5 * count)
        near, odd = np.where(is_near, y, 0.0), count % 2
        series = 0.0
        for m in range(30):
            sign = (-1.0) ** (m + (count + odd) // 2)
            power = 2 * m + odd
            series = series + sign / (math.factorial(power) * (power + count + 1.0)) * near**power
        total = sinc(x)
        for k in range(1, count + 1):
            total = (sin_pi(x + 0.5 * k) - k * total) / y
    return np.pi**count * np.where(is_near, series, total)
