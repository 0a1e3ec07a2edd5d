"""Calls BLAS and LAPACK from kernels by symbol; each argument is passed by address.

The addresses come from SciPy's capsules and are registered with LLVM under stable names, so that compiled kernels can
be cached on disk (with a ctypes pointer they could not). Fortran takes pointers even for flags and sizes, so numbers
are put on the stack.
"""

import ctypes
import re

import llvmlite.binding as llvm
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import get_cython_function_address, intrinsic
from scipy.special import cython_special

# Inputs are read-only types: a writable array converts to one, so each kernel is compiled once.
VECTOR = types.Array(types.float64, 1, "C", readonly=True)
MATRIX = types.Array(types.float64, 2, "C", readonly=True)
TENSOR = types.Array(types.float64, 3, "C", readonly=True)
PIVOTS = types.Array(types.int32, 1, "C", readonly=True)
VECTOR_OUT = types.Array(types.float64, 1, "C")
MATRIX_OUT = types.Array(types.float64, 2, "C")
TENSOR_OUT = types.Array(types.float64, 3, "C")
PIVOTS_OUT = types.Array(types.int32, 1, "C")

# `fastmath` is always explicit: a callee without it takes that of the first caller that is compiled.
EXACT = {"error_model": "numpy", "fastmath": False, "nogil": True, "cache": True}
# Sums may be reordered so that they vectorise. Products are not contracted into sums; quotients are not regrouped.
SUMS = {**EXACT, "fastmath": {"reassoc"}}
# A matrix product may use fused multiply-add, as BLAS does.
PRODUCTS = {**EXACT, "fastmath": {"contract", "reassoc"}}

ADDRESS = ir.IntType(64)
INTEGER = ir.IntType(32)
N = 78  # letters that BLAS takes, as ASCII codes
T = 84
L = 76
U = 85
R = 82
V = 86
S = 83
I = 73  # noqa: E741


def external(library, name, count):
    """Register SciPy's `name` with LLVM and return it as a function of `count` arguments.

    An argument is a contiguous array, `(array, k)` for the address of its entry k, or a number (also a letter),
    which is copied to a stack cell. A LAPACK routine returns its `info`, which is not an argument. Arrays are
    passed whole, not as addresses: Numba frees an array after its last use, and an address is not a use.
    """
    symbol = f"scipy_{library}_{name}"
    llvm.add_symbol(symbol, get_cython_function_address(f"scipy.linalg.cython_{library}", name))

    @intrinsic
    def call(typingctx, *kinds):
        if len(kinds) != count:
            return None

        def codegen(context, builder, signature, args):
            given = [builder.extract_value(args[0], k) for k in range(count)]
            values = [passed(context, builder, kind, value) for kind, value in zip(kinds, given, strict=True)]
            info = cgutils.alloca_once_value(builder, INTEGER(0))
            values += [info] if library == "lapack" else []
            values = [builder.ptrtoint(value, ADDRESS) for value in values]
            routine = ir.FunctionType(ir.VoidType(), [ADDRESS] * len(values))
            builder.call(cgutils.get_or_insert_function(builder.module, routine, symbol), values)
            return builder.sext(builder.load(info), ir.IntType(64))

        return types.int64(types.StarArgTuple(kinds)), codegen

    return call


def passed(context, builder, kind, value):
    """Return the pointer passed for an argument; a letter is the first byte of an integer (little-endian)."""
    if isinstance(kind, types.Array):
        return cgutils.create_struct_proxy(kind)(context, builder, value=value).data
    if isinstance(kind, types.BaseTuple):
        array, at = (builder.extract_value(value, k) for k in (0, 1))
        return builder.gep(cgutils.create_struct_proxy(kind[0])(context, builder, value=array).data, [at])
    number = value if isinstance(kind, types.Float) else builder.trunc(value, INTEGER)
    return cgutils.alloca_once_value(builder, number)


def special_symbol(name, count):
    """Register SciPy's `name` of `count` float64 arguments and a trailing integer with LLVM; return its symbol.

    SciPy numbers the variants of a function for several types, differently for each function and version. So the
    variant is chosen by the signature in its capsule.

    Raises: ImportError if this SciPy has no such function.
    """
    stated = ctypes.PYFUNCTYPE(ctypes.c_char_p, ctypes.py_object)(("PyCapsule_GetName", ctypes.pythonapi))
    wanted = f"double ({'double, ' * count}int __pyx_skip_dispatch)"
    capsules = cython_special.__pyx_capi__.items()
    keys = (key for key, capsule in capsules if stated(capsule).decode() == wanted)
    key = next((key for key in keys if re.sub(r"^__pyx_fuse_\d+", "", key) == name), None)
    if key is None:
        raise ImportError(f"scipy.special.cython_special has no {name} of type {wanted}")
    symbol = f"scipy_special_{name}"
    llvm.add_symbol(symbol, get_cython_function_address("scipy.special.cython_special", key))
    return symbol


def special_function(name, count):
    """Register SciPy's `name` of `count` float64 arguments with LLVM and return it as a function."""
    symbol = special_symbol(name, count)

    @intrinsic
    def call(typingctx, *kinds):
        def codegen(context, builder, signature, args):
            given = [builder.extract_value(args[0], k) for k in range(count)]
            values = [context.cast(builder, x, kind, types.float64) for x, kind in zip(given, kinds, strict=True)]
            routine = ir.FunctionType(ir.DoubleType(), [ir.DoubleType()] * count + [INTEGER])
            function = cgutils.get_or_insert_function(builder.module, routine, symbol)
            return builder.call(function, [*values, INTEGER(0)])

        return (types.float64(types.StarArgTuple(kinds)), codegen) if len(kinds) == count else None

    return call
