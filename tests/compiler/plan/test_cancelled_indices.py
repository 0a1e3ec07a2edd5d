"""Equations between indices in which one index cancels: a sum over it multiplies by its length."""

import numpy as np
import pytest

import matcalc as mc

LET = "x: vector(n); y: vector(n)"
CASES = {
    "tr(toeplitz(x, y))": lambda x, y: [len(x), *0 * x[1:]],
    "sum(toeplitz(x, y).*eye(n))": lambda x, y: [len(x), *0 * x[1:]],
    "y'*diag(toeplitz(x, y))": lambda x, y: [np.sum(y), *0 * x[1:]],
    "tr(toeplitz(x, y)*diag(y))": lambda x, y: [np.sum(y), *0 * x[1:]],
    "sum(diag(toeplitz(x)).^2)": lambda x, y: [2 * len(x) * x[0], *0 * x[1:]],
}


@pytest.mark.parametrize("text", CASES)
def test_gradients_of_diagonals(text):
    gradient = mc.gradient(text, "x", declarations=LET)
    compiled = mc.compile(gradient, target="numpy")
    for n in (1, 2, 5):
        data = {"x": np.arange(1.0, n + 1), "y": np.arange(2.0, n + 2) ** 2}
        for fn in (gradient, compiled):
            given = {**data, "n": n}
            found = fn(**{name: given[name] for name in gradient.symbols})
            np.testing.assert_allclose(found, CASES[text](**data))
