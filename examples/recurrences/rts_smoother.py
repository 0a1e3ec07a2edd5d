"""The smoother of Rauch, Tung and Striebel: a backward recurrence over a filter, equal to a conditional mean.

The smoothed states are fitted to a known path by a gradient in the noise, through the smoother and the filter.
"""

import numpy as np

import matcalc as mc

FILTER = """
m[0] = mu; P[0] = Q; S[t] = P[t] + R; m[t+1] = A*(m[t] + P[t]*inv(S[t])*(Y[t, :] - m[t]))
P[t+1] = A*(P[t] - P[t]*inv(S[t])*P[t])*A' + Q; t < T
"""
SMOOTHER = """
s[T] = m[T]; C[k] = (P[k] - P[k]*inv(P[k] + R)*P[k])*A'*inv(P[k+1])
s[k] = m[k] + P[k]*inv(P[k] + R)*(Y[k, :] - m[k]) + C[k]*(s[k+1] - m[k+1]); k < T
"""
DECLARED = "Y, X: matrix(T, n); A: matrix(n, n); Q, R: matrix(n, n) spd; mu: vector(n)"
smoothed = mc.expression(FILTER + SMOOTHER + "s[:-1]", DECLARED)
print(smoothed)

rng = np.random.default_rng(1)
T, n = 5, 2
A, mu, Y = 0.9 * np.eye(n) + 0.1 * rng.standard_normal((n, n)), rng.standard_normal(n), rng.standard_normal((T, n))
Q, R = 0.5 * np.eye(n) + 0.1, np.eye(n)
found = smoothed(Y=Y, A=A, Q=Q, R=R, mu=mu)

# The same as the conditional mean of one Gaussian: states are F*(mu, w_1, w_2, ...), observed with noise.
F = np.block([[np.linalg.matrix_power(A, i - j) if i >= j else np.zeros((n, n)) for j in range(T)] for i in range(T)])
prior = F @ np.kron(np.eye(T), Q) @ F.T
mean = (F[:, :n] @ mu).reshape(T, n)
gain = prior @ np.linalg.inv(prior + np.kron(np.eye(T), R))
expected = mean + (gain @ (Y - mean).ravel()).reshape(T, n)
print("smoother minus conditional mean:", np.abs(found - expected).max())
assert np.allclose(found, expected, rtol=1e-10)

loss = mc.expression(FILTER + SMOOTHER + "norm2(s[:-1] - X)^2", DECLARED)
assert mc.check(loss, ["R", "Y"])
