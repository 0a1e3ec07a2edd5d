"""log(gamma(x)), digamma(x) and polygamma(1, x): for x > 0 as branch-free arithmetic, elsewhere by SciPy or a sum.

From 3 on Stirling's formula is used, with a polynomial in 1/x^2 for its series (DLMF 5.11). Between 1 and 2.5 the
function is a polynomial times its zeros. Other arguments are moved there by one step of the recurrence. The polynomials
are from `benchmarks/minimax.py`.
"""

import math

from numba import njit

from matcalc.codegen.numba.call import special_symbol
from matcalc.codegen.numba.elementary import INLINED, fma, horner, vlog
from matcalc.codegen.numba.incomplete import betaln
from matcalc.codegen.numba.powers import log_parts
from matcalc.codegen.numba.rare import rare
from matcalc.codegen.numba.special import trigamma_sum
from matcalc.codegen.numba.tails import over_parts, sum_parts

far_gammaln = rare(special_symbol("gammaln", 1), 1, 0)
far_digamma = rare(special_symbol("psi", 1), 1, 0)
far_trigamma = rare(trigamma_sum, 1)
far_betaln = rare(betaln, 2)

HALF_LOG_TAU = 0.9189385332046728
HALF_LOG_TAU_LOW = -3.8782941580672414e-17
PSI_ROOT = 1.4616321449683622  # where digamma is 0
PSI_ROOT_LOW = 9.549995429965697e-17
PSI_ROOT_LESS_1 = 0.46163214496836236
PSI_ROOT_LESS_1_LOW = -1.5522348162858677e-17


@njit(**INLINED)
def gammaln_near(t):
    """log(gamma(x))/((x - 1)*(x - 2)) at x = 29/16 + t, minus 0.4428410991043222, divided by t."""
    return horner(
        t,
        8.755553385395084e-08,
        -2.5741563451125916e-08,
        -1.5278935208183528e-07,
        -1.0969810653117891e-07,
        3.8562185179408696e-07,
        -2.311687840882741e-07,
        3.764628948530445e-07,
        -1.0789102674374519e-06,
        2.0525336636045745e-06,
        -3.765913850558697e-06,
        7.255896901862574e-06,
        -1.4051897801508711e-05,
        2.7227013184888093e-05,
        -5.3029572281772565e-05,
        0.00010393560942825345,
        -0.00020520678790657458,
        0.00040883775114462643,
        -0.00082395589701164,
        0.001685770198480744,
        -0.0035204295345038997,
        0.007569957245862746,
        -0.017015257490069723,
        0.04114366769285328,
        -0.11413155948862737,
    )


@njit(**INLINED)
def gammaln_far(w):
    """The error of Stirling's formula for log(gamma(x)), times x, as a function of w = 1/x^2."""
    return horner(
        w,
        -1.2828588253501803,
        1.0508699572857996,
        -0.4168213280683186,
        0.11285842049396608,
        -0.025969129382178643,
        0.006269370316745668,
        -0.0019136687159641496,
        0.0008416814229715596,
        -0.0005952373390687385,
        0.0007936507892946588,
        -0.002777777777767596,
        0.08333333333333333,
    )


@njit(**INLINED)
def digamma_near(t):
    """digamma(x)/(x - root) at x = 53/32 + t, minus 0.890221979165822, divided by t."""
    return horner(
        t,
        7.02382993511252e-07,
        -2.9563286656341177e-06,
        4.436405504024891e-06,
        -2.7866848279672003e-06,
        2.9437547549482327e-06,
        -9.889108115341552e-06,
        1.9562757923090523e-05,
        -2.9299127263174576e-05,
        4.58963529650231e-05,
        -7.719468771121632e-05,
        0.00012915291834133112,
        -0.00021365971235025785,
        0.00035353055045416636,
        -0.0005857493813366088,
        0.0009707091844658088,
        -0.0016090042117760058,
        0.0026683020155496627,
        -0.004428526191321411,
        0.007359501449156994,
        -0.012256653747570142,
        0.020486150741829478,
        -0.03445218620194676,
        0.05856567325498365,
        -0.10152690409563539,
        0.18284800420371544,
        -0.3580422049371103,
    )


