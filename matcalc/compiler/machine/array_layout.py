"""Describes the memory layout of Python objects and NumPy arrays, which machine code reads directly.

Python and NumPy publish these layouts. They are checked once, on sample arrays, before any code relies on them. If
the check fails, Python and Numba read the arrays.
"""

from __future__ import annotations

import ctypes
import platform
import sys
import sysconfig
from collections.abc import Sequence
from functools import cache
from typing import Any, ClassVar

import numpy as np

DOUBLE = np.dtype(np.float64).num
SWAPPED = ord(">" if sys.byteorder == "little" else "<")
CONTIGUOUS, ALIGNED, WRITABLE = {"C": 0x1, "F": 0x2, "A": 0}, 0x100, 0x400

Fields = Sequence[tuple[str, type[Any]]]

WORDS = ("vectorcall", "into", "function", "slow", "given", "names", "table")
"""The words that follow the fields of the class in an object with a call slot: the vectorcall function; the machine
code that takes a row of words; the function that this calls, if it is not the one that computes; the Python fallback
for inexact arguments; the fixed object of each argument, or null; the names, `out` last; the table of the call."""


class Object(ctypes.Structure):
    """PyObject: the type pointer is its last field in every build of Python."""

    _fields_: ClassVar[Fields] = (
        ("head", ctypes.c_byte * (object.__basicsize__ - ctypes.sizeof(ctypes.c_void_p))),
        ("kind", ctypes.c_void_p),
    )


class Class(Object):
    """The start of PyTypeObject; `call` is the offset of the vectorcall function in objects of the class."""

    _fields_: ClassVar[Fields] = (
        ("length", ctypes.c_ssize_t),
        ("name", ctypes.c_void_p),
        ("size", ctypes.c_ssize_t),
        ("entry_size", ctypes.c_ssize_t),
        ("release", ctypes.c_void_p),
        ("call", ctypes.c_ssize_t),
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
    """Whether objects and arrays of this interpreter have the layout that the machine code of calls expects."""
    return _is_plain_python() and are_arrays_known()


def _is_plain_python() -> bool:
    is_free_threaded = bool(sysconfig.get_config_var("Py_GIL_DISABLED"))
    return platform.python_implementation() == "CPython" and sys.maxsize > 2**32 and not is_free_threaded


@cache
def are_arrays_known() -> bool:
    """Whether arrays have the structures above; the check reads no memory outside of an object."""
    if platform.python_implementation() != "CPython" or np.ndarray.__basicsize__ < ctypes.sizeof(Array):
        return False
    return all(map(_is_seen, (np.zeros((2, 3)), np.zeros((3, 2), ">f8").T, np.zeros((2, 5), "<f8")[:, 1:])))


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
