"""Formulas read from SymPy's classes have SymPy's own values at numbers, entry by entry."""

import numpy as np
import pytest
import sympy as sp
from sympy import (
    Abs,
    Adjoint,
    BlockDiagMatrix,
    BlockMatrix,
    Derivative,
    Determinant,
    DiagMatrix,
    Eq,
    FunctionMatrix,
    HadamardPower,
    HadamardProduct,
    Identity,
    ImmutableMatrix,
    KroneckerProduct,
    Lambda,
    MatAdd,
    MatMul,
    Matrix,
    MatrixPermute,
    MatrixSymbol,
    Max,
    Mul,
    OneMatrix,
    PermutationMatrix,
    Piecewise,
    Rational,
    Sum,
    Symbol,
    Trace,
    ZeroMatrix,
    conjugate,
    exp,
    log,
    pi,
    sign,
    sqrt,
)
from sympy.combinatorics import Permutation
from sympy.matrices.expressions.diagonal import DiagonalMatrix
from sympy.matrices.expressions.dotproduct import DotProduct

import matcalc as mc

n, m = 3, 2
X, A, B = (MatrixSymbol(name, n, n) for name in "XAB")
R = MatrixSymbol("R", m, n)
x, y = MatrixSymbol("x", n, 1), MatrixSymbol("y", n, 1)
r, s = MatrixSymbol("r", 1, n), MatrixSymbol("s", 1, 1)
c, d, t = Symbol("c"), Symbol("d", positive=True), Symbol("t")
EXPRESSIONS = [
    r.applyfunc(exp),
    DiagMatrix(r),
    HadamardProduct(r, x.T),
    KroneckerProduct(r,r),
    KroneckerProduct(r,X),
    KroneckerProduct(x,r),
    KroneckerProduct(x,y.T),
    KroneckerProduct(s,r),
    BlockMatrix([[r],[r]]),
    BlockMatrix([[r],[X]]),
    BlockMatrix([[x, X]]),
    BlockMatrix([[x, x]]),
    BlockMatrix([[r, r]]),
    BlockMatrix([[x],[y]]),
    BlockMatrix([[s, r],[x, X]]),
    BlockMatrix([[s, s],[s, s]]),
    BlockDiagMatrix(X, s, R),
    BlockDiagMatrix(x, r),
    r[0, 1:],
    r[:, 1:3],
    x[1:, 0],
    X[1:, 0],
    X[0, 1:],
    X[0:2, 0:1],
    X[0:1, 0:2],
    X[0:1, 1:2],
    (X*A)[1, 2],
    (X*A)[1:, 0:2],
    (X.T)[0, 1],
    (x.T)[0, 1],
    (r.T)[1, 0],
    (x*r)[0, 1],
    (x*r)[0:2, 1],
    r*X*x,
    r*X,
    X*r.T,
    x*(r*x),
    x*s,
    s*r,
    X + s[0,0]*Identity(n),
    Trace(s)*X,
    Determinant(s)*X,
    HadamardPower(r, 2),
    HadamardPower(X, HadamardPower(A,1)),
    HadamardPower(2, x),
    x.applyfunc(Lambda(t, Piecewise((t, t>1),(t**2,True)))),
    x.applyfunc(Lambda(t, Piecewise((t, Eq(t,1)),(t**2*c,True)))),
    x.applyfunc(Lambda(t, Max(t, 1, c))),
    x.applyfunc(Lambda(t, t**c)),
    x.applyfunc(Lambda(t, c**t)),
    x.applyfunc(Lambda(t, t**Rational(-3,2))),
    x.applyfunc(Lambda(t, 1/t - t*c/2)),
    x.applyfunc(Lambda(t, exp(-t**2/2)/sqrt(2*pi))),
    x.applyfunc(Lambda(t, Abs(t-1)*sign(c-t))),
    x.applyfunc(Lambda(t, 3)),
    X.applyfunc(Lambda(t, t*(x.T*y)[0,0])),
    X.applyfunc(Lambda(t, t+X[0,0])),
    (X - A).applyfunc(Lambda(t, t**2)).T*x,
    DiagonalMatrix(R),
    DiagonalMatrix(X)*x,
    DiagMatrix(x)*X*DiagMatrix(r),
    DotProduct(x,y)*X,
    DotProduct(x,x)**2,
    sqrt(x.T*x),
    (x.T*x)**Rational(3,2),
    (x.T*x)**c,
    exp((x.T*X*x)[0,0]/10)*x,
    Sum(x[t,0]**2,(t,0,n-1))*X,
    X**-2,
    X**0,
    -X,
    -(X*A) + 2*(A*X) - X/3,
    X*2*A*c,
    Adjoint(X*A),
    conjugate(X)*A,
    (X*A).T,
    Trace(X*A)/Trace(X),
    Trace(KroneckerProduct(X,R*R.T)),
    Matrix([[1,2,3]])*x,
    Matrix([[1],[2],[3]]),
    Matrix([[1,2,3]]),
    Matrix([[1,2,3]]).T*r,
    Matrix([[c,1],[x[0,0],2]]),
    Matrix(2,2,[1,2,3,4])*R,
    Matrix([[1,2],[3,4]]).inv()*R,
    OneMatrix(n,m)*R,
    OneMatrix(1,n)*x,
    ZeroMatrix(n,m),
    ZeroMatrix(n,1)+x,
    OneMatrix(1,n),
    Identity(n)*x,
    PermutationMatrix(Permutation(0,2,1))*x,
    MatrixPermute(X, Permutation(0,2,1)),
    FunctionMatrix(n,n,Lambda((t,c),t+2*c))*x,
    Derivative(c**2, c).doit()*X,
    Mul(X, A, evaluate=False)*x,
    MatAdd(X, MatMul(-1, A)),
    MatMul(-1, X, A),
    MatMul(-2, X, A) - MatMul(-3, A),
    MatAdd(X, -A, -B),
    MatAdd(-X, -A),
    HadamardProduct(-X, A),
    HadamardProduct(-X, A) - HadamardProduct(X, -A),
    Rational(-1,2)*X - c*A,
    (-c)*X,
    X*(-c)/d,
    log(Abs(Determinant(X)))*x,
    sqrt(Trace(X.T*X)),
    sqrt(Trace(X*X)),
    1/sqrt(x.T*x)[0,0],
    x/sqrt((x.T*x)[0,0]),
]  # fmt: skip
SHAPES = {"X": (n, n), "A": (n, n), "B": (n, n), "R": (m, n), "x": (n, 1), "y": (n, 1), "r": (1, n), "s": (1, 1)}


