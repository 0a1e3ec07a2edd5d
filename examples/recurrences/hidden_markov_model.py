"""A hidden Markov model by logsumexp: its likelihood, the posterior probabilities as a gradient, and a fit."""

from itertools import product

import numpy as np
from scipy.special import log_softmax, logsumexp

import matcalc as mc

# a[t, j] is the logarithm of the density of the data before t together with the state j at t.
STEPS = "where a[0] = p, a[t+1] = {j: logsumexp({i: a[t, i] + B[t, i] + L[i,j]})}, t < T"
likelihood = mc.expression(f"logsumexp(a[T]) {STEPS}", "p: vector(n); L: matrix(n, n); B: matrix(T, n)")
posterior = mc.gradient(likelihood, "B")
print(posterior)

rng = np.random.default_rng(3)
T, n = 6, 3
p, B = log_softmax(rng.standard_normal(n)), rng.standard_normal((T, n))
L = log_softmax(rng.standard_normal((n, n)), axis=1)
paths = list(product(range(n), repeat=T))
scores = np.array([p[s[0]] + sum(B[range(T), s]) + sum(L[s[:-1], s[1:]]) for s in paths])
assert np.isclose(likelihood(p=p, L=L, B=B), logsumexp(scores))

# The gradient in the log densities has the posterior probability of each state at each time.
weights = np.exp(scores - logsumexp(scores))
marginals = np.zeros((T, n))
for weight, path in zip(weights, paths, strict=True):
    marginals[np.arange(T), path] += weight
found = posterior(p=p, L=L, B=B)
print("posterior probabilities:", np.abs(found - marginals).max())
assert np.allclose(found, marginals)

# Fit means and transitions. Rows of transitions are logarithms of softmax, so no constraints are needed.
model = mc.expression(
    "-logsumexp(a[T]) where a[0] = zeros(n), L = log_softmax(W, axis=1), "
    "a[t+1] = {j: logsumexp({i: a[t, i] - (y[t] - m[i])^2/2 + L[i,j]})}, t < T",
    "y: vector(T); m: vector(n); W: matrix(n, n)",
)
path = np.cumsum(rng.random(600) < 0.05) % 2
y = np.where(path == 1, 2.0, -2.0) + rng.standard_normal(600)
fit = mc.minimize(model, wrt=["m", "W"], start={"m": np.array([-0.5, 0.5]), "W": np.zeros((2, 2))}, data={"y": y})
stay = np.exp(log_softmax(fit.x["W"], axis=1)).diagonal()
print("means:", fit.x["m"].round(2), "probabilities to stay:", stay.round(2))
assert np.allclose(np.sort(fit.x["m"]), [-2, 2], atol=0.3)
assert np.all(stay > 0.9)
