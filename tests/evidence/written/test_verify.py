"""Comparisons are not repeated for the same results, and are made anew whenever anything they depend on differs."""

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

import matcalc as mc
from matcalc.evidence.explain.derivation import Derivation
from matcalc.evidence.written import claims, verify
from matcalc.evidence.written.claim import Claim
from matcalc.rulebook.load import shipped_rulebook
from matcalc.tensor.constructors import scale

LET = "x: vector(n); A: matrix(n, n)"


@pytest.fixture(autouse=True)
def _shipped(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave out functions that other tests of this process have defined: with them nothing is remembered."""
    monkeypatch.setattr(verify, "default_rulebook", shipped_rulebook)


@pytest.fixture
def compared(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return the list of the labels of compared claims, which grows with each comparison."""
    labels: list[str] = []
    real = claims.checked

    def counted(found, reference, names):
        labels.extend(claim.label for claim in found)
        return real(found, reference, names)

    monkeypatch.setattr(claims, "checked", counted)
    return labels


def test_a_repeated_derivative_is_not_compared_again(compared: list[str]) -> None:
    first = mc.gradient("x'*A*sin(x)", "x", LET)
    count = len(compared)
    again = mc.gradient("x'*A*sin(x)", "x", LET)
    assert count > 0 and len(compared) == count
    assert again.checked == first.checked and first.checked.startswith("at n=2")


DIFFERENT: dict[str, Callable[[], object]] = {
    "another derivative": lambda: mc.expression("x'*A*cos(x)", LET).hvp("x"),
    "another variable": lambda: mc.gradient("x'*A*cos(x)", "A", LET),
    "another fact": lambda: mc.gradient("x'*A*cos(x)", "x", LET + " symmetric"),
    "another text": lambda: mc.gradient("cos(x)'*A'*x", "x", LET),
}


@pytest.mark.parametrize("what", DIFFERENT)
def test_another_question_is_compared(what: str, compared: list[str]) -> None:
    mc.gradient("x'*A*cos(x)", "x", LET)
    compared.clear()
    DIFFERENT[what]()
    assert compared, what


def test_a_function_that_reads_other_data_is_compared_each_time(compared: list[str]) -> None:
    weights = np.array([1.0, 2.0])

    def loss(x):
        return np.sum(weights * x**2)

    for value in (1.0, 3.0):
        weights[0] = value
        before = len(compared)
        found = mc.gradient(loss, "x", "x: vector(2)")
        assert len(compared) > before
        assert np.allclose(found(x=np.ones(2)), [2 * value, 4.0])


def test_a_wrong_result_is_refused_after_right_ones_and_again() -> None:
    e = mc.expression("x'*A*tanh(x)", LET)
    x = e.names.symbols["x"]
    right, trace = e.gradient("x").node, Derivation("gradient", e.node, (x,))
    for _ in range(2):
        assert verify.verify([Claim(right, trace, "it")], e.reference, e.names).startswith("at n=2")
        with pytest.raises(mc.InternalError, match="failed its check"):
            verify.verify([Claim(scale(Fraction(2), right), trace, "it")], e.reference, e.names)
        with pytest.raises(mc.InternalError, match="failed its check"):
            verify.verify([Claim(right, replace(trace, what="value"), "it")], e.reference, e.names)


def test_the_memory_of_a_formula_is_bounded() -> None:
    e = mc.expression("x'*A*exp(x)", LET)
    for k in range(2 * verify.MOST_VERDICTS):
        verify.verify([Claim(e.node, Derivation("value", e.node), f"value {k}")], e.reference, e.names)
    assert len(verify._verdicts[e.reference]) == verify.MOST_VERDICTS
