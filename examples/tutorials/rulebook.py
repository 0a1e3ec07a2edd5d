# ---
# jupyter:
#   jupytext:
#     formats: ipynb,py:percent
# ---

# %% [markdown]
# # The rulebook, and an operation of your own
#
# matcalc's knowledge of mathematics consists of entries like the one below: one differential in matrix notation.
# matcalc derives the adjoint, which reverse mode needs, by transposing this linear map.

# %%
import numpy as np

import matcalc as mc
from matcalc.commands.rule_pages import page, text
from matcalc.rulebook.load import default_rulebook

print(text(page(default_rulebook().get("inv"))))

# %% [markdown]
# ## Every rule is tested
#
# `mc.check_rules` compares value, pushforward, pullback and second derivative with numbers computed without rules.

# %%
report = mc.check_rules("inv")
print("\n".join(str(report).splitlines()[:8]))
print(str(report).splitlines()[-1])

# %% [markdown]
# ## The Cayley transform
#
# $Y = (I - X)^{-1}(I + X)$ maps skew matrices to orthogonal ones. The entry has one line for the value and one for the
# differential $dY = (I - X)^{-1}\, dX\, (I + Y)$.

# %%
cayley = mc.define(
    "cayley(X: matrix(n, n)) -> matrix(n, n)",
    value="np.linalg.solve(np.eye(X.shape[0]) - X, np.eye(X.shape[0]) + X)",
    differential="inv(eye(n) - X)*dX*(eye(n) + Y)",
    domain="nonsingular(eye(n) - X)",
    inside={"X": "X/(2 + 2*norm2(X))"},
    facts=["skew(X) => orthogonal(Y)"],
)
print(str(cayley.report).splitlines()[-1])

# %% [markdown]
# `define` tested the rule before adding it. It is now an operation like any other: in formulas, in derivatives of any
# order and in compiled code.

# %%
print(mc.gradient("tr(A'*cayley(X))", "X"))
print(mc.expression("cayley(K)", "K: matrix(n, n) skew").facts)

# %% [markdown]
# A wrong rule raises `RuleError` and is not added.

# %%
try:
    mc.define(
        "wrong_cayley(X: matrix(n, n)) -> matrix(n, n)",
        value="np.linalg.solve(np.eye(X.shape[0]) - X, np.eye(X.shape[0]) + X)",
        differential="inv(eye(n) - X)*dX",
        domain="nonsingular(eye(n) - X)",
        inside={"X": "X/(2 + 2*norm2(X))"},
    )
except mc.RuleError as fault:
    print(str(fault).splitlines()[0])
    rejected = True

# %% [markdown]
# ## Compiled

# %%
fn = mc.value_and_gradient("norm2(cayley(X)*B - C)^2", "X")
rng = np.random.default_rng(0)
X, B, C = (rng.standard_normal((4, 4)) / 4 for _ in range(3))
value, gradient = fn(X=X, B=B, C=C)
step = 1e-6 * rng.standard_normal((4, 4))
change = fn(X=X + step, B=B, C=C)[0] - fn(X=X - step, B=B, C=C)[0]
print(change, 2 * np.vdot(gradient, step))

# %%
assert rejected
assert cayley.report
assert np.isclose(change, 2 * np.vdot(gradient, step), rtol=1e-6)
