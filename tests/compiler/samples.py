"""Hand-written sources in the emitter's form, as specs, for tests of the runtime."""

from dataclasses import replace
from fractions import Fraction

import numpy as np

from matcalc.compiler.code.code import Code
from matcalc.compiler.code.code_text import ModuleText, Printed
from matcalc.compiler.code.read_python import items_of
from matcalc.compiler.spec.spec import Case, CompiledSpec, Formula, Operand, Reference, Slope
from matcalc.tensor.sizes.size import Size

m, n = Size.of("m"), Size.of("n")


def logreg_numbers(specs):
    """Return data and the results that NumPy computes from the definition."""
    rng = np.random.default_rng(1)
    X, w, y, lam = rng.standard_normal((5, 3)), rng.standard_normal(3), rng.standard_normal(5), np.asarray(0.3)
    z = -y * (X @ w)
    slope = 2 * lam * w - X.T @ (y / (1 + np.exp(-z)))
    value = np.sum(np.log(1 + np.exp(z))) + lam * w @ w
    return Reference((Case({"X": X, "w": w, "y": y, "lam": lam}, {"value": value, "gradient_w": slope}),))


def gauss_numbers(specs):
    """Return data and the results that NumPy computes from the definition."""
    S, C = np.array([[2.0, 0.5], [0.5, 1.0]]), np.array([[1.0, -0.25], [-0.25, 3.0]])
    P = np.linalg.inv(S)
    results = {"value": np.asarray(np.log(np.linalg.det(S)) + np.trace(P @ C)), "gradient_S": P - P @ C @ P}
    return Reference((Case({"S": S, "C": C}, results),), {"S": "(M + M.T)/2"})


def parted(text):
    """Return a text with its parts, as the emitter returns it."""
    return ModuleText(text.strip("\n").split("\n\n\n"))


def generated(text):
    """Return a text with its Code, as the printer returns it."""
    *others, main = items_of(text)
    return Printed(parted(text).parts, Code((*others, replace(main, wraps=False))))


LOGREG = CompiledSpec(
    name="logreg",
    arguments=(Operand("X", (m, n)), Operand("w", (n,)), Operand("y", (m,)), Operand("lam")),
    outputs=(Operand("value"), Operand("gradient_w", (n,), "the gradient in w")),
    nesting=(0, 1),
    formulas=(
        Formula(
            "value",
            "sum(softplus(-y.*(X*w))) + lam*w'*w",
            r"\sum \log(1 + e^{-y \circ Xw}) + \lambda w^\top w",
        ),
        Formula("gradient_w", "2*lam*w - X'*(y.*sigmoid(-y.*(X*w)))"),
    ),
    slopes=(Slope(0, 1, 1),),
    oracle=logreg_numbers,
    source=generated('''
def logreg_into(X, w, y, lam, value, gradient_w):
    """sum(softplus(-y.*(X*w))) + lam*w'*w"""
    m = X.shape[0]
    n = X.shape[1]
    r10 = np.empty(m)
    gemv(0, 1.0, X, w, 0.0, r10)  # X*w   (m,)
    s3 = 0.0
    for i in range(n):
        s3 += w[i] * w[i]
    s7 = 0.0
    for i in range(m):
        v4 = -r10[i] * y[i]
        s7 += vsoftplus(v4)
        r10[i] = y[i] * vsigmoid(v4)
    gemv(1, 1.0, X, r10, 0.0, gradient_w)  # X'*(y.*sigmoid(-y.*(X*w)))
    value[0] = lam * s3 + s7
    for i in range(n):
        gradient_w[i] = -gradient_w[i] + 2.0 * (lam * w[i])
    return 0
'''),
    numpy_source=parted('''
def logreg_into(X, w, y, lam, value, gradient_w):
    """sum(softplus(-y.*(X*w))) + lam*w'*w"""
    v4 = -y * (X @ w)
    value[0] = np.sum(np.logaddexp(0.0, v4)) + lam * (w @ w)
    gradient_w[...] = 2.0 * lam * w - X.T @ (y * special.expit(v4))
    return 0
'''),
)

GAUSS = CompiledSpec(
    name="gauss",
    arguments=(
        Operand("S", (n, n), "spd", "np.eye(n) + 0.1 * rng.random() * np.ones((n, n))"),
        Operand("C", (n, n), "symmetric", "np.diag(rng.standard_normal(n))"),
    ),
    outputs=(Operand("value"), Operand("gradient_S", (n, n))),
    nesting=(0, 1),
    faults=("S is not positive definite",),
    slopes=(Slope(0, 1, 0),),
    oracle=gauss_numbers,
    source=generated('''
def gauss_into(S, C, value, gradient_S):
    """logdet(S) + tr(inv(S)*C)"""
    n = S.shape[0]
    R1 = np.empty((n, n))
    status = chol(S, R1)
    if status != 0:
        return 1
    R2 = np.empty((n, n))
    chol_inv(R1, R2)
    R3 = np.empty((n, n))
    gemm(0, 0, 1.0, R2, C, 0.0, R3)
    s = chol_logdet(R1)
    for i in range(n):
        s += R3[i, i]
    value[0] = s
    gemm(0, 0, -1.0, R3, R2, 0.0, gradient_S)
    for i in range(n):
        for j in range(n):
            gradient_S[i, j] += R2[i, j]
    return 0
'''),
    numpy_source=parted('''
def gauss_into(S, C, value, gradient_S):
    """logdet(S) + tr(inv(S)*C)"""
    R1 = chol(S, "S is not positive definite")
    R2 = chol_inv(R1)
    R3 = R2 @ C
    value[0] = chol_logdet(R1) + np.trace(R3)
    gradient_S[...] = R2 - R3 @ R2
    return 0
'''),
)

# Sizes other than plain names: y has 2*n - 1 entries, and p is passed as a number.
PADDED = CompiledSpec(
    name="padded",
    arguments=(Operand("y", (n * 2 - 1,)), Operand("lambda"), Operand("T", (n, m))),
    sizes=("p",),
    outputs=(Operand("Y", (n * (n + 1) * Fraction(1, 2),)), Operand("Z", (Size.of("p"), n))),
    nesting=((0,), 1),
    source=generated("""
def padded_into(y, lambda_, T, p, Y, Z):
    for i in range(Y.shape[0]):
        Y[i] = lambda_ * y[0]
    for i in range(p):
        for j in range(Z.shape[1]):
            Z[i, j] = y[2 * j] + T[j, 0]
    return 0
"""),
)
