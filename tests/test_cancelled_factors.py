"""Factors that cancel leave their summed axis: its length, or ones where it is an output."""

import itertools

import numpy as np
import pytest

import matcalc as mc
from matcalc.calculus.evaluate.evaluate import evaluate

BASES = {
    "x": ("x: vector(n) positive", 1), "exp(y)": ("y: vector(n)", 1), "(x.^2 + 1)": ("x: vector(n) positive", 1),
    "X": ("X: matrix(n, m) positive", 2), "exp(A)": ("A: matrix(n, m)", 2), "(x*z')": (
        "x: vector(n) positive; z: vector(m) positive", 2),
    "r": ("r: scalar positive", 0), "cosh(y)": ("y: vector(n)", 1),
}  # fmt: skip
CANCELLED = ["{0}.*(1./{0})", "{0}.^2./{0}./{0}", "sqrt({0}).*{0}.^(-1/2)", "{0}./{0}", "{0}.^3.*{0}.^-3"]
SUMMED = {
    0: {"{}": 1.0, "n*{}": 3.0},
    1: {"sum({})": 3.0, "ones(n)'*({})": 3.0,
        "diag({})": np.eye(3), "({})*ones(m)'": np.ones((3, 2)), "{}": np.ones(3)},
    2: {"sum({})": 6.0, "tr(({})*ones(m, n))": 6.0, "sum({}, axis=0)": np.full(2, 3.0), "({})'": np.ones((2, 3)),
        "({})*({})'": np.full((3, 3), 2.0), "vec({})": np.ones(6), "({})*ones(m)": np.full(3, 2.0)},
}  # fmt: skip
CASES = [
    (summed.replace("{}", cancelled.format(base)), let, wanted)
    for (base, (let, rank)), cancelled in itertools.product(BASES.items(), CANCELLED)
    for summed, wanted in SUMMED[rank].items()
]
SIZES, LENGTHS = "N: matrix(n, m)", {"n": 3, "m": 2}


@pytest.mark.parametrize(("text", "let", "wanted"), CASES, ids=[text for text, *_ in CASES])
@pytest.mark.sampled(9)
@pytest.mark.thinned(4)
def test_what_is_left_is_a_length_or_ones(text, let, wanted):
    whole = mc.expression(text, f"{let}; {SIZES}")
    for form in (whole, whole.simplify()):
        data = {name: np.full([LENGTHS[str(s)] for s in node.shape], 0.7) for name, node in form.names.symbols.items()}
        (found,) = evaluate([form.node], data, LENGTHS)
        np.testing.assert_allclose(found, wanted, rtol=1e-14)


@pytest.mark.parametrize("target", ["numba", "numpy"])
@pytest.mark.parametrize(("text", "let", "name", "shape", "wanted"), [
    ("x'*(1./x)", "x: vector(n) positive", "x", (3,), 3.0),
    ("tr(X*(1./X)')", "X: matrix(m, n) positive", "X", (3, 2), 6.0),
    ("exp(x)'*(1./exp(x))", "x: vector(n)", "x", (3,), 3.0),
    ("sum(x)*sum(y.*(1./y))", "x: vector(n); y: vector(m) positive", "y", (4,), 12.0),
])  # fmt: skip
def test_compiled(text, let, name, shape, wanted, target):
    rest = {"x": np.ones(3)} if "sum(x)" in text else {}
    function = mc.compile(text, declarations=let, target=target)
    assert function(**rest, **{name: np.full(shape, 1.7)}) == wanted


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("text", "variable", "let", "wanted"),
    [
        ("sum(log(r*x))", "r", "r: scalar; x: vector(n) positive", "n/r"),
        ("sum(log(lam*exp(-lam*t)))", "lam", "lam: scalar positive; t: vector(n) positive", "n/lam - sum(t)"),
        ("sum(log(diag(d)*X))", "d", "d: vector(m) positive; X: matrix(m, n) positive", "n./d"),
        ("sum(log(X*diag(d)))", "d", "d: vector(n) positive; X: matrix(m, n) positive", "m./d"),
        ("sum(log(k/s*(t/s).^(k - 1).*exp(-(t/s).^k)))", "s",
         "k: scalar positive; s: scalar positive; t: vector(n) positive", "k*sum((t/s).^k)/s - n*k/s"),
        ("sum(log(x'*A))", "r", "r: scalar; x: vector(n) positive; A: matrix(n, m) positive", "0*r"),
    ],
)  # fmt: skip
def test_gradients_of_likelihoods(text, variable, let, wanted):
    found = mc.gradient(text, variable, let)
    assert mc.equivalent(found, mc.expression(wanted, f"{let}; N: matrix(n, m)"))
    assert mc.check(text, variable, let)
