"""Errors of elaboration: their messages, the position of the caret, their hints."""

import pytest
from formula.elaborate.reading import fault, node

import matcalc as mc
from matcalc.errors import NotSupported, ParseError, ShapeError, UnknownName
from matcalc.tensor.nodes.node import Node

LET = "A: matrix(n, m); B: matrix(k, p); S: matrix(n, n); x: vector(n); y: vector(m); s: scalar; L: matrix(n, n) lower"

SHAPE = [
    ("A*B", "cannot multiply A (n x m) by B (k x p): m and k differ", 1, "declare B with m rows"),
    ("tr(S*A*B)", "cannot multiply S*A (n x m) by B (k x p): m and k differ", 6, ""),
    ("A*A", "cannot multiply A (n x m) by A (n x m): m and n differ", 1, "write A*A'"),
    ("A*x", "cannot multiply A (n x m) by x (vector of n): m and n differ", 1, "write A'*x"),
    ("x*x", "cannot multiply x (vector of n) by x (vector of n): both are columns", 1,
     "write x'*x for the inner product or x.*x for entries"),
    ("x*y", "cannot multiply x (vector of n) by y (vector of m): both are columns", 1,
     "write x*y' for the outer product"),
    ("x*A", "cannot multiply x (vector of n) by A (n x m): 1 and n differ", 1, "write x'*A"),
    ("A*y'", "cannot multiply A (n x m) by y' (row of m): m and 1 differ", 1, "write A*y"),
    ("x' + x", "cannot add x (vector of n) to x' (row of n): one is a row, the other a column", 3,
     "transpose one"),
    ("S - A", "cannot subtract A (n x m) from S (n x n): m and n differ", 2, ""),
    ("x + y", "cannot add y (vector of m) to x (vector of n): m and n differ", 2, ""),
    ("1 + x + A", "cannot add A (n x m) to x (vector of n): a vector is no matrix", 6, "write x .+ A"),
    ("A.*B", "cannot multiply entry by entry A (n x m) by B (k x p): n and k differ", 1, ""),
    ("x./y", "cannot divide entry by entry x (vector of n) by y (vector of m): n and m differ", 1, ""),
    ("x/x", "cannot divide x (vector of n) by x (vector of n): / divides by a scalar", 1,
     "write x./x for entries"),
    ("A/S", "cannot divide A (n x m) by S (n x n): / divides by a scalar", 1, "A*inv(S)"),
    ("x\\y", "cannot solve x (vector of n) by y (vector of m): the left side is a matrix", 1, ""),
    ("A\\y", "cannot solve A (n x m) by y (vector of m): n and m differ", 1, ""),
    ("A^2", "cannot raise A (n x m) to a power: n and m differ", 1, "write .^ for entries"),
    ("x^2", "cannot raise x (vector of n) to a power", 1, "write x.^2 for entries"),
    ("s^x", "an exponent is a scalar, not x (vector of n)", 1, "write .^"),
    ("inv(A)", "inv takes a square matrix, and A (n x m) is not square", 0, ""),
    ("sin(x, y)", "'sin' does not take (vector(n), vector(m))", 0, "sin(x: entry) -> entry"),
    ("hypot(x, y)", "'hypot' of operands of unequal shape: x (vector of n) and y (vector of m)", 0, ""),
    ("chol(S)", "chol takes a symmetric matrix, and S is not known to be symmetric", 0,
     "matrix(n, n) symmetric"),
    ("eigvalsh(S*S)", "eigvalsh takes a symmetric matrix, and S*S is not known to be symmetric", 0,
     "sym(S*S)"),
    ("x[n]", "x[n] is outside axis 0 of x", 2, ""),
    ("x[:n + 1]", "x[:n + 1] is outside axis 0 of x", 2, ""),
    ("[1;2;3][3]", "[1; 2; 3][3] is outside axis 0 of [1; 2; 3]", 8, ""),
    ("x[3:1]", "x[3:1] ends before it starts", 3, ""),
    ("x[s]", "a subscript is an integer or a size, not s", 2, ""),
    ("x[1, 2]", "x (vector of n) has 1 axes, not 2", 1, ""),
    ("[S, x; y']", "rows of a block matrix of unequal width: n + 1 and m columns", 7, ""),
    ("[S, y]", "cannot put S (n x n) beside y (vector of m): n and m rows differ", 4, ""),
    ("{i: A[i,j]*x[j]}", "index j has length m and labels axis 0 of x (vector of n): m and n differ",
     13, ""),
    ("{i: ones(2)[k]*x[k]}", None, 0, ""),
    ("{i: A[i]}", "the body of an index form is a number, not A[i] (vector of m)", 0, "subscripts"),
    ("{i,t: x[i]}", "the length of index t is not known", 0, "give its limit, as in  sum{t < n: ...}"),
    ("{i,k: x[i]}", "'k' is both a size and an index", 0, "another name"),
    ("sum{n: x[n]}", "'n' is both a size and an index", 0, "another name"),
    ("sum{t: x}", "a sum over indices is of a number, not x (vector of n)", 0, "as many subscripts"),
    *(
        (f"{{: {body}}}", "index t is not listed, and not repeated within one product", 4 + body.index("x["), readings)
        for body, readings in [
            ("x[t]", "write sum{t: x[t]} to sum over t, {t: x[t]} for an axis of the result"),
            ("x[t]^2", "write sum{t: x[t]^2} or sum{t: x[t]}^2 to sum over t, {t: x[t]^2} for an axis"),
            ("exp(x[t])", "write sum{t: exp(x[t])} or exp(sum{t: x[t]}) to sum over t, {t: exp(x[t])} for an axis"),
            ("2*exp(1 - x[t])", "write sum{t: 2*exp(1 - x[t])} or 2*exp(sum{t: 1 - x[t]}) to sum over t"),
            ("x[t] + x[t]", "write sum{t: x[t] + x[t]} to sum over t, {t: x[t] + x[t]} for an axis"),
            ("s + x[t]", "write sum{t: x[t]} to sum over t, {t: s + x[t]} for an axis"),
            ("max(x[t], x[t])", "write sum{t: max(x[t], x[t])} or max(sum{t: x[t]}, x[t]) to sum over t"),
            ("1/x[t]", "write sum{t: 1/x[t]} or 1/sum{t: x[t]} to sum over t"),
            ("x[t]*s", "write sum{t: x[t]*s} to sum over t"),
            ("s^x[t]", "write sum{t: s^x[t]} or s^sum{t: x[t]} to sum over t"),
        ]
    ),
    ("sum(x, axis=1)", "axis 1 of a value of 1 axes", 12, "axes are 0"),
    ("exp(x, axis=0)", "'exp' acts on each entry", 0, ""), ("matfun(x, S)", None, 0, ""),
    ("matfun(2, sym(S))", "2 is no function", 7, "x -> x^2"),
    ("unvec(x, 2, 3)", "unvec: x (vector of n) does not fit, 6 and n differ", 0, ""),
    ("reshape(S, 2, 3)", "reshape(S, 2, 3): S (n x n) does not fit, 6 and n*n differ",
     0, ""),
    ("var(x, dof=1)", "'var' has no parameter 'dof'", 0, "ddof"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "message", "at", "hint"), [case for case in SHAPE if case[1] is not None])
