"""Call a C function by an address that is data: for njit code that is compiled once for all functions.

The function is one of `Compiled.cfunc()`. Its address and those of its arrays stand in arrays of integers, so that the
caller holds no address of this process and is cached on disk. The compiler does not see what is read and written:
arrays that a called function writes are parameters of the caller, never its own.
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
    """Return `int64 f(double **in, int64 *sizes, double **out)` at an address, of arrays of addresses and of sizes."""

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
    """Return the integer of 64 bits at a place of a table that begins at an address."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        words = builder.inttoptr(args[0], ADDRESS.as_pointer())
        return builder.load(builder.gep(words, [args[1]]))

    return types.int64(types.int64, types.int64), codegen
