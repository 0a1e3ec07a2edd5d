"""How arguments enter machine code from Python: exact ones are read where they are, all others are refused.

Numba's own way in looks at the size of an entry alone, so that somebody has to look at each array before, and makes
an owner for each that lives as long as the call. Here the wrapper of a function reads the object itself: it is of
NumPy's own class, neither derived nor masked, of native float64, int64 or int32, of the declared rank, aligned,
contiguous where the type says so and writable where results go. That is some ten instructions. The caller holds its
arguments until the call returns, so they need no owner.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Sequence
from functools import reduce
from typing import Any, ClassVar

import llvmlite.binding as llvm
import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.core.pythonapi import NativeValue, PythonAPI
from numba.np.arrayobj import populate_array

from matcalc.errors import NotSupported

DOUBLE = np.dtype(np.float64).num
NUMBERS = {kind: np.dtype(str(kind)).num for kind in (types.float64, types.int64, types.int32)}
SWAPPED = ord(">" if sys.byteorder == "little" else "<")
CONTIGUOUS, ALIGNED, WRITABLE = {"C": 0x1, "F": 0x2, "A": 0}, 0x100, 0x400
NDARRAY = "matcalc.ndarray"
"""The symbol of NumPy's class: compiled code is kept on disk, an address is not."""

BYTE, INT, INTP = ir.IntType(8), ir.IntType(32), ir.IntType(ctypes.sizeof(ctypes.c_void_p) * 8)
POINTER = BYTE.as_pointer()


Fields = Sequence[tuple[str, type[Any]]]


class _Object(ctypes.Structure):
    """PyObject: the class comes last in each build of Python."""

    _fields_: ClassVar[Fields] = (
        ("head", ctypes.c_byte * (object.__basicsize__ - ctypes.sizeof(ctypes.c_void_p))),
        ("kind", ctypes.c_void_p),
    )


class _Array(_Object):
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


class _Dtype(_Object):
    """The start of PyArray_Descr."""

    _fields_: ClassVar[Fields] = (
        ("scalar", ctypes.c_void_p),
        ("letters", ctypes.c_char * 2),
        ("order", ctypes.c_byte),
        ("other", ctypes.c_byte),
        ("number", ctypes.c_int),
    )


class Unboxing(PythonAPI):  # type: ignore[misc]
    """Numba's builder of code around Python objects, with another way in for float64 and arrays of numbers."""

    def to_native_value(self, typ: Any, obj: Any) -> NativeValue:
        """Write the code that reads an argument of a type, or sets TypeError."""
        if isinstance(typ, types.Array) and typ.dtype in NUMBERS and typ.aligned:
            return _array(self, typ, obj)
        if typ == types.float64:
            fits = self.builder.or_(_is_number(self, obj), _is_exact(self, obj, 0, 0))
            obj = self.builder.select(fits, obj, self.borrow_none())
        return super().to_native_value(typ, obj)


def _array(api: Unboxing, typ: Any, obj: Any) -> NativeValue:
    builder, context = api.builder, api.context
    made = context.make_array(typ)(context, builder)
    flags = CONTIGUOUS[typ.layout] | ALIGNED | (WRITABLE if typ.mutable else 0)
    fits = _is_exact(api, obj, typ.ndim, flags, NUMBERS[typ.dtype])
    with builder.if_then(fits, likely=True):
        shape, strides = (_row(builder, obj, part, typ.ndim) for part in (_Array.shape, _Array.strides))
        data = _part(builder, obj, _Array.data, made.data.type)
        populate_array(made, data, shape, strides, context.get_constant(types.intp, typ.dtype.bitwidth // 8), None)
    failed = builder.not_(fits)
    with builder.if_then(failed, likely=False):
        api.err_set_string("PyExc_TypeError", f"not an exact {typ}")
    return NativeValue(made._getvalue(), is_error=failed)


def _is_exact(api: Unboxing, obj: Any, rank: int, flags: int, number: int = DOUBLE) -> Any:
    """Whether an object is an ndarray itself, of a native type by its number and this rank, and has these flags."""
    builder = api.builder
    found = cgutils.alloca_once_value(builder, cgutils.false_bit)
    ndarray = api.context.get_c_value(builder, BYTE, NDARRAY)
    with builder.if_then(builder.icmp_unsigned("==", _part(builder, obj, _Array.kind, POINTER), ndarray), likely=True):
        dtype = _part(builder, obj, _Array.dtype, POINTER)
        tests = [
            builder.icmp_signed("==", _part(builder, obj, _Array.rank, INT), INT(rank)),
            builder.icmp_signed("==", builder.and_(_part(builder, obj, _Array.flags, INT), INT(flags)), INT(flags)),
            builder.icmp_signed("==", _part(builder, dtype, _Dtype.number, INT), INT(number)),
            builder.icmp_signed("!=", _part(builder, dtype, _Dtype.order, BYTE), BYTE(SWAPPED)),
        ]
        builder.store(reduce(builder.and_, tests), found)
    return builder.load(found)


def _is_number(api: Unboxing, obj: Any) -> Any:
    """Whether an object is a float or an int of Python, or of a class derived from them as np.float64 is."""
    builder = api.builder
    kind = _part(builder, obj, _Object.kind, POINTER)
    signature = ir.FunctionType(INT, [POINTER, POINTER])
    is_derived = cgutils.get_or_insert_function(builder.module, signature, "PyType_IsSubtype")
    found = [builder.call(is_derived, [kind, api.get_c_object(name)]) for name in ("PyFloat_Type", "PyLong_Type")]
    return builder.icmp_signed("!=", reduce(builder.or_, found), INT(0))


def _part(builder: Any, structure: Any, part: Any, kind: Any) -> Any:
    place = builder.gep(structure, [INT(part.offset)])
    return builder.load(builder.bitcast(place, kind.as_pointer()))


def _row(builder: Any, array: Any, part: Any, count: int) -> Any:
    numbers = _part(builder, array, part, INTP.as_pointer())
    parts = [builder.load(builder.gep(numbers, [INT(k)])) for k in range(count)]
    return cgutils.pack_array(builder, parts, INTP)


def check_structures() -> None:
    """Look at arrays through the structures above.

    Raises: NotSupported where Python or NumPy have changed them.
    """
    for array in (np.zeros((2, 3)), np.zeros((3, 2), ">f8").T, np.zeros((2, 5), "<f8")[:, 1:]):
        if not _is_seen(array):
            raise NotSupported("compiled functions cannot read the arrays of this NumPy", hint="use the target numpy")


def _is_seen(array: np.ndarray[Any, Any]) -> bool:
    found = _Array.from_address(id(array))
    if (found.kind, found.data, found.rank) != (id(np.ndarray), array.ctypes.data, array.ndim):
        return False
    if (found.dtype, found.flags) != (id(array.dtype), array.flags.num):
        return False
    dtype = _Dtype.from_address(found.dtype)
    axes = [tuple((ctypes.c_ssize_t * array.ndim).from_address(row)) for row in (found.shape, found.strides)]
    swapped = dtype.order == SWAPPED
    return axes == [array.shape, array.strides] and (dtype.number, swapped) == (DOUBLE, not array.dtype.isnative)


check_structures()
llvm.add_symbol(NDARRAY, id(np.ndarray))
