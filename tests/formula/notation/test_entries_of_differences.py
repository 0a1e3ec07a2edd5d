"""Differences of entries print as they are written, and formulas inside index forms get names."""

import pytest

import matcalc as mc
from matcalc.rulebook.load import shipped_rulebook

LET = "X: matrix(m, n); Y: matrix(p, n); K: matrix(m, m); w: vector(n)"
SAME = [
    "{i,j,k: X[i,k] - X[j,k]}",
    "{i,j,k: (X[i,k] - X[j,k])^2}",
    "{i,j: exp(-sum{l: (X[i,l] - X[j,l])^2})}",
    "{i,j: (X[i,l] - X[j,l])^2*w[l]}",
    "{i,j: sum{l: (X[i,l] - X[j,l])^2}}",
    "{i,j,k: K[i,j] + X[i,k] - X[j,k]}",
    "{i,j: norm2(X[i, :] - X[j, :])}",
    "{i,j: logsumexp(X[i, :] + Y[j, :])}",
    "{i,j: norm2(X[j, :] - 2*X[i, :])}",
    "{i,j: max(X[:, i] - X[:, j])}",
]
GRADIENTS = [
    ("sum({i,j: exp(-sum{k: (X[i,k] - X[j,k])^2})})", "{i,j: 4*(X[s,j] - X[i,j])*exp(-sum{u: (X[i,u] - X[s,u])^2})}"),
    ("sum({i,j,k: tanh(X[i,k] - Y[j,k])})", "{i,j: sum{l: 1/cosh(X[i,j] - Y[l,j])^2}}"),
    ("sum({i,j,k: K[i,j]*(X[i,k] - X[j,k])^2})", "{i,j: 2*(X[i,j] - X[l,j])*(K + K')[i,l]}"),
    ("sum({i,j,k: tanh(X[i,k] - X[j,k])*K[i,j]})", "{i,j: (1/cosh(X[i,j] - X[s,j])^2)*(K - K')[i,s]}"),
]


@pytest.mark.parametrize("text", SAME)
def test_printed_as_written(text):
    e = mc.expression(text, LET)
    assert str(e) == text
    assert mc.expression(e.latex(), e.declarations, dialect="latex").node is e.node


@pytest.mark.parametrize(("text", "printed"), GRADIENTS)
def test_gradients(text, printed):
    e = mc.gradient(text, "X", LET)
    assert str(e) == printed
    assert mc.expression(printed, e.declarations).node is e.node


@pytest.mark.whole
def test_parts_inside_index_forms_get_names():
    h = mc.hessian("-logdet(S)/2 - (x - u)'*inv(S)*(x - u)/2", "S", "S: matrix(n, n) spd; x: vector(n); u: vector(n)")
    assert "where P = inv(S)" in h.named()
    assert len(h.named()) < 0.6 * len(str(h))
    assert mc.expression(h.named(), h.declarations).node is h.node


FORMS = [
    "{}({{i,j,k: X[i,k] - X[j,k]}})",
    "{{i,j,k: {}(X[i,k] - X[j,k])*K[i,j]}}",
    "{{i,j,k: {}(X[i,k]*X[j,k])*K[i,j]}}",
]


def functions():
    """Return the names of elementwise functions of one number that have a derivative."""
    rules = (rule for rule in shipped_rulebook().rules.values() if rule.kind == "map" and not rule.internal)
    single = (rule for rule in rules if len(rule.signature.parameters) == 1 and rule.spelling)
    return sorted({rule.spelling for rule in single} - {"pi"})


@pytest.mark.sampled(80)
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("function", functions())
@pytest.mark.thinned(2)
def test_gradients_of_functions_of_differences_read_back(function, form):
    total = f"sum({form.format(function)})"
    for e in (mc.gradient(total, "X", LET), mc.hvp(total, "X", declarations=LET)):
        again = mc.expression(str(e), e.declarations)
        assert again.node is e.node, str(e)
