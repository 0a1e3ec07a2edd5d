# ---
# jupyter:
#   jupytext:
#     formats: ipynb,py:percent
# ---

# %% [markdown]
# # Hessians with structure
#
# A Hessian in a matrix has four axes. Frameworks compute all its entries. Most of them are zero, and the formula shows
# which.

# %%
import numpy as np

import matcalc as mc

f = mc.expression("norm2(M - U*V')^2", "M: matrix(m, n); U: matrix(m, k); V: matrix(n, k)")
print(f.hessian("U"))

# %% [markdown]
# The factor `eye(m)[i,l]` means that different rows of U do not interact. With U stacked by columns, the Hessian is a
# Kronecker product:

# %%
print(mc.hessian(f, "U", layout="vec"))

# %% [markdown]
# So a Newton step in U solves one k x k system for all rows instead of one mk x mk system. The product with a
# direction has the same structure:

# %%
print(f.hvp("U"))

# %% [markdown]
# ## Blocks between variables
#
# The other blocks are formulas too. The mixed block contains the residual, which is zero at an exact fit.

# %%
(uu, uv), (vu, vv) = f.hessian(["U", "V"])
print(uv)

# %% [markdown]
# ## Newton's method, block by block

# %%
rng = np.random.default_rng(0)
m, n, k = 60, 40, 3
M = rng.standard_normal((m, k)) @ rng.standard_normal((k, n)) + 0.01 * rng.standard_normal((m, n))
value_and_gradient = {w: mc.value_and_gradient(f, w) for w in "UV"}
U, V = rng.standard_normal((m, k)), rng.standard_normal((n, k))
for _ in range(30):
    G = value_and_gradient["U"](M=M, U=U, V=V)[1]
    U = U - np.linalg.solve(2 * V.T @ V, G.T).T
    value, G = value_and_gradient["V"](M=M, U=U, V=V)
    V = V - np.linalg.solve(2 * U.T @ U, G.T).T
best = (np.linalg.svd(M, compute_uv=False)[k:] ** 2).sum()
value = value_and_gradient["U"](M=M, U=U, V=V)[0]
print(value, best)

# %% [markdown]
# ## A Hessian that is a square
#
# The Hessian of logistic regression is `X'*diag(d)*X` with positive weights d. The compiled program computes it as
# `Z'*Z`, with half of the work and an exactly symmetric result.

# %%
hessian = mc.hessian("sum(log(1 + exp(-y.*(X*w))))", "w")
print(hessian)
fn = mc.compile(hessian)
X, y, w = rng.standard_normal((200, 5)), np.sign(rng.standard_normal(200)), rng.standard_normal(5)
H = fn(X=X, y=y, w=w)
print(np.array_equal(H, H.T), np.linalg.eigvalsh(H).min() > 0)

# %%
assert value < 1.01 * best
assert np.array_equal(H, H.T)