def test_shape_error(text: str, message: str, at: int, hint: str) -> None:
    error = fault(text, LET)
    assert isinstance(error, ShapeError)
    assert error.message.startswith(message)
    assert (error.text, error.at) == (text, at)
    assert hint in error.hint


def test_inferred_kinds_are_listed() -> None:
    error = fault("lam*x*y")
    inferred, fitting = error.hint.splitlines()[-2:]
    assert inferred.strip() == "lam: scalar, undeclared; x: vector(m), undeclared; y: vector(n), undeclared"
    assert fitting.strip() == "it fits with  x: scalar | x: matrix(m, n) | y: scalar | y: matrix(1, n)"


def test_declared_symbols_are_not_listed() -> None:
    assert "undeclared" not in fault("A*B", LET).hint


OTHER = [
    ("foo(x)", UnknownName, "unknown function 'foo'", 0),
    ("1 + loggg(x)", UnknownName, "unknown function 'loggg'", 4),
    ("x(3)", UnknownName, "unknown function 'x'", 0),
    ("{i: x[i]*[x[i] > 0]}", ShapeError, "a condition is over indices and sizes, and x is neither", None),
    ("matfun(t -> s*t, L)", NotSupported, "s cannot occur in a function of t", 12),
    ("x[::2]", NotSupported, "a step other", 4), ("x[_q]", None, "", None),
    ("sin(x > 0)", ShapeError, "'sin' takes no comparison", 0),
    ("_q*x", UnknownName, "unknown name '_q'", 0),
]  # fmt: skip


@pytest.mark.parametrize(("text", "kind", "message", "at"), [case for case in OTHER if case[1] is not None])
def test_other_errors(text: str, kind: type, message: str, at: int | None) -> None:
    error = fault(text, LET)
    assert isinstance(error, kind)
    assert error.message.startswith(message)
    assert error.text == text
    assert at is None or error.at == at


