"""LaTeX output is read back to the same node: every formula of tests/cases, and their derivatives."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import matcalc as mc
from matcalc.rulebook.load import shipped_rulebook

CASES = Path(__file__).parents[1] / "cases"
LINE = re.compile(r"(?P<kind>\w+) of (?P<text>.*) by (?P<wrt>\w+) = (?P<derivative>.*) \| (?P<let>.*)")
UNKNOWN = (
    "phi(qr_Q(X)'*dX*inv(qr_R(X))+(qr_Q(X)'*dX*inv(qr_R(X)))')'*qr_R(X)",
    "kron(B', A)*vec(X)",
    "vec(A)'*vec(B)",
)
"""Formulas with a function or sizes that are not declared with them."""


def formulas() -> Iterator[tuple[str, str]]:
    """Yield formulas with their declarations: both sides of each case in tests/cases."""
    for name in ("identities", "textbook", "rules"):
        for case in json.loads((CASES / f"{name}.json").read_text(encoding="utf-8")):
            yield case["text"], case["let"]
            if "derivative" in case:
                tangent = f"; d{case['wrt']}" + case["let"].split(f"{case['wrt']}", 1)[-1].split(";")[0]
                yield case["derivative"], case["let"] + (tangent if case["kind"] == "differential" else "")
    for name in ("derivatives", "equal", "unequal", "pairs"):
        for line in (CASES / f"{name}.txt").read_text(encoding="utf-8").splitlines():
            if line.strip() and not line.startswith("#"):
                formula, *rest = line.split(" | ")
                left, _, right = formula.partition(" = ")
                if not rest and right.count("[") == right.count("]") == 0:
                    right = right.partition("; ")[0]
                let = rest[0].split(";;")[0].strip() if rest else ""
                if name == "derivatives":
                    left = left.partition(" of ")[2].rpartition(" by ")[0]
                let = "; ".join(part for part in let.split(";") if ":" in part)
                yield left.strip(), let
                if right and name != "derivatives":
                    yield right.strip(), let


FORMULAS = [pair for pair in dict.fromkeys(formulas()) if pair[0] not in UNKNOWN]


def read_back(e: mc.Expression) -> mc.Expression:
    return mc.expression(e.latex(), e.declarations, dialect="latex")


@pytest.mark.thinned(2)
@pytest.mark.sampled(48)
@pytest.mark.parametrize(("text", "let"), FORMULAS, ids=[text for text, _ in FORMULAS])
def test_formula(text, let):
    e = mc.expression(text, let)
    assert read_back(e).node is e.node, e.latex()


def derivatives() -> Iterator[tuple[str, str, str, str]]:
    """Yield kind, formula, variable and declarations of the derivatives in tests/cases."""
    for name in ("identities", "textbook"):
        for case in json.loads((CASES / f"{name}.json").read_text(encoding="utf-8")):
            yield case["kind"], case["text"], case["wrt"], case["let"]
    for line in (CASES / "derivatives.txt").read_text(encoding="utf-8").splitlines():
        if not line.startswith("#"):
            found = LINE.fullmatch(line)
            yield found["kind"], found["text"], found["wrt"], found["let"]


DERIVATIVES = list(dict.fromkeys(derivatives()))


@pytest.mark.thinned(2)
@pytest.mark.whole
@pytest.mark.parametrize(
    ("kind", "text", "wrt", "let"), DERIVATIVES, ids=[f"{d[0]} {d[1]} {d[2]}" for d in DERIVATIVES]
)
def test_derivative(kind, text, wrt, let):
    e = getattr(mc, kind)(text, wrt, declarations=let)
    assert read_back(e).node is e.node, e.latex()
    named = mc.expression(e.latex(named=True), e.declarations, dialect="latex")
    assert named.node is e.node, e.latex(named=True)


FORMS = [
    ("x[0]*x[-1] + x[1:-1]'*y", "x: vector(n); y: vector(n - 2)"),
    ("x[0] + x1", "x: vector(n); x1: scalar"),
    ("A[0, :]'*x + A[:, -1]'*y", "A: matrix(m, n); x: vector(n); y: vector(m)"),
    ("x[::-1] + x[:-3:-1]", "x: vector(2)"),
    ("exp(X) + expm(X) + sqrt(X) + sqrtm(X) + abs(X)", "X: matrix(n, n)"),
    ("det(X)*abs(s) + logdet(X) + log(det(X)) + log(abs(s))", "X: matrix(n, n); s: scalar"),
    ("kron(x, y) + kron(A, B)*x", "x: vector(m); y: vector(n); A: matrix(m, m); B: matrix(n, 1)"),
    ("kron(A, B).*C", ""),
    ("sigmoid(x)*sigma + gamma(x)", "x: vector(n); sigma: scalar"),
    ("I*x + eye(n)*x*s", "I: matrix(n, n); x: vector(n); s: scalar"),
    ("step(x) + relu(x) + where(x > y, x, 2*y) + max(x, y)", "x: vector(n); y: vector(n)"),
    ("commutation(m, n)*vec(A) + besselj(2, s)", "A: matrix(m, n); s: scalar"),
    ("khatri_rao(A, B)", "A: matrix(m, n); B: matrix(k, n)"),
    ("norm1(X) + norm1(x) + normp(x, 3) + norminf(X) + spectral_norm(X)", "X: matrix(m, n); x: vector(n)"),
    ("{i,j,k: A[i,l]*B[l,k]*x[k] + T[i,j,k]}", "T: tensor(m, n, p); A: matrix(m, q); B: matrix(q, p)"),
    ("{k: x[i]*y[j]*ones(m + n - 1)[k]*[k == i + j]} + z", "x: vector(m); y: vector(n)"),
    ("{i,j,k: A[i,j]*[i >= j + 1]*x[k]}", ""),
    ("ones(m*p)'*kron(x, y)", "x: vector(m); y: vector(p)"),
    ("eye(m*n)*vec(A)", "A: matrix(m, n)"),
    ("matfun(u -> log(u)^2, S)", "S: matrix(n, n) symmetric"),
    ("x_hat'*Sigma_xx*w_out + lam*rate", "rate: scalar; lam: scalar"),
    ("dX*T + T'", "X: matrix(n, n); dX: matrix(n, n); T: matrix(n, n)"),
    ("sum(X, axis=0)'*y + n*(n + 1)//2", "X: matrix(m, n); y: vector(n)"),
    ("log_softmax(z)[k] + sum(U[i, 0])", "z: vector(n); k: index; U: matrix(m, n); i: index(q)"),
    ("K = A*A' + c*eye(n); -K*x*(x'*K*x)", "A: matrix(n, m); c: scalar; x: vector(n)"),
]


@pytest.mark.sampled(4)
@pytest.mark.parametrize(("text", "let"), FORMS, ids=[text for text, _ in FORMS])
def test_form(text, let):
    e = mc.expression(text, let)
    assert read_back(e).node is e.node, e.latex()
    assert mc.expression(e.latex(named=True), e.declarations, dialect="latex").node is e.node, e.latex(named=True)


COMPARISONS = [rule for rule in shipped_rulebook().rules.values() if rule.relation]
"""The entries of calls with a comparison, such as when(x > y)."""
SIDES = ("B {} C", "B {} s", "s {} B", "x*y' {} B")


@pytest.mark.sampled(28)
@pytest.mark.parametrize("sides", SIDES)
@pytest.mark.parametrize("rule", COMPARISONS, ids=[rule.name for rule in COMPARISONS])
def test_a_comparison_of_arrays_is_an_array(rule, sides):
    """Beside a matrix it is a factor of the entries, which needs the sign: juxtaposed it is a matrix product."""
    others = ["1", "s"][: len(rule.parameters) - 2]
    call = f"{rule.spelling}({', '.join([sides.format(rule.relation), *others])})"
    let = "A: matrix(n, n); B: matrix(n, n); C: matrix(n, n); x: vector(n); y: vector(n); s: scalar"
    for text in (f"A.*{call}", f"sum(A.*{call})", f"(A.*{call})*x", f"A*{call}*x", f"{call}*A"):
        e = mc.expression(text, let)
        assert read_back(e).node is e.node, e.latex()
        assert (r"\odot" in e.latex()) == (".*" in str(e)), e.latex()
