"""Sums, indices and arrays of SymPy: values equal to SymPy's own at numbers, and unsupported forms raise."""

import numpy as np
import pytest
import sympy as sp
from sympy import FunctionMatrix, Idx, IndexedBase, KroneckerDelta, Lambda, MatrixSymbol, Piecewise, Product, Sum
from sympy.tensor.array.expressions import (
    ArrayAdd,
    ArrayContraction,
    ArrayDiagonal,
    ArrayElementwiseApplyFunc,
    ArraySymbol,
    ArrayTensorProduct,
    OneArray,
    PermuteDims,
    ZeroArray,
)
from sympy.tensor.array.expressions.array_expressions import Reshape

import matcalc as mc

m, n = 2, 3
i, j, k, last = sp.symbols("i j k l")
c, t = sp.symbols("c t", real=True)
X, A, B = (MatrixSymbol(name, n, n) for name in "XAB")
R = MatrixSymbol("R", m, n)
x, y, r, s = (MatrixSymbol(name, *shape) for name, shape in zip("xyrs", [(n, 1), (n, 1), (1, n), (1, 1)], strict=True))
T = ArraySymbol("T", (n, n, m))
u = ArraySymbol("u", (n, 1))
b, W = IndexedBase("b", shape=(n,)), IndexedBase("W", shape=(m, n))
free = IndexedBase("free")
p, q = Idx("p", n), Idx("q", m)

SUMS = [
    Sum(x[i, 0] * y[i, 0], (i, 0, n - 1)),
    Sum(X[i, i], (i, 0, n - 1)),
    Sum(X[i, j] * A[j, i], (i, 0, n - 1), (j, 0, n - 1)),
    Sum(x[i + 1, 0] * x[i, 0], (i, 0, n - 2)),
    Sum(x[n - 1 - i, 0] * y[i, 0], (i, 0, n - 1)),
    Sum(x[i, 0] ** 2 / (1 + i), (i, 1, n - 1)),
    Sum(i * r[0, i] + c, (i, 0, n - 1)),
    Sum(sp.exp(-y[i, 0] * Sum(R[j, i] * x[i, 0], (j, 0, m - 1))), (i, 0, n - 1)),
    Sum(X[i, j], (j, 0, i), (i, 0, n - 1)),
    Sum(X[i, j] * x[j, 0], (j, i + 1, n - 1), (i, 0, n - 1)),
    Sum(X[i, j], (j, i, i + 1), (i, 0, n - 2)),
    Sum(A[i + 1, j] * A[0, i], (i, 0, n - 2), (j, 1, n - 1)),
    Sum(KroneckerDelta(i, j) * X[i, j], (i, 0, n - 1), (j, 0, n - 1)),
    Sum(Piecewise((X[i, j], sp.And(i >= j, j > 0)), (c, True)), (i, 0, n - 1), (j, 0, n - 1)),
    Sum((X * A)[i, i], (i, 0, n - 1)),
    Sum((x - y)[i, 0] ** 2, (i, 0, n - 1)),
    (x.T * A * y)[0, 0] ** 2 + s[0, 0],
    Sum(c**i, (i, 0, 4)),
    Sum(x[0, 0] * c, (t, 1, 5)),
    Product(1 + x[i, 0] ** 2, (i, 0, n - 1)),
    Product(X[i, i + 1], (i, 0, n - 2)),
    Sum(Product(A[i, j], (j, 0, n - 1)), (i, 0, n - 1)),
    Sum(A[i, 0], (i, 0, n - 1)) * Sum(A[0, i], (i, 0, n - 1)),
]
MATRICES = [
    FunctionMatrix(n, m, Lambda((i, j), i - 2 * j)),
    FunctionMatrix(n, n, Lambda((i, j), x[i, 0] * y[j, 0])) * x,
]
ARRAYS = [
    ArrayTensorProduct(X, x),
    ArrayContraction(ArrayTensorProduct(X, A), (1, 2)),
    ArrayContraction(ArrayTensorProduct(X, A, B), (0, 3), (1, 4)),
    ArrayContraction(ArrayTensorProduct(r, A, x), (1, 2), (3, 4)),
    ArrayDiagonal(X, (0, 1)),
    ArrayDiagonal(ArrayTensorProduct(R, A), (1, 2)),
    ArrayDiagonal(ArrayTensorProduct(x, y), (0, 2)),
    PermuteDims(T, [2, 0, 1]),
    PermuteDims(ArrayTensorProduct(R, x), [1, 2, 3, 0]),
    ArrayAdd(T, PermuteDims(T, [1, 0, 2])),
    ArrayElementwiseApplyFunc(Lambda(c, c**2 + 1), T),
    Reshape(R, (m * n,)),
    ZeroArray(n, m),
    OneArray(n, n, m),
    ArrayContraction(ArrayTensorProduct(u, u), (0, 2)),
]


