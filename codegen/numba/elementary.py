"""exp, log, tanh and related functions as branch-free arithmetic, so that LLVM vectorises the loops that call them.

Numba's own call libm for each entry: 3 to 8 ns an entry against 0.5 here. Range reduction is Cody and Waite's. The
polynomials are best approximations; that of log is fdlibm's (e_log.c). Errors are stated in `scalars.toml` and tested
against mpmath; infinity, NaN, zeros and subnormals are correct.

Functions of one argument share parts where possible: exp(-|x|) in sigmoid and softplus, exp(|x|) in sinh and cosh, and
so in their derivatives. The compiler finds the common lines in a loop and computes them once.
"""

import math

from llvmlite import ir
from numba import njit, types
from numba.extending import intrinsic
from numba.types import float64

from matcalc.codegen.numba.call import EXACT

# No `reassoc`: the method depends on the order of operations. Callers may use it; flags are per instruction.
SCALAR = {"error_model": "numpy", "fastmath": {"contract", "nsz"}, "nogil": True, "cache": True}
# LLVM would not inline longer functions, and so would not vectorise the loop.
INLINED = {**SCALAR, "forceinline": True}

LOG2_E = 1.4426950408889634
LOG2_HIGH = 6.93147180369123816490e-01
LOG2_LOW = 1.90821492927058770002e-10
ROUND = 6755399441055744.0  # 1.5*2^52: adding a number rounds it to an integer in its last bits


@intrinsic
def bits(typingctx, x):
    """Return the bits of a float64."""

    def codegen(context, builder, signature, args):
        return builder.bitcast(args[0], ir.IntType(64))

    return types.int64(types.float64), codegen


@intrinsic
def from_bits(typingctx, k):
    """Return the float64 with these bits."""

    def codegen(context, builder, signature, args):
        return builder.bitcast(args[0], ir.DoubleType())

    return types.float64(types.int64), codegen


@njit(**INLINED)
def ordered(x):
    """Return an integer in the order of float64: its bits, with those below the sign inverted for negative x."""
    k = bits(x)
    return k ^ ((k >> 63) & 0x7FFFFFFFFFFFFFFF)


@njit(**INLINED)
def from_ordered(k):
    """Return the float64 of such an integer."""
    return from_bits(k ^ ((k >> 63) & 0x7FFFFFFFFFFFFFFF))


@intrinsic
def rint(typingctx, x):
    """Return the nearest integer, ties to even."""

    def codegen(context, builder, signature, args):
        return builder.call(builder.module.declare_intrinsic("llvm.rint", [ir.DoubleType()]), args)

    return types.float64(types.float64), codegen


@njit(**EXACT)
def rounded_down(x):
    """Return the largest integer that is not above x, as a number."""
    nearest = rint(x)
    return nearest - 1.0 if nearest > x else nearest


@njit(**EXACT)
def count_of(x):
    """Return x rounded up, as an integer from -2^30 to 2^30; -2^30 for NaN.

    Only a number in this range is converted: beyond 64 bits the machine's conversion has no defined result.
    """
    whole = -rounded_down(-x)
    if not whole > -1073741824.0:
        return -1073741824
    return int(whole) if whole < 1073741824.0 else 1073741824


@intrinsic
def fma(typingctx, x, y, z):
    """x*y + z rounded once."""

    def codegen(context, builder, signature, args):
        double = ir.DoubleType()
        kind = ir.FunctionType(double, [double] * 3)
        return builder.call(builder.module.declare_intrinsic("llvm.fma", [double] * 3, kind), args)

    return types.float64(types.float64, types.float64, types.float64), codegen


@intrinsic
def horner(typingctx, x, *coefficients):
    """Return the polynomial in x of these coefficients, the leading one first."""

    def codegen(context, builder, signature, args):
        double = ir.DoubleType()
        kind = ir.FunctionType(double, [double] * 3)
        step = builder.module.declare_intrinsic("llvm.fma", [double] * 3, kind)
        value = builder.extract_value(args[1], 0)
        for k in range(1, len(coefficients)):
            value = builder.call(step, [value, args[0], builder.extract_value(args[1], k)])
        return value

    return types.float64(types.float64, types.StarArgTuple(coefficients)), codegen


