"""Defines arrays of numbers with many digits: object arrays whose arithmetic never falls back to floats.

Divisions by zero, logarithms of negative numbers and poles return inf or NaN as in IEEE arithmetic, and raise nothing.
The precision belongs to a separate context; mpmath's global context is never changed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from fractions import Fraction
from threading import RLock
from typing import Any, TypeAlias

import mpmath
import numpy as np
from numpy.typing import NDArray

from matcalc.locks import held_at_fork

DIGITS = 60

mp: Any = mpmath.ctx_mp.MPContext()
mp.dps = DIGITS
_one_at_a_time = held_at_fork(RLock())

Array = NDArray[Any]
Precise: TypeAlias = Any
"""A number with many digits or an array of them; mpmath has no type annotations."""
Function = Callable[..., Precise]


@contextmanager
def digits(count: int) -> Iterator[None]:
    """Compute with `count` digits in the block; one thread at a time."""
    with _one_at_a_time:
        before = mp.dps
        mp.dps = count
        try:
            yield
        finally:
            mp.dps = before


class Numbers(np.ndarray[Any, np.dtype[Any]]):
    """An array of mpf, or mpc where complex."""

    def __array_ufunc__(
        self, ufunc: Precise, method: str, *inputs: Precise, out: Precise = None, **options: object
    ) -> Precise:
        own = ELEMENTWISE.get(ufunc.__name__) if method == "__call__" else None
        given = [plain(a) if isinstance(a, (np.ndarray, np.generic)) else a for a in inputs]
        if method == "at":
            raise TypeError(f"{ufunc.__name__}.at of many digits")
        result = numbers(own(*given) if own else getattr(ufunc, method)(*given, **options))
        if out is None:
            return result
        out[0][...] = result
        return out[0]

    def astype(self, dtype: Any, *args: Any, **options: Any) -> Array:
        """Return a copy for float and complex types; convert to other types by value."""
        kind = np.dtype(dtype).kind
        return self.copy() if kind in "fcO" else np.asarray(self).astype(dtype, *args, **options)

    @property  # type: ignore[misc]
    def real(self) -> Precise:
        return numbers(_REAL(plain(self)))

    @property  # type: ignore[misc]
    def imag(self) -> Precise:
        return numbers(_IMAG(plain(self)))

    def conj(self) -> Precise:
        return numbers(_CONJ(plain(self)))

    def __float__(self) -> float:
        return float(self.item())

    def round(self, decimals: Any = 0, out: Any = None) -> Precise:
        """Return the nearest integers."""
        return numbers(_NEAREST(plain(self)))


def number(x: Precise) -> Precise:
    """Return a number with many digits; floats are converted exactly."""
    if isinstance(x, (mp.mpf, mp.mpc)):
        return x
    if isinstance(x, Fraction):
        return mp.mpf(x.numerator) / x.denominator
    if isinstance(x, (complex, np.complexfloating)):
        return mp.mpc(complex(x))
    if isinstance(x, (bool, np.bool_, int, np.integer)):
        return mp.mpf(int(x))
    if isinstance(x, np.ndarray):
        return number(x.item())
    return mp.mpf(float(x)) if isinstance(x, (float, np.floating)) else mp.mpf(x)


def numbers(x: Precise) -> Precise:
    """Return floats, fractions and objects as Numbers; integers, truth values and others unchanged."""
    if isinstance(x, (tuple, list)):
        return type(x)(numbers(a) for a in x) if not hasattr(x, "_fields") else tuple(numbers(a) for a in x)
    if isinstance(x, np.ndarray) and x.dtype.kind in "fcO":
        result = np.empty(x.shape, object)
        with np.errstate(invalid="ignore"):  # comparisons of NaN inside
            result[...] = _NUMBER(plain(x)) if x.size else 0
        return result.view(Numbers)
    if isinstance(x, (float, complex, Fraction, np.floating, np.complexfloating, mp.mpf, mp.mpc)):
        result = np.empty((), object)
        result[()] = number(x)
        return result.view(Numbers)
    return x


def plain(x: Precise) -> Array:
    """Return an array as a plain ndarray, whose arithmetic is that of its entries."""
    return x.view(np.ndarray) if isinstance(x, np.ndarray) else np.asarray(x)


def objects(x: Precise) -> Array:
    """Return a fresh plain array of numbers with many digits."""
    return np.array(plain(numbers(np.asarray(x, dtype=object))), dtype=object)


def doubles(x: Precise) -> Array:
    """Return the nearest float64 array; complex128 if an imaginary part is not 0."""
    array = plain(np.asarray(x))
    if array.dtype.kind != "O":
        return np.asarray(array, dtype=float)
    if is_complex(array):
        return np.asarray(array, dtype=complex)
    with np.errstate(invalid="ignore"):  # older NumPy warns if it converts a NaN
        return np.asarray(_REAL(array), dtype=float)


def is_complex(x: Precise) -> bool:
    """Whether any entry has an imaginary part."""
    array = np.asarray(x)
    if array.dtype.kind == "O":
        return any(isinstance(v, mp.mpc) and v.imag != 0 for v in array.flat)
    return array.dtype.kind == "c"


def safely(f: Function) -> Function:
    """Return f, but NaN if it has no real value for real arguments, or a pole."""

    def g(*args: Precise) -> Precise:
        xs = [number(a) for a in args]
        try:
            y = f(*xs)
        except (ZeroDivisionError, ValueError, OverflowError):
            return mp.nan
        if isinstance(y, mp.mpc) and not any(isinstance(x, mp.mpc) for x in xs):
            return y.real if y.imag == 0 else mp.nan
        return y

    return g


def elementwise(f: Function, arity: int = 1) -> Function:
    """Return a function of numbers as a function of arrays, with broadcasting."""
    ufunc = np.frompyfunc(safely(f), arity, 1)

    def g(*arrays: Precise, **options: object) -> Precise:
        if options.keys() - {"out", "where", "dtype"} or options.get("where", True) is not True:
            raise TypeError(f"options of a function with many digits: {' '.join(options)}")
        with np.errstate(all="ignore"):
            return numbers(np.asarray(ufunc(*(plain(np.asarray(a)) for a in arrays)), dtype=object))

    return g


_NUMBER = np.frompyfunc(number, 1, 1)
_REAL = np.frompyfunc(lambda x: x.real if isinstance(x, mp.mpc) else x, 1, 1)
_IMAG = np.frompyfunc(lambda x: x.imag if isinstance(x, mp.mpc) else mp.mpf(0), 1, 1)
_CONJ = np.frompyfunc(lambda x: x.conjugate() if isinstance(x, mp.mpc) else x, 1, 1)
_NEAREST = np.frompyfunc(lambda x: mp.nint(x), 1, 1)


def divided(x: Precise, y: Precise) -> Precise:
    """Return x/y by IEEE's rules."""
    if y != 0:
        return x / y
    return mp.nan if x == 0 or mp.isnan(x) else mp.inf if x > 0 else -mp.inf


