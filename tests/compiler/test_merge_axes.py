"""Loops over matrices merge their axes where all arrays lie in one order; compared with NumPy."""

import re

import numpy as np
import pytest

import matcalc as mc

LET = "X: matrix(m, n); Y: matrix(m, n); Z: matrix(n, m); S: matrix(m, m); a: vector(m); b: vector(n); c: scalar"
ONE = {
    "exp(X) + c*Y": lambda X, Y, Z, S, a, b, c: np.exp(X) + c * Y,
    "sum(tanh(X).*Y)": lambda X, Y, Z, S, a, b, c: np.sum(np.tanh(X) * Y),
    "X.^2 + 3": lambda X, Y, Z, S, a, b, c: X**2 + 3,
    "exp(S) + diag(a)": lambda X, Y, Z, S, a, b, c: np.exp(S) + np.diag(a),
}
SEVERAL = {
    "exp(X).*Z'": lambda X, Y, Z, S, a, b, c: np.exp(X) * Z.T,
    "exp(X .+ a)": lambda X, Y, Z, S, a, b, c: np.exp(X + a[:, None]),
    "tanh(X .+ b')": lambda X, Y, Z, S, a, b, c: np.tanh(X + b),
    "exp(S).*S'": lambda X, Y, Z, S, a, b, c: np.exp(S) * S.T,
    "sum(exp(X), axis=0)": lambda X, Y, Z, S, a, b, c: np.exp(X).sum(axis=0),
    "sum(exp(X).*Y, axis=1)": lambda X, Y, Z, S, a, b, c: (np.exp(X) * Y).sum(axis=1),
    "exp(X[:, 1:] - X[:, :-1])": lambda X, Y, Z, S, a, b, c: np.exp(X[:, 1:] - X[:, :-1]),
    "tril(exp(S))": lambda X, Y, Z, S, a, b, c: np.tril(np.exp(S)),
}
SHAPES = [(1, 1), (1, 5), (5, 1), (3, 3), (4, 3), (0, 3), (3, 0), (70, 2)]


def drawn(m, n):
    rng = np.random.default_rng([m, n])
    shapes = {"X": (m, n), "Y": (m, n), "Z": (n, m), "S": (m, m), "a": m, "b": n, "c": ()}
    return {name: rng.standard_normal(shape) for name, shape in shapes.items()}


@pytest.mark.sampled(12)
@pytest.mark.parametrize("text", [*ONE, *SEVERAL])
def test_values_at_all_shapes(text):
    f = mc.expression(text, LET)
    fn = mc.compile(f)
    assert ("_flat = " in fn.source) == (text in ONE)
    for m, n in SHAPES:
        given = drawn(m, n)
        if "1:" in text and n == 0:
            continue
        want = (ONE | SEVERAL)[text](**given)
        found = fn(**{name: given[name] for name in fn.args})
        np.testing.assert_allclose(found, want, rtol=1e-14, atol=1e-14, err_msg=f"{text} {m} {n}")


def test_a_jacobian_has_its_neighbouring_axes_as_one():
    """In {i,j,k,l: X[i,j]*Y[k,l]} neighbouring axes merge; none has its own loop."""
    fn = mc.compile(mc.expression("{i,j,k,l: exp(X[i,j])*Y[k,l]}", LET))
    given = drawn(4, 3)
    want = np.exp(given["X"])[:, :, None, None] * given["Y"]
    np.testing.assert_allclose(fn(X=given["X"], Y=given["Y"]), want, rtol=1e-14)
    assert fn.source.count("    for ") == 2 + 1  # one over the entries of exp(X), two over those of the result


def test_an_out_that_is_an_operand():
    fn = mc.compile(mc.expression("exp(X) - Y", LET))
    given = drawn(3, 2)
    want = np.exp(given["X"]) - given["Y"]
    np.testing.assert_allclose(fn(given["X"], given["Y"].copy(), out=given["X"].copy()), want, rtol=1e-14)


TWICE = [
    ("norm2(V - W*H)^2", ["W", "H"]),
    ("sum(exp(U*v))", ["U", "v"]),
    ("sum(sin(W*H).*V)", ["W", "H"]),
    ("norm2(A*B*C)^2", ["A", "C"]),
    ("tr(A*B*A'*B')", ["A", "B"]),
]


@pytest.mark.whole
@pytest.mark.parametrize(("text", "wrt"), TWICE)
def test_a_name_is_an_array_of_one_rank(text, wrt):
    """A result that two loops read in different shapes has a name for each shape, as C requires."""
    e = mc.expression(text, "v: vector(n)" if "v" in wrt else "")
    blocks = [block for row in e.hessian(wrt) for block in row]
    ranks = {}
    for name, shape in re.findall(r"(\w+) = \w+\.reshape\(\((.*)\)\)", mc.compile(blocks).source):
        rank = shape.rstrip(",").count(",")
        assert ranks.setdefault(name, rank) == rank
    assert "reshape" not in mc.compile(blocks, target="c").source and ranks
