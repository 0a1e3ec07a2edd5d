"""Jacobians, pullbacks and Hessians of every kind of operation against central differences; printed, they read back.

The rules' own NumPy value expressions give the values, and differences of these values give the derivatives. No
derivative is checked against another derivative.
"""

import numpy as np
import pytest

import matcalc as mc
from matcalc.expressions.expression import Expression
from matcalc.tensor.constructors import inner, symbol

SIZES = {"m": 4, "n": 3, "k": 2, "p": 2}
SQUARE = "X: matrix(n, n)"
FULL = "X: matrix(n, n) nonsingular"
TALL = "X: matrix(m, n)"
VECTOR = "x: vector(n)"
EQUATION = "A: matrix(m, m) spd; B: matrix(n, n) spd; C: matrix(m, n)"

CASES = [
    ("inv(X)", FULL, "X"),
    ("det(X)*x", FULL + "; x: vector(m)", "X"),
    ("logdet(X)*x", FULL + "; x: vector(m)", "X"),
    ("adj(X)", SQUARE, "X"),
    ("solve(A, B)", "A: matrix(n, n) nonsingular; B: matrix(n, k)", "A"),
    ("A\\b", "A: matrix(n, n) nonsingular; b: vector(n)", "A"),
    ("X^3", SQUARE, "X"),
    ("inv(X'*X)*X'*y", TALL + "; y: vector(m)", "X"),
    ("det(X'*A*X)*x", "X: matrix(m, k); A: matrix(m, m); x: vector(n)", "X"),
    ("pinv(X)", TALL, "X"),
    ("softmax(X, axis=1)", TALL, "X"),
    ("logsumexp(X, axis=0)", TALL, "X"),
    ("log_softmax(x)", VECTOR, "x"),
    ("max(X, axis=1)", TALL, "X"),
    ("prod(X, axis=0)", TALL, "X"),
    ("norm2(X, axis=1)", TALL, "X"),
    ("mean(X, axis=0)", TALL, "X"),
    ("sum(X, axis=1)./sum(X)", TALL + " positive", "X"),
    ("normalize(x)", VECTOR, "x"),
    ("norm1(X*A)*A", TALL + "; A: matrix(n, k)", "X"),
    ("var(x)*x", VECTOR, "x"),
    ("cumsum(x)", VECTOR, "x"),
    ("sort(x)", VECTOR, "x"),
    ("kron(X, X)", TALL, "X"),
    ("tril(X*X)", SQUARE, "X"),
    ("[X, A; B, X]", SQUARE + "; A: matrix(n, n); B: matrix(n, n)", "X"),
    ("blkdiag(X, X*X)", SQUARE, "X"),
    ("X[1:, 0]", TALL, "X"),
    ("X[::-1, :]*A", TALL + "; A: matrix(n, k)", "X"),
    ("vec(X*A)", TALL + "; A: matrix(n, k)", "X"),
    ("unvec(x, n, k)*A", "x: vector(n*k); A: matrix(k, m)", "x"),
    ("diag(X)*x'", SQUARE + "; x: vector(n)", "X"),
    ("outer(x, x)*A", VECTOR + "; A: matrix(n, k)", "x"),
    ("toeplitz(x)", VECTOR, "x"),
    ("conv(x, y)", VECTOR + "; y: vector(m)", "x"),
    ("circshift(x, 1).*x", VECTOR, "x"),
    ("vech(S)", "S: matrix(n, n) symmetric", "S"),
    ("{i,j,a: X[i,a]*X[j,a]}", TALL, "X"),
    ("{i: T[i,j,j]}", "T: tensor(m, n, n)", "T"),
    ("chol(S)", "S: matrix(n, n) spd", "S"),
    ("eigvalsh(S)", "S: matrix(n, n) symmetric", "S"),
    ("eigh_V(S)", "S: matrix(n, n) symmetric", "S"),
    ("expm(X)", SQUARE, "X"),
    ("matfun(exp, S)", "S: matrix(n, n) symmetric", "S"),
    ("matfun(x -> log(x)^2, S)", "S: matrix(n, n) spd", "S"),
    ("sylvester(A, B, C)", EQUATION, "A"),
    ("sylvester(A, B, C)", EQUATION, "C"),
    ("lyapunov(A, Q)", "A: matrix(n, n) nonsingular; Q: matrix(n, n)", "A"),
    ("lambda_max(S)*x", "S: matrix(n, n) symmetric; x: vector(m)", "S"),
    ("nuclear_norm(X)*x", TALL + "; x: vector(n)", "X"),
    ("qr_Q(X)", TALL, "X"),
    ("inv(L)*x", "L: matrix(n, n) lower; x: vector(n)", "L"),
    ("logdet(D + A)", "D: matrix(n, n) diagonal; A: matrix(n, n) spd", "D"),
    ("K*x", "K: matrix(n, n) skew; x: vector(n)", "K"),
    ("x.^c", "x: vector(n) positive; c: scalar", "c"),
    ("x.^c", "x: vector(n) positive; c: scalar", "x"),
    ("atan2(x, y)", "x: vector(n); y: vector(n)", "y"),
    ("hypot(x, y).*logaddexp(x, y)", "x: vector(n); y: vector(n)", "x"),
    ("where(x > 0, exp(x), y)", "x: vector(n); y: vector(n)", "x"),
    ("max(x, y)", "x: vector(n); y: vector(n)", "x"),
    ("clip(x, -1, 1).*huber(x)", VECTOR, "x"),
    ("erf(x).*log1p(x.^2)", VECTOR, "x"),
    ("xlogy(x, y)", "x: vector(n) positive; y: vector(n) positive", "y"),
    ("sigmoid(X).*softplus(X)", TALL, "X"),
    ("tanh(A*x)'*B*x", VECTOR + "; A: matrix(n, n); B: matrix(n, n)", "x"),
    ("inv(diag(x) + A)", "x: vector(n) positive; A: matrix(n, n) spd", "x"),
]


