"""Recurrences of a fixed number of steps as SymPy expressions, against loops in NumPy and their complex steps."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import sympy

import matcalc as mc
from matcalc.errors import NotSupported

RNG = np.random.default_rng(0)
N, STEPS = 3, 3
HALF = RNG.normal(size=(N, N))
DATA: dict[str, Any] = {
    "A": RNG.normal(size=(N, N)) / 2,
    "U": RNG.normal(size=(STEPS, N)),
    "x0": RNG.normal(size=N),
    "b": RNG.normal(size=N),
    "Q": HALF @ HALF.T + np.eye(N),
    "e": RNG.normal(size=STEPS),
    "a": 0.3,
    "c": 0.7,
    "w": 1.4,
}
DECLARED = "A: matrix(3, 3); x0, b: vector(3); Q: matrix(3, 3) spd; U: matrix(3, 3); e: vector(3); a, c, w: scalar"
Data = dict[str, Any]


def linear(d: Data) -> Any:
    x = d["x0"]
    for t in range(STEPS):
        x = d["A"] @ x + t * d["U"][t]
    return d["b"] @ x


def network(d: Data) -> Any:
    x = d["x0"]
    for _ in range(STEPS):
        x = np.tanh(d["A"] @ x + d["b"])
    return x @ x


def riccati(d: Data) -> Any:
    P = d["Q"]
    for _ in range(STEPS):
        P = d["Q"] + d["A"].T @ np.linalg.inv(np.eye(N) + P) @ P @ d["A"]
    return np.trace(P)


def lagged(d: Data) -> Any:
    x = [d["a"], d["c"]]
    for t in range(STEPS):
        x.append(d["a"] * x[-1] + d["c"] * x[-2] * d["e"][t])
    return x[-1] + x[2] ** 2


def summed(d: Data) -> Any:
    s, total = d["w"], 0
    for e in d["e"]:
        total += np.log(s) + e**2 / s
        s = d["a"] + d["c"] * s
    return total


CASES: list[tuple[str, str, Callable[[Data], Any]]] = [
    ("b'*x[3] where x[0] = x0, x[t+1] = A*x[t] + t*U[t, :], t < 3", "A", linear),
    ("x[-1]'*x[-1] where x[0] = x0, x[t+1] = tanh(A*x[t] + b), t < 3", "b", network),
    ("tr(P[0]) where P[3] = Q, P[t] = Q + A'*inv(eye(3) + P[t+1])*P[t+1]*A, t < 3", "A", riccati),
    ("x[4] + x[2]^2 where x[0] = a, x[1] = c, x[t+2] = a*x[t+1] + c*x[t]*e[t], t < 3", "a", lagged),
    ("sum{t: log(s[t]) + e[t]^2/s[t]} where s[0] = w, s[t+1] = a + c*s[t], t < 3", "c", summed),
]


def number(expression: Any) -> Any:
    """Return the value of a SymPy expression at the data. SymPy itself evaluates few of them, so it is read back."""
    e = mc.from_sympy(expression)
    return np.squeeze(e(**{name: DATA[name] for name in e.symbols}))


def slope(loop: Callable[[Data], Any], name: str) -> Any:
    """Return the gradient of a loop by complex steps."""
    given = np.asarray(DATA[name], complex)
    found = np.empty(given.shape)
    for at in np.ndindex(given.shape):
        moved = given.copy()
        moved[at] += 1e-30j
        found[at] = np.imag(loop({**DATA, name: moved})) / 1e-30
    return found


@pytest.mark.parametrize(("text", "wrt", "loop"), CASES, ids=[loop.__name__ for *_, loop in CASES])
@pytest.mark.sampled(3)
def test_values_and_gradients_are_those_of_the_loop(text: str, wrt: str, loop: Callable[[Data], Any]) -> None:
    e = mc.expression(text, DECLARED)
    np.testing.assert_allclose(number(e.sympy()), loop(DATA), rtol=1e-12)
    np.testing.assert_allclose(number(mc.gradient(e, wrt).sympy()), slope(loop, wrt), rtol=1e-10, atol=1e-12)


def test_a_size_is_given_by_substitution() -> None:
    e = mc.expression("x[T] where x[0] = x0, x[t+1] = A*x[t] + b, t < T", DECLARED)
    with pytest.raises(NotSupported, match="a number of steps that is not known"):
        e.sympy()
    A, x0, b = sympy.MatrixSymbol("A", 3, 3), sympy.MatrixSymbol("x0", 3, 1), sympy.MatrixSymbol("b", 3, 1)
    found, wanted = e.substitute(T=2).sympy(), A * (A * x0 + b) + b
    assert sympy.simplify(found.as_explicit() - wanted.as_explicit()) == sympy.zeros(3, 1)


def test_nested_recurrences_are_written_out() -> None:
    def doubling(v: Any) -> Any:
        total = v
        for _ in range(9):
            inner = total
            for _ in range(8):
                inner = inner * 0.5 + v
            total = inner
        return total

    e = mc.expression(doubling, "v: scalar")
    assert np.isclose(float(e.sympy().subs("v", 0.7)), doubling(0.7), rtol=1e-13)
