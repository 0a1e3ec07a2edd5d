"""The modified Bessel functions of orders 0 and 1 as branch-free arithmetic; other orders by SciPy.

exp(-x) times the function is a polynomial in x/4 - 1 over 1 + x/2 or 1 + x up to 8, and one in 16/x - 1 over sqrt(x)
from 8 on. The polynomials are from `benchmarks/minimax.py`.
"""

import math

from numba import njit

from matcalc.codegen.numba.call import special_symbol
from matcalc.codegen.numba.elementary import INLINED, bits, fma, from_bits, horner
from matcalc.codegen.numba.rare import rare
from matcalc.codegen.numba.tails import exp_parts, over_parts, sum_parts, times_parts

far_besseli = rare(special_symbol("iv", 2), 2, 0)


@njit(**INLINED)
def besseli_0_near(t):
    """exp(-x)*besseli(0, x)*(1 + x/2) at x = 4 + 4*t, as a sum of two numbers."""
    w = t * t
    even = horner(
        w,
        5.5321594440152654e-09,
        2.8293508342850218e-08,
        3.971283854237768e-07,
        3.186934411105658e-06,
        2.2658159620798135e-05,
        0.0001282774836743825,
        0.0005639289496308708,
        0.001798590431495883,
        0.003542956852027961,
        0.0013078598302005433,
        -0.015403784303412599,
        -0.05007313503921493,
        -0.08020331039733898,
        -0.07809906700237944,
        0.07499086178935696,
    )
    odd = horner(
        w,
        -1.4767520230321447e-09,
        -8.732983225432461e-09,
        -1.2629545462640534e-07,
        -1.1192125207372356e-06,
        -8.755300425513302e-06,
        -5.546567868530388e-05,
        -0.00027855138929643464,
        -0.001054845107124742,
        -0.0027334144930008853,
        -0.0034850770804310286,
        0.004561837393411618,
        0.03124870480019775,
        0.06789891589079304,
        0.08394336580499495,
        0.057538231847442854,
    )
    return sum_parts(fma(odd, t, even), t, 0.6210057636719601, -4.8879255005108784e-17)


@njit(**INLINED)
def besseli_0_far(t):
    """exp(-x)*besseli(0, x)*sqrt(x) at x = 16/(1 + t), as a sum of two numbers."""
    w = t * t
    even = horner(
        w,
        -1.6600914582913587e-11,
        1.2870349682889852e-10,
        -4.604753154748043e-10,
        1.029549820825254e-09,
        -1.7008791111287665e-09,
        2.5073705110187513e-09,
        -4.103806226192038e-09,
        7.803721525248895e-09,
        -1.3481037358487172e-08,
        7.568392162504673e-09,
        3.932421907347004e-08,
        2.9735996750236116e-07,
        1.1143033787541202e-05,
        0.003360551983667893,
    )
    odd = horner(
        w,
        4.005312441692185e-11,
        -3.210215528945938e-10,
        1.2062010838123798e-09,
        -2.871891283037289e-09,
        4.990527996487002e-09,
        -6.939015239202908e-09,
        7.923187245790018e-09,
        -5.5733344323426275e-09,
        -6.709029003235684e-09,
        2.1542697253406502e-08,
        8.872269444136553e-08,
        1.4838475432342286e-06,
        0.00013621607439233397,
    )
    return sum_parts(fma(odd, t, even), t, 0.4021765094450081, -2.524341881323618e-17)


@njit(**INLINED)
def besseli_1_near(t):
    """exp(-x)*besseli(1, x)/x*(1 + x) at x = 4 + 4*t, as a sum of two numbers."""
    w = t * t
    even = horner(
        w,
        1.0636841665456439e-09,
        6.423988842775966e-09,
        9.715381045611035e-08,
        9.017825472893714e-07,
        7.487739659883634e-06,
        5.12735102844033e-05,
        0.0002865538603757905,
        0.0012721749911355086,
        0.004328675079964147,
        0.010663009749808853,
        0.0168875215559136,
        0.010341512884525568,
        -0.021330581281577186,
        -0.07018263139108247,
        -0.12687085064589612,
    )
    odd = horner(
        w,
        -2.7306534162016025e-10,
        -1.8522947316313546e-09,
        -2.9156440354029326e-08,
        -2.950915226118204e-07,
        -2.6656484534107752e-06,
        -2.0064369267094864e-05,
        -0.0001245329851913029,
        -0.0006225948181026509,
        -0.0024329374238160513,
        -0.007109459115502989,
        -0.01436542624388842,
        -0.016255337294254713,
        0.0022527061982784676,
        0.044906593743726846,
        0.09579064742889293,
    )
    return sum_parts(fma(odd, t, even), t, 0.22343854937804417, -6.861840145883325e-18)


