"""Indices as data, in text and in LaTeX: what is declared by its use, and gathered parts that read back."""

import numpy as np
import pytest

import matcalc as mc
from matcalc.errors import ParseError

UNDECLARED = [
    ("-sum{i: log_softmax(X*W, axis=1)[i, y[i]]}", "X: matrix(m, n); W: matrix(n, k); y: index(m)"),
    ("{t: U[i[t], a]*V[j[t], a]}", "U: matrix(m, n); i: index(k); V: matrix(p, n); j: index(k)"),
    ("x[i[0]]", "x: vector(m); i: index(n)"),
]


@pytest.mark.parametrize("formula, declared", UNDECLARED)
def test_what_stands_in_a_subscript_with_subscripts_is_data(formula, declared):
    e = mc.expression(formula)
    assert e.declarations.replace(", undeclared", "") == declared
    assert e.node is mc.expression(formula, declared).node


def test_declarations_say_the_kind():
    e = mc.expression("X[i, :]", "X: matrix(m, n); i: index(N)")
    assert e.declarations == "X: matrix(m, n); i: index(N)"
    with pytest.raises(ParseError):
        mc.expression("x[k]", "k: index(")


GATHERED = [
    ("X[i, :]", "X[i]"), ("X[i, :]'*y", "X[i].T @ y"), ("X[:, l]*y", "X[:, l] @ y"), ("X[i, l]'*y", "X[i, l] @ y"),
    ("X[i, k]'*y", "X[i, k] @ y"), ("X[i[1:], l[1:]]", "X[i[1:], l[1:]]"), ("X[k, l[1:]]", "X[k, l[1:]]"),
    ("X[i, :]'*diag(y)*X[l, :]", "X[i].T @ np.diag(y) @ X[l]"), ("x[i]'*y", "x[i] @ y"),
    ("x[k]*X[i[0], :]", "x[k]*X[i[0]]"),
    ("norm2(X[i, l] - y)^2", "np.sum((X[i, l] - y)**2)"), ("eye(m)[:, i]*y", "np.eye(5)[:, i] @ y"),
]  # fmt: skip


@pytest.mark.parametrize(("formula", "truth"), GATHERED)
def test_latex_of_gathered_parts(formula, truth):
    """LaTeX of gathered parts is read back: several indices together are one axis, of one subscript or two."""
    let = "X: matrix(m, n); x: vector(n); y: vector(N); i: index(N); l: index(N); k: index"
    rng = np.random.default_rng(4)
    data = {"X": rng.normal(size=(5, 4)), "x": rng.normal(size=4), "y": rng.normal(size=6), "k": 2, "m": 5}
    data |= {"i": rng.integers(0, 4, 6), "l": rng.integers(0, 4, 6)}
    e = mc.expression(formula, let)
    read = mc.expression(e.latex(), let, dialect="latex")
    assert read.node is e.node
    found = read(**{name: data[name] for name in map(str, read.symbols)})
    np.testing.assert_allclose(found, eval(truth, {"np": np}, data), rtol=1e-12)


def test_rows_at_data_are_written_as_they_stand():
    e = mc.expression("X[i, :]", "X: matrix(m, n); i: index(N)")
    assert e.latex() == r"\mathbf{X}_{\mathbf{i},:}"
