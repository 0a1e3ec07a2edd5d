"""Limits of indices: `sum{i < 3: ...}` has the values of NumPy's sums over these numbers, or the limit is refused."""

import numpy as np
import pytest

import matcalc as mc

RNG = np.random.default_rng(7)
X, A, K = RNG.standard_normal(6), RNG.standard_normal((6, 6)), np.arange(6)
LET = "x: vector(6); A: matrix(6, 6)"
VALUES = {
    "sum{i < 3: x[i]}": X[:3].sum(),
    "sum{i <= 3: x[i]}": X[:4].sum(),
    "sum{i < 6: x[i]}": X.sum(),
    "sum{i < 2*3: x[i]*i}": X @ K,
    "sum{i < 5: x[i+1]*x[i]}": X[1:] @ X[:-1],
    "sum{i < 4, j < 2: A[i,j]*x[i] - x[j]}": (A[:4, :2] * X[:4, None] - X[:2]).sum(),
    "{i < 3, j: A[i,j]}": A[:3],
    "{i < 2: A[i,k]*x[k]}": A[:2] @ X,
    "{k < 4: 5}": np.full(4, 5.0),
    "{k < 4: k^2}": K[:4] ** 2,
    "{j < 6: A[i,k]*[i == j + k]}": np.array([np.trace(A, -j) for j in K]),
    "{k < 11: x[i]*x[j]*[k == i + j]}": np.convolve(X, X),
    "-sum{i < 2: (x[i] - 1)^2}/2": -((X[:2] - 1) ** 2).sum() / 2,
    "sum{i < 1: x[i]}": X[0],
    "sum{i < j, j: x[i]*x[j]}": np.triu(np.outer(X, X), 1).sum(),
    "sum{i, j <= i: A[i,j]}": np.tril(A).sum(),
    "sum{i < j, j < 3: A[i,j]}": np.triu(A[:3, :3], 1).sum(),
}
REFUSED = {
    "sum{i < 7: x[i]}": "index i is below 7, but its axes end at 6",
    "sum{i < 6: x[i+1]}": "index i is below 6, but its axes end at 5",
    "sum{i > 3: x[i]}": "'>' is no limit of an index",
    "sum{i == 3: x[i]}": "'==' is no limit of an index",
    "sum{i < n: x[i]}": "n",
    "sum{i < 2, i < 3: x[i]}": "listed twice",
    "{i < : x[i]}": "expected",
}


@pytest.mark.sampled(4)
@pytest.mark.parametrize("text", VALUES)
def test_values(text):
    e = mc.expression(text, LET)
    data = {name: value for name, value in {"x": X, "A": A}.items() if name in e.names.written}
    for found in (e(**data), mc.compile(e, target="numpy")(**data)):
        np.testing.assert_allclose(found, VALUES[text], rtol=1e-13, atol=1e-13)


@pytest.mark.parametrize("text", VALUES)
def test_printed_forms_are_read_back(text):
    e = mc.expression(text, LET)
    assert mc.expression(str(e), LET).node is e.node
    if "x" in e.names.written and not e.node.shape:
        gradient = e.gradient("x")
        assert mc.expression(str(gradient), LET).node is gradient.node


@pytest.mark.parametrize("text", REFUSED)
def test_refused(text):
    with pytest.raises(mc.MatcalcError, match=REFUSED[text]):
        mc.expression(text, LET)


@pytest.mark.parametrize(
    ("text", "printed"),
    [
        ("circulant(c)", "{i < n: G[j,k]*[j == i + k] + G[j,k]*[j == i + k - n]}"),
        ("hankel(c)", "{i < n: G[j,k]*[i == j + k]}"),
    ],
)
def test_results_state_limits(text, printed):
    assert str(mc.vjp(text, "c", "c: vector(n)")) == printed
