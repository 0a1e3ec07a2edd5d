"""Formulas whose readings, cancellations, verdicts or calls are easily wrong: each with its closed form."""

import contextlib
import importlib.util

import numpy as np
import pytest

import matcalc as mc
from matcalc.errors import MatcalcError

RNG = np.random.default_rng(7)
POSITIVE = RNG.random(5) + 0.5
A, B = RNG.normal(size=(4, 4)), RNG.normal(size=(4, 4))
SPD = B @ B.T + np.eye(4)
X34 = RNG.random((3, 4)) + 0.2


def eye(n):
    return np.eye(n)


# Values: (formula, declarations, data, expected value).
VALUES = [
    ("x'*(1./x)", "x: vector(n) positive", {"x": POSITIVE}, 5),
    ("exp(x)'*(1./exp(x))", "x: vector(n)", {"x": POSITIVE}, 5),
    ("tr(X*(1./X)')", "X: matrix(m, n) positive", {"X": X34}, 12),
    ("sum(x./x)", "x: vector(n) positive", {"x": POSITIVE}, 5),
    ("sum(sqrt(x).*x.^-0.5)", "x: vector(n) positive", {"x": POSITIVE}, 5),
    ("exp(x)'*exp(-x)", "x: vector(n)", {"x": POSITIVE}, 5),
    ("r*sum(x./x)/r", "x: vector(n) positive; r: scalar positive", {"x": POSITIVE, "r": 2.0}, 5),
    ("det((A*B).*eye(n))", "A: matrix(n, n); B: matrix(n, n)", {"A": A, "B": B}, np.prod(np.diag(A @ B))),
    ("logdet(A[:, ::-1].*eye(n))", "A: matrix(n, n)", {"A": A}, np.log(np.abs(np.prod(np.diag(A[:, ::-1]))))),
    ("norm2(diag(diag(Q*M)))", "Q: matrix(n, n) orthogonal; M: matrix(n, n)",
     {"Q": np.linalg.qr(A)[0], "M": B}, np.linalg.norm(np.diag(np.linalg.qr(A)[0] @ B))),
    ("logdet(diag(diag(B*C*B')))", "B: matrix(n, n); C: matrix(n, n) spd", {"B": A, "C": SPD},
     np.sum(np.log(np.diag(A @ SPD @ A.T)))),
    ("[X; Y][:, 0]", "X: matrix(m, n); Y: matrix(k, n)", {"X": X34, "Y": A}, np.concatenate([X34, A])[:, 0]),
    ("sum{g: logdet({i,j: C[g,i,j]})}", "C: tensor(b, n, n)", {"C": np.stack([2 * eye(2), 3 * eye(2)])}, np.log(36)),
    ("tr(A^n*B)", "", {"A": eye(3) * 2, "B": eye(3), "n": 2}, 12),
]  # fmt: skip