def test_a_symbol_that_is_called_is_told_apart() -> None:
    assert "x[...] for a part" in fault("x(y)", LET).hint
    assert "x[2], counted from 0, for a part" in fault("x(3)", LET).hint
    assert "B[0, 1], counted from 0, for a part" in fault("A + B(1, 2)", LET).hint
    assert "w1[...] for a part" in fault("w1(0)", LET).hint
    assert "foo" not in fault("foo(x)", LET).hint
    assert "A[1:3, 0]" in fault("sum(A(:, 1))", LET).message


def test_to_the_t_is_refused_where_t_is_a_name() -> None:
    assert "^T is ambiguous" in fault("A^T", "A: matrix(n, m); T: scalar").message
    assert isinstance(fault("A^-T", "A: matrix(n, n); T: vector(n)"), ShapeError)


def test_unknown_dialect() -> None:
    assert isinstance(fault("x", dialect="fortran"), NotSupported)


def test_no_match_lists_signatures_in_bounded_length() -> None:
    error = fault("kron(x, T)", "x: vector(n); T: tensor(n, n, n)")
    assert error.hint.count("kron(") <= 4


def test_misplaced_comparison() -> None:
    assert isinstance(fault("hypot(x, x > 0)", LET), ParseError)


ORIGINS = [
    ("A*B", "m is the columns of A, declared A: matrix(n, m); k is the rows of B, declared B: matrix(k, p)", "~^~"),
    ("Z*x + Z*y", "n is the columns of Z, by Z*x; m is the length of y, declared y: vector(m)", "      ~^~"),
    ("S + A'*A", "m is the columns of A, declared A: matrix(n, m); n is the rows of S, declared S: matrix(n, n)",
     "~ ^ ~~~~"),
    ("hypot(x, A'*x)", "n is the length of x, declared x: vector(n); m is the columns of A, declared A: matrix(n, m)",
     "^     ~  ~~~~"),
    ("[A, B]", "n is the rows of A, declared A: matrix(n, m); k is the rows of B, declared B: matrix(k, p)", " ~  ^"),
    ("inv(A)", "n is the rows of A, declared A: matrix(n, m)", "^   ~"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "origin", "marks"), ORIGINS)
def test_errors_tell_where_sizes_come_from(text: str, origin: str, marks: str) -> None:
    error = fault(text, LET)
    assert origin in error.hint
    assert marks in [line.removeprefix("  ") for line in str(error).splitlines()]


def test_sizes_that_nothing_determines_are_asked_for() -> None:
    error = fault("kron(A, B)*z", "z: vector(6)")
    assert error.hint == "declare the sizes of A or B: A: matrix(m, n); B: matrix(k, p), undeclared"
    assert error.at == "kron(A, B)*z".index("*")


@pytest.mark.parametrize("declarations", ["z: vector(5)", "z: vector(n)"])
def test_no_sizes_fit(declarations: str) -> None:
    assert "no sizes make" in fault("[x; x] + z", declarations).message


def test_sizes_that_would_be_negative() -> None:
    error = fault("([x; y]'*z) + ([y; w]'*u) + ([x; w]'*v)", "z: vector(3); u: vector(1); v: vector(10)")
    assert error.message == "sizes would be negative: x: vector(6); y: vector(-3); w: vector(4)"


@pytest.mark.parametrize("declaration", ["X: matrix(2*m, n) spd", "X: matrix(m + 1, m) symmetric"])
def test_square_facts_of_other_shapes(declaration: str) -> None:
    error = fault("X", declaration)
    assert isinstance(error, ShapeError)
    assert error.at == declaration.rindex(" ") + 1
    assert isinstance(node("X", "X: matrix(m + n, n + m) spd"), Node)


RESHAPED = {
    "reshape(X, 5, 3)": "reshape(X, 5, 3): X (3 x 4) does not fit, 15 and 12 differ",
    "reshape(2*X', 5, 3)": "reshape(2*X', 5, 3): 2*X' (4 x 3) does not fit, 15 and 12 differ",
    "reshape(X, 5)": "reshape(X, 5): X (3 x 4) does not fill the shape (5)",
    "reshape(x, 2, 3)": "reshape: x (vector of 7) does not fit, 6 and 7 differ",
}


@pytest.mark.parametrize("text", RESHAPED)
def test_the_size_of_a_definition_is_told_of_its_call(text):
    """No operation that the definition uses is named."""
    with pytest.raises(ShapeError) as caught:
        mc.expression(text, "X: matrix(3, 4); x: vector(7)")
    assert str(caught.value).splitlines()[0] == RESHAPED[text]
