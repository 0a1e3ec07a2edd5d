"""Likelihoods of AR, ARMA and GARCH models, and exponential smoothing, from their equations to fits on data."""

import numpy as np

import matcalc as mc

rng = np.random.default_rng(2)
T = 1500
noise = rng.standard_normal(T)

# AR(2): the residuals need no recurrence, but the model has lags.
x = np.zeros(T)
for t in range(2, T):
    x[t] = 1.2 * x[t - 1] - 0.5 * x[t - 2] + noise[t]
ar = mc.expression("norm2(x[2:] - a*x[1:-1] - b*x[:-2])^2/2", "x: vector(T); a, b: scalar")
fit = mc.minimize(ar, wrt=["a", "b"], start={"a": 0.0, "b": 0.0}, data={"x": x})
print("AR(2):  ", {k: round(float(v), 2) for k, v in fit.x.items()})
assert abs(fit.x["a"] - 1.2) < 0.08 and abs(fit.x["b"] + 0.5) < 0.08

# ARMA(1, 1): each residual needs the one before.
z = np.zeros(T)
for t in range(1, T):
    z[t] = 0.7 * z[t - 1] + noise[t] + 0.4 * noise[t - 1]
arma = mc.expression(
    "sum{t: e[t+1]^2}/2 where e[0] = 0, e[t+1] = z[t+1] - phi*z[t] - theta*e[t], t < T",
    "z: vector(T + 1); phi, theta: scalar",
)
print("ARMA in theta:", mc.gradient(arma, "theta"))
fit = mc.minimize(arma, wrt=["phi", "theta"], start={"phi": 0.0, "theta": 0.0}, data={"z": z})
print("ARMA:   ", {k: round(float(v), 2) for k, v in fit.x.items()})
assert abs(fit.x["phi"] - 0.7) < 0.08 and abs(fit.x["theta"] - 0.4) < 0.08

# GARCH(1, 1): the variance of a return follows from the last return and its variance.
h, r = np.full(T + 1, 1.0), np.zeros(T)
for t in range(T):
    r[t] = np.sqrt(h[t]) * noise[t]
    h[t + 1] = 0.1 + 0.15 * r[t] ** 2 + 0.75 * h[t]
garch = mc.expression(
    "sum{t: log(h[t]) + r[t]^2/h[t]}/2 where h[0] = 1, h[t+1] = w + a*r[t]^2 + b*h[t], t < T",
    "r: vector(T); w, a, b: scalar positive",
)
print("GARCH in b:   ", mc.gradient(garch, "b"))
fit = mc.minimize(garch, wrt=["w", "a", "b"], start={"w": 0.3, "a": 0.3, "b": 0.3}, data={"r": r}, parametrise=True)
print("GARCH:  ", {k: round(float(v), 2) for k, v in fit.x.items()})
assert abs(fit.x["a"] + fit.x["b"] - 0.9) < 0.1

# Exponential smoothing: the weight with the least squares of one-step forecasts.
level = np.cumsum(0.3 * noise) + rng.standard_normal(T)
smoothing = mc.expression(
    "sum{t: (y[t] - s[t])^2} where s[0] = s0, s[t+1] = a*y[t] + (1 - a)*s[t], t < T", "y: vector(T); a, s0: scalar"
)
print("smoothing in a:", mc.gradient(smoothing, "a"))
start, bounds = {"a": 0.5, "s0": 0.0}, {"a": (0.0, 1.0)}
fit = mc.minimize(smoothing, wrt=["a", "s0"], start=start, data={"y": level}, bounds=bounds)
weights = np.linspace(0.01, 0.99, 99)
values = [smoothing(y=level, a=a, s0=fit.x["s0"]) for a in weights]
print(f"smoothing: a = {fit.x['a']:.3f}")
assert abs(fit.x["a"] - weights[np.argmin(values)]) < 0.02
