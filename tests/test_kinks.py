"""One linear convention for kinks: equal formulas have equal derivatives there, however they are written."""

import functools
import runpy

import numpy as np
import pytest
from kinked_formulas import EQUAL, LET, PAIRS, mean_slope, of
from random_kinks import formula
from random_kinks import mean_slope as random_slope

import matcalc as mc

WEIGHTS = of(1, -2, 4)
CLOSE = {"rtol": 0, "atol": 5e-6}


@functools.cache
def slopes(name):
    """Return the correct gradients of one function at all its points."""
    return [mean_slope(EQUAL[name], at, WEIGHTS if entrywise(name) else of(1)) for at in EQUAL[name].at]


def entrywise(name):
    equal = EQUAL[name]
    return np.ndim(equal.value(*equal.at[0].values())) > 0


def weighted(name, text):
    return f"sum(({text}).*[1; -2; 4])" if entrywise(name) else text


def compare(gradient, name, factor=1.0):
    for at, want in zip(EQUAL[name].at, slopes(name), strict=True):
        np.testing.assert_allclose(gradient(**at), factor * want, **CLOSE, err_msg=f"{name} at {at}")


def gradient(text):
    return mc.gradient(text, "x", LET)


@pytest.mark.sampled(18)
@pytest.mark.parametrize("name", EQUAL)
def test_each_definition_has_the_mean_of_the_slopes_nearby(name):
    for text in EQUAL[name].texts:
        compare(gradient(weighted(name, text)), name)


@pytest.mark.whole
@pytest.mark.parametrize("name", EQUAL)
@pytest.mark.thinned(2)
def test_sums_of_equal_formulas_have_it_too(name):
    for _, one, other in (pair for pair in PAIRS if pair[0] == name):
        compare(gradient(f"3*({weighted(name, one)}) - 2*({weighted(name, other)})"), name)
        compare(gradient(f"({weighted(name, one)}) - ({weighted(name, other)})"), name, 0)


SAVED = ("relu", "softplus", "clip")
COMPILED = [(name, target) for name in EQUAL for target in ("numba", "numpy")] + [(name, "saved") for name in SAVED]


@pytest.mark.thinned(2)
@pytest.mark.whole
@pytest.mark.parametrize("name, target", COMPILED)
def test_all_definitions_compiled(name, target, tmp_path):
    texts = [weighted(name, text) for text in EQUAL[name].texts]
    found = mc.compile([gradient(text) for text in texts], target="numba" if target == "saved" else target)
    if target == "saved":
        found.save(tmp_path / "kinks.py")
        found = runpy.run_path(str(tmp_path / "kinks.py"))["f"]
    for at, want in zip(EQUAL[name].at, slopes(name), strict=True):
        for got, text in zip(found(**at), texts, strict=True):
            np.testing.assert_allclose(got, want, **CLOSE, err_msg=f"{text} at {at}")


# Second derivatives at 0, even in each kink or where kinks cancel: (formula, value).
SMOOTH = [
    ("cos(abs(x))", -1), ("cosh(abs(x))", 1), ("cos(max(x, -x))", -1), ("cos(relu(x) + relu(-x))", -1),
    ("abs(x)^2", 2), ("abs(x)^4", 0), ("hypot(x, 2*x)^2", 10), ("hypot(x, x)^2", 4), ("sqrt(x^2)^2", 2),
    ("(relu(x) + relu(-x))^2", 2), ("relu(x)^2 + relu(-x)^2", 2), ("(max(x, 0) - min(x, 0))^2", 2),
    ("max(x, 0)*min(x, 0)", 0), ("(2*relu(x) - abs(x))^2", 2), ("(max(x, 0) + min(x, 0))^2", 2),
    ("max(x, 0) + log1p(exp(-abs(x)))", 1 / 4), ("relu(x) + log1p(exp(-abs(x)))", 1 / 4),
    ("(x + abs(x))/2 + log1p(exp(-abs(x)))", 1 / 4), ("log1p(exp(-abs(x))) - min(x, 0)", 1 / 4),
    ("x - min(x, 0) + log(1 + exp(-abs(x)))", 1 / 4), ("min(x, 0) - log1p(exp(-abs(x)))", -1 / 4),
    ("abs(x) + log1p(exp(-2*abs(x)))", 1), ("log(cosh(abs(x)))", 1), ("max(x, -x) + softplus(-2*abs(x))", 1),
    ("abs(x) + exp(-abs(x))", 1), ("exp(-abs(x))*(1 + abs(x))", -1), ("abs(x) - log1p(abs(x))", 1),
    ("log(1 + abs(x)^2)", 2), ("sin(abs(x))*abs(x)", 2), ("abs(sin(x))^2", 2), ("abs(x)*sign(x)*x", 2),
    ("tanh(abs(x))^2", 2), ("exp(abs(x)) + exp(-abs(x))", 2), ("abs(x)*tanh(abs(x))", 2),
    ("besselj(0, abs(x))", -0.5),
    ("sqrt(1 + abs(x)^2)", 1), ("huber(abs(x))", 1), ("clip(x, -1, 1)^2", 2), ("logaddexp(abs(x), -abs(x))", 1),
    ("sigmoid(abs(x))*sigmoid(-abs(x))", -1 / 8), ("abs(x)^2*exp(-abs(x))", 2), ("erf(abs(x))*abs(x)", 4 / np.pi**0.5),
    ("max(x, -x)*max(x, -x)", 2), ("relu(x)^2", 1), ("x*abs(x)", 0), ("abs(relu(x) - relu(-x))^2", 2),
]  # fmt: skip


