"""`mc.check`: derivatives, and users' formulas for them, against the values alone."""

from dataclasses import replace

import pytest

import matcalc as mc
from matcalc.compiler.plan import plan
from matcalc.compiler.program import Loop
from matcalc.pipeline import build
from matcalc.tensor.sizes.size import Size

LEAST_SQUARES = "norm2(X*w - y)^2"
RIGHT = [
    (LEAST_SQUARES, "w", "", None),
    (LEAST_SQUARES, ["X", "w"], "", None),
    (LEAST_SQUARES, "w", "", "2*X'*(X*w - y)"),
    (LEAST_SQUARES, "w", "", "2*X'*X"),
    (LEAST_SQUARES, "w", "", "2*(X*w - y)'*X*dw"),
    ("A*X*B", "X", "", None),
    ("A*X*B", "X", "", "kron(B', A)"),
    ("A*X*B", "X", "", "A'*G*B'"),
    ("A*X*B", "X", "", "{i,j,k,l: A[i,k]*B[l,j]}"),
    ("logdet(S) + tr(inv(S)*C)", "S", "S: matrix(n, n) spd; C: matrix(n, n) symmetric", None),
    ("logdet(S)", "S", "S: matrix(n, n) spd", "inv(S)"),
    ("sum(sqrt(x - y)) + pi", "x", "", None),
    ("chol(S)", "S", "S: matrix(n, n) spd", None),
    ("sum(x)/n", "x", "x: vector(n)", None),
]
WRONG = [
    (LEAST_SQUARES, "w", "", "X'*(X*w - y)"),
    ("logdet(S)", "S", "S: matrix(n, n) spd", "2*inv(S) - diag(diag(inv(S)))"),
    ("x'*A*x", "x", "", "2*A*x"),
    ("x'*A*x", "x", "", "2*A"),
    ("A*X*B", "X", "", "kron(B, A')'.*(1 + 0*kron(B', A)) + kron(B', A)*0 + 1"),
    ("A*X*B", "X", "", "A'*G*B' + 0.001*X"),
]


@pytest.mark.parametrize(("f", "wrt", "let", "against"), RIGHT)
@pytest.mark.sampled(8)
def test_right(f, wrt, let, against):
    report = mc.check(f, wrt, let, against)
    assert report
    assert str(report).endswith("all right")


@pytest.mark.sampled(6)
@pytest.mark.parametrize(("f", "wrt", "let", "against"), WRONG)
def test_wrong(f, wrt, let, against):
    report = mc.check(f, wrt, let, against)
    assert not report
    assert "WRONG" in str(report) and ", not " in str(report)


COMPILED = [
    ("logdet(S) + tr(inv(S)*C)", "S", "S: matrix(n, n) spd; C: matrix(n, n) symmetric", None),
    ("conv(z, w)", "z", "z: vector(n); w: vector(n)", None),
    ("x'*A*x", "x", "A: matrix(n, n) symmetric", "2*A*x"),
]


@pytest.mark.parametrize(("f", "wrt", "let", "against"), COMPILED)
@pytest.mark.whole
def test_compiled_code_is_run_and_interpreted(f, wrt, let, against):
    report = mc.check(f, wrt, let, against, compiled=True)
    assert report, report
    ways = {row.what.rpartition(", ")[2] for row in report.rows}
    assert {"interpreted", "numba", "numpy"} <= ways
    assert any(row.what.startswith("value, ") for row in report.rows)


def test_a_program_that_is_wrong_is_found_and_not_run(monkeypatch):
    """The planner's own program for a formula with one index shifted, a fault that plain evaluation cannot show."""
    assert mc.check("conv(z, w)", "z", "z: vector(n); w: vector(n)")
    monkeypatch.setattr(build, "plan", lambda *args, **more: moved(plan(*args, **more)))
    report = mc.check("conv(z, w)", "z", "z: vector(n); w: vector(n)", compiled=True)
    assert not report
    wrong = [row for row in report.rows if not row.is_right]
    assert wrong and all(row.what.endswith(", interpreted") and "RunFault" in row.worst for row in wrong)
    assert not any(row.what.endswith((", numba", ", numpy")) for row in report.rows)


def moved(program):
    """Return a program whose last loop stores one entry further."""
    place = max(k for k, step in enumerate(program.steps) if isinstance(step, Loop) and step.stores)
    loop = program.steps[place]
    (store, *rest) = loop.stores
    at = tuple((Size.of(k) if isinstance(k, str) else k) + 1 for k in store.at)
    steps = list(program.steps)
    steps[place] = replace(loop, stores=(replace(store, at=at), *rest))
    return replace(program, steps=tuple(steps))