@njit(**INLINED)
def digamma_far(w):
    """log(x) - 1/(2*x) - digamma(x), times x^2, as a function of w = 1/x^2."""
    return horner(
        w,
        124.0908896811746,
        -104.63385391691891,
        41.76599192102008,
        -10.849262273808526,
        2.190542304276956,
        -0.405866855340608,
        0.08213768053223093,
        -0.021066005593673436,
        0.00757536204552984,
        -0.004166663146943765,
        0.003968253952027915,
        -0.008333333333305229,
        0.08333333333333333,
    )


@njit(**INLINED)
def sum_exactly(a, b):
    """a + b and its rounding error."""
    sum = a + b
    back = sum - a
    return sum, (a - (sum - back)) + (b - back)


@njit(**INLINED)
def gammaln_parts(x):
    """log(gamma(x)) for 0 < x < 1e300 as a sum of two numbers.

    It is (x - 1/2)*log(x) - x + log(2*pi)/2 + series; or -log(x), 0, log(x - 1) plus a polynomial.
    """
    is_far, is_low, is_high, is_tiny = x >= 3.0, x < 1.0, x > 2.5, x < 1e-300
    log, log_rest = log_parts(
        1.0 if 1.0 <= x <= 2.5 else (x - 1.0 if 2.5 < x < 3.0 else x * (18014398509481984.0 if is_tiny else 1.0))
    )
    inverse = 1.0 / x
    a = x - 0.5
    product = a * log
    off, off_lost = sum_exactly(product, -x)
    sum, sum_lost = sum_exactly(off, HALF_LOG_TAU)
    lost = (off_lost + sum_lost) + fma(a, log, -product)
    log_rest = log_rest + ((x - a) - 0.5) * inverse * log  # x - 1/2 was rounded
    far_rest = fma(inverse, gammaln_far(inverse * inverse), fma(a, log_rest, lost + HALF_LOG_TAU_LOW))
    shift = 1.0 if is_low else (-1.0 if is_high else 0.0)
    zeros = (x + (shift - 1.0)) * (x + (shift - 2.0))
    t = (x + shift) - 1.8125
    near = fma(zeros, 0.4428410991043222, zeros * t * gammaln_near(t))
    step, step_rest = (-log, -log_rest) if is_low else (log, log_rest)
    near_rest = 37.42994775023705 if is_tiny else near + step_rest
    return sum if is_far else step, far_rest if is_far else near_rest


@njit(**INLINED)
def vgammaln(x):
    """log(|gamma(x)|)."""
    high, low = gammaln_parts(x)
    return far_gammaln(not 0.0 < x < 1e300, high + low, x)


@njit(**INLINED)
def log1p_parts(x, x_rest):
    """log(1 + x + x_rest) for 0 <= x <= 1 as a sum of two numbers."""
    u = 1.0 + x
    high, low = log_parts(u)
    return high, low + ((x - (u - 1.0)) + x_rest) / u


@njit(**INLINED)
def gamma_ratio_parts(low, high):
    """log(gamma(high)/gamma(high + low)) + low*(log(high + low) - 1) as a sum of two numbers, for high >= 3."""
    n = high + low
    ratio = low / high
    log, log_rest = log1p_parts(ratio, fma(-ratio, high, low) / high)
    a = high - 0.5
    product, off, over = a * log, 1.0 / high, 1.0 / n
    tails = off * gammaln_far(off * off) - over * gammaln_far(over * over)
    return -product, tails - fma(a, log_rest, fma(a, log, -product))


