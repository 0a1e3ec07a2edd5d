"""Sizes where formulas meet data: the sizes that arguments determine, and those that must agree."""

import itertools
import operator
import re
from fractions import Fraction

import numpy as np
import pytest

import matcalc as mc
from matcalc.expressions.read_input import expressions
from matcalc.language.read import read
from matcalc.language.syntax import same
from matcalc.tensor.sizes.size import Size, floordiv, maximum, minimum, modulo
from matcalc.tensor.sizes.size_tree import tree_of

OUTSIDE = [
    ("A[:, :k]*x", "A: matrix(m, n); x: vector(k)", {"A": (3, 2), "x": (5,)}, "A[:, :k] is outside axis 1 of A"),
    ("A[4, 0]", "A: matrix(m, n)", {"A": (3, 2)}, "A[4, 0] is outside axis 0 of A where m = 3"),
    ("x[-2]", "x: vector(n)", {"x": (1,)}, "x[-2] is outside axis 0 of x where n = 1"),
    ("sum(x[2:])", "x: vector(n)", {"x": (1,)}, "x[2:] is outside axis 0 of x where n = 1"),
    ("exp(x[5])", "x: vector(n)", {"x": (1,)}, "x[5] is outside axis 0 of x where n = 1"),
    ("sum(x[1:-1])", "x: vector(n)", {"x": (1,)}, "x[1:-1] ends before it starts on an axis of x where n = 1"),
]  # fmt: skip
IDS = [text for text, *_ in OUTSIDE]


@pytest.mark.parametrize(("text", "declarations", "shapes", "message"), OUTSIDE, ids=IDS)
def test_parts_are_inside_when_the_sizes_are_known(text, declarations, shapes, message):
    """Parts are never clipped: a missing entry does not count as zero."""
    data = {name: np.ones(shape) for name, shape in shapes.items()}
    e = mc.expression(text, declarations)
    compiled = mc.compile(e, target="numpy")
    for function in (e, compiled, lambda **data: compiled(*data.values())):
        with pytest.raises(mc.ShapeError) as caught:
            function(**data)
        assert message in str(caught.value)


def test_derivatives_keep_the_conditions():
    g = mc.gradient("x[5]^2*sum(x)", "x", "x: vector(n)")
    assert g(x=np.ones(6)).shape == (6,)
    with pytest.raises(mc.ShapeError, match="is outside axis 0 of x where n = 5"):
        g(x=np.ones(5))


def test_parts_of_objects():
    (X,) = mc.symbols("X: matrix(m, n)")
    e = mc.exp(X @ X.T)[4, 0]
    assert e(X=np.zeros((5, 1))) == 1
    with pytest.raises(mc.ShapeError, match=r"^exp\(X\*X'\)\[4, 0\] is outside axis 0 of .* where m = 3"):
        e(X=np.zeros((3, 1)))


def test_formulas_of_one_call_have_their_own_conditions():
    a, b = expressions(["x[5]", "sum(x)"], "x: vector(n)")
    assert b(x=np.ones(2)) == 2
    with pytest.raises(mc.ShapeError):
        a(x=np.ones(2))
    with pytest.raises(mc.ShapeError):
        mc.compile([a, b], target="numpy")(np.ones(2))


def test_equivalence_is_decided_where_both_have_a_value():
    assert mc.equivalent("x[0] + x[1] + x[2]", "sum(x[:3])", "x: vector(n)")
    assert not mc.equivalent("x[2]", "x[1]", "x: vector(n)")


def test_a_saved_file_tests_itself_at_sizes_that_fit(tmp_path):
    import subprocess
    import sys

    path = tmp_path / "far.py"
    mc.compile("x[20]*sum(x)", declarations="x: vector(n)", target="numpy").save(path)
    done = subprocess.run([sys.executable, path], capture_output=True, text=True)
    assert done.stdout.strip() == "all right"


QUADRATIC = mc.expression("x'*A*x + b'*x", "A: matrix(n, n); x: vector(n); b: vector(n)")