def test_what_a_target_refuses_is_said():
    """A value that SciPy computes has no form for Numba."""
    mc.define("nine_thirds(x: entry) -> entry", "sp.cbrt(x)**9", derivative="3*x^2")
    report = mc.check("sum(nine_thirds(x))", "x", compiled=True)
    assert report and report.untested
    assert "not compiled for numba: nine_thirds has no form for the target numba" in str(report)
    assert any(row.what.endswith(", numpy") for row in report.rows)


MISTAKES = [
    (LEAST_SQUARES, "w", "", "X'*(X*w - y)", "a factor of 1/2"),
    (LEAST_SQUARES, "w", "", "2*X'*(y - X*w)", "the sign"),
    (LEAST_SQUARES, "w", "", "(X*w - y)'*X*dw", "a factor of 1/2"),
    ("logdet(S)", "S", "S: matrix(n, n) spd", "2*inv(S) - diag(diag(inv(S)))", "the convention for symmetric"),
    ("x'*A*x", "x", "A: matrix(n, n)", "2*A*x", "A taken for symmetric"),
    ("tr(A*X*B)", "X", "A: matrix(n, n); X: matrix(n, n); B: matrix(n, n)", "B*A", "transposed"),
    ("tr(A*X*B)", "X", "A: matrix(n, n); X: matrix(n, n); B: matrix(n, n)", "B'*A'", "A and B exchanged"),
    ("tr(A*X)", "X", "A: matrix(n, n); X: matrix(n, n)", "A", "transposed"),
    ("A*X*B", "X", "A: matrix(n, n); X: matrix(n, n); B: matrix(n, n)", "kron(A, B')", "operands in the wrong order"),
    ("A*x", "x", "A: matrix(m, n)", "A'", "transposed"),
    ("tr(A*X)", "X", "A: matrix(n, m); X: matrix(m, n)", "A", "transposed"),
    ("A*X*B", "X", "A: matrix(n, n); X: matrix(n, n); B: matrix(n, n)", "A*G*B'", "A for A'"),
    ("norm2(A*x - B*y)^2", "x", "A: matrix(n, n); B: matrix(n, n)", "2*B'*(A*x - B*y)", ""),
]


@pytest.mark.sampled(24)
@pytest.mark.parametrize(("f", "wrt", "let", "against", "mistake"), MISTAKES)
def test_likely_mistakes_are_named(f, wrt, let, against, mistake):
    report = mc.check(f, wrt, let, against)
    assert not report
    assert report.mistake.startswith(mistake)
    assert bool(report.mistake) == bool(mistake)
    assert str(report).splitlines()[-1] == f"it should be: {report.right}"
    if "G" not in against and f"d{wrt}" not in against:
        assert mc.check(f, wrt, let, report.right)


def test_several_sizes_and_the_worst_entry():
    report = mc.check("sum(x.^3)", "x", against="3*x.^2 + 1e-3*[1; 0*x[1:]]")
    wrong = [row for row in report.rows if not row.is_right]
    assert len({row.sizes for row in report.rows}) >= 2
    assert wrong and all(row.worst.startswith("[0] ") for row in wrong)


def test_what_cannot_be_compared():
    with pytest.raises(mc.ShapeError, match="against is"):
        mc.check(LEAST_SQUARES, "w", against="X*X'")
    with pytest.raises(mc.UnknownName):
        mc.check(LEAST_SQUARES, "z")
    with pytest.raises(mc.ShapeError, match="no random data"):
        mc.check("sum(log(-exp(x)))", "x")


@pytest.mark.sampled(4)
@pytest.mark.parametrize("formula", ["det(X'*X)", "det(X'*A*X)", "det(X'*A*X)*sum(X)", "det(exp(A)*X'*X)"])
def test_a_value_that_is_rounding_alone_is_left_out(formula):
    report = mc.check(formula, "X", declarations="X: matrix(m, n)")
    assert report
    assert "m=3, n=4" not in str(report)


DIFFERENTIALS = [
    ("inv(X)", "X", "-inv(X)*dX*inv(X)"),
    ("X*X", "X", "dX*X + X*dX"),
    ("X'*X", "X", "dX'*X + X'*dX"),
    ("tr(X)", "X", "tr(dX)"),
    ("A*X*B", "X", "A*dX*B"),
    ("x*x'", "x", "dx*x' + x*dx'"),
    ("lam^2*x", "lam", "2*lam*dlam*x"),
]


