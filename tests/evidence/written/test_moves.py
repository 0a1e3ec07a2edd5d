"""Tests that values at several steps along a direction, from one walk over a tree, are those of each step alone."""

import numpy as np
import pytest

import matcalc as mc
from matcalc.evidence.written.moves import Moves
from matcalc.evidence.written.points import Point

STEPS = [(0.25,), (-0.25,), (1e-5,), (1j * 1e-30,)]
REAL = "matfun(exp, X'*X)"
"""A formula that has no value at complex numbers."""
FORMULAS = [
    "X*y + y", "y'*X'*X*y", "exp(X).*y", "logdet(X'*X + eye(n))", "inv(X'*X + eye(n))*X'", "{i: X[i,i]*y[i] + s}",
    "sum{i,j: X[i,j]^2*[i < j]*y[j]}", "[X; X]", "[X, y]", "X[0:1,:]", "(X[1:,0] + y[0])'", "sum(X, axis=0)",
    "sort(y)", "norm2(X*y)/s", "s*y.^s", REAL, "X^2 - X'", "kron(X, y)", "log(s)*y", "7*eye(n)",
    "Z where Z = X*X", "stop(s)*s",
]  # fmt: skip


@pytest.mark.parametrize("text", FORMULAS)
def test_steps_together_are_steps_alone(text: str) -> None:
    e = mc.expression(text, "X: matrix(n, n); y: vector(n); s: scalar positive")
    rng = np.random.default_rng(5)
    data = {"X": rng.standard_normal((3, 3)), "y": rng.uniform(1, 2, 3), "s": np.array(1.5)}
    E = {"X": rng.standard_normal((3, 3)), "s": np.array(0.5)}
    point = Point(data, {"n": 3}, np.zeros(()))
    for steps in (STEPS[:3], STEPS) if text != REAL else (STEPS[:3],):
        together, alone = Moves(e.reference, point, E), Moves(e.reference, point, E)
        together.ahead(steps)
        assert len(together.known) == len(steps)
        for (step,) in steps[:3]:
            np.testing.assert_allclose(together(step), alone(step), rtol=1e-12, atol=1e-14)


def test_steps_outside_the_domain_are_evaluated_alone() -> None:
    e = mc.expression("logdet(S)", "S: matrix(n, n) spd")
    point = Point({"S": np.eye(2)}, {"n": 2}, np.zeros(()))
    moves = Moves(e.reference, point, {"S": np.full((2, 2), np.nan)})
    moves.ahead([(0.5,), (-0.5,)])
    assert not moves.known or all(not np.isfinite(value) for value in moves.known.values())
