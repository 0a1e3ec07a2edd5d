"""Windows that an end of the array cuts off, and remainders of two numbers: values and gradients at several sizes."""

import numpy as np
import pytest
from expressions.cut_windows import WINDOWS
from expressions.test_traced_loops import difference

import matcalc as mc

LET = "x: vector(n); v: vector(p)"
SIZES = [(7, 3), (9, 2), (4, 6), (5, 1)]
RNG = np.random.default_rng(8)
DATA = [{"x": RNG.uniform(0.2, 1.2, n), "v": RNG.uniform(0.2, 0.9, p)} for n, p in SIZES]


@pytest.mark.sampled(24)
@pytest.mark.parametrize("function", WINDOWS, ids=lambda f: f.__name__)
def test_value_and_gradient(function):
    e = mc.expression(function, LET)
    slopes = {name: mc.gradient(e, name) for name in e.symbols}
    for data in DATA:
        np.testing.assert_allclose(e(**{name: data[name] for name in e.symbols}), function(**data), rtol=1e-12)
        for name, slope in slopes.items():
            found = slope(**{one: data[one] for one in slope.symbols})
            np.testing.assert_allclose(found, difference(function, data, name), rtol=1e-6, atol=1e-7)


@pytest.mark.whole
@pytest.mark.parametrize("function", WINDOWS, ids=lambda f: f.__name__)
def test_compiled(function):
    fn = mc.value_and_gradient(function, "x", LET)
    for data in DATA:
        value, slope = fn(**{name: data[name] for name in fn.args})
        np.testing.assert_allclose(value, function(**data), rtol=1e-11)
        np.testing.assert_allclose(slope, difference(function, data, "x"), rtol=1e-6, atol=1e-7)
