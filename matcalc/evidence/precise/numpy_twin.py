"""Defines `np` for values at many digits: NumPy itself where it only arranges numbers, our own functions elsewhere."""

from __future__ import annotations

import types
from collections.abc import Callable, Mapping

import numpy as np

from matcalc.errors import NotSupported
from matcalc.evidence.precise import linear
from matcalc.evidence.precise.arithmetic import (
    ELEMENTWISE,
    Function,
    Numbers,
    Precise,
    elementwise,
    is_complex,
    mp,
    numbers,
    objects,
    plain,
    sinc,
)

_PLACING = """
    all any append arange argmax argmin argsort atleast_1d atleast_2d block broadcast_arrays broadcast_shapes
    broadcast_to concatenate convolve correlate count_nonzero cross cumprod cumsum delete diag diag_indices diagflat
    diagonal diff dot einsum errstate expand_dims extract eye fill_diagonal flatnonzero flip fliplr flipud full
    full_like gradient hstack identity indices inner insert invert ix_ kron less less_equal greater greater_equal
    equal not_equal linspace logical_and logical_not logical_or matmul max amax mean meshgrid min amin moveaxis
    multiply add subtract negative ndim ndindex nonzero ones ones_like outer pad permute_dims prod ptp put
    put_along_axis ravel ravel_multi_index repeat reshape resize roll rollaxis rot90 shape size sort split squeeze
    stack sum swapaxes take take_along_axis tensordot tile trace transpose trapezoid tri tril tril_indices
    tril_indices_from triu triu_indices triu_indices_from unravel_index unique vander vdot vstack where zeros
    zeros_like float64 int64 bool_ ndarray newaxis inf nan iterable isscalar remainder mod floor_divide
    searchsorted interp array_equal clip empty empty_like copy copyto fromfunction integer floating number
"""
PLACING = frozenset(_PLACING.split())
"""NumPy functions that work for objects as for numbers: they order, arrange, add and multiply them."""


class Twin:
    """A namespace of our own functions and the names `passed` of a module; other names raise NotSupported."""

    def __init__(
        self, name: str, own: Mapping[str, Precise], module: Precise, passed: frozenset[str] = frozenset()
    ) -> None:
        self._name, self._own, self._module, self._passed = name, dict(own), module, passed

    def __getattr__(self, name: str) -> Precise:
        if name in self._own:
            found = self._own[name]
            return found() if isinstance(found, Constant) else found
        if name not in self._passed:
            raise NotSupported(f"{self._name}.{name} has no twin at many digits (matcalc/evidence/precise)")
        found = getattr(self._module, name)
        return lifted(found) if callable(found) and not isinstance(found, type) else found


class Constant:
    """A number that depends on the number of digits."""

    def __init__(self, value: Callable[[], Precise]) -> None:
        self._value = value

    def __call__(self) -> Precise:
        return self._value()


def lifted(f: Function) -> Function:
    """Return a NumPy function whose floats become numbers with many digits; float dtypes are dropped."""

    def g(*args: Precise, **options: object) -> Precise:
        options = {k: v for k, v in options.items() if not (k == "dtype" and _is_float(v))}
        return numbers(f(*(a for a in args if not _is_float(a)), **options))

    return g


def _is_float(x: Precise) -> bool:
    """Whether an argument is a dtype of real or complex numbers."""
    if isinstance(x, np.dtype):
        return x.kind in "fcO"
    return isinstance(x, (type, types.FunctionType)) and x in (float, complex, np.float64, np.complex128, object)


def matrixwise(f: Function) -> Function:
    """Return a function of plain object arrays as a function of any arrays."""

    def g(*args: Precise) -> Precise:
        return numbers(f(*(objects(a) for a in args)))

    return g


def array(x: Precise, *_: object, **__: object) -> Precise:
    """Return numbers as Numbers; integers and truth values as NumPy's array."""
    if isinstance(x, np.ndarray):
        return numbers(x.copy())
    made = np.asarray(x) if not isinstance(x, (list, tuple)) or _is_plain(x) else np.array(_nested(x), dtype=object)
    return numbers(made)


def _is_plain(x: Precise) -> bool:
    if isinstance(x, (list, tuple)):
        return all(map(_is_plain, x))
    return isinstance(x, (bool, int, np.bool_, np.integer))


def _nested(x: Precise) -> Precise:
    """Return nested lists of numbers for lists of arrays."""
    if isinstance(x, (list, tuple)):
        return [_nested(a) for a in x]
    return plain(x).tolist() if isinstance(x, np.ndarray) else x


def var(x: Precise, axis: int | None = None, ddof: int = 0, keepdims: bool = False) -> Precise:
    x = numbers(np.asarray(x, dtype=object))
    count = x.size if axis is None else x.shape[axis]
    away = x - numbers(np.sum(x, axis=axis, keepdims=True)) / count
    return numbers(np.sum(away * away, axis=axis, keepdims=keepdims)) / (count - ddof)


def mean(x: Precise, axis: int | None = None, keepdims: bool = False) -> Precise:
    x = numbers(np.asarray(x, dtype=object))
    return numbers(np.sum(x, axis=axis, keepdims=keepdims)) / (x.size if axis is None else x.shape[axis])


