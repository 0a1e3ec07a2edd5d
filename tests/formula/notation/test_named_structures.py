"""Structured matrices print by their names, as nodes and as factors; SciPy's are traced."""

import numpy as np
import pytest
import scipy.linalg as sl

import matcalc as mc

LET = (
    "c: vector(n); d: vector(n); r: vector(m); x: vector(n); X: matrix(m*n, m*n); v: vector(n*(n + 1)//2); y: vector(m)"
)
SHOWN = [
    "iota(n)", "iota(3)", "iota(n).*x", "iota(n)'*x", "flip(iota(n)).*x", "exp(-iota(n)/3)",
    "toeplitz(c)*x", "toeplitz(r, c)*x", "circulant(c)*x", "hankel(c)*x", "hankel(r, c)", "hankel(c)*hankel(d)*x",
    "-2*toeplitz(c)", "toeplitz(r, c)'*y", "duplication(n)", "duplication(4)", "duplication(n)*v", "elimination(n)",
    "partial_trace(X, m, n)", "partial_trace(X, m, n)*y", "partial_trace_first(X, m, n)*x",
]  # fmt: skip


def read(text):
    return mc.expression(text, "; ".join(one for one in LET.split("; ") if one[0] in text.replace("exp", "")))


@pytest.mark.sampled(3)
@pytest.mark.parametrize("text", SHOWN)
def test_a_structure_prints_by_its_name(text):
    e = read(text)
    assert str(e) == text
    assert mc.expression(str(e), e.declarations).node is e.node


def test_results_name_structures():
    assert str(mc.gradient("norm2(toeplitz(c)*x)^2", "x", "c: vector(n); x: vector(n)")) == "2*toeplitz(c)^2*x"
    wanted = "2*kron(partial_trace(X, m, n) - Y, eye(n))"
    declared = "X: matrix(m*n, m*n); Y: matrix(m, m)"
    assert str(mc.gradient("norm2(partial_trace(X, m, n) - Y)^2", "X", declared)) == wanted


def test_a_likeness_is_no_structure():
    e = mc.expression("{i,j: ones(n)[i]*ones(n)[j]*(c[k]*[i == j + k] + c[k]*[j == i + k])}", "c: vector(n)")
    assert "toeplitz" not in str(e)  # the diagonal has c[0] twice


TRACED = {
    "circulant": lambda c, r: np.sum(np.sin(sl.circulant(c))) + r[0],
    "hankel": lambda c, r: np.sum(np.sin(sl.hankel(c))) + r[0],
    "hankel_of_two": lambda c, r: np.sum(np.sin(sl.hankel(c, r))) + r[0],
    "toeplitz_of_two": lambda c, r: np.sum(np.sin(sl.toeplitz(c, r=r))) + r[0],
    "of_a_list": lambda c, r: np.sum(np.sin(sl.toeplitz([c[0], c[1], 0.5]))) + r[0],
    "of_numbers": lambda c, r: np.sum(np.sin(sl.hankel(c, np.array([1.0, 2.0])))) + r[0],
}


@pytest.mark.whole
@pytest.mark.parametrize("name", TRACED)
@pytest.mark.parametrize("sizes", ["c: vector(m); r: vector(n)", "c: vector(4); r: vector(3)"])
def test_scipys_structures_in_traced_functions(name, sizes):
    c, r = np.array([1.2, -0.3, 0.7, 2.0]), np.array([0.4, 1.1, -0.6])

    f = TRACED[name]
    e = mc.expression(f, sizes)
    assert np.isclose(e(c=c, r=r), f(c, r), rtol=1e-12)
    g = e.gradient("c")
    numeric = [(f(c + h, r) - f(c - h, r)) / 2e-5 for h in 1e-5 * np.eye(4)]
    np.testing.assert_allclose(g(c=c, r=r), numeric, atol=1e-8)
    np.testing.assert_allclose(mc.compile(g)(c, r), numeric, atol=1e-8)


STRUCTURES = {
    "circulant(c)": lambda c, X: sl.circulant(c),
    "hankel(c)": lambda c, X: sl.hankel(c),
    "kron_sum(diag(c), X[:2, :2])": lambda c, X: np.kron(np.diag(c), np.eye(2)) + np.kron(np.eye(4), X[:2, :2]),
    "partial_trace(X, 3, 2)": lambda c, X: np.array(
        [[np.trace(X[i : i + 2, j : j + 2]) for j in (0, 2, 4)] for i in (0, 2, 4)]
    ),
    "partial_trace_first(X, 3, 2)": lambda c, X: X[:2, :2] + X[2:4, 2:4] + X[4:, 4:],
}


@pytest.mark.whole
@pytest.mark.parametrize("target", ["numba", "numpy", "torch", "jax"])
@pytest.mark.parametrize("text", STRUCTURES)
def test_structures_in_every_target(text, target):
    c, X = np.array([1.2, -0.3, 0.7, 2.0]), np.random.default_rng(1).standard_normal((6, 6))
    e = mc.expression(f"sum(sin({text})) + sum(c) + sum(X)", "c: vector(4); X: matrix(6, 6)")

    def f(c, X):
        return np.sum(np.sin(STRUCTURES[text](c, X))) + c.sum() + X.sum()

    library = pytest.importorskip(target) if target in ("torch", "jax") else None
    if target == "jax":
        library.config.update("jax_enable_x64", True)

    def value(e):
        return np.asarray(mc.compile(e, target=target)(c, X))

    assert np.isclose(value(e), f(c, X), rtol=1e-12)
    along_c = [(f(c + h, X) - f(c - h, X)) / 2e-5 for h in 1e-5 * np.eye(4)]
    np.testing.assert_allclose(value(e.gradient("c")), along_c, atol=1e-8)
    steps = 1e-5 * np.eye(36).reshape(36, 6, 6)
    along_x = np.reshape([(f(c, X + h) - f(c, X - h)) / 2e-5 for h in steps], (6, 6))
    np.testing.assert_allclose(value(e.gradient("X")), along_x, atol=1e-8)


PARTED = ["exp(A)*B*exp(B) + exp(B)'*B'*exp(A)'", "exp(A)*B*exp(B) - exp(B)'*B'*exp(A)'"]
BESIDE = ["{}[i, :]*x", "x[i]'*({})*w[y]", "w[y]'*({})*x/3", "{}[i, i].*x[i]", "V[:, y]*({})", "tr(({})*V[y, :])"]


@pytest.mark.sampled(3)
@pytest.mark.parametrize("part", PARTED)
@pytest.mark.parametrize("beside", BESIDE)
def test_symmetric_parts_beside_lookups(part, beside):
    """A long symmetric or skew part is named in products with data of kind index, too."""
    let = "A: matrix(n, n); B: matrix(n, n); V: matrix(n, n); x: vector(n); w: vector(k); y: index(n); i: index(n)"
    e = mc.expression(beside.format(f"({part})" if beside.startswith("{}") else part), let)
    assert mc.expression(str(e), e.declarations).node is e.node
    assert mc.expression(e.latex(), e.declarations, dialect="latex").node is e.node
