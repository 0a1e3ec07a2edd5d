"""Finds the BLAS and LAPACK routines of SciPy's own library without importing SciPy.

SciPy's wheels contain OpenBLAS in a folder of their own, and SciPy's Cython interface forwards its arguments to it
unchanged. Without such a folder, the address is read from the Cython interface, which must be imported.
"""

from __future__ import annotations

import ctypes
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import llvmlite.binding as llvm

PREFIXES = {"scipy_blas_": "scipy.linalg.cython_blas", "scipy_lapack_": "scipy.linalg.cython_lapack"}
"""The prefixes of the symbols of routines, and the Cython module of each."""
FOLDERS = ("../scipy.libs", ".dylibs")
PATTERN = "*scipy_openblas*"
SPELLING = "scipy_{}_"


def is_routine(symbol: str) -> bool:
    """Whether a symbol is a BLAS or LAPACK routine of SciPy."""
    return symbol.startswith(tuple(PREFIXES))


def add_routine(symbol: str) -> str:
    """Register the address of a routine with LLVM; return the routine's name, or "" if this SciPy lacks it."""
    prefix = next(prefix for prefix in PREFIXES if symbol.startswith(prefix))
    name = symbol.removeprefix(prefix)
    try:
        llvm.add_symbol(symbol, get_cython_function_address(PREFIXES[prefix], name))
    except ValueError:
        return ""
    return name


def get_cython_function_address(module: str, name: str) -> int:
    """Return the address of a function of a Cython module, as Numba's function of the same name does.

    Raises: ValueError if the module has no such function.
    """
    address = (_in_library(name) if module in PREFIXES.values() else 0) or _in_module(module, name)
    if not address:
        raise ValueError(f"No function {name!r} found in __pyx_capi__ of {module!r}")
    return address


@cache
def _library() -> ctypes.CDLL | None:
    """Return the OpenBLAS library of SciPy's wheel; None for a SciPy that was built differently."""
    spec = find_spec("scipy")
    home = Path(spec.origin).parent if spec is not None and spec.origin else Path()
    found = [path for folder in FOLDERS for path in sorted((home / folder).glob(PATTERN))]
    if len(found) != 1:
        return None
    try:
        return ctypes.CDLL(str(found[0].resolve()))
    except OSError:
        return None


def count_of_threads(count: int) -> int:
    """Set the thread count of SciPy's OpenBLAS and return the previous one; 0 if it cannot be set."""
    library = _library()
    before = getattr(library, "scipy_openblas_get_num_threads", None)
    if library is None or before is None:
        return 0
    found = int(before())
    library.scipy_openblas_set_num_threads(ctypes.c_int(count))
    return found


def _in_library(name: str) -> int:
    routine = getattr(_library(), SPELLING.format(name), None)
    return 0 if routine is None else int(ctypes.cast(routine, ctypes.c_void_p).value or 0)


def _in_module(module: str, name: str) -> int:
    capsule = import_module(module).__pyx_capi__.get(name)
    if capsule is None:
        return 0
    stated = ctypes.PYFUNCTYPE(ctypes.c_char_p, ctypes.py_object)(("PyCapsule_GetName", ctypes.pythonapi))
    kind = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)
    return int(kind(("PyCapsule_GetPointer", ctypes.pythonapi))(capsule, stated(capsule)) or 0)
