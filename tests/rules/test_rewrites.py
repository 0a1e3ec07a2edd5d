"""Every rewrite of the book fires on its own left side, does not enlarge it, keeps shapes, and is true."""

import pytest

import matcalc as mc
from matcalc.calculus.simplify.compiled_rewrites import compiled, compiled_as
from matcalc.calculus.simplify.index_by_word import outline_of
from matcalc.calculus.simplify.rewrite_index import called, entries, readings, unfolded_entry
from matcalc.calculus.simplify.simplify import simplify, simplify_all, stable_all
from matcalc.rulebook import default_rulebook
from matcalc.rulebook.facts_and_rewrites import rewrite_from_table
from matcalc.rulelab.rewrite_check import applied_sides, rewrite_faults
from matcalc.tensor.nodes.node import toposort

BOOK = default_rulebook()
LET = "S: matrix(n, n) spd; T: matrix(n, n) symmetric; X: matrix(n, n); x: vector(n); c: scalar"


@pytest.mark.thinned(3)
@pytest.mark.parametrize("rewrite", BOOK.rewrites, ids=str)
@pytest.mark.sampled(270)
def test_rewrite(rewrite):
    assert rewrite_faults(rewrite, BOOK) == []


@pytest.mark.parametrize("rewrite", [r for r in BOOK.rewrites if r.condition is None], ids=str)
@pytest.mark.sampled(48)
def test_both_sides_simplify_to_one_node(rewrite):
    for pattern in compiled(rewrite, BOOK):
        left, right = applied_sides(pattern, BOOK, {})
        if any(d.kind == "array" for d in rewrite.variables) and not any(
            n.shape for n in toposort([left]) if n.kind == "symbol"
        ):
            continue  # reductions of one number are not rewritten
        one, other = (stable_all if rewrite.numeric else simplify_all)([left, right])
        assert one is other


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("text", "simple"),
    [
        ("powm(S, 1/3)", "matfun(x -> x^(1/3), S)"),
        ("powm(X, 1/3)", "powm(X, 1/3)"),
        ("powm(X, 5/2, eye(n))", "5/2*powm(X, 3/2)"),
        ("matfun(sinh, T, eye(n))", "matfun(cosh, T)"),
        ("dd(x -> x^3, c, c)", "3*c^2"),
        ("dd(x -> x*exp(x), x, x, x)", "exp(x).*x/2 + exp(x)"),
        ("eigh_V(T)*diag(exp(-c*eigh_w(T)))*eigh_V(T)'*x", "matfun(exp, -c*T)*x"),
        ("eigh_V(S)*diag(1 ./ (eigh_w(S) + c))*eigh_V(S)'*x", "inv(S + c*eye(n))*x"),
        ("eigh_V(T)*diag(exp(-(eigh_w(T) - c).^2/2))*eigh_V(T)'", "matfun(exp, -(T - c*eye(n))^2/2)"),
        ("eigh_V(T)*diag(tanh(c*eigh_w(T)).*eigh_w(T))*eigh_V(T)'", "T*matfun(tanh, c*T)"),
        ("sum(eigh_w(S)./(eigh_w(S) + c))", "tr(S*inv(S + c*eye(n)))"),
        ("sum(log(eigh_w(S) + c))", "logdet(S + c*eye(n))"),
        ("(eigh_V(T).*(ones(n)*exp(eigh_w(T))'))*eigh_V(T)'", "matfun(exp, T)"),
        ("X*eigh_V(T)*diag(exp(eigh_w(T)))*eigh_V(T)'*S*x", "X*matfun(exp, T)*S*x"),
        ("eigh_V(T)[:, -1]'*T*eigh_V(T)[:, -1]", "lambda_max(T)"),
        ("eigh_V(T)[:, -2:]*eigh_V(T)[:, -2:]'*x", "spectral_projector(T, 2)*x"),
        ("eigh_V(T)[:, 2:]*eigh_V(T)[:, 2:]'", "spectral_projector(T, n - 2)"),
        ("eigh_V(T)[:, :2]*eigh_V(T)[:, :2]'", "eye(n) - spectral_projector(T, n - 2)"),
        ("svd_U(X)[:, :2]*diag(svd_s(X)[:2])*svd_V(X)[:, :2]'*x", "svd_lowrank(X, 2)*x"),
        ("svd_U(X)*diag(max(svd_s(X) - c, 0))*svd_V(X)'", "svd_shrink(X, c)"),
        ("svd_V(X)*diag(1 ./ svd_s(X))*svd_U(X)'*x", "pinv(X)*x"),
        ("sum(log(eigvalsh(S, S + eye(n))))", "logdet(S) - logdet(S + eye(n))"),
        ("2*sum(log(diag(chol(S))))", "logdet(S)"),
        ("sum(eigvals(X).^2)", "tr(X*X)"),
        ("sum(eigvals(X).^(-2))", "tr(powm(X, -2))"),
        ("logm(expm(T))", "T"),
        ("norm2(logm(S))^2", "tr(matfun(x -> log(x)^2, S))"),
        ("eigh_V(T)*diag(exp(eigh_w(T)).*eigh_w(T))*eigh_V(T)'", "matfun(x -> x*exp(x), T)"),
        ("eigh_V(T)*diag(exp(eigh_w(T)))*eigh_V(T)'*x", "matfun(exp, T)*x"),
        ("eigh_V(T)*diag(c*eigh_w(T))*eigh_V(T)'", "c*T"),
        ("sum(tanh(eigh_w(T)).^2 + 1)", "tr(matfun(t -> tanh(t)^2 + 1, T))"),
        ("sum(log(eigvalsh(S)))", "logdet(S)"),
        ("sum(eigh_w(T))*x", "tr(T)*x"),
    ],
)
def test_functions_and_numbers_are_bound(text, simple):
    assert simplify(mc.expression(text, LET).node) is simplify(mc.expression(simple, LET).node)


