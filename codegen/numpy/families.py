"""sin(pi*x)/(pi*x) and its derivatives, accurate to rounding even for large x."""

import math

import numpy as np


def sin_pi(x):
    """sin(pi*x), 0 at integers."""
    r = x - 2.0 * np.rint(0.5 * x)
    return np.sin(np.pi * np.where(np.abs(r) > 0.5, np.copysign(1.0, r) - r, r))


def sinc(x):
    """sin(pi*x)/(pi*x), 1 at 0, 0 at other integers."""
    return np.where(x == 0.0, 1.0, sin_pi(x) / (np.pi * np.where(x == 0.0, 1.0, x)))


def sinc_diff(order, x):
    """Return the k-th derivative of sinc: Taylor's series near 0, y*S_k + k*S_(k - 1) = sin_k(y) away from it."""
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
