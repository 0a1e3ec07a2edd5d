"""Long formulas by parts, with the user's names or else letters; the text reads back and is never longer."""

import sys
from functools import cache

import numpy as np
import pytest

import matcalc as mc
from matcalc.commands import cli
from oracle import judging
from oracle.cases import identities

CASES = identities()
GAUSSIAN = "D: matrix(n, n) symmetric; s: scalar; t: scalar; l: scalar; y: vector(n)"
PROCESS = "K = s^2*exp(-D/(2*l^2)) + t^2*eye(n); y'*inv(K)*y/2 + logdet(K)/2"

WRITTEN = [
    ("tr(inv(A*B + C)*D*inv(A*B + C)*E*inv(A*B + C)*F)", "tr(P*D*P*E*P*F) where P = inv(A*B + C)"),
    ("A*B + C", "A*B + C"),
    ("sum(x)*exp(sum(x)*sum(y))", "sum(x)*exp(sum(x)*sum(y))"),
    ("exp(A*tanh(x)).*log(A*tanh(x))./sinh(A*tanh(x)).^2", "exp(a).*log(a)./sinh(a).^2 where a = A*tanh(x)"),
    ("{i,j: cosh(A[i,k]*B[k,j])*[i == j]} + {i,j: cosh(A[i,k]*B[k,j])}", None),
]


def read(text, e):
    return mc.expression(text, e.declarations)


@pytest.mark.whole
def test_parts_have_the_names_that_the_user_gave():
    e = mc.expression(PROCESS, GAUSSIAN)
    assert e.named() == "(y'*inv(K)*y + logdet(K))/2 where K = s^2*exp(-0.5*D/l^2) + t^2*eye(n)"
    slope = e.gradient("t")
    assert slope.named() == "t*tr(P - P*y*y'*P) where K = s^2*exp(-0.5*D/l^2) + t^2*eye(n), P = inv(K)"
    assert read(slope.named(), slope).node is slope.node
    assert slope.latex(named=True).startswith(r"\begin{aligned} \mathbf{K} &= ")
    assert slope.latex(named=True) != slope.latex()


def test_names_of_parts_go_with_what_is_made_of_them():
    e = mc.expression("K = A*A' + eye(n); logdet(K)", "A: matrix(n, m); y: vector(n)")
    f = mc.expression("y'*L*y where L = B*B' + eye(n)", "B: matrix(n, m); y: vector(n)")
    assert (e * f).named() == "logdet(K)*y'*L*y where K = eye(n) + A*A', L = eye(n) + B*B'"


def test_a_name_that_is_a_symbol_elsewhere_is_not_taken():
    e = mc.expression("K = A*A' + eye(n); logdet(K)", "A: matrix(n, m)")
    f = mc.expression("tr(K)", "K: matrix(n, n)")
    assert read((e + f).named(), e + f).node is (e + f).node
    assert "K = " not in (e + f).named()


@pytest.mark.sampled(3)
@pytest.mark.parametrize(("text", "named"), WRITTEN)
def test_parts_make_the_text_shorter(text, named):
    e = mc.expression(text)
    assert named is None or e.named() == named
    assert len(e.named()) <= len(str(e))
    assert read(e.named(), e).node is e.node


def test_letters_are_free():
    e = mc.expression(
        "a*b*exp(sum(tanh(x)))*c*log(sum(tanh(x)))*cosh(sum(tanh(x)))",
        "; ".join(f"{n}: scalar" for n in "abc") + "; x: vector(d)",
    )
    assert e.named().endswith(" where p = sum(tanh(x))")


@cache
def steps(count):
    parts = ["x0 = x", *(f"x{k + 1} = A*x{k} - (x{k}'*x{k})*x{k}" for k in range(count))]
    e = mc.expression("; ".join([*parts, f"x{count}'*x{count}"]), "A: matrix(n, n); x: vector(n)")
    return e.gradient("x")


@pytest.mark.sampled(3)
@pytest.mark.parametrize("count", [1, 2, 5])
def test_recurrences(count):
    e = steps(count)
    assert read(e.named(), e).node is e.node
    assert len(e.named()) <= len(str(e))


@cache
def derivative(case):
    return mc.expression(case.text, case.let), judging.derive(case)


@pytest.mark.parametrize("case", CASES, ids=[case.id for case in CASES])
@pytest.mark.sampled(60)
def test_every_identity_reads_back(case):
    for e in derivative(case):
        assert read(e.named(), e).node is e.node
        assert len(e.named()) <= len(str(e))


def test_on_a_terminal_what_does_not_fit_the_line_is_named(capsys, monkeypatch):
    words = ["gradient", "tr(inv(A*X*B + C)*D*inv(A*X*B + C))", "--wrt", "X"]
    monkeypatch.setenv("COLUMNS", "60")
    monkeypatch.setenv("NO_COLOR", "1")
    assert cli.main(words) == 0
    plain = capsys.readouterr().out
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    assert cli.main(words) == 0
    named = capsys.readouterr().out
    assert " where " in named and " where " not in plain
    assert cli.main([*words, "--as", "named"]) == 0
    assert capsys.readouterr().out == named
    assert cli.main([*words, "--as", "text"]) == 0
    assert capsys.readouterr().out == plain


