"""Special functions: SciPy's own if it has them for float64, else series and recurrences.

SciPy's are called by address, like LAPACK, so both targets compute the same numbers at every argument.
"""

import math

from numba import njit

from matcalc.codegen.numba.call import special_function
from matcalc.codegen.numba.elementary import SCALAR, rounded_down

besselix = special_function("ive", 2)
besselj = special_function("jv", 2)
besselk = special_function("kv", 2)
besselkx = special_function("kve", 2)
bessely = special_function("yv", 2)
cbrt = special_function("cbrt", 1)
dawsn = special_function("dawsn", 1)
erfi = special_function("erfi", 1)
erfinv = special_function("erfinv", 1)
gamma = special_function("gamma", 1)
gammaln = special_function("gammaln", 1)
norminv = special_function("ndtri", 1)

digamma = special_function("psi", 1)

# (-1)^(j + 1) B(2j)/(2j)!, j = 1..12, as terms of Euler and Maclaurin's sum
EULER_MACLAURIN = (
    8.333333333333333e-2, -1.388888888888889e-3, 3.306878306878307e-5, -8.267195767195768e-7,
    2.08767569878681e-8, -5.284190138687493e-10, 1.3382536530684679e-11, -3.3896802963225827e-13,
    8.586062056277845e-15, -2.174868698558062e-16, 5.5090028283602295e-18, -1.3954464685812524e-19,
)  # fmt: skip


@njit(**SCALAR)
def polygamma(k, x):
    """Return the k-th derivative of digamma: (-1)^(k + 1) k! zeta(k + 1, x), by Euler and Maclaurin's sum."""
    if k == 0.0:
        return digamma(x)
    sign = 1.0 if k % 2.0 == 1.0 else -1.0
    if x <= 0.0 and x == rounded_down(x):
        return sign * math.inf
    if math.isnan(x) or x < -1e4:
        return math.nan
    if x == math.inf:
        return 0.0
    s, total = k + 1.0, 0.0
    while x < 10.0 + s:
        total += math.pow(x, -s)
        x += 1.0
    power = math.pow(x, -s)
    total += power * (x / k + 0.5)
    factor = s / x
    for c in EULER_MACLAURIN:
        total += c * factor * power
        factor *= (s + 1.0) * (s + 2.0) / (x * x)
        s += 2.0
    return sign * total * gamma(k + 1.0)


@njit(**SCALAR)
def trigamma_sum(x):
    """polygamma(1, x)."""
    return polygamma(1.0, x)


@njit(**SCALAR)
def lambertw(x):
    """Return the w >= -1 with w*exp(w) = x, by Fritsch's iteration; near -1/e by a series in sqrt(2*(e*x + 1))."""
    if x < -0.36787944117144233:
        return math.nan
    if x == 0.0 or x == math.inf or math.isnan(x):
        return x
    excess = 2.718281828459045 * ((x + 0.36787944117144233) - 1.2428753672788363e-17)
    p = math.sqrt(max(2.0 * excess, 0.0))
    if excess < 3e-4:
        tail = 769.0 / 17280.0 - p * (221.0 / 8505.0 - p * (680863.0 / 43545600.0 - p * 1963.0 / 204120.0))
        return -1.0 + p * (1.0 - p * (1.0 / 3.0 - p * (11.0 / 72.0 - p * (43.0 / 540.0 - p * tail))))
    if x < -0.3:
        w = -1.0 + p * (1.0 - p * (1.0 / 3.0 - p * 11.0 / (72.0 + 36.0 * p)))
    elif x < 0.5:
        w = x * (1.0 + 4.0 / 3.0 * x) / (1.0 + x * (7.0 / 3.0 + 5.0 / 6.0 * x))
    elif x < 3.0:
        w = math.log1p(x) * (1.0 - math.log1p(math.log1p(x)) / (2.0 + math.log1p(x)))
    else:
        w = math.log(x) - math.log(math.log(x))
    for _ in range(4):
        z = math.log(x / w) - w
        q = 2.0 * (1.0 + w) * (1.0 + w + 2.0 / 3.0 * z)
        w *= 1.0 + z / (1.0 + w) * (q - z) / (q - 2.0 * z)
    return w