@njit(**INLINED)
def exp_tail(r):
    """(exp(r) - 1 - r)/r^2 for |r| <= log(2)/2: the best polynomial of degree 10, error 8e-20 of exp(r)."""
    z = r * r
    even = horner(
        z,
        2.1014355324113104e-09,
        2.755697860801265e-07,
        2.4801587630084348e-05,
        0.0013888888888757063,
        0.041666666666666845,
        0.5,
    )
    odd = horner(
        z,
        2.5115292304106547e-08,
        2.755722526911515e-06,
        0.00019841269906229936,
        0.008333333333312968,
        0.16666666666666688,
    )
    return fma(odd, r, even)


@njit(**INLINED)
def log2_of_exp(y):
    """y/log(2) rounded to an integer n, plus ROUND: the last bits of the result are n."""
    return fma(y, LOG2_E, ROUND)


@njit(**INLINED)
def less_logs(y, n):
    """y - n*log(2), rounded."""
    return fma(-n, LOG2_LOW, fma(-n, LOG2_HIGH, y))


@njit(**INLINED)
def less_logs_rest(y, n, r):
    """exp(y - n*log(2)) - 1 - r: the rounding error of r above plus the polynomial."""
    return fma(r * r, exp_tail(r), fma(-n, LOG2_LOW, fma(-n, LOG2_HIGH, y) - r))


@njit(**INLINED)
def within_exp(x):
    """x, clipped to the range beyond which exp overflows or underflows."""
    if x > 710.0:
        return 710.0
    if x < -746.0:
        return -746.0
    return x


@njit(**INLINED)
def vexp(x):
    """exp(x)."""
    y = within_exp(x)
    k = log2_of_exp(y)
    n = k - ROUND
    r = less_logs(y, n)
    is_small = y < -700.0  # a second factor yields subnormal numbers and 2^1024
    scale = from_bits((bits(k) + (1087 if is_small else 1022)) << 52)
    return (1.0 + (r + less_logs_rest(y, n, r))) * scale * (5.421010862427522e-20 if is_small else 2.0)


@njit(**INLINED)
def vexpm1(x):
    """exp(x) - 1, accurate for small x."""
    y = within_exp(x)
    k = log2_of_exp(y)
    n = k - ROUND
    r = less_logs(y, n)
    half = from_bits((bits(k) + 1022) << 52)
    high = fma(half, r, half - 0.5)
    low = fma(half, less_logs_rest(y, n, r), fma(half, r, (half - 0.5) - high))
    e = -1.0 if x < -40.0 else 2.0 * (high + low)
    return x if abs(x) < 1e-17 else e


@njit(**INLINED)
def within_cosh(x):
    """|x|, clipped where cosh overflows."""
    y = abs(x)
    return 710.5 if y > 710.5 else y


@njit(**INLINED)
def vtanh(x):
    """tanh(x) as m/(2 + m) with m = exp(2*|x|) - 1; both times 3/4, as numbers just below 2 round more finely."""
    y = within_cosh(x)
    k = log2_of_exp(y)
    n = k - ROUND
    r = less_logs(y, n)
    rest = less_logs_rest(y, n, r)
    s = from_bits((bits(k) << 53) + 4604930618986332160)  # 3/4*4^n
    more = fma(rest, 2.0 * r + (rest + 2.0), r * r)  # exp(2*(r + rest)) - 1 - 2*r
    far, step = s - 0.75, s * (2.0 * r)
    high = far + step
    m = high + fma(s, more, ((far - high) + step) + fma(s, 2.0 * r, -step))
    t = 1.0 if y > 20.0 else m / (1.5 + m)
    return x if y < 1e-9 else math.copysign(t, x)


