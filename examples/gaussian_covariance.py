"""The log-likelihood of a Gaussian in its covariance matrix, with three conventions for a symmetric gradient.

`C` is the sample covariance (divided by n). A covariance matrix is symmetric, so a change of one entry also changes
its mirror image. "The gradient in S" can mean three things:

- `S` declared `spd`: the gradient G in the space of symmetric matrices. G is symmetric, and <G, dS> is the change for
  a symmetric step dS. An optimiser needs this one.
- `convention="magnus"`: S_ij and S_ji are one number, so off-diagonal entries count twice. Tables of derivatives
  "with respect to the distinct entries" use this one.
- `S` declared without a fact about symmetry: all entries are independent, as in any square matrix.
"""

import numpy as np

import matcalc as mc

TEXT = "-0.5*logdet(S) - 0.5*tr(inv(S)*C)"
SPD = "S: matrix(n, n) spd; C: matrix(n, n) symmetric"
FREE = "S: matrix(n, n) nonsingular; C: matrix(n, n) symmetric"

projected = mc.gradient(TEXT, "S", declarations=SPD)
magnus = mc.gradient(TEXT, "S", declarations=SPD, convention="magnus")
free = mc.gradient(TEXT, "S", declarations=FREE)
print("symmetric:       ", projected)
print("distinct entries:", magnus)
print("entries free:    ", free)

rng = np.random.default_rng(3)
sample = rng.standard_normal((50, 4)) @ rng.standard_normal((4, 4))
C = np.cov(sample, rowvar=False, bias=True)
S = C + np.eye(4)


def likelihood(S):
    return -0.5 * np.linalg.slogdet(S)[1] - 0.5 * np.trace(np.linalg.solve(S, C))


def difference(step, h=1e-5):
    return (likelihood(S + h * step) - likelihood(S - h * step)) / (2 * h)


# Change the entries (0, 1) and (1, 0) together, then (0, 1) alone.
single = np.zeros((4, 4))
single[0, 1] = 1.0
together = single + single.T
assert np.isclose(magnus(S=S, C=C)[0, 1], difference(together))
assert np.isclose((projected(S=S, C=C) * together).sum(), difference(together))
assert np.isclose(free(S=S, C=C)[0, 1], difference(single))

# The likelihood is greatest at the sample covariance, so the gradient there is zero.
print("largest entry of the gradient at S = C:", np.abs(projected(S=C, C=C)).max().round(12))
assert np.allclose(projected(S=C, C=C), 0.0, atol=1e-10)
