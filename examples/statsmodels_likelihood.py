"""A log-likelihood as a statsmodels model: estimates, standard errors, robust standard errors and summary tables.

The model, which statsmodels lacks, is a regression whose error variance is log-linear in the columns of Z. The formula
is the log-likelihood of each observation. The adapter passes on its sum, the scores per observation and the Hessian.
"""

import numpy as np

from matcalc import solvers

rng = np.random.default_rng(5)
m = 400
X = np.column_stack([np.ones(m), rng.standard_normal((m, 2))])
Z = np.column_stack([np.ones(m), rng.uniform(-1, 1, m)])
b, g = np.array([1.0, -2.0, 0.5]), np.array([-0.5, 0.8])
y = X @ b + np.exp(Z @ g) * rng.standard_normal(m)

model = solvers.statsmodels(
    "-((y - X*b)./exp(Z*g)).^2/2 - Z*g - log(2*pi)/2",
    ["b", "g"],
    data={"X": X, "Z": Z, "y": y},
    start={"b": np.linalg.lstsq(X, y)[0], "g": np.zeros(2)},
    declarations="X: matrix(m, n); Z: matrix(m, k); y: vector(m); b: vector(n); g: vector(k)",
    names=["level", "first", "second", "spread", "slope"],
)
result = model.fit(method="newton", disp=0)
print(result.summary())
print("steps:", result.mle_retvals["iterations"])
robust = model.fit(method="newton", disp=0, cov_type="HC0")
print("robust standard errors:", robust.bse.round(4))

truth = np.concatenate([b, g])
assert np.max(np.abs(model.score(result.params))) < 1e-6
assert np.all(np.abs(result.params - truth) < 4 * result.bse)
assert np.allclose(robust.bse, result.bse, rtol=0.2)
# The information in b is X'*diag(1/variance)*X, so the standard errors have a closed form.
variance = np.exp(2 * Z @ model.unpack(result.params)["g"])
assert np.allclose(result.bse[:3], np.sqrt(np.diag(np.linalg.inv(X.T @ (X / variance[:, None])))), rtol=0.02)
