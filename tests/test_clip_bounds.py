"""clip with its operands in any order: if the lower bound exceeds the upper one, the upper one is the value."""

import itertools

import numpy as np
import pytest

import matcalc as mc

LET = "x: vector(n); lo: vector(n); hi: vector(n)"
ORDERS = np.array(list(itertools.permutations([-0.7, 0.4, 1.5]))).T
"""Each order of three numbers: columns of x, lo and hi."""


@pytest.mark.sampled(3)
@pytest.mark.parametrize("path", ["plain", "numba", "numpy"])
@pytest.mark.parametrize("text", ["clip(x, lo, hi)", "min(max(x, lo), hi)", "clip(x, lo.^1, hi).^1"])
def test_slopes_in_any_order(text: str, path: str) -> None:
    data = dict(zip(("x", "lo", "hi"), ORDERS, strict=True))
    value = np.minimum(np.maximum(data["x"], data["lo"]), data["hi"])
    gradients = mc.gradient(f"sum(({text}).^2)", ["x", "lo", "hi"], LET)
    found = [g(data) for g in gradients] if path == "plain" else mc.compile(list(gradients), target=path)(**data)
    for name, slope in zip(data, found, strict=True):
        np.testing.assert_array_equal(slope, np.where(value == data[name], 2 * value, 0.0), err_msg=name)
