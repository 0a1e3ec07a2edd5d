"""Formulas with indices as numbers: their printed forms and those of their gradients read back, in text and LaTeX.

Plain source is run, and compared with the value of the formula.
"""

import re
from collections.abc import Iterator

import numpy as np
import pytest

import matcalc as mc

LET = "x: vector(n); y: vector(m); A: matrix(n, m); B: matrix(n, n); rho: scalar positive; T: tensor(n, m, n)"
TERMS = [
    "i*x[i]", "rho^abs(i - j)*x[i]*x[j]", "cos(2*pi*i*j/n)*B[i,j]", "where(i < j, B[i,j], 0)", "[i != j]*B[i,j]",
    "B[i,(i + j) % n]*x[j]",
    "(i % 3)*x[i]", "(i // 2)*x[i]*x[j]", "x[i+1]*x[i]", "x[n-1-i]*i", "A[i,j]*y[j]/(i + j + 1)",
    "exp(-(i - j)^2/rho)*B[i,j]", "max(i, j)*B[i,j]", "min(x[i], x[j])*[i < j]", "abs(x[i] - x[j])*[abs(i - j) <= 2]",
    "where(i % 2 == 0, x[i], -x[i])", "T[i,j,l]*x[l]", "log(x[i]^2 + j + 1)*A[i,j]", "sqrt(1 + i)*x[i]^2",
    "sigmoid(B[i,j] - B[j,i])*[i > j]", "(-1)^i*x[i]", "(-1)^(i + j)*B[i,j]", "x[2*i]*i", "[(i - j) % 2 == 0]*B[i,j]",
]  # fmt: skip
SCOPES = ["sum{i: @}", "sum{i,j: @}", "{i: @}", "{i,j: @}", "{i: sum{j: @}}", "{j: sum{i: @}}", "sum{i: sum{j: @}^2}"]
EXPLAINED = re.compile(r"\b(\w+)\([^()]*\) = \"")
INTERNAL = re.compile(r"\b(ratio0|leads|gapdiv|selected|settled|weighs|powm|powr|powlog|tied|off_integer)\b")


def formulas(texts: list[str]) -> Iterator[str]:
    """Yield the terms in all scopes that fit them."""
    for text in texts:
        for scope in SCOPES:
            try:
                mc.expression(scope.replace("@", text), LET)
            except mc.MatcalcError:
                continue  # an index that is not listed, or without a length
            yield scope.replace("@", text)


def check(text: str) -> None:
    e = mc.expression(text, LET)
    outputs = [e, *(e.gradient(one) for one in ("x", "B") if e.shape == () and one in e.symbols)]
    for output in outputs:
        assert mc.expression(str(output), output.declarations).node is output.node, str(output)
        again = mc.expression(output.latex(), output.declarations, dialect="latex")
        assert again.node is output.node or mc.equivalent(again, output), output.latex()
        explained = set(EXPLAINED.findall(str(output)))
        assert set(INTERNAL.findall(str(output))) <= explained, str(output)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("term", TERMS[1::8])
def test_forms_read_back(term: str) -> None:
    for text in list(formulas([term]))[:2]:
        check(text)


@pytest.mark.whole
@pytest.mark.parametrize("term", TERMS)
def test_every_form_reads_back(term: str) -> None:
    found = list(formulas([term]))
    assert found
    for text in found:
        check(text)


@pytest.mark.whole
@pytest.mark.parametrize("term", [term for term in TERMS if "% n]" not in term])
def test_plain_source_has_the_value(term: str) -> None:
    rng = np.random.default_rng(7)
    known = {"x": rng.uniform(0.5, 2, 5), "y": rng.uniform(0.5, 2, 4), "A": rng.uniform(0.5, 2, (5, 4)), "rho": 0.7}
    known |= {"B": rng.uniform(0.5, 2, (5, 5)), "T": rng.uniform(0.5, 2, (5, 4, 5))}
    for text in formulas([term]):
        e = mc.expression(text, LET)
        scope: dict[str, object] = {}
        exec(e.python(name="f"), scope)
        data = {name: known[name] for name in e.symbols}
        function = scope["f"]
        assert callable(function)
        np.testing.assert_allclose(function(**data), e(**data), rtol=1e-12, atol=1e-13, err_msg=text)
