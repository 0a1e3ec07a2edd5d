"""Short forms read as a person would write them and equal differences on every path; the driver never lengthens."""

import re

import numpy as np
import pytest

import matcalc as mc
from matcalc.calculus.simplify.shorten import measure, shortened
from matcalc.formula.notation.length import tokens
from matcalc.rulebook.load import default_rulebook
from matcalc.testing.forms import forms

SPD = "A: matrix(n, n) spd; B: matrix(n, n) spd"
LAYERS = "X: matrix(k, d); U: matrix(d, h); b: vector(h); W: matrix(h, o); Y: matrix(k, o)"
SHORT = [
    ("jacobian", "vech(X)", "X", "X: matrix(n, n)", "vech_at(n)"),
    ("jacobian", "vech(diag(x))", "x", "x: vector(n)", "{i,j: vech_at(n)[i,j,j]}"),
    ("gradient", "c'*vech(X)", "X", "X: matrix(n, n); c: vector(n*(n + 1)//2)", "{i,j: vech_at(n)[k,i,j]*c[k]}"),
    ("gradient", "cos(q[0] + q[1])", "q", "q: vector(2)", "-sin(q[0] + q[1])*[1; 1]"),
    ("gradient", "eigvalsh(S)[1]", "S", "S: matrix(n, n) symmetric", "eig_top(S, n - 1) - eig_top(S, n - 2)"),
    ("gradient", "eigvalsh(S)[-2]", "S", "S: matrix(n, n) symmetric", "eig_top(S, 2) - eig_top(S, 1)"),
    ("gradient", "tr(A) + tr(B) - 2*tr(sqrtm(sqrtm(A)*B*sqrtm(A)))", "A", SPD,
     "eye(n) - A^-0.5*sqrtm(sqrtm(A)*B*sqrtm(A))*A^-0.5"),
    ("gradient", "norm2(tanh(X*U + ones(k)*b')*W - Y)^2", "b", LAYERS,
     "2*sum(((tanh(X*U .+ b')*W - Y)*W')./cosh(X*U .+ b').^2, axis=0)"),
    ("gradient", "nuclear_norm(X)", "X", "X: matrix(m, n)", "polar_U(X)"),
    ("gradient", "(x'*A*x)/(x'*x)", "x", "x: vector(n); A: matrix(n, n) symmetric",
     "2*(A*x - (x'*A*x)*x/(x'*x))/(x'*x)"),
    ("gradient", "x'*B*x", "x", "x: vector(n); B: matrix(n, n)", "(B + B')*x"),
    ("gradient", "tr(C'*lu_U(X))", "X", "X: matrix(3, 3); C: matrix(3, 3)",
     "lu_P(X)*inv(lu_L(X))'*(triu(C) - tril(triu(C)*lu_U(X)', -1)*lu_inverse(X)')"),
    ("gradient", "tr(C'*qr_R(X))", "X", "X: matrix(3, 5); C: matrix(3, 5)",
     "qr_Q(X)*(triu(C) - [tril(2*skew(triu(C)*qr_R(X)'), -1)*inv(regular(qr_R(X)[:, :3]))', zeros(3, 2)])"),
    ("gradient", "norm2(circulant(c)*x)^2", "c", "c: vector(n); x: vector(n)", "2*circulant(x)'*circulant(c)*x"),
    ("gradient", "tr(C'*circulant(c))", "c", "c: vector(n); C: matrix(n, n)",
     "{i < n: C[j,k]*[j == i + k] + C[j,k]*[j == i + k - n]}"),
]  # fmt: skip
SIZES = {"n": 3, "m": 4, "k": 4, "d": 2, "h": 3, "o": 2}


def drawn(e, rng):
    """Return data for the symbols of an expression; symmetric and definite matrices have separated eigenvalues."""
    found = {}
    for name in (d.partition(":")[0].strip() for d in e.declarations.split(";")):
        shape = [eval(size, {}, SIZES) for size in sizes(e, name)]  # noqa: S307 - of this file
        value = rng.standard_normal(shape)
        if {"symmetric", "spd"} & set(facts(e, name)):
            value = value @ value.T + 0.3 * np.diag(np.arange(shape[0]))
        found[name] = value
    return found


def declared(e, name):
    return next(d.partition(":")[2].strip() for d in e.declarations.split(";") if d.partition(":")[0].strip() == name)


def sizes(e, name):
    inner = declared(e, name).partition("(")[2]
    depth, text, parts = 1, "", []
    for char in inner:
        depth += (char == "(") - (char == ")")
        if depth == 0:
            break
        if char == "," and depth == 1:
            parts.append(text)
            text = ""
        else:
            text += char
    return [*parts, text]


def facts(e, name):
    return declared(e, name).rpartition(")")[2].split()


def differences(e, wrt, at, shape):
    """Return the derivative by central differences of two widths, extrapolated; in symmetric directions on request."""
    x = at[wrt]
    symmetric = bool({"symmetric", "spd"} & set(facts(e, wrt)))
    slopes = np.zeros(shape)
    for place in np.ndindex(x.shape):
        direction = np.zeros(x.shape)
        direction[place] = 1.0
        if symmetric:
            direction = (direction + direction.T) / 2
        values = [e(**{**at, wrt: x + h * direction}) - e(**{**at, wrt: x - h * direction}) for h in (1e-3, 5e-4)]
        slopes[(..., *place)] = (4 * values[1] / 1e-3 - values[0] / 2e-3) / 3
    return slopes


