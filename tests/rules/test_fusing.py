"""Every spelling of a function without a choice has a derivative without one: no eigenvector and no sign."""

import re

import pytest

import matcalc as mc
from matcalc.rulelab.rewrite_check import is_gauge_part
from matcalc.tensor.nodes.node import toposort

LET = "A: matrix(m, n); B: matrix(n, n); M: matrix(m, m); t: scalar; x: vector(n); y: vector(n)"
SYMMETRIC = [
    "tr(B*(V*diag(exp(w))*V'))", "sum(B.*(V*diag(2*exp(w) + 1)*V'))", "x'*V*diag(1 ./ (1 + w.^2))*V'*y",
    "x'*V*(exp(w) .* (V'*y))", "sum(B.*(V*diag(exp(w) + t*w)*V'))", "sum(B.*(V*diag(1 ./ (w + t))*V'))",
    "sum(B.*(V*diag(exp(-t*w))*V'))", "sum(B.*(V*diag(w ./ (w + t))*V'))", "sum(B.*(V*diag(w.^3)*inv(V)))",
    "sum(B.*((V*diag(sqrt(w)))*(V*diag(sqrt(w)))'))", "sum(B.*(V*diag(exp(w))*V' + V*diag(sin(w))*V'))",
    "sum(B.*(V*diag(abs(w))*V'))", "sum(w.^3)", "sum(exp(w))", "log(prod(w))", "w'*w", "norm2(w)", "max(abs(w))",
    "sum(1 ./ w)", "mean(w)", "var(w)", "logsumexp(w)", "log(sum(exp(w)))", "max(w)/min(w)", "sum(exp(t*w))",
    "sum(w .* log(w))", "ones(n)'*w", "sum(w[1:])", "w[-1]", "sum(B.*(V[:, 2:]*diag(w[2:])*V[:, 2:]'))",
]  # fmt: skip
RECTANGULAR = [
    "sum(A.*(U*Z'))", "sum(A.*(U*diag(s)*Z'))", "sum(A.*(U*diag(max(s - t, 0))*Z'))", "sum(A'.*(Z*diag(1 ./ s)*U'))",
    "sum(A'.*(Z*diag(s ./ (s.^2 + t))*U'))", "sum(B.*(Z*diag(s)*Z'))", "sum(M.*(U*diag(s)*U'))",
    "sum(A.*(U[:, :2]*diag(s[:2])*Z[:, :2]'))", "sum(A.*(U*diag(s ./ (1 + s))*Z'))", "sum(s)", "s'*s", "sum(s.^3)",
    "norm2(s)", "sum(log(1 + s))", "min(s)", "s[0]", "s[-1]", "max(s)/min(s)", "sum(s.^2)/max(s)^2", "sum(s[:2])",
    "sum(max(s - t, 0))", "sum(exp(t*s))", "sum(s.^2 ./ (s.^2 + t))",
]  # fmt: skip
SQUARE = [
    "log(det(X))", "log(abs(det(X)))", "log(det(X)^2)/2", "det(X)*tr(inv(X)*B)", "sum(B.*(det(X)*inv(X)))",
    "x'*inv(X)*y*det(X)", "sum(B.*(qr_Q(X)*qr_R(X)))", "sum(B.*(lu_P(X)*lu_L(X)*lu_U(X)))", "prod(diag(qr_R(X)))",
    "sum(log(abs(diag(lu_U(X)))))", "sum(B.*(polar_U(X)*polar_P(X)))", "sum(B.*(inv(qr_R(X))*qr_Q(X)'))",
    "sum(eigvals(X).^5)", "sum(exp(eigvals(X)))", "sum(sin(eigvals(X)))", "prod(eigvals(X))", "prod(svdvals(X))",
]  # fmt: skip


def gauge_parts(text, let):
    node = mc.gradient(text, let[0], f"{let}; {LET}").node
    return [n.rule.name for n in toposort([node]) if is_gauge_part(n) or (n.kind == "op" and n.rule.name == "gapdiv")]


@pytest.mark.sampled(12)
@pytest.mark.parametrize("text", SYMMETRIC)
def test_functions_of_eigenvalues(text):
    names = {"w": "eigh_w(S)", "V": "eigh_V(S)"}
    assert gauge_parts(spelled_out(text, names), "S: matrix(n, n) spd") == []


@pytest.mark.sampled(12)
@pytest.mark.parametrize("text", RECTANGULAR)
def test_functions_of_singular_values(text):
    names = {"s": "svd_s(X)", "U": "svd_U(X)", "Z": "svd_V(X)"}
    assert gauge_parts(spelled_out(text, names), "X: matrix(m, n)") == []


def spelled_out(text, names):
    return re.sub(r"\b\w+\b", lambda word: names.get(word[0], word[0]), text)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("text", SQUARE)
def test_parts_that_give_back_the_matrix(text):
    assert gauge_parts(text, "X: matrix(n, n)") == []


@pytest.mark.parametrize(
    ("text", "simple"),
    [
        ("sqrt(x'*x)", "norm2(x)"),
        ("sqrt(sum((x - y).^2))", "norm2(x - y)"),
        ("sqrt(tr(A'*A))", "norm2(A)"),
        ("sum(sqrt(x.^2))", "sum(abs(x))"),
        ("norm2(x)^2", "x'*x"),
        ("sqrt(x'*x + y'*y)", "hypot(norm2(x), norm2(y))"),
        ("det(B)*tr(inv(B)*B')", "tr(adj(B)*B')"),
    ],
)
def test_norms_and_adjugates(text, simple):
    assert mc.expression(text, LET).simplify().node is mc.expression(simple, LET).simplify().node
