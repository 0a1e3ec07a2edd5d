"""Implicit functions: solutions of equations, their derivatives to second order, and their compiled forms.

The reference is an operation that solves the same equation, SciPy's solvers, or differences of these.
"""

import numpy as np
import pytest
import scipy.linalg as sl
import scipy.optimize as so

import matcalc as mc

RNG = np.random.default_rng(20)
TARGETS = ("numpy", "numba")
N = 4
GENERAL = RNG.standard_normal((N, N)) / 4 + np.eye(N)
RIGHT = RNG.standard_normal((N, N))
SPD = RIGHT @ RIGHT.T / N + np.eye(N)
KEPLER = ("root(E - e*sin(E) - M, E, start=M)", "E: scalar; e: scalar; M: scalar")
TANH = "root(A*Y + Y*A' + tanh(Y) - C, Y, start=C)"


def slope(f, x, along, h=1e-3):
    """Return the derivative of f at x along a direction: central differences, extrapolated twice."""
    first = [(f(x + s * along) - f(x - s * along)) / (2 * s) for s in (h, h / 2, h / 4)]
    second = [(4 * b - a) / 3 for a, b in zip(first, first[1:], strict=False)]
    return (16 * second[1] - second[0]) / 15


# ---- reading and printing


@pytest.mark.whole
@pytest.mark.sampled(4)
@pytest.mark.parametrize(
    ("text", "declarations"),
    [
        (TANH, ""),
        KEPLER,
        ("root(Y*Y - A, Y, start=A)", ""),
        ("root(A'*Y + Y*A - Y*G*Y + Q, Y, start=Q)", ""),
        ("sum(root(y.^3 + A*y - b, y, start=0))", "y: vector(n)"),
        ("root(y - root(z^3 + z - y - a, z, start=y) + b, y, start=a)", "a: scalar; b: scalar"),
        ("{i,j: root(y.^2 - x, y, start=x)[i]*A[i,j]}", ""),
    ],
)
def test_text_reads_back_and_the_unknown_is_no_argument(text, declarations):
    e = mc.expression(text, declarations)
    assert mc.expression(str(e), e.declarations).node is e.node
    assert not {"Y", "y", "z", "E"} & set(e.symbols)
    for x in e.symbols:
        derivative = mc.gradient(e, x) if not e.shape else mc.vjp(e, x, cotangent="H")
        assert mc.expression(str(derivative), derivative.declarations).node is derivative.node


def test_solutions_equal_up_to_renaming_are_one():
    a = mc.expression("root(A*Y + Y*B - C, Y, start=C)", "A: matrix(m, m); B: matrix(n, n); C: matrix(m, n)")
    b = mc.expression("root(A*Z + Z*B - C, Z, start=C)", "A: matrix(m, m); B: matrix(n, n); C: matrix(m, n)")
    A, B, C, Y = mc.symbols("A: matrix(m, m); B: matrix(n, n); C: matrix(m, n); Y: matrix(m, n)")
    c = mc.root(A @ Y + Y @ B - C, Y, start=C)
    assert a.node is b.node is c.node
    assert c.symbols == a.symbols == ("A", "B", "C")


def test_symbols_stand_in_the_order_written():
    assert mc.expression(TANH).symbols == ("A", "C")


def test_a_symbol_outside_is_not_the_unknown_inside():
    e = mc.expression("Y + root(Y*Y - A, Y, start=A)", "Y: matrix(n, n); A: matrix(n, n)")
    assert e.symbols == ("Y", "A")
    assert str(mc.gradient("sum(Y + root(Y*Y - A, Y, start=A))", "Y", "Y: matrix(n, n)")) == "ones(n, n)"
    assert mc.expression(str(e), e.declarations).node is e.node


def test_substitution_reaches_into_the_equation():
    e = mc.expression("root(Y*Y - A, Y, start=A)", "A: matrix(n, n)")
    moved = e.substitute(A=mc.expression("B'*B", "B: matrix(n, n)"))
    assert moved.node is mc.expression("root(Y*Y - B'*B, Y, start=B'*B)", "B: matrix(n, n)").node


