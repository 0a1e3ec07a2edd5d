"""Writes the code by which machine code reads exact Python arguments directly; others raise TypeError.

Numba's own wrapper checks only the item size, so each array must be checked before. It also creates an owner for each
array for the duration of the call. The wrapper written here checks the object itself, in about ten instructions. The
object must be of NumPy's own class (no subclass, no masked array), of native float64, int64 or int32, of the declared
rank, aligned, contiguous if the type requires it, and writable for results. The caller holds its arguments until the
call returns, so they need no owner.
"""

from __future__ import annotations

import ctypes
from functools import reduce
from typing import Any

import llvmlite.binding as llvm
import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.core.pythonapi import NativeValue, PythonAPI
from numba.np.arrayobj import populate_array

from matcalc.compiler.machine.array_layout import ALIGNED, CONTIGUOUS, DOUBLE, SWAPPED, WRITABLE, Array, Dtype, Object

NUMBERS = {kind: np.dtype(str(kind)).num for kind in (types.float64, types.int64, types.int32)}
NDARRAY = "matcalc.ndarray"
"""The symbol of NumPy's array class: code cached on disk must not contain its address."""

BYTE, INT, INTP = ir.IntType(8), ir.IntType(32), ir.IntType(ctypes.sizeof(ctypes.c_void_p) * 8)
POINTER = BYTE.as_pointer()


class Unboxing(PythonAPI):  # type: ignore[misc]
    """Numba's builder of wrapper code, with other unboxing of float64 and of arrays of numbers."""

    def to_native_value(self, typ: Any, obj: Any) -> NativeValue:
        """Write the code that reads an argument of a type or sets TypeError."""
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
        shape, strides = (_row(builder, obj, part, typ.ndim) for part in (Array.shape, Array.strides))
        data = _part(builder, obj, Array.data, made.data.type)
        populate_array(made, data, shape, strides, context.get_constant(types.intp, typ.dtype.bitwidth // 8), None)
    failed = builder.not_(fits)
    with builder.if_then(failed, likely=False):
        api.err_set_string("PyExc_TypeError", f"not an exact {typ}")
    return NativeValue(made._getvalue(), is_error=failed)


def _is_exact(api: Unboxing, obj: Any, rank: int, flags: int, number: int = DOUBLE) -> Any:
    """Write the test that an object is an ndarray (no subclass) of a native dtype number, a rank and these flags."""
    builder = api.builder
    found = cgutils.alloca_once_value(builder, cgutils.false_bit)
    ndarray = api.context.get_c_value(builder, BYTE, NDARRAY)
    with builder.if_then(builder.icmp_unsigned("==", _part(builder, obj, Array.kind, POINTER), ndarray), likely=True):
        dtype = _part(builder, obj, Array.dtype, POINTER)
        tests = [
            builder.icmp_signed("==", _part(builder, obj, Array.rank, INT), INT(rank)),
            builder.icmp_signed("==", builder.and_(_part(builder, obj, Array.flags, INT), INT(flags)), INT(flags)),
            builder.icmp_signed("==", _part(builder, dtype, Dtype.number, INT), INT(number)),
            builder.icmp_signed("!=", _part(builder, dtype, Dtype.order, BYTE), BYTE(SWAPPED)),
        ]
        builder.store(reduce(builder.and_, tests), found)
    return builder.load(found)


def _is_number(api: Unboxing, obj: Any) -> Any:
    """Write the test that an object is a Python float or int, or of a subclass such as np.float64."""
    builder = api.builder
    kind = _part(builder, obj, Object.kind, POINTER)
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


llvm.add_symbol(NDARRAY, id(np.ndarray))