def median(x: Precise) -> Precise:
    x = sorted(numbers(np.asarray(x, dtype=object)).ravel())
    return numbers((x[(len(x) - 1) // 2] + x[len(x) // 2]) / 2)


def norm(x: Precise, ord: Precise = None, axis: int | None = None, keepdims: bool = False) -> Precise:
    """Return the result of numpy.linalg.norm: the Euclidean norm unless `ord` selects another."""
    x = numbers(np.asarray(x, dtype=object))
    size = abs(x)
    if ord in (None, "fro") or (ord == 2 and (x.ndim == 1 or axis is not None)):
        return ELEMENTWISE["sqrt"](np.sum(size * size, axis=axis, keepdims=keepdims))
    if x.ndim == 2 and axis is None:
        s = svdvals(x)
        sums = {1: size.sum(0), np.inf: size.sum(1)}
        return {"nuc": lambda: numbers(np.sum(s)), 2: lambda: s[0], -2: lambda: s[-1]}.get(
            ord, lambda: numbers(np.max(sums[ord]))
        )()
    if ord == np.inf:
        return numbers(np.max(size, axis=axis, keepdims=keepdims))
    return numbers(np.sum(size**ord, axis=axis, keepdims=keepdims)) ** (1 / mp.mpf(ord))


def svd(X: Precise, full_matrices: bool = True, compute_uv: bool = True) -> Precise:
    """Return the result of numpy.linalg.svd."""
    U, s, V = linear.svd(objects(X), full_matrices)
    return (numbers(U), numbers(s), numbers(V.T)) if compute_uv else numbers(s)


def svdvals(X: Precise) -> Precise:
    return svd(X, compute_uv=False)


def slogdet(X: Precise) -> tuple[Precise, Precise]:
    value = linear.det(objects(X))
    if value == 0:
        return numbers(mp.mpf(0)), numbers(-mp.inf)
    return numbers(mp.sign(value)), numbers(mp.log(abs(value)))


def cond(X: Precise, p: Precise = None) -> Precise:
    if p not in (None, 2):
        return norm(X, p) * norm(matrixwise(linear.inv)(X), p)
    s = svdvals(X)
    return s[0] / s[-1] if s[-1] != 0 else numbers(mp.inf)


def eig(X: Precise) -> tuple[Precise, Precise]:
    w, _, V = linear.eig(objects(X))
    return numbers(w), numbers(V)


def qr(X: Precise, mode: str = "reduced") -> Precise:
    if mode not in ("reduced", "r", "economic"):
        raise NotSupported(f"qr with mode '{mode}' has no twin at many digits")
    Q, R = linear.qr(objects(X))
    return numbers(R) if mode == "r" else (numbers(Q), numbers(R))


def lstsq(A: Precise, b: Precise, rcond: Precise = None) -> tuple[Precise, Precise, int, Precise]:
    s = svdvals(A)
    return numbers(np.dot(linear.pinv(objects(A)), objects(b))), None, len(s), s


def matrix_rank(X: Precise) -> int:
    s = svdvals(X)
    return int(sum(value > s[0] * mp.sqrt(mp.eps) for value in s))


LINALG: dict[str, Precise] = {
    "inv": matrixwise(linear.inv),
    "det": matrixwise(linear.det),
    "solve": matrixwise(linear.solve),
    "cholesky": matrixwise(linear.cholesky),
    "pinv": lambda X, *_, **__: matrixwise(linear.pinv)(X),
    "eigh": lambda S: numbers(linear.eigh(objects(S))),
    "eigvalsh": lambda S: numbers(linear.eigh(objects(S))[0]),
    "eig": eig,
    "eigvals": lambda X: eig(X)[0],
    "matrix_power": lambda X, k: numbers(linear.powm(objects(X), int(k))),
    "multi_dot": lambda Xs: numbers(np.linalg.multi_dot([plain(X) for X in Xs])),
    "LinAlgError": np.linalg.LinAlgError,
    **{f.__name__: f for f in (svd, svdvals, slogdet, cond, qr, lstsq, matrix_rank, norm)},
}

_SHORT = {"absolute": ("abs",), "arctan2": ("atan2",), "conjugate": ("conj",), "divide": ("true_divide",),
          "arcsin": ("asin",), "arccos": ("acos",), "arctan": ("atan",), "arcsinh": ("asinh",),
          "arccosh": ("acosh",), "arctanh": ("atanh",), "power": ("pow",)}  # fmt: skip

OWN: dict[str, Precise] = {
    **ELEMENTWISE,
    **{short: ELEMENTWISE[name] for name, shorts in _SHORT.items() for short in shorts},
    "sinc": elementwise(sinc),
    "pi": Constant(lambda: +mp.pi),
    "e": Constant(lambda: +mp.e),
    "euler_gamma": Constant(lambda: +mp.euler),
    "array": array,
    "asarray": array,
    "ascontiguousarray": array,
    "real": lambda x: numbers(np.asarray(x, dtype=object)).real,
    "imag": lambda x: numbers(np.asarray(x, dtype=object)).imag,
    "iscomplexobj": is_complex,
    "isrealobj": lambda x: not is_complex(x),
    "round": lambda x, *_: numbers(np.asarray(x, dtype=object)).round(),
    "std": lambda x, *args, **options: ELEMENTWISE["sqrt"](var(x, *args, **options)),
    "linalg": Twin("np.linalg", LINALG, np.linalg),
    **{f.__name__: f for f in (var, mean, median)},
}

TWIN = Twin("np", OWN, np, PLACING)

__all__ = ["TWIN", "Numbers", "Twin"]
