"""Objects of Python and arrays of NumPy as C sees them.

NumPy publishes its layout, Python that of objects; both are looked at once, on arrays, before any code relies on them.
"""

from __future__ import annotations

import ctypes
import platform
import sys
import sysconfig
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from matcalc.errors import NotSupported

DOUBLE = np.dtype(np.float64).num
SWAPPED = ord(">" if sys.byteorder == "little" else "<")
CONTIGUOUS, ALIGNED, WRITABLE = {"C": 0x1, "F": 0x2, "A": 0}, 0x100, 0x400

Fields = Sequence[tuple[str, type[Any]]]

WORDS = ("vectorcall", "into", "slow", "given", "names")
"""The words of an object that machine code is called through, behind those of its class: the function that is called;
the machine code that computes; the Python function that takes what is not exact; for each argument the object that is
fixed for it, or nothing; the names, `out` last."""


class Object(ctypes.Structure):
    """PyObject: the class comes last in each build of Python."""

    _fields_: ClassVar[Fields] = (
        ("head", ctypes.c_byte * (object.__basicsize__ - ctypes.sizeof(ctypes.c_void_p))),
        ("kind", ctypes.c_void_p),
    )


class Array(Object):
    """PyArrayObject, as NumPy publishes it."""

    _fields_: ClassVar[Fields] = (
        ("data", ctypes.c_void_p),
        ("rank", ctypes.c_int),
        ("shape", ctypes.c_void_p),
        ("strides", ctypes.c_void_p),
        ("base", ctypes.c_void_p),
        ("dtype", ctypes.c_void_p),
        ("flags", ctypes.c_int),
    )


class Dtype(Object):
    """The start of PyArray_Descr."""

    _fields_: ClassVar[Fields] = (
        ("scalar", ctypes.c_void_p),
        ("letters", ctypes.c_char * 2),
        ("order", ctypes.c_byte),
        ("other", ctypes.c_byte),
        ("number", ctypes.c_int),
    )


def is_known() -> bool:
    """Whether this interpreter has objects as machine code expects them."""
    is_free_threaded = bool(sysconfig.get_config_var("Py_GIL_DISABLED"))
    return platform.python_implementation() == "CPython" and sys.maxsize > 2**32 and not is_free_threaded


def check_structures() -> None:
    """Look at arrays through the structures above.

    Raises: NotSupported where Python or NumPy have changed them.
    """
    for array in (np.zeros((2, 3)), np.zeros((3, 2), ">f8").T, np.zeros((2, 5), "<f8")[:, 1:]):
        if not _is_seen(array):
            raise NotSupported("compiled functions cannot read the arrays of this NumPy", hint="use the target numpy")


def _is_seen(array: np.ndarray[Any, Any]) -> bool:
    found = Array.from_address(id(array))
    if (found.kind, found.data, found.rank) != (id(np.ndarray), array.ctypes.data, array.ndim):
        return False
    if (found.dtype, found.flags) != (id(array.dtype), array.flags.num):
        return False
    dtype = Dtype.from_address(found.dtype)
    axes = [tuple((ctypes.c_ssize_t * array.ndim).from_address(row)) for row in (found.shape, found.strides)]
    swapped = dtype.order == SWAPPED
    return axes == [array.shape, array.strides] and (dtype.number, swapped) == (DOUBLE, not array.dtype.isnative)


if is_known():
    check_structures()