@pytest.mark.thinned(6)
@pytest.mark.parametrize(("text", "declarations", "wrt"), CASES, ids=[f"{c[0]} in {c[2]}" for c in CASES])
@pytest.mark.sampled(96)
def test_derivatives_agree_with_differences(text, declarations, wrt):
    e = mc.expression(text, declarations)
    x = e.names.symbols[wrt]
    data = {node.name: sample(node) for node in e.names.ordered()}
    numeric = differences(lambda value: at(e, data | {wrt: value}), data[wrt], x.facts)
    weight = symbol("weight", e.node.shape)
    data["weight"] = np.random.default_rng(5).standard_normal(numeric.shape[: e.node.rank])
    f = Expression(inner(weight, e.node), e.names.with_symbol(weight, "weight"))
    gradient, jacobian, hessian = f.gradient(wrt), e.jacobian(wrt), f.hessian(wrt)
    curvature = differences(lambda value: at(gradient, data | {wrt: value}), data[wrt], x.facts)
    close(at(jacobian, data), numeric, 1e-7)
    close(at(gradient, data), np.tensordot(data["weight"], numeric, e.node.rank), 1e-7)
    close(at(hessian, data), curvature, 1e-6)
    for derived in (jacobian, gradient, hessian):
        assert mc.expression(str(derived), derived.declarations).node is derived.node


def at(e, data):
    return np.asarray(e(**{name: {**SIZES, **data}[name] for name in e.symbols}))


def close(found, expected, tolerance):
    assert np.max(np.abs(found - expected), initial=0.0) <= tolerance * (1 + np.max(np.abs(expected), initial=0.0))


def sample(node):
    a = np.random.default_rng(ord(node.name[0])).standard_normal([s.evaluate(SIZES) for s in node.shape])
    if "spd" in node.facts:
        a = a @ a.T + np.eye(len(a))
    elif "nonsingular" in node.facts:
        a = a + 2 * np.eye(len(a))
    if "positive" in node.facts:
        a = np.abs(a) + 0.3
    a = tangent(a, node.facts)
    return a + 2 * np.eye(len(a)) if "lower" in node.facts else a


