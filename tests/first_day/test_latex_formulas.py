"""Formulas in LaTeX as books and papers write them: each is read correctly, or rejected with reason and position.

The expected formulas are in the matrix language. The oracle, which shares no code with matcalc, evaluates them.
"""

from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

import matcalc as mc
from oracle.data import SIZES, declared, make
from oracle.differences import gradient
from oracle.values import evaluate, shaped

REFUSED = " @ refused"


class Formula(NamedTuple):
    latex: str
    text: str
    let: str


def rows() -> list[Formula]:
    lines = Path(__file__).with_name("latex_formulas.txt").read_text(encoding="utf-8").splitlines()
    return [Formula(*line.rsplit(" || ", 2)) for line in lines if line and not line.startswith("#")]


ROWS = rows()
READ = [row for row in ROWS if not row.let.endswith(REFUSED)]
PROSE_AND_READINGS = [row for row in ROWS if row.let.endswith(REFUSED)]


def latex_of(row: Formula) -> str:
    return row.latex


def test_there_are_two_hundred():
    assert len(set(ROWS)) == len(ROWS) >= 220
    assert len(READ) >= 165


@pytest.mark.sampled(9)
@pytest.mark.parametrize("row", READ, ids=latex_of)
def test_value(row):
    e = mc.expression(row.latex, row.let, dialect="latex")
    data = make(row.let)
    found = e(**{name: data[name] for name in map(str, e.symbols)})
    np.testing.assert_allclose(found, shaped(evaluate(row.text, data, SIZES), np.shape(found)), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("row", PROSE_AND_READINGS, ids=latex_of)
def test_refused(row):
    with pytest.raises(mc.MatcalcError) as caught:
        mc.expression(row.latex, row.let.removesuffix(REFUSED), dialect="latex")
    assert caught.value.text == row.latex
    assert 0 <= caught.value.at <= len(row.latex)
    assert len(str(caught.value)) < 600


SMOOTH = [
    row for row in READ if not any(word in row.latex for word in ("max", "min", r"\|x\|_\infty", "cases", "mathbb"))
]


@pytest.mark.whole
@pytest.mark.parametrize("row", SMOOTH, ids=latex_of)
def test_gradient(row):
    e = mc.expression(row.latex, row.let, dialect="latex")
    data = make(row.let)
    if e.shape != ():
        e = mc.expression(f"sum({e})", e.declarations)
    given = {name: data[name] for name in map(str, e.symbols)}
    for name, (_, facts) in declared(row.let).items():
        if name in given:
            found = e.gradient(name)
            value = found(**{x: data[x] for x in map(str, found.symbols)})
            truth = gradient(f"sum({row.text})", data, name, SIZES, facts & {"symmetric", "spd", "diagonal"})
            np.testing.assert_allclose(value, np.reshape(truth, np.shape(value)), rtol=1e-5, atol=1e-6)


def test_every_function_takes_the_dialect():
    let = "X: matrix(n, p); y: vector(n); w: vector(p)"
    loss = r"\frac{1}{2}\sum_{i=1}^{n} (w^\top x_i - y_i)^2"
    X, y, w = np.arange(6.0).reshape(3, 2) / 5, np.array([1.0, -2.0, 0.5]), np.array([0.3, -0.7])
    truth = X.T @ (X @ w - y)
    np.testing.assert_allclose(mc.gradient(loss, "w", let, dialect="latex")(X=X, y=y, w=w), truth, rtol=1e-12)
    np.testing.assert_allclose(mc.hessian(loss, "w", let, dialect="latex")(X=X, y=y, w=w), X.T @ X, rtol=1e-12)
    assert mc.check(loss, "w", let, against=r"X^\top (X w - y)", dialect="latex")
    value = mc.compile(loss, declarations=let, dialect="latex", target="numpy")
    np.testing.assert_allclose(value(X=X, y=y, w=w), np.sum((X @ w - y) ** 2) / 2, rtol=1e-12)
    slope = mc.compile(mc.gradient(loss, "w", let, dialect="latex"), target="numpy")
    np.testing.assert_allclose(slope(X=X, y=y, w=w), truth, rtol=1e-12)
    with pytest.raises(mc.UnknownName) as caught:
        mc.check(loss, "w", let, against=r"X^\top (X w - y) + \|z\|_2^2 w", dialect="latex")
    assert caught.value.text[caught.value.at] == "z"