# Gradients: (formula, variable, declarations, data, expected value).
GRADIENTS = [
    ("sum(log(r*x))", "r", "r: scalar; x: vector(n) positive", {"r": 2.0, "x": POSITIVE}, 5 / 2),
    ("sum(log(lam*exp(-lam*t)))", "lam", "lam: scalar positive; t: vector(n) positive", {"lam": 2.0, "t": POSITIVE},
     5 / 2 - POSITIVE.sum()),
    ("sum(log(k/lam*(t/lam).^(k - 1).*exp(-(t/lam).^k)))", "lam",
     "k: scalar positive; lam: scalar positive; t: vector(n) positive", {"k": 1.5, "lam": 2.0, "t": POSITIVE},
     -5 * 1.5 / 2 + 1.5 / 2 * np.sum((POSITIVE / 2) ** 1.5)),
    ("sum(log(diag(d)*X))", "d", "d: vector(m) positive; X: matrix(m, n) positive",
     {"d": POSITIVE[:3], "X": X34}, 4 / POSITIVE[:3]),
    ("sum(log(X*diag(d)))", "X", "d: vector(n) positive; X: matrix(m, n) positive",
     {"d": POSITIVE[:4], "X": X34}, 1 / X34),
    ("sum(log(X/s))", "s", "s: scalar positive; X: matrix(m, n) positive", {"s": 2.0, "X": X34}, -6),
    ("logdet(diag(diag(B*C*B')))", "B", "B: matrix(n, n); C: matrix(n, n) spd", {"B": A, "C": SPD},
     2 * np.diag(1 / np.diag(A @ SPD @ A.T)) @ A @ SPD),
    ("det((A*B).*eye(n))", "A", "A: matrix(n, n); B: matrix(n, n)", {"A": A, "B": B},
     (np.prod(np.diag(A @ B)) / np.diag(A @ B))[:, None] * B.T),
    ("norm2(Q*x)^2", "Q", "Q: matrix(n, n) orthogonal; x: vector(n)", {"Q": np.linalg.qr(A)[0], "x": POSITIVE[:4]},
     2 * np.outer(np.linalg.qr(A)[0] @ POSITIVE[:4], POSITIVE[:4])),
    ("p'*P^k*r", "P", "k: size", {"p": POSITIVE[:4], "P": A, "r": POSITIVE[1:], "k": 2},
     np.outer(POSITIVE[:4], A @ POSITIVE[1:]) + np.outer(A.T @ POSITIVE[:4], POSITIVE[1:])),
]  # fmt: skip

PATHS = [
    "plain",
    pytest.param("numpy", marks=pytest.mark.whole),
    pytest.param("numba", marks=pytest.mark.whole),
    pytest.param("saved", marks=pytest.mark.long),
]


