"""Names that are close to a declared one, nan, and powers with raised digits."""

import pytest

import matcalc as mc
from matcalc.commands.cli import main
from matcalc.solvers import problem, root


@pytest.mark.parametrize(
    ("text", "let", "other"),
    [
        ("x'*Sigm*x", "Sigma: matrix(n, n); x: vector(n)", "Sigma"),
        ("sum(weights.^2)", "weigths: vector(n)", "weigths"),
        ("beta0*x", "beta_0: scalar; x: vector(n)", "beta_0"),
    ],
)
def test_a_slip_of_a_declared_name_is_refused(text, let, other):
    with pytest.raises(mc.UnknownName, match="is not declared, and no formula uses") as caught:
        mc.expression(text, let)
    assert f"write {other}" in caught.value.hint and caught.value.text == text


@pytest.mark.parametrize(("text", "let"), [("a'*x", "x: vector(n)"), ("x'*y_1", "x: vector(n); n: size")])
def test_other_undeclared_names_are_read(text, let):
    assert str(mc.expression(text, let)) == text


@pytest.mark.parametrize(
    ("text", "let", "hint"),
    [
        ("a'*x", "x: vector(n); b: vector(n)", "write a for b, declare a, or leave b out"),
        ("norm2(Lam*x + c)", "Lambda: matrix(m, n); x: vector(n)", "write Lam or c for Lambda"),
    ],
)
def test_a_declared_name_without_use_beside_an_undeclared_name_is_refused(text, let, hint):
    with pytest.raises(mc.UnknownName, match="is declared, and no formula uses it; .* not declared") as caught:
        mc.expression(text, let)
    assert hint in caught.value.hint and caught.value.text == let
    with pytest.raises(mc.UnknownName, match="no formula uses it"):
        mc.compile(["x", text], declarations=let)


S, D = "norm2(A*z - b)^2", "Z: vector(n); A: matrix(m, n)"
COMMANDS = ("gradient", "jacobian", "hessian", "differential", "hvp", "explain", "check", "convex")
ENTRIES = {
    "expression": lambda: mc.expression(S, D),
    "gradient": lambda: mc.gradient(S, "z", D),
    "gradients": lambda: mc.gradient(S, ["z", "b"], D),
    "hessian": lambda: mc.hessian(S, "z", D),
    "jacobian": lambda: mc.jacobian("A*z - b", "z", D),
    "differential": lambda: mc.differential(S, "z", D),
    "vjp": lambda: mc.vjp("A*z", "z", D),
    "jvp": lambda: mc.jvp(S, "z", D),
    "hvp": lambda: mc.hvp(S, "z", D),
    "compile": lambda: mc.compile({"loss": S, "fit": "A*z"}, declarations=D),
    "value_and_gradient": lambda: mc.value_and_gradient(S, "z", D),
    "check": lambda: mc.check(S, "z", D),
    "check against": lambda: mc.check(S, "z", D, against="2*A'*(A*z - b)"),
    "equivalent": lambda: mc.equivalent(S, "norm2(b - A*z)^2", D),
    "convex": lambda: mc.convex(S, "z", D),
    "structure": lambda: mc.structure(S, D),
    "plain": lambda: mc.plain(S, D),
    "split": lambda: mc.split(S, over="m", declarations=D),
    "problem": lambda: problem(S, "z", declarations=D),
    "root": lambda: root("A*z - b", "z", declarations=D),
    "minimize": lambda: mc.minimize(S, "z", start={"z": [1.0]}, data={"A": [[1.0]], "b": [1.0]}, declarations=D),
    "in LaTeX": lambda: mc.gradient(r"\|A z - b\|^2", "z", D, dialect="latex"),
    "in NumPy": lambda: mc.gradient("np.sum((A @ z - b)**2)", "z", D, dialect="numpy"),
    "from a dictionary": lambda: mc.gradient(S, "z", {"Z": "vector(n)", "A": "matrix(m, n)"}),
}


@pytest.mark.parametrize("name", ENTRIES)
def test_every_function_refuses_a_declared_name_without_use(name):
    with pytest.raises(mc.UnknownName, match="Z is declared, and no formula uses it; z is not declared") as caught:
        ENTRIES[name]()
    assert caught.value.hint == "write z for Z, declare z, or leave Z out"


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_refuses_a_declared_name_without_use(command, capsys):
    assert main([command, S, "--wrt", "z", "--let", D]) == 2
    assert "Z is declared, and no formula uses it; z is not declared" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("read", "let"),
    [
        (lambda let: mc.compile(["a'*x", "c + sum(b)"], declarations=let).args, "x: vector(n); b: vector(n)"),
        (lambda let: mc.gradient("a'*y", "x", let), "x: vector(n); y: vector(n)"),
        (lambda let: mc.expression("root(Y - A - tanh(Y)/c, Y, start=A)", let), "A: vector(n); Y: vector(n)"),
        (lambda let: mc.expression("a'*ones(n)*q", let), "n: size; q: scalar"),
        (lambda let: mc.compile("a*y", ["x", "y", "a"], declarations=let), "x: vector(n); y: vector(n); a: scalar"),
    ],
)
def test_names_of_other_formulas_of_variables_and_of_sizes_are_used(read, let):
    assert read(let) is not None


