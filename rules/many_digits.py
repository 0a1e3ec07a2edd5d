"""Replacements for values at many digits, where 2^-52 is not a rounding error and numbers are not float64.

They replace the functions of the same names in the other files of this folder. `np` is the twin of NumPy over mpmath
numbers; each number holds its mpmath context `mp`.
"""

import itertools
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

Array = Any  # of numbers of mpmath
Number = Any  # of mpmath

EPS = 2.0**-150


def by_digits_(f: Callable[..., Number], *args: Array) -> Array:
    """Return f(mp, *args), entry by entry, with all digits."""
    import numpy

    return numpy.frompyfunc(lambda *xs: f(xs[0].context, *xs), len(args), 1)(*map(numpy.asarray, args))


def psi_gap_(k: int, a: Array, b: Array) -> Array:
    return by_digits_(lambda mp, a, b: mp.psi(k, a) - mp.psi(k, a + b) if min(a, b) >= 0 else mp.nan, a, b)


def owens_t_(h: Array, a: Array) -> Array:
    """Return Owen's T as an integral, for |a| > 1 of T(a*h, 1/a)."""

    def inside(mp: Any, h: Number, a: Number) -> Number:
        top = min(a, mp.sqrt(2 * mp.prec) / h) if h else a
        square = mp.exp(-h * h / 2) / (2 * mp.pi)
        return square * mp.quad(lambda t: mp.exp(-h * h * t * t / 2) / (1 + t * t), mp.linspace(0, top, 7))

    def f(mp: Any, h: Number, a: Number) -> Number:
        if mp.isnan(h) or mp.isnan(a):
            return mp.nan
        h, b, sign = abs(h), abs(a), -1 if a < 0 else 1
        if b <= 1:
            return sign * (inside(mp, h, b) if mp.isfinite(h) else mp.zero)
        if h == 0:
            return sign * mp.atan(b) / (2 * mp.pi)
        above, below = mp.erfc(h / mp.sqrt(2)) / 2, mp.erfc(b * h / mp.sqrt(2)) / 2
        rest = inside(mp, b * h, 1 / b) if mp.isfinite(b * h) else mp.zero
        return sign * ((above + below) / 2 - above * below - rest)

    return by_digits_(f, h, a)


def dawsn_diff_(k: int, x: Array) -> Array:
    """Return the k-th derivative of dawsn by F' = 1 - 2*x*F, with the digits that this loses."""

    def f(mp: Any, x: Number) -> Number:
        if mp.isinf(x):
            return mp.zero
        with mp.extradps(int(40 + 2 * (k + 1) * (1 + mp.log10(1 + abs(x))))):
            root = mp.sqrt(mp.pi) / 2 * mp.exp(-x * x) * mp.erfi(x) if abs(x) < 40 else far(mp, x)
            d = [root, 1 - 2 * x * root]
            for n in range(1, k):
                d.append(-2 * x * d[n] - 2 * n * d[n - 1])
        return +d[k]

    def far(mp: Any, x: Number) -> Number:
        return mp.hyp2f0(mp.mpf(1) / 2, 1, 1 / (x * x)) / (2 * x)

    return by_digits_(f, x)


def gammainc_diff_(i: int, k: int, a: Array, x: Array) -> Array:
    """Return the derivative of gammainc of order i in a and k in x, by differences of the density or smaller tail."""

    def density(mp: Any, a: Number, x: Number) -> Number:
        return mp.exp((a - 1) * mp.log(x) - x - mp.loggamma(a))

    def f(mp: Any, a: Number, x: Number) -> Number:
        if not (a >= 0 and x >= 0):
            return mp.nan
        if k:
            return mp.diff(lambda a, x: density(mp, a, x), (a, x), (i, k - 1))
        if x > a:
            return -mp.diff(lambda a: mp.gammainc(a, x, mp.inf, regularized=True), a, i) + (i == 0)
        return mp.diff(lambda a: mp.gammainc(a, 0, x, regularized=True), a, i)

    return by_digits_(f, a, x)


def betainc_diff_(i: int, j: int, k: int, a: Array, b: Array, x: Array) -> Array:
    """Return the derivative of betainc of order i in a, j in b, k in x, by differences of density or smaller tail."""

    def density(mp: Any, a: Number, b: Number, x: Number) -> Number:
        return mp.exp((a - 1) * mp.log(x) + (b - 1) * mp.log(1 - x) - mp.log(mp.beta(a, b)))

    def left(mp: Any, a: Number, b: Number, x: Number) -> Number:
        return x * (1 - x) * density(mp, a, b, x) / a * mp.hyp2f1(a + b, 1, a + 1, x)

    def f(mp: Any, a: Number, b: Number, x: Number) -> Number:
        if not (min(a, b) >= 0 and 0 <= x <= 1):
            return mp.nan
        if k:
            return mp.diff(lambda a, b, x: density(mp, a, b, x), (a, b, x), (i, j, k - 1))
        if x * (a + b) > a:
            return -mp.diff(lambda a, b: left(mp, b, a, 1 - x), (a, b), (i, j)) + (i + j == 0)
        return mp.diff(lambda a, b: left(mp, a, b, x), (a, b), (i, j))

    return by_digits_(f, a, b, x)


