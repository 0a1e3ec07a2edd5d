"""Formulas and their printed forms, each of which reads back to the same node."""

import runpy

import numpy as np
import pytest

import matcalc as mc
from matcalc.errors import NotSupported
from matcalc.formula.elaborate.texts import elaborate
from matcalc.formula.notation.write_node import formula_of
from matcalc.language.write import text
from matcalc.tensor.constructors import constant

LET = (
    "X: matrix(m, n); Y: matrix(m, n); A: matrix(n, n); B: matrix(n, n); P: matrix(p, m); Q: matrix(n, q); "
    "x: vector(n); y: vector(n); z: vector(m); v: vector(m*n); c: scalar; d: scalar positive; "
    "S: matrix(n, n) symmetric; W: matrix(n, n) spd; T: tensor(m, n, k)"
)
IN_SCOPE = {*"XYABPQSTWxyzvcdmnpqk"}

SAME = """
    2*X'*(X*x - z)
    inv(W) - inv(W)*S*inv(W)
    -inv(A)'*B'*inv(A)'
    2*(x'*A*y)*x*y'
    (x'*A*x)/(x'*x)
    A*x + A'*x + y
    (A + A')*x + y
    x.*(A*y)
    x./y.^2
    X'*(z./(X*x))
    A'*diag(x)*A*y
    diag(x)*A*diag(y)
    diag(X*S*X')
    tr(A'*S*A)
    tr(A*B)
    sum(X.*Y)
    norm2(X)^2
    norm2(A*x)^2
    norm2(X*A - Y)^2
    x'*x
    (x.*y)'*A*x
    X*ones(n)
    sum(X, axis=0)
    x*ones(n)'
    A*ones(n, n)
    c*ones(m, n)
    zeros(m, n)
    eye(n)
    diag(x)
    inv(A).*eye(n)
    A + c*eye(n)
    eye(n) - A
    x*x' - eye(n)
    1 - x
    x - 1
    x + c
    X*A + c
    x'*y + c
    1 + c^2
    x/(x'*y)
    (x'*y)^2
    c*x'*y
    mean(x)
    (2*n - 1)*x
    A^3
    X*A^5
    inv(A)^2
    x.^3
    x.^c
    x.^(1/3)
    sqrt(x)
    1./x
    1./sqrt(x)
    1./(A*x).^2
    c^d
    1/c
    c/d
    x/2
    x/16
    0.1*x
    0.05*x
    1.5*x
    2*c/3
    -0.75*c^2/d
    (A + A')/2
    c*x - y/2
    exp(A)'
    exp(A + B')
    tanh(y - x)
    inv(B - A)
    1./(x - y)
    logsumexp(X, axis=0)
    sqrt(x.^2 + 1e-6)
    1./(x + 0.001)
    (X - 1e-8).^2
    x/(norm2(x) + 1e-12)
    log(2*x + 0.001)
    logsumexp(X, axis=1)
    softmax(X, axis=0)
    max(x, 0)
    clip(x, -1, 1)
    where(x > 0, x, y)
    polygamma(2, x)
    matfun(exp, S)
    matfun(x -> log(x)^2, S)
    expm(A, B)
    sylvester(A, B, A*B)
    eigh_V(S)
    vec(P*X*Q)
    vec(X')
    kron(A, B, X)
    kron(x, z)
    kron(x', A)
    kron(X, z)
    kron(A, B) - 2*kron(B, A)*commutation(n, n)
    khatri_rao(X, X*A)
    commutation(m, n)
    reshape(v, m, n)*x
    tril(A.*B)*x
    tril(A, -1)
    triu(A, 2)
    triu(ones(n, n))
    vech(A)
    conv(x, z)
    flip(x)
    circshift(x, 2)
    X[:, 0]
    X[0, :]
    X[1, 2]
    X[1:, :2]
    X*A[:, 0]
    X[:, -1]*X[0, :]'
    sum(X[1:, :])
    x[-1]
    x[1:-1].*y[2:]
    T[:, :, 0]*x
    [X, Y]
    [x; y]
    [x, y]
    [A, B; X, Y]
    [x; 1]
    [A, x; y', c]
    [A, zeros(n, n); zeros(m, n), X]
    [A, B; zeros(m, n), Y]
    [1, 2; 3, 4]*[1; 2]
    [-1, 0.5]
    pi*c
    T
    T.^2
    exp(T)./T
    sum(T)
    c*ones(m, n, k)
    {i,j: sum{l: (T.*exp(T))[i,j,l]}}
    {i,j,l: A[i,j]*B[i,l]}
    {i,j,l: x[i]*eye(n)[j,l]}
    {i,j,l: A[i,j]*x[l] + B[j,l]*x[i]}
    {i,j,l,r: 2*(X'*X)[j,r]*eye(m)[i,l]}
    {i < n, j < n: [i + j == n - 1]}
""".strip().splitlines()

