"""Derivatives in entries, in lists of entries and in SymPy matrices of scalars; SymPy names that are no identifiers."""

import numpy as np
import pytest
import sympy as sp
from sympy.physics.mechanics import dynamicsymbols

import matcalc as mc

a, b, t = sp.symbols("a b t")
q1, q2 = dynamicsymbols("q1 q2")
theta = sp.Symbol(r"\theta")
p = sp.IndexedBase("p")
M = sp.MatrixSymbol("M", 2, 2)
ARM = sp.Matrix([sp.cos(q1) + sp.cos(q1 + q2), sp.sin(q1) + sp.sin(q1 + q2)])
AT = {"a": 0.7, "b": -1.2, "q1": 0.4, "q2": 1.1, "theta": 0.3}


def value(e):
    return np.array(e(**{name: AT[name] for name in e.symbols}))


def theirs(matrix, *wrt):
    """Return SymPy's own entry by entry derivative at the point, by substitution of numbers."""
    at = {a: AT["a"], b: AT["b"], q1: AT["q1"], q2: AT["q2"], theta: AT["theta"]}
    return np.array(sp.Matrix(matrix).jacobian(list(wrt)).subs(at).tolist(), dtype=float)


def test_jacobian_in_a_sympy_matrix():
    made = mc.jacobian(ARM, sp.Matrix([q1, q2]))
    assert str(made) == "[-(sin(q1) + sin(q1 + q2)), -sin(q1 + q2); cos(q1) + cos(q1 + q2), cos(q1 + q2)]"
    np.testing.assert_allclose(value(made), theirs(ARM, q1, q2), rtol=1e-13)


@pytest.mark.parametrize("target", ["numpy", pytest.param("numba", marks=pytest.mark.whole)])
def test_rosenbrock_from_sympy_in_entries(target):
    f = 100 * (b - a**2) ** 2 + (1 - a) ** 2
    wrt = sp.Matrix([a, b])
    np.testing.assert_allclose(value(mc.gradient(f, wrt)), theirs([f], a, b)[0], rtol=1e-13)
    hessian = sp.hessian(f, (a, b)).subs({a: AT["a"], b: AT["b"]})
    np.testing.assert_allclose(value(mc.hessian(f, wrt)), np.array(hessian.tolist(), dtype=float), rtol=1e-13)
    fn = mc.value_and_gradient(f, wrt, target=target)
    found, gradient = fn(a=AT["a"], b=AT["b"])
    assert found == pytest.approx(float(f.subs({a: AT["a"], b: AT["b"]})))
    np.testing.assert_allclose(gradient, theirs([f], a, b)[0], rtol=1e-13)


def test_a_matrix_of_scalars_gives_its_shape():
    made = mc.gradient(a**2 * b, sp.Matrix([[a, b], [b, a]]))
    ga, gb = 2 * AT["a"] * AT["b"], AT["a"] ** 2
    np.testing.assert_allclose(value(made), [[ga, gb], [gb, ga]])
    assert mc.jacobian(sp.Matrix([a * b, a, b]), sp.Matrix([a, b])).shape == (3, 2)


LET = "x: vector(3); X: matrix(2, 3); S: matrix(2, 2) symmetric"
F = "x[0]*x[1]^2 + X[1, 2]*x[2]"
X, x = (mc.symbols(LET)[k] for k in (1, 0))
DATA = {"x": np.array([0.5, -1.5, 2.0]), "X": np.arange(6.0).reshape(2, 3)}


@pytest.mark.parametrize(
    ("wrt", "text"),
    [
        ("x[0]", "x[1]^2"),
        ("x[-1]", "X[1, 2]"),
        ("X[1, 2]", "x[2]"),
        (x[1], "2*x[0]*x[1]"),
        (X[1, 2], "x[2]"),
    ],
)
def test_gradient_in_an_entry(wrt, text):
    assert mc.gradient(F, wrt, LET).node is mc.expression(text, LET).simplify().node
    fn = mc.value_and_gradient(F, wrt, LET, target="numpy")
    assert fn(**DATA)[1] == pytest.approx(mc.expression(text, LET)(**DATA if "X" in text and "x" in text else {
        name: DATA[name] for name in mc.expression(text, LET).symbols}))  # fmt: skip


