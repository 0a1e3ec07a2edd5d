"""SymPy expressions as input: the gradient as a SymPy expression and as a compiled function."""

import numpy as np
import sympy as sp

import matcalc as mc

m, n = sp.symbols("m n", integer=True, positive=True)
X = sp.MatrixSymbol("X", m, n)
w = sp.MatrixSymbol("w", n, 1)
y = sp.MatrixSymbol("y", m, 1)
residual = X * w - y

gradient = mc.gradient(residual.T * residual, w)
print("gradient:", gradient)
print("in SymPy:", gradient.sympy())

f = mc.value_and_gradient(residual.T * residual, w)
print("arguments:", f.args)
rng = np.random.default_rng(4)
data = {"X": rng.standard_normal((5, 3)), "w": rng.standard_normal(3), "y": rng.standard_normal(5)}
value, found = f(**data)
r = data["X"] @ data["w"] - data["y"]
print("value:", value)
assert np.isclose(value, r @ r)
assert np.allclose(found, 2 * data["X"].T @ r)

# SymPy itself differentiates log(det(A)) to 0. matcalc reads only the expression and derives the gradient itself.
A = sp.MatrixSymbol("A", n, n)
print("gradient of log(det(A)):", mc.gradient(sp.log(sp.Determinant(A)), A))
