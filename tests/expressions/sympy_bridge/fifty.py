"""Fifty formulas, as SymPy objects, that SymPy's own matrix derivatives get wrong, reject or leave undone.

Each row has the formula in the matrix language, written by hand, and the derivative from a book. SymPy cannot express
two things. Its matrix symbols lack methods such as `norm` and `pinv`; row 46 uses other terms and SymPy's classes for
decompositions. Its matrix expressions cannot contain a matrix exponential; row 40 uses the function by name and, for
the bilinear form, the power series.
"""

from dataclasses import dataclass
from typing import Any

import sympy as sp
from sympy import (
    BlockMatrix,
    Determinant,
    DiagMatrix,
    Function,
    HadamardPower,
    HadamardProduct,
    Identity,
    Inverse,
    KroneckerProduct,
    MatrixSymbol,
    OneMatrix,
    Rational,
    Trace,
    exp,
    log,
)
from sympy.matrices.expressions.diagonal import DiagonalMatrix
from sympy.matrices.expressions.factorizations import eig, svd

m, n = sp.symbols("m n", integer=True, positive=True)
t, c = sp.symbols("t c", real=True)
tau = sp.Symbol("tau", positive=True)
k = sp.Symbol("k", integer=True)
u = sp.Symbol("u")
A, B, X, C = (MatrixSymbol(name, n, n) for name in "ABXC")
S = MatrixSymbol("S", n, n)
R = MatrixSymbol("R", n, m)
M = MatrixSymbol("M", m, m)
U, V = MatrixSymbol("U", n, m), MatrixSymbol("V", m, n)
P = MatrixSymbol("P", 3, 3)
x, y, a, b, mu = (MatrixSymbol(name, n, 1) for name in ("x", "y", "a", "b", "mu"))
LET = (
    "A: matrix(n, n); B: matrix(n, n); C: matrix(n, n); X: matrix(n, n); S: matrix(n, n) spd; M: matrix(m, m); "
    "R: matrix(n, m); U: matrix(n, m); V: matrix(m, n); P: matrix(3, 3); x: vector(n); y: vector(n); a: vector(n); "
    "b: vector(n); mu: vector(n); t: scalar; c: scalar; tau: scalar positive"
)


@dataclass(frozen=True)
class Row:
    """A formula, its meaning, and its derivative; `let` adds facts about the symbols, assumed in SymPy too."""

    number: int
    what: str
    formula: Any
    text: str
    wrt: Any
    derivative: str
    kind: str = "gradient"
    known: Any = ()


def norm2(E):
    return Trace(E.T * E)


def ones(E):
    return OneMatrix(1, E.shape[0])


bilinear = (x.T * A * x)[0, 0]
gauss = (x - mu).T * Inverse(S) * (x - mu)
spd = (sp.Q.positive_definite(S),)
softmax = x.applyfunc(exp) / (ones(x) * x.applyfunc(exp))[0, 0]
logistic = ones(y) * HadamardProduct(-y, A * x).applyfunc(sp.Lambda(u, log(1 + exp(u))))
block = BlockMatrix([[X, A], [A.T, X * X]])
f = sp.Lambda(u, u**2 + sp.sin(u))

