"""Derivations line by line: the independent evaluator of `oracle` evaluates each line as printed.

`d(inv(S))` in a line is the derivative of `inv(S)` along the tangent, by complex steps or differences. No line is
checked against another from the same rule.
"""

import re
import runpy
from pathlib import Path

import numpy as np
import pytest

import matcalc as mc
from matcalc.evidence.numeric.sampling import defect
from oracle import differences
from oracle.cases import identities, operations
from oracle.data import SIZES, make
from oracle.values import evaluate

PAGES = runpy.run_path(str(Path(__file__).parents[2] / "docs" / "derivations.py"))
LINE = re.compile(r"^ *(\d+)\. +(.*?) ?= (.*?)((?:    \[.*\])*)$")
STANDARD = [derivation[1:] for derivation in PAGES["DERIVATIONS"]]
LONGEST = {"norm2(X*w - y)^2": 4, "softmax(x)": 4, "det(X)": 3}
HESSIANS = [
    *[case for case in STANDARD if case[0] != "softmax(x)"],
    ("logdet(X)", "X", "X: matrix(n, n) nonsingular"),
    ("logsumexp(x)", "x", "x: vector(n)"),
    ("sum(x.^4)", "x", "x: vector(n)"),
]
CASES = [(c.text, c.wrt, c.let, c.data) for c in identities() if c.kind != "hessian"]
CASES += [(*case[:3], "") for case in STANDARD]


def lines(text):
    """Return (left side, formula, reasons) of each line; remarks on operations follow the last one."""
    found = [LINE.match(line) for line in text.splitlines() if not line.startswith("where ")]
    assert all(found), text
    assert [int(m[1]) for m in found] == list(range(1, len(found) + 1))
    return [(m[2].strip(), m[3], m[4]) for m in found]


def is_read_as(formula, e):
    """Whether the formula of a line is read as an expression; `str(e)` has remarks, and its parts in front."""
    return mc.expression(formula, e.declarations).node is e.node


def filled(formula, data, wrt, E):
    """Return a formula with each `d(...)` replaced by a name, and the derivatives that these stand for."""
    more = {}
    while at := re.search(r"(?<!\w)d\(", formula):
        end, depth = at.end(), 1
        while depth:
            depth += {"(": 1, ")": -1}.get(formula[end], 0)
            end += 1
        name = f"D_{len(more)}"
        more[name] = differences.along(formula[at.end() : end - 1], data, wrt, E, SIZES)[0]
        formula = formula[: at.start()] + name + formula[end:]
    return formula, more


def value(formula, data, wrt, E):
    formula, more = filled(formula, data, wrt, E)
    return np.squeeze(evaluate(formula, {**data, **more, f"d{wrt}": E}, SIZES))


def setting(wrt, let, adjust):
    data = make(let, 1, adjust)
    facts = frozenset(mc.symbols(let)[[s.node.name for s in mc.symbols(let)].index(wrt)].node.data[1])
    E = np.random.default_rng(8).standard_normal(np.shape(data[wrt]))
    return data, differences.projected(E, facts) if facts and E.ndim == 2 else E


def close(found, expected):
    scale = max(np.max(np.abs(expected), initial=0.0), 1e-9)
    assert np.shape(found) == np.shape(expected)
    assert np.max(np.abs(found - expected), initial=0.0) < 1e-6 * scale


def judge(derived, text, wrt, let, adjust=""):
    """Check every printed line numerically; the result that is read off must be `derived` itself."""
    judge_lines(lines(derived.explain()), derived, text, wrt, let, adjust)


def judge_lines(shown, derived, text, wrt, let, adjust=""):
    data, E = setting(wrt, let, adjust)
    here = np.squeeze(evaluate(text, data, SIZES))
    moved = np.squeeze(differences.along(text, data, wrt, E, SIZES)[0])
    section = ""
    for left, formula, _ in shown:
        section = left or section
        if section == "Jacobian" and len(derived.shape) > 2:
            assert is_read_as(formula, derived)
            found = np.squeeze(derived(**{name: data.get(name, SIZES.get(name)) for name in derived.symbols}))
        else:
            found = value(formula, data, wrt, E)
        if section in ("f", "F"):
            close(found, here)
        elif section in ("df", "dF"):
            close(found, moved)
        else:
            assert section in ("gradient", "g", "Jacobian")
            close(np.squeeze(np.tensordot(found, np.squeeze(E), np.squeeze(E).ndim)), moved)


@pytest.mark.parametrize(("text", "wrt", "let", "adjust"), CASES, ids=[case[0] for case in CASES])
@pytest.mark.sampled(64)
def test_every_line_is_true(text, wrt, let, adjust):
    e = mc.expression(text, let)
    derived = e.jacobian(wrt) if e.shape else e.gradient(wrt)
    judge(derived, text, wrt, let, adjust)


