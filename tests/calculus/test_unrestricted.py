"""Derivatives in a variable with a fact are those of the formula in unrestricted entries."""

import numpy as np
import pytest

import matcalc as mc

LET = (
    "Q: matrix(n, n) orthogonal; R: matrix(n, n) orthogonal symmetric; x: vector(n); y: vector(n); A: matrix(n, n); "
    "S: matrix(n, n) spd; k: vector(n) integer"
)
FORMULAS = [
    "norm2({}*x)^2",
    "norm2({}*x - y)^2",
    "norm2({}*A)",
    "logdet({}'*{} + S)",
    "tr({}'*A*{})",
    "det({})^2",
    "log(abs(det({})))",
    "tr(inv({})*A)",
    "x'*inv({})*{}*{}*y",
    "logdet({}'*S*{})",
    "sum(({}*{}').^3)",
    "tr(kron({}', A)*kron({}, A'))",
]
N = 3


def data():
    rng = np.random.default_rng(5)
    x, y, A = rng.standard_normal(N), rng.standard_normal(N), rng.standard_normal((N, N))
    R = np.eye(N) - 2 * np.outer(x, x) / (x @ x)
    return {
        "Q": np.linalg.qr(A)[0],
        "R": R,
        "x": x,
        "y": y,
        "A": A,
        "S": A @ A.T + np.eye(N),
        "k": np.array([1.0, 2, 5]),
    }


def differences(text, name, E, h=1e-6):
    """Return the derivative along E by differences of the formula in a variable without facts."""
    e = mc.expression(text, LET.replace("orthogonal symmetric", "").replace("orthogonal", "").replace("integer", ""))
    known = data()
    high, low = (
        e(**{s: v + sign * h * E if s == name else v for s, v in known.items() if s in e.symbols}) for sign in (1, -1)
    )
    return (high - low) / (2 * h)


def at(e):
    return e(**{s: v for s, v in data().items() if s in e.symbols})


@pytest.mark.parametrize("name", ["Q", "R"])
@pytest.mark.parametrize("formula", FORMULAS)
@pytest.mark.sampled(24)
def test_gradients_do_not_use_a_thin_fact(formula, name):
    text = formula.replace("{}", name)
    gradient = at(mc.gradient(text, name, LET))
    compiled = mc.value_and_gradient(text, name, LET, target="numpy")
    _, second = compiled(**{s: v for s, v in data().items() if s in compiled.args})
    E = np.random.default_rng(6).standard_normal((N, N))
    E = (E + E.T) / 2 if name == "R" else E
    slope = differences(text, name, E)
    assert np.sum(gradient * E) == pytest.approx(slope, rel=1e-6, abs=1e-7)
    assert np.allclose(second, gradient, rtol=1e-12, atol=1e-12)
    pushed = mc.differential(text, name, LET)
    known = {**data(), f"d{name}": E}
    assert pushed(**{s: known[s] for s in pushed.symbols}) == pytest.approx(slope, rel=1e-6, abs=1e-7)
    v = mc.hvp(text, name, LET)
    again = mc.jvp(mc.gradient(text, name, LET), name, tangent="v")
    known = {**data(), "v": E}
    found, wanted = (e(**{s: known[s] for s in e.symbols}) for e in (v, again))
    assert np.allclose(found, wanted, atol=1e-9)


@pytest.mark.whole
def test_other_ways_to_a_derivative():
    E = np.random.default_rng(7).standard_normal((N, N))
    J = at(mc.jacobian("Q*Q'*x", "Q", LET))
    assert np.allclose(np.tensordot(J, E, 2), differences("Q*Q'*x", "Q", E))
    H = at(mc.hessian("norm2(Q*x)^2", "Q", LET))
    x = data()["x"]
    assert np.allclose(H, 2 * np.einsum("ik,j,l->ijkl", np.eye(N), x, x))
    passes = mc.pullback("Q'*Q*x", "Q", LET, target="numpy")
    known = data()
    _, saved = (
        passes.forward(**{s: known[s] for s in passes.forward.args})
        if hasattr(passes.forward, "args")
        else (passes.forward(*(known[s] for s in ("Q", "x"))))
    )
    G = known["y"]
    bar = passes.backward(saved, G)
    assert np.sum(bar * E) == pytest.approx(G @ differences("Q'*Q*x", "Q", E), rel=1e-6)
    assert "2*Q*x*x'" in str(mc.gradient("norm2(Q*x)^2", "Q", LET).explain())


def test_an_integer_is_differentiated_as_a_number():
    assert np.allclose(at(mc.gradient("sum(sin(2*pi*k).*x)", "k", LET)), 2 * np.pi * data()["x"])


def test_other_facts_are_used_all_the_same():
    assert str(mc.gradient("sum(log(exp(p)))", "p", "p: vector(n) positive")) == "ones(n)"
    assert str(mc.gradient("sum(abs(p))", "p", "p: vector(n) positive")) == "ones(n)"
    assert str(mc.gradient("norm2(Q*x)^2", "x", LET)) == "2*x"