@pytest.mark.parametrize(
    ("text", "declarations", "message"),
    [
        ("root(A*Y - C, Z, start=C)", "", "Z does not occur in A\\*Y - C"),
        ("root(A*Y - C, Y)", "", "takes an equation, its unknown and a start"),
        ("root(A*Y - C, Y, begin=C)", "", "takes an equation, its unknown and a start"),
        ("root(A*Y - C, 2*Y, start=C)", "", "2\\*Y is not a name to solve for"),
        ("root(tr(A*Y), Y, start=C)", "C: matrix(n, n)", "one equation is needed for each entry of Y"),
        ("root(Y - Y + C, Y, start=C)", "", "Y cancels"),
        ("root(A*Y - C, Y, start=C)", "Y: vector(n)", "the start C .* does not have the shape of Y"),
        ("root(A*Y - C, Y, start=C)", "Y: matrix(n, n) constant", "Y is declared constant"),
        ("{i: root(y.^2 - A[i,:], y, start=A[i,:])[i]}", "", "over the outer index i"),
        ("matfun(x -> root(y^2 - x, y, start=x), S)", "", "root in a function"),
    ],
)
def test_faults_have_their_own_messages_and_a_caret(text, declarations, message):
    with pytest.raises(mc.MatcalcError, match=message) as caught:
        mc.expression(text, declarations)
    assert text in str(caught.value)
    assert "^" in str(caught.value)


# ---- values


@pytest.mark.parametrize("target", [None, *TARGETS])
@pytest.mark.sampled(3)
def test_known_equations(target):
    def solved(text, declarations="", **data):
        e = mc.expression(text, declarations)
        return (e if target is None else mc.compile(e, target=target))(**data)

    square = RIGHT @ RIGHT.T
    close = {"rtol": 1e-11, "atol": 1e-11}
    np.testing.assert_allclose(solved("root(Y*Y - A, Y, start=A)", A=SPD), sl.sqrtm(SPD), **close)
    found = solved("root(A*Y + Y*B - C, Y, start=C)", A=GENERAL, B=SPD, C=RIGHT)
    np.testing.assert_allclose(found, sl.solve_sylvester(GENERAL, SPD, RIGHT), **close)
    found = solved("root(A*Y + Y*A' - C, Y, start=0)", "Y: matrix(n, n)", A=GENERAL, C=SPD)
    np.testing.assert_allclose(found, sl.solve_continuous_lyapunov(GENERAL, SPD), **close)
    A = GENERAL - 2 * np.eye(N)
    found = solved("root(A'*Y + Y*A - Y*G*Y + Q, Y, start=Q)", A=A, G=SPD, Q=square)
    np.testing.assert_allclose(found, sl.solve_continuous_are(A, sl.sqrtm(SPD), square, np.eye(N)), **close)
    assert solved(*KEPLER, e=0.3, M=1.0) == pytest.approx(
        so.brentq(lambda E: E - 0.3 * np.sin(E) - 1, 0, 4, xtol=1e-15)
    )
    x = solved("root(y.^3 + A*y - b, y, start=b)", A=SPD, b=RIGHT[0])
    np.testing.assert_allclose(x**3 + SPD @ x, RIGHT[0], **close)


@pytest.mark.thinned(2)
@pytest.mark.parametrize("target", [None, *TARGETS])
@pytest.mark.parametrize("scale", [1e-100, 1.0, 1e100])
@pytest.mark.sampled(9)
def test_scales(target, scale):
    e = mc.expression("root(Y*Y - A, Y, start=B)", "A: matrix(n, n); B: matrix(n, n)")
    f = e if target is None else mc.compile(e, target=target)
    found = f(A=scale**2 * SPD, B=scale * SPD)
    np.testing.assert_allclose(found / scale, sl.sqrtm(SPD), rtol=1e-11, atol=1e-11)


@pytest.mark.parametrize("target", [None, *TARGETS])
@pytest.mark.sampled(3)
def test_outside_the_domain(target):
    e = mc.expression("root(y^2 + a, y, start=b)", "a: scalar; b: scalar; y: scalar")
    f = e if target is None else mc.compile(e, target=target)
    assert f(-4.0, 1.0) == pytest.approx(2.0)
    for a, b in ((1.0, 1.0), (1.0, 0.0)):
        with pytest.raises(np.linalg.LinAlgError, match=r"root\(y\^2 \+ a, y"):
            f(a, b)
    for bad in (np.nan, np.inf):
        assert np.isnan(f(bad, 1.0))
        assert np.isnan(f(-4.0, bad))


@pytest.mark.whole
@pytest.mark.parametrize("target", TARGETS)
def test_steps_are_damped(target):
    f = mc.compile("root(atan(x) - a, x, start=s)", declarations="x: scalar; a: scalar; s: scalar", target=target)
    assert f(0.5, 20.0) == pytest.approx(np.tan(0.5), rel=1e-14)


# ---- derivatives


