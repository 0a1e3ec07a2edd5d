"""Optimal control: the Riccati recurrence of LQR, its gradients, and model predictive control with bounds."""

import numpy as np

import matcalc as mc

RICCATI = "P[N] = Q, G[t] = inv(R + B'*P[t+1]*B)*B'*P[t+1]*A, P[t] = Q + A'*P[t+1]*(A - B*G[t]), t < N"
DECLARED = "x0: vector(n); A: matrix(n, n); B: matrix(n, m); Q: matrix(n, n) spd; R: matrix(m, m) spd"
cost = mc.expression(f"x0'*P[0]*x0 where {RICCATI}", DECLARED)
print("in x0:", mc.gradient(cost, "x0"))
print("in Q: ", mc.gradient(cost, "Q"))

rng = np.random.default_rng(5)
data = {"A": np.array([[1.0, 0.1], [0.0, 1.0]]), "B": np.array([[0.0], [0.1]]), "Q": np.eye(2), "R": 0.1 * np.eye(1)}
x0, N = np.array([1.0, 0.5]), 30
gains = mc.expression(f"G where {RICCATI}", DECLARED)(**{k: data[k] for k in "ABQR"}, N=N)

# The closed loop has this cost. The gradient in Q is the sum of x*x' along it: the envelope theorem.
x, total, outer = x0, 0.0, np.zeros((2, 2))
for t in range(N):
    u = -gains[t] @ x
    total, outer = total + x @ data["Q"] @ x + u @ data["R"] @ u, outer + np.outer(x, x)
    x = data["A"] @ x + data["B"] @ u
total, outer = total + x @ data["Q"] @ x, outer + np.outer(x, x)
assert np.isclose(cost(x0=x0, N=N, **data), total, rtol=1e-10)
assert np.allclose(mc.gradient(cost, "Q")(x0=x0, N=N, **data), outer, rtol=1e-10)

# Model predictive control: the controls are variables with bounds. Without bounds they are those of the Riccati steps.
plan = mc.expression(
    "sum{t: x[t]'*Q*x[t] + U[t, :]'*R*U[t, :]} + x[N]'*Q*x[N] where x[0] = x0, x[t+1] = A*x[t] + B*U[t, :], t < N",
    f"{DECLARED}; U: matrix(N, m)",
)
print("in U: ", mc.gradient(plan, "U"))
start = {"U": np.zeros((N, 1))}
free = mc.minimize(plan, wrt=["U"], start=start, data={**data, "x0": x0}, method="trust-ncg", options={"gtol": 1e-9})
bounded = mc.minimize(plan, wrt=["U"], start=start, data={**data, "x0": x0}, bounds={"U": (-1.5, 1.5)})
print(f"cost {free.fun:.4f} by Riccati {total:.4f}, with bounds {bounded.fun:.4f}")
assert np.isclose(free.fun, total, rtol=1e-8)
assert bounded.fun > total and np.abs(bounded.x["U"]).max() <= 1.5