def numbers():
    rng = np.random.default_rng(6)
    shapes = {"X": (n, n), "A": (n, n), "B": (n, n), "R": (m, n), "T": (n, n, m), "W": (m, n)}
    vectors = dict.fromkeys(("x", "y", "r", "u", "b", "free"), (n,))
    drawn = {name: rng.uniform(0.2, 1.2, shape) for name, shape in (shapes | vectors).items()}
    return drawn | {"c": 0.6, "s": 1.4}


def value(expr):
    e = mc.from_sympy(expr)
    return np.asarray(e(**{name: numbers()[name] for name in e.symbols}))


def written_out(expr):
    """Return sums and products term by term; SymPy's own `doit` leaves some undone."""
    if not expr.has(Sum, Product) or expr.is_Atom:
        return expr
    if not isinstance(expr, (Sum, Product)):
        return expr.func(*map(written_out, expr.args))
    *inner, (index, first, stop) = expr.limits
    body = expr.func(expr.function, *inner) if inner else expr.function
    terms = [written_out(body.subs(index, place)) for place in range(int(first), int(stop) + 1)]
    return sp.Add(*terms) if isinstance(expr, Sum) else sp.Mul(*terms)


def at_numbers(expr):
    """Return SymPy's own value, written out entry by entry."""
    values = {}
    for symbol in expr.atoms(MatrixSymbol):
        values[symbol] = sp.ImmutableMatrix(np.reshape(numbers()[symbol.name], symbol.shape))
    for symbol in expr.atoms(ArraySymbol):
        values[symbol] = sp.ImmutableDenseNDimArray(np.reshape(numbers()[symbol.name.name], symbol.shape))
    found = expr.as_explicit() if hasattr(expr, "as_explicit") else written_out(expr)
    entries = {}
    for symbol, given in values.items():
        for place in np.ndindex(*symbol.shape):
            entries[symbol[place]] = given[place]
    made = found.subs(entries).doit().subs(entries).subs(c, numbers()["c"])
    made = made.tolist() if hasattr(made, "tolist") else made
    return np.array(made, dtype=object).astype(float)


@pytest.mark.sampled(16)
@pytest.mark.parametrize("expr", SUMS + MATRICES + ARRAYS, ids=str)
def test_value_is_that_of_sympy(expr):
    found = value(expr)
    assert np.allclose(found, at_numbers(expr).reshape(found.shape), rtol=1e-10)


@pytest.mark.parametrize(
    ("expr", "text"),
    [
        (Sum(b[i] * sp.log(b[i]), (i, 0, n - 1)), "log(b)'*b"),
        (Sum(free[i], (i, 0, n - 1)), "sum(free)"),
        (b[p], "b"),
        (sp.exp(b[p]) + 1, "1 + exp(b)"),
        (Sum(W[q, p] * b[p], (p, 0, n - 1)), "W*b"),
        (W[q, p], "W'"),
        (T[0, 1, 1], "T[0, 1, 1]"),
        (Sum(T[i, i, 0], (i, 0, n - 1)), "{: T[i,i,0]*ones(3)[i]}"),
        (sp.Array([[1, c], [2, 3]]), "[1, c; 2, 3]"),
        (sp.Array([1, 2, c]), "[1; 2; c]"),
    ],
    ids=str,
)
def test_reads_as(expr, text):
    e = mc.from_sympy(expr)
    again = mc.expression(text, e.declarations)
    data = {name: numbers()[name] for name in e.symbols}
    assert np.allclose(e(**data), again(**data))


@pytest.mark.parametrize(
    ("expr", "named"),
    [
        (Sum(free[i], (i, 1, n)), "without a shape"),
        (b[i], "the position i"),
        (X[i, 0], "the position i"),
        (W[q, p] * b[p], "p is repeated"),
        (b[p] ** 2, "p is repeated"),
        (Sum(x[2 * i, 0], (i, 0, 1)), "shifted or negated"),
        (Product(X[i, j], (j, 0, i), (i, 0, n - 1)), "depend on another"),
        (Sum(X**k, (k, 0, last)), "runs with an index"),
        (sp.Array([[[1, 2], [3, 4]], [[1, 2], [3, 4]]]), "order 3"),
        (Reshape(T, (n, n * m)), "Reshape"),
        (IndexedBase("f")[Idx("z")], "no range"),
    ],
    ids=str,
)
def test_what_is_refused(expr, named):
    with pytest.raises(mc.NotSupported, match=named):
        mc.from_sympy(expr)