def check(row, target):
    kind, text, wrt, declarations, printed = row
    e = mc.expression(text, declarations)
    derivative = getattr(e, kind)(wrt)
    assert str(derivative).partition(" where ")[0] == printed
    at = drawn(e, np.random.default_rng(5))
    names = set(re.findall(r"\w+", printed))
    held = {name: value for name, value in at.items() if name in names}
    is_told = any("n" in map(str.strip, sizes(e, name)) for name in held)
    held |= {} if is_told or wrt in names else {"n": SIZES["n"]}
    found = np.asarray(mc.compile(derivative, target=target)(**at) if target else derivative(**at))
    truth = differences(e, wrt, at, found.shape)
    assert np.max(np.abs(found - truth)) < 1e-7 * max(np.max(np.abs(truth)), 1)
    again = mc.expression(printed, derivative.declarations)(**held)
    assert np.max(np.abs(found - again)) < 1e-12 * max(np.max(np.abs(found)), 1)


@pytest.mark.sampled(18)
@pytest.mark.parametrize("target", [None, "numpy"])
@pytest.mark.parametrize("row", SHORT, ids=lambda row: row[1])
def test_the_form_is_short_and_its_values_are_those_of_differences(row, target):
    check(row, target)


@pytest.mark.whole
@pytest.mark.parametrize("row", SHORT, ids=lambda row: row[1])
def test_the_short_form_compiled(row):
    check(row, "numba")


@pytest.mark.sampled(3)
@pytest.mark.parametrize("n", [2, 3, 5])
def test_each_eigenvalue_at_ties_and_apart(n):
    rng = np.random.default_rng(n)
    Q = np.linalg.qr(rng.standard_normal((n, n)))[0]
    for w in (np.arange(n, dtype=float), np.repeat(2.0, n), np.minimum(np.arange(n), 1.0)):
        S = Q @ np.diag(w) @ Q.T
        for k in range(n):
            tied = w == w[k]
            truth = Q[:, tied] @ Q[:, tied].T / np.count_nonzero(tied)
            gradient = mc.gradient(f"eigvalsh(S)[{k}]", "S", "S: matrix(n, n) symmetric")
            assert np.max(np.abs(gradient(S=(S + S.T) / 2) - truth)) < 1e-12


def test_the_driver_takes_no_longer_form_whatever_is_proposed():
    e = mc.expression("A*x + B*x", "A: matrix(n, n); B: matrix(n, n); x: vector(n)")
    longer = mc.expression("A*x + B*x + (A + B)*x - (A + B)*x + 0*A*B*x", e.declarations).expand()
    worse = mc.expression("inv(inv(A))*x + B*x", e.declarations)
    assert shortened([e.node], [lambda node: [worse.node, longer.node] if node is e.node else []]) == [e.node]
    better = mc.expression("(A + B)*x", e.declarations).node
    assert shortened([e.node], [lambda node: [better] if node is e.node else []]) == [better]
    assert measure(better) < measure(e.node)


@pytest.mark.parametrize(
    ("text", "printed"),
    [
        ("[x; z] + y", "[x; z] + y"),
        ("y - [x; z]", "y - [x; z]"),
        ("2*[x; zeros(m)] - 3*[zeros(n); z] + y", "[2*x; -3*z] + y"),
        ("[C, zeros(n, m); zeros(m, n), zeros(m, m)] + [zeros(n, n + m); zeros(m, n), D] + E",
         "[C, zeros(n, m); zeros(m, n), D] + E"),
    ],
)  # fmt: skip
def test_blocks_among_terms_are_one_array(text, printed):
    declarations = (
        "x: vector(n); y: vector(n + m); z: vector(m); C: matrix(n, n); D: matrix(m, m); E: matrix(n + m, n + m)"
    )
    e = mc.expression(text, declarations)
    assert str(e) == printed
    assert mc.expression(str(e), declarations).node is e.node
    assert tokens(str(e)) <= tokens(text)


SYMMETRIC_SUMS = [
    "a./A + (a./A)'", "(a./A + (a./A)')/(8 + 8*sum((a./A).^2)) + S", "A.*B + A'.*B'", "A./B + A'./B'", "a*A + a*A' + S",
    "x*y' + y*x'", "A*B + B'*A'", "S.*A + S.*A'", "A.^2 + (A').^2", "1./(A.*B) + 1./(A'.*B')", "diag(x)*A + A'*diag(x)",
]  # fmt: skip


def asking_for_symmetry():
    return [
        form
        for form in forms(default_rulebook())
        if len(form.slots) == 1 and form.slots[0].facts == ("symmetric",) and form.rank < 3
    ]


@pytest.mark.thinned(2)
@pytest.mark.whole
@pytest.mark.parametrize("inner", SYMMETRIC_SUMS)
def test_what_an_operation_asks_of_a_sum_is_known_of_the_shorter_form(inner):
    names = "A: matrix(n, n); B: matrix(n, n); S: matrix(n, n) symmetric; x: vector(n); y: vector(n); a: scalar"
    asking = asking_for_symmetry()
    assert len(asking) > 8
    for form in asking:
        text = re.sub(r"<(\w+)>", r"\1", form.text).replace("{" + form.slots[0].name + "}", f"({inner})")
        made = mc.expression(f"sum({text})", names)
        for wrt in set("AxaS").intersection(inner):
            slope = made.gradient(wrt)
            assert mc.expression(str(slope), slope.declarations) == slope, (text, wrt)