@pytest.mark.sampled(9)
@pytest.mark.parametrize(("f", "wrt", "right"), DIFFERENTIALS)
def test_a_tangent_that_nobody_declared_is_of_the_kind_of_its_variable(f, wrt, right):
    """At several sizes: `dX` is spelled as a vector, so X would have to be 1 x 1."""
    report = mc.check(f, wrt, against=right)
    assert report and len({row.sizes for row in report.rows}) == 3
    assert not mc.check(f, wrt, against=f"2*({right})")
    assert mc.differential(f, wrt) == mc.expression(right, mc.differential(f, wrt).declarations)


NEEDY = [
    ("(y - X*b)'*Z*inv(Z'*Z)*Z'*(y - X*b)", "b", "2*X'*Z*inv(Z'*Z)*Z'*(X*b - y)"),
    ("tr(inv(X'*X)*X'*A*X)", "A", "X*inv(X'*X)*X'"),
    ("norm2(y - X*inv(X'*X)*X'*y)^2", "y", "2*(y - X*inv(X'*X)*X'*y)"),
    ("b'*inv(A*B*A')*b", "b", "(inv(A*B*A') + inv(A*B*A')')*b"),
]
"""Formulas that have a value only where an inverse has full rank, with their gradients."""


@pytest.mark.whole
@pytest.mark.parametrize(("f", "wrt", "gradient"), NEEDY)
def test_no_verdict_comes_from_sizes_at_which_there_is_no_value(f, wrt, gradient):
    """There numbers are rounding errors, and one of two correct formulas would be reported as wrong."""
    assert mc.expression(f).needs
    assert mc.check(f, wrt) and mc.check(f, wrt, against=gradient)
    assert len({row.sizes for row in mc.check(f, wrt).rows}) > 1
    assert mc.equivalent(mc.gradient(f, wrt), mc.expression(gradient, mc.gradient(f, wrt).declarations))
    assert not mc.check(f, wrt, against=f"1.01*({gradient})")


@pytest.mark.parametrize("f", ["inv(Z'*Z)*Z'*Z*x", "Z'*Z*inv(Z'*Z)*x", "inv(A*Z)*A*Z*x"])
@pytest.mark.sampled(4)
def test_equal_formulas_have_no_counterexample_where_the_first_has_no_value(f):
    assert mc.equivalent(f, "x", "x: vector(n)")
    assert not mc.equivalent(f, "2*x", "x: vector(n)")


@pytest.mark.whole
@pytest.mark.parametrize(
    "f", ["sum((w.*(S*w)/(w'*S*w) - 1/n).^2)", "sum((w/sum(w) - 1/n).^2)", "sum((w.^2/(w'*w) - 1/n).^2)"]
)
def test_what_is_rounding_alone_is_not_called_wrong(f):
    """At n = 1 these formulas and all their derivatives vanish."""
    report = mc.check(f, "w", "S: matrix(n, n) spd; w: vector(n)")
    assert report and any(row.sizes == "n=1" for row in report.rows)


CHAOTIC = {
    "a steep sine": ("x[{N}] where x[0] = s, x[t+1] = 3*sin(4*x[t]), t < {N}", "s: scalar", (5, 8, 40)),
    "with kinks": (
        "sum(x[{N}]) where x[0] = s, x[t+1] = cos(5*x[t]) + abs(x[t])/2, t < {N}",
        "s: vector(n)",
        (6, 11, 18),
    ),
    "logistic": (
        "x[{N}] where x[0] = 1/(1 + exp(-s)), x[t+1] = 3.9*x[t]*(1 - x[t]), t < {N}",
        "s: scalar",
        (18, 28, 60),
    ),
}


@pytest.mark.whole
@pytest.mark.parametrize(("kind", "steps"), [(kind, n) for kind, (*_, lengths) in CHAOTIC.items() for n in lengths])
def test_chaotic_steps_are_right_or_not_checked(kind, steps):
    """The gradients are right: a long recurrence multiplies the slopes of its steps, as for few steps."""
    text, let, _ = CHAOTIC[kind]
    try:
        report = mc.check(text.format(N=steps), "s", let)
    except mc.ShapeError as refused:
        assert "rounding decides" in str(refused)  # noqa: PT017
        return
    assert "WRONG" not in str(report)
    assert bool(report) == any(row.is_right for row in report.rows)
    assert ("not checked" in str(report)) == any(row.is_open for row in report.rows)


@pytest.mark.whole
@pytest.mark.parametrize("steps", [3, pytest.param(6, marks=pytest.mark.whole)])
def test_a_wrong_gradient_of_steep_steps_is_found(steps):
    text, let, _ = CHAOTIC["a steep sine"]
    right = mc.gradient(mc.expression(text.format(N=steps), let), "s")
    assert mc.check(text.format(N=steps), "s", let, against=right)
    assert not mc.check(text.format(N=steps), "s", let, against=f"1.001*({right})")
