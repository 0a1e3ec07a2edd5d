"""Tensors with axes in every order, with coefficients, read back as the same node: alone, in sums and sliced."""

from itertools import permutations

import numpy as np
import pytest

import matcalc as mc

LET = "X: tensor(n, n, n); Y: tensor(n, n, n); A: matrix(n, n); v: vector(n)"
OPERANDS = ["X", "(X + Y.^2)", "(X + exp(Y))", "{a,b,c: A[a,b]*v[c] + X[a,b,c]}", "{a,b,c: A[a,b] + v[c]}", "(X - Y/2)"]
COEFFICIENTS = ["", "2*", "-", "1/3*", "-0.1*", "5/2*"]
BESIDE = ["", " + A[i,j]*A[i,k]", " + A[i,j]*A[i,k]/3", " + v[i]", " - Y[i,j,k]/3"]
RANKS = {"X": 3, "Y": 3, "A": 2, "v": 1}
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


def is_read_back(text):
    """Whether the printed text is the same node, or one with the same values."""
    e = mc.expression(text, LET)
    again = mc.expression(str(e), e.declarations)
    if again.node is e.node:
        return True
    rng = np.random.default_rng(1)
    data = {name: rng.normal(size=(3,) * RANKS[name]) for name in e.symbols}
    return np.allclose(e(**data), again(**data), rtol=1e-12, atol=1e-12)


@pytest.mark.sampled(60)
@pytest.mark.thinned(4)
@pytest.mark.parametrize("text", list(texts()))
def test_orders_read_back(text):
    assert is_read_back(text)


@pytest.mark.sampled(24)
@pytest.mark.parametrize("text", [t for t in sliced() if "[1:, :, :][i" in t])
def test_orders_of_slices_read_back(text):
    assert is_read_back(text)