@pytest.mark.whole
@pytest.mark.parametrize(
    ("text", "declarations", "data"),
    [
        (f"sum({TANH}.^2)", "", {"A": GENERAL, "C": RIGHT}),
        ("sum(root(Y*Y - A, Y, start=A).^3)", "", {"A": SPD}),
        ("tr(root(A'*Y + Y*A - Y*G*Y + Q, Y, start=Q)*Q)", "", {"A": GENERAL, "G": SPD / 9, "Q": RIGHT / 9}),
        ("sum(root(y.^3 + A*y - b, y, start=b).^2)", "", {"A": SPD, "b": RIGHT[0]}),
        ("sum(root(exp(y) + y.*c - b, y, start=b).^2)", "", {"c": np.abs(RIGHT[1]), "b": RIGHT[0]}),
        ("sum(root(A*Y*B + sin(Y)./4 - C, Y, start=C))", "", {"A": GENERAL, "B": SPD, "C": RIGHT}),
        ("sum(root(Y - tanh(A*Y) - C, Y, start=C).^2)", "", {"A": GENERAL / 3, "C": RIGHT}),
        (*KEPLER, {"e": np.array(0.3), "M": np.array(1.0)}),
        (
            "root(y - root(z^3 + z - y - a, z, start=y) + b, y, start=a)",
            "a: scalar; b: scalar",
            {"a": np.array(0.3), "b": np.array(0.7)},
        ),
    ],
)
@pytest.mark.sampled(5)
def test_gradients_and_hessians_against_differences(text, declarations, data):
    e = mc.expression(text, declarations)
    rng = np.random.default_rng(3)
    along = {x: rng.standard_normal(np.shape(a)) for x, a in data.items()}
    for x in data:
        gradient, product = e.gradient(x), e.hvp(x, vector="v_")

        def at(value, x=x):
            return {**data, x: value}

        wanted = slope(lambda t: e(**at(t)), data[x], along[x])
        assert np.sum(gradient(**data) * along[x]) == pytest.approx(wanted, rel=1e-8, abs=1e-9)
        second = slope(lambda t, g=gradient: g(**at(t)), data[x], along[x])
        np.testing.assert_allclose(product(**data, v_=along[x]), second, rtol=1e-8, atol=1e-8)


@pytest.mark.whole
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.sampled(2)
def test_compiled_derivatives_are_those_of_plain_numpy(target):
    data = {"A": GENERAL, "C": RIGHT}
    e = mc.expression(f"sum({TANH}.^2)")
    outputs = [e, *e.gradient(["A", "C"]), e.hvp("C")]
    f = mc.compile(outputs, target=target)
    v = np.eye(N)
    for found, one in zip(f(**data, v=v), outputs, strict=True):
        wanted = one(**{n: {**data, "v": v}[n] for n in one.symbols})
        np.testing.assert_allclose(found, wanted, rtol=1e-12, atol=1e-12)


def test_the_start_has_no_derivative():
    g = mc.gradient("root(x^2 - a, x, start=s)", "s", "x: scalar; a: scalar; s: scalar")
    assert str(g) == "0"


@pytest.mark.whole
def test_a_sylvester_equation_is_solved_as_one():
    f = mc.value_and_gradient("sum(root(A*Y + Y*A' - Y*G*Y - C, Y, start=C).^2)", "C", target="numpy")
    assert "sylvester" in f.plan
    assert "m*m*m*m" not in f.plan
    gradient = mc.gradient("sum(root(A*Y + Y*B - C, Y, start=C).^2)", "C")
    assert str(gradient).startswith("2*sylvester(A', B', ")


@pytest.mark.sampled(8)
@pytest.mark.parametrize(
    ("equation", "shown"),
    [
        ("y.^3 - b", "./"),
        ("A*y - b", "inv(A)"),
        ("A*Y - C", "inv(A)"),
        ("A*Y*B - C", "inv(B)"),
        ("inv(Y) - C", "root(inv(Y) - C, Y, start=C)"),
    ],
)
def test_other_structures(equation, shown):
    unknown = "Y" if "Y" in equation else "y"
    right = "C" if "C" in equation else "b"
    text = str(mc.vjp(f"root({equation}, {unknown}, start={right})", right))
    assert shown in text
    assert "kron" not in text
    assert "reshape" not in text


@pytest.mark.whole
def test_a_saved_file_stands_alone(tmp_path):
    import subprocess
    import sys

    path = tmp_path / "solved.py"
    mc.value_and_gradient("sum(root(A*Y + Y*A' + Y - C, Y, start=C).^2)", "C", "A: matrix(n, n) spd").save(path)
    assert "matcalc." not in path.read_text(encoding="utf-8").replace("matcalc.\n", "")
    subprocess.run([sys.executable, str(path)], check=True, capture_output=True)


@pytest.mark.whole
def test_check_agrees():
    assert mc.check("sum(root(A*Y + Y*A' + tanh(Y) - C, Y, start=C).^2)", "C", "A: matrix(n, n) spd")