OTHER = [
    ("-2*X'*(z - X*x)", "2*X'*(X*x - z)"),
    ("A'*diag(x)*y", "A'*(x.*y)"),
    ("tr(X'*Y)", "sum(X.*Y)"),
    ("tr(X'*X)", "norm2(X)^2"),
    ("sum(X, axis=1)", "X*ones(n)"),
    ("X.*(z*ones(n)')", "diag(z)*X"),
    ("X + ones(m)*x'", "X .+ x'"),
    ("X - ones(m)*sum(X, axis=0)'/m", "X .- mean(X, axis=0)'"),
    ("X*ones(n)/n", "mean(X, axis=1)"),
    ("X*ones(n)/m", "X*ones(n)/m"),
    ("sum(exp(X), axis=0)/m^2", "sum(exp(X), axis=0)/m^2"),
    ("(c*z'*z)*exp(X)*ones(n)/n", "c*(z'*z)*mean(exp(X), axis=1)"),
    ("normalize(X' - x*ones(m)', axis=0)", "normalize(X .- x', axis=1)'"),
    ("[c, z'*z]", "[c, z'*z]"),
    ("[c, z'*z]'", "[c, z'*z]'"),
    ("[x', z']", "[x', z']"),
    (
        "{i,j,l,r: expm(W', {s,t: eye(n)[i,s]*eye(n)[j,t]})[l,r] - expm(W', {s,t: eye(n)[i,s]*eye(n)[j,t]})[r,l]}",
        "T1 = {i,j,l,r: expm(W, {b,e: eye(n)[j,b]*eye(n)[i,e]})[l,r]}; {i,j,l,r: T1[i,j,r,l]} - T1",
    ),
    ("z*ones(n)' - 2*ones(m)*x' + c", "z .- 2*x' + c"),
    ("c - ones(m)*x' - X", "c - X .- x'"),
    ("-ones(m)*x' - ones(m)*y'", "-ones(m)*(x + y)'"),
    ("(X - z*ones(n)')'*z", "(X .- z)'*z"),
    ("S + x*ones(n)' + ones(n)*x'", "S .+ x .+ x'"),
    ("(Y - ones(m)*y' + X)'", "X' + Y' .- y"),
    ("abs(y - x)", "abs(x - y)"),
    ("-normalize(y - x)", "normalize(x - y)"),
    ("-A'*normalize(y - A*x)", "A'*normalize(A*x - y)"),
    ("-(x - y)./(A*x - y)", "(y - x)./(A*x - y)"),
    ("blkdiag(A, X)", "[A, zeros(n, n); zeros(m, n), X]"),
    ("(X*A)[:, 0]", "X*A[:, 0]"),
    ("(A.*B)[0, :]", "A[0, :].*B[0, :]"),
    ("(x.*y)[0]", "x[0]*y[0]"),
    ("diag(A)[0]", "A[0, 0]"),
    ("kron(ones(2), kron(ones(n), x))", "kron(ones(2*n), x)"),
    ("kron(A, B)*commutation(n, n)*vec(S)", "vec(B*S*A')"),
    ("x[::-1]", "flip(x)"),
    ("3*x*2^-90", "3*x/1237940039285380274899124224"),
    ("0.12345678901234567890123*x", "0.12345678901234567890123*x"),
    ("vech(diag(x))", "vech(diag(x))"),
    ("y./(A[:, 0].^2.*x.^2)", "y./(A[:, 0].^2.*x.^2)"),
    ("softmax(X', axis=0)", "softmax(X, axis=1)'"),
    ("A'*B - B'*A", "A'*B - B'*A"),
    ("0.5*x'*W*x - y'*x", "x'*W*x/2 - x'*y"),
    ("A*S*W*B*A + A'*B'*W*S*A'", "2*sym(A*S*W*B*A)"),
    ("(A*S*W*B*A - A'*B'*W*S*A')*S", "2*skew(A*S*W*B*A)*S"),
    ("4*skew(A*S*W*A) - sym(S*A*W*A)", "4*skew(A*S*W*A) - sym(S*A*W*A)"),
    ("2*(sym(W*S*A*W) - 2*skew(A*S*W*A))*S", "(2*sym(W*S*A*W) - 4*skew(A*S*W*A))*S"),
    ("A*W + W*A'", "A*W + W*A'"),
    (
        "{i,j,a,b: expm(A, {r,s: eye(n)[r,a]*eye(n)[s,b]})[i,j]}",
        "{i,j,l,r: expm(A, {b,e: eye(n)[l,b]*eye(n)[r,e]})[i,j]}",
    ),
]