@pytest.mark.sampled(4)
@pytest.mark.parametrize(("text", "wrt", "let"), STANDARD, ids=[case[0] for case in STANDARD])
def test_no_longer_than_by_hand(text, wrt, let):
    assert len(lines(PAGES["derived"](text, wrt, let).explain())) <= LONGEST.get(text, 6)


@pytest.mark.sampled(6)
@pytest.mark.parametrize(("text", "wrt", "let"), HESSIANS, ids=[case[0] for case in HESSIANS])
def test_every_line_of_a_hessian_is_true(text, wrt, let):
    e = mc.hessian(text, wrt, let)
    data, E = setting(wrt, let, "")
    shown = lines(e.explain())
    start = [left for left, _, _ in shown].index("g")
    judge_lines(shown[: start + 1], mc.gradient(text, wrt, let), text, wrt, let)
    moved = np.squeeze(differences.along(shown[start][1], data, wrt, E, SIZES)[0])
    for left, formula, _ in shown[start + 1 :]:
        if left == "Hessian":
            H = np.squeeze(e(**{name: data.get(name, SIZES.get(name)) for name in e.symbols}))
            assert is_read_as(formula, e)
            found = np.tensordot(H, E, E.ndim)
        else:
            found = value(formula, data, wrt, E)
        close(np.squeeze(found), moved)


@pytest.mark.sampled(3)
@pytest.mark.parametrize(("text", "wrt", "let"), STANDARD[:-1], ids=[case[0] for case in STANDARD[:-1]])
def test_differential_ends_in_the_tangent(text, wrt, let):
    """The canonical form tr(A'*dX): it reads back, and A is the gradient."""
    e = mc.differential(text, wrt, let)
    assert mc.expression(str(e), e.declarations).node is e.node
    assert str(e).rstrip(")").endswith(f"*d{wrt}")
    data, E = setting(wrt, let, "")
    close(value(str(e), data, wrt, E), np.squeeze(differences.along(text, data, wrt, E, SIZES)[0]))
    assert lines(e.explain())[-1][1].rstrip(")").endswith(f"*d{wrt}")


def test_differential_in_several_variables():
    e = mc.differential("norm2(M - U*V')^2", ["U", "V"])
    assert str(e) == "2*tr(V'*(V*U' - M')*dU) + 2*tr(U'*(U*V' - M)*dV)"
    assert mc.expression(str(e), e.declarations).node is e.node


@pytest.mark.parametrize(("text", "wrt"), [("x'*A*x", "x"), ("tr(A*X)", "X"), ("t^2", "t")])
def test_jacobian_of_a_scalar(text, wrt):
    let = "A: matrix(n, n); x: vector(n); X: matrix(n, n); t: scalar"
    judge(mc.jacobian(text, wrt, let), text, wrt, let)


def test_blocks_of_a_hessian():
    (_, across), (other, _) = mc.hessian("t*x'*x", ["t", "x"], "t: scalar; x: vector(n)")
    assert [line[:2] for line in lines(across.explain())[-2:]] == [("dg", "2*dx'*x"), ("Hessian", "2*x")]
    assert [line[:2] for line in lines(other.explain())[-2:]] == [("dg", "2*dt*x"), ("Hessian", "2*x")]


OPERATIONS = [(op, wrt) for op in operations() for wrt in op.vjp]


@pytest.mark.parametrize(("op", "wrt"), OPERATIONS, ids=[f"{op.text}-{wrt}" for op, wrt in OPERATIONS])
@pytest.mark.sampled(60)
def test_every_operation_is_explained(op, wrt):
    e = mc.vjp(op.text, wrt, op.let)
    left, formula, _ = lines(e.explain())[-1]
    assert left == "pullback" and is_read_as(formula, e)
    numbered = [line for line in e.explain("markdown").splitlines() if line[:1].isdigit()]
    assert len(numbered) == len(lines(e.explain()))


@pytest.mark.parametrize("what", ["vjp", "hvp", "jvp"])
def test_other_derivatives_are_explained(what):
    e = getattr(mc, what)("logsumexp(x)", "x")
    assert is_read_as(lines(e.explain())[-1][1], e)


def test_rewriting_is_explained():
    shown = lines(
        "\n".join(mc.expression("log(det(X'*X + eye(n)))", "X: matrix(m, n)").simplify().explain().splitlines()[:2])
    )
    assert [formula for _, formula, _ in shown] == ["log(det(eye(n) + X'*X))", "logdet(eye(n) + X'*X)"]
    assert "rules/rewrites.toml" in shown[1][2]


