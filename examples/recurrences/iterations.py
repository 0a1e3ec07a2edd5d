"""Derivatives through iterations of numerical algebra: power iteration, Newton and Schulz's inverse, online softmax."""

import numpy as np
from scipy.special import logsumexp, softmax

import matcalc as mc

rng = np.random.default_rng(6)

# Power iteration: after many steps the gradient is that of the largest eigenvalue, v*v'.
power = mc.expression(
    "x[T]'*A*x[T] where x[0] = x0, x[t+1] = A*x[t]/norm2(A*x[t]), t < T", "A: matrix(n, n) symmetric; x0: vector(n)"
)
by_A = mc.gradient(power, "A")
print(by_A)
M = rng.standard_normal((4, 4))
A = M @ M.T
v = np.linalg.eigh(A)[1][:, -1]
found = by_A(A=A, x0=rng.standard_normal(4), T=400)
print("minus v*v':", np.abs(found - np.outer(v, v)).max())
assert np.allclose(found, np.outer(v, v), atol=1e-8)

# Newton and Schulz: X tends to the inverse of A, its gradient to -X'*C'*X'.
schulz = mc.expression("tr(C*X[T]) where X[0] = X0, X[t+1] = X[t]*(2*eye(n) - A*X[t]), t < T", "A, C, X0: matrix(n, n)")
by_A = mc.gradient(schulz, "A")
print(by_A)
B = np.eye(4) + 0.3 * rng.standard_normal((4, 4))
C, X = rng.standard_normal((4, 4)), np.linalg.inv(B)
found = by_A(A=B, C=C, X0=B.T / np.linalg.norm(B) ** 2, T=60)
print("minus -X'*C'*X':", np.abs(found + X.T @ C.T @ X.T).max())
assert np.allclose(found, -X.T @ C.T @ X.T)

# Online softmax: one pass with a running maximum, as in attention of long sequences.
online = mc.expression(
    "o[N]/d[N] where m[0] = s[0], d[0] = 0, o[0] = 0, m[t+1] = max(m[t], s[t]), "
    "d[t+1] = d[t]*exp(m[t] - m[t+1]) + exp(s[t] - m[t+1]), "
    "o[t+1] = o[t]*exp(m[t] - m[t+1]) + exp(s[t] - m[t+1])*v[t], t < N",
    "s, v: vector(N)",
)
s, v = 50 * rng.standard_normal(9), rng.standard_normal(9)
p = softmax(s)
value, by_s = mc.value_and_gradient(online, "s")(s, v)
print("value:", value, " gradient minus p.*(v - p'*v):", np.abs(by_s - p * (v - p @ v)).max())
assert np.isclose(value, p @ v) and np.allclose(by_s, p * (v - p @ v))
assert np.isclose(logsumexp(s), np.log(np.sum(np.exp(s - s.max()))) + s.max())
