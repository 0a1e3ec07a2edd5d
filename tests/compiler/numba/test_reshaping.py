"""Reshaped contiguous arrays in machine code, against NumPy."""

import itertools

import numpy as np
import pytest

from matcalc.compiler.kernels.modules import load_text

TEXT = """
import numpy as np
from matcalc.compiler.entry.exact import exact
from matcalc.compiler.numba.jit import njit
from numba import types

OPTIONS = {{"error_model": "numpy", "nogil": True, "cache": True}}
SIGNATURE = types.int64(types.Array(types.float64, {old}, "C", readonly=True), types.int64, types.int64,
                        types.Array(types.float64, 1, "C"))


@njit(SIGNATURE, **OPTIONS)
def f_into(X, a, b, found):
    Y = X.reshape({shape})
    found[:] = 0.0
    found[0] = Y.size
    for axis in range({new}):
        found[1 + axis] = Y.shape[axis]
        found[4 + axis] = Y.strides[axis]
    if Y.size:
        found[7] = Y{last}
    return 0


run = exact(f_into)
"""
SHAPES = {"-1": 1, "a*b": 1, "(a, b)": 2, "a, b": 2, "(a, -1)": 2, "(1, a, b)": 3, "(b, -1, 1)": 3}


@pytest.mark.parametrize("old", [1, 2, 3])
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.sampled(24)
def test_shapes_strides_and_entries(old, shape):
    new = SHAPES[shape]
    last = "[" + ", ".join(["-1"] * new) + "]"
    run = load_text(TEXT.format(old=old, new=new, shape=shape, last=last), "reshaping").module.run
    for a, b in itertools.product((0, 1, 2, 5), repeat=2):
        X = np.arange(1.0, 1 + a * b).reshape({1: (-1,), 2: (b, a), 3: (1, a * b, 1)}[old] if a * b else (0,) * old)
        wanted = eval(f"X.reshape({shape})") if a * b else None
        found = np.empty(8)
        if wanted is None and "-1" in shape and shape != "-1":
            continue  # for an empty array the length at -1 is unknown
        assert run(X, a, b, found) == 0
        sizes = wanted.shape if wanted is not None else np.empty(0).reshape(eval(shape)).shape
        assert found[0] == a * b
        assert tuple(found[1 : 1 + new]) == sizes
        if a * b:
            assert tuple(found[4 : 4 + new]) == wanted.strides
            assert found[7] == X.ravel()[-1]


@pytest.mark.parametrize("shape", ["(a, b)", "(a, -1)", "a*b"])
@pytest.mark.sampled(3)
def test_a_shape_of_another_size_is_an_error(shape):
    last = "[" + ", ".join(["-1"] * SHAPES[shape]) + "]"
    run = load_text(TEXT.format(old=1, new=SHAPES[shape], shape=shape, last=last), "reshaping").module.run
    with pytest.raises(ValueError, match="total size"):
        run(np.zeros(7), 2, 3, np.empty(8))
