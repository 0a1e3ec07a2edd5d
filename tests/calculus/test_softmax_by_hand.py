"""Quotients of exponentials by their sums are softmax along each axis, in every spelling, and keep their range."""

import numpy as np
import pytest
from scipy.special import log_softmax, logsumexp, softmax

import matcalc as mc

LET = "S: matrix(m, n); Y: matrix(m, n); Z: matrix(m, n) positive; s: vector(n); y: vector(n)"
P = {
    (0,): ["exp(S)./sum(exp(S), axis=0)'", "exp(S)*diag(1./sum(exp(S), axis=0))"],
    (1,): ["exp(S)./sum(exp(S), axis=1)", "diag(1./(exp(S)*ones(n)))*exp(S)", "exp(S .- logsumexp(S, axis=1))"],
    (0, 1): ["exp(S)/sum(exp(S))", "exp(S)./sum(exp(S))"],
    (2,): ["exp(s)/sum(exp(s))", "exp(s)./sum(exp(s))"],
}
SHIFTED = {
    (0,): ["exp(S .- max(S, axis=0)')./sum(exp(S .- max(S, axis=0)'), axis=0)'"],
    (1,): ["exp(S .- max(S, axis=1))./sum(exp(S .- max(S, axis=1)), axis=1)"],
    (0, 1): ["exp(S - max(S))/sum(exp(S - max(S)))"],
    (2,): ["exp(s - max(s))/sum(exp(s - max(s)))"],
}
AROUND = {
    "{}": lambda p, log, w: p,
    "({}).^2": lambda p, log, w: np.exp(2 * log),
    "sum(({}).^3)": lambda p, log, w: np.exp(3 * log).sum(),
    "log({})": lambda p, log, w: log,
    "sum(W.*({}))": lambda p, log, w: (w * p).sum(),
    "sum(W.*log({}))": lambda p, log, w: (w * log).sum(),
    "log(({}).*exp(W))": lambda p, log, w: log + w,
}
CASES = [(axes, text, around) for axes in P for text in [*P[axes], *SHIFTED[axes]] for around in AROUND]
rng = np.random.default_rng(5)
SCORES = {
    "ordinary": rng.standard_normal((3, 4)),
    "large": np.array([[1000.0, -1000.0, 0.0, 999.0], [-800.0, 0.0, 1000.0, 2.0], [0.0, 0.0, 0.0, 0.0]]),
    "one": np.array([[1000.0]]),
    "no rows": np.zeros((0, 2)),
}


def data_of(e, S):
    """Return the arguments of an expression: scores, and weights of their shape."""
    W = np.linspace(-2, 3, S.size).reshape(S.shape)
    known = {"S": S, "Y": W, "Z": np.exp(W), "s": S.ravel(), "y": W.ravel()}
    return {str(one): known[str(one)] for one in e.symbols}


@pytest.mark.whole
@pytest.mark.parametrize(("axes", "text", "around"), CASES)
def test_every_spelling_has_the_range_of_softmax(axes, text, around):
    name = "y" if axes == (2,) else "Y"
    e = mc.expression(around.format(text).replace("W", name), LET)
    shown = e.simplify()
    assert "exp(" not in str(shown).replace("exp(W", "").replace("logsumexp(", "").replace(f"exp({name})", ""), shown
    compiled = mc.compile(e)
    for S in SCORES.values():
        given = data_of(e, S)
        scores, axis = (S.ravel(), 0) if axes == (2,) else (S, axes)
        if not scores.size:
            continue
        log = log_softmax(scores, axis=axis)
        weights = np.linspace(-2, 3, S.size).reshape(scores.shape)
        truth = AROUND[around](softmax(scores, axis=axis), log, weights)
        for made in (shown, compiled):
            assert np.allclose(made(**given), truth, rtol=1e-11, atol=1e-300), (made, S)


def by_hand(S, Y):
    E = np.exp(S)
    return np.sum(Y * E / E.sum(axis=1, keepdims=True))


def shifted(S, Y):
    E = np.exp(S - S.max(axis=1, keepdims=True))
    return np.sum(Y * E / E.sum(axis=1, keepdims=True))


def broadcast(S, Y):
    E = np.exp(S)
    return np.sum((E.T / E.sum(axis=1)).T * Y)


def inserted(S, Y):
    E = np.exp(S)
    return np.sum(E / np.sum(E, 1)[:, None] * Y)


