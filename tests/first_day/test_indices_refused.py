"""Indices as data: formulas that are refused, and by which words."""

import pytest

import matcalc as mc
from matcalc.errors import NotDifferentiable, NotSupported, ShapeError, UnknownName

BAD = [
    ("x[k] + k", "x: vector(n); k: index", ShapeError, "k is an index, not a number"),
    ("sum(i)", "i: index(N)", ShapeError, "i is an index, not a number"),
    ("x[2*k]", "x: vector(n); k: index", ShapeError, "k is an index, not a number"),
    ("x[k - 1]", "x: vector(n); k: index", NotSupported, "the subscript k - 1 is not supported"),
    ("x[-k]", "x: vector(n); k: index", ShapeError, "k is an index, not a number"),
    ("x[y]", "x: vector(n); y: vector(n)", ShapeError, "a subscript is an integer or a size, not y"),
    ("X[i, j]", "X: matrix(m, n); i: index(M); j: index(N)", ShapeError, "X[i,j] has M and N indices"),
    (
        "T[i, :, j]", "T: tensor(m, n, p); i: index(N); j: index(N)", ShapeError,
        "T[i, :, j] has a range between indices: the order of its axes is ambiguous",
    ),
    (
        "T[0, :, j]", "T: tensor(m, n, p); j: index(N)", ShapeError,
        "T[0, :, j] has a range between indices: the order of its axes is ambiguous",
    ),
    ("{a: [a >= k]*ones(4)[a]}", "k: index", NotSupported, "the condition [a >= k] is not supported"),
    (
        "x[i[::-1]]", "x: vector(n); i: index(N)", NotSupported,
        "i[::-1]: a range of indices in reverse order is not supported",
    ),
    (
        "{: x[i[t]]}", "x: vector(n); i: index(N)", ShapeError,
        "index t is not listed, and not repeated within one product",
    ),
    ("x[k[0]]", "x: vector(n); k: index", ShapeError, "k (scalar) has 0 axes, not 1"),
    ("x[k]", "x: vector(n); k: index positive", ShapeError, "'positive' is a fact about tensors, this is an index"),
    ("x[k]", "x: vector(n) index; k: index", UnknownName, "unknown fact 'index'"),
    ("x[k]", "x: vector(n); k: index(k)", ShapeError, "'k' is both a size and a symbol"),
]  # fmt: skip


@pytest.mark.parametrize("formula, declarations, error, message", BAD)
def test_formula_is_refused(formula, declarations, error, message):
    with pytest.raises(error) as caught:
        mc.expression(formula, declarations)
    assert caught.value.message == message
    assert caught.value.at >= 0


@pytest.mark.parametrize("call", ["gradient", "jacobian", "hessian", "hvp", "vjp", "jvp", "differential"])
def test_no_derivative_in_an_index(call):
    e = mc.expression("x[k]", "x: vector(n); k: index")
    with pytest.raises(NotDifferentiable, match="k is an index: its values are integers"):
        getattr(e, call)("k")
