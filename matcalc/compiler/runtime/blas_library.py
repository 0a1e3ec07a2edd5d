"""A library of BLAS and LAPACK beside SciPy's: where it is, whether its integers are ours, how many threads it takes.

Routines are called as Fortran does, `dgemm_`, with integers of 32 bits. MKL stands for its `libmkl_rt`, where Python's
packages are or the linker finds it; it has as many threads as OpenBLAS is told to take, or as MKL_NUM_THREADS says,
and with one it is told to use no threads at all (its sequential layer).
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
    """Return the file of a library that is given by path, or `mkl`.

    Raises: NotSupported where there is none.
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
    """Return how many threads OpenBLAS takes in this process, by the variables that it reads when it is loaded."""
    for name in ("OPENBLAS_NUM_THREADS", "GOTO_NUM_THREADS", "OMP_NUM_THREADS"):
        if os.environ.get(name, "").isdigit() and int(os.environ[name]) > 0:
            return int(os.environ[name])
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@dataclass(frozen=True)
class BlasLibrary:
    """A library that is open."""

    path: Path
    library: ctypes.CDLL

    def address(self, name: str) -> int:
        """Return where a routine is, 0 where the library has none of this name."""
        for spelling in SPELLINGS:
            routine = getattr(self.library, spelling.format(name), None)
            if routine is not None:
                return int(ctypes.cast(routine, ctypes.c_void_p).value or 0)
        return 0


def opened(path: Path, count: int) -> BlasLibrary:
    """Open a library for a number of threads, its integers and a product of two matrices tried.

    Raises: NotSupported in one sentence for a library that cannot be opened, or computes something else.
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
    """Tell a library its integers and threads, where it has a word for that."""
    if hasattr(library, "MKL_Set_Threading_Layer"):
        told = os.environ.get("MKL_NUM_THREADS", "")
        count = int(told) if told.isdigit() and int(told) > 0 else count
        library.MKL_Set_Interface_Layer(LP64)
        if count == 1:
            library.MKL_Set_Threading_Layer(SEQUENTIAL)
    for word in ("MKL_Set_Num_Threads", "openblas_set_num_threads", "bli_thread_set_num_threads"):
        if hasattr(library, word):
            getattr(library, word)(ctypes.c_long(count) if word.startswith("bli") else ctypes.c_int(count))


def _tested(library: BlasLibrary) -> None:
    """Refuse integers of 64 bits, and a product that is wrong.

    To a library of 64-bit integers the size [1, -1] is negative, so that it scales nothing, in any of its versions.
    """
    scale, product = library.address("dscal"), library.address("dgemm")
    if not scale or not product:
        raise NotSupported(f"{library.path} is no BLAS: it has no dgemm_")
    size, step = np.array([1, -1], np.int32), np.array([1, 0], np.int32)
    x, factor = np.array([3.0, 3.0]), np.array([2.0])
    call(scale, size, factor, x, step)
    if x.tolist() != [6.0, 3.0]:
        raise NotSupported(f"{library.path} takes integers of 64 bits, and matcalc gives them in 32: LP64, not ILP64")
    A, B, C = np.array([[1.0, 2.0], [3.0, 5.0]]), np.array([[7.0, 11.0], [13.0, 17.0]]), np.full((2, 2), 9.0)
    two, one, zero = np.array([2, 0], np.int32), np.array([1.0]), np.array([0.0])
    no = np.frombuffer(b"N\0\0\0", np.int32)
    call(product, no, no, two, two, two, one, B, two, A, two, zero, C, two)
    if C.tolist() != [[33.0, 45.0], [86.0, 118.0]]:
        raise NotSupported(f"{library.path} computes products wrong")


def call(address: int, *arrays: np.ndarray[Any, Any]) -> None:
    """Call a routine as Fortran does: all by address."""
    prepared(address, arrays)()


def prepared(address: int, arrays: Sequence[np.ndarray[Any, Any]]) -> Callable[[], None]:
    """Return the call of a routine with these arrays, whose memory stays where it is, in the least time."""
    routine = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * len(arrays))(address)
    return partial(routine, *(ctypes.c_void_p(array.ctypes.data) for array in arrays))
