"""Tails of the normal distribution as branch-free arithmetic: exp(x^2)*erfc(x), the distribution function and its log.

Times 1 + 9/8*x or 1 + 13/16*x the tails are polynomials in (x - c)/(x + c) for all x >= 0 (Shepherd & Laframboise
1981), with errors below 2e-17. The polynomials are from `benchmarks/minimax.py`.
"""

from numba import njit

from matcalc.codegen.numba.elementary import (
    INLINED,
    ROUND,
    bits,
    fma,
    from_bits,
    horner,
    less_logs,
    less_logs_rest,
    log2_of_exp,
    log_plus,
)

OVER_200 = 6.223015277861142e-61  # 2^(-200)
INVERSE_ROOT_TAU = 0.3989422804014327
INVERSE_ROOT_TAU_LOW = -2.49232720227773e-17


@njit(**INLINED)
def sum_parts(slope, t, a, a_rest):
    """a + a_rest + slope*t as a sum of two numbers."""
    top = fma(slope, t, a)
    return top, fma(slope, t, a - top) + a_rest


@njit(**INLINED)
def over_parts(a, a_rest, b, b_rest):
    """(a + a_rest)/(b + b_rest) as a sum of two numbers."""
    inverse = 1.0 / b
    q = a * inverse
    return q, (fma(-q, b, a) + fma(-q, b_rest, a_rest)) * inverse


@njit(**INLINED)
def erfcx_parts(t):
    """exp(x^2)*erfc(x)*(1 + 9/8*x) at t = (x - 3.75)/(x + 3.75), x >= 0, as a sum of two numbers."""
    w = t * t
    even = horner(
        w,
        4.420306217891074e-12,
        -5.830942212819573e-11,
        4.809345830212326e-10,
        -3.22407167986611e-09,
        1.7892127531715628e-08,
        -6.472269273443602e-08,
        -2.5861575039793985e-07,
        9.88566009189324e-06,
        -0.000142255886639288,
        0.0009763678217268113,
        0.012357259294854782,
        0.027945162723546177,
        -0.025282038891006362,
        -0.1985074317336193,
    )
    odd = horner(
        w,
        5.783328047496392e-12,
        -7.859382538866711e-11,
        5.917178485642964e-10,
        -3.5797962106716225e-09,
        2.110708382617699e-08,
        -1.3326388663773662e-07,
        9.061388295019559e-07,
        -6.110368808841075e-06,
        3.062066937573334e-05,
        9.851148134619267e-05,
        -0.004693654938288929,
        -0.022452376219227264,
        -0.016312824190624402,
        0.10089532548659522,
    )
    return sum_parts(fma(odd, t, even), t, 0.7597963579041074, -2.1918208122113756e-18)


@njit(**INLINED)
def mills_parts(t):
    """exp(x^2/2)*(1 + 13/16*x) times the normal distribution function at -x, t = (x - 5.25)/(x + 5.25), x >= 0."""
    w = t * t
    even = horner(
        w,
        -1.4230419097317412e-12,
        1.0202376381549518e-11,
        -7.097852843542052e-12,
        -2.755337442989569e-10,
        1.5683266785761329e-09,
        1.0994325685745736e-08,
        -3.839654153516393e-07,
        6.135015238287192e-06,
        -7.07129991632745e-05,
        0.00040208311139323,
        0.006139152900621129,
        0.015014036426127777,
        -0.010472606121283335,
        -0.09894741524323654,
    )
    odd = horner(
        w,
        3.820989125918802e-12,
        -4.721823476969385e-11,
        3.362810745557865e-10,
        -1.9853216155615404e-09,
        1.1486045406736783e-08,
        -6.984265729778039e-08,
        4.456406637697667e-07,
        -2.737584093512366e-06,
        1.1224830871442362e-05,
        7.639307099424688e-05,
        -0.0022150720837744707,
        -0.011568651292807187,
        -0.009968552083336267,
        0.048775845379902774,
    )
    return sum_parts(fma(odd, t, even), t, 0.3869614655837109, -9.259329229240817e-18)


