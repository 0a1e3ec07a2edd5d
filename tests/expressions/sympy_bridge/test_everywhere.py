"""Every public function accepts SymPy objects as it accepts text, with the same result."""

import numpy as np
import pytest
import sympy as sp
from sympy import Inverse, MatrixSymbol, Q, Trace, assuming

import matcalc as mc

m, n = sp.symbols("m n", integer=True, positive=True)
X, w, y = MatrixSymbol("X", m, n), MatrixSymbol("w", n, 1), MatrixSymbol("y", m, 1)
A, S, C = (MatrixSymbol(name, n, n) for name in "ASC")
v, dw = MatrixSymbol("v", n, 1), MatrixSymbol("dw", n, 1)
lam = sp.Symbol("lam", positive=True)
residual = X * w - y
loss = (residual.T * residual)[0, 0] + lam * (w.T * w)[0, 0]
LET = "X: matrix(m, n); w: vector(n); y: vector(m); lam: scalar positive"
TEXT = "norm2(X*w - y)^2 + lam*w'*w"
RESIDUAL = "X*w - y"


def numbers():
    rng = np.random.default_rng(8)
    shapes = {"X": (4, 3), "w": 3, "y": 4, "v": 3, "dw": 3, "G": 4, "A": (3, 3), "C": (3, 3)}
    drawn = {name: rng.standard_normal(shape) for name, shape in shapes.items()}
    return drawn | {"lam": 0.3, "S": np.eye(3) * 2 + drawn["A"] @ drawn["A"].T, "m": 4, "n": 3}


def same(found, expected):
    """Require that two expressions, or nestings of them, have one value at numbers."""
    if isinstance(found, tuple):
        assert len(found) == len(expected)
        for one, other in zip(found, expected, strict=True):
            same(one, other)
        return
    values = [e(**{name: numbers()[name] for name in e.symbols}) for e in (found, expected)]
    assert np.shape(values[0]) == np.shape(values[1])
    assert np.allclose(*values)


DERIVATIVES = [
    (mc.gradient, (loss, w), (TEXT, "w")),
    (mc.gradient, (loss, [w, lam]), (TEXT, ["w", "lam"])),
    (mc.gradient, (loss, w[1, 0]), ("(2*X'*(X*w - y) + 2*lam*w)[1]*w[0]", "w")),
    (mc.jacobian, (residual, w), (RESIDUAL, "w")),
    (mc.jacobian, (residual, X), (RESIDUAL, "X")),
    (mc.hessian, (loss, w), (TEXT, "w")),
    (mc.hessian, (loss, [w, lam]), (TEXT, ["w", "lam"])),
    (mc.differential, (residual, w), (RESIDUAL, "w")),
    (mc.vjp, (residual, w), (RESIDUAL, "w")),
    (mc.jvp, (residual, w), (RESIDUAL, "w")),
    (mc.jvp, (residual, w, "", dw), (RESIDUAL, "w")),
    (mc.hvp, (loss, w), (TEXT, "w")),
    (mc.hvp, (loss, w, "", v), (TEXT, "w")),
]


@pytest.mark.sampled(4)
@pytest.mark.parametrize(("function", "given", "text"), DERIVATIVES)
def test_derivatives(function, given, text):
    if function is mc.gradient and text[0] != TEXT:
        found = function(*given)
        assert found.shape == ()
        same(found, mc.expression("(2*X'*(X*w - y) + 2*lam*w)[1]", LET))
        return
    same(function(*given), function(*text, declarations=LET))


@pytest.mark.parametrize("function", [mc.gradient, mc.hvp, mc.hessian], ids=lambda f: f.__name__)
def test_text_by_a_sympy_symbol_and_sympy_by_text(function):
    same(function(TEXT, w, declarations=LET), function(TEXT, "w", declarations=LET))
    same(function(loss, "w"), function(TEXT, "w", declarations=LET))


def test_a_symbol_to_differentiate_in_is_declared():
    K = MatrixSymbol("k", n, n)
    assert mc.gradient("tr(k*A)", K).shape == ("n", "n")
    assert str(mc.gradient("tr(A*B)", K)) == "zeros(n, n)"
    assert mc.gradient(loss, A).shape == ("n", "n")
    with pytest.raises(mc.ShapeError, match="declared twice"):
        mc.gradient(loss, MatrixSymbol("w", m, 1))


