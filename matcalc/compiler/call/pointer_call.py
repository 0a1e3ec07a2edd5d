"""Calls a C function through an address stored in an array, so that one njit caller serves all functions.

The callee is a `Compiled.cfunc()`. Its address and the addresses of its arrays are stored in arrays of integers.
The caller therefore contains no address of this process, and Numba can cache it on disk. The compiler does not see
which memory the callee reads and writes. An array that the callee writes must be a parameter of the caller.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

ADDRESS = ir.IntType(64)


@intrinsic  # type: ignore[untyped-decorator]
def call_at(typingctx: Any, address: Any, inputs: Any, sizes: Any, outputs: Any) -> Any:
    """Call the function `int64 f(double **in, int64 *sizes, double **out)` at `address` and return its status."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        data = [
            builder.ptrtoint(cgutils.create_struct_proxy(kind)(context, builder, value=value).data, ADDRESS)
            for kind, value in zip(signature.args[1:], args[1:], strict=True)
        ]
        kind = ir.FunctionType(ADDRESS, [ADDRESS] * 3)
        return builder.call(builder.inttoptr(args[0], kind.as_pointer()), data)

    table = types.Array(types.int64, 1, "C")
    return types.int64(types.int64, table, table, table), codegen


@intrinsic  # type: ignore[untyped-decorator]
def word_at(typingctx: Any, address: Any, place: Any) -> Any:
    """Return the 64-bit integer at index `place` of the table that begins at `address`."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        words = builder.inttoptr(args[0], ADDRESS.as_pointer())
        return builder.load(builder.gep(words, [args[1]]))

    return types.int64(types.int64, types.int64), codegen