def test_lists_of_entries_are_tuples():
    first, second = mc.gradient(F, ["x[0]", "x[1]"], LET)
    assert first.equals("x[1]^2") and second.equals("2*x[0]*x[1]")
    rows = mc.hessian(F, ["x[0]", "x[1]"], LET)
    for row, texts in zip(rows, (("0", "2*x[1]"), ("2*x[1]", "2*x[0]")), strict=True):
        assert all(e.equals(text) for e, text in zip(row, texts, strict=True))
    mixed = mc.hessian(F, ["x[2]", "X"], LET)
    assert [[e.shape for e in row] for row in mixed] == [[(), (2, 3)], [(2, 3), (2, 3, 2, 3)]]
    assert mc.gradient(M[0, 0] * M[1, 1], [M[0, 0], M[1, 1]])[0] == mc.from_sympy(M[1, 1])


@pytest.mark.whole
def test_a_list_of_formulas_is_stacked():
    made = mc.jacobian(["x[0]*x[1]", "x[2]^2"], "x", LET)
    np.testing.assert_allclose(made(x=DATA["x"]), [[-1.5, 0.5, 0.0], [0.0, 0.0, 4.0]])
    by_objects = mc.jacobian([x[0] * x[1], x[2] ** 2], x)
    assert by_objects == made
    vectors = mc.jacobian(["x", "2*x"], "x", LET)
    assert vectors.shape == (2, 3, 3)
    with pytest.raises(mc.ShapeError, match="stacked arrays must have one shape"):
        mc.jacobian(["x", "x[0]"], "x", LET)


def test_one_entry_of_a_structured_symbol_is_refused():
    with pytest.raises(mc.NotDifferentiable, match="S is symmetric: differentiate in S"):
        mc.gradient("S[0, 1]^2", "S[0, 1]", LET)


def test_functions_of_time_are_symbols_and_so_are_their_derivatives():
    energy = q1.diff(t) ** 2 / 2 + sp.cos(q1)
    e = mc.expression(energy)
    assert str(e) == "q1_dot^2/2 + cos(q1)"
    assert e.sympy() == energy
    assert str(mc.gradient(energy, q1.diff(t))) == "q1_dot" and str(mc.gradient(energy, q1)) == "-sin(q1)"
    assert str(mc.expression(q1.diff(t, 2) * 3)) == "3*q1_ddot"
    with pytest.raises(mc.NotDifferentiable, match="q1 is a function of t"):
        mc.gradient(q1**2, t)
    with pytest.raises(mc.NotDifferentiable, match="q1 is a function of t"):
        mc.expression(q1**2 * t).gradient("t")
    with pytest.raises(mc.NotSupported, match="two SymPy symbols named q1"):
        mc.expression(q1 * sp.Symbol("q1"))
    for unknown in (sp.Function("f")(a), sp.Function("f")(a, t), sp.Sum(sp.Function("f")(t), (t, 0, 3))):
        with pytest.raises(mc.NotSupported):
            mc.expression(unknown)


@pytest.mark.parametrize(
    ("name", "plain"),
    [
        (r"\theta", "theta"),
        (r"\theta_{1}", "theta_1"),
        ("x_{i, j}", "x_i_j"),
        (r"\dot{q}", "q_dot"),
        (r"\hat{\beta}", "beta_hat"),
        (r"\mathbf{w}", "w"),
        ("x^{2}", "x_2"),
    ],
)
def test_names_in_latex(name, plain):
    symbol = sp.Symbol(name)
    e = mc.gradient(sp.sin(symbol) * a, symbol)
    assert str(e) == f"a*cos({plain})"
    assert e.sympy() == a * sp.cos(symbol)


def test_two_names_in_latex_that_are_one():
    with pytest.raises(mc.NotSupported, match="two SymPy symbols named theta"):
        mc.expression(theta + sp.Symbol("theta"))


def test_an_indexed_base_without_a_shape_has_a_size():
    f = p[0] * sp.exp(-p[1] * a)
    assert mc.expression(f).declarations == "a: scalar; p: vector(n_p)"
    fn = mc.value_and_gradient(f, p, target="numpy")
    found, gradient = fn(p=np.array([2.0, 0.5]), a=1.5)
    e = np.exp(-0.75)
    assert found == pytest.approx(2 * e)
    np.testing.assert_allclose(gradient, [e, -2 * 1.5 * e])
    in_entries = mc.gradient(f, [p[0], p[1]])
    np.testing.assert_allclose([g(p=[2.0, 0.5], a=1.5) for g in in_entries], gradient)