def test_declarations_of_an_expression_may_hold_a_variable_that_dropped_out():
    e = mc.gradient("a'*x", "x", "x: vector(n)")
    assert e.declarations == "x: vector(n); a: vector(n), undeclared" and mc.expression(str(e), e.declarations) == e


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("‖x‖", "norm2(x)"),
        ("‖A*x - ‖x‖*x‖² + 2*‖A‖^2", "norm2(A*x - norm2(x)*x)^2 + 2*norm2(A)^2"),
        ("A⊗A ⊗ A", "kron(A, A, A)"),
        ("(A⊗A)*kron(x, x)", "kron(A, A)*kron(x, x)"),
        ("π*x", "pi*x"),
        ("normcdf(x)", "erfc(-x/sqrt(2))/2"),
        ("||A*x - x||^2", "norm2(A*x - x)^2"),
        ("∥x∥ + 2*∥A*x − y∥²", "norm2(x) + 2*norm2(A*x - y)^2"),
        ("‖x‖_1 + ‖x‖₂ + ||x||_3", "norm1(x) + norm2(x) + norm(x, 3)"),
        ("||A||_F^2 + ‖A‖_2", "norm2(A)^2 + norm(A, 2)"),
        ("½*x + ⅔*x", "x/2 + 2/3*x"),
        ("√(x'*x) + ∑{i: x[i]}*∏(x)", "sqrt(x'*x) + sum(x)*prod(x)"),
        ("A/A'*x", "A*inv(A')*x"),
        ("x'/A", "x'*inv(A)"),
        ("tr(A/(A + A'))", "tr(A*inv(A + A'))"),
        ("A*I where I = eye(n)", "A"),
    ],
)
def test_signs_of_papers(text, same):
    let = "A: matrix(n, n); x: vector(n)"
    assert mc.expression(text, let).node is mc.expression(same, let).node


@pytest.mark.parametrize(
    ("text", "message", "hint"),
    [
        ("A⊗B*C", "'⊗' beside '\\*' needs parentheses", "write (A ⊗ B)*C or A*(B ⊗ C), or kron(A, B)"),
        ("‖x", "'‖' is never closed", "write ‖x‖, or norm2(x)"),
        ("2‖x‖", "'‖' after an operand closes a norm", "write 2*‖x‖"),
        ("A^H", "cannot raise A", "write A' for the transpose"),
        ("2*∞", "unexpected character '∞'", "write inf"),
        ("x*True", "True is not in the language", "write a comparison"),
        ("Inf + x", "Inf is not in the language", "write inf"),
        ("NaN*x", "nan is no number", "leave such entries out"),
        ("logdet(I + A*A')", "I is not declared, and is no identity here", "write eye(n) for the identity"),
        ("A/B", "cannot divide A", "or A*inv(B)"),
        ("1/A", "cannot divide", "write 1./A for entries, or inv(A)"),
        ("‖x‖y", "'y' after a norm names no norm", "write ‖x‖_2*y"),
        ("½‖x‖", "expected an operator between '½' and '‖'", "write a '*'"),
        ("|x|", "unexpected character '|'", "write abs(x) for magnitudes, det(x) for a determinant"),
        ("x₁", "unexpected character '₁'", "write x[0] for an entry"),
        ("Σ_i (x - y)", "unknown function 'Σ_i'", "write  sum{i: x[i]^2}"),
        ("∑ᵢ x", "expected an operator", "write sum{i: x[i]^2} for a sum over an index"),
        ("sum(x[i] for i in n)", "expected an operator", "write sum{i: x[i]^2}"),
        ("where(x > 0 and x < 1, x, 0)", "expected an operator", "there are no logical operators"),
        ("A:B", "':' is only allowed", "is sum(A.*B)"),
        ("<A, B>", "expected an operand before '<'", "write x'*y for an inner product"),
        ("sum(X.^2, 1)", "'sum' does not take", "sum(..., axis=1)"),
        ("A⁻¹b", "expected an operator between 'A⁻¹' and 'b'", "write A⁻¹*b"),
    ],
)
def test_signs_that_are_refused_name_what_is_read(text, message, hint):
    with pytest.raises((mc.ParseError, mc.ShapeError, mc.UnknownName), match=message) as caught:
        mc.expression(text)
    assert hint in caught.value.hint


@pytest.mark.whole
@pytest.mark.parametrize(
    ("text", "wrt", "gradient"),
    [
        ("tr(S^t)", "S", "t*S^(t - 1)"),
        ("tr(S^t)", "t", "tr(logm(S)*S^t)"),
        ("x'*S^(-t)*x", "x", "2*S^-t*x"),
        ("logdet(S^(2*t + 1))", "S", "(1 + 2*t)*inv(S)"),
    ],
)
def test_powers_with_a_scalar_exponent(text, wrt, gradient):
    e = mc.gradient(text, wrt, "S: matrix(n, n) spd; t: scalar" + ("; x: vector(n)" if "x" in text else ""))
    assert str(e) == gradient and mc.expression(str(e), e.declarations).node is e.node
    assert mc.check(text, wrt, declarations=e.declarations, compiled=False)


def test_a_power_of_an_undeclared_small_name_is_one_of_a_scalar():
    assert mc.expression("x^k").declarations == "x: scalar, undeclared; k: scalar, undeclared"


def test_nan_is_refused():
    with pytest.raises(mc.UnknownName, match="nan is no number"):
        mc.expression("where(x > 0, x, nan)", "x: vector(n)")


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("s²", "s^2"),
        ("A⁻¹*x", "inv(A)*x"),
        ("A¹⁰", "A^10"),
        ("sum(x)² + s⁻³", "sum(x)^2 + s^(-3)"),
        ("(A*A)²", "(A*A)^2"),
    ],
)
def test_raised_digits(text, same):
    let = "A: matrix(n, n) nonsingular; x: vector(n); s: scalar"
    assert mc.expression(text, let).node is mc.expression(same, let).node
