"""Owen's T function, the probability of 0 < Y < a*X and X > h of two independent normal numbers."""

import math

from numba import njit

from matcalc.codegen.numba.elementary import SCALAR, rounded_down
from matcalc.codegen.numba.gauss import NODES_20, WEIGHTS_20


@njit(**SCALAR)
def owens_t_inside(h, a):
    """T for h >= 0 and 0 <= a <= 1: Gauss's rule on the range that reaches its rounding error."""
    if h > 40.0:
        return 0.0
    half = 0.5 * (a if a * h <= 9.0 else 9.0 / h)
    total = 0.0
    for k in range(10):
        t, u = half * (1.0 - NODES_20[k]), half * (1.0 + NODES_20[k])
        total += WEIGHTS_20[k] * math.exp(-0.5 * (h * t) * (h * t)) / (1.0 + t * t)
        total += WEIGHTS_20[k] * math.exp(-0.5 * (h * u) * (h * u)) / (1.0 + u * u)
    # exp(-h^2/2) with an exact square and a small rest
    near = rounded_down(16.0 * h + 0.5) / 16.0
    scale = math.exp(-0.5 * near * near) * math.exp(-0.5 * (h - near) * (h + near))
    return scale * half * total * 0.15915494309189535


@njit(**SCALAR)
def owens_t(h, a):
    """T, even in h and odd in a; for |a| > 1 by T(a*h, 1/a)."""
    h, b = abs(h), abs(a)
    if h != h or b != b:
        return h + b
    if b <= 1.0:
        value = owens_t_inside(h, b)
    elif h == 0.0:
        value = 0.25 - math.atan(1.0 / b) * 0.15915494309189535
    else:
        above, below = 0.5 * math.erfc(0.7071067811865476 * h), 0.5 * math.erfc(0.7071067811865476 * (b * h))
        value = 0.5 * (above + below) - above * below - owens_t_inside(b * h, 1.0 / b)
    return -value if a < 0.0 else value
