"""Elementwise functions beyond those of `math`, correct at infinity, zero and NaN."""

import math

import numpy as np
from numba import njit

from matcalc.codegen.numba.call import EXACT
from matcalc.codegen.numba.elementary import (
    INLINED,
    SCALAR,
    fma,
    rint,
    rounded_down,
    vexp,
    vlog,
    vlog1p,
    vsigmoid,
    vsinh,
)
from matcalc.codegen.numba.powers import vpow


@njit(**EXACT)
def sign(x):
    """-1, 0 or 1; NaN for NaN."""
    return 1.0 if x > 0.0 else (-1.0 if x < 0.0 else (0.0 if x == 0.0 else x))


@njit(**EXACT)
def floordiv(x, y):
    """Return x/y rounded down: the rest of the rounded quotient decides. NaN for infinite x, as in NumPy."""
    whole = rounded_down(x / y)
    rest = fma(-whole, y, x)
    below = rest < 0.0 if y > 0.0 else rest > 0.0
    found = whole - 1.0 if below else whole
    far = -1.0 if x * y < 0.0 else 0.0
    inside = far + 0.0 * x if abs(y) > 1.7976931348623157e308 else found
    finite = x - x if abs(x) > 1.7976931348623157e308 else inside
    return x / y if y == 0.0 else finite


@njit(**EXACT)
def far_mod(x, y):
    """Return mod of finite numbers with any quotient: each subtraction of a multiple by a power of 2 is exact."""
    rest, least = abs(x), abs(y)
    part = least
    while part <= 0.5 * rest:
        part = 2.0 * part
    while part >= least:
        rest = rest - part if rest >= part else rest
        part = 0.5 * part
    found = math.copysign(rest, x)
    return math.copysign(0.0, y) if rest == 0.0 else (found + y if (x < 0.0) != (y < 0.0) else found)


@njit(**EXACT)
def mod(x, y):
    """Return x minus y*floordiv(x, y), rounded once."""
    if abs(x / y) > 4503599627370496.0 and abs(x) <= 1.7976931348623157e308 and y != 0.0:
        return far_mod(x, y)
    far = y if x * y < 0.0 else x
    rest = fma(-floordiv(x, y), y, x)
    return far if abs(y) > 1.7976931348623157e308 and abs(x) <= 1.7976931348623157e308 else rest


@njit(**SCALAR)
def step(x):
    """1 where x > 0, 1/2 at 0, else 0; NaN for NaN."""
    return 1.0 if x > 0.0 else (0.0 if x < 0.0 else (0.5 if x == 0.0 else x))


@njit(**SCALAR)
def relu(x):
    """max(x, 0); NaN for NaN."""
    return x if x > 0.0 or math.isnan(x) else 0.0


@njit(**SCALAR)
def maximum(x, y):
    """Return the larger; NaN if one is NaN."""
    return x if x > y or math.isnan(x) else y


@njit(**SCALAR)
def minimum(x, y):
    """Return the smaller; NaN if one is NaN."""
    return x if x < y or math.isnan(x) else y


@njit(**SCALAR)
def clip(x, low, high):
    """min(max(x, low), high)."""
    return minimum(maximum(x, low), high)


@njit(**SCALAR)
def where(holds, a, b):
    """a if a condition holds, else b."""
    return a if holds else b


@njit(**SCALAR)
def leads_of(x, y, m, n):
    """1 if x > y, m/(m + n) if x equals y, else 0; NaN if one is NaN."""
    return 1.0 if x > y else (0.0 if x < y else (m / (m + n) if x == y else math.nan))


@njit(**SCALAR)
def tied(x, y, m, n):
    """m if x > y, n if x < y, else m + n."""
    return m if x > y else (n if x < y else m + n)


@njit(**SCALAR)
def between(x, low, high):
    """1 if low < x < high, 1/2 at one bound, 0 if both bounds equal x or x is beyond one."""
    bound = 0.5 if low < high else 0.0
    at_bound = bound if x == low and x <= high or x == high and x >= low else math.nan
    inside = 1.0 if x > low and x < high else at_bound
    return 0.0 if x < low or x > high else inside


@njit(**SCALAR)
def leads(x, y):
    """1 if x > y, 1/2 if x equals y, else 0; NaN if one is NaN."""
    return 1.0 if x > y else (0.0 if x < y else (0.5 if x == y else math.nan))


@njit(**SCALAR)
def selected(f, v):
    """f*v, 0 where f is 0."""
    return 0.0 if f == 0.0 else f * v


@njit(**SCALAR)
def selected_both(f, g):
    """f*g, 0 where either is 0."""
    return 0.0 if f == 0.0 or g == 0.0 else f * g


@njit(**SCALAR)
def safe_scale(a):
    """A power of 2 by which numbers up to a can be multiplied and squared without loss."""
    tiny = 4.149515568880993e180 if a > 0.0 and a < 1.0497e-140 else 1.0
    return 2.409919865102884e-181 if a > 9.5e139 else tiny


@njit(**SCALAR)
def rescaled(c, x):
    """c*x, rounded before anything is added."""
    return c * x


@njit(**SCALAR)
def inverse_root0(s):
    """1/sqrt(s), 0 where s is 0 or negative."""
    return 0.0 if s <= 0.0 else 1.0 / math.sqrt(s)


@njit(**SCALAR)
def holds_nan(x):
    """Whether an entry of a vector is NaN."""
    found = False
    for k in range(x.size):
        found |= x[k] != x[k]
    return found


