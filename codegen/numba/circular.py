"""sin, cos, tan and atan as branch-free arithmetic; for |x| > 2^40 by libm.

libm's error (glibc) is up to 8 units in the last place there, next to multiples of pi/2. x - n*pi/2 is exact to
2^-118, with pi/2 in three parts, and represented as a sum of two numbers. The polynomials are best approximations of
the lengths of fdlibm's (k_sin.c, k_cos.c); tan is a quotient (`benchmarks/minimax.py`). sin and cos share functions,
whose values a loop computes once.
"""

import math

from numba import njit

from matcalc.codegen.numba.elementary import INLINED, ROUND, bits, fma, from_bits, horner
from matcalc.codegen.numba.rare import rare

HALF_PI_1 = 1.5707963267948966
HALF_PI_2 = 6.123233995736766e-17
HALF_PI_3 = -1.4973849048591833e-33
MANY = 1099511627776.0

far_sin = rare("llvm.sin.f64", 1)
far_cos = rare("llvm.cos.f64", 1)
far_tan = rare("tan", 1)


@njit(**INLINED)
def quarters(x):
    """x/(pi/2) rounded to an integer n, plus ROUND: the last bits of the result are n."""
    return fma(x, 0.6366197723675814, ROUND)


@njit(**INLINED)
def less_quarters(x, n):
    """x - n*pi/2, rounded."""
    return fma(-n, HALF_PI_1, x) - n * HALF_PI_2


@njit(**INLINED)
def less_quarters_rest(x, n, r):
    """x - n*pi/2 - r, the rounding error of r above."""
    near, far = fma(-n, HALF_PI_1, x), n * HALF_PI_2
    back = r - near
    rest = (near - (r - back)) - (far + back)
    return rest - fma(n, HALF_PI_3, fma(n, HALF_PI_2, -far))


@njit(**INLINED)
def sin_reduced(r, rest):
    """sin(r + rest) for |r| <= pi/4 and a rest below the last place of r."""
    z = r * r
    w = z * z
    even = horner(w, 1.5896795190537075e-10, 2.7557313691891292e-06, 0.008333333333322413)
    odd = fma(-2.505075810880838e-08, w, -1.9841269829807802e-04)
    cube = z * r
    tail = fma(cube, fma(odd, z, even), -0.5 * rest)
    less = (z * -tail - rest) - cube * -1.6666666666666632e-01
    return r - less


@njit(**INLINED)
def cos_reduced(r, rest):
    """cos(r + rest) for |r| <= pi/4 and a rest below the last place of r."""
    z = r * r
    w = z * z
    even = horner(w, 2.0875723446883056e-09, 2.4801587289488e-05, 0.0416666666666666)
    odd = horner(w, -1.1359655862922634e-11, -2.755731435378022e-07, -0.0013888888888874136)
    half = 0.5 * z
    u = 1.0 - half
    more = ((1.0 - u) - half) + fma(w, fma(odd, z, even), -r * rest)
    return u + more


@njit(**INLINED)
def vsin(x):
    """sin(x)."""
    k = quarters(x)
    n = k - ROUND
    r = less_quarters(x, n)
    rest = less_quarters_rest(x, n, r)
    y = cos_reduced(r, rest) if bits(k) & 1 else sin_reduced(r, rest)
    y = from_bits(bits(y) ^ ((bits(k) & 2) << 62))
    return far_sin(abs(x) > MANY, x if x == 0.0 else y, x)


@njit(**INLINED)
def vcos(x):
    """cos(x)."""
    k = quarters(x)
    n = k - ROUND
    r = less_quarters(x, n)
    rest = less_quarters_rest(x, n, r)
    y = sin_reduced(r, rest) if bits(k) & 1 else cos_reduced(r, rest)
    y = from_bits(bits(y) ^ (((bits(k) + 1) & 2) << 62))
    return far_cos(abs(x) > MANY, y, x)


@njit(**INLINED)
def vtan(x):
    """tan(x): a quotient of two polynomials in r = x - n*pi/2, inverted for odd n."""
    k = quarters(x)
    n = k - ROUND
    r = less_quarters(x, n)
    rest = less_quarters_rest(x, n, r)
    z = r * r
    above = horner(z, -1.78598414753995e-05, 0.003424776553981533, -0.1333825832782244)
    below = horner(z, 4.981047538644921e-07, -0.00031179673635604665, 0.025663415424500832, -0.46671591661155776)
    more = fma(r * z, above, fma(rest, z, rest))
    s, c = r + more, fma(below, z, 1.0)
    s_lost, c_lost = (r - s) + more, fma(below, z, 1.0 - c)
    is_odd = bits(k) & 1
    top, top_lost = (-c, -c_lost) if is_odd else (s, s_lost)
    bottom, bottom_lost = (s, s_lost) if is_odd else (c, c_lost)
    inverse = 1.0 / bottom
    y = top * inverse
    y = fma(fma(-y, bottom, top) + fma(-y, bottom_lost, top_lost), inverse, y)
    return far_tan(abs(x) > MANY, x if x == 0.0 else y, x)


@njit(**INLINED)
def vatan(x):
    """atan(x): a constant angle plus atan of x, (|x| - 1)/(|x| + 1) or -1/|x|, whichever is within tan(pi/8)."""
    y = abs(x)
    is_small, is_large = y < 0.4142135623730951, y > 2.414213562373095
    above = y if is_small else (-1.0 if is_large else y - 1.0)
    below = 1.0 if is_small else (y if is_large else y + 1.0)
    angle = 0.0 if is_small else (HALF_PI_1 if is_large else 0.7853981633974483)
    angle_rest = 0.0 if is_small else (HALF_PI_2 if is_large else 3.061616997868383e-17)
    t = above / below
    z = t * t
    w = z * z
    even = horner(
        w,
        -0.01792199063573053,
        -0.05039837440399827,
        -0.06663120234662834,
        -0.09090897836386466,
        -0.14285714280249084,
        -0.333333333333332,
    )
    odd = horner(
        w, 0.03807808440689865, 0.05848007448098286, 0.0769206162948357, 0.11111110786150487, 0.1999999999995409
    )
    return math.copysign(angle + (t + fma(t * z, fma(odd, z, even), angle_rest)), x)