def test_arguments_are_by_name_where_sympy_gives_no_order():
    assert mc.from_sympy(loss).symbols == ("X", "lam", "w", "y")
    assert mc.gradient("a'*x + b'*x", MatrixSymbol("x", n, 1)).symbols == ("a", "x", "b")


def test_declarations_add_facts():
    d = mc.gradient(sp.log(sp.Determinant(S)), S, declarations="S: matrix(n, n) spd")
    assert str(d) == "inv(S)"
    with pytest.raises(mc.ShapeError):
        mc.gradient(sp.log(sp.Determinant(S)), S, declarations="S: matrix(n, m)")


@pytest.mark.parametrize(
    ("assumption", "facts"),
    [
        (Q.symmetric(S), ["symmetric"]),
        (Q.positive_definite(S), ["spd", "psd", "symmetric", "nonsingular"]),
        (Q.symmetric(S) & Q.invertible(S), ["symmetric", "nonsingular"]),
        (Q.orthogonal(S), ["orthogonal"]),
        (Q.diagonal(S), ["diagonal", "symmetric"]),
        (Q.lower_triangular(S), ["lower"]),
        (~Q.singular(S) & Q.upper_triangular(S), ["upper", "nonsingular"]),
    ],
    ids=str,
)
def test_assumptions_in_force_are_facts(assumption, facts):
    with assuming(assumption):
        symbols = mc.from_sympy(S + A).names.symbols
        assert symbols["S"].facts.issuperset(facts)
        assert symbols["A"].facts.isdisjoint(facts)
    assert mc.from_sympy(S).facts.isdisjoint(facts)


def test_assumptions_are_used():
    x = MatrixSymbol("x", n, 1)
    with assuming(Q.symmetric(S)):
        assert str(mc.gradient(x.T * S * x, x)) == "2*S*x"
    with assuming(Q.positive_definite(S)):
        found = mc.gradient(sp.log(sp.Determinant(S)) + Trace(Inverse(S) * C), S)
        same(found, mc.expression("inv(S) - inv(S)*(C + C')*inv(S)/2", found.declarations))
    with assuming(Q.orthogonal(S)):
        assert str(mc.from_sympy(S.T * S).simplify()) == "eye(n)"
        assert "symmetric" not in mc.from_sympy(S).facts  # SymPy's `ask` returns that it is positive definite
    c = sp.Symbol("c")
    for assumption in (Q.positive(c), c > 0, Q.gt(c, 0)):
        with assuming(assumption):
            assert "positive" in mc.from_sympy(c).facts
    assert str(mc.from_sympy(sp.refine(S.I, Q.orthogonal(S)))) == "S'"


def test_contradicting_assumptions_are_an_error():
    with assuming(Q.positive_definite(S), Q.singular(S)), pytest.raises(mc.MatcalcError, match="S"):
        mc.from_sympy(S)


def test_expression_and_what_it_has():
    e = mc.expression(loss)
    same(e, mc.expression(TEXT, LET))
    same(e.gradient(w), mc.gradient(TEXT, "w", LET))
    same(e.substitute(w=X.T * y), mc.expression("norm2(X*X'*y - y)^2 + lam*norm2(X'*y)^2", LET))
    same(e.collect(lam), e)
    same(e.coefficient(lam), mc.expression("w'*w", LET))
    same(mc.expression(residual, dialect="numpy"), mc.expression(RESIDUAL, LET))


@pytest.mark.whole
def test_comparing_proving_checking():
    assert mc.equivalent(loss, TEXT, LET)
    assert mc.equivalent(A.T.T + C, C + A)
    assert not mc.equivalent(A * C, C * A)
    assert mc.convex(loss, w)
    assert mc.check(loss, w)
    assert mc.check(loss, w, against=2 * X.T * residual + 2 * lam * w)
    assert not mc.check(loss, w, against=X.T * residual)


def test_functions_on_objects():
    same(mc.inv(A), mc.expression("inv(A)", "A: matrix(n, n)"))
    same(mc.exp(residual), mc.expression("exp(X*w - y)", LET))
    same(mc.sum(X, axis=0), mc.expression("sum(X, axis=0)", LET))
    same(mc.block([[A, C], [C, A]]), mc.expression("[A, C; C, A]", "A: matrix(n, n); C: matrix(n, n)"))
    same(mc.symbols("A: matrix(n, n)")[0] @ w, mc.expression("A*w", "A: matrix(n, n); w: vector(n)"))
    same(2 * mc.symbols("A: matrix(n, n)")[0] - A, mc.expression("A", "A: matrix(n, n)"))
    z = MatrixSymbol("z", n, 1)
    found = mc.root(z + 0.1 * (z.T * z)[0, 0] * w - w, z, w)
    same(found, mc.expression("root(z + 0.1*(z'*z)*w - w, z, start=w)", "z: vector(n); w: vector(n)"))