def test_a_value_of_other_sizes_takes_the_rest_along():
    B, c = mc.symbols("B: matrix(k, k); c: vector(k)")
    made = QUADRATIC.substitute(A=B)
    assert made.declarations == "x: vector(k); b: vector(k); B: matrix(k, k)"
    assert QUADRATIC.substitute(A=B, b=c).node is mc.expression("x'*B*x + c'*x", "B: matrix(k, k); c: vector(k)").node
    assert QUADRATIC.substitute(A=np.eye(2))(x=[1, 2], b=[1, 1]) == 8
    assert QUADRATIC.substitute(n=3).declarations == "A: matrix(3, 3); x: vector(3); b: vector(3)"


@pytest.mark.parametrize(
    ("declarations", "values", "message"),
    [
        ("B: matrix(k, p)", {"A": 0}, "A is a matrix n x n, its value a matrix k x p"),
        ("B: matrix(k, k); c: vector(p)", {"A": 0, "b": 1}, "b is a vector of n, its value a vector of p, where n = k"),
        ("c: vector(p)", {"A": 0}, "A is a matrix n x n, its value a vector of p"),
        ("x: vector(k) positive", {"b": 0}, "x is declared twice: x: vector(k) and x: vector(k) positive"),
    ],
)
def test_values_that_do_not_fit(declarations, values, message):
    new = mc.symbols(declarations)
    with pytest.raises(mc.ShapeError) as caught:
        QUADRATIC.substitute(**{name: new[k] for name, k in values.items()})
    assert message in str(caught.value)


def test_sizes_of_expressions_are_solved_for():
    e = mc.expression("[x; x]'*z", "x: vector(n); z: vector(2*n)")
    assert e.substitute(z=np.ones(6)).declarations == "x: vector(3)"
    with pytest.raises(mc.ShapeError, match="z is a vector of 2.n, its value a vector of 5"):
        e.substitute(z=np.ones(5))
    part = mc.expression("x[4]", "x: vector(n)")
    with pytest.raises(mc.ShapeError, match=r"x\[4\] is outside axis 0 of x where n = 3"):
        part.substitute(x=np.ones(3))


def test_a_name_is_a_size_or_a_symbol():
    (X,), (m,) = mc.symbols("X: matrix(m, n)"), mc.symbols("m: vector(k)")
    with pytest.raises(mc.ShapeError, match="'m' is both a size and a symbol"):
        mc.sum(X) * mc.sum(m)
    with pytest.raises(mc.ShapeError, match="'m' is both a size and a symbol"):
        mc.compile([X, m], target="numpy")


MISFITS = [
    ("A*B", "A: matrix(m, n); B: matrix(n, p)", {"A": (3, 4), "B": (5, 2)},
     "B: matrix(n, p) must have shape (4, 2), not (5, 2) where n = 4 (from A)"),
    ("C'*[A; B]", "A: matrix(m, n); B: matrix(p, n); C: matrix(m + p, k)", {"A": (5, 2), "B": (3, 2), "C": (9, 1)},
     "C: matrix(m + p, k) must have shape (8, 1), not (9, 1) where m = 5, p = 3 (from A and B)"),
    ("sum(X)", "X: matrix(2*n, k)", {"X": (5, 2)}, "the shape of X makes n = 5/2; a size is an integer, 0 or more"),
    ("sum(x) + sum(y)", "x: vector(m + n); y: vector(m - n)", {"x": (5,), "y": (2,)},
     "the shapes of x and y make m = 7/2; a size is an integer, 0 or more"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "declarations", "shapes", "message"), MISFITS, ids=[text for text, *_ in MISFITS])
def test_arguments_that_do_not_fit_are_both_named(text, declarations, shapes, message):
    e = mc.expression(text, declarations)
    compiled = mc.compile(e, target="numpy")
    assert compiled.args == e.symbols == tuple(shapes)
    for function in (e, compiled):
        with pytest.raises(mc.ShapeError) as caught:
            function(**{name: np.ones(shape) for name, shape in shapes.items()})
        assert str(caught.value) == message


def test_sizes_that_several_axes_determine_together():
    e = mc.expression("[m*x; n*y]", "x: vector(m + n); y: vector(m - 2*n)")
    compiled = mc.compile([e, mc.expression("eye(n)")], target="numpy")
    assert e.symbols == compiled.args == ("x", "y")
    result, identity = compiled(np.ones(5), np.ones(2))
    assert result.tolist() == [4] * 5 + [1] * 2 and identity.tolist() == [[1]]
    with pytest.raises(mc.ShapeError, match="the shapes of x and y make m = 11/3; a size is an integer, 0 or more"):
        compiled(np.ones(5), np.ones(1))


