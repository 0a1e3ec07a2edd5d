"""Fits under constraints: portfolio weights on the simplex, and a covariance matrix that stays positive definite.

Constraints are written as text; the solver gets them with exact derivatives. With `parametrise=True` a variable
declared spd stays spd: the solver steps in the logarithmic Cholesky factor, and the result contains the matrix.
"""

import numpy as np

import matcalc as mc

rng = np.random.default_rng(0)
returns = rng.standard_normal((250, 5)) @ np.diag([1.0, 0.8, 1.3, 0.6, 1.1]) + 0.1 * np.arange(5)
mean, covariance = returns.mean(axis=0), np.cov(returns.T)

# The portfolio of least variance with at least the return `least`: weights that are not negative and sum to one.
portfolio = mc.minimize(
    "w'*S*w",
    "w",
    start={"w": np.full(5, 0.2)},
    data={"S": covariance, "r": mean, "least": 0.25},
    declarations="S: matrix(n, n) symmetric; least: scalar",
    constraints="sum(w) == 1; r'*w >= least; w >= 0",
    target="numpy",
    tol=1e-10,
)
print(portfolio)
w = portfolio.x["w"]
assert abs(w.sum() - 1) < 1e-8
assert w.min() > -1e-9
assert mean @ w >= 0.25 - 1e-8

# The covariance of greatest likelihood, with a penalty c*tr(inv(P)). The optimum is C + c*eye(n).
fit = mc.minimize(
    "logdet(P) + tr(inv(P)*(C + c*eye(n)))",
    "P",
    start={"P": np.eye(5)},
    data={"C": covariance, "c": 0.1},
    declarations="P: matrix(n, n) spd; C: matrix(n, n) symmetric; c: scalar",
    parametrise=True,
    method="BFGS",
    target="numpy",
)
print(fit)
assert np.allclose(fit.x["P"], covariance + 0.1 * np.eye(5), atol=1e-4)
