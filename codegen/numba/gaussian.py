"""erf and erfc as branch-free arithmetic.

erf is x + x*P(x^2) below 0.84, and 1 - exp(-x^2)*V beyond. V is a polynomial in (x - 3)/(x + 3); the error is 3e-18 of
erf. erfc is 1 - erf below 1/2, and exp(-x^2)*W/(1 + 2*x) beyond. W is a polynomial in (x - 3.75)/(x + 3.75) (Shepherd &
Laframboise 1981): the best of degree 22 on [1/2, 28], with error 3e-19.
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
    vexp,
)


@njit(**INLINED)
def erf_near(x):
    """erf(x) - x for |x| < 0.84: the best polynomial, with error 1e-17 of x."""
    z = x * x
    w = z * z
    even = horner(
        w,
        1.0730875163019432e-08,
        1.6401861745038927e-06,
        0.00012055200926730725,
        0.0052239775769677655,
        0.11283791670935672,
        0.12837916709551256,
    )
    odd = horner(
        w,
        -1.5715993584917672e-07,
        -1.4922141026490677e-05,
        -0.0008548323822063189,
        -0.026866170640844553,
        -0.3761263890318341,
    )
    return x * fma(odd, z, even)


@njit(**INLINED)
def verf(x):
    """erf(x)."""
    y = abs(x)
    y = 6.0 if y > 6.0 else y
    t = (y - 3.0) / (y + 3.0)
    w = t * t
    even = horner(
        w,
        -5.27700483890325e-06,
        7.816818207579074e-05,
        -0.0005919421397951062,
        0.004269489886854686,
        0.07166584032955847,
        0.2456038016952523,
        0.17900115118138205,
    )
    odd = horner(
        w,
        -2.0389891103278208e-06,
        5.5831326652211676e-05,
        0.0007094012744120214,
        -0.024392452390214047,
        -0.15011593652008262,
        -0.32623356004388687,
    )
    far = fma(-vexp(-(x * x)), fma(odd, t, even), 1.0)
    return x + erf_near(x) if y < 0.84 else (-far if x < 0.0 else far)


@njit(**INLINED)
def erfc_far(x):
    """erfc(x) for x >= 1/2, 0 from 28 on; each factor is a sum of two numbers."""
    y = 28.0 if x > 28.0 else x
    t = (y - 3.75) / (y + 3.75)
    w = t * t
    even = horner(
        w,
        -3.839641026286888e-09,
        3.700220158133998e-08,
        -2.576974217056013e-07,
        1.7515195865140632e-06,
        -1.1444337443584888e-05,
        5.1649232136693934e-05,
        0.0002937136232526765,
        -0.009746579550522681,
        -0.05869339859037447,
        -0.10880393014171272,
        0.0035854154854637514,
    )
    odd = horner(
        w,
        -2.8148605606026382e-09,
        2.21372700359221e-08,
        -5.654748426799346e-08,
        -9.737144946929798e-07,
        2.2384196957056202e-05,
        -0.00029015404075233595,
        0.0017556258409088781,
        0.02836227742080345,
        0.09230432116023127,
        0.08227673849015033,
        -0.14024059858554702,
    )
    slope = fma(even, t, odd)
    top = fma(slope, t, 1.2375126308378275)
    top_rest = fma(slope, t, 1.2375126308378275 - top)
    square = y * y
    k = log2_of_exp(-square)
    n = k - ROUND
    r = less_logs(-square, n)
    e = 1.0 + r
    rest = less_logs_rest(-square, n, r)
    e_rest = (r - (e - 1.0)) + fma(-fma(y, y, -square), e + rest, rest)
    bottom = fma(2.0, y, 1.0)
    inverse = 1.0 / bottom
    product = e * top
    product_rest = fma(e, top, -product) + fma(e, top_rest, e_rest * top)
    q = product * inverse
    lost = fma(-q, bottom, product) + fma(-q, 1.0 - (bottom - 2.0 * y), product_rest)
    return fma(lost, inverse, q) * from_bits((bits(k) + 1223) << 52) * 6.223015277861142e-61


@njit(**INLINED)
def verfc(x):
    """erfc(x), accurate in its tail."""
    y = abs(x)
    far = erfc_far(y)
    far = 2.0 - far if x < 0.0 else far
    near = erf_near(x)
    return (0.5 - ((x - 0.5) + near) if x > 0.25 else 1.0 - (x + near)) if y < 0.5 else far