def adj_(X: Array, *E: Array) -> Array:
    """Return the adjugate or its differential: a sum of minors in which rows of E replace rows of X."""
    n, C = len(X), np.zeros(X.shape)
    for i, j in itertools.product(range(n), repeat=2):
        M, *others = (np.delete(np.delete(A, i, 0), j, 1) for A in (X, *E))
        for rows in itertools.permutations(range(n - 1), len(E)):
            changed = M.copy()
            for row, e in zip(rows, others, strict=True):
                changed[row] = e[row]
            C[i, j] += (-1) ** (i + j) * np.linalg.det(changed)
    return C.T


def sinc_diff_(k: int, x: Array) -> Array:
    """Return the k-th derivative of sinc: by the series for |x| < 1, else from pi*x*sinc(x) = sin(pi*x)."""
    near, far = np.where(np.abs(x) < 1, x, 0.5), np.where(np.abs(x) < 1, 2.0, x)
    y = 0 * x
    for j in range((k + 1) // 2, 100):
        y = y + (-1) ** j * np.pi ** (2 * j) * near ** (2 * j - k) / math.factorial(2 * j - k) / (2 * j + 1)
    z = np.sin(np.pi * far) / (np.pi * far)
    for i in range(1, k + 1):
        z = (np.pi**i * np.sin(np.pi * far + i * np.pi / 2) - i * np.pi * z) / (np.pi * far)
    return np.where(np.abs(x) < 1, y, z)


def snapped_(f: Callable[..., Array], w: Array) -> Array:
    """Return the eigenvalues unchanged: at many digits none is within rounding of 0."""
    return w


def slope_(f: Callable[[Any, Number], Number], k: int, x: Array) -> Array:
    """Return the k-th derivative of f(mp, x), a quotient with a removable singularity at 0, from points near it."""
    return by_digits_(lambda mp, x: mp.diff(lambda t: f(mp, t or mp.mpf(2) ** -300), x, k), x)


def sinc1_diff_(k: int, x: Array) -> Array:
    return slope_(lambda mp, t: mp.sin(t) / t, k, x)


def expm1c_diff_(k: int, x: Array) -> Array:
    return slope_(lambda mp, t: mp.expm1(t) / t, k, x)


def log1pc_diff_(k: int, x: Array) -> Array:
    return slope_(lambda mp, t: mp.log1p(t) / t, k, x)


def tanhc_diff_(k: int, x: Array) -> Array:
    return slope_(lambda mp, t: mp.tanh(t) / t, k, x)


def xexpm1_diff_(k: int, x: Array) -> Array:
    return slope_(lambda mp, t: t / mp.expm1(t), k, x)


def log1mexp_(x: Array) -> Array:
    return np.log(-np.expm1(x))


def logdiffexp_(x: Array, y: Array) -> Array:
    return x + np.log(-np.expm1(y - x))


def erf_gap_(mp: Any, x: Number, y: Number) -> Number:
    """Return erf(x) - erf(y) from the tail in which both terms are small."""
    if x + y < 0:
        x, y = -y, -x
    return mp.erfc(y) - mp.erfc(x) if y > 0 else mp.erf(x) - mp.erf(y)


def log_erf_diff_(x: Array, y: Array) -> Array:
    return by_digits_(lambda mp, x, y: mp.log(erf_gap_(mp, x, y)), x, y)


def erf_share_(x: Array, y: Array) -> Array:
    return by_digits_(lambda mp, x, y: 2 * mp.exp(-x * x) / mp.sqrt(mp.pi) / erf_gap_(mp, x, y), x, y)


def erf_excess_(x: Array, y: Array) -> Array:
    return 2 * x + erf_share_(x, y)


def log_besseli_(k: Array, x: Array) -> Array:
    return by_digits_(lambda mp, k, x: mp.log(mp.besseli(k, x)), k, x)


def log_besseli_diff_(j: int, k: Array, x: Array) -> Array:
    return by_digits_(lambda mp, k, x: mp.diff(lambda t: mp.log(mp.besseli(k, t)), x, j), k, x)


def log_poch_(a: Array, b: Array) -> Array:
    return by_digits_(lambda mp, a, b: (mp.loggamma(a + b) - mp.loggamma(a)).real, a, b)


def poch_diff_(k: int, a: Array, b: Array) -> Array:
    return by_digits_(lambda mp, a, b: mp.psi(k - 1, a + b) - mp.psi(k - 1, a), a, b)


def defined_(f: Callable[..., Number], points: Sequence[Number], value: Number) -> Number:
    return value


def divided_(f: Callable[..., Number], points: Sequence[Number]) -> Number:
    """Return a divided difference: by recursion across gaps that the digits resolve, else as a derivative."""
    order, gap = len(points) - 1, points[-1] - points[0]
    if order == 0:
        return f(points[0])
    if gap > 2.0**-120 * (abs(points[0]) + abs(points[-1])):
        return (divided_(f, points[1:]) - divided_(f, points[:-1])) / gap
    return f(points[0], order) / math.factorial(order)
