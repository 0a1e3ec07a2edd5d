"""Requested forms: equal in value by an oracle, and printed forms that read back to the same node."""

import numpy as np
import pytest

import matcalc as mc
from matcalc.commands import cli
from oracle.cases import identities
from oracle.data import SIZES, make
from oracle.values import evaluate

A, B, X = "A: matrix(n, n)", "B: matrix(n, n)", "X: matrix(m, n)"
SPD = "S: matrix(n, n) spd; C: matrix(n, n); b: vector(n)"

EXPANDED = [
    ("(A + B)*(A - B)", f"{A}; {B}", "A^2 - A*B + B*A - B^2"),
    ("norm2(X*w - y)^2", f"{X}; w: vector(n); y: vector(m)", "norm2(X*w)^2 - 2*y'*X*w + y'*y"),
    ("(t + 1)^3", "t: scalar", "t^3 + 3*t^2 + 3*t + 1"),
    ("(x + y).*(x - y)", "x: vector(n); y: vector(n)", "x.^2 - y.^2"),
    ("exp((s + t)*x)", "s: scalar; t: scalar; x: vector(n)", "exp(s*x + t*x)"),
]
COLLECTED = [
    ("A*x + B*x + x + c", "x", f"{A}; {B}; x: vector(n); c: vector(n)", "(A + B + eye(n))*x + c"),
    ("x'*A*x + b'*x + x'*B*x", "x", f"{A}; {B}; x: vector(n); b: vector(n)", "x'*(A + B)*x + b'*x"),
    ("a*t^2 + b*t + c*t^2 - t + 1", "t", "a: scalar; b: scalar; c: scalar; t: scalar", "t^2*(a + c) + t*(b - 1) + 1"),
    ("(A - B)*X*C + D*X*C + X", "X", "A: matrix(n, n); B: matrix(n, n); C: matrix(n, n); D: matrix(n, n);"
     "X: matrix(n, n)", "(A - B + D)*X*C + X"),
    ("A*x + exp(x) + B*x", "x", f"{A}; {B}; x: vector(n)", "(A + B)*x + exp(x)"),
    ("a*x[0] + x[1]*x[0]^2 + x[0]*x[1]", "x[0]", "x: vector(n); a: scalar", "x[0]^2*x[1] + (a + x[1])*x[0]"),
    ("A*X[0, :] + B*X[0, :] + A*X[1, :]", "X[0, :]", f"{A}; {B}; X: matrix(2, n)", "(A + B)*X[0, :] + A*X[1, :]"),
]  # fmt: skip
COEFFICIENTS = [
    ("A*x + b", "x", 1, f"{A}; x: vector(n); b: vector(n)", "A"),
    ("A*x + b", "x", 0, f"{A}; x: vector(n); b: vector(n)", "b"),
    ("b'*x + x'*A*x", "x", 1, f"{A}; x: vector(n); b: vector(n)", "b"),
    ("b'*x + x'*A*x", "x", 2, f"{A}; x: vector(n); b: vector(n)", "(A + A')/2"),
    ("tr(A'*X) + 3*tr(X)", "X", 1, f"{A}; X: matrix(n, n)", "A + 3*eye(n)"),
    ("(t + 2)^3", "t", 2, "t: scalar", "6"),
    ("a*x[0] + x[1]*x[0]^2 + x[0]*x[1]", "x[0]", 1, "x: vector(n); a: scalar", "a + x[1]"),
    ("x'*A*x", "x[0]", 2, f"{A}; x: vector(n)", "A[0, 0]"),
    ("x'*A*x", "x[0]", 1, f"{A}; x: vector(n)", "((A + A')*x)[0] - 2*A[0, 0]*x[0]"),
    ("A*X[0, :] + B*X[0, :] + A*X[1, :]", "X[0, :]", 1, f"{A}; {B}; X: matrix(2, n)", "A + B"),
    ("t*A + t^2*B", "t", 2, f"{A}; {B}; t: scalar", "B"),
    ("A*x", "y", 1, f"{A}; x: vector(n); y: vector(n)", "zeros(n, n)"),
]
SOLVED = [
    ("inv(S)*b", SPD, "S\\b"),
    ("b'*inv(S)*b", SPD, "b'*(S\\b)"),
    ("C*inv(S)", SPD, "(S\\C')'"),
    ("inv(C)*b + b", SPD, "C\\b + b"),
    ("b'*inv(C)", SPD, "C'\\b"),
    ("inv(S)*C*inv(S)", SPD, "(S\\(S\\C)')'"),
    ("tr(C*inv(S))", SPD, "tr(S\\C)"),
    ("inv(X'*X)*X'*y", f"{X}; y: vector(m)", "(X'*X)\\(X'*y)"),
    ("logdet(S) + 2*inv(S)[0, 0]", SPD, "logdet(S) + 2*inv(S)[0, 0]"),
]
INDEXED = [
    ("A*x", f"{A}; x: vector(n)", "{i: A[i,j]*x[j]}"),
    ("tr(A*B)", f"{A}; {B}", "{: A[i,j]*B[j,i]}"),
    ("X'*X", X, "{i,j: X[k,i]*X[k,j]}"),
    ("diag(x)*A", f"{A}; x: vector(n)", "{i,j: A[i,j]*x[i]}"),
    ("x./y", "x: vector(n); y: vector(n)", "{i: x[i]/y[i]}"),
    ("exp(A*x)", f"{A}; x: vector(n)", "{i: exp(A[i,j]*x[j])}"),
    ("tril(A*B)", f"{A}; {B}", "{i,j: A[i,k]*B[k,j]*[i >= j]}"),
]
GRADIENTS = [case for case in identities() if case.kind == "gradient"]