@pytest.mark.sampled(6)
@pytest.mark.parametrize("formula", [line.strip() for line in SAME])
def test_printed_as_written(formula):
    read = elaborate([formula], LET)
    shown = text(formula_of(read.nodes[0], IN_SCOPE))
    assert shown == formula
    assert elaborate([shown], LET).nodes[0] is read.nodes[0]


@pytest.mark.sampled(4)
@pytest.mark.parametrize(("written", "printed"), OTHER)
def test_printed_better(written, printed):
    read = elaborate([written], LET)
    shown = text(formula_of(read.nodes[0], IN_SCOPE))
    assert shown == printed
    assert elaborate([shown], LET).nodes[0] is read.nodes[0]


def test_symmetric_matrices_are_not_transposed():
    (node,) = elaborate(["X*S'*A'*W'"], LET.replace("A: matrix(n, n)", "A: matrix(n, n) symmetric")).nodes
    assert text(formula_of(node)) == "X*S*A*W"


def test_every_sum_begins_with_a_positive_term():
    (node,) = elaborate(["-x*y' + A - S"], LET).nodes
    assert text(formula_of(node)) == "A - x*y' - S"


@pytest.mark.parametrize(("array", "named"), [(np.zeros((2, 2, 2)), "order 3"), (np.array([np.inf]), "inf")])
def test_literals_without_a_text_are_refused(array, named):
    with pytest.raises(NotSupported, match=named):
        formula_of(constant(array))


@pytest.mark.parametrize(
    ("given", "latex"),
    [
        ("X .+ x'", r"\mathbf{X} + \mathbf{1}_{m} \mathbf{x}^\top"),
        ("X .- z", r"\mathbf{X} - \mathbf{z} \mathbf{1}_{n}^\top"),
    ],
)
def test_rows_and_columns_in_latex_are_repeated_by_ones(given, latex, tmp_path):
    e = mc.expression(given, LET)
    assert e.latex() == latex
    assert mc.expression(latex, e.declarations, dialect="latex").node is e.node
    saved = tmp_path / "saved.py"
    mc.compile(e, target="numpy").save(saved)
    assert f"result = {latex}" in runpy.run_path(str(saved))["__doc__"]


@pytest.mark.parametrize("power", ["2", "3", "2.5", "(1/3)", "15"])
@pytest.mark.parametrize("form", ["{{i,j,k: T[i,j,k]/l[i]^{}}}", "{{i,j,k: T[i,j,k]/X[i,j]^{}}}"])
def test_divisors_that_are_powers_print_in_entries(form, power):
    text = form.format(power)
    e = mc.expression(text, "T: tensor(m, n, n); X: matrix(m, n); l: vector(m)")
    assert str(e) == text
    assert mc.expression(e.latex(), e.declarations, dialect="latex").node is e.node