def normalised_later(S, Y):
    E = np.exp(S)
    return np.sum(np.sum(E * Y, axis=1) / E.sum(axis=1))


@pytest.mark.sampled(2)
@pytest.mark.parametrize("function", [by_hand, shifted, broadcast, inserted, normalised_later])
def test_gradients_are_those_of_softmax(function):
    found = mc.gradient(function, "S", "S: matrix(m, n); Y: matrix(m, n)")
    assert str(found) == "softmax(S, axis=1).*Y - diag(diag(softmax(S, axis=1)*Y'))*softmax(S, axis=1)"
    S = SCORES["large"]
    W = rng.standard_normal(S.shape)
    p = softmax(S, axis=1)
    assert np.allclose(mc.compile(found)(S, W), p * (W - (p * W).sum(1, keepdims=True)), rtol=1e-12)


def logarithm(S, Y):
    E = np.exp(S)
    return -np.sum(Y * np.log(E / E.sum(axis=1, keepdims=True)))


def logarithm_of_sum(S, Y):
    return np.sum(Y * (np.log(np.exp(S).sum(axis=1, keepdims=True)) - S))


def shifted_logarithm(S, Y):
    Z = S - S.max(axis=1, keepdims=True)
    return -np.sum(Y * (Z - np.log(np.exp(Z).sum(axis=1, keepdims=True))))


@pytest.mark.sampled(2)
@pytest.mark.parametrize("function", [logarithm, logarithm_of_sum, shifted_logarithm])
def test_gradients_of_cross_entropy(function):
    found = mc.gradient(function, "S", "S: matrix(m, n); Y: matrix(m, n)")
    assert str(found) == "diag(Y*ones(n))*softmax(S, axis=1) - Y"


LOG = {0: lambda a: log_softmax(a, axis=0), 1: lambda a: log_softmax(a, axis=1)}
FAR = [
    ("log((exp(S)./sum(exp(S), axis=1))./(exp(Y)./sum(exp(Y), axis=1)))", lambda S, Y, Z: LOG[1](S) - LOG[1](Y)),
    ("log((exp(S)./sum(exp(S), axis=0)')./(exp(Y)./sum(exp(Y), axis=1)))", lambda S, Y, Z: LOG[0](S) - LOG[1](Y)),
    ("log(softmax(S, axis=1).*Z)", lambda S, Y, Z: LOG[1](S) + np.log(Z)),
    ("log(softmax(S, axis=0)./Z)", lambda S, Y, Z: LOG[0](S) - np.log(Z)),
    ("log(sum(softmax(S, axis=0).*exp(Y), axis=0))", lambda S, Y, Z: logsumexp(LOG[0](S) + Y, axis=0)),
    ("log(sum(softmax(S, axis=1).*Z, axis=1))", lambda S, Y, Z: logsumexp(LOG[1](S) + np.log(Z), axis=1)),
    ("log(exp(S).*Z./(exp(S).*Z*ones(n)))", lambda S, Y, Z: LOG[1](S + np.log(Z))),
    ("log(diag(sum(exp(Y), axis=1))*exp(-Y))", lambda S, Y, Z: -LOG[1](Y)),
]


@pytest.mark.whole
@pytest.mark.parametrize(("text", "truth"), FAR)
def test_logarithms_of_products_keep_their_range(text, truth):
    e = mc.expression(text, LET)
    S, Y = SCORES["large"], SCORES["large"][:, ::-1] / 2
    Z = np.exp(rng.uniform(-600, 600, S.shape))
    data = {"S": S, "Y": Y, "Z": Z}
    for made in (e.simplify(), mc.compile(e), mc.compile(e, target="numpy")):
        found = made(**{str(one): data[str(one)] for one in e.symbols})
        assert np.allclose(found, truth(S, Y, Z), rtol=1e-12)


UNIT = ["S./sqrt(sum(S.^2, axis=1))", "diag(1./sqrt(sum(S.^2, axis=1)))*S", "S./norm2(S, axis=1)"]


@pytest.mark.parametrize("text", UNIT)
def test_rows_over_their_lengths(text):
    e = mc.expression(text, LET)
    assert str(e.simplify()) == "normalize(S, axis=1)"
    S = SCORES["ordinary"]
    assert np.allclose(e.simplify()(S), S / np.linalg.norm(S, axis=1, keepdims=True), rtol=1e-14)