def ids(cases):
    return [case[0] for case in cases]


def same(e, text, let):
    """Check a form against its source text: by value, and that it reads back to its node."""
    assert mc.expression(str(e), e.declarations).node is e.node
    data = make(let, 3, sizes=SIZES)
    expected = np.squeeze(evaluate(text, data, SIZES))
    found = np.squeeze(e(**{name: data.get(name, SIZES.get(name)) for name in e.symbols}))
    assert np.max(np.abs(found - expected), initial=0.0) <= 1e-9 * max(np.max(np.abs(expected), initial=0.0), 1e-9)


@pytest.mark.parametrize(("text", "let", "expected"), EXPANDED, ids=ids(EXPANDED))
def test_expand(text, let, expected):
    e = mc.expression(text, let)
    same(e.expand(), text, let)
    assert e.expand().node is mc.expression(expected, let).node
    assert e.expand().factor().expand().node is e.expand().node


@pytest.mark.sampled(20)
@pytest.mark.parametrize("case", GRADIENTS, ids=lambda case: case.id)
def test_expand_and_factor_are_opposite(case):
    """On formulas from books: expanding undoes factoring, and neither changes the value."""
    e = mc.expression(case.text, case.let)
    data = case.sample()
    given = {name: data.get(name, SIZES.get(name)) for name in e.symbols}
    expected = e(**given)
    for made in (e.expand(), e.factor(), e.expand().factor()):
        assert made(**given) == pytest.approx(expected, rel=1e-7, abs=1e-9)
        assert made.expand().node is e.expand().node


@pytest.mark.parametrize(("text", "x", "let", "expected"), COLLECTED, ids=ids(COLLECTED))
def test_collect(text, x, let, expected):
    e = mc.expression(text, let)
    same(e.collect(x), text, let)
    assert e.collect(x).node is mc.expression(expected, let).node


@pytest.mark.sampled(3)
@pytest.mark.parametrize(("text", "x", "degree", "let", "expected"), COEFFICIENTS)
def test_coefficient(text, x, degree, let, expected):
    found = mc.expression(text, let).coefficient(x, degree)
    assert mc.equivalent(found, expected, let), str(found)


def test_coefficient_of_a_matrix_in_the_middle():
    let = "A: matrix(m, n); X: matrix(n, k); B: matrix(k, p)"
    found = mc.expression("A*X*B", let).coefficient("X")
    assert found.shape == ("m", "p", "n", "k")
    rng = np.random.default_rng(0)
    a, x, b = rng.standard_normal((2, 3)), rng.standard_normal((3, 4)), rng.standard_normal((4, 2))
    assert np.allclose(np.tensordot(found(A=a, X=x, B=b), x, 2), a @ x @ b)


@pytest.mark.parametrize(("text", "let", "expected"), SOLVED, ids=ids(SOLVED))
def test_solve_form(text, let, expected):
    e = mc.expression(text, let).rewrite("solve")
    assert str(e) == expected
    assert e.node is mc.expression(text, let).node
    same(e, text, let)
    assert str(e.rewrite("inv")) == str(mc.expression(text, let))


@pytest.mark.parametrize(("text", "let", "expected"), INDEXED, ids=ids(INDEXED))
def test_index_form(text, let, expected):
    e = mc.expression(text, let).rewrite("index")
    assert str(e).replace("l", "k") == expected.replace("l", "k")
    same(e, text, let)


