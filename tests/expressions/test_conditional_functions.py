"""Conditions on data outside of loops: value and gradient are those of the function, in each branch."""

from itertools import product

import numpy as np
import pytest
from expressions.conditional_functions import CHECKING, FUNCTIONS, REFUSED

import matcalc as mc

LET = "x: vector(n); a: scalar; b: scalar"
X = [np.zeros(2), np.array([0.5, 1.2, 0.3]), np.array([0.05, 0.7]), np.array([-0.4, 0.6, 1.1, 0.2])]
NUMBERS = (-1.7, -0.6, 0.0, 0.3, 0.7, 1.9)
POINTS = [{"x": x, "a": a, "b": b} for x, (a, b) in product(X, product(NUMBERS, NUMBERS))]
STEP = 1e-6


def data_of(point):
    return {name: np.array(value, dtype=float) if np.ndim(value) else float(value) for name, value in point.items()}


def slope(function, point, name):
    """Return central differences; NaN at jumps and kinks, where the differences of both sides differ.

    A choice by equality has the derivative of the branch, not that of the function around: a == b and a == 0 are left
    out.
    """
    own = np.array(point[name], dtype=float)
    found, middle = np.zeros(own.shape), float(function(**data_of(point)))
    for at in np.ndindex(*own.shape):
        ends = []
        for step in (STEP, -STEP):
            moved = own.copy()
            moved[at] += step
            ends.append((float(function(**data_of(point | {name: moved}))) - middle) / step)
        is_smooth = abs(ends[0] - ends[1]) <= 1e-3 * (1 + abs(ends[0])) and point["a"] not in (0, point["b"])
        found[at] = (ends[0] + ends[1]) / 2 if is_smooth else np.nan
    return found


@pytest.mark.whole
@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_value_and_gradient_in_each_branch(function):
    e = mc.expression(function, LET)
    gradients = {name: mc.gradient(e, name) for name in ("x", "a", "b")}
    seen = 0
    with np.errstate(all="ignore"):
        for point in POINTS:
            data = data_of(point)
            expected = function(**data_of(point))
            np.testing.assert_allclose(e(**{name: data[name] for name in e.symbols}), expected, rtol=1e-12)
            for name, gradient in gradients.items():
                found = np.asarray(gradient(**{one: data[one] for one in gradient.symbols}))
                differences = slope(function, point, name)
                known = np.isfinite(differences)
                seen += int(known.sum())
                np.testing.assert_allclose(found[known], differences[known], rtol=1e-5, atol=1e-5)
                assert np.all(np.isfinite(found)) or not np.isfinite(expected)
    assert seen > 100


@pytest.mark.sampled(48)
@pytest.mark.parametrize("target", ["numpy", "numba"])
@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_compiled_functions(function, target):
    both = mc.value_and_gradient(function, ["x", "a", "b"], LET, target=target)
    with np.errstate(all="ignore"):
        for point in POINTS[::7]:
            data = data_of(point)
            value, gradients = both(**{name: data[name] for name in both.args})
            np.testing.assert_allclose(value, function(**data_of(point)), rtol=1e-12)
            for name, gradient in zip(("x", "a", "b"), gradients, strict=True):
                differences = slope(function, point, name)
                known = np.isfinite(differences)
                np.testing.assert_allclose(np.asarray(gradient)[known], differences[known], rtol=1e-5, atol=1e-5)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("function", CHECKING, ids=lambda f: f.__name__)
def test_a_check_that_raises_is_refused_or_decided_by_declarations(function):
    name = "ValueError" if "raises" in function.__name__ else "AssertionError"
    with pytest.raises(mc.NotSupported, match=f"{name} is raised under a condition on data: line") as caught:
        mc.expression(function, LET)
    assert "declare what excludes it" in caught.value.hint
    e = mc.expression(function, "x: vector(n) positive; a: scalar positive; b: scalar")
    x, a, b = X[1], 0.7, -0.4
    np.testing.assert_allclose(e(x=x, a=a, b=b), function(x, a, b), rtol=1e-12)
    assert "where" not in str(e)


@pytest.mark.whole
@pytest.mark.parametrize(("function", "message", "hint"), REFUSED, ids=[f.__name__ for f, *_ in REFUSED])
def test_other_conditions_are_refused(function, message, hint):
    with pytest.raises(mc.NotSupported) as caught:
        mc.expression(function, LET)
    line = function.__code__.co_firstlineno + 1
    assert str(caught.value).startswith(message.replace("line 2", f"line {line}"))
    assert hint in caught.value.hint