CALLED = [
    ("norm2(r)^2 + s*sum(abs(r)) where r = X*w - y", "w", "X'*(2*r + s*sign(r)) where r = X*w - y"),
    ("norm2(r)^2 where r = y - X*w", "w", "-2*X'*r where r = y - X*w"),
    ("sum(log(1 + exp(-z))) where z = y.*(X*w)", "w", "-X'*(y.*sigmoid(-z)) where z = y.*(X*w)"),
    ("sum(y.*log(q)) where p = exp(X*w), q = p/sum(p)", "w", "X'*(y - sum(y)*q) where q = softmax(X*w)"),
    ("norm2(R)^2 + s*norm2(U)^2 where R = X - U*V'", "V", "-2*R'*U where R = X - U*V'"),
    (
        "y'*inv(K)*y where D = {i,j: sum{k: (X[i,k] - X[j,k])^2}}, E = exp(-D/s^2), K = E + eye(n)", "s",
        "-2*(y'*P*(D.*E)*P*y)/s^3 where D = {i,j: sum{l: (X[i,l] - X[j,l])^2}}, E = exp(-D/s^2), K = eye(n) + E, "
        "P = inv(K)",
    ),
]  # fmt: skip
FORMS = "X: matrix(n, m); w: vector(m); y: vector(n); s: scalar; U: matrix(n, k); V: matrix(m, k)"


@pytest.mark.parametrize(("text", "wrt", "named"), CALLED)
def test_names_hold_in_factors_terms_and_multiples(text, wrt, named):
    e = mc.expression(text, "; ".join(one for one in FORMS.split("; ") if one.partition(":")[0] in text))
    g = e.gradient(wrt)
    assert g.named() == named
    assert read(named, g).node is g.node


def test_a_derivation_defines_the_names_first():
    e = mc.expression("norm2(W*h - y)^2 where a = V*x + b, h = tanh(a)", "W: matrix(k, n); V: matrix(n, m)")
    lines = str(e.gradient("b").explain()).splitlines()
    assert [line.split("    [")[0] for line in lines[:4]] == [
        "1.        a = V*x + b", "2.        h = tanh(a)", "3.        f = norm2(W*h - y)^2",
        "4.       df = 2*(W*h - y)'*W*d(tanh(a))",
    ]  # fmt: skip
    assert lines[-1] == "7. gradient = 2*(W'*(W*h - y))./cosh(a).^2"
    assert r"\mathbf{h} &= \tanh\left(\mathbf{a}\right)" in e.gradient("b").explain("latex")


def test_a_derivation_keeps_its_own_names():
    e = mc.expression("norm2(f)^2 where f = A*x - y", "A: matrix(n, m)")
    assert str(e.gradient("x").explain()).startswith("1.        f = norm2(A*x - y)^2")


def test_a_function_runs_without_the_hook_that_finds_its_variables():
    seen = []

    def f(x):
        half = x @ x / 2
        seen.append((sys.getprofile(), sys.gettrace()))
        return half * np.exp(half)

    before = sys.getprofile(), sys.gettrace()
    assert mc.expression(f, "x: vector(n)").named() == "half*exp(half) where half = x'*x/2"
    assert set(seen) == {before}


@pytest.mark.whole
def test_local_variables_of_a_function_are_names():
    def evidence(X, y, s):
        K = X @ X.T + s * np.eye(X.shape[0])
        L = np.linalg.cholesky(K)
        a = np.linalg.solve(K, y)
        e = 2 * np.sum(np.log(np.diag(L)))
        return y @ a + e

    let = "X: matrix(n, m); y: vector(n); s: scalar"
    e = mc.expression(evidence, let)
    assert e.named() == "a'*y + 2*sum(log(diag(L))) where K = X*X' + s*eye(n), a = inv(K)*y, L = chol(K)"
    g = e.gradient("s")
    assert read(g.named(), g).node is g.node
    assert "K = X @ X.T + s * np.eye(n)" in g.python()
    assert "K = X*X' + s*eye(n)" in str(g.explain())


def test_a_variable_that_was_rebound_names_its_last_value():
    def loss(X, w):
        X = X - 1
        z = X @ w
        z = np.exp(z)
        for _ in range(2):
            z = z * z
        return z.sum()

    e = mc.expression(loss, "X: matrix(n, m); w: vector(m)")
    assert read(e.named(), e).node is e.node
    assert "X = " not in e.named()


def test_saved_files_use_the_names(tmp_path):
    e = mc.expression("norm2(r)^2 + s*sum(abs(r)) where r = X*w - y", "X: matrix(n, m); s: scalar")
    path = tmp_path / "slope.py"
    mc.compile(e.gradient("w")).save(path)
    assert "result = X'*(2*r + s*sign(r)) where r = X*w - y" in path.read_text()
