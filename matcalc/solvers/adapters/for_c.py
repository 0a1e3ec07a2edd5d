"""Provides formulas as callbacks of C libraries: SciPy's `LowLevelCallable`, the log density of samplers.

A callback is machine code that is compiled once for all formulas. Its `user_data` is a table of integers with the
address of the function to call and of its data. It calls a function of `Compiled.cfunc()` with the addresses of the
variables inside its vector argument. Nothing is copied, no Python is run, and several threads may call it at once.
"""

from __future__ import annotations

import ctypes
from collections.abc import Mapping
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

import matcalc as mc
from matcalc.compiler.call.compiled import Compiled
from matcalc.compiler.kernels.modules import load_text
from matcalc.errors import NotSupported
from matcalc.solvers.compiled_loops import Callee
from matcalc.solvers.problem_input import Inputs, read_inputs, scalar

TEXT = '''\
"""Callbacks of libraries in C: a table says what they call."""

import numpy as np

from matcalc.compiler.numba.jit import cfunc, njit
from matcalc.compiler.call.pointer_call import call_at, word_at
from numba import types

OPTIONS = {"error_model": "numpy", "nogil": True}
ADDRESS, OTHER_LENGTH, REST = 0, -1, 5
DENSITY = types.int64(types.uint64, types.int64, types.int64, types.int64, types.int64)
INTEGRAND = types.float64(types.int32, types.int64, types.int64)


@njit(**OPTIONS)
def called(n, x, value, gradient, user):
    """Call the function of a table at the variables from x on: 0, the number of its fault, -1 for another length."""
    if n != word_at(user, 1):
        return OTHER_LENGTH
    inputs, sizes = np.empty(word_at(user, 2), np.int64), np.empty(word_at(user, 3), np.int64)
    outputs, at = np.empty(word_at(user, 4), np.int64), REST
    for k in range(inputs.size):
        inputs[k] = word_at(user, at) + x * word_at(user, at + 1)
        at += 2
    for k in range(sizes.size):
        sizes[k] = word_at(user, at)
        at += 1
    for k in range(outputs.size):
        outputs[k] = gradient + word_at(user, at) if k else value
        at += 1
    return call_at(word_at(user, ADDRESS), inputs, sizes, outputs)


@cfunc(DENSITY, error_model="numpy", cache=True)
def density(n, x, gradient, value, user):
    return called(types.int64(n), x, value, gradient, user)


@cfunc(INTEGRAND, error_model="numpy", cache=True)
def integrand(n, x, user):
    result = np.empty(1)
    status = called(types.int64(n), x, result.ctypes.data, 0, user)
    return np.nan if status else result[0]
'''


@cache
def _module() -> Any:
    return load_text(TEXT, "c_callbacks").module


class CCallback:
    """A function for a C library: its `address`, the address `user_data` of its table, and its `ctypes` function.

    Keep the object while the library uses it, since it owns the data.
    """

    def __init__(self, entry: Any, kind: Any, given: Inputs, compiled: Compiled) -> None:
        self.address: int = entry.address
        self.ctypes = kind(self.address)
        self._callee = Callee.of(compiled, given.fixed, {}, given.packing.shapes)
        self._table = _table(self._callee, given)
        self.user_data: int = self._table.ctypes.data


def _table(callee: Callee, given: Inputs) -> Any:
    """Return the table of a callback: the function's address, counts, inputs, sizes and offsets of results."""
    begins = dict(zip(given.names, _offsets(given.packing.shapes.values()), strict=True))
    address, inputs, _, sizes, outputs, _ = callee.entered(0, begins)
    moves = [int(a.name in begins) for a in callee.compiled.spec.arguments]
    results = [0, *_offsets(callee.shapes[1:])]
    head = [address, given.packing.size, len(inputs), len(sizes), len(outputs)]
    return np.array([*head, *np.column_stack([inputs, moves]).reshape(-1), *sizes, *results], np.int64)


def _offsets(shapes: Any) -> list[int]:
    """Return the offsets in bytes of consecutive arrays."""
    item = np.dtype(np.float64).itemsize
    return [item * int(n) for n in np.cumsum([0, *(np.prod(shape, dtype=int) for shape in shapes)])[:-1]]


def density(given: Inputs) -> CCallback:
    """Return `int64 f(uint64 n, double *x, double *gradient, double *value, void *user_data)` of a scalar formula.

    Raises: NotSupported on another target than numba.
    """
    if given.target != "numba":
        raise NotSupported(f'target "{given.target}" has no functions for C: omit target=')
    kind = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_uint64, *[ctypes.c_void_p] * 4)
    compiled = mc.value_and_gradient(scalar(given.formulas[0]), given.names)
    return CCallback(_module().density, kind, given, compiled)


class _UserData(ctypes.c_void_p):
    """The address of a table; it references the callback, which owns the table."""

    callback: CCallback


def low_level(
    f: Any,
    wrt: Any,
    data: Mapping[Any, ArrayLike] | None = None,
    sizes: Mapping[Any, int] | None = None,
    *,
    declarations: str = "",
    dialect: str = "matrix",
) -> Any:
    """Return the scalar `f` as SciPy's `LowLevelCallable` of the packed symbols `wrt`, which runs no Python.

    It is `double f(int n, double *x, void *user_data)`, for `scipy.integrate.quad` and `nquad`: quad integrates over
    the first entry, and its `args` are the others. The value is NaN if linear algebra fails or the number of entries
    is wrong.

    Raises: as `problem`.

    Example:
        >>> import scipy.integrate
        >>> gaussian = low_level("exp(-a*x^2)", ["x", "a"], declarations="x: scalar; a: scalar")
        >>> round(scipy.integrate.quad(gaussian, -9, 9, args=(2.0,))[0] ** 2, 12)
        1.570796326795
    """
    from scipy import LowLevelCallable

    given = read_inputs(f, wrt, data, None, sizes, declarations, dialect)
    compiled = mc.compile(scalar(given.formulas[0]))
    kind = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_int, ctypes.POINTER(ctypes.c_double), ctypes.c_void_p)
    made = CCallback(_module().integrand, kind, given, compiled)
    user_data = _UserData(made.user_data)
    user_data.callback = made
    return LowLevelCallable(made.ctypes, user_data)