def test_sizes_that_are_arguments_have_one_order():
    e = mc.expression("sum(ones(p)*ones(k)'*x)^2", "x: vector(k)")
    assert e.symbols == e.gradient("x").symbols == mc.compile([e, e.gradient("x")], target="numpy").args == ("x", "p")
    f = mc.expression("sum(ones(p, k))*x'*x", "x: vector(n)")
    assert f.symbols == f.gradient("x").symbols == mc.compile(f, target="numpy").args == ("x", "k", "p")


NEEDS = [
    ("logdet(X'*X)", ["m >= n, or X'*X is singular"]),
    ("y'*X*inv(X'*X)*X'*y", ["m >= n, or X'*X is singular"]),
    ("chol(X*X')", ["n >= m, or X*X' is singular"]),
    ("inv(U*V' + x*x')", ["k + 1 >= n, or V*U' + x*x' is singular"]),
    ("inv(x*x')", ["n <= 1, or x*x' is singular"]),
    ("logdet(X'*X + lam*eye(n))", []),
    ("x[2]^2", ["n >= 3, or x[2] is outside axis 0 of x"]),
    ("tr(pinv(X)*X) + logdet(S) + tr(inv(diag(x)))", []),
]
LET = (
    "X: matrix(m, n); x: vector(n); y: vector(m); U: matrix(n, k); V: matrix(n, k); lam: scalar positive; "
    "S: matrix(n, n) spd"
)


@pytest.mark.sampled(8)
@pytest.mark.parametrize(("text", "needs"), NEEDS, ids=[text for text, _ in NEEDS])
def test_what_sizes_must_be_is_told(text, needs):
    e = mc.expression(text, LET)
    assert list(e.needs) == needs
    for name in e.names.written:
        assert set(e.jacobian(name).needs) <= set(needs)


def test_needs_are_true():
    """With m < n the Gram matrix is singular, with m >= n it is not."""
    e = mc.expression("sum(inv(X'*X))", "X: matrix(m, n)")
    rng = np.random.default_rng(0)
    assert np.isfinite(e(rng.standard_normal((4, 3))))
    with pytest.raises(np.linalg.LinAlgError):
        e(rng.integers(1, 5, (2, 3)).astype(float))


def test_needs_are_noted_by_explain_and_on_standard_error(capsys):
    from matcalc.commands.cli import main

    line = "needs m >= n, or X'*X is singular"
    assert mc.gradient("logdet(X'*X)", "X").explain().splitlines()[-1].endswith(f"[{line}]")
    assert main(["gradient", "logdet(X'*X)", "--wrt", "X", "--let", "X: matrix(m, n)"]) == 0
    told = capsys.readouterr()
    assert told.err == f"note: {line}\n" and "note" not in told.out


def test_a_formula_that_is_not_differentiated_tells_what_it_needs():
    told = mc.expression("inv(X'*X)", "X: matrix(m, n)").explain().splitlines()
    assert told[0].endswith("[needs m >= n, or X'*X is singular]")


@pytest.mark.parametrize(
    ("declaration", "message", "at"),
    [
        ("A: matrix(1 - 2, 3)", "the size -1 is negative", "-"),
        ("A: matrix(3, -n)", "the size -n is negative", "-"),
        ("A: matrix(n//0, 3)", "the size n is divided by zero", "/"),
        ("A: matrix(3, 1 - 2*2) spd", "the size -3 is negative", "-"),
    ],
)
def test_declared_sizes_that_are_no_lengths(declaration, message, at):
    with pytest.raises(mc.ShapeError) as caught:
        mc.expression("sum(A)", declaration)
    assert caught.value.message == message
    assert caught.value.at == declaration.index(at)


