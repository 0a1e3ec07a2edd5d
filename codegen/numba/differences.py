"""Logarithms of differences and of terms that overflow, and their derivatives."""

import math

from numba import njit

from matcalc.codegen.numba.call import EXACT
from matcalc.codegen.numba.elementary import INLINED, fma, vexp, vexpm1, vlog, vlog1p
from matcalc.codegen.numba.gammas import vdigamma, vgammaln
from matcalc.codegen.numba.gauss import NODES_20, NODES_40, WEIGHTS_20, WEIGHTS_40
from matcalc.codegen.numba.gaussian import verf
from matcalc.codegen.numba.scalars import maximum
from matcalc.codegen.numba.special import polygamma
from matcalc.codegen.numba.tails import verfcx

LOG_2 = 0.6931471805599453


@njit(**INLINED)
def log1mexp(x):
    """log(1 - exp(x)), NaN for x > 0."""
    return vlog(-vexpm1(x)) if x > -LOG_2 else vlog1p(-vexp(x))


@njit(**INLINED)
def logdiffexp(x, y):
    """log(exp(x) - exp(y)), NaN for x < y."""
    return -math.inf if x == y else x + log1mexp(y - x)


@njit(**INLINED)
def less_softplus(x):
    """-log(1 + exp(x))."""
    return -maximum(x, 0.0) - vlog1p(vexp(-abs(x)))


@njit(**INLINED)
def log_sigmoid_diff(x, y):
    """log(sigmoid(x) - sigmoid(y)): a sum of terms of one sign."""
    return log1mexp(y - x) + less_softplus(-x) + less_softplus(y)


@njit(**INLINED)
def sigmoid_share(x, y):
    """sigmoid(x)*sigmoid(-x)/(sigmoid(x) - sigmoid(y)): a quotient of positive numbers for x > y."""
    small = vexp(-abs(x))
    far, near = small / (1.0 + small), 1.0 / (1.0 + small)
    above, below = (far, near) if x > 0.0 else (near, far)
    return (above + vexp(y - x) * below) / -vexpm1(y - x)


@njit(**INLINED)
def log_cosh(x):
    """log(cosh(x))."""
    y = abs(x)
    e = vexpm1(y)
    return vlog1p(0.5 * e * e / (1.0 + e)) if y < 1.0 else y + (vlog1p(vexp(-2.0 * y)) - LOG_2)


@njit(**INLINED)
def log_sinh(x):
    """log(sinh(x)), NaN for x < 0."""
    e = vexpm1(x)
    return vlog(0.5 * (e + e / (1.0 + e))) if x < 1.0 else x + (vlog1p(-vexp(-2.0 * x)) - LOG_2)


@njit(**INLINED)
def log_erfc(x):
    """log(erfc(x))."""
    return vlog1p(-verf(x)) if x < 0.5 else fma(-x, x, vlog(verfcx(x)))


@njit(**EXACT)
def tail_integral(a, h, moment):
    """Return the integral of exp(-s*(2*a + s)), times s if `moment`, over s from 0 to h, for a >= 0."""
    end = min(h, 42.0 / (a + math.sqrt(a * a + 42.0)))
    total = 0.0
    for k in range(20):
        s, t = end * (0.5 - 0.5 * NODES_40[k]), end * (0.5 + 0.5 * NODES_40[k])
        below, above = math.exp(-s * (2.0 * a + s)), math.exp(-t * (2.0 * a + t))
        total += WEIGHTS_40[k] * (below * s + above * t if moment else below + above)
    return 0.5 * end * total


@njit(**EXACT)
def log_erf_diff(x, y):
    """log(erf(x) - erf(y)); if x and y are on one side of 0, without the factor exp(-y^2)."""
    if not x > y:
        return -math.inf if x == y else math.nan
    b, a = (-y, -x) if x + y < 0.0 else (x, y)
    gap = math.erf(b) - math.erf(a)
    if gap > 0.5:
        return math.log1p(-math.erf(a) - math.erfc(b))
    if a > 0.0:
        return math.log(1.1283791670955126 * tail_integral(a, b - a, False)) - a * a
    return math.log(gap)


@njit(**EXACT)
def erf_share(x, y):
    """exp(-x^2) divided by the integral of exp(-t^2) from y to x."""
    if not x >= y:
        return math.nan
    if x <= 0.0:
        return 1.0 / tail_integral(-x, x - y, False)
    if y > 0.0:
        return math.exp(-(x - y) * (x + y)) / tail_integral(y, x - y, False)
    return math.exp(-x * x) / (0.886226925452758 * (math.erf(x) - math.erf(y)))


@njit(**EXACT)
def erf_excess(x, y):
    """2*x + erf_share(x, y); for x < 0 the sum is taken inside the integral."""
    if not x < 0.0:
        return 2.0 * x + erf_share(x, y)
    if not x >= y:
        return math.nan
    h = x - y
    first = 2.0 * tail_integral(-x, h, True)
    return (math.exp(h * (x + y)) + first) / tail_integral(-x, h, False)


@njit(**EXACT)
def log_poch(a, b):
    """gammaln(a + b) - gammaln(a); if b is small beside a, by an integral of digamma."""
    if not 2.0 * abs(b) < a:
        own = -vlog(a) if 0.0 < a < 1e-300 else vgammaln(a)
        return (-vlog(a + b) if 0.0 < a + b < 1e-300 else vgammaln(a + b)) - own
    total = 0.0
    for k in range(10):
        below, above = a + b * (0.5 - 0.5 * NODES_20[k]), a + b * (0.5 + 0.5 * NODES_20[k])
        total += WEIGHTS_20[k] * (0.5 * vdigamma(below) + 0.5 * vdigamma(above))
    return b * total


@njit(**EXACT)
def poch_diff(order, a, b):
    """polygamma(k - 1, a + b) - polygamma(k - 1, a); if b is small beside a, by an integral of polygamma(k)."""
    if not 2.0 * abs(b) < a:
        return polygamma(order - 1.0, a + b) - polygamma(order - 1.0, a)
    total = 0.0
    for k in range(10):
        below, above = a + b * (0.5 - 0.5 * NODES_20[k]), a + b * (0.5 + 0.5 * NODES_20[k])
        total += WEIGHTS_20[k] * (polygamma(order, below) + polygamma(order, above))
    return b * (0.5 * total)
