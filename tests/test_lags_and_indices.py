"""Recurrences with lags and with data of kind index: their texts, and their derivatives read back."""

from __future__ import annotations

import numpy as np
import pytest
from random_recurrences import random_data, random_recurrence

import matcalc as mc

STEPS = 7
SCALARS = "a, b, c, d: scalar"
LAGS = "x[0] = c, x[1] = d, x[t+2] = a*x[t+1] + b*x[t], t < T"
BACKWARD = "l[T] = 1, l[T + 1] = 0, l[t] = a*l[t+1] + b*l[t+2]"
HIDDEN = "A: matrix(n, n) positive; B: matrix(n, m) positive; q: vector(n) positive; y: index(T)"
FORWARD = "sum(log(s)) where p[0] = q, s[t] = p[t]'*B[:, y[t]], p[t+1] = A'*(p[t].*B[:, y[t]])/s[t], t < T"


def test_lags_are_printed_as_lags() -> None:
    assert str(mc.expression(f"x[T+1] where {LAGS}", SCALARS)) == f"x[-1] where {LAGS}"
    assert str(mc.expression(f"sum(x) where {LAGS}", SCALARS)) == f"sum(x) where {LAGS}"
    ends = "x[T] = c, x[T + 1] = d, x[t] = a*x[t+1] + b*x[t+2], t < T"
    assert str(mc.expression(f"x[0] where {ends}", SCALARS)).partition(" where ")[2] == ends


def test_the_adjoint_of_lags_has_lags() -> None:
    e = mc.expression(f"x[T+1] where {LAGS}", SCALARS)
    assert str(mc.gradient(e, "d")) == f"l[0] where {BACKWARD}, t < T"
    assert f" where {BACKWARD}, {LAGS}" in str(mc.gradient(e, "a"))
    a, b, c, d = 0.7, -0.4, 1.1, 0.3
    matrix, steps = np.array([[a, b], [1.0, 0.0]]), 5
    power = np.linalg.matrix_power(matrix, steps)
    data = {"a": a, "b": b, "c": c, "d": d, "T": steps}
    for name, wanted in (("d", power[0, 0]), ("c", power[0, 1])):
        g = mc.gradient(e, name)
        assert g(**{k: data[k] for k in g.symbols}) == pytest.approx(wanted, rel=1e-13)


@pytest.mark.whole
def test_steps_look_up_data() -> None:
    e = mc.expression(FORWARD, HIDDEN)
    rng = np.random.default_rng(1)
    A, B, q = rng.uniform(0.1, 1, (3, 3)), rng.uniform(0.1, 1, (3, 4)), rng.uniform(0.1, 1, 3)
    y = np.array([2, 0, 0, 3, 1])
    paths = np.array(list(np.ndindex(3, 3, 3, 3, 3)))
    weight = q[paths[:, 0]] * np.prod([B[paths[:, t], y[t]] for t in range(5)], axis=0)
    weight = weight * np.prod([A[paths[:, t], paths[:, t + 1]] for t in range(4)], axis=0)
    assert e(A=A, B=B, q=q, y=y) == pytest.approx(np.log(weight.sum()), rel=1e-13)
    visits = np.zeros((3, 4))
    for t in range(5):
        np.add.at(visits, (paths[:, t], y[t]), weight / weight.sum())
    g = mc.gradient(e, "B")
    np.testing.assert_allclose(g(A=A, B=B, q=q, y=y), visits / B, rtol=1e-12)
    assert "B[:, y[t]]" in str(g)
    assert "{" not in str(g).replace("sum{t:", "")
    np.testing.assert_allclose(mc.compile(g, target="numpy")(A=A, B=B, q=q, y=y), visits / B, rtol=1e-12)


@pytest.mark.whole
@pytest.mark.thinned(4)
@pytest.mark.parametrize("seed", range(200))
def test_recurrences_are_read_back(seed: int) -> None:
    """The node is the same, or has the values of the loop; `test_random_recurrences.py` has derivatives."""
    made = random_recurrence(seed)
    declared = made.at(made.declared, STEPS)
    data = {**random_data(made, seed, STEPS), "n": 3, "m": 2, "p": 4, **made.size(STEPS)}
    frame = made.frame(data, STEPS)
    for text, python in ((made.text, made.loss), *made.outputs):
        e = mc.expression(made.at(text, STEPS), declared)
        again = mc.expression(str(e), e.declarations)
        if again.node is not e.node:
            wanted = np.real(eval(python, frame))  # noqa: S307 - a line of random_recurrences.py
            found = again(**{name: data[name] for name in again.symbols})
            np.testing.assert_allclose(found, wanted, rtol=1e-11, atol=1e-12)


def test_sequences_with_lags_keep_their_names() -> None:
    """The name belonged to the whole sequence, which is no state, so results called it x."""
    e = mc.expression(
        "y[T+1]^2 where y[0] = c, y[1] = d, y[t+2] = a*y[t+1] + b*y[t], t < T", "a, b, c, d: scalar; T: size"
    )
    for one in (e, mc.gradient(e, "a"), mc.hvp(e, "a", vector="v")):
        assert "y[t+2] = " in str(one)
        assert mc.expression(str(one), one.declarations).node is one.node
