"""Valid names, quoting of other text, and that any identifier can be passed by name."""

import ast

import numpy as np
import pytest

import matcalc as mc
from matcalc.compiler.spec.module_text import function_name
from matcalc.language.identifiers import MAX_BYTES, comment, docstring, file_path, free, identifier, literal, supply

X = np.array([1.0, 2.0, 3.0])


@pytest.mark.parametrize(
    ("text", "name"), [("x", "x"), ("ﬁt", "fit"), ("ª", "a"), ("ſ", "s"), ("λ", "λ"), ("if", "if")]
)
def test_names_are_normalised_as_python_does(text, name):
    assert identifier(text, "name=") == name
    space = {}
    exec(f"def {text}_(): pass", space)
    assert f"{name}_" in space


REFUSED = [
    "",
    " ",
    "x y",
    "1x",
    "x\n",
    "x;y",
    "x-1",
    "x'",
    "x\0",
    "\ud800",
    "x" * (MAX_BYTES + 1),
    "λ" * 76,
    None,
    3,
    b"x",
]


@pytest.mark.parametrize("text", REFUSED, ids=range(len(REFUSED)))
def test_what_is_no_name(text):
    with pytest.raises(mc.ParseError) as caught:
        identifier(text, "name=")
    assert "name=" in str(caught.value) and len(str(caught.value)) < 200


def test_underscores_keep_names_apart():
    taken = {"x", "x_"}
    assert [free("x", taken), free("x", taken), free("y", taken)] == ["x__", "x___", "y"]


HOSTILE = [
    '"""',
    "'''",
    "\\",
    '"',
    "\n",
    "\r",
    "\x0c",
    "\x85",
    "\u2028",
    "\0",
    "\ud800",
    '\\"""\nimport os',
    "{x}",
    "#",
    'a"',
]


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_quoted_text_is_one_constant(text):
    for lines in ([text], [text, "", text]):
        (only,) = ast.parse("\n".join(docstring(lines))).body
        assert isinstance(only, ast.Expr) and isinstance(only.value, ast.Constant)
    (only,) = ast.parse(literal(text)).body
    assert isinstance(only.value, ast.Constant)
    assert [statement.value.value for statement in ast.parse(f"0  # {comment(text)}\n1").body] == [0, 1]


def test_literals_and_docstrings_say_what_they_are_given():
    assert ast.literal_eval(literal('A\\b = "x"')) == 'A\\b = "x"'
    assert ast.literal_eval("\n".join(docstring(["A\\b", "  c"]))) == "A\\b\n  c\n"


@pytest.mark.parametrize("name", ["np", "range", "gemv", "lambda", "args", "results", "__name__", "_____"])
def test_functions_are_spelled_clear_of_the_text_round_them(name):
    assert function_name(name, [], ["args", "results"]) != name


@pytest.mark.parametrize("name", ["f", "loss", "λ", "f_", "gradient"])
def test_other_functions_keep_their_names(name):
    assert function_name(name, []) == name
    assert mc.compile("sum(x)", target="numpy", name=name).spec.name == name


@pytest.mark.sampled(4)
@pytest.mark.parametrize("name", ["out", "self", "check_facts", "args", "values", "lambda", "np", "named"])
def test_any_identifier_is_passed_in_a_dictionary(name):
    e = mc.expression(f"sum({name}.^2)", f"{name}: vector(n)")
    for function in (e, mc.compile(e, target="numpy"), mc.compile(e, target="numpy").__call__):
        assert function({name: X}) == 14.0
        assert function(X) == 14.0
    assert e.substitute({name: mc.expression("2*y")})({"y": X}) == 56.0
    assert mc.pullback(e, name, target="numpy").forward({name: X})[0] == 14.0


def test_an_option_is_no_argument():
    function = mc.compile("x + out", target="numpy", declarations="x: vector(n); out: vector(n)")
    place = np.empty(3)
    assert function({"x": X, "out": X}, out=place) is place
    assert place.tolist() == [2.0, 4.0, 6.0]
    with pytest.raises(TypeError, match="out= is an option: pass arguments of this name in a dictionary"):
        function(x=X, out=place)
    with pytest.raises(TypeError, match="is given x twice"):
        function({"x": X}, x=X)
    with pytest.raises(TypeError, match="has no argument y"):
        function({"x": X, "out": X, "y": X})


def test_names_are_looked_up_as_python_reads_them():
    e = mc.expression("sum(ﬁ)", "ﬁ: vector(n)")
    assert e.symbols == ("fi",)
    assert e(ﬁ=X) == e(**{"ﬁ": X}) == 6.0
    assert str(e.gradient("ﬁ")) == "ones(n)"


