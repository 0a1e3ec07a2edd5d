# ---
# jupyter:
#   jupytext:
#     formats: ipynb,py:percent
# ---

# %% [markdown]
# # The rulebook, and an operation of your own
#
# All that matcalc knows of mathematics are entries like the one below: one differential in matrix notation. Its
# adjoint, which reverse mode needs, is found by transposing the linear map; nobody writes it.

# %%
import numpy as np

import matcalc as mc
from matcalc.commands.rule_pages import page, text
from matcalc.rulebook.load import default_rulebook

print(text(page(default_rulebook().get("inv"))))

# %% [markdown]
# ## What a rule is worth depends on its test
#
# `mc.check_rules` compares value, pushforward, pullback and second order with numbers that know no rule.

# %%
report = mc.check_rules("inv")
print("\n".join(str(report).splitlines()[:8]))
print(str(report).splitlines()[-1])

# %% [markdown]
# ## The Cayley transform
#
# $(I - X)^{-1}(I + X)$ leads skew matrices to orthogonal ones. One line of value, one of differential: $dY = (I -
# X)^{-1}\, dX\, (I + Y)$.

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
# It was tested as it was added. From now on it is an operation like any other: in formulas, derivatives of any order,
# compiled code.

# %%
print(mc.gradient("tr(A'*cayley(X))", "X"))
print(mc.expression("cayley(K)", "K: matrix(n, n) skew").facts)

# %% [markdown]
# A wrong rule does not get in.

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
    refused = True

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
assert refused
assert cayley.report
assert np.isclose(change, 2 * np.vdot(gradient, step), rtol=1e-6)
