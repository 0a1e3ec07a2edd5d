"""asin, acos, asinh, acosh and atanh as branch-free arithmetic.

The polynomials are from `benchmarks/minimax.py`. Beyond 1/2, asin and acos are reduced to asin(sqrt((1 - |x|)/2))
(fdlibm, e_asin.c). atanh is half the logarithm of (1 + |x|)/(1 - |x|); a power of 2 is factored out first.
"""

import math

from numba import njit
from numba.types import float64

from matcalc.codegen.numba.circular import HALF_PI_1, HALF_PI_2
from matcalc.codegen.numba.elementary import INLINED, LOG2_HIGH, LOG2_LOW, bits, fma, from_bits, horner, log_plus

HUGE = 1e150  # the square of a larger number overflows


@njit(**INLINED)
def half_square(y):
    """y^2 for y <= 1/2, else (1 - y)/2, which is sin(acos(y)/2)^2."""
    return y * y if y <= 0.5 else fma(-0.5, y, 0.5)


@njit(**INLINED)
def asin_more(s, z):
    """asin(s) - s for 0 <= s <= 1/2 and z = s^2."""
    tail = horner(
        z,
        0.031858337091135246,
        -0.01614535839714855,
        0.01947802207204692,
        0.006546235643254022,
        0.01216504090064454,
        0.01388585658166974,
        0.01735964424884278,
        0.02237176181131266,
        0.03038195899692208,
        0.04464285683105815,
        0.07500000000335101,
        0.16666666666665406,
    )
    return s * z * tail


@njit(**INLINED)
def vasin(x):
    """asin(x)."""
    y = abs(x)
    z = half_square(y)
    s = y if y <= 0.5 else math.sqrt(z)
    more = asin_more(s, z)
    far = fma(-2.0, s, HALF_PI_1) - fma(2.0, more, -HALF_PI_2)
    return math.copysign(s + more if y <= 0.5 else far, x)


@njit(**INLINED)
def vacos(x):
    """acos(x)."""
    y = abs(x)
    z = half_square(y)
    s = y if y <= 0.5 else math.sqrt(z)
    more = asin_more(s, z)
    near = HALF_PI_1 - (x + (math.copysign(more, x) - HALF_PI_2))
    far = 2.0 * (s + more)
    return near if y <= 0.5 else (far if x > 0.0 else 2.0 * HALF_PI_1 - (far - 2.0 * HALF_PI_2))


@njit(**INLINED)
def vasinh(x):
    """asinh(x) = log(|x| + sqrt(1 + x^2)) with the sign of x; sums and root carry their rounding errors."""
    y = abs(x)
    u = y if y < HUGE else 1.0
    square = u * u
    sum = 1.0 + square
    root = math.sqrt(sum)
    big, small = (square, 1.0) if u > 1.0 else (1.0, square)
    lost = fma(-root, root, sum) + (((big - sum) + small) + fma(u, u, -square))
    rest = 0.5 * lost / root
    v = root + u
    high, low = (u, root) if u > 1.0 else (root, u)
    rest += (high - v) + low
    is_huge = not y < HUGE
    a = log_plus(y if is_huge else v, 1.0 if is_huge else 0.0, rest * (root - u))
    return math.copysign(a if y < math.inf else y, x) if y > 1e-9 else x


@njit(**INLINED)
def vacosh(x):
    """acosh(x) = log(x + sqrt((x - 1)*(x + 1))); sums and root carry their rounding errors."""
    u = x if x < HUGE else 2.0
    t = u - 1.0
    over = u + 1.0
    product = t * over
    root = math.sqrt(product)
    lost = fma(-root, root, product) + fma(t, over, -product) + t * (u - (over - 1.0))
    rest = 0.5 * lost / (root if root > 0.0 else 1.0)
    v = u + root
    rest += (u - v) + root
    is_huge = not x < HUGE
    a = log_plus(x if is_huge else v, 1.0 if is_huge else 0.0, rest * (u - root))
    a = a if x < math.inf else x
    return a if x >= 1.0 else math.nan


@njit(**INLINED)
def vatanh(x):
    """atanh(x) = k*log(2)/2 + atanh((a - b)/(a + b)), where a = 1 + |x| and b = 2^k*(1 - |x|) is close to a."""
    y = abs(x)
    k = (bits(1.0 + y) - bits(1.0 - y) + 2251799813685248) >> 52
    power = from_bits((k + 1023) << 52)
    a, b = 1.0 + y, power * (1.0 - y)  # accurate enough if the power is large; the other terms are if it is not
    is_far = k > 30
    less, plus = fma(1.0 + power, y, 1.0 - power), fma(1.0 - power, y, 1.0 + power)
    s = (a - b if is_far else less) / (a + b if is_far else plus)
    z = s * s
    tail = horner(
        z,
        0.06950911906822216,
        0.06582306180927565,
        0.07695834076394001,
        0.09090824012587162,
        0.1111111230606267,
        0.14285714276411476,
        0.20000000000035228,
        0.33333333333333287,
    )
    half = 0.5 * float64(k)
    t = fma(half, LOG2_HIGH, s + fma(s * z, tail, half * LOG2_LOW))
    t = t if y < 1.0 else (math.inf if y == 1.0 else math.nan)
    return math.copysign(t, x) if y > 1e-9 else x
