"""Numbers that Python computed, such as np.sqrt(3) and np.log(2*np.pi), print as formulas and keep their values."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import matcalc as mc
from matcalc.tensor.named_numbers import LARGEST, named_number

LET = "x: vector(3)"
AT = np.array([0.3, 1.7, 4.0])
FUNCTIONS: list[tuple[Callable[[Any], Any], str]] = [
    (lambda x: np.sqrt(3) * x, "sqrt(3)*x"),
    (lambda x: -math.sqrt(5) * x * math.sqrt(5), "-5*x"),
    (lambda x: x / np.sqrt(2 * np.pi), "x/sqrt(2*pi)"),
    (lambda x: x - 0.5 * np.log(2 * np.pi), "x - log(2*pi)/2"),
    (lambda x: np.float64(np.pi) * x, "pi*x"),
    (lambda x: x * -np.pi, "-pi*x"),
    (lambda x: np.tanh(np.sqrt(2 / np.pi) * x), "tanh(sqrt(2/pi)*x)"),
    (lambda x: (x + np.pi) % (2 * np.pi), "mod(x + pi, 2*pi)"),
    (lambda x: np.clip(x, -np.pi / 2, np.pi / 2), "clip(x, -pi/2, pi/2)"),
    (lambda x: x ** np.sqrt(2), "x.^sqrt(2)"),
    (lambda x: np.maximum(x, np.log(2)), "max(log(2), x)"),
    (lambda x: 1.7320508075688 * x, "1.7320508075688*x"),
    (lambda x: np.pi * 2.5 * x, "7.853981633974483*x"),
    (lambda x: np.float32(np.pi) * x, "3.1415927410125732*x"),
    (lambda x: 0.25 * x + 4.0, "x/4 + 4"),
]


@pytest.mark.sampled(3)
@pytest.mark.parametrize(("f", "text"), FUNCTIONS)
def test_functions_print_them_and_keep_their_values(f: Callable[[Any], Any], text: str) -> None:
    e = mc.expression(f, LET)
    assert str(e) == text
    for evaluate in (e, mc.compile(e, target="numpy")):
        np.testing.assert_allclose(evaluate(AT), f(AT), rtol=1e-15)
    gradient, h = mc.gradient(lambda x: np.sum(f(x)), "x", LET), 1e-6
    np.testing.assert_allclose(gradient(AT), (f(AT + h) - f(AT - h)) / (2 * h), rtol=1e-7, atol=1e-9)


def test_a_gradient_has_no_product_of_two_roundings() -> None:
    """The number was 2.99999999999999967601142206867984, the product of two decimals."""
    e = mc.expression(lambda x: np.sum(np.sqrt(3) * np.exp(-np.sqrt(3) * x)), "x: vector(n)")
    assert str(e.gradient("x")) == "-3*exp(-sqrt(3)*x)"


@pytest.mark.whole
def test_every_root_and_each_named_number_has_its_own_double() -> None:
    names = [math.pi, 2 * math.pi, math.pi / 2, math.sqrt(math.pi), math.sqrt(2 * math.pi), math.sqrt(2 / math.pi)]
    names += [math.log(2 * math.pi), math.log(2 * math.pi) / 2, math.log(2)]
    roots = [math.sqrt(k) for k in range(2, LARGEST + 1) if math.isqrt(k) ** 2 != k]
    for value in (*names, *roots, *(-v for v in names)):
        node = named_number(value)
        assert node is not None
        assert mc.expression(lambda v=value: np.float64(v) * 1.0, "")() == pytest.approx(value, rel=4e-16)
        for other in (math.nextafter(value, math.inf), math.nextafter(value, -math.inf)):
            assert named_number(other) is None
    for value in (0.0, 1.0, -2.0, 0.1, 1e300, 5e-324, math.sqrt(LARGEST + 2), math.inf, math.nan, 1 / 3):
        assert named_number(value) is None