def test_hints_of_sizes_are_checked():
    text, declared = "X*w", "X: matrix(rows, n); w: vector(n)"
    assert mc.compile(text, declarations=declared, sizes={"rows": 10, "n": 0}, target="numpy").args == ("X", "w")
    with pytest.raises(mc.UnknownName, match="sizes: row is not a size of the formulas; did you mean rows?"):
        mc.compile(text, declarations=declared, sizes={"row": 10}, target="numpy")
    with pytest.raises(TypeError, match="the size n is an integer, not 2.5"):
        mc.compile(text, declarations=declared, sizes={"n": 2.5}, target="numpy")
    with pytest.raises(mc.ShapeError, match="the size n is -1"):
        mc.compile(text, declarations=declared, sizes={"n": -1}, target="numpy")


def test_objects_that_do_not_fit_are_both_shown():
    X, Y, x = mc.symbols("X: matrix(m, n); Y: matrix(k, p); x: vector(m)")
    for act, message in (
        (lambda: X @ Y, "cannot multiply X (m x n) by Y (k x p): n and k differ"),
        (lambda: mc.exp(X) + Y, "cannot add exp(X) (m x n) and Y (k x p): m and k differ"),
        (lambda: X - x, "cannot subtract X (m x n) and x (vector of m): n and m differ"),
        (lambda: x.T + x, "cannot add x (row of m) and x (vector of m): one is a row, the other a column"),
        (lambda: X @ 3, "@ needs vectors or matrices, not X (m x n) and 3 (scalar)"),
    ):
        with pytest.raises(mc.ShapeError) as caught:
            act()
        assert str(caught.value) == message


def test_a_product_of_sizes_determines_neither_of_them():
    """`m*n` determines m only where n is not 0, so m is an argument, of values and of compiled functions alike."""
    e = mc.expression("x .* sum(unvec(u, n - 1, m), axis=1)", "u: vector(m*n - m); x: vector(n - 1)")
    assert e.symbols == mc.compile(e, target="numpy").args == ("u", "x", "m")
    for m, n in ((3, 3), (2, 1), (0, 4)):
        u, x = np.arange(float(m * n - m)), np.arange(n - 1.0)
        wanted = x * u.reshape(m, n - 1).sum(0)
        assert np.array_equal(e(u, x, m), wanted)
        assert np.array_equal(mc.compile(e, target="numpy")(u, x, m), wanted)
    with pytest.raises(mc.ShapeError):
        e(np.ones(5), np.ones(2), 2)


NUMBERS = {"n": Fraction(7), "m": Fraction(4)}
OPERATIONS = [
    (operator.add, operator.add), (operator.sub, operator.sub), (operator.mul, operator.mul),
    (floordiv, operator.floordiv), (modulo, operator.mod), (minimum, min), (maximum, max),
]  # fmt: skip


@pytest.mark.whole
def test_the_text_of_a_size_means_the_size():
    """For all operations on two names and fractions, Python evaluates the printed text to the value of the size."""
    pool = {Size.of(name): value for name, value in NUMBERS.items()}
    pool |= {Size.of(value): value for value in map(Fraction, ("2", "-1", "2/3"))}
    for _ in range(2):
        made = {}
        for (a, x), (b, y) in itertools.product(pool.items(), list(pool.items())[:5]):
            for combine, meant in OPERATIONS:
                for size, value, divisor in ((a, x, (b, y)), (b, y, (a, x))):
                    if meant not in (operator.floordiv, operator.mod) or divisor[1] > 0:
                        made[combine(size, divisor[0])] = meant(value, divisor[1])
        pool |= made
    assert len(pool) > 1000
    for size, value in pool.items():
        exact = re.sub(r"(\d+)", r"Fraction(\1)", str(size))
        assert eval(exact, {"Fraction": Fraction, "min": min, "max": max, **NUMBERS}) == value, str(size)
        assert same(tree_of(size), read(str(size))), str(size)


def test_an_amount_is_any_number_and_a_length_an_integer():
    cube = Size.of("n") * Size.of("n") * Size.of("n") * Fraction(1, 3)
    for n in range(7):
        assert cube.amount({"n": n}) == Fraction(n**3, 3)
        if n % 3:
            with pytest.raises(mc.ShapeError, match="not an integer"):
                cube.evaluate({"n": n})
    with pytest.raises(mc.ShapeError, match="needs a value for n"):
        cube.amount({})