ROWS = [
    Row(1, "a trace and a number", Trace(X) + 1, "tr(X) + 1", X, "eye(n)"),
    Row(2, "a sum of traces", Trace(X.T * X) + Trace(B.T * B), "tr(X'*X) + tr(B'*B)", X, "2*X"),
    Row(
        3, "a factorisation", norm2(A - U * V) / 2 + norm2(U) / 2, "norm2(A - U*V)^2/2 + norm2(U)^2/2", U,
        "(U*V - A)*V' + U",
    ),
    Row(4, "a trace and one of a square", Trace(X) + Trace(X**2), "tr(X) + tr(X*X)", X, "eye(n) + 2*X'"),
    Row(
        5, "an explicit identity", Trace((P + sp.eye(3)) * (P + sp.eye(3))), "tr((P + eye(3))*(P + eye(3)))", P,
        "2*(P + eye(3))'",
    ),
    Row(6, "a scalar in both factors", (t * X) * (t * X), "(t*X)*(t*X)", t, "2*t*X*X", "jacobian"),
    Row(7, "a determinant", Determinant(X), "det(X)", X, "det(X)*inv(X)'"),
    Row(8, "of a product", Determinant(A * X * B), "det(A*X*B)", X, "det(A*X*B)*inv(X)'"),
    Row(9, "of a Gram matrix", Determinant(V * V.T), "det(V*V')", V, "2*det(V*V')*inv(V*V')*V", known="wide"),
    Row(10, "its logarithm", log(Determinant(X)), "log(det(X))", X, "inv(X)'", known="positive determinant"),
    Row(11, "a multiple", c * Determinant(X), "c*det(X)", X, "c*det(X)*inv(X)'"),
    Row(11, "its inverse", 1 / Determinant(X), "1/det(X)", X, "-inv(X)'/det(X)"),
    Row(12, "scaled", Determinant(t * X), "det(t*X)", t, "det(t*X)*n/t"),
    Row(
        12, "a line of matrices", log(Determinant(S + tau * Identity(n))), "log(det(S + tau*eye(n)))", tau,
        "tr(inv(S + tau*eye(n)))", known=spd,
    ),
    Row(
        13, "an inverse along a line", Inverse(A + t * B), "inv(A + t*B)", t,
        "-inv(A + t*B)*B*inv(A + t*B)", "jacobian",
    ),
    Row(14, "its trace", Trace(Inverse(A + t * B)), "tr(inv(A + t*B))", t, "-tr(inv(A + t*B)*B*inv(A + t*B))"),
    Row(15, "a symbolic power", Trace(X**k), "tr(X*X*X)", X, "3*(X*X)'"),
    Row(16, "a negative power", Trace(X**-2), "tr(inv(X)*inv(X))", X, "-2*(inv(X)*inv(X)*inv(X))'"),
    Row(17, "a square of a Gram matrix", Trace((R.T * R) ** 2), "tr(R'*R*R'*R)", R, "4*R*R'*R"),
    Row(
        18, "the distance from orthogonal", norm2(X.T * X - Identity(n)), "norm2(X'*X - eye(n))^2", X,
        "4*X*(X'*X - eye(n))",
    ),
    Row(
        19, "a form of fourth order", a.T * (X**2).T * X**2 * b, "a'*(X*X)'*X*X*b", X,
        "X'*X*X*(a*b' + b*a') + X*X*(a*b' + b*a')*X'",
    ),
    Row(20, "a Frobenius norm", sp.sqrt(Trace(X.T * X)), "norm2(X)", X, "X/norm2(X)"),
    Row(21, "a form squared", (x.T * A * x) ** 2, "(x'*A*x)^2", x, "2*(x'*A*x)*(A + A')*x"),
    Row(22, "an exponential of a form", exp(-x.T * A * x), "exp(-x'*A*x)", x, "-exp(-x'*A*x)*(A + A')*x"),
    Row(23, "of a trace", exp(Trace(A * X)), "exp(tr(A*X))", X, "exp(tr(A*X))*A'"),
    Row(23, "a logarithm", log(Trace(X.T * X)), "log(tr(X'*X))", X, "2*X/tr(X'*X)"),
    Row(23, "a sine", sp.sin(Trace(X)), "sin(tr(X))", X, "cos(tr(X))*eye(n)"),
    Row(
        24, "a logistic loss", log(1 + exp(-(a.T * x)[0, 0])), "log(1 + exp(-a'*x))", x,
        "-a*exp(-a'*x)/(1 + exp(-a'*x))",
    ),
    Row(
        25, "a Rayleigh quotient", bilinear / (x.T * B * x)[0, 0], "(x'*A*x)/(x'*B*x)", x,
        "(A + A')*x/(x'*B*x) - (x'*A*x)/(x'*B*x)^2*(B + B')*x",
    ),
    Row(
        26, "a quotient of traces", Trace(A * X) / Trace(B * X), "tr(A*X)/tr(B*X)", X,
        "A'/tr(B*X) - tr(A*X)/tr(B*X)^2*B'",
    ),
    Row(27, "a product", Trace(X) * Determinant(X), "tr(X)*det(X)", X, "det(X)*eye(n) + tr(X)*det(X)*inv(X)'"),
    Row(
        28, "a Gaussian, mean", -log(Determinant(S)) / 2 - gauss[0, 0] / 2,
        "-log(det(S))/2 - (x - mu)'*inv(S)*(x - mu)/2", mu, "inv(S)*(x - mu)", known=spd,
    ),
    Row(
        28, "a Gaussian, covariance", -log(Determinant(S)) / 2 - gauss[0, 0] / 2,
        "-log(det(S))/2 - (x - mu)'*inv(S)*(x - mu)/2", S,
        "-inv(S)/2 + inv(S)*(x - mu)*(x - mu)'*inv(S)/2", known=spd,
    ),
    Row(
        29, "logistic regression", logistic, "sum(log(1 + exp(-y.*(A*x))))", x,
        "-A'*(y.*exp(-y.*(A*x))./(1 + exp(-y.*(A*x))))",
    ),
    Row(
        30, "a mask", norm2(HadamardProduct(B, A - X)), "norm2(B.*(A - X))^2", X, "-2*B.*B.*(A - X)",
    ),
    Row(31, "a square of entries", a.T * HadamardProduct(x, x), "a'*(x.*x)", x, "2*a.*x"),
    Row(31, "a cube of entries", a.T * HadamardPower(x, 3), "a'*(x.*x.*x)", x, "3*a.*x.*x"),
    Row(
        32, "a quotient of entries", ones(x) * HadamardProduct(x, HadamardPower(y, -1)), "sum(x./y)", y, "-x./(y.*y)",
    ),
    Row(32, "inverse entries", Trace(HadamardPower(X, -1) * A), "tr((1./X)*A)", X, "-A'./(X.*X)"),
    Row(33, "a Kronecker product", Trace(KroneckerProduct(X, M)), "tr(kron(X, M))", X, "tr(M)*eye(n)"),
    Row(34, "a diagonal matrix", a.T * DiagMatrix(x) * b, "a'*diag(x)*b", x, "a.*b"),
    Row(
        34, "twice", Trace(DiagMatrix(x) * A * DiagMatrix(x)), "tr(diag(x)*A*diag(x))", x, "2*diag(A).*x",
    ),
    Row(35, "the diagonal of a matrix", a.T * DiagonalMatrix(X) * b, "a'*(X.*eye(n))*b", X, "diag(a.*b)"),
    Row(36, "a block matrix", Trace(block * block), "tr([X, A; A', X*X]*[X, A; A', X*X])", X,
        "2*X' + 4*(X*X*X)'"),
    Row(37, "a sine of entries", Trace(X.applyfunc(sp.sin)), "tr(sin(X))", X, "eye(n).*cos(X)"),
    Row(37, "squares of entries", Trace(HadamardPower(X, 2)), "tr(X.*X)", X, "2*eye(n).*X"),
    Row(
        38, "a sum of absolute values", ones(x) * (A * x - b).applyfunc(sp.Abs), "sum(abs(A*x - b))", x,
        "A'*sign(A*x - b)",
    ),
    Row(
        39, "softmax", softmax, "exp(x)/sum(exp(x))", x,
        "diag(exp(x))/sum(exp(x)) - exp(x)*exp(x)'/sum(exp(x))^2", "jacobian",
    ),
    Row(39, "log-sum-exp", log((ones(x) * x.applyfunc(exp))[0, 0]), "log(sum(exp(x)))", x, "exp(x)/sum(exp(x))"),
    Row(40, "a matrix exponential", Function("tr")(exp(X)), "tr(expm(X))", X, "expm(X)'"),
    Row(
        40, "its power series", a.T * sp.Sum(X**k / sp.factorial(k), (k, 0, 3)).doit() * b,
        "a'*(eye(n) + X + X*X/2 + X*X*X/6)*b", X,
        "a*b' + (X'*a*b' + a*b'*X')/2 + (X'*X'*a*b' + X'*a*b'*X' + a*b'*X'*X')/6",
    ),
    Row(41, "a square root", Trace(S ** Rational(1, 2)), "tr(sqrtm(S))", S, "inv(sqrtm(S))/2", known=spd),
    Row(
        42, "an adjugate", Determinant(X) * Trace(Inverse(X)), "det(X)*tr(inv(X))", X,
        "det(X)*tr(inv(X))*inv(X)' - det(X)*(inv(X)*inv(X))'",
    ),
    Row(43, "one entry", X[1, 1], "X[1, 1]", X, "diag(eye(n)[:, 1])"),
    Row(43, "by one entry", Trace(X * A * X), "tr(X*A*X)", X[1, 1], "(X'*A' + A'*X')[1, 1]"),
    Row(
        44, "a sum of squares by a scalar", Trace((x - t * OneMatrix(n, 1)).T * (x - t * OneMatrix(n, 1))),
        "(x - t)'*(x - t)", t, "2*n*t - 2*sum(x)",
    ),
    Row(45, "a Hessian", x.T * A * x, "x'*A*x", x, "A + A'", "hessian"),
    Row(46, "a norm", sp.sqrt((x.T * x)[0, 0]), "norm2(x)", x, "x/norm2(x)"),
    Row(
        46, "a pseudoinverse", Trace(Inverse(U.T * U) * U.T * V.T), "tr(inv(U'*U)*U'*V')", V,
        "inv(U'*U)*U'", known="tall",
    ),
    Row(46, "singular values", Trace(svd(X)[1]), "sum(svd_s(X))", X, "svd_U(X)*svd_V(X)'"),
    Row(46, "eigenvalues", Trace(eig(S)[0] ** 2), "sum(eigh_w(S).^2)", S, "2*S", known=spd),
    Row(
        47, "a row of a residual", (x - A * x.applyfunc(f)).T, "(x - A*(x.^2 + sin(x)))", x,
        "eye(n) - A*diag(2*x + cos(x))", "jacobian",
    ),
    Row(48, "an adjoint", Trace(sp.Adjoint(X) * X), "tr(X'*X)", X, "2*X"),
    Row(
        49, "a regularised Hessian", norm2(A * x - y) + c * norm2(B * x), "norm2(A*x - y)^2 + c*norm2(B*x)^2", x,
        "2*A'*A + 2*c*B'*B", "hessian",
    ),
    Row(
        50, "code with a trace, a determinant and entries",
        Trace(X) * Determinant(X) + Trace(X.applyfunc(sp.tanh)), "tr(X)*det(X) + tr(tanh(X))", X,
        "det(X)*eye(n) + tr(X)*det(X)*inv(X)' + eye(n).*(1 - tanh(X).^2)",
    ),
]  # fmt: skip