def at(e, path, folder, data):
    """Return the value of an expression by one path."""
    if path == "plain":
        return e(**data)
    if path in ("numpy", "numba"):
        return mc.compile(e, target=path)(**data)
    mc.compile(e, name="found").save(folder / "found.py")
    spec = importlib.util.spec_from_file_location("found_file", folder / "found.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.found(**data)


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("text, let, data, want", VALUES, ids=[row[0] for row in VALUES])
def test_values(text, let, data, want, path, tmp_path):
    np.testing.assert_allclose(at(mc.expression(text, let), path, tmp_path, data), want, rtol=1e-12)


@pytest.mark.whole
@pytest.mark.parametrize("text, let", [(row[0], row[1]) for row in VALUES])
def test_simplified_values(text, let):
    row = next(row for row in VALUES if row[0] == text)
    np.testing.assert_allclose(mc.expression(text, let).simplify()(**row[2]), row[3], rtol=1e-12)


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("text, wrt, let, data, want", GRADIENTS, ids=[row[0] for row in GRADIENTS])
def test_gradients(text, wrt, let, data, want, path, tmp_path):
    np.testing.assert_allclose(at(mc.gradient(text, wrt, let), path, tmp_path, data), want, rtol=1e-12)


@pytest.mark.parametrize("text, wrt, let, shown", [
    ("sum(log(r*x))", "r", "r: scalar; x: vector(n) positive", "n/r"),
    ("sum(log(lam*exp(-lam*t)))", "lam", "lam: scalar positive; t: vector(n) positive", "n/lam - sum(t)"),
    ("sum(log(diag(d)*X))", "d", "d: vector(m) positive; X: matrix(m, n) positive", "n./d"),
])  # fmt: skip
def test_as_a_person_writes_it(text, wrt, let, shown):
    assert str(mc.gradient(text, wrt, let)) == shown


REFUTED = [
    ("x^3", "x", "x: scalar integer"), ("X", "abs(X)", "X: matrix(m, n) sparse"),
    ("max(det(S), 1)", "det(S)", "S: matrix(n, n) spd"), ("abs(logdet(S))", "logdet(S)", "S: matrix(n, n) spd"),
    ("relu(x - 30)", "0*x", "x: scalar"), ("max(x, 0.1)", "x", "x: scalar positive"),
    ("abs(x)", "x", "x: scalar"), ("min(x, 30)", "x", "x: scalar positive"),
]  # fmt: skip


@pytest.mark.sampled(4)
@pytest.mark.parametrize("one, other, let", REFUTED)
def test_what_differs_far_out_is_refuted(one, other, let):
    assert not mc.equivalent(one, other, let)


@pytest.mark.whole
def test_a_product_that_cancels_is_proved():
    let = "W: matrix(n,n); x: vector(n); u: vector(n)"
    assert mc.equivalent("diag(W*inv(diag(u)*W))*x'", "(1./u)*x'", let)


@pytest.mark.parametrize("text", ["step(x^2)", "sign(abs(x))", "where(x == 0, 1, 0)", "step(abs(x))", "sign(x^2)"])
def test_a_jump_at_one_point_is_not_convex(text):
    assert not mc.convex(text, "x", "x: scalar")


FALSE_FACTS = [
    ("below_half(S: matrix(n, n) spd) -> matrix(n, n)", "S - 0.5*np.eye(len(S))", "dS", "spd(S) => spd(Y)"),
    ("gram_spd(X: matrix(m, n)) -> matrix(m, m)", "X@X.T", "dX*X' + X*dX'", "spd(Y)"),
]


@pytest.mark.parametrize("signature, value, differential, fact", FALSE_FACTS)
def test_a_false_fact_is_refused(signature, value, differential, fact):
    with pytest.raises(MatcalcError):
        mc.define(signature, value=value, differential=differential, facts=[fact])


def sizes_compare(X):
    return np.sum(X) * (2 if X.shape[0] > X.shape[1] else 1)


# Functions for NumPy: the result is NumPy's, or the function is rejected.
TRACED = [
    ("largest size", lambda X: np.sum(X) * max(X.shape), "X: matrix(m, n)", X34.T),
    ("size compared", sizes_compare, "X: matrix(m, n)", X34.T),
    ("shape compared", lambda X: np.sum(X) * (2 if X.shape == (4, 3) else 1), "X: matrix(m, n)", X34.T),
    ("least size", lambda X: np.sum(X) / min(X.shape), "X: matrix(m, n)", X34.T),
    ("masks compared", lambda x: np.sum(((x > 0) == (x < 1)) * x), "x: vector(n)", np.array([-1, 0.5, 2.0])),
    ("masks differ", lambda x: np.sum(((x > 0) != (x < 1)) * x), "x: vector(n)", np.array([-1, 0.5, 2.0])),
    ("any", lambda x: np.sum(x) * (x > 0).any(), "x: vector(n)", np.array([-1, 0.5, 2.0])),
    ("all", lambda x: np.sum(x) * (x > 0).all(), "x: vector(n)", np.array([-1, 0.5, 2.0])),
    ("fmax of NaN", lambda x: np.sum(np.fmax(x, 0)), "x: vector(n)", np.array([np.nan, 0.5, 2.0])),
    ("fmin of NaN", lambda x: np.sum(np.fmin(x, 1)), "x: vector(n)", np.array([np.nan, 0.5, 2.0])),
    ("cov", lambda X: np.sum(np.cov(X)), "X: matrix(m, n)", X34),
    ("var of a number", lambda s: np.var(s) + s, "s: scalar", 2.0),
    ("std of a number", lambda s: np.std(s) + s, "s: scalar", 2.0),
    ("mean of a number", lambda s: np.mean(s) * np.sum(s), "s: scalar", 2.0),
    ("random", lambda x: np.sum(x * np.random.default_rng(0).normal(size=3)), "x: vector(3)", np.array([1, 0.5, 2.0])),
]  # fmt: skip


@pytest.mark.parametrize("target", ["plain", *PATHS[1:3]])
@pytest.mark.parametrize("name, f, let, data", TRACED, ids=[row[0] for row in TRACED])
def test_traced_functions_are_as_numpy_or_refused(name, f, let, data, target):
    variable = let.split(":")[0]
    try:
        e = mc.expression(f, let)
    except MatcalcError:
        return
    found = at(e, target, None, {variable: data})
    np.testing.assert_allclose(found, f(data), rtol=1e-12)


@pytest.mark.parametrize("text", ["e^(-x'*x)", "A/B", "A^H", "X*w - X"])
def test_what_has_no_one_reading_is_refused(text):
    try:
        e = mc.expression(text)
    except MatcalcError:
        return
    assert e(x=np.array([1.0, 2.0])) == pytest.approx(np.exp(-5))


def test_a_declared_size_captures_no_index():
    n = {"A": A, "B": B}
    with pytest.raises(MatcalcError, match="k"):
        mc.expression("{i: A[i,k]*B[k,i]} + 0*diag(C)", "A: matrix(n, n); B: matrix(n, n); C: matrix(k, k)")
    found = mc.expression("{i: A[i,j]*B[j,i]}", "A: matrix(n, n); B: matrix(n, n)")(**n)
    np.testing.assert_allclose(found, np.diag(A @ B), rtol=1e-12)


def test_a_fact_goes_with_what_has_it():
    e = mc.expression("abs(p)", "p: scalar positive")
    for value in (-3.0, 3.0, 0.0):
        try:
            assert e.substitute(p=value)() == abs(value)
        except MatcalcError:
            assert value <= 0


@pytest.mark.whole
def test_threads_and_bound_data():
    text = "norm2(X*w - y)^2 + lam*w'*w"
    w, y = POSITIVE[:4], POSITIVE[:3]
    f = mc.value_and_gradient(text, "w", "lam: scalar", threads=2).bind(w=w, y=y, lam=1.0)
    r = X34 @ w - y
    value, gradient = f(X34)
    assert value == pytest.approx(r @ r + w @ w)
    np.testing.assert_allclose(gradient, 2 * X34.T @ r + 2 * w, rtol=1e-12)


@pytest.mark.whole
@pytest.mark.parametrize("target", ["torch", "jax"])
def test_stacks_and_numbers_in_other_libraries(target):
    library = pytest.importorskip(target)
    if target == "jax":
        library.config.update("jax_enable_x64", True)
    C = np.stack([2 * eye(2), 3 * eye(2)])
    text = "sum{g: logdet({i,j: C[g,i,j]})} + sum{g: inv({i,j: C[g,i,j]})[0, 0]}"
    found = mc.compile(text, declarations="C: tensor(b, n, n)", target=target)
    as_array = library.asarray if target == "torch" else library.numpy.asarray
    assert float(found(as_array(C))) == pytest.approx(np.log(36) + 5 / 6, rel=1e-14)
    scaled = mc.compile("c*sum(x)", declarations="c: scalar; x: vector(n)", target=target)
    assert float(scaled(0.1, as_array(np.ones(1)))) == 0.1


@pytest.mark.parametrize("x", [-3.0, 3.0])
def test_numbers_that_are_no_doubles_lose_no_sign(x):
    e = mc.expression("1e400*abs(1e-400*x)", "x: scalar")
    for form in (e, e.simplify()):
        assert form(x=x) == 3 or np.isnan(form(x=x)), form


@pytest.mark.parametrize(
    "text", ["9" * 4400 + "/" + "3" * 4400, "*".join(["7" * 900] * 6) + "/" + "*".join(["7" * 900] * 6)]
)
def test_fractions_of_many_digits_are_exact_or_refused(text):
    with contextlib.suppress(MatcalcError):
        assert mc.expression(f"x*{text}", "x: scalar")(x=2.0) == 2 * (3 if text.startswith("9") else 1)


DRAWS = [
    lambda x: np.sum(x * np.random.normal(size=3)),
    lambda x: np.sum(x * np.random.rand(3)),
    lambda x: np.sum(x) * np.random.randint(1, 3),
]


@pytest.mark.parametrize("f", DRAWS)
def test_a_function_that_draws_is_refused(f):
    with pytest.raises(MatcalcError, match="random"):
        mc.expression(f, "x: vector(3)")