@pytest.mark.parametrize("case", GRADIENTS, ids=lambda case: case.id)
@pytest.mark.sampled(48)
def test_every_form_reads_back(case):
    for e in (mc.expression(case.text, case.let), mc.gradient(case.text, case.wrt, case.let)):
        for form in ("index", "solve", "inv"):
            made = e.rewrite(form)
            assert made.node is e.node
            assert mc.expression(str(made), made.declarations).node is e.node


def test_kronecker_form():
    let = "A: matrix(m, n); X: matrix(n, k); B: matrix(k, p)"
    assert str(mc.jacobian("A*X*B", "X", let).rewrite("kron")) == "kron(B', A)"
    assert str(mc.jacobian("X*x", "X", "X: matrix(m, n); x: vector(n)").rewrite("kron")) == "kron(x', eye(m))"
    hessian = mc.hessian("norm2(M - U*V')^2", "U", "M: matrix(m, n); U: matrix(m, k); V: matrix(n, k)")
    assert str(hessian.rewrite("kron")) == "2*kron(V'*V, eye(m))"


KRONECKER = [
    ("logdet(S)", "S", "S: matrix(n, n) spd", "-kron(inv(S), inv(S))/2 - kron(inv(S), inv(S))*commutation(n, n)/2"),
    ("tr(X'*A*X*B)", "X", "X: matrix(m, n); A: matrix(m, m); B: matrix(n, n)", "kron(B', A) + kron(B, A')"),
    ("norm2(X'*X)^2/4", "X", "X: matrix(m, n)",
     "kron(X', X)*commutation(m, n) + kron(X'*X, eye(m)) + kron(eye(n), X*X')"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "wrt", "let", "expected"), KRONECKER, ids=ids(KRONECKER))
def test_hessians_are_sums_of_kronecker_products(text, wrt, let, expected):
    e = mc.hessian(text, wrt, let, layout="vec")
    assert "{" not in str(e)
    assert mc.expression(str(e), e.declarations).node is e.node
    data = make(let, 3, sizes=SIZES)
    found = e(**{name: data.get(name, SIZES.get(name)) for name in e.symbols})
    assert np.allclose(found, evaluate(expected, data, SIZES))


COMMANDS = [
    (["(A + B)*x", "--to", "expand"], "A*x + B*x"),
    (["A*x + B*x"], "(A + B)*x"),
    (["A*x + B*x + c", "--to", "collect", "--of", "x"], "(A + B)*x + c"),
    (["A*x + c", "--to", "coefficient", "--of", "x"], "A"),
    (["inv(A)*b", "--to", "solve"], "A\\b"),
    (["A*x", "--to", "index", "--as", "latex"], None),
]


@pytest.mark.parametrize(("arguments", "expected"), COMMANDS)
def test_command(arguments, expected, capsys):
    assert cli.main(["rewrite", *arguments]) == 0
    out = capsys.readouterr().out.strip()
    assert out == expected if expected is not None else out


def test_command_needs_a_symbol(capsys):
    assert cli.main(["rewrite", "A*x", "--to", "collect"]) == 2
    assert "--of" in capsys.readouterr().err


def test_tensors_are_written_term_by_term():
    assert str(mc.jacobian("x*x'", "x", "x: vector(n)")) == "{i,j,k: x[j]*eye(n)[k,i] + x[i]*eye(n)[k,j]}"


@pytest.mark.whole
def test_faults():
    e = mc.expression("exp(x) + A*x")
    with pytest.raises(mc.NotSupported, match="exp"):
        e.coefficient("x")
    with pytest.raises(mc.UnknownName):
        e.collect("z")
    with pytest.raises(mc.UnknownName):
        e.collect("z[0]")
    with pytest.raises(mc.NotDifferentiable, match="S is symmetric"):
        mc.expression("S[0, 1]^2", "S: matrix(n, n) symmetric").collect("S[0, 1]")
    with pytest.raises(mc.NotSupported, match="solve, inv, index, kron"):
        e.rewrite("latex")
    with pytest.raises(mc.NotSupported, match="Kronecker"):
        e.rewrite("kron")
    with pytest.raises(mc.NotSupported, match="terms"):
        mc.expression("*".join(f"(a{k} + b{k})" for k in range(13)), "; ".join(
            f"a{k}: scalar; b{k}: scalar" for k in range(13))).expand()  # fmt: skip
