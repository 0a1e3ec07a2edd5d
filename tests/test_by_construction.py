"""Equal formulas are one object: identities that the normal form contains, without a rule."""

import itertools

import pytest

import matcalc as mc
from matcalc.rulebook.load import default_rulebook

LET = "A: matrix(m, n); B: matrix(n, p); C: matrix(p, m); E: matrix(m, k); X: matrix(n, p); D: matrix(p, q)"
SQUARE = "A: matrix(n, n) nonsingular; B: matrix(n, n) nonsingular; X: matrix(n, n); x: vector(n); y: vector(n)"

RECTANGULAR = [
    ("A''", "A"),
    ("(A*B)'", "B'*A'"),
    ("tr(A*B*C)", "tr(C*A*B)"),
    ("tr(A*B*C)", "tr(B*C*A)"),
    ("tr(A*B*C)", "tr(C'*B'*A')"),
    ("vec(A*X*D)", "kron(D', A)*vec(X)"),
    ("A*(B*C)", "(A*B)*C"),
    ("sum(A)", "ones(m)'*A*ones(n)"),
    ("tr(A'*A)", "sum(A.*A)"),
    ("norm2(A)^2", "tr(A*A')"),
    ("A*eye(n)*B", "A*B"),
    ("2*(3*A)", "6*A"),
    ("A - A", "zeros(m, n)"),
    ("A.^2", "A.*A"),
]
SQUARES = [
    ("(A + B)'", "A' + B'"),
    ("(A - 2*B)'", "A' - 2*B'"),
    ("inv(A*B)'", "inv(B'*A')"),
    ("inv(2*A)", "0.5*inv(A)"),
    ("inv(A')", "inv(A)'"),
    ("det(A')", "det(A)"),
    ("x'*A*y", "y'*A'*x"),
    ("x'*A*x", "tr(A*x*x')"),
    ("(A.*B)'", "A'.*B'"),
    ("diag(x)*A", "(x*ones(n)').*A"),
    ("diag(x) + diag(y)", "diag(x + y)"),
    ("diag(A*B')", "(A.*B)*ones(n)"),
    ("tr(kron(A, B))", "tr(A)*tr(B)"),
    ("kron(A, B)*vec(X)", "vec(B*X*A')"),
    ("vec(X)'*kron(A, B)*vec(X)", "tr(X'*B*X*A')"),
    ("[A, B]*[x; y]", "A*x + B*y"),
    ("x'*y", "sum(x.*y)"),
    ("tr(eye(n))", "n"),
    ("A*A", "A^2"),
    ("exp(x)'", "exp(x')"),
]


@pytest.mark.parametrize(("left", "right"), RECTANGULAR)
def test_rectangular(left, right):
    assert mc.expression(left, LET).node is mc.expression(right, LET).node


@pytest.mark.parametrize(("left", "right"), SQUARES)
def test_square(left, right):
    assert mc.expression(left, SQUARE).node is mc.expression(right, SQUARE).node


@pytest.mark.parametrize(
    ("left", "right"), [("A*B", "B*A"), ("A", "A'"), ("x.*y", "x'*y"), ("x./x", "ones(n)"), ("A.*B", "A*B")]
)
def test_what_differs_stays_different(left, right):
    assert mc.expression(left, SQUARE).node is not mc.expression(right, SQUARE).node


def test_facts_make_another_symbol():
    plain = mc.expression("A'", "A: matrix(n, n)")
    symmetric = mc.expression("A'", "A: matrix(n, n) symmetric")
    assert symmetric.node is mc.expression("A", "A: matrix(n, n) symmetric").node
    assert plain.node is not mc.expression("A", "A: matrix(n, n)").node


PRINTED = [
    ("gradient", "norm2(X*w - y)^2", "w", "", {}, "2*X'*(X*w - y)"),
    ("gradient", "tr(inv(X)*A)", "X", "", {}, "-inv(X)'*A'*inv(X)'"),
    (
        "gradient",
        "logdet(S) + tr(inv(S)*C)",
        "S",
        "S: matrix(n, n) spd; C: matrix(n, n) symmetric",
        {},
        "inv(S) - inv(S)*C*inv(S)",
    ),
    ("jacobian", "A*X*B", "X", "", {"layout": "vec"}, "kron(B', A)"),
]


@pytest.mark.parametrize(("kind", "text", "wrt", "let", "options", "shown"), PRINTED)
def test_printed_forms(kind, text, wrt, let, options, shown):
    assert str(getattr(mc, kind)(text, wrt, declarations=let, **options)) == shown


def mirrored_rules():
    """Return the operations of square matrices that commute with transposition and are linear in one of them."""
    return [
        rule
        for rule in default_rulebook().rules.values()
        for parameters in [rule.signature.parameters]
        if rule.transpose_same and rule.opaque is None and all(p.kind == "matrix" for p in parameters)
        if any(p.repeated or p.name in rule.linear for p in parameters)
    ]


@pytest.mark.sampled(6)
@pytest.mark.parametrize("rule", mirrored_rules(), ids=lambda rule: rule.name)
def test_an_operation_of_transposed_matrices_is_that_of_the_matrices_skew_ones_with_their_sign(rule):
    let = "A: matrix(n, n); B: matrix(n, n); S: matrix(n, n) symmetric; K: matrix(n, n) skew"
    tried = 0
    for given in itertools.product(["A", "B'", "S", "K", "skew(A*B)"], repeat=len(rule.signature.parameters)):
        try:
            e = mc.expression(f"{rule.name}({', '.join(given)})", let)
        except mc.ShapeError:  # it requires facts
            continue
        tried += 1
        assert mc.expression(str(e), e.declarations).node is e.node, e
        if {"A", "B'"} & set(given):
            turned = ", ".join(f"({argument})'" for argument in given)
            assert mc.expression(f"{rule.name}({turned})'", let).node is e.node, e
    assert tried
