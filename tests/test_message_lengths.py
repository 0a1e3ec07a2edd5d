"""Messages are bounded in lines and in characters, whatever long input they quote."""

import tomllib
from pathlib import Path

import numpy as np
import pytest

import matcalc as mc

CALLS = tomllib.loads((Path(__file__).parent / "vocabulary.toml").read_text(encoding="utf-8"))["call"]
NAMES = sorted({call["f"].split("(")[0] for call in CALLS if call["f"].split("(")[0].isidentifier()})
DECLARED = "x: vector(n); X: matrix(m, n); T: tensor(m, n, k); s: scalar; y: vector(m)"
LONG = " + ".join(f"exp(X*X'*y.*y)*{k}" for k in range(40))
ARGUMENTS = ["", "x, X, T, s", "T", "foo", "x, y", "x > 0", "X, axis=3", "x, q=1", LONG, ", ".join(["X"] * 30)]
MOST_LINES, MOST_CHARACTERS, WIDEST = 8, 640, 200
HUGE = [["a"] * 1000, {k: k for k in range(1000)}, "x" * 5000, b"y" * 5000, object]


def check(fault):
    lines = str(fault).splitlines()
    assert len(lines) <= MOST_LINES, fault
    assert len(str(fault)) <= MOST_CHARACTERS, fault
    assert max(map(len, lines)) <= WIDEST, fault


@pytest.mark.whole
@pytest.mark.parametrize("declarations", [DECLARED, ""], ids=["declared", "undeclared"])
def test_a_call_that_fits_nothing(declarations):
    met = 0
    for name in NAMES:
        for arguments in ARGUMENTS:
            try:
                mc.expression(f"{name}({arguments})", declarations)
            except mc.MatcalcError as fault:
                met += 1
                check(fault)
    assert met > 500


@pytest.mark.sampled(3)
@pytest.mark.parametrize("text", ["{0}*({0})", "x + ({0})*X", "({0}) .+ T", "{{i: ({0})[i,j]}}", "({0})^x"])
def test_operators_between_long_operands(text):
    with pytest.raises(mc.MatcalcError) as caught:
        mc.expression(text.format(LONG), DECLARED)
    check(caught.value)


@pytest.mark.parametrize("given", HUGE, ids=lambda given: type(given).__name__)
@pytest.mark.parametrize(
    "act",
    [
        lambda given: mc.expression(given),
        lambda given: mc.gradient("sum(x)", given),
        lambda given: mc.exp(given),
        lambda given: mc.expression("sum(x)", "x: vector(n)").substitute(x=given),
        lambda given: mc.compile("sum(x)", args=given),
        lambda given: mc.compile("sum(x)", target=given),
        lambda given: mc.from_sympy(given),
        lambda given: mc.expression("sum(x)", dialect=given),
        lambda given: mc.symbols("x: vector(n)")[0] @ np.ones((1000, 1000)),
    ],
)
def test_long_things_that_are_no_formulas(act, given):
    with pytest.raises((mc.MatcalcError, TypeError)) as caught:
        act(given)
    check(caught.value)
