"""Loops of public code: values are those of the function, slopes those of differences, and texts read back."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from expressions.looping_algorithms import ALGORITHMS
from expressions.test_traced_loops import difference

import matcalc as mc

NAMES = [function.__name__ for function, *_ in ALGORITHMS]


def given(e: Any, data: dict[str, Any]) -> dict[str, Any]:
    return {name: data[name] for name in e.symbols if name in data}


@pytest.mark.sampled(16)
@pytest.mark.parametrize(("function", "let", "data", "wrt"), ALGORITHMS, ids=NAMES)
def test_values_and_gradients(function: Any, let: str, data: dict[str, Any], wrt: str) -> None:
    e = mc.expression(function, let)
    gradient = mc.gradient(e, wrt, check=False)
    slope = difference(function, data, wrt)
    again = mc.expression(str(gradient), gradient.declarations)
    assert np.allclose(e(**given(e, data)), function(**data), rtol=1e-11)
    assert np.allclose(gradient(**given(gradient, data)), slope, rtol=1e-5, atol=1e-6)
    assert np.allclose(again(**given(again, data)), gradient(**given(gradient, data)), rtol=1e-11)


@pytest.mark.whole
@pytest.mark.thinned(2)
@pytest.mark.parametrize(("function", "let", "data", "wrt"), ALGORITHMS, ids=NAMES)
def test_compiled(function: Any, let: str, data: dict[str, Any], wrt: str) -> None:
    fn = mc.value_and_gradient(mc.expression(function, let), wrt, target="numpy")
    value, slope = fn(**{name: data[name] for name in fn.args if name in data})
    assert np.allclose(value, function(**data), rtol=1e-11)
    assert np.allclose(slope, difference(function, data, wrt), rtol=1e-5, atol=1e-6)