def test_compiled():
    given = numbers()
    f = mc.compile([loss, residual], args=[w, X, y, lam], sizes={m: 4, n: 3}, target="numpy")
    assert f.args == ("w", "X", "y", "lam")
    value, r = f(*(given[name] for name in f.args))
    assert np.allclose(r, given["X"] @ given["w"] - given["y"])
    assert np.isclose(value, r @ r + given["lam"] * given["w"] @ given["w"])
    f = mc.value_and_gradient(loss, [w, lam], target="numpy")
    assert f.args == ("X", "lam", "w", "y")
    value, (slope, by_lam) = f(*(given[name] for name in f.args))
    assert np.allclose(slope, 2 * given["X"].T @ r + 2 * given["lam"] * given["w"])
    assert np.isclose(by_lam, given["w"] @ given["w"])
    passes = mc.pullback(residual, w, target="numpy")
    out, saved = passes.forward(*(given[name] for name in passes.args))
    assert np.allclose(out, r)
    assert np.allclose(passes.backward(saved, given["G"]), given["X"].T @ given["G"])


def test_sizes_are_known_from_all_that_is_given():
    f = mc.compile([Trace(A), n * lam], target="numpy")
    assert f.args == ("A", "lam")
    assert f(np.eye(3), 2.0) == (3.0, 6.0)
    same(
        mc.expression(n * lam + Trace(A), "A: matrix(n, n)"), mc.expression("n*lam + tr(A)", f"{LET}; A: matrix(n, n)")
    )
    assert mc.expression(n**2, declarations="A: matrix(n, n)").symbols == ("n",)


def test_values_may_be_numbers_of_sympy():
    found = mc.from_sympy(lam * A * w)(lam=sp.Rational(1, 2), A=sp.eye(3), w=sp.Matrix([1, 2, 3]))
    assert found.dtype == float
    assert np.array_equal(found, [0.5, 1, 1.5])


def test_minimize():
    given = numbers()
    data = {X: given["X"], y: given["y"], lam: 0.3}
    found = mc.minimize(loss, w, start={w: np.zeros(3)}, data=data, target="numpy")
    best = np.linalg.solve(given["X"].T @ given["X"] + 0.3 * np.eye(3), given["X"].T @ given["y"])
    assert np.allclose(found.x["w"], best, atol=1e-4)


def test_one_entry_is_a_variable():
    assert mc.hvp(loss, w[0, 0]).shape == ()
    with assuming(Q.symmetric(S)), pytest.raises(mc.NotDifferentiable, match="symmetric"):
        mc.gradient(Trace(S * A), S[0, 1])
    assert mc.jacobian(A * w, A[0, 1]).shape == ("n",)
    assert mc.gradient(Trace(A * C), [A[0, 1], C])[0].shape == ()


def test_the_way_back_is_in_the_symbols_that_came():
    """Results contain the input's SymPy symbols with their assumptions, so that numbers can be substituted."""
    d = mc.gradient(loss, w)
    assert d.sympy() == 2 * X.T * (X * w - y) + (2 * lam) * w
    assert d.sympy().atoms(MatrixSymbol) == {X, w, y}
    assert mc.hessian(loss, w).sympy().atoms(sp.Symbol) >= {m, n, lam}
    row, one = MatrixSymbol("r", 1, n), MatrixSymbol("s", 1, 1)
    back = mc.gradient(row * A * row.T * one, row).sympy()
    assert back.atoms(MatrixSymbol) == {row, A, one}
    c = sp.Symbol("c", real=True, nonzero=True)
    assert mc.gradient(c**2 * Trace(A), c).sympy().subs({c: 3}).free_symbols == {A}
    i = sp.Symbol("i", integer=True)
    total = sp.Sum(sp.sin(w[i, 0]), (i, 0, n - 1))
    assert mc.hvp(total, w).sympy().atoms(MatrixSymbol) == {w, v}
