"""A compilation leaves only object code of LLVM in memory, which is freed with the function."""

import gc
import os
from collections import Counter

import numpy as np
import pytest
from llvmlite.binding import ffi

import matcalc as mc


def living(*names):
    """Return how many objects of LLVM there are of each kind."""
    gc.unfreeze()  # the objects from before the tests too
    found = Counter(type(held).__name__ for held in gc.get_objects() if issubclass(type(held), ffi.ObjectRef))
    return [found[name] for name in names]


@pytest.mark.whole
@pytest.mark.parametrize("by_numba", [pytest.param(False, marks=pytest.mark.long), True])
def test_a_compilation_leaves_no_context_no_module_and_no_engine(by_numba):
    def one(number):
        number += 10 * by_numba
        text = f"sum(exp({number}.{os.getpid()}*A*x).*x) + {number}*x'*x"  # not compiled in another process
        fn = mc.value_and_gradient(text, "x", declarations="A: matrix(n, n); x: vector(n)")
        value, slope = fn(np.zeros((2, 2)), np.array([1.0, 2.0]))
        assert fn.stats["cache"] == "built" or number % 10 == 1
        if by_numba:
            assert fn.module is fn.module
        np.testing.assert_allclose(value, 3 + 5 * number, rtol=1e-14)
        np.testing.assert_allclose(slope, 1 + 2 * number * np.array([1.0, 2.0]), rtol=1e-14)
        return fn

    kinds = "ContextRef", "ModuleRef", "ExecutionEngine", "TargetMachine"
    one(1), one(1)  # Numba compiles some parts once and retains them
    gc.collect()
    before = living(*kinds)
    for number in range(2, 6):
        one(number)
    gc.collect()
    after = living(*kinds)
    assert all(now <= then for now, then in zip(after, before, strict=True)), (after, before)

    before = after
    held = one(6)
    gc.collect()
    contexts, *_, engines, machines = living(*kinds)
    assert contexts == before[0], "a function that is in use holds object code, no context"
    assert machines == before[3] + by_numba, "the others went into their engines"
    assert 1 + by_numba <= engines - before[2] <= 4 + by_numba, "one for the function, others for ways in"
    del held
    gc.collect()
    after = living(*kinds)
    assert all(now <= then for now, then in zip(after, before, strict=True)), (after, before)


def test_code_that_was_kept_is_loaded_and_can_be_kept_again():
    text, names = "sum(sin(0.375*x))", "x: vector(n)"
    x = np.array([0.5, 1.5])
    for attempt in range(3):
        fn = mc.value_and_gradient(text, "x", declarations=names)
        value, slope = fn(x)
        np.testing.assert_allclose(value, np.sin(0.375 * x).sum(), rtol=1e-14)
        np.testing.assert_allclose(slope, 0.375 * np.cos(0.375 * x), rtol=1e-14)
        assert fn.stats["cache"] == "hit" or not attempt
        del fn
        gc.collect()
