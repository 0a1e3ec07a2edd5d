"""SymPy's classes as formulas: the reading of each, and the objects that have none."""

import pytest
import sympy as sp
from sympy import MatrixSymbol, Rational
from sympy.matrices.expressions.diagonal import DiagonalMatrix, DiagonalOf
from sympy.matrices.expressions.dotproduct import DotProduct

from matcalc.errors import NotSupported
from matcalc.expressions.sympy_bridge import from_sympy
from matcalc.formula.elaborate.texts import elaborate
from matcalc.formula.notation.write_node import formula_of
from matcalc.language.write import text

m, n = sp.symbols("m n", integer=True, positive=True)
c, t = sp.symbols("c t")
d = sp.Symbol("d", positive=True)
k = sp.Symbol("k")
X, A, B = MatrixSymbol("X", m, n), MatrixSymbol("A", n, n), MatrixSymbol("B", n, n)
x, y, z = MatrixSymbol("x", n, 1), MatrixSymbol("y", n, 1), MatrixSymbol("z", m, 1)
row, one = MatrixSymbol("r", 1, n), MatrixSymbol("s", 1, 1)
residual = X * x - z

READ = [
    (residual, "X*x - z"),
    (residual.T * residual, "norm2(X*x - z)^2"),
    (2 * c * A * x, "2*c*A*x"),
    (B - A.T, "B - A'"),
    (A * B - 3 * B * A, "A*B - 3*B*A"),
    (A**3, "A^3"),
    (A**-2, "inv(A)^2"),
    (A**k, "powm(A, k)"),
    (k * A ** (2 * k - 1), "k*powm(A, 2*k - 1)"),
    (A**d, "A^d"),
    (sp.exp(A), "expm(A)"),
    (sp.Pow(A, 2, evaluate=False), "A^2"),
    (sp.Inverse(A + c * sp.Identity(n)), "inv(A + c*eye(n))"),
    (sp.Trace(A.T * B), "sum(A.*B)"),
    (sp.Trace(x.T * x), "x'*x"),
    (sp.log(sp.Determinant(A)), "log(det(A))"),
    (sp.exp(sp.Trace(A * B)), "exp(tr(A*B))"),
    (sp.HadamardProduct(A, B), "A.*B"),
    (sp.HadamardPower(x, Rational(1, 2)), "sqrt(x)"),
    (sp.KroneckerProduct(A, B), "kron(A, B)"),
    (sp.KroneckerProduct(x, y), "kron(x, y)"),
    (sp.DiagMatrix(x), "diag(x)"),
    (DiagonalOf(A), "diag(A)"),
    (DiagonalMatrix(A), "A.*eye(n)"),
    (DotProduct(x, y), "x'*y"),
    (sp.Adjoint(A), "A'"),
    (sp.BlockMatrix([[A, x], [y.T, sp.Matrix([[c]])]]), "[A, x; y', c]"),
    (sp.BlockMatrix([[x], [y]]), "[x; y]"),
    (sp.BlockDiagMatrix(A, X), "[A, zeros(n, n); zeros(m, n), X]"),
    (sp.Identity(n), "eye(n)"),
    (sp.ZeroMatrix(m, n), "zeros(m, n)"),
    (sp.OneMatrix(n, 1), "ones(n)"),
    (sp.OneMatrix(1, n) * x, "sum(x)"),
    (A.applyfunc(sp.Lambda(t, t**2 + c * t - 1)), "A.^2 + c*A - 1"),
    (x.applyfunc(sp.Lambda(t, sp.exp(t) / t)), "exp(x)./x"),
    (residual.applyfunc(sp.sin), "sin(X*x - z)"),
    (x.applyfunc(sp.Lambda(t, sp.Max(t, 0))), "max(x, 0)"),
    (A[0, n - 1], "A[0, -1]"),
    (x[2, 0], "x[2]"),
    (sp.lowergamma(d, c), "gamma(d)*gammainc(d, c)"),
    (sp.uppergamma(d, c), "gamma(d)*gammaincc(d, c)"),
    (sp.betainc_regularized(d, 2, 0, c), "betainc(d, 2, c)"),
    (sp.beta(d, 3), "exp(betaln(3, d))"),
    (sp.sinc(c), "sinc(c/pi)"),
    (A[1:3, 0:2], "A[1:3, :2]"),
    (X[:, 0], "X[:, 0]"),
    (x[1:3, :], "x[1:3]"),
    ((x.T * A * x) ** 2, "(x'*A*x)^2"),
    (sp.Inverse(x.T * x), "1/(x'*x)"),
    (row * x, "r'*x"),
    (row.T, "r"),
    (one * row, "s*r"),
    (sp.Matrix([[1, 2], [3, 4]]) * sp.Matrix([1, 2]), "[5; 11]"),
    (sp.Matrix([[c, d], [1, c * d]]), "[c, d; 1, c*d]"),
    (-(c**2) / 3, "-c^2/3"),
    (sp.Float(0.1) * c, "0.1*c"),
    (sp.pi * c, "pi*c"),
    (2**c, "2^c"),
    (sp.Heaviside(c), "step(c)"),
    (sp.Heaviside(c, 0), "where(c > 0, 1, 0)"),
    (sp.Piecewise((c, c > 0), (0, True)), "where(c > 0, c, 0)"),
    (sp.loggamma(c), "gammaln(c)"),
    (n * c, "c*n"),
    (sp.Trace(A) / n, "tr(A)/n"),
]


