# ---
# jupyter:
#   jupytext:
#     formats: ipynb,py:percent
# ---

# %% [markdown]
# # From a formula to a solver
#
# This tutorial fits a robust regression: large errors count linearly, small ones quadratically. It writes the loss as
# on paper, derives formulas, compiles them, and fits with three solvers. Open it as a notebook with
# `jupytext --to ipynb`, or run it with Python.

# %%
import numpy as np

import matcalc as mc
from matcalc import solvers

loss = mc.expression("sum(huber((X*w - y)/s)) + lam*norm2(w)^2", "s: scalar positive; lam: scalar positive")
print(loss)

# %% [markdown]
# The declarations list each symbol with its shape. `undeclared` marks the shapes that matcalc inferred.

# %%
print(loss.declarations)

# %% [markdown]
# ## The gradient, and why
#
# The derivation names the rule of each step. A notebook shows `grad` as typeset mathematics, a terminal as text.

# %%
grad = loss.gradient("w")
print(grad)
print(grad.explain())

# %% [markdown]
# ## Is it convex? Is it right?

# %%
print(mc.convex(loss, "w"))
print(mc.check(loss, "w"))

# %% [markdown]
# ## Data with outliers

# %%
rng = np.random.default_rng(1)
X = rng.standard_normal((200, 6))
truth = np.array([2.0, -1.0, 0.5, 0.0, 3.0, -2.0])
y = X @ truth + 0.1 * rng.standard_normal(200)
y[::10] += 20 * rng.standard_normal(20)
data = {"X": X, "y": y, "s": 0.2, "lam": 1e-3}
start = {"w": np.zeros(6)}

# %% [markdown]
# ## Three solvers
#
# The three are SciPy's L-BFGS-B with the compiled gradient, SciPy's trust-region method with exact Hessian-vector
# products, and L-BFGS as one compiled loop.

# %%
fits = {
    "L-BFGS-B": mc.minimize(loss, wrt="w", start=start, data=data),
    "trust-ncg": mc.minimize(loss, wrt="w", start=start, data=data, method="trust-ncg"),
    "compiled": mc.minimize(loss, wrt="w", start=start, data=data, method="lbfgs", compiled=True),
}
for name, fit in fits.items():
    print(f"{name:10} {float(fit.fun):.6f} in {fit.nit} steps")

# %% [markdown]
# The outliers hardly matter: the robust fit is close to the true weights. Ordinary least squares is not.

# %%
ordinary = np.linalg.lstsq(X, y, rcond=None)[0]
print("robust ", np.abs(fits["trust-ncg"].x["w"] - truth).max().round(3))
print("squares", np.abs(ordinary - truth).max().round(3))

# %% [markdown]
# ## A problem for any other solver
#
# `solvers.problem` provides the objective, its gradient and its Hessian as functions of one flat vector. Pass them to
# any solver.

# %%
problem = solvers.problem(loss, "w", data, start=start)
x = fits["trust-ncg"].x["w"]
print(np.linalg.norm(problem.jac(x)), np.linalg.eigvalsh(problem.hess(x)).min() > 0)

# %%
assert all(np.allclose(fit.x["w"], fits["trust-ncg"].x["w"], atol=1e-3) for fit in fits.values())
assert np.abs(x - truth).max() < 0.1 < np.abs(ordinary - truth).max()
assert np.linalg.norm(problem.jac(x)) < 1e-3