@njit(**INLINED)
def besseli_1_far(t):
    """exp(-x)*besseli(1, x)*sqrt(x) at x = 16/(1 + t), as a sum of two numbers."""
    w = t * t
    even = horner(
        w,
        1.67266840994209e-11,
        -1.2857498468082642e-10,
        4.5517709721874724e-10,
        -1.0046056716759102e-09,
        1.6373858898663919e-09,
        -2.403002270554701e-09,
        4.007929320902625e-09,
        -7.885949604608588e-09,
        1.4103983199938717e-08,
        -8.440983294859596e-09,
        -4.312761336425087e-08,
        -3.483856805656588e-07,
        -1.5038547197308714e-05,
        -0.009749577193235767,
    )
    odd = horner(
        w,
        -4.168047437654678e-11,
        3.3398277957852847e-10,
        -1.2547860216040604e-09,
        2.9887165271081816e-09,
        -5.202202136256012e-09,
        7.26822857747218e-09,
        -8.401095374847093e-09,
        6.149850062781029e-09,
        6.694266104967002e-09,
        -2.336801662879327e-08,
        -1.0001340021233232e-07,
        -1.8349101091860808e-06,
        -0.00021923576383430914,
    )
    return sum_parts(fma(odd, t, even), t, 0.38939845902587233, -4.658878758218723e-18)


@njit(**INLINED)
def times_exp(a, a_rest, b, b_rest, x):
    """(a + a_rest)/(b + b_rest)*exp(x), for x >= 0; infinite only where it overflows."""
    f, f_rest = over_parts(a, a_rest, b, b_rest)
    e, e_rest, k = exp_parts(x, 0.0)
    high, low = times_parts(e, e_rest, f, f_rest)
    return (high + low) * from_bits((bits(k) + 823) << 52) * 1.6069380442589903e60  # 2^(n - 200)*2^200


@njit(**INLINED)
def root_parts(x):
    """sqrt(x) for x > 0 as a sum of two numbers."""
    root = math.sqrt(x)
    return root, 0.5 * fma(-root, root, x) / root


@njit(**INLINED)
def besseli_0(x):
    """besseli(0, x)."""
    y = abs(x)
    y = 720.0 if y > 720.0 else y
    is_near = y < 8.0
    a, a_rest = besseli_0_near(0.25 * (y if is_near else 4.0) - 1.0)
    c, c_rest = besseli_0_far(16.0 / (8.0 if is_near else y) - 1.0)
    root, root_rest = root_parts(8.0 if is_near else y)
    b = fma(0.5, y, 1.0)
    b_rest = fma(0.5, y, 1.0 - b)
    a, a_rest = a if is_near else c, a_rest if is_near else c_rest
    b, b_rest = b if is_near else root, b_rest if is_near else root_rest
    return times_exp(a, a_rest, b, b_rest, y)


@njit(**INLINED)
def besseli_1(x):
    """besseli(1, x)."""
    y = abs(x)
    y = 720.0 if y > 720.0 else y
    is_near = y < 8.0
    a, a_rest = besseli_1_near(0.25 * (y if is_near else 4.0) - 1.0)
    a, a_rest = times_parts(a, a_rest, y, 0.0)
    c, c_rest = besseli_1_far(16.0 / (8.0 if is_near else y) - 1.0)
    root, root_rest = root_parts(8.0 if is_near else y)
    b = 1.0 + y
    b_rest = y - (b - 1.0) if y > 1.0 else (1.0 - b) + y
    a, a_rest = a if is_near else c, a_rest if is_near else c_rest
    b, b_rest = b if is_near else root, b_rest if is_near else root_rest
    value = times_exp(a, a_rest, b, b_rest, y)
    return math.copysign(0.5 * y if y < 1e-9 else value, x)


@njit(**INLINED)
def vbesseli(k, x):
    """besseli(k, x); where k is a number in the text, only its form is computed."""
    usual = besseli_1(x) if k == 1.0 else besseli_0(x)
    return far_besseli(not ((k == 0.0 or k == 1.0) and abs(x) < math.inf), usual, k, x)
