"""x^p, and logarithms to other bases, as branch-free arithmetic upon a logarithm of twice the digits.

log(m) = s*(2 + z*(2/3 + z*Q(z))) with s = (m - 1)/(m + 1), z = s^2, sums of two numbers as far as 2^-66 needs
them. Arguments that are no normal positive numbers, and powers that are none, are left to libm.
"""

import math

from numba import njit
from numba.types import float64

from matcalc.codegen.numba.elementary import (
    INLINED,
    LOG2_HIGH,
    LOG2_LOW,
    ROUND,
    bits,
    fma,
    from_bits,
    horner,
    less_logs,
    less_logs_rest,
    log2_of_exp,
)
from matcalc.codegen.numba.rare import rare

far_pow = rare("llvm.pow.f64", 2)
far_log2 = rare("llvm.log2.f64", 1)
far_log10 = rare("llvm.log10.f64", 1)

SMALLEST_NORMAL = 2.2250738585072014e-308


@njit(**INLINED)
def log2_whole(x):
    """The k of x = 2^k*m with m between the roots of 1/2 and 2."""
    return (bits(x) - 0x3FE6A09E667F3BCD) >> 52


@njit(**INLINED)
def log_of_rest(x, k):
    """log(m) of the m above, as a sum of two numbers."""
    f = from_bits(bits(x) - (k << 52)) - 1.0
    d = 2.0 + f
    inverse = 1.0 / d
    s = f * inverse
    s_rest = (fma(-s, d, f) - s * (f - (d - 2.0))) * inverse
    z = s * s
    z_rest = fma(2.0 * s, s_rest, fma(s, s, -z))
    q = horner(
        z,
        0.11989175628735269,
        0.11674798983901315,
        0.13336318381585133,
        0.15384556845964265,
        0.18181818870681532,
        0.2222222221753348,
        0.28571428571445123,
        0.3999999999999998,
    )
    a = fma(z, q, 0.6666666666666666)
    a_rest = fma(z, q, 0.6666666666666666 - a) + 3.700743415417188e-17
    t = z * a
    t_rest = fma(z_rest, a, fma(z, a_rest, fma(z, a, -t)))
    u = s * t
    u_rest = fma(s_rest, 2.0 + t, fma(s, t_rest, fma(s, t, -u)))
    high = fma(2.0, s, u)
    return high, (u - (high - 2.0 * s)) + u_rest


@njit(**INLINED)
def log_parts(x):
    """log(x) of a normal positive number, as a sum of two numbers."""
    k = log2_whole(x)
    m, m_rest = log_of_rest(x, k)
    n = float64(k)
    whole = n * LOG2_HIGH
    near = whole + m
    rest = (m - (near - whole)) + fma(n, LOG2_LOW, m_rest)
    high = near + rest
    return high, (near - high) + rest


@njit(**INLINED)
def vpow(x, p):
    """x^p as in C."""
    log, log_rest = log_parts(x)
    y = p * log
    y_rest = fma(p, log, -y) + p * log_rest
    k = log2_of_exp(y)
    n = k - ROUND
    r = less_logs(y, n)
    rest = less_logs_rest(y, n, r)
    e = 1.0 + r
    e_rest = (r - (e - 1.0)) + fma(y_rest, e + rest, rest)
    power = (e + e_rest) * from_bits((bits(k) + 1023) << 52)
    is_usual = SMALLEST_NORMAL <= x < math.inf and abs(y) <= 700.0
    return far_pow(not is_usual, power, x, p)


@njit(**INLINED)
def vlog2(x):
    """log(x)/log(2), exact for powers of 2."""
    k = log2_whole(x)
    m, m_rest = log_of_rest(x, k)
    high = m * 1.4426950408889634
    rest = fma(m, 1.4426950408889634, -high) + fma(m, 2.0355273740931033e-17, m_rest * 1.4426950408889634)
    whole = float64(k)
    y = whole + high
    return far_log2(not SMALLEST_NORMAL <= x < math.inf, y + ((high - (y - whole)) + rest), x)


@njit(**INLINED)
def vlog10(x):
    """log(x)/log(10)."""
    log, log_rest = log_parts(x)
    high = log * 0.4342944819032518
    rest = fma(log, 0.4342944819032518, -high) + fma(log, 1.098319650216765e-17, log_rest * 0.4342944819032518)
    return far_log10(not SMALLEST_NORMAL <= x < math.inf, high + rest, x)
