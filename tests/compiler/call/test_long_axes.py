"""Axes of more than 2^31 - 1 entries: loops compute them, and calls of BLAS raise instead of truncating the length.

The arrays map files without content. Only the entries that a test writes take memory.
"""

import ctypes
import mmap
import sys

import numba
import numpy as np
import pytest

import matcalc as mc
from matcalc.compiler.emit.blas_axes import _calls_fortran
from matcalc.compiler.files.save import saved_text
from matcalc.compiler.lowering_entries import load
from matcalc.compiler.spec.spec import size_names
from matcalc.store.data_folders import data_folder

NORESERVE = 0x4000 if sys.platform == "linux" else 0
LONG = 2**32 + 5
WORDS = "the axis .* is longer than 2147483647"


def lazy(*shape):
    """Return an array of zeros that takes memory only where it is written."""
    count = int(np.prod(shape, dtype=object)) or 1
    memory = mmap.mmap(-1, 8 * count, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | NORESERVE)
    return np.frombuffer(memory, np.float64)[: int(np.prod(shape, dtype=object))].reshape(shape)


CASES = {
    "gemv": ("X*w", "X: matrix(m, n); w: vector(n)", {"m": 1, "n": LONG}, ["n"]),
    "gemv, transposed": ("X'*y", "X: matrix(m, n); y: vector(m)", {"m": LONG, "n": 1}, ["m"]),
    "gemm": ("X*B", "X: matrix(m, n); B: matrix(n, k)", {"m": 0, "n": LONG, "k": 0}, ["n"]),
    "gemm, rows": ("X*B", "X: matrix(m, n); B: matrix(n, k)", {"m": LONG, "n": 0, "k": 0}, ["m"]),
    "syrk": ("X'*X", "X: matrix(m, n)", {"m": LONG, "n": 0}, ["m"]),
    "solve": ("S\\B", "S: matrix(n, n) spd; B: matrix(n, k)", {"n": 0, "k": LONG}, ["k"]),
    "triangular": ("L\\B", "L: matrix(n, n) lower; B: matrix(n, k)", {"n": 0, "k": LONG}, ["k"]),
    "lu": ("A\\B", "A: matrix(n, n); B: matrix(n, k)", {"n": 0, "k": LONG}, ["k"]),
    "svd": ("norm_nuc(X)", "X: matrix(m, n)", {"m": LONG, "n": 0}, ["m"]),
    "of several sizes": ("X*B", "X: matrix(m, n*k); B: matrix(n*k, m)", {"m": 0, "n": 2**20, "k": 2**20}, ["k*n"]),
}


def given(fn, sizes):
    return [lazy(*(size.evaluate(sizes) for size in o.shape)) for o in fn.spec.arguments] + [
        sizes[name] for name in fn.spec.sizes
    ]


@pytest.mark.sampled(5)
@pytest.mark.parametrize("name", CASES)
def test_what_reaches_blas_is_listed(name):
    text, declared, _, axes = CASES[name]
    fn = mc.compile(text, declarations=declared)
    assert set(axes) <= set(map(str, fn.spec.blas_axes))


@pytest.mark.whole
@pytest.mark.thinned(2)
@pytest.mark.parametrize("name", CASES)
def test_long_axes_are_refused_by_every_entry(name):
    text, declared, sizes, _ = CASES[name]
    fn = mc.compile(text, declarations=declared)
    args = given(fn, sizes)
    with pytest.raises(mc.NotSupported, match=WORDS):
        fn(*args)
    with pytest.raises(mc.NotSupported, match=WORDS):
        fn(dict(zip(fn.args, args, strict=True)))
    try:
        bound = fn.bind({fn.args[0]: args[0]})
        bound(*args[1:])
    except mc.NotSupported:
        pass
    else:  # with its data fixed the function has a separate plan
        assert all(size.evaluate(sizes) < 2**31 for size in bound.spec.blas_axes)
    space = {"__name__": "saved"}
    exec(compile(saved_text(fn.spec), "saved.py", "exec"), space)
    for jit in (True, False):
        with pytest.raises(ValueError, match=WORDS):
            space["f"](*args, jit=jit)
    results = [lazy(*(size.evaluate(sizes) for size in o.shape)) if o.shape else np.zeros(1) for o in fn.spec.outputs]
    assert fn.numba_into(*args, *results) == len(fn.spec.faults) + 1
    assert pointers(fn, args, sizes, results) == len(fn.spec.faults) + 1
    inside = fn.numba

    @numba.njit
    def call(*args):
        return inside(*args)

    with pytest.raises(mc.ShapeError, match=WORDS):
        call(*args)


def pointers(fn, args, sizes, results):
    """Call the C function and return its status."""
    entry = fn.cfunc().ctypes
    rows = [
        (ctypes.c_void_p * len(part))(*(np.asarray(a).ctypes.data for a in part))
        for part in (args[: len(fn.spec.arguments)], results)
    ]
    lengths = (ctypes.c_int64 * len(size_names(fn.spec)))(*(sizes[n] for n in size_names(fn.spec)))
    call = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)(
        ctypes.cast(entry, ctypes.c_void_p).value
    )
    return call(rows[0], lengths, rows[1])


@pytest.mark.long
def test_target_numpy_is_right_where_it_needs_no_routine_of_32_bits():
    fn = mc.compile("X*w", declarations="X: matrix(m, n); w: vector(n)", target="numpy")
    X, w = lazy(1, LONG), lazy(LONG)
    for at, (a, b) in {0: (3.0, 3.0), 2**31 + 7: (5.0, 4.0), LONG - 1: (5.0, 1.0)}.items():
        X[0, at], w[at] = a, b
    assert fn(X, w).tolist() == [34.0]


@pytest.mark.long
def test_loops_take_long_axes():
    fn = mc.compile("sum(x)", declarations="x: vector(n)")
    x = lazy(LONG)
    x[[0, 2**31 + 7, LONG - 1]] = 3.0, 5.0, 7.0
    assert fn.spec.blas_axes == ()
    assert fn(x) == 15.0


def test_the_largest_axis_is_taken():
    fn = mc.compile("X*B", declarations="X: matrix(m, n); B: matrix(n, k)")
    assert fn(lazy(0, 2**31 - 1), lazy(2**31 - 1, 0)).shape == (0, 0)


def test_every_kernel_that_calls_a_routine_is_known():
    """The sources of the kernels tell which of them call BLAS."""
    kernels = load(data_folder("codegen"))
    every = [*kernels.products, *kernels.joined, *(k for found in kernels.operations.values() for k in found)]
    found = {k.name for k in every if _calls_fortran(k.templates.get("numba", ""), "numba")}
    assert {"gemm", "gemv", "syrk", "symm", "trmm_lower", "chol", "getrf"} <= found
    assert not {"dot", "ger"} & found
