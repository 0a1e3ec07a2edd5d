"""x^p and logarithms to other bases as branch-free arithmetic, from a logarithm with twice the digits.

log(m) = s*(2 + z*(2/3 + z*Q(z))) with s = (m - 1)/(m + 1) and z = s^2, as sums of two numbers where an error of 2^-66
requires it. Arguments or results that are not normal positive numbers are computed by libm.
"""

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
    log2_whole,
    log_bend,
    log_edges,
    log_rest,
)
from matcalc.codegen.numba.rare import rare

far_pow = rare("llvm.pow.f64", 2)

SMALLEST_NORMAL = 2.2250738585072014e-308
LOG10_2_HIGH = 0.301029995663157
LOG10_2_LOW = 8.241712586023572e-13


@njit(**INLINED)
def log_of_rest(x, k):
    """log(m), for x = 2^k*m as in `elementary.py`, as a sum of two numbers."""
    f = log_rest(x, k)
    d = 2.0 + f
    inverse = 1.0 / d
    s = f * inverse
    s_rest = (fma(-s, d, f) - s * (f - (d - 2.0))) * inverse
    z = s * s
    z_rest = fma(2.0 * s, s_rest, fma(s, s, -z))
    w = z * z
    odd = horner(w, 0.11674798983901315, 0.15384556845964265, 0.2222222221753348, 0.3999999999999998)
    even = horner(w, 0.11989175628735269, 0.13336318381585133, 0.18181818870681532, 0.28571428571445123)
    q = fma(even, z, odd)
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
    power = (1.0 + (r + fma(y_rest, (1.0 + r) + rest, rest))) * from_bits((bits(k) + 1023) << 52)
    is_usual = 4503599627370496 <= bits(x) < 9218868437227405312 and abs(y) <= 700.0  # x is positive and normal
    return far_pow(not is_usual, power, x, p)


@njit(**INLINED)
def vlog2(x):
    """log(x)/log(2), exact for powers of 2."""
    is_small = x < SMALLEST_NORMAL
    u = x * 18014398509481984.0 if is_small else x
    k = log2_whole(u)
    f = log_rest(u, k)
    s = f / (2.0 + f)
    n = float64(k) + (-54.0 if is_small else 0.0)
    high = f * 1.4426950408889634
    rest = fma(s * (f - log_bend(f, s)), -1.4426950408889634, fma(f, 1.4426950408889634, -high))
    near = n + high
    return log_edges(x, near + ((high - (near - n)) + rest))


@njit(**INLINED)
def vlog10(x):
    """log(x)/log(10), exact for powers of 10."""
    is_small = x < SMALLEST_NORMAL
    u = x * 18014398509481984.0 if is_small else x
    k = log2_whole(u)
    f = log_rest(u, k)
    s = f / (2.0 + f)
    n = float64(k) + (-54.0 if is_small else 0.0)
    high = f * 0.4342944819032518
    rest = fma(s * (f - log_bend(f, s)), -0.4342944819032518, fma(f, 0.4342944819032518, -high))
    whole = n * LOG10_2_HIGH
    near = whole + high
    return log_edges(x, near + ((high - (near - whole)) + fma(n, LOG10_2_LOW, rest)))