@njit(**INLINED)
def vbetaln(x, y):
    """log(gamma(x)*gamma(y)/gamma(x + y)); Stirling's formula for the larger argument and the sum from 3 on."""
    low, high = min(x, y), max(x, y)
    n = x + y
    n_rest = low - (n - high)
    is_far = high >= 3.0
    first, first_rest = gammaln_parts(low)
    ratio, ratio_rest = gamma_ratio_parts(low, high if is_far else 3.0)
    log, log_rest = log_parts(n)
    product = low * log
    second, second_rest = gammaln_parts(high)
    third, third_rest = gammaln_parts(n)
    slope = 2.78 * (n - 0.4616) / (n + 2.226) - 1.0 / n  # digamma(n) to a tenth
    far, far_rest = sum_exactly(ratio, low)
    far, more = sum_exactly(far, -product)
    far_rest += (more + ratio_rest) - fma(low, log_rest + n_rest / n, fma(low, log, -product))
    near, near_rest = sum_exactly(second, -third)
    near_rest += (second_rest - third_rest) - slope * n_rest
    sum, sum_rest = sum_exactly(first, far if is_far else near)
    usual = sum + (sum_rest + (first_rest + (far_rest if is_far else near_rest)))
    return far_betaln(not (low > 1e-300 and high < 1e300), usual, x, y)


@njit(**INLINED)
def vdigamma(x):
    """digamma(x): log(x) - 1/(2*x) minus the series, or -1/x, 0 or 1/(x - 1) plus a polynomial."""
    is_far, is_low, is_high = x >= 3.0, x < 1.0, x > 2.5
    inverse = (1.0 if is_far or is_high else (-1.0 if is_low else 0.0)) / (x - 1.0 if 2.5 < x < 3.0 else x)
    w = inverse * inverse
    far = vlog(x) - fma(0.5, inverse, w * digamma_far(w))
    shift = 1.0 if is_low else (-1.0 if is_high else 0.0)
    over = (x - (PSI_ROOT_LESS_1 if is_low else PSI_ROOT)) + (shift if is_high else 0.0)
    over_rest = -PSI_ROOT_LESS_1_LOW if is_low else -PSI_ROOT_LOW
    t = (x + shift) - 1.65625
    near = fma(over, 0.890221979165822, fma((over + over_rest) * t, digamma_near(t), over_rest * 0.890221979165822))
    return far_digamma(not 0.0 < x < math.inf, far if is_far else inverse + near, x)


@njit(**INLINED)
def trigamma_parts(t):
    """polygamma(1, x)*x at t = (x - 2.75)/(x + 0.75), x >= 1, as a sum of two numbers."""
    w = t * t
    even = horner(
        w,
        9.352239800860505e-14,
        -3.09280003441749e-13,
        -6.266482130700096e-12,
        -2.2683011383303488e-11,
        -3.685833305056637e-10,
        -5.988934863335299e-09,
        -8.086857092844811e-08,
        -1.0407801696486047e-06,
        -1.4046967545592977e-05,
        -0.00019304995756035792,
        -0.0025303977074957527,
        -0.03484946960107089,
        -0.2848789411550166,
    )
    odd = horner(
        w,
        7.450161680307265e-14,
        2.539176529021226e-14,
        -7.492024540574583e-13,
        7.149716860111084e-12,
        1.4921333480593719e-10,
        1.6563791570319866e-09,
        2.0377656191229134e-08,
        2.854770356888155e-07,
        3.927797133123817e-06,
        5.167164527093975e-05,
        0.0006924526155114708,
        0.009653013552560248,
        0.10874470161229306,
    )
    return sum_parts(fma(odd, t, even), t, 1.2033209585345597, -7.643317365817123e-17)


@njit(**INLINED)
def vtrigamma(x):
    """polygamma(1, x): that of x + 1 plus 1/x^2 below 1."""
    is_low = x < 1.0
    y = x + 1.0 if is_low else (1e17 if x > 1e17 else x)
    y_rest = x - (y - 1.0) if is_low else 0.0
    a, a_rest = trigamma_parts((y - 2.75) / (y + 0.75))
    f, f_rest = over_parts(a, a_rest, y, y_rest)
    inverse = 1.0 / x
    square = inverse * inverse
    rest = fma(inverse, inverse, -square) + 2.0 * inverse * (fma(-inverse, x, 1.0) * inverse)
    near = square + f
    low = near + ((f - (near - square)) + (f_rest + rest))
    usual = low if is_low else (f + f_rest if x <= 1e17 else inverse)
    return far_trigamma(not 1e-150 < x < math.inf, usual, x)
