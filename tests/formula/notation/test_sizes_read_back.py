"""Printed formulas read back with sizes of every kind in every position, and with sufficient declarations.

Sizes occur as numbers, exponents, bounds of parts, lengths of `ones` and `eye`, offsets of conditions, and in every
operation of the rulebook with an integer parameter. Some remain in the result as numbers alone, or not at all.
"""

import pickle

import pytest

import matcalc as mc
from matcalc.rulebook.load import default_rulebook

LET = (
    "X: matrix(n, n); S: matrix(n, n) symmetric; A: matrix(m, n); x: vector(n); y: vector(m); c: scalar; "
    "n: size; m: size; q: size; r: size"
)
SIZES = [
    "3", "0", "1", "2", "q", "q + 1", "2*q", "q*r", "q//2", "(q + 1)//2", "min(q, r)", "max(q, 3)", "q - 1",
    "2*min(q, r) + 1", "n", "n + q", "n//2", "q*(q + 1)//2", "r*(q//2)", "(q//2)//r", "q//r//2", "min(q, r, 2)",
    "max(q, min(r, 5))", "n - m", "q*q",
]  # fmt: skip
FORMS = [
    "{s}", "({s})*c", "c/({s})", "c^({s})", "x.^({s})", "({s})*x", "x + ({s})", "2^({s})", "exp({s})", "sum(x)/({s})",
    "x[{s}]", "x[{s}:]", "x[:{s}]", "x[-({s}):]", "A[{s}, :]", "A[:, {s}:]", "A[{s}:{s} + 1, :]", "x[{s}:n]",
    "{{k: x[i]*y[j]*ones({s})[k]*[k == i + j]}}", "{{i: x[j]*ones({s})[i]*[i == j]}}",
    "{{i: x[j]*ones({s})[i]*[i == j + 1]}}", "{{i: x[j]*ones(n)[i]*[i == j + ({s})]}}",
    "{{i,j: X[i,j]*[i >= j + ({s})]}}", "{{i: x[j]*ones(n)[i]*[i == (j + ({s})) % n]}}",
    "{{i: x[j]*ones({s})[i]*[i + j == n - 1]}}", "{{i: x[j]*ones({s})[i]*[i + j == ({s}) - 1]}}",
    "{{i: x[j]*ones({s})[i]*[i == (j + 1) % ({s})]}}",
    "sum{{k: c*ones({s})[k]}}", "{{i,j,k: X[i,j]*ones({s})[k]}}", "{{i,j,k: x[i]*ones({s})[j]*eye({s})[j,k]}}",
    "{{i,j,k: ones({s})[i]*[i >= j]*ones(n)[j]*x[k]}}", "tr(eye({s}))", "tr(eye({s}))*c", "sum(ones({s}))*x",
    "sum(eye({s}))", "norm2(eye({s}))*c", "ones({s})*x'", "[x; ones({s})]", "[zeros({s}); x]",
    "kron(ones({s}), x)", "kron(eye({s}), X)", "[X, zeros(n, {s})]", "diag(ones({s}))", "tril(ones({s}, {s}))",
    "commutation({s}, 2)*c", "eye({s})*c + ones({s}, {s})", "mean(ones({s}))", "det(c*eye({s}))",
    "inv(eye({s}) + c*ones({s}, {s}))", "where(x > ({s}), x, 0)", "max(x, {s})",
    "1/({s})/({s})", "exp(1/({s})/({s})/({s}))", "c + 2/({s})/({s})", "x + 1/({s})/({s})", "sqrt(1/({s})/({s}))",
]  # fmt: skip
ARGUMENTS = {
    "scalar": "c",
    "vector": "x",
    "entry": "x",
    "array": "x",
    "matrix": "X",
    "integer": "{s}",
    "function": "exp",
}


def calls():
    """Yield a call of each operation that has an integer parameter, with open sizes."""
    for rule in default_rulebook().rules.values():
        for signature in rule.signatures:
            if any(p.kind == "integer" for p in signature.parameters):
                given = [
                    "S" if {"symmetric", "spd"} & set(p.facts) else ARGUMENTS[p.kind] for p in signature.parameters
                ]
                yield f"c*{rule.names[0]}({', '.join(given)})"


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.sampled(36)
def test_reads_back(form):
    assert tried(form, SIZES), "no size fits this form"


@pytest.mark.sampled(36)
@pytest.mark.parametrize("form", list(dict.fromkeys(calls())))
def test_a_call_reads_back(form):
    tried(form, [SIZES[0], *SIZES[4 + len(form) % 7 :: 7]])


def tried(form, sizes):
    """Check a form with each size that it accepts; return the number of sizes."""
    read = 0
    for k, size in enumerate(sizes):
        try:
            e = mc.expression(form.format(s=size), LET)
        except mc.MatcalcError:
            continue
        read += 1
        reads_back(e)
        if k % 8 == len(form) % 8:
            assert pickle.loads(pickle.dumps(e)).node is e.node
            further(e)
    return read


def further(e):
    """Check another form, and a derivative, of an expression."""
    try:
        made = [e.rewrite("index"), *(e.vjp([name for name in e.symbols if name in "cxXA"]))]
    except (mc.NotSupported, mc.NotDifferentiable):
        return
    for one in made:
        reads_back(one)


def reads_back(e):
    shown, declared = str(e), e.declarations
    back = mc.expression(shown, declared)
    assert back.node is e.node, f"{shown} with {declared} reads as {back}"


@pytest.mark.parametrize(
    ("formula", "let", "declared"),
    [
        ("tr(eye(q))", "", "q: size"),
        ("q*tr(X)", "X: matrix(n, n); q: size", "X: matrix(n, n); q: size"),
        ("n*c", "x: vector(n); c: scalar", "c: scalar; n: size"),
        ("n*sum(x)", "x: vector(n)", "x: vector(n)"),
        ("eye(q)", "", ""),
        ("q*eye(q)", "", ""),
        ("c*pi*eye(pi)", "c: scalar", "c: scalar"),
        ("c*tr(eye(pi))", "c: scalar", "c: scalar; pi: size"),
        ("x[q]*c", "x: vector(n); c: scalar; q: size", "x: vector(n); c: scalar"),
        ("0*tr(eye(q)) + c", "c: scalar", "c: scalar"),
    ],
)
def test_sizes_are_declared_where_they_are_needed(formula, let, declared):
    e = mc.expression(formula, let)
    assert e.declarations == declared
    reads_back(e)


def test_index_names_are_no_sizes():
    e = mc.expression("{a,b,c: M[a,b]*ones(i*j*k)[c]}*tr(eye(l))", "M: matrix(p, p)")
    assert not {"i", "j", "k", "l", "p"} & set(str(e)[1 : str(e).index(":")].split(","))
    reads_back(e)


def test_a_size_is_an_object_and_an_argument():
    n, X = mc.symbols("n: size; X: matrix(n, n)")
    e = n * X / (n + 1)
    reads_back(e)
    assert e.substitute(n=3).declarations == "X: matrix(3, 3)"
    f = mc.expression("tr(eye(q))^2 + 1")
    assert (f.symbols, f(q=3)) == (("q",), 10)
    assert f.substitute(q=4)() == 17
