"""Parameters of differential equations through integrators: Runge and Kutta's method and that of Crank and Nicolson."""

import numpy as np
from scipy.linalg import expm

import matcalc as mc

# A logistic growth with harvest, by four stages in each step.
RK4 = (
    "y[0] = y0, k1[t] = f(y[t]), k2[t] = f(y[t] + h*k1[t]/2), k3[t] = f(y[t] + h*k2[t]/2), k4[t] = f(y[t] + h*k3[t]), "
    "y[t+1] = y[t] + h*(k1[t] + 2*k2[t] + 2*k3[t] + k4[t])/6, t < T"
)
stages = {"k1": "y[t]", "k2": "(y[t] + h*k1[t]/2)", "k3": "(y[t] + h*k2[t]/2)", "k4": "(y[t] + h*k3[t])"}
for name, at in stages.items():
    RK4 = RK4.replace(f"{name}[t] = f({at.strip('()')})", f"{name}[t] = r*{at}*(1 - {at}/c)")
growth = mc.expression(f"sum{{t: (y[t] - z[t])^2}} where {RK4}", "z: vector(T); y0, r, c, h: scalar")
print(mc.gradient(growth, "y0"))

times = 0.25 * np.arange(40)
exact = 5 / (1 + (5 / 0.3 - 1) * np.exp(-0.8 * times))
start, options = {"y0": 0.4, "r": 0.7, "c": 4.5}, {"ftol": 1e-15, "gtol": 1e-10}
fit = mc.minimize(growth, wrt=["y0", "r", "c"], start=start, data={"z": exact, "h": 0.25}, options=options)
print("growth:", {name: round(float(value), 4) for name, value in fit.x.items()})
assert np.allclose([fit.x["y0"], fit.x["r"], fit.x["c"]], [0.3, 0.8, 5.0], rtol=1e-3)

# Heat in a rod: an implicit step, whose matrix is factorised once for all steps.
heat = mc.expression(
    "norm2(u[T] - v)^2 where u[0] = u0, u[t+1] = inv(eye(n) - h*a*D/2)*(eye(n) + h*a*D/2)*u[t], t < T",
    "D: matrix(n, n) symmetric; u0, v: vector(n); h, a: scalar",
)
print(mc.gradient(heat, "u0"))
n = 20
D = np.diag(-2.0 * np.ones(n)) + np.diag(np.ones(n - 1), 1) + np.diag(np.ones(n - 1), -1)
u0 = np.exp(-0.1 * (np.arange(n) - 6.0) ** 2)
data = {"D": D, "u0": u0, "v": expm(0.7 * D) @ u0, "h": 0.01}
fit = mc.minimize(heat, wrt=["a"], start={"a": 0.2}, data=data, sizes={"T": 100})
print(f"heat: a = {fit.x['a']:.4f}")
assert abs(fit.x["a"] - 0.7) < 1e-3