def tangent(a, facts):
    """Project on the linear facts of a symbol."""
    if "diagonal" in facts:
        return np.diag(np.diag(a))
    if "symmetric" in facts:
        return (a + a.T) / 2
    if "skew" in facts:
        return (a - a.T) / 2
    return np.tril(a) if "lower" in facts else a


def differences(function, x, facts, step=1e-6):
    """Return the derivative of `function` at x by fourth-order differences along projected unit directions."""
    columns = []
    for place in np.ndindex(*x.shape):
        d = np.zeros(x.shape)
        d[place] = 1.0
        d = tangent(d, facts) if x.ndim == 2 else d
        near = function(x + step * d) - function(x - step * d)
        far = function(x + 2 * step * d) - function(x - 2 * step * d)
        columns.append((8 * near - far) / (12 * step))
    stacked = np.array(columns)
    return np.moveaxis(stacked, 0, -1).reshape((*stacked.shape[1:], *x.shape))


def test_third_order():
    third = mc.jacobian(mc.hessian("sum(exp(A*x))", "x"), "x")
    assert str(third) == "{i,j,k: A[l,i]*A[l,j]*A[l,k]*exp(A*x)[l]}"


def test_hessian_of_a_factorisation_has_no_large_node():
    from matcalc.tensor.nodes.node import toposort

    hessian = mc.hessian("norm2(M - U*V')^2", "U", "M: matrix(m, n); U: matrix(m, k); V: matrix(n, k)")
    sizes = {"m": 50, "n": 40, "k": 5}
    entries = [int(np.prod([s.evaluate(sizes) for s in node.shape])) for node in toposort(hessian.node)]
    assert max(entries[:-1]) <= 50 * 40


def test_structured_gradients_follow_the_conventions():
    text, let = "logdet(S)", "S: matrix(n, n) spd"
    assert str(mc.gradient(text, "S", let)) == "inv(S)"
    assert str(mc.gradient(text, "S", let, convention="magnus")) == "2*inv(S) - inv(S).*eye(n)"
    assert str(mc.gradient("tr(A*X)", "X", "X: matrix(n, n) diagonal; A: matrix(n, n)")) == "A.*eye(n)"


def test_several_variables():
    gradients = mc.gradient("norm2(A*x - b)^2", ["x", "b"])
    assert [str(g) for g in gradients] == ["2*A'*(A*x - b)", "2*(b - A*x)"]
    rows = mc.hessian("x'*A*y", ["x", "y"])
    assert [[str(block) for block in row] for row in rows] == [["zeros(m, m)", "A"], ["A'", "zeros(n, n)"]]


def test_new_names_must_be_free():
    with pytest.raises(mc.ShapeError, match="tangent="):
        mc.differential("X*dX", "X", "X: matrix(n, n); dX: matrix(n, n)")


def test_constant_symbols_are_not_differentiated():
    with pytest.raises(mc.NotDifferentiable, match="A is declared constant"):
        mc.gradient("tr(A)", "A", "A: matrix(n, n) constant")


@pytest.mark.whole
def test_factoring_ends():
    """The second derivative of a p-norm in p has alternating denominators; each is factored out once."""
    curvature = mc.expression("normp(x, p)", "x: vector(4); p: scalar").hvp("p", "v")
    x = np.array([0.3, -1.2, 0.7, 2.0])

    def norm(p):
        return np.sum(np.abs(x) ** p) ** (1 / p)

    h = 1e-3
    difference = (-norm(3 + 2 * h) + 16 * norm(3 + h) - 30 * norm(3.0) + 16 * norm(3 - h) - norm(3 - 2 * h)) / 12 / h**2
    np.testing.assert_allclose(curvature(x=x, p=3.0, v=1.0), difference, rtol=1e-7)