@njit(**INLINED)
def exp_parts(y, y_rest):
    """exp(y + y_rest) = (e + e_rest)*2^n: e, e_rest, n + ROUND."""
    k = log2_of_exp(y)
    n = k - ROUND
    r = less_logs(y, n)
    e = 1.0 + r
    rest = less_logs_rest(y, n, r)
    return e, (r - (e - 1.0)) + fma(y_rest, e + rest, rest), k


@njit(**INLINED)
def verfcx(x):
    """exp(x^2)*erfc(x): below 0 by reflection, infinite where it overflows."""
    y = abs(x)
    z = 1e17 if y > 1e17 else y
    a, a_rest = erfcx_parts((z - 3.75) / (z + 3.75))
    b = fma(1.125, z, 1.0)
    f, f_rest = over_parts(a, a_rest, b, fma(1.125, z, 1.0 - b))
    far = 0.5641895835477563 / x if y > 1e17 else f + f_rest
    u = 26.64 if y > 26.64 else y
    square = u * u
    e, e_rest, k = exp_parts(square, fma(u, u, -square))
    scale = from_bits((bits(k) + 1022) << 52)
    quarter = fma(e, scale, -0.25 * f)
    rest = fma(e, scale, -quarter) - 0.25 * f
    below = 4.0 * (quarter + (rest + fma(e_rest, scale, -0.25 * f_rest)))
    return below if x < 0.0 else far


@njit(**INLINED)
def normal_tail(x):
    """exp(x^2/2)*Phi(-x) and exp(-x^2/2)/2^n as sums of two numbers, and 2^(n + 200), for x >= 0."""
    z = 1e150 if x > 1e150 else x
    a, a_rest = mills_parts((z - 5.25) / (z + 5.25))
    b = fma(0.8125, z, 1.0)
    f, f_rest = over_parts(a, a_rest, b, fma(0.8125, z, 1.0 - b))
    u = 39.0 if x > 39.0 else x
    half = -0.5 * u
    square = half * u
    e, e_rest, k = exp_parts(square, fma(half, u, -square))
    return f, f_rest, e, e_rest, from_bits((bits(k) + 1223) << 52)


@njit(**INLINED)
def times_parts(a, a_rest, b, b_rest):
    """(a + a_rest)*(b + b_rest) as a sum of two numbers."""
    product = a * b
    return product, fma(a, b, -product) + fma(a, b_rest, a_rest * b)


@njit(**INLINED)
def vndtr(x):
    """The normal distribution function."""
    f, f_rest, e, e_rest, scale = normal_tail(abs(x))
    high, low = times_parts(e, e_rest, f, f_rest)
    tail = (high + low) * scale * OVER_200
    return tail if x < 0.0 else 1.0 - tail


@njit(**INLINED)
def vlog_ndtr(x):
    """The logarithm of the normal distribution function: of exp(x^2/2)*Phi(x), minus x^2/2, or of 1 - Phi(-x)."""
    f, f_rest, e, e_rest, scale = normal_tail(abs(x))
    high, low = times_parts(e, e_rest, f, f_rest)
    tail = (high + low) * scale * OVER_200
    is_low = x < 0.0
    u = f if is_low else 1.0 - tail
    log = log_plus(u, 0.0, (f_rest if is_low else (1.0 - u) - tail) / u)
    return fma(-0.5 * x, x, log) if is_low else log


@njit(**INLINED)
def vlog_ndtr_slope(x):
    """The derivative of the logarithm of the normal distribution function: density over distribution function."""
    f, f_rest, e, e_rest, scale = normal_tail(abs(x))
    high, low = times_parts(e, e_rest, f, f_rest)
    tail = (high + low) * scale * OVER_200
    is_low = x < 0.0
    u = f if is_low else 1.0 - tail
    u_rest = f_rest if is_low else (1.0 - u) - tail
    a, a_rest = times_parts(1.0 if is_low else e, 0.0 if is_low else e_rest, INVERSE_ROOT_TAU, INVERSE_ROOT_TAU_LOW)
    q, q_rest = over_parts(a, a_rest, u, u_rest)
    slope = q + q_rest
    return (-x if x < -1e150 else slope) if is_low else slope * scale * OVER_200
