"""Formulas in SymPy: their value equals NumPy's value of the node, and they read back to the same node."""

import numpy as np
import pytest
import sympy as sp

from matcalc.calculus.evaluate.evaluate import evaluate
from matcalc.errors import NotSupported
from matcalc.expressions.sympy_bridge import from_sympy
from matcalc.expressions.sympy_bridge.write import to_sympy
from matcalc.formula.elaborate.texts import elaborate
from matcalc.formula.notation.write_node import whole_formula_of

LET = (
    "X: matrix(3, 2); A: matrix(2, 2); S: matrix(2, 2) spd; x: vector(2) positive; y: vector(2); "
    "z: vector(3); c: scalar; d: scalar positive"
)
FORMULAS = """
    X*x - z
    2*X'*(X*x - z)
    x'*A*y
    (x'*A*x)*A + x*y'
    norm2(X*x - z)^2
    norm2(x)*x
    normalize(x)
    A.*S - A./S
    x.^3
    1./x
    1 - x
    x + c
    exp(A)
    sqrt(x)
    sigmoid(X*x)
    max(y, 0)
    where(y > 0, c, 1)
    inv(A)*y
    A^2
    tr(A*S)
    det(A)
    logdet(S)
    diag(x)*A
    sum(X)
    sum(X, axis=0)
    X*ones(2)
    kron(A, x)
    softmax(x)
    logsumexp(x)
    [A, x; y', c]
    [x; z]
    [1, 2; 3, 4]*x
    X[0, :]
    X[:, -1]
    X[1:, 0]
    x[-1]
    A[1, 0]
    c/d
    c^2/3 - sin(c)
    log1p(d)
    pi*c
    hypot(c, d)
    softplus(c)
    betaln(c, d)
    psi_gap(1, c, d)
    gammainc(c, d)
    gammaincc(d, c)
    gammainc_diff(0, 1, d, c)
    gammainc_diff(0, 2, d, c)
    betainc(c, d, c)
    betainc_diff(1, 0, 1, d, d, c)
    erfcx(c)
    sinc(d)
    log_ndtr(c)
    over_hypot(c, d)
    softmax2(c, d)
""".strip().splitlines()


def data():
    rng = np.random.default_rng(5)
    square = rng.standard_normal((2, 2))
    return {
        "X": rng.standard_normal((3, 2)),
        "A": rng.standard_normal((2, 2)),
        "S": square @ square.T + np.eye(2),
        "x": rng.uniform(0.5, 2, 2),
        "y": rng.standard_normal(2),
        "z": rng.standard_normal(3),
        "c": 0.7,
        "d": 1.3,
    }


@pytest.mark.sampled(4)
@pytest.mark.parametrize("formula", [line.strip() for line in FORMULAS])
def test_value_and_way_back(formula):
    read = elaborate([formula], LET)
    expr = to_sympy(whole_formula_of(read.nodes[0]), read.scope.symbols)
    given = data()
    expected = np.asarray(evaluate(read.nodes, given, {})[0])
    found = np.array(sp.Matrix([[_number(expr, given)]]) if not expr.is_Matrix else _number(expr, given))
    assert np.allclose(found.astype(float).reshape(expected.shape), expected)
    tree, symbols = from_sympy(expr)
    back = elaborate([tree], symbols={**symbols, **{k: read.scope.symbols[k] for k in symbols}})
    assert np.allclose(evaluate(back.nodes, given, {})[0], expected)


def _number(expr, given):
    values = {}
    for s in expr.free_symbols:
        value = given[s.name]
        values[s] = sp.Matrix(np.reshape(value, s.shape)) if s.is_Matrix else value
    found = expr.subs(values).doit()
    return sp.N(found.as_explicit() if found.is_Matrix else found)


def test_vectors_are_columns_and_scalars_are_scalars():
    read = elaborate(["x'*A*x", "A*x"], "A: matrix(n, n); x: vector(n)")
    scalar, vector = (to_sympy(whole_formula_of(node), read.scope.symbols) for node in read.nodes)
    assert not scalar.is_Matrix
    assert vector.shape == (sp.Symbol("n"), 1)


@pytest.mark.parametrize(
    ("formula", "printed"),
    [
        ("eigh_V(S)", "eigh_V(S)"),
        ("expm(A)*x", "expm(A)*x"),
        ("lambda_max(S)*A", "lambda_max(S)*A"),
        ("flip(x)", "flip(x)"),
        ("max(x, y)", "max(x, y)"),
        ("where(x > y, x, 2*y)", "where_gt(x, y, x, 2*y)"),
        ("prod(A, axis=1)", "prod(A, axis=1)"),
        ("matfun(log, S)", "matfun(log, S)"),
        ("matfun(t -> log(1 + t^2), S)", "matfun(Lambda(x, log(x**2 + 1)), S)"),
        ("reshape(X, 2, 3)", "reshape(vec(X), 2, 3)"),
    ],
)
def test_operations_that_sympy_has_no_class_for(formula, printed):
    """They print by name, read back as equal, and evaluate once their operands are numbers."""
    read = elaborate([formula], LET)
    expr = to_sympy(whole_formula_of(read.nodes[0]), read.scope.symbols)
    assert str(expr) == printed
    tree, symbols = from_sympy(expr)
    assert elaborate([tree], symbols={**symbols, **read.scope.symbols}).nodes == read.nodes
    expected = np.asarray(evaluate(read.nodes, data(), {})[0])
    found = np.array(_number(expr, data())).astype(float)
    assert np.allclose(found.reshape(expected.shape), expected)
    assert sp.latex(expr)
    names = sorted(expr.free_symbols - {sp.Symbol("t")}, key=str)
    coded = sp.lambdify(names, expr)(*(np.reshape(data()[s.name], s.shape) for s in names))
    assert np.allclose(np.reshape(coded, expected.shape), expected)


@pytest.mark.parametrize(
    "formula",
    ["{i,j,k: A[i,j]*x[k]}", "{i,j,k: A[i,l]*A[l,j]*exp(x[k] - x[j])}", "{i,j,k,l: T[i,j,k]*A[l,k]}"],
)
def test_tensors_by_their_entries(formula):
    let = f"{LET}; T: tensor(2, 2, 2)"
    read = elaborate([formula], let)
    expr = to_sympy(whole_formula_of(read.nodes[0]), read.scope.symbols)
    tree, symbols = from_sympy(expr)
    assert elaborate([tree], symbols={**symbols, **{k: read.scope.symbols[k] for k in symbols}}).nodes == read.nodes


@pytest.mark.parametrize(
    ("formula", "named"),
    [
        ("exp(T)", "T, a tensor of order 3"),
        ("sort_P(X, axis=1)", "sort_P with a result of order 3"),
        ("betainc_diff(1, 0, 0, c, d, c)", r"orders \(1, 0, 0\) has no SymPy form"),
    ],
)
def test_what_has_no_sympy_form(formula, named):
    read = elaborate([formula], f"{LET}; T: tensor(2, 2, 2)")
    with pytest.raises(NotSupported, match=named):
        to_sympy(whole_formula_of(read.nodes[0]), read.scope.symbols)


@pytest.mark.whole
def test_too_deep_for_sympy_is_an_error_of_ours():
    read = elaborate(["x"], LET)
    ast = whole_formula_of(read.nodes[0])
    from matcalc.language import syntax

    for _ in range(3000):
        ast = syntax.add((syntax.product((syntax.name("A"), ast), ("*",)), syntax.name("y")), (1, 1))
    with pytest.raises(NotSupported, match="too deeply"):
        to_sympy(ast, read.scope.symbols | {"A": elaborate(["A"], LET).nodes[0]})
