"""Numbers print as a person writes them: `x/0.3`, not `10*x/3`; the text reads back to the same node."""

import re
from fractions import Fraction

import numpy as np
import pytest

import matcalc as mc

AS_WRITTEN = [
    "x/0.3", "-x/0.3", "x/0.09", "x/0.7", "4*x/0.7", "x/0.003", "x/3", "4*x/3", "5*x/9", "2*x/7", "x/0.64", "0.1*x",
    "x/0.3 + y/0.7", "(x - 1.7)/0.3", "(x - 1.7)^2/0.09", "exp(-x^2/0.3)", "x/(0.3*pi)", "x*sqrt(2)/0.3", "1/0.3",
    "16*x/3", "x/2.718281828459045", "sigmoid(x/0.3)",
]  # fmt: skip


@pytest.mark.parametrize("text", AS_WRITTEN)
def test_numbers_print_as_written(text):
    e = mc.expression(text, "x: scalar; y: scalar")
    assert str(e) == text
    assert mc.expression(str(e), "x: scalar; y: scalar").node is e.node


FORMS = [
    "{}*x",
    "{}*x/y",
    "{}*x/pi",
    "x'*A*x*({})",
    "sum(x + {})",
    "({})*(x - y)",
    "({}).*x./(1 + y.^2)",
    "exp(-({})*x)",
]


@pytest.mark.parametrize("form", FORMS)
def test_quotients_read_back(form):
    """Every quotient of small integers and of decimals, in every place of a coefficient."""
    kind = "vector(n)" if "sum" in form or "A" in form or ".*" in form else "scalar"
    declared = f"x: {kind}; y: {kind}; A: matrix(n, n)"
    numbers = [
        Fraction(p, q) for p in (1, 2, 7, 10, 16, 20, 25, 40, 100, 1000, 12345) for q in (3, 7, 9, 11, 123, 1000)
    ]
    for number in [*numbers, *(Fraction(str(d)) ** -k for d in (0.3, 0.7, 1.2, 0.64, 2.25) for k in (1, 2, 3))]:
        e = mc.expression(form.format(f"({number})"), declared)
        shown = mc.expression(str(e), declared)
        assert shown.node is e.node, (number, str(e))


CODE = {
    "np.sum(x**2) / 0.3": "x'*x/0.3",
    "np.sum(np.exp(-x**2 / (2 * 0.5**2)))": "sum(exp(-2*x.^2))",
    "np.sum(x) / np.e": "sum(x)/2.718281828459045",
    "np.sum((x - 0.1) / 0.3)": "sum(x - 0.1)/0.3",
    "np.sum(x**2 + 0.4 * (np.log(3.0) + 5 * np.log(2 * np.pi) + 1))": None,
    "np.sum(0.5 * np.log(0.3) - (x - 1.5)**2 / 0.18)": None,
}


@pytest.mark.parametrize("code", CODE)
def test_numbers_of_code(code):
    scope = {"np": np}
    exec(f"def f(x):\n    return {code}", scope)
    e = mc.expression(scope["f"], "x: vector(n)")
    assert CODE[code] in (str(e), None)
    longest = max(map(len, re.findall(r"[0-9.e-]*[0-9]", str(e))))
    assert longest <= 20, str(e)  # no integer is a decimal times a power of ten
    assert "e15" not in str(e) and "e16" not in str(e)
    assert mc.expression(str(e), "x: vector(n)").node is e.node
    x = np.array([0.3, -1.2])
    np.testing.assert_allclose(e(x=x), scope["f"](x), rtol=1e-13)
