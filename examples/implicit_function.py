"""The gradient of a validation loss in the regularisation parameter, through a fit, by the implicit function theorem.

The weights w of a logistic regression solve X'*(sigmoid(X*w) - y) + lam*w = 0. Their derivative in lam needs one
linear solve at the solution, no unrolled iterations. matcalc derives it from the equation in `root`.
"""

import numpy as np

import matcalc as mc

DECLARED = "X: matrix(m, n); y: vector(m); V: matrix(p, n); u: vector(p); w: vector(n); lam: scalar positive"
FIT = "root(X'*(sigmoid(X*w) - y) + lam*w, w, start=zeros(n))"
LOSS = f"sum(log(1 + exp(V*{FIT})) - u.*(V*{FIT}))"

print("dw/dlam =", mc.jacobian(FIT, "lam", DECLARED))
loss = mc.value_and_gradient(LOSS, "lam", DECLARED)

rng = np.random.default_rng(0)
truth = rng.standard_normal(6)
X, V = rng.standard_normal((80, 6)), rng.standard_normal((40, 6))
y, u = ((A @ truth + rng.logistic(size=len(A)) > 0).astype(float) for A in (X, V))
data = {"X": X, "y": y, "V": V, "u": u}

step = 1e-4
value, gradient = loss(**data, lam=1.0)
difference = (loss(**data, lam=1.0 + step)[0] - loss(**data, lam=1.0 - step)[0]) / (2 * step)
print(f"loss {value:.6f}, gradient {gradient:.8f}, by differences {difference:.8f}")
assert abs(gradient - difference) <= 1e-6 * abs(difference)