@pytest.mark.sampled(12)
@pytest.mark.parametrize("text, second", SMOOTH)
def test_second_derivatives_at_zero(text, second):
    hessian = mc.hessian(f"{text} + x^3", "x", "x: scalar")
    assert hessian(x=0.0) == pytest.approx(second, abs=1e-12)


VECTORS = [
    ("sum(abs(x).^p)", {"x": of(0, 3, -4), "p": 2.0}, 2 * np.eye(3)),
    ("sum(abs(x).^p)", {"x": of(0, 0, 0), "p": 2.0}, 2 * np.eye(3)),
    ("normp(x, p)", {"x": of(3, 0, -4), "p": 2.0}, (np.eye(3) - np.outer(of(3, 0, -4), of(3, 0, -4)) / 25) / 5),
    ("max(x)*min(x)*p", {"x": of(3, 3), "p": 1.0}, 1 - np.eye(2)),
    ("max(x)*min(x)*p", {"x": of(3, 5), "p": 1.0}, 1 - np.eye(2)),
    ("(max(x) - min(x))^p", {"x": of(3, 5), "p": 2.0}, of(2, -2, -2, 2).reshape(2, 2)),
    ("p*(max(x) - min(x))^2", {"x": of(3, 3), "p": 1.0}, of(2, -2, -2, 2).reshape(2, 2)),
    ("p*(max(x)^2 + min(x)^2)", {"x": of(3, 3), "p": 1.0}, 2 * np.eye(2)),
    ("p*norminf(x)^2", {"x": of(0, 0), "p": 1.0}, np.eye(2)),
    ("p*sum(max(x, -x).^2)", {"x": of(0, 0), "p": 1.0}, 2 * np.eye(2)),
    ("p*max(x[0], x[1])*min(x[0], x[1])", {"x": of(2, 2), "p": 1.0}, 1 - np.eye(2)),
]


@pytest.mark.parametrize("text, at, want", VECTORS)
@pytest.mark.parametrize("path", ["plain", pytest.param("numba", marks=pytest.mark.whole), "numpy"])
@pytest.mark.sampled(24)
def test_second_derivatives_at_ties(text, at, want, path):
    found = mc.hessian(text, "x", "x: vector(n); p: scalar")
    found = found if path == "plain" else mc.compile(found, target=path)
    np.testing.assert_allclose(found(**at), want, rtol=0, atol=1e-12)


def random_symmetric(spectrum):
    rng = np.random.default_rng(len(spectrum))
    Q = np.linalg.qr(rng.normal(size=(len(spectrum),) * 2))[0]
    return (Q * spectrum) @ Q.T, Q


@pytest.mark.whole
def test_matrices_at_zero_and_equal_eigenvalues():
    let = "S: matrix(n, n) symmetric; C: matrix(n, n) symmetric"
    C = random_symmetric(of(1, 2, 5))[0]
    S, Q = random_symmetric(of(-2, 0, 3))
    sides = Q @ np.diag(of(-1, 0, 1)) @ Q.T
    for text, want in [
        ("sum(C.*(psd_part(S) - psd_part(-S)))", C),
        ("norm_nuc(S)", sides), ("tr(psd_part(S) + psd_part(-S))", sides), ("sum(abs(eigh_w(S)))", sides),
        ("2*tr(psd_part(S)) - tr(S)", sides), ("tr(matfun(abs, S))", sides), ("sum(max(eigh_w(S), -eigh_w(S)))", sides),
    ]:  # fmt: skip
        data = {"S": S, "C": C} if "C" in text else {"S": S}
        np.testing.assert_allclose(mc.gradient(text, "S", let)(**data), want, atol=1e-12, err_msg=text)
    S, Q = random_symmetric(of(1, 3, 3))
    top = Q @ np.diag(of(0, 1, 1)) @ Q.T / 2
    for text in ("lambda_max(S)", "-lambda_min(-S)", "max(eigh_w(S))", "sum_largest_eig(S, 1)", "spectral_norm(S)",
                 "sum_largest_eig(S, 2)/2"):  # fmt: skip
        np.testing.assert_allclose(mc.gradient(text, "S", let)(S=S), top, atol=1e-12, err_msg=text)


@pytest.mark.whole
@pytest.mark.parametrize(
    "method", ["Newton-CG", *(pytest.param(m, marks=pytest.mark.whole) for m in ("BFGS", "trust-exact"))]
)
def test_a_logistic_fit_from_zero_reaches_the_optimum(method):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 3)), (rng.random(40) < 0.5) * 1.0
    text = "sum(max(X*w, 0) - (X*w).*y + log1p(exp(-abs(X*w)))) + w'*w/20"
    found = mc.minimize(text, "w", {"w": np.zeros(3)}, {"X": X, "y": y}, method)
    w = found.x["w"] if isinstance(found.x, dict) else found.x
    slope = X.T @ (1 / (1 + np.exp(-X @ w)) - y) + w / 10
    assert found.success and np.max(np.abs(slope)) < 1e-4 and np.max(np.abs(w)) > 0.1


@pytest.mark.sampled(12)
@pytest.mark.parametrize("seed", range(20))
def test_some_random_formulas_with_kinks(seed):
    random_formula(seed)


@pytest.mark.long
@pytest.mark.parametrize("block", range(30))
def test_random_formulas_with_kinks(block):
    for seed in range(100 * block, 100 * block + 100):
        random_formula(seed)


def random_formula(seed):
    found = formula(np.random.default_rng(seed))
    slope = mc.gradient(f"{found.text} + 0*x + x", "x", "x: scalar")(x=0.0) - 1
    assert slope == pytest.approx(random_slope(found), rel=1e-6, abs=1e-6), found.text