FACTS = [
    ("X'*X + lam*eye(n)", "X: matrix(m, n); lam: scalar positive", [
        "X'*X is psd: a sum of squares",
        "lam is positive: declared",
        "lam*eye(n) is spd: diagonal, its entries positive",
        "X'*X + lam*eye(n) is spd: a sum of psd terms, one of them spd",
    ]),
    ("A'*inv(S)*A", "A: matrix(n, m); S: matrix(n, n) spd",
     ["A'*inv(S)*A is psd: of the form B'*P*B with P = inv(S) positive semidefinite"]),
    ("Q*R", "Q: matrix(n, n) orthogonal; R: matrix(n, n) orthogonal", [
        "Q is orthogonal: declared",
        "R is orthogonal: declared",
        "Q*R is orthogonal: a product of orthogonal matrices",
    ]),
    ("1 + exp(x)", "x: vector(n)", [
        "exp(x) is positive: the values of exp are in (0, inf)",
        "1 + exp(x) is positive: a sum of nonnegative terms, one of them positive",
    ]),
    ("S.*T", "S: matrix(n, n) psd; T: matrix(n, n) psd", [
        "S is psd: declared",
        "T is psd: declared",
        "S.*T is psd: an entrywise product of psd matrices (Schur)",
    ]),
    ("expm(S)", "S: matrix(n, n) symmetric",
     ["S is symmetric: declared", "expm(S) is spd: expm is spd where X is symmetric"]),
    ("A + A'", "A: matrix(n, n)", ["A + A' is symmetric: it is its own transpose"]),
    ("A*inv(A + B)*B", "A: matrix(n, n) spd; B: matrix(n, n) spd",
     ["A*inv(A + B)*B is spd: a parallel sum A*inv(A + B)*B"]),
    ("Q'*diag(d)*Q", "d: vector(n) positive; Q: matrix(n, n) nonsingular",
     ["Q'*diag(d)*Q is spd: of the form B'*P*B with a positive diagonal P and independent columns of B"]),
    ("S - S*a*a'*S/(1 + a'*S*a)", "S: matrix(n, n) spd; a: vector(n)",
     ["S - S*a*a'*S/(1 + a'*S*a) is spd: the Schur complement of M = 1 + a'*S*a in a psd block matrix"
      " [P, C; C', M] with P = S"]),
    ("S[2:, 2:] - S[2:, :2]*inv(S[:2, :2])*S[:2, 2:]", "S: matrix(n, n) spd",
     ["(S - S[:, :2]*inv(S[:2, :2])*S[:, :2]')[2:, 2:] is spd: the Schur complement of the other rows and columns of S,"
      " which is spd"]),
]  # fmt: skip


@pytest.mark.parametrize(("text", "let", "expected"), FACTS, ids=[case[0] for case in FACTS])
def test_facts_have_reasons(text, let, expected):
    e = mc.expression(text, let)
    found = [re.sub(r" \(rules/.*\)$", "", line.partition(". ")[2]) for line in e.explain().splitlines()]
    assert found[-len(expected) :] == expected
    data = make(let, 2, sizes=SIZES)
    value_ = np.asarray(e(**{name: data.get(name, SIZES.get(name)) for name in e.symbols}))
    assert all(defect(value_, fact) < 1e-9 for fact in e.facts)


def test_facts_used_are_named():
    """Only facts without which the result would differ are named."""
    shown = mc.gradient("x'*A*x + b'*x", "x", "A: matrix(n, n) spd; b: vector(n) positive; x: vector(n)").explain()
    assert "A is symmetric (declared spd)" in shown
    assert "b is" not in shown


@pytest.mark.sampled(4)
@pytest.mark.parametrize(("text", "wrt", "let"), STANDARD, ids=[case[0] for case in STANDARD])
def test_latex_and_markdown_have_the_same_lines(text, wrt, let):
    e = PAGES["derived"](text, wrt, let)
    count = len(lines(e.explain()))
    latex, markdown = e.explain("latex").splitlines(), e.explain("markdown").splitlines()
    assert (latex[0], latex[-1]) == ("\\begin{align*}", "\\end{align*}")
    assert len(latex) - 2 == len(markdown) == count
    assert all("&=" in line for line in latex[1:-1])
    assert [line.partition(".")[0] for line in markdown] == [str(k) for k in range(1, count + 1)]
    for line in (*latex[1:-1], *markdown):
        assert line.count("{") == line.count("}")
        assert line.count("$") % 2 == 0


def test_unknown_form():
    with pytest.raises(mc.NotSupported, match="text, latex, markdown"):
        mc.gradient("x'*x", "x").explain("html")


def test_page_is_fresh():
    assert PAGES["PAGE"].read_text(encoding="utf-8") == PAGES["page"](), "python docs/derivations.py"


@pytest.mark.parametrize(
    ("text", "let", "last"),
    [
        ("x[k]^2", "x: vector(n); k: index", "2*x[k]*eye(n)[:, k]"),
        ("-log_softmax(x)[k]", "x: vector(n); k: index", "softmax(x) - eye(n)[:, k]"),
        ("sum(x[i])", "x: vector(n); i: index(N)", "eye(n)[:, i]*ones(N)"),
    ],
)
def test_indices_that_are_data(text, let, last):
    """There is no weaker fact with which the result could be read."""
    assert mc.expression(text, let).gradient("x").explain().endswith(f"gradient = {last}")
