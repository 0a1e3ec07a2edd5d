"""Ipopt through CasADi, with exact first and second derivatives of an objective and constraints written as formulas.

Ipopt comes with CasADi's wheel. The covariance is that of a factor model. The constraint on the risk is a formula too,
so Ipopt gets the exact Hessian of the Lagrangian. With an approximate Hessian Ipopt takes more steps.
"""

import casadi
import numpy as np

from matcalc import solvers

rng = np.random.default_rng(3)
n, k = 40, 5
F, d, r = rng.standard_normal((n, k)) / 5, rng.uniform(0.05, 0.2, n), rng.uniform(0.0, 0.1, n)

# The portfolio of greatest entropy with a lower bound on the return and an upper bound on the risk.
LET = "w: vector(n); F: matrix(n, k); d: vector(n)"
objective = solvers.casadi("sum(w.*log(w))", "w", sizes={"n": n}, declarations=LET)
limits = solvers.casadi(
    "[sum(w); r'*w; norm2(F'*w)^2 + d'*w.^2]", "w", {"F": F, "d": d, "r": r}, declarations=LET, name="g"
)

x = casadi.MX.sym("x", n)
program = {"x": x, "f": objective(x), "g": limits(x)}
options = {"ipopt.print_level": 0, "print_time": 0, "ipopt.sb": "yes", "ipopt.tol": 1e-9}
steps = {}
for hessian in ("exact", "limited-memory"):
    solver = casadi.nlpsol("solver", "ipopt", program, {**options, "ipopt.hessian_approximation": hessian})
    found = solver(x0=np.full(n, 1 / n), lbx=1e-9, lbg=[1, 0.06, -np.inf], ubg=[1, np.inf, 0.006])
    assert solver.stats()["success"]
    steps[hessian] = solver.stats()["iter_count"]
    w = found["x"].full().ravel()
    total, gain, risk = found["g"].full().ravel()
    entropy = -found["f"].full().item()
    print(f"{hessian} Hessian: {steps[hessian]} steps, entropy {entropy:.6f}, return {gain:.4f}, risk {risk:.5f}")
    assert abs(total - 1) < 1e-8
    assert gain > 0.06 - 1e-8
    assert risk < 0.006 + 1e-8
assert steps["exact"] < steps["limited-memory"]
