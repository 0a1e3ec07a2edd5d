"""`inf` in matrix text, where a number may stand: values and gradients against NumPy, texts read back, and refusals."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import logsumexp, softmax

import matcalc as mc

DECLARED = "x: vector(n); X: matrix(m, 2)"
x = np.array([0.3, -1.2, 2.0])
X = np.array([[0.1, 0.4], [1.5, -0.2]])
inf = np.inf

FORMULAS = [
    ("[-inf; x; inf]", np.r_[-inf, x, inf]),
    ("[x; -inf; 1]", np.r_[x, -inf, 1]),
    ("[1, inf; 0, -inf]", np.array([[1, inf], [0, -inf]])),
    ("[-inf; inf]", np.array([-inf, inf])),
    ("[X; inf, -inf]", np.vstack([X, [inf, -inf]])),
    ("[inf, x']", np.r_[inf, x][None]),
    ("logsumexp([x; -inf])", logsumexp(x)),
    ("softmax([-inf; x])", np.r_[0, softmax(x)]),
    ("max([x; -inf])", 2.0),
    ("min([inf; x])", -1.2),
    ("sum([x; inf])", inf),
    ("{i: max([x[i]; -inf])}", x),
    ("where([x; inf] > 0, 1, 2)", np.array([1.0, 2, 1, 1])),
    ("exp([x; -inf])", np.r_[np.exp(x), 0]),
    ("inf", inf),
    ("-inf", -inf),
    ("--inf", inf),
    ("exp(-inf)", 0),
    ("2*exp(-inf) + x", x),
    ("exp(inf)", inf),
    ("abs(-inf)", inf),
    ("tanh(-inf)", -1),
    ("sigmoid(inf)", 1),
    ("sqrt(inf)", inf),
    ("sigmoid(log(exp(-inf) + 1))", 0.5),
]


@pytest.mark.parametrize(("text", "value"), FORMULAS)
def test_values(text, value):
    formula = mc.expression(text, DECLARED)
    data = {name: {"x": x, "X": X}[name] for name in formula.symbols}
    np.testing.assert_allclose(formula(**data), value, rtol=1e-15)
    assert mc.expression(str(formula), DECLARED) == formula


@pytest.mark.sampled(15)
@pytest.mark.parametrize(("text", "value"), FORMULAS)
def test_compiled(text, value):
    function = mc.compile(text, declarations=DECLARED)
    data = {name: {"x": x, "X": X}[name] for name in mc.expression(text, DECLARED).symbols}
    np.testing.assert_allclose(function(**data), value, rtol=1e-14)


GRADIENTS = [
    ("logsumexp([x; -inf])", softmax(x)),
    ("logsumexp([-inf; 2*x; -inf])", 2 * softmax(2 * x)),
    ("max([x; -inf])", np.array([0.0, 0, 1])),
    ("sum(exp([x; -inf]))", np.exp(x)),
    ("softmax([x; -inf])[0]", softmax(x)[0] * (np.eye(3)[0] - softmax(x))),
    ("exp(-inf)*sum(x) + x'*x", 2 * x),
]


@pytest.mark.parametrize(("text", "value"), GRADIENTS)
def test_gradients(text, value):
    np.testing.assert_allclose(mc.gradient(text, "x", DECLARED)(x=x), value, rtol=1e-14)


@pytest.mark.parametrize(
    "text", ["x + inf", "2*inf", "1/inf", "inf - inf", "exp(-inf*x)", "[X, -inf*ones(m)]", "x^inf"]
)
def test_arithmetic_is_refused(text):
    with pytest.raises(mc.MatcalcError, match="inf is no number to calculate with"):
        mc.expression(text, DECLARED)


@pytest.mark.parametrize(("text", "message"), [("sin(inf)", "no number"), ("atan(inf)", "write the number 1.57")])
def test_functions_without_a_short_value_are_refused(text, message):
    with pytest.raises(mc.MatcalcError, match=message):
        mc.expression(text, DECLARED)


def test_a_formula_that_is_infinite_is_no_number_in_python():
    for made in (lambda e: e + 1, lambda e: 2 * e, lambda e: e - e):
        with pytest.raises(mc.MatcalcError, match="inf is no number to calculate with"):
            made(mc.expression("inf"))