@njit(**INLINED)
def vcosh(x):
    """cosh(x), infinite only where it overflows."""
    y = within_cosh(x)
    k = log2_of_exp(y)
    n = k - ROUND
    r = less_logs(y, n)
    e = (1.0 + (r + less_logs_rest(y, n, r))) * from_bits((bits(k) + 1021) << 52)  # exp(|x|)/4
    return 2.0 * (e + 0.0625 / e)


@njit(**INLINED)
def vsinh(x):
    """sinh(x), accurate for small x, infinite only where it overflows."""
    y = within_cosh(x)
    k = log2_of_exp(y)
    n = k - ROUND
    r = less_logs(y, n)
    rest = less_logs_rest(y, n, r)
    s = from_bits((bits(k) + 1021) << 52)
    high = fma(s, r, s - 0.25)
    low = fma(s, rest, fma(s, r, (s - 0.25) - high))
    quarter = high + low  # (exp(|x|) - 1)/4
    lost = (high - quarter) + low
    t = 2.0 * (quarter + (quarter / fma(4.0, quarter, 1.0) + lost))
    return x if y < 1e-9 else math.copysign(t, x)


@njit(**INLINED)
def vsigmoid(x):
    """1/(1 + exp(-x)), accurate in both tails."""
    e = vexp(-abs(x))
    u = 1.0 + e
    inverse = 1.0 / u
    above = e if x < 0.0 else 1.0
    y = above * inverse
    return fma(inverse, fma(-y, u, above) - y * (e - (u - 1.0)), y)


@njit(**INLINED)
def log2_whole(x):
    """Return k, where x = 2^k*m with m between sqrt(1/2) and sqrt(2)."""
    return (bits(x) - 0x3FE6A09E667F3BCD) >> 52


@njit(**INLINED)
def log_rest(x, k):
    """m - 1, where x = 2^k*m with m between sqrt(1/2) and sqrt(2)."""
    return from_bits(bits(x) - (k << 52)) - 1.0


@njit(**INLINED)
def log_bend(f, s):
    """Return t, where log(1 + f) = f - s*(f - t) and s = f/(2 + f)."""
    z = s * s
    q = horner(
        z,
        0.1479819860511658591,
        0.1531383769920937332,
        0.1818357216161805012,
        0.2222219843214978396,
        0.2857142874366239149,
        0.3999999999940941908,
        0.6666666666666735130,
    )
    return z * q


@njit(**INLINED)
def log_plus(u, shift, c):
    """log(u) + shift*log(2) + c for normal u > 0 and small c."""
    k = log2_whole(u)
    f = log_rest(u, k)
    s = f / (2.0 + f)
    n = float64(k) + shift
    return fma(n, LOG2_HIGH, f - fma(s, f - log_bend(f, s), -fma(n, LOG2_LOW, c)))


@njit(**INLINED)
def log_edges(x, y):
    """y, the logarithm of x, corrected where x is not finite and positive."""
    y = y if x < math.inf else x
    return y if x > 0.0 else (-math.inf if x == 0.0 else math.nan)


@njit(**INLINED)
def vlog(x):
    """log(x)."""
    is_small = x < 2.2250738585072014e-308
    u = x * 18014398509481984.0 if is_small else x
    return log_edges(x, log_plus(u, -54.0 if is_small else 0.0, 0.0))


@njit(**INLINED)
def vlog1p(x):
    """log(1 + x), accurate for small x."""
    u = 1.0 + x
    y = log_plus(u, 0.0, (x - (u - 1.0)) / u)
    y = y if x < math.inf else x
    y = y if x > -1.0 else (-math.inf if x == -1.0 else math.nan)
    return y if x != 0.0 else x


@njit(**INLINED)
def vsoftplus(x):
    """log(1 + exp(x)) without overflow."""
    e = vexp(-abs(x))
    u = 1.0 + e
    y = max(x, 0.0) + log_plus(u, 0.0, (e - (u - 1.0)) / u)
    return x if math.isnan(x) else y
