"""Completes a partly known matrix: fits U*V' to the known entries, in U and V at once.

The mask `B` is 1 where an entry of `M` is known and 0 elsewhere. The formula of the Hessian in `U` shows its
structure: without a mask it is `2*V'*V` for each row of `U`. Its product with a vector needs no array of its full size.
"""

import numpy as np

import matcalc as mc

LOSS = "norm2(B.*(M - U*V'))^2 + lam*(norm2(U)^2 + norm2(V)^2)"
LET = "M: matrix(m, n); B: matrix(m, n); U: matrix(m, k); V: matrix(n, k); lam: scalar positive"

for name, gradient in zip("UV", mc.gradient(LOSS, ["U", "V"], declarations=LET), strict=True):
    print(f"gradient in {name}:", gradient)
print("Hessian in U, all entries known:", mc.hessian("norm2(M - U*V')^2", "U"))
print("Hessian in U times v:", mc.hvp(LOSS, "U", declarations=LET))

rng = np.random.default_rng(0)
m, n, k = 60, 40, 3
truth = rng.standard_normal((m, k)) @ rng.standard_normal((k, n))
known = rng.random((m, n)) < 0.5
start = {"U": rng.standard_normal((m, k)), "V": rng.standard_normal((n, k))}
data = {"M": np.where(known, truth, 0.0), "B": known.astype(float), "lam": 1e-4}

found = mc.minimize(LOSS, ["U", "V"], start, data, method="trust-ncg", declarations=LET, tol=1e-6)
error = found.x["U"] @ found.x["V"].T - truth
print(f"{found.nit} iterations; root mean square error of the unknown entries:", end=" ")
print(f"{np.sqrt(np.mean(error[~known] ** 2)):.1e}")
assert np.max(np.abs(error[~known])) < 1e-2