def powered(x: Precise, p: Precise) -> Precise:
    """Return x^p by IEEE's rules."""
    if x == 0 and p < 0:
        return mp.inf
    return x**p


def larger(x: Precise, y: Precise) -> Precise:
    return x if mp.isnan(x) or x >= y else y


def smaller(x: Precise, y: Precise) -> Precise:
    return x if mp.isnan(x) or x <= y else y


def sign(x: Precise) -> Precise:
    return x if mp.isnan(x) else mp.mpf((x > 0) - (x < 0))


def log(x: Precise) -> Precise:
    return -mp.inf if x == 0 else mp.log(x)


def log1p(x: Precise) -> Precise:
    """Return log(1 + x); for small x by the series, since 1 + x would lose digits."""
    return log(1 + x) if abs(x) > mp.mpf(10) ** (-mp.dps // 3) else x - x**2 / 2 + x**3 / 3 - x**4 / 4


def sinc(x: Precise) -> Precise:
    return mp.sinc(mp.pi * x)


def cbrt(x: Precise) -> Precise:
    """Return the real cube root."""
    return mp.sign(x) * mp.cbrt(abs(x))


def logaddexp(x: Precise, y: Precise) -> Precise:
    top = larger(x, y)
    return top if not mp.isfinite(top) else top + mp.log1p(mp.exp(-abs(x - y)))


_ONE: dict[str, Function] = {
    "exp": mp.exp, "expm1": mp.expm1, "exp2": lambda x: mp.mpf(2) ** x, "log": log, "log1p": log1p,
    "log2": lambda x: log(x) / mp.log(2), "log10": lambda x: log(x) / mp.log(10), "sqrt": mp.sqrt, "cbrt": cbrt,
    "sin": mp.sin, "cos": mp.cos, "tan": mp.tan, "arcsin": mp.asin, "arccos": mp.acos, "arctan": mp.atan,
    "sinh": mp.sinh, "cosh": mp.cosh, "tanh": mp.tanh, "arcsinh": mp.asinh, "arccosh": mp.acosh,
    "arctanh": mp.atanh, "square": lambda x: x * x, "absolute": abs, "fabs": abs, "sign": sign,
    "reciprocal": lambda x: divided(mp.mpf(1), x), "floor": mp.floor, "ceil": mp.ceil, "rint": mp.nint,
    "trunc": lambda x: mp.floor(x) if x > 0 else mp.ceil(x), "deg2rad": mp.radians, "rad2deg": mp.degrees,
    "radians": mp.radians, "degrees": mp.degrees, "conjugate": lambda x: mp.conj(x), "positive": lambda x: x,
}  # fmt: skip
_TWO: dict[str, Function] = {
    "divide": divided, "power": powered, "float_power": powered, "maximum": larger, "minimum": smaller,
    "fmax": larger, "fmin": smaller, "hypot": mp.hypot, "arctan2": mp.atan2, "logaddexp": logaddexp,
    "copysign": lambda x, y: abs(x) if y >= 0 else -abs(x),
    "heaviside": lambda x, h: h if x == 0 else mp.mpf(x > 0),
}  # fmt: skip


def _truth(f: Function) -> Function:
    ufunc = np.frompyfunc(lambda x: bool(f(number(x))), 1, 1)
    return lambda x, **_: np.asarray(ufunc(plain(np.asarray(x))), dtype=bool)[()]


def _of_integers(f: Function, g: Function) -> Function:
    """Return a function that applies f to integers, which remain integers and may be indices, and g to others."""
    return lambda *xs, **options: (f if all(np.asarray(x).dtype.kind in "biu" for x in xs) else g)(*xs, **options)


ELEMENTWISE: dict[str, Function] = {
    **{name: elementwise(f) for name, f in _ONE.items()},
    **{name: elementwise(f, 2) for name, f in _TWO.items()},
    **{
        name: _of_integers(getattr(np, name), elementwise(f, 2))
        for name, f in (
            ("maximum", larger),
            ("minimum", smaller),
            ("floor_divide", lambda x, y: mp.floor(divided(x, y))),
            ("remainder", lambda x, y: x - y * mp.floor(divided(x, y))),
        )
    },
    "isfinite": _truth(mp.isfinite),
    "isnan": _truth(mp.isnan),
    "isinf": _truth(mp.isinf),
}
"""NumPy's elementwise functions by the names of its ufuncs."""
