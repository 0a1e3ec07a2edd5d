"""Names in programs describe their values; each names one value, and none is a name of the user's."""

import re

import numpy as np
import pytest

import matcalc as mc
from oracle import judging
from oracle.cases import identities

CASES = identities()
TARGETS = ("numpy", "numba")
LINE = re.compile(r"^ +(?P<name>\w+)(\[.*?\])? = (?P<what>.*?)  +# (?P<said>.*?)( \([^()]*\))?$", re.MULTILINE)
NEUTRAL = re.compile(r"[rs]\d+")
GP = "K = s^2*exp(-D/(2*l^2)) + t^2*eye(n); y'*inv(K)*y/2 + logdet(K)/2"
GP_LET = "D: matrix(n, n) symmetric; y: vector(n); s, t, l: scalar"


def body(function):
    """Return the lines of a program between its docstring and its end."""
    return re.search(r'^def \w+_into\(.*?\):\n(    """.*?"""\n)?(.*?)^    return 0$', function.source, re.M | re.S)[2]


@pytest.mark.parametrize("case", CASES, ids=[case.id for case in CASES])
@pytest.mark.sampled(36)
def test_a_name_holds_one_value(case):
    """All assignments to a name hold one formula, the formula of the name."""
    function = mc.compile([mc.expression(case.text, case.let), judging.derive(case)], target="numpy", name="f")
    outputs = set(re.search(r"def f_into\((.*?)\)", function.source)[1].split(", "))
    claims, promises = {}, {}
    for line in LINE.finditer(body(function)):
        said = line["said"].strip()
        if said.startswith("for "):
            promises.setdefault(line["name"], said.removeprefix("for "))
        elif not NEUTRAL.fullmatch(line["name"]) and line["name"] not in outputs:
            claims.setdefault(line["name"], set()).add(said)
    assert all(len(said) == 1 for said in claims.values()), claims
    for name, said in promises.items():
        kept = re.findall(rf"^    {name}(?:_[a-z]+)?(?:\[.*?\])? \+?= .*?  # (?!for )(.{{,40}})", body(function), re.M)
        assert not kept or any(
            said[:25].startswith(words[:25].partition(" (")[0].partition("...")[0]) for words in kept
        ), (name, said, kept)


@pytest.mark.whole
@pytest.mark.parametrize("target", TARGETS)
def test_parts_factors_and_entries(target):
    source = body(mc.value_and_gradient(GP, ["s", "l", "t"], GP_LET, target=target))
    wanted = {
        "numpy": (
            r"K\[i, i\] \+= t\*t",
            r"K_factor, K_pivots = definite_or_lu\(K\)",
            "K_inv_y = K_inv @ y",
            "exp_1 = np.exp",
        ),
        "numba": (
            r"K\[i, i\] = plus\(K\[i, i\], t\*t\)",
            r"definite_or_lu\(K, K_factor, K_pivots\)",
            r"symv\(.*K_inv, y, .*K_inv_y\)",
            "exp_ij = ",
        ),
    }
    for line in (*wanted[target], r"K_logdet = symmetric_logdet\(K_factor, K_pivots\)", r"K_inv = K +# for inv\(K\)"):
        assert re.search(line, source), (line, source)


def test_a_factorisation_by_its_kernel():
    source = body(mc.compile("S = A*A' + eye(n); y'*inv(S)*y", declarations="A: matrix(n, n); y: vector(n)"))
    assert re.search(r"chol\(S, S_chol\)", source), source


TAKEN = {  # formulas with parts whose short names are symbols, sizes, axes, words or kernels
    "symbols": (
        "sum(exp(X*w)) + X_w'*X_w + exp_sum*exp_i",
        "X: matrix(m, n); w: vector(n); X_w: vector(m); exp_sum, exp_i: scalar",
    ),
    "a size": ("sum(exp(X*w)) + K'*K", "X: matrix(m, n); w: vector(n); K: vector(X_w)"),
    "words": ("sum(abs(X*w)) + max(exp(X*w))", "X: matrix(m, n); w: vector(n)"),
    "kernels": ("gemv'*gemv + sum(exp(X*w))*vexp", "X: matrix(m, n); w: vector(n); gemv: vector(n); vexp: scalar"),
}
BY_HAND = {
    "symbols": lambda X, w, X_w, exp_sum, exp_i: np.exp(X @ w).sum() + X_w @ X_w + exp_sum * exp_i,
    "a size": lambda X, w, K: np.exp(X @ w).sum() + K @ K,
    "words": lambda X, w: np.abs(X @ w).sum() + np.exp(X @ w).max(),
    "kernels": lambda X, w, gemv, vexp: gemv @ gemv + np.exp(X @ w).sum() * vexp,
}


@pytest.mark.sampled(3)
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("which", TAKEN)
def test_no_name_is_taken(which, target):
    text, let = TAKEN[which]
    function = mc.value_and_gradient(text, "w", let, target=target)
    rng = np.random.default_rng(3)
    shapes = {"X": (5, 4), "w": (4,), "X_w": (5,), "K": (3,), "gemv": (4,)}
    data = {name: rng.standard_normal(shapes.get(name, ())) for name in function.args}
    value, gradient = function(**data)
    np.testing.assert_allclose(value, BY_HAND[which](**data), rtol=1e-12)
    for k in range(4):
        step = 1e-6 * np.eye(4)[k]
        ends = [BY_HAND[which](**{**data, "w": data["w"] + sign * step}) for sign in (1, -1)]
        np.testing.assert_allclose(gradient[k], (ends[0] - ends[1]) / 2e-6, rtol=1e-6)


def test_memory_in_another_shape():
    """Memory that is read in another shape and holds several values has none of their names."""
    let = "A: matrix(n, n) spd; B: matrix(n, n) symmetric; c: scalar"
    function = mc.value_and_gradient("logdet(A + c*B)", "c", let, target="numpy")
    half, B = np.random.default_rng(4).standard_normal((2, 3, 3))
    A, B = half @ half.T + 5 * np.eye(3), B + B.T
    value, gradient = function(A, B, 0.1)
    np.testing.assert_allclose(value, np.log(np.linalg.det(A + 0.1 * B)), rtol=1e-12)
    np.testing.assert_allclose(gradient, np.trace(np.linalg.inv(A + 0.1 * B) @ B), rtol=1e-12)
    for line in (
        r"r1 = np.empty\(\(n, n\)\)$",
        r"A_plus_c_B = r1 +# for A \+ c\*B$",
        r"r1_view = r1.reshape\(\(n\*n,\)\)$",
    ):
        assert re.search(line, body(function), re.M), body(function)


def test_equal_input_equal_names():
    texts = {mc.value_and_gradient(GP, ["s", "l", "t"], GP_LET, target="numpy").source for _ in range(2)}
    assert len(texts) == 1
