"""Rewrites of vectors hold along the rows and along the columns of matrices, with one number for each."""

from itertools import combinations

import numpy as np
import pytest
from scipy import special
from scipy.special import logsumexp as lse

import matcalc as mc

LET = "S: matrix(n, m); Q: matrix(n, d); K: matrix(m, d); v: vector(n); u: vector(m); c: scalar positive"
SCORES = {"S": "S", "2*S": "2*S", "S/c": "S/c", "-S": "-S", "Q*K'": "Q*K'", "Q*K'/sqrt(d)": "Q*K'/sqrt(d)"}
BY_AXIS = {
    1: [
        ("softmax({} .- v, axis=1)", "softmax({}, axis=1)"),
        ("softmax({0} .- max({0}, axis=1), axis=1)", "softmax({}, axis=1)"),
        ("exp({0} .- logsumexp({0}, axis=1))", "softmax({}, axis=1)"),
        ("log(sum(exp({}), axis=1))", "logsumexp({}, axis=1)"),
        ("max({0}, axis=1) + logsumexp({0} .- max({0}, axis=1), axis=1)", "logsumexp({}, axis=1)"),
    ],
    0: [
        ("softmax({} .- u', axis=0)", "softmax({}, axis=0)"),
        ("softmax({0} .- max({0}, axis=0)', axis=0)", "softmax({}, axis=0)"),
        ("exp({0} .- logsumexp({0}, axis=0)')", "softmax({}, axis=0)"),
        ("log(sum(exp({}), axis=0))", "logsumexp({}, axis=0)"),
        ("max({0}, axis=0) + logsumexp({0} .- max({0}, axis=0)', axis=0)", "logsumexp({}, axis=0)"),
    ],
}
CASES = [(axis, scores, *pair) for axis, pairs in BY_AXIS.items() for scores in SCORES for pair in pairs]


@pytest.mark.sampled(12)
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


FACTORS = {"exp(S)": "S", "exp(Q*K')": "Q@K", "exp(-R)": "-R", "P": "P", "1./sqrt(P)": "rsqrt", "exp(-S./P)": "-S/P"}
AROUND = ["log({})", "sum(log({}))", "log(({})./(exp(S)*ones(m)))", "log(({})./(exp(Q*K')*ones(m)))", "{}"]


@pytest.mark.sampled(21)
@pytest.mark.parametrize("around", AROUND)
@pytest.mark.parametrize("factors", [c for k in (1, 2, 3) for c in combinations(FACTORS, k)], ids="*".join)
def test_sums_of_products_over_rows(factors, around):
    """A rewrite of one factor never takes the others out of the sum, in values and in simplified forms."""
    rng = np.random.default_rng(4)
    S, R = rng.standard_normal((2, 4, 3))
    data = {
        "S": S,
        "R": R,
        "P": rng.uniform(0.3, 2, (4, 3)),
        "Q": rng.standard_normal((4, 2)),
        "K": rng.standard_normal((3, 2)),
    }
    P, G = data["P"], np.exp(data["Q"] @ data["K"].T)
    values = {"S": np.exp(S), "Q@K": G, "-R": np.exp(-R), "P": P, "rsqrt": 1 / np.sqrt(P), "-S/P": np.exp(-S / P)}
    inner = np.prod([values[FACTORS[f]] for f in factors], axis=0).sum(axis=1)
    truths = [np.log(inner), np.log(inner).sum(), np.log(inner / np.exp(S).sum(1)), np.log(inner / G.sum(1)), inner]
    let = "S, R: matrix(n, m); P: matrix(n, m) positive; Q: matrix(n, d); K: matrix(m, d)"
    e = mc.expression(around.replace("{}", f"({'.*'.join(f'({f})' for f in factors)})*ones(m)"), let)
    for made in (e, e.simplify()):
        found = made(**{str(s): data[str(s)] for s in made.symbols})
        assert np.allclose(found, truths[AROUND.index(around)], rtol=1e-12)


LARGE = {"S": np.array([[0.0, -800.0], [1.0, 2.0]]), "Q": np.array([[0.0, -900.0], [0.5, 0.1]])}


@pytest.mark.whole
@pytest.mark.parametrize(
    ("formula", "truth"),
    [
        ("log(((exp(S).*exp(-Q))*ones(m))./(exp(S)*ones(m)))", lambda S, Q: lse(S - Q, axis=1) - lse(S, axis=1)),
        ("log(exp(S)./(exp(S)*ones(m)))", lambda S, Q: S - lse(S, axis=1, keepdims=True)),
        ("log(exp(S)./sum(exp(S), axis=0)')", lambda S, Q: S - lse(S, axis=0, keepdims=True)),
        ("log(sum(exp(S - Q), axis=1))", lambda S, Q: lse(S - Q, axis=1)),
        ("max(S, axis=1) + log(sum(exp(S .- max(S, axis=1)), axis=1))", lambda S, Q: lse(S, axis=1)),
    ],
)
def test_no_form_loses_range(formula, truth):
    """Logarithms of sums of exponentials are finite where their parts are not."""
    e = mc.expression(formula, "S, Q: matrix(n, m)")
    data = {str(s): LARGE[str(s)] for s in e.symbols}
    for made in (e, mc.compile(e, target="numpy"), mc.compile(e)):
        assert np.allclose(made(**data), truth(**LARGE), rtol=1e-12)
