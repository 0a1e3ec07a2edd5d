"""Tensors with axes in every order, with coefficients, read back as the same node: alone, in sums and sliced."""

from itertools import permutations

import pytest

import matcalc as mc

LET = "X: tensor(n, n, n); Y: tensor(n, n, n); T: tensor(n, n, n, n); A: matrix(n, n); v: vector(n)"
OPERANDS = ["X", "(X + Y.^2)", "(X + exp(Y))", "{a,b,c: A[a,b]*v[c] + X[a,b,c]}", "{a,b,c: A[a,b] + v[c]}", "(X - Y/2)"]
COEFFICIENTS = ["", "2*", "-", "1/3*", "-0.1*", "5/2*"]
BESIDE = ["", " + A[i,j]*A[i,k]", " + A[i,j]*A[i,k]/3", " + v[i]", " - Y[i,j,k]/3"]
INDICES = ("i", "j", "k")


def texts():
    for operand in OPERANDS:
        for coefficient in COEFFICIENTS:
            for order in permutations(INDICES):
                for beside in BESIDE:
                    yield f"{{i,j,k: {coefficient}{operand}[{','.join(order)}]{beside}}}"


def sliced():
    for operand in OPERANDS[:3]:
        for coefficient in COEFFICIENTS:
            for order in permutations(INDICES):
                for beside in ("", " + A[1:, :][i,j]*v[k]/3"):
                    yield f"{{i,j,k: {coefficient}{operand}[1:, :, :][{','.join(order)}]{beside}}}"


def of_order_4():
    for order in permutations("ijkl"):
        for text in ("(T + T.^2)[{}]/3", "(T + T.^2)[{}]/3 + X[i,j,k]*v[l]", "-(T - exp(T))[1:, :, :, :][{}]/2"):
            if order[0] == "i" or "1:" not in text:
                yield f"{{i,j,k,l: {text.format(','.join(order))}}}"


def check_read_back(text):
    """Assert that the printed text and the LaTeX are read as the same node."""
    e = mc.expression(text, LET)
    assert mc.expression(str(e), e.declarations).node is e.node
    assert mc.expression(e.latex(), e.declarations, dialect="latex").node is e.node


@pytest.mark.sampled(60)
@pytest.mark.thinned(4)
@pytest.mark.parametrize("text", list(texts()))
def test_orders_read_back(text):
    check_read_back(text)


@pytest.mark.sampled(24)
@pytest.mark.parametrize("text", [t for t in sliced() if "[1:, :, :][i" in t])
def test_orders_of_slices_read_back(text):
    check_read_back(text)


@pytest.mark.sampled(20)
@pytest.mark.parametrize("text", list(of_order_4()))
def test_orders_of_four_axes_read_back(text):
    check_read_back(text)
