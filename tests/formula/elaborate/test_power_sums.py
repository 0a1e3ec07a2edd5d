"""Sums of powers are read and written: `sum{j: A'^j*C*A'^(k - 1 - j)}`, the gradient of `tr(C'*powm(A, k))`."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.linalg import matrix_power

import matcalc as mc
from matcalc.errors import MatcalcError

DECLARED = "A, C: matrix(n, n)"
RNG = np.random.default_rng(25)
A, C = RNG.normal(size=(3, 3)), RNG.normal(size=(3, 3))
GRADIENTS = {
    "tr(C'*powm(A, k))": "sum{j: A'^j*C*A'^(k - 1 - j)}",
    "tr(C'*powm(A, 20))": "sum{j: A'^j*C*A'^(19 - j)}",
    "tr(C'*powm(A, k + 2))": "sum{j: A'^j*C*A'^(k + 1 - j)}",
    "sum(powm(A, k).^2)": "2*sum{j: A'^j*powm(A, k)*A'^(k - 1 - j)}",
}


def sum_of_powers(X: Any, E: Any, k: int) -> Any:
    """Return the sum of X^j*E*X^(k - 1 - j), term by term."""
    return sum((matrix_power(X, j) @ E @ matrix_power(X, k - 1 - j) for j in range(k)), np.zeros_like(X))


@pytest.mark.parametrize("text", GRADIENTS)
def test_gradients_of_powers_print_as_sums_and_read_back(text: str) -> None:
    g = mc.gradient(mc.expression(text, DECLARED if "C" in text else "A: matrix(n, n)"), "A")
    assert str(g) == g.named() == GRADIENTS[text]
    assert mc.expression(str(g), g.declarations).node is g.node
    assert mc.expression(g.latex(), g.declarations, dialect="latex").node is g.node


@pytest.mark.whole
def test_values_are_those_of_the_sum() -> None:
    e = mc.expression("sum{j: A'^j*C*A'^(k - 1 - j)}", DECLARED)
    functions = [e, *(mc.compile(e, target=target) for target in ("numba", "numpy"))]
    for k in (0, 1, 4, 7):
        for f in functions:
            np.testing.assert_allclose(f(A=A, C=C, k=k), sum_of_powers(A.T, C, k), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize(
    ("text", "dialect", "truth"),
    [
        ("sum{j: A^(4 - j)*C*A^j}", "matrix", sum_of_powers(A, C, 5)),
        ("sum{j < 5: A^j*C*A^(4 - j)}", "matrix", sum_of_powers(A, C, 5)),
        ("C*sum{i: 2*A^i*C*C*A^(13 - i)*C}", "matrix", 2 * C @ sum_of_powers(A, C @ C, 14) @ C),
        (r"\sum_{j=0}^{4} A^j C A^{4-j}", "latex", sum_of_powers(A, C, 5)),
        (r"\sum_{j=1}^{5} (A^\top)^{j-1} C (A^\top)^{5-j}", "latex", sum_of_powers(A.T, C, 5)),
    ],
)
def test_other_spellings(text: str, dialect: str, truth: Any) -> None:
    e = mc.expression(text, DECLARED, dialect=dialect)
    np.testing.assert_allclose(e(A=A, C=C), truth, rtol=1e-11, atol=1e-11)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("sum{j < 4: A^j*C*A^(k - 1 - j)}", "j has 4 numbers"),
        ("sum{j: A^j*C*A^(k - 2 - j)}", "has k - 1 terms, which can be negative"),
        ("sum{j: A^j*C*C^(k - 1 - j)}", "'j' is both a size and an index"),
        ("sum{j: A^j*C*A^(k + j)}", "'j' is both a size and an index"),
        ("sum{j: A^j*C*A^(3/2 - j)}", "'j' is both a size and an index"),
    ],
)
def test_other_sums_are_refused(text: str, message: str) -> None:
    with pytest.raises(MatcalcError, match="is both|has") as caught:
        mc.expression(text, DECLARED)
    assert message in str(caught.value)


@pytest.mark.parametrize("exponent", ["k - 1", "2.5", "-15"])
def test_a_power_whose_exponent_is_no_number_of_terms_keeps_its_call(exponent: str) -> None:
    g = mc.gradient(mc.expression(f"tr(C'*powm(A, {exponent}))", DECLARED), "A")
    assert str(g).startswith(f"powm(A, {exponent}, C')' where")


@pytest.mark.whole
def test_second_derivatives_agree_with_differences() -> None:
    e = mc.hvp("tr(C'*powm(A, k))", "A", vector="V")
    V, h, k = RNG.normal(size=(3, 3)), 1e-5, 5
    wanted = (sum_of_powers((A + h * V).T, C, k) - sum_of_powers((A - h * V).T, C, k)) / (2 * h)
    np.testing.assert_allclose(e(A=A, C=C, V=V, k=k), wanted, rtol=1e-7, atol=1e-7)
