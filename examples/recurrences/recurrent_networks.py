"""A recurrent network and an LSTM: adjoints as in textbooks, and training by compiled gradients."""

import numpy as np

import matcalc as mc

rng = np.random.default_rng(4)
STEP = "h[0] = zeros(n), h[t+1] = tanh(W*h[t] + U*X[t, :] + b), t < T"
network = mc.expression(
    f"sum{{t: (c'*h[t+1] - y[t])^2}}/2 where {STEP}",
    "W: matrix(n, n); U: matrix(n, m); b, c: vector(n); X: matrix(T, m); y: vector(T)",
)
print(mc.gradient(network, "W"))

# Learn to add the last three inputs.
X = rng.standard_normal((200, 1)) / 3
y = X[:, 0] + np.r_[0, X[:-1, 0]] + np.r_[0, 0, X[:-2, 0]]
start = {
    "W": 0.3 * rng.standard_normal((8, 8)),
    "U": rng.standard_normal((8, 1)) / 3,
    "b": np.zeros(8),
    "c": np.zeros(8),
}
fit = mc.minimize(network, wrt=list(start), start=start, data={"X": X, "y": y}, options={"maxiter": 300})
print(f"network: {network(**start, X=X, y=y):.3f} -> {fit.fun:.5f}")
assert fit.fun < 0.02 * network(**start, X=X, y=y)

# The gates keep their names in the gradient.
lstm = mc.expression(
    "sum{t: (w'*h[t+1] - y[t])^2}/2 where h[0] = zeros(n), c[0] = zeros(n), "
    "f[t] = sigmoid(F*h[t] + f0), i[t] = sigmoid(I*h[t] + V*X[t, :]), o[t] = sigmoid(O*h[t]), "
    "g[t] = tanh(G*h[t] + U*X[t, :]), c[t+1] = f[t].*c[t] + i[t].*g[t], h[t+1] = o[t].*tanh(c[t+1]), t < T",
    "F, G, I, O: matrix(n, n); U, V: matrix(n, m); w, f0: vector(n); X: matrix(T, m); y: vector(T)",
)
print(mc.gradient(lstm, "F"))
start = {name: 0.3 * rng.standard_normal((6, 6)) for name in "FGIO"}
start |= {"U": rng.standard_normal((6, 1)), "V": rng.standard_normal((6, 1)), "w": np.zeros(6), "f0": np.ones(6)}
fit = mc.minimize(lstm, wrt=list(start), start=start, data={"X": X, "y": y}, options={"maxiter": 200})
print(f"LSTM: {lstm(**start, X=X, y=y):.3f} -> {fit.fun:.5f}")
assert fit.fun < 0.1 * lstm(**start, X=X, y=y)