@njit(**SCALAR)
def copied(x, y):
    """Copy a vector to another; 0 is the status."""
    for k in range(x.size):
        y[k] = x[k]
    return 0


@njit(**SCALAR)
def huber(x):
    """x^2/2 for |x| <= 1, |x| - 1/2 outside."""
    return 0.5 * x * x if abs(x) <= 1.0 else abs(x) - 0.5


@njit(**INLINED)
def logit(x):
    """log(x/(1 - x)); near 1/2 by log1p, because x/(1 - x) rounds there."""
    near = 0.3 < x < 0.65
    return vlog1p((2.0 * x - 1.0) / (1.0 - x)) if near else vlog(x / (1.0 - x))


@njit(**INLINED)
def xlogy(x, y):
    """x*log(y), 0 if x is 0 and y is not NaN."""
    return 0.0 if x == 0.0 and not math.isnan(y) else x * vlog(y)


@njit(**INLINED)
def xlog1py(x, y):
    """x*log(1 + y), 0 if x is 0 and y is not NaN."""
    return 0.0 if x == 0.0 and not math.isnan(y) else x * vlog1p(y)


@njit(**INLINED)
def entr(x):
    """-x*log(x), 0 at 0, -inf for x < 0."""
    return -x * vlog(x) if x > 0.0 else (0.0 if x == 0.0 else (-math.inf if x < 0.0 else x))


@njit(**INLINED)
def logaddexp(x, y):
    """log(exp(x) + exp(y)) without overflow."""
    gap = abs(x - y)
    smooth = maximum(x, y) + vlog1p(vexp(-gap))
    return x + 0.6931471805599453 if x == y else (x + y if math.isnan(gap) else smooth)


@njit(**SCALAR)
def ratio0(x, y):
    """x/y, 0 where both are 0."""
    return 0.0 if x == 0.0 and y == 0.0 else x / y


@njit(**INLINED)
def softmax2(x, y):
    """sigmoid(x - y); 1/2 if x equals y, also at infinity."""
    return 0.5 if x == y else vsigmoid(x - y)


@njit(**SCALAR)
def over_hypot(x, y):
    """x/hypot(x, y), 0 at (0, 0), computed from the smaller of x/y and y/x."""
    if x == 0.0 and not math.isnan(y):
        return 0.0
    if abs(x) < abs(y):
        ratio = abs(x / y)
        return math.copysign(ratio / math.sqrt(1.0 + ratio * ratio), x)
    ratio = y / x
    return math.copysign(1.0, x) / math.sqrt(1.0 + ratio * ratio)


@njit(**SCALAR)
def square(x):
    """x^2."""
    return x * x


@njit(**SCALAR)
def cube(x):
    """x^3."""
    return x * x * x


@njit(**SCALAR)
def fourth(x):
    """x^4."""
    return square(square(x))


@njit(**SCALAR)
def fifth(x):
    """x^5."""
    return x * square(square(x))


@njit(**SCALAR)
def sixth(x):
    """x^6."""
    return square(cube(x))


@njit(**SCALAR)
def seventh(x):
    """x^7."""
    return x * square(cube(x))


@njit(**SCALAR)
def eighth(x):
    """x^8."""
    return square(square(square(x)))


@njit(**SCALAR)
def twelfth(x):
    """x^12."""
    return square(square(cube(x)))


@njit(**SCALAR)
def thirteenth(x):
    """x^13."""
    return x * square(square(cube(x)))


@njit(**SCALAR)
def fourteenth(x):
    """x^14."""
    return square(x * square(cube(x)))


@njit(**SCALAR)
def three_halves(x):
    """x^(3/2)."""
    return x * math.sqrt(x)


@njit(**EXACT)
def inverse_root(x):
    """x^(-1/2), inf also at -0."""
    return 1.0 / abs(math.sqrt(x))


@njit(**INLINED)
def powr(x, p):
    """x^p; NaN for x < 0 and p not an integer, also at -inf, where C returns a number."""
    return math.nan if x == -math.inf and p != rint(p) else vpow(x, p)


@njit(**INLINED)
def powlog(k, x, p):
    """x^p*log(x)^k, 0 if x is 0 and p > 0."""
    return 0.0 if x == 0.0 and p > 0.0 else powr(x, p) * vlog(x) ** k


@njit(**SCALAR)
def off_integer(x):
    """x minus the nearest integer."""
    return x - np.rint(x)


@njit(**SCALAR)
def if_finite(y, x):
    """y where x is finite, else NaN."""
    return y if x - x == 0.0 else math.nan


@njit(**INLINED)
def sinhc(x):
    """sinh(x)/x, 1 at 0."""
    return 1.0 + x * x / 6.0 if abs(x) < 1e-4 else vsinh(x) / x


@njit(**SCALAR)
def jump(a, b):
    """(sign(a) - sign(b))/(a - b), 0 on the same side, NaN where both are 0."""
    s = sign(a) - sign(b)
    return math.nan if a == 0.0 and b == 0.0 else (s if s == 0.0 else s / (a - b))


@njit(**SCALAR)
def step_jump(a, b):
    """(step(a) - step(b))/(a - b), 0 on the same side, NaN where both are 0."""
    s = step(a) - step(b)
    return math.nan if a == 0.0 and b == 0.0 else (s if s == 0.0 else s / (a - b))
