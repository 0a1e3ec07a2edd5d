"""Adds an operation, the geometric mean of two positive definite matrices, by one entry of a rule file.

The entry states the value and one differential. matcalc derives the Frechet derivative, its adjoint, the second
derivative and compiled code from it. `load_rules` tests the file while reading it.
"""

from pathlib import Path

import numpy as np

import matcalc as mc

added = mc.load_rules(Path(__file__).with_suffix(".toml"))
print(added.report)
assert added == ("geomean",) and added.report

LET = "A: matrix(n, n) spd; B: matrix(n, n) spd; C: matrix(n, n)"
print("\nFrechet derivative in A:", mc.differential("geomean(A, B)", "A", LET))
print("its adjoint:            ", mc.vjp("geomean(A, B)", "A", LET))
print(mc.check("tr(C*geomean(A, B))", ["A", "B"], LET))

rng = np.random.default_rng(3)
M, N, C, E, G = (rng.standard_normal((5, 5)) for _ in range(5))
A, B, E = M @ M.T / 5 + np.eye(5), N @ N.T / 5 + np.eye(5), E + E.T

pushed = mc.compile(mc.jvp("geomean(A, B)", "A", LET))
pulled = mc.compile(mc.vjp("geomean(A, B)", "A", LET))
print("<G, dY> =", np.sum(G * pushed(A=A, B=B, dA=E)), "  <A_bar, dA> =", np.sum(pulled(A=A, B=B, G=G) * E))
assert np.isclose(np.sum(G * pushed(A=A, B=B, dA=E)), np.sum(pulled(A=A, B=B, G=G) * E), rtol=1e-12)

# The mean of commuting matrices is the square root of their product; the mean of A and A is A.
D = np.diag([1.0, 4.0, 9.0, 16.0, 25.0])
assert np.allclose(mc.compile("geomean(A, B)", declarations=LET)(D, np.eye(5)), np.sqrt(D))
assert str(mc.expression("geomean(A, A)", LET).simplify()) == "A"

# A wrong sign in the differential raises RuleError, and the rule is not added.
try:
    mc.define(
        "wrongmean(A: matrix(n, n) spd, B: matrix(n, n) spd) -> matrix(n, n) spd",
        value="geomean_(A, B)",
        where=["K = inv(A)*Y"],
        differential="sylvester(K', K, dB - K'*dA*K)",
    )
except mc.RuleError as error:
    print("\nrejected:", error)
else:
    raise AssertionError("a wrong differential was accepted")
