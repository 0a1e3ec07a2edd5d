"""Opens a BLAS and LAPACK library other than SciPy's, tests its integer size and sets its thread count.

Routines are called by Fortran's convention, `dgemm_`, with 32-bit integers. `mkl` means MKL's `libmkl_rt`, searched
in the prefix of Python and by the linker. MKL gets the thread count of OpenBLAS, or that of MKL_NUM_THREADS; with one
thread its sequential layer is selected.
"""

from __future__ import annotations

import ctypes
import ctypes.util
import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from matcalc.errors import NotSupported

SPELLINGS = ("{}_", "{}", "scipy_{}_")
MKL = ("libmkl_rt.so*", "libmkl_rt*.dylib", "mkl_rt*.dll")
SEQUENTIAL = 1
LP64 = 0


def found(given: str) -> Path:
    """Return the file of a library, named by its path or by `mkl`.

    Raises: NotSupported if there is no such file.
    """
    if given.lower() != "mkl":
        path = Path(os.path.expanduser(given)).absolute()
        if not path.is_file():
            raise NotSupported(f"{given} is no file", hint="--blas takes the path of a library, or mkl")
        return path
    prefix = Path(sys.prefix)
    folders = [prefix / "lib", prefix / "Library" / "bin"]
    places = [path for folder in folders for name in MKL for path in sorted(folder.glob(name))]
    elsewhere = ctypes.util.find_library("mkl_rt")
    if not places and not (elsewhere and Path(elsewhere).is_file()):
        raise NotSupported(f"there is no libmkl_rt in {prefix / 'lib'}", hint="pip install mkl")
    return places[-1] if places else Path(str(elsewhere))


def threads() -> int:
    """Return OpenBLAS's thread count in this process, from the environment variables that it reads when loaded."""
    for name in ("OPENBLAS_NUM_THREADS", "GOTO_NUM_THREADS", "OMP_NUM_THREADS"):
        if os.environ.get(name, "").isdigit() and int(os.environ[name]) > 0:
            return int(os.environ[name])
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@dataclass(frozen=True)
class BlasLibrary:
    """An open library."""

    path: Path
    library: ctypes.CDLL

    def address(self, name: str) -> int:
        """Return the address of a routine; 0 if the library lacks it."""
        for spelling in SPELLINGS:
            routine = getattr(self.library, spelling.format(name), None)
            if routine is not None:
                return int(ctypes.cast(routine, ctypes.c_void_p).value or 0)
        return 0


def opened(path: Path, count: int) -> BlasLibrary:
    """Open a library for a number of threads, and test its integer size and a product of two matrices.

    Raises: NotSupported if the library cannot be opened or computes wrong results.
    """
    try:
        library = ctypes.CDLL(str(path), mode=os.RTLD_LOCAL | os.RTLD_NOW if os.name == "posix" else 0)
    except OSError as fault:
        raise NotSupported(f"{path} cannot be opened: {str(fault).splitlines()[0]}") from None
    _settle(library, count)
    made = BlasLibrary(path, library)
    _tested(made)
    return made


def _settle(library: ctypes.CDLL, count: int) -> None:
    """Set the integer size and the thread count of a library, if it has functions for that."""
    if hasattr(library, "MKL_Set_Threading_Layer"):
        threads_of_mkl = os.environ.get("MKL_NUM_THREADS", "")
        count = int(threads_of_mkl) if threads_of_mkl.isdigit() and int(threads_of_mkl) > 0 else count
        library.MKL_Set_Interface_Layer(LP64)
        if count == 1:
            library.MKL_Set_Threading_Layer(SEQUENTIAL)
    for word in ("MKL_Set_Num_Threads", "openblas_set_num_threads", "bli_thread_set_num_threads"):
        if hasattr(library, word):
            getattr(library, word)(ctypes.c_long(count) if word.startswith("bli") else ctypes.c_int(count))


def _tested(library: BlasLibrary) -> None:
    """Raise NotSupported if the library has 64-bit integers or computes a wrong product.

    A library with 64-bit integers reads the size [1, -1] as a negative number, so its dscal scales nothing.
    """
    scale, product = library.address("dscal"), library.address("dgemm")
    if not scale or not product:
        raise NotSupported(f"{library.path} is no BLAS: it has no dgemm_")
    size, step = np.array([1, -1], np.int32), np.array([1, 0], np.int32)
    x, factor = np.array([3.0, 3.0]), np.array([2.0])
    call(scale, size, factor, x, step)
    if x.tolist() != [6.0, 3.0]:
        raise NotSupported(f"{library.path} takes 64-bit integers (ILP64): use one with 32-bit integers (LP64)")
    A, B, C = np.array([[1.0, 2.0], [3.0, 5.0]]), np.array([[7.0, 11.0], [13.0, 17.0]]), np.full((2, 2), 9.0)
    two, one, zero = np.array([2, 0], np.int32), np.array([1.0]), np.array([0.0])
    no = np.frombuffer(b"N\0\0\0", np.int32)
    call(product, no, no, two, two, two, one, B, two, A, two, zero, C, two)
    if C.tolist() != [[33.0, 45.0], [86.0, 118.0]]:
        raise NotSupported(f"{library.path} computes a wrong matrix product")


def call(address: int, *arrays: np.ndarray[Any, Any]) -> None:
    """Call a routine by Fortran's convention: all arguments by address."""
    prepared(address, arrays)()


def prepared(address: int, arrays: Sequence[np.ndarray[Any, Any]]) -> Callable[[], None]:
    """Return a fast repeatable call of a routine with these arrays, which must not be moved."""
    routine = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * len(arrays))(address)
    return partial(routine, *(ctypes.c_void_p(array.ctypes.data) for array in arrays))
