"""Fits all matrices of a state-space model by its likelihood, which a Kalman filter computes.

The formula is read from LaTeX, as papers write it. The gradients are recurrences too, in the names of the paper.
"""

import numpy as np

import matcalc as mc

PAPER = r"""
\frac{1}{2 T} \sum_{t=1}^{T} \left( \log|S_t| + v_t^\top S_t^{-1} v_t \right) \quad\text{where }
v_t = y_t - H m_t, \; S_t = H P_t H^\top + R, \; K_t = A P_t H^\top S_t^{-1}, \;
m_1 = \mu, \; m_{t+1} = A m_t + K_t v_t, \;
P_1 = Q, \; P_{t+1} = (A - K_t H) P_t (A - K_t H)^\top + K_t R K_t^\top + Q, \; t = 1, \dots, T
"""
DECLARED = "y: matrix(T, p); A: matrix(n, n); H: matrix(p, n); Q: matrix(n, n) spd; R: matrix(p, p) spd; mu: vector(n)"
likelihood = mc.expression(PAPER, DECLARED, dialect="latex")
print(likelihood)
for name in ("mu", "y", "R"):
    print(f"\nin {name}:", mc.gradient(likelihood, name))

# A damped oscillation, of which one coordinate is observed with noise.
rng = np.random.default_rng(0)
true = {"A": 0.98 * np.array([[np.cos(0.3), -np.sin(0.3)], [np.sin(0.3), np.cos(0.3)]]), "Q": 0.05 * np.eye(2)}
states = np.zeros((400, 2))
for t in range(1, len(states)):
    states[t] = true["A"] @ states[t - 1] + rng.multivariate_normal(np.zeros(2), true["Q"])
H = np.array([[1.0, 0.0]])
y = states @ H.T + 0.5 * rng.standard_normal((400, 1))

start = {"A": 0.9 * np.eye(2) + 0.25 * np.array([[0, -1], [1, 0]]), "Q": 0.1 * np.eye(2), "R": np.eye(1)}
start["mu"] = np.zeros(2)
fit = mc.minimize(likelihood, wrt=list(start), start=start, data={"y": y, "H": H}, parametrise=True)
angle = np.abs(np.angle(np.linalg.eigvals(fit.x["A"]))).max()
print(f"\nlikelihood {fit.fun:.3f}, angle {angle:.3f} (true 0.3), noise {fit.x['R'][0, 0]:.3f} (true 0.25)")
assert abs(angle - 0.3) < 0.05
assert abs(fit.x["R"][0, 0] - 0.25) < 0.1

# The value is minus the logarithm of the density of all data as one Gaussian.
m, blocks = fit.x, 6
power = [np.linalg.matrix_power(m["A"], k) for k in range(blocks)]
noise = [sum(power[j] @ m["Q"] @ power[j].T for j in range(t + 1)) for t in range(blocks)]
covariance = np.array([[(H @ power[max(t - s, 0)] @ noise[min(s, t)] @ power[max(s - t, 0)].T @ H.T)[0, 0]
                        for s in range(blocks)] for t in range(blocks)]) + m["R"][0, 0] * np.eye(blocks)  # fmt: skip
mean = np.array([(H @ p @ m["mu"])[0] for p in power])
gap = y[:blocks, 0] - mean
expected = (np.linalg.slogdet(covariance)[1] + gap @ np.linalg.solve(covariance, gap)) / 2
assert np.isclose(likelihood(y=y[:blocks], H=H, **m) * blocks, expected, rtol=1e-10)