@pytest.mark.parametrize("parameter", ["tangent", "cotangent", "vector"])
@pytest.mark.parametrize("text", ["v\nimport os", "v)", "", "1v", "x y", "v" * 1000])
def test_new_symbols_are_names(parameter, text):
    derive = {"tangent": mc.jvp, "cotangent": mc.vjp, "vector": mc.hvp}[parameter]
    with pytest.raises(mc.MatcalcError, match="is (not a|no) name|too long"):
        derive("x'*x", "x", **{parameter: text})


def test_a_new_symbol_is_no_size():
    with pytest.raises(mc.ShapeError, match="the name n is in use: set tangent= to another name"):
        mc.jvp("x'*x", "x", "x: vector(n)", tangent="n")


def test_a_pullback_finds_a_name_for_its_cotangent():
    passes = mc.pullback("G*x", "x", "G: matrix(n, n); x: vector(n)", target="numpy")
    value, saved = passes.forward(np.diag(X), X)
    assert value.tolist() == [1.0, 4.0, 9.0]
    assert passes.backward(saved, X).tolist() == [1.0, 4.0, 9.0]


@pytest.mark.parametrize("path", ["", ".", "..", "a/", "a\0b", "x\n.py", "x" * 300, "a/..", 3, None])
def test_what_is_no_path_of_a_file(path):
    with pytest.raises((mc.ParseError, TypeError)):
        file_path(path)
    with pytest.raises((mc.ParseError, TypeError)):
        mc.compile("sum(x)", target="numpy").save(path)


@pytest.mark.parametrize("name", ["m 1", "n'", "ﬁ", "", "x" * 200])
def test_sympy_names_are_refused_by_name(name):
    sympy = pytest.importorskip("sympy")
    size, symbol = sympy.Symbol(name, integer=True), sympy.MatrixSymbol(name or "y", 3, 3)
    with pytest.raises(mc.NotSupported, match="rename it"):
        mc.from_sympy(sympy.Trace(sympy.MatrixSymbol("A", size, size)))
    if name:
        with pytest.raises(mc.NotSupported, match="rename it"):
            mc.from_sympy(sympy.Trace(symbol))


def test_greek_sizes_of_sympy_compile():
    sympy = pytest.importorskip("sympy")
    size = sympy.Symbol("ν", integer=True)
    A = sympy.MatrixSymbol("A", size, size)
    function = mc.compile(mc.from_sympy(size * sympy.Trace(A)), target="numpy")
    assert function(np.eye(3)) == 9.0


@pytest.mark.parametrize("text", ["0)*(1", "x) + sum(x", "0, 1", "axis=1", "", "x;y"])
def test_text_is_one_argument_of_a_function(text):
    (A,) = mc.symbols("A: matrix(m, n)")
    with pytest.raises(mc.MatcalcError):
        mc.sum(A, axis=text)
    with pytest.raises(mc.MatcalcError):
        mc.matfun(text, A @ A.T)


@pytest.mark.parametrize("name", ["alpha", "beta", "fault", "out", "result_", "y", "λ"])
@pytest.mark.whole
def test_parameters_of_own_operations_are_their_own(name):
    made = mc.define(
        f"own_{name}(X: matrix(n, m), {name}: matrix(m, n)) -> matrix(n, n)",
        value=f"X @ {name}",
        differential=f"dX*{name} + X*d{name}",
    )
    A, B = np.arange(6.0).reshape(2, 3), np.ones((3, 2))
    e = made(*mc.symbols("A: matrix(n, m); B: matrix(m, n)"))
    np.testing.assert_allclose(mc.compile(3 * e, target="numpy")(A, B), 3 * A @ B)


def test_a_supply_of_names_is_clear_of_those_taken():
    names = supply("mnkpqrstlhdw", ["m", "k", "n1"])
    assert [next(names) for _ in range(4)] == ["n", "p", "q", "r"]
    assert [next(names) for _ in range(8)][-2:] == ["m1", "k1"]


@pytest.mark.parametrize("kind", ["scalar", "vector(n)", "matrix(n, n)", "tensor(n, n, n)"])
@pytest.mark.parametrize("name", ["_", "__", "_x", "x_"])
def test_no_name_is_that_of_something_internal(name, kind):
    """A symbol is printed and read back by its name; no internal parameter has a name that a symbol can have."""
    e = mc.expression(f"sum({name}) + sum(exp({name}))", f"{name}: {kind}")
    assert f"({name})" in str(e)
    assert mc.expression(str(e), e.declarations).node is e.node
    slope = mc.vjp("sum(log(1 + exp(w)))", "w", "w: vector(n)", cotangent=name)
    assert mc.expression(str(slope), slope.declarations).node is slope.node