def numbers():
    rng = np.random.default_rng(0)
    drawn = {name: rng.uniform(0.3, 1.5, shape) for name, shape in SHAPES.items()}
    return {**drawn, "A": drawn["A"] + 2 * np.eye(n), "c": 0.7, "d": 1.2}


def at_numbers(expr):
    """Return SymPy's own value, with sums and products expanded before numbers are substituted."""
    data = numbers()
    values = {symbol: ImmutableMatrix(data[symbol.name]) for symbol in (X, A, B, R, x, y, r, s)}
    values |= {c: data["c"], d: data["d"]}
    made = expr.as_explicit() if hasattr(expr, "as_explicit") else expr
    made = made.subs(values) if isinstance(made, Matrix) else made.subs(values).doit().subs(values)
    made = made.as_explicit() if hasattr(made, "as_explicit") else made
    return np.array(sp.N(Matrix(made) if hasattr(made, "shape") else Matrix([[made]])).tolist(), dtype=float)


@pytest.mark.parametrize("expr", EXPRESSIONS, ids=str)
@pytest.mark.sampled(32)
def test_value_is_that_of_sympy(expr):
    e = mc.from_sympy(expr)
    squeezed = {name: value if np.ndim(value) == 0 else np.squeeze(value) for name, value in numbers().items()}
    found, expected = np.asarray(e(**{name: squeezed[name] for name in e.symbols})), at_numbers(expr)
    assert found.shape == tuple(length for length in expected.shape if length != 1)
    assert np.allclose(found.reshape(expected.shape), expected, rtol=1e-10)


def test_products_that_sympy_has_flattened():
    """`A*(x.T*y)` is A, x.T and y in one product, where neighbours do not fit."""
    k = Symbol("k")
    M, u, v = MatrixSymbol("M", k, k), MatrixSymbol("u", k, 1), MatrixSymbol("v", k, 1)
    for expr in (M * (u.T * v), (u.T * v) * M, M * (u.T * v) * M, (u.T * M * v) * M * u):
        factors = [factor for factor in expr.args if factor.is_Matrix]
        data = {"M": numbers()["X"], "u": numbers()["x"][:, 0], "v": numbers()["y"][:, 0]}
        inner = data["u"] @ (data["M"] @ data["v"] if len(factors) == 5 else data["v"])
        outer = data["M"] @ data["u"] if len(factors) == 5 else data["M"]
        outer = data["M"] @ outer if len(factors) == 4 else outer
        assert np.allclose(mc.from_sympy(expr)(**data), inner * outer)


@pytest.mark.parametrize(
    ("expr", "error", "named"),
    [
        (MatAdd(MatrixSymbol("M", t, t), Matrix([[c]])), mc.ShapeError, "different shapes"),
        (DiagonalMatrix(x), mc.NotSupported, "DiagMatrix"),
        (sp.sin(X), mc.NotSupported, "applyfunc"),
        (sp.Permanent(X), mc.NotSupported, "Permanent"),
        (X + sp.I * A, mc.NotSupported, "are real here"),
        (Symbol("z", imaginary=True) * c, mc.NotSupported, "are real here"),
        (Symbol("z", complex=True) * c, mc.NotSupported, "complex"),
        (sp.Dummy("c") + c, mc.NotSupported, "two SymPy symbols named c"),
        (Symbol("pi") + pi, mc.NotSupported, "two SymPy symbols named pi"),
        (sp.Integral(c, (c, 0, 1)), mc.NotSupported, "evaluate it first"),
        (X[::2, :], mc.NotSupported, "step 2"),
    ],
)
def test_what_is_refused(expr, error, named):
    with pytest.raises(error, match=named):
        mc.from_sympy(expr)