@pytest.mark.sampled(2)
@pytest.mark.parametrize(("expr", "printed"), READ)
def test_read_as(expr, printed):
    tree, symbols = from_sympy(expr)
    (node,) = elaborate([tree], symbols=symbols).nodes
    assert text(formula_of(node)) == printed


def test_symbols_are_declared_by_what_sympy_knows():
    _, symbols = from_sympy(d * x.T * A * x + c * x.T * x)
    assert {name: str(node.shape) for name, node in symbols.items()} == {
        "A": "(Size(n), Size(n))",
        "c": "()",
        "d": "()",
        "x": "(Size(n),)",
    }
    assert "positive" in symbols["d"].facts and "positive" not in symbols["c"].facts


def test_dimensions_are_sizes():
    tree, symbols = from_sympy(n * sp.Trace(A) + sp.Trace(MatrixSymbol("C", 2 * n - 1, 2 * n - 1)))
    assert sorted(symbols) == ["A", "C"]
    assert elaborate([tree], symbols=symbols).nodes[0].shape == ()


@pytest.mark.parametrize(
    ("expr", "named"),
    [
        (sp.Sum(x[2 * t, 0], (t, 0, n)), "shifted or negated"),
        (sp.Derivative(sp.sin(c), c), "Derivative"),
        (sp.Function("f")(c), "f of SymPy"),
        (x.applyfunc(sp.Function("g")), "g of SymPy"),
        (sp.I * c, "ImaginaryUnit"),
        (sp.oo, "oo"),
        (MatrixSymbol("x y", 2, 2), "'x y'"),
        (c + MatrixSymbol("c", 1, 2)[0, 0], "two SymPy symbols named c"),
        (sp.Heaviside(c, 3), r"Heaviside\(c, 3\) of SymPy"),
        (sp.Piecewise((c, c > 0)), "Piecewise"),
    ],
)
def test_what_has_no_meaning_is_named(expr, named):
    with pytest.raises(NotSupported, match=named):
        from_sympy(expr)


def test_depth_does_not_matter():
    deep = c
    for _ in range(3000):
        deep = sp.Mul(2, sp.Pow(deep, 2, evaluate=False), evaluate=False)
    tree, _ = from_sympy(deep)
    assert text(tree).count("^2") == 3000
