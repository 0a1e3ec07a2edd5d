"""Rewrites of vectors hold along the rows and along the columns of matrices, with one number for each."""

import numpy as np
import pytest
from scipy import special

import matcalc as mc

LET = "S: matrix(n, m); Q: matrix(n, d); K: matrix(m, d); v: vector(n); u: vector(m); c: scalar positive"
SCORES = {"S": "S", "2*S": "2*S", "S/c": "S/c", "-S": "-S", "Q*K'": "Q*K'", "Q*K'/sqrt(d)": "Q*K'/sqrt(d)"}
BY_AXIS = {
    1: [
        ("softmax({} .- v, axis=1)", "softmax({}, axis=1)"),
        ("softmax({0} .- max({0}, axis=1), axis=1)", "softmax({}, axis=1)"),
        ("exp({0} .- logsumexp({0}, axis=1))", "softmax({}, axis=1)"),
        ("exp({0})./sum(exp({0}), axis=1)", "softmax({}, axis=1)"),
        ("log(sum(exp({}), axis=1))", "logsumexp({}, axis=1)"),
        ("max({0}, axis=1) + logsumexp({0} .- max({0}, axis=1), axis=1)", "logsumexp({}, axis=1)"),
    ],
    0: [
        ("softmax({} .- u', axis=0)", "softmax({}, axis=0)"),
        ("softmax({0} .- max({0}, axis=0)', axis=0)", "softmax({}, axis=0)"),
        ("exp({0} .- logsumexp({0}, axis=0)')", "softmax({}, axis=0)"),
        ("exp({0})./sum(exp({0}), axis=0)'", "softmax({}, axis=0)"),
        ("log(sum(exp({}), axis=0))", "logsumexp({}, axis=0)"),
        ("max({0}, axis=0) + logsumexp({0} .- max({0}, axis=0)', axis=0)", "logsumexp({}, axis=0)"),
    ],
}
CASES = [(axis, scores, *pair) for axis, pairs in BY_AXIS.items() for scores in SCORES for pair in pairs]


@pytest.mark.parametrize(("axis", "scores", "written", "short"), CASES)
def test_along_an_axis(axis, scores, written, short):
    e = mc.expression(written.format(scores), LET)
    found = e.simplify()
    assert len(str(found)) <= len(short.format(scores)) + 2, str(found)
    rng = np.random.default_rng(2)
    shapes = {"S": (4, 3), "Q": (4, 2), "K": (3, 2), "v": (4,), "u": (3,), "c": ()}
    data = {name: rng.standard_normal(shape) for name, shape in shapes.items()} | {"c": 1.3}
    values = {"S": data["S"], "Q*K'": data["Q"] @ data["K"].T, "2*S": 2 * data["S"], "-S": -data["S"]}
    values |= {"S/c": data["S"] / 1.3, "Q*K'/sqrt(d)": values["Q*K'"] / np.sqrt(2)}
    truth = (special.softmax if short.startswith("softmax") else special.logsumexp)(values[scores], axis=axis)
    assert np.allclose(found(**{str(s): data[str(s)] for s in found.symbols}), truth, rtol=1e-13)
    turned = mc.expression(
        f"({written.format(scores)})'" if short.startswith("softmax") else written.format(scores), LET
    )
    value = turned.simplify()(**{str(s): data[str(s)] for s in turned.symbols})
    assert np.allclose(value, truth.T, rtol=1e-13)


def test_a_number_for_each_row_stays_where_rows_differ():
    """A vector along the other axis is no number of a row."""
    assert str(mc.expression("softmax(S .- u', axis=1)", LET).simplify()) == "softmax(S .- u', axis=1)"
    assert str(mc.expression("softmax(S .- v, axis=0)", LET).simplify()).count("v") == 1


def test_attention_reads_as_in_papers():
    def loss(Q, K, V, T):
        A = special.softmax(Q @ K.T / np.sqrt(K.shape[1]), axis=-1)
        return np.sum((A @ V - T) ** 2)

    let = "Q: matrix(n, d); K: matrix(m, d); V: matrix(m, e); T: matrix(n, e)"
    assert mc.gradient(loss, "V", let).named() == "2*A'*(A*V - T) where A = softmax(Q*K'/sqrt(d), axis=1)"
