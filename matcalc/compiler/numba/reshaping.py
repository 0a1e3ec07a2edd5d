"""Writes the code of `reshape` and of row slices `X[start:stop]` for C-contiguous arrays.

Numba's own `reshape` compiles a separate function that handles any strides. It takes a third of the compile time of a
program with one `reshape`. Numba's `X[start:stop]` handles any slice, which costs 30 ms of compile time.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from functools import reduce
from typing import Any

from numba.core import cgutils, types
from numba.core.imputils import impl_ret_borrowed
from numba.np.arrayobj import make_array, populate_array

NAME = "array.reshape"
FAULT = "total size of new array must be unchanged"


def is_reshape(function: Any, signature: Any) -> bool:
    """Whether a call is `reshape` of an array in C order."""
    is_method = isinstance(function, types.BoundFunction) and function.get_impl_key(signature) == NAME
    return is_method and signature.args[0].layout == "C"


def reshaped(context: Any, builder: Any, signature: Any, args: Sequence[Any]) -> Any:
    """Return the array with new lengths, passed one by one or as a tuple; -1 is the length that remains."""
    array = make_array(signature.args[0])(context, builder, args[0])
    is_tuple = isinstance(signature.args[1], types.BaseTuple)  # type: ignore[attr-defined]
    given = cgutils.unpack_tuple(builder, args[1]) if is_tuple else args[1:]
    kinds = list(signature.args[1]) if is_tuple else signature.args[1:]
    lengths = [context.cast(builder, n, kind, types.intp) for n, kind in zip(given, kinds, strict=True)]
    one, zero = (context.get_constant(types.intp, n) for n in (1, 0))
    is_left = [builder.icmp_signed("<", length, zero) for length in lengths]
    known = reduce(builder.mul, (builder.select(left, one, n) for left, n in zip(is_left, lengths, strict=True)), one)
    divisor = builder.select(builder.icmp_signed("==", known, zero), one, known)
    rest = builder.sdiv(array.nitems, divisor)
    lengths = [builder.select(left, rest, n) for left, n in zip(is_left, lengths, strict=True)]
    with cgutils.if_unlikely(builder, builder.icmp_signed("!=", reduce(builder.mul, lengths, one), array.nitems)):
        context.call_conv.return_user_exc(builder, ValueError, (FAULT,))
    strides: list[Any] = []
    stride = array.itemsize
    for length in reversed(lengths):
        strides.insert(0, stride)
        stride = builder.mul(stride, length)
    made = make_array(signature.return_type)(context, builder)
    populate_array(made, array.data, lengths, strides, array.itemsize, array.meminfo, array.parent)
    return impl_ret_borrowed(context, builder, signature.return_type, made._getvalue())


def is_rows(function: Any, signature: Any) -> bool:
    """Whether a call takes rows of an array in C order: `X[start:stop]`."""
    if function is not operator.getitem or signature.args[1] != types.slice2_type:
        return False
    array, made = signature.args[0], signature.return_type
    return isinstance(array, types.Array) and array.layout == "C" and getattr(made, "layout", "") == "C"


def rows_of(context: Any, builder: Any, signature: Any, args: Sequence[Any]) -> Any:
    """Return rows of an array as Python's slices do: negative ends count from the end."""
    array = make_array(signature.args[0])(context, builder, args[0])
    ends = context.make_helper(builder, signature.args[1], args[1])
    lengths, strides = (cgutils.unpack_tuple(builder, part) for part in (array.shape, array.strides))
    zero, count = context.get_constant(types.intp, 0), lengths[0]

    def inside(end: Any) -> Any:
        below = builder.icmp_signed("<", end, zero)
        end = builder.select(below, builder.add(end, count), end)
        end = builder.select(builder.icmp_signed("<", end, zero), zero, end)
        return builder.select(builder.icmp_signed(">", end, count), count, end)

    start, stop = inside(ends.start), inside(ends.stop)
    rows = builder.select(builder.icmp_signed("<", start, stop), builder.sub(stop, start), zero)
    data = cgutils.pointer_add(builder, array.data, builder.mul(start, strides[0]), array.data.type)
    made = make_array(signature.return_type)(context, builder)
    populate_array(made, data, [rows, *lengths[1:]], strides, array.itemsize, array.meminfo, array.parent)
    return impl_ret_borrowed(context, builder, signature.return_type, made._getvalue())
