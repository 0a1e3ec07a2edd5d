"""The log of a ratio of gammas at 1/a minus the log of a power of 1/a, smooth at a = 0, and its derivatives."""

from numba import njit

from matcalc.codegen.numba.call import EXACT
from matcalc.codegen.numba.differences import log_poch, poch_diff
from matcalc.codegen.numba.elementary import vlog, vlog1p
from matcalc.codegen.numba.gauss import NODES_20, WEIGHTS_20
from matcalc.codegen.numba.quotients import log1pc_diff
from matcalc.codegen.numba.special import polygamma

# Bernoulli's number B(n + 1) divided by n*(n + 1), n = 1, 3, 5...
STIRLING = (
    0.08333333333333333, -0.002777777777777778, 0.0007936507936507937, -0.0005952380952380953,
    0.0008417508417508417, -0.0019175269175269176, 0.00641025641025641, -0.029550653594771242, 0.17964437236883057,
    -1.3924322169059011, 13.402864044168393, -156.84828462600203, 2193.1033333333335, -36108.77125372499,
    691472.268851313,
)  # fmt: skip


@njit(**EXACT)
def falling(x, k):
    """x*(x - 1)*..., k factors."""
    total = 1.0
    for m in range(k):
        total *= x - m
    return total


@njit(**EXACT)
def power_slope(i, n, b, u, w):
    """Return the i-th derivative in a of w^n, w = a/(1 + a*b), u = 1/(1 + a*b)."""
    total = 0.0
    for m in range(min(i, n) + 1):
        count = falling(float(i), m) / falling(float(m), m) * falling(float(n), m) * falling(n + i - m - 1.0, i - m)
        total += count * (-b) ** (i - m) * w ** (n - m)
    return total * u**i


@njit(**EXACT)
def log_slope(i, b, u, x):
    """Return the i-th derivative in a of log(1 + a*b), with x = a*b."""
    return vlog1p(x) if i == 0 else -falling(i - 1.0, i - 1) * (-b * u) ** i


@njit(**EXACT)
def log_area(i, x):
    """Return the i-th derivative of the integral of log(1 + x*t) over t from 0 to 1."""
    if not abs(x) < 1.0:
        return (1.0 + x) * log1pc_diff(float(i), x) + (i * log1pc_diff(i - 1.0, x) if i > 0 else -1.0)
    total = 0.0
    for k in range(20):
        t = 0.5 + 0.5 * (NODES_20[k // 2] if k % 2 == 0 else -NODES_20[k // 2])
        total += WEIGHTS_20[k // 2] * t**i * log_slope(i, 1.0, 1.0 / (1.0 + x * t), x * t)
    return 0.5 * total


@njit(**EXACT)
def rising_near(i, j, a, b):
    """Return the derivative of log_rising for small a, by Euler and Maclaurin's formula."""
    x = a * b
    u = 1.0 / (1.0 + x)
    w, sign = a * u, 1.0 if j % 2 == 0 else -1.0
    if j == 0:
        total = b ** (i + 1) * log_area(i, x) - 0.5 * log_slope(i, b, u, x)
    else:
        total = log_slope(i, b, u, x) if j == 1 else sign * falling(j - 2.0, j - 2) * power_slope(i, j - 1, b, u, w)
        total += 0.5 * sign * falling(j - 1.0, j - 1) * power_slope(i, j, b, u, w)
    for k in range(15):
        n = 2 * k + 1
        term = sign * falling(n + j - 1.0, j) * power_slope(i, n + j, b, u, w)
        if j == 0:
            term -= falling(float(n), i) * a ** max(n - i, 0)
        total += STIRLING[k] * term
    return total


@njit(**EXACT)
def rising_in_z(k, j, z, b):
    """Return the derivative of log_rising k times in z = 1/a and j times in b."""
    log = vlog(z) if k == 0 else -falling(k - 1.0, k - 1) * (-1.0 / z) ** k
    if j == 0:
        return (poch_diff(float(k), z, b) if k > 0 else log_poch(z, b)) - b * log
    return polygamma(j + k - 1.0, z + b) - (log if j == 1 else 0.0)


@njit(**EXACT)
def log_rising_diff(order, other, a, b):
    """Return the derivative of gammaln(b + 1/a) - gammaln(1/a) + b*log(a), by orders in a and in b."""
    i, j = int(order), int(other)
    if 0.0 <= a <= 0.1 and a <= 0.1 * (1.0 + a * b):
        return rising_near(i, j, a, b)
    z = 1.0 / a
    if i == 0:
        return rising_in_z(0, j, z, b)
    total = 0.0
    for k in range(1, i + 1):
        lah = falling(i - 1.0, i - k) / falling(float(i - k), i - k) * falling(float(i), i - k)
        total += lah * z ** (i + k) * rising_in_z(k, j, z, b)
    return total if i % 2 == 0 else -total