@pytest.mark.parametrize(
    "text",
    [
        "sum(c*exp(eigh_w(T)) + x)",
        "eigh_V(T)*diag(max(eigh_w(T), c))*eigh_V(T)'",
        "eigh_V(T)*diag(x)*eigh_V(T)'",
        "sum(exp(c*svd_s(X)))",
    ],
)
def test_what_is_no_function_is_left_alone(text):
    assert "matfun" not in str(mc.expression(text, LET).simplify())


@pytest.mark.sampled(4)
@pytest.mark.parametrize(
    ("let", "rule", "fault"),
    [
        ("x: array(s)", "sin(x).^2 => 1 - cos(x).^2.*x", "differ"),
        ("x: array(s)", "sin(x) => sin(x) + log(exp(0*x))", "fire|larger|nothing"),
        ("X: matrix(m, n)", "norm2(X) => X", "shape"),
        ("X: matrix(n, n)", "tr(X') => tr(X)", "nothing"),
        ("X: matrix(n, n)", "det(X) => 0 if skew(adj(X)*X*2)", "condition|differ"),
        ("X: matrix(n, n)", "inv(X) => inv(X)*inv(X)*X", "larger"),
        ("x: array(s)", "tanh(x + 0*exp(x)) => sinh(x)./cosh(x)", "never tried: its left side becomes tanh(x)"),
    ],
)
def test_faulty_rewrites_are_refused(let, rule, fault):
    rewrite = rewrite_from_table({"let": let, "rule": rule}, "test:1", lambda *_: None)
    try:
        found = "; ".join(rewrite_faults(rewrite, BOOK))
    except mc.RuleError as error:
        found = str(error)
    assert any(word in found for word in fault.split("|")), found


def test_what_the_text_of_a_rewrite_tells_is_true_of_its_patterns():
    """A rewrite is built only for nodes that have the heads and words of its entry: every node that it fits does."""
    built = [
        (rewrite, entry, pattern)
        for rewrite in BOOK.rewrites
        for entry in entries(rewrite, BOOK)
        for pattern in compiled_as(rewrite, entry.kind, BOOK)
    ]
    known = [bool(entry.heads or unfolded_entry(rewrite, entry.kind, BOOK).heads) for rewrite, entry, _ in built]
    assert len(built) > 800 and sum(known) > 700
    wrong = [
        f"{rewrite} {entry}"
        for rewrite, entry, pattern in built
        if entry.kind not in readings(rewrite, outline_of(pattern.left), BOOK)
        or not called(rewrite, BOOK) <= entry.words
    ]
    assert wrong == []
