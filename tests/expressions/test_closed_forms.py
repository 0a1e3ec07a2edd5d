"""Last states of linear recurrences as powers and geometric sums, against the loop in NumPy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import matcalc as mc
from matcalc.errors import NotSupported

DECLARED = (
    "A, C: matrix(n, n); x0, b, d: vector(n); X0: matrix(n, n); P0: matrix(n, n) symmetric; "
    "a, c, s0, s1: scalar; e: vector(T)"
)
N = 3
MATRICES = {
    "random": np.random.default_rng(4).normal(size=(N, N)),
    "singular, with the eigenvalue 1": np.array([[1.0, 2, 0], [0, 0, 0], [0, 1, 0.5]]),
    "identity": np.eye(N),
    "zero": np.zeros((N, N)),
}
NUMBERS = {"random": -0.7, "singular, with the eigenvalue 1": 1.0, "identity": 1.3, "zero": 0.0}


def data(kind: str, length: int) -> dict[str, Any]:
    rng = np.random.default_rng(length)
    p = rng.normal(size=(N, N))
    return {"A": MATRICES[kind], "C": rng.normal(size=(N, N)), "x0": rng.normal(size=N), "b": rng.normal(size=N),
            "d": rng.normal(size=N), "X0": rng.normal(size=(N, N)), "P0": p + p.T, "a": NUMBERS[kind], "c": 0.4,
            "s0": 1.2, "s1": -0.3, "e": rng.normal(size=length), "T": length, "n": N}  # fmt: skip


def repeated(start: str, step: Callable[[dict[str, Any], Any, int], Any]) -> Callable[[dict[str, Any]], Any]:
    """Return the last state of a loop over the steps."""

    def run(given: dict[str, Any]) -> Any:
        x = given[start]
        for t in range(given["T"]):
            x = step(given, x, t)
        return x

    return run


def _two(given: dict[str, Any]) -> Any:
    x, s = given["x0"], given["s0"]
    for _ in range(given["T"]):
        x, s = given["A"] @ x + s * given["b"], given["a"] * s + given["b"] @ x
    return x


def _lagged(given: dict[str, Any]) -> Any:
    s = [given["s0"], given["s1"]]
    for _ in range(given["T"]):
        s.append(given["a"] * s[-1] + given["c"] * s[-2])
    return s[-1]


CASES = {
    "x[T] where x[0] = x0, x[t+1] = A*x[t], t < T": (
        "powm(A, T)*x0",
        repeated("x0", lambda g, x, t: g["A"] @ x),
    ),
    "x[T] where x[0] = x0, x[t+1] = A*x[t] + b, t < T": (
        "(powm([A, b; zeros(1, n), 1], T)*[x0; 1])[:-1]",
        repeated("x0", lambda g, x, t: g["A"] @ x + g["b"]),
    ),
    "x[0] where x[T] = x0, x[t] = A*(x[t+1] - b), t < T": (
        "(powm([A, -A*b; zeros(1, n), 1], T)*[x0; 1])[:-1]",
        repeated("x0", lambda g, x, t: g["A"] @ (x - g["b"])),
    ),
    "x[T] where x[0] = x0, x[t+1] = d.*x[t] + b, t < T": (
        "",
        repeated("x0", lambda g, x, t: g["d"] * x + g["b"]),
    ),
    "x[T] where x[0] = x0, x[t+1] = A*x[t] + s[t]*b, s[0] = s0, s[t+1] = a*s[t] + b'*x[t], t < T": (
        "(powm([A, b; b', a], T)*[x0; s0])[:-1]",
        _two,
    ),
    "s[T] where s[0] = s0, s[t+1] = a*s[t], t < T": (
        "s0*a^(T)",
        repeated("s0", lambda g, s, t: g["a"] * s),
    ),
    "s[T] where s[0] = s0, s[t+1] = a*s[t] + c, t < T": (
        "c*sum(a.^iota(T)) + s0*a^(T)",
        repeated("s0", lambda g, s, t: g["a"] * s + g["c"]),
    ),
    "s[T] where s[0] = s0, s[t+1] = a*e[t] + (1 - a)*s[t], t < T": (
        "a*(1 - a).^((T - 1) - iota(T))'*e + s0*(1 - a)^(T)",
        repeated("s0", lambda g, s, t: g["a"] * g["e"][t] + (1 - g["a"]) * s),
    ),
    "s[0] where s[T] = s0, s[t] = a*s[t+1] + e[t]^2, t < T": (
        "a.^iota(T)'*e.^2 + s0*a^(T)",
        repeated("s0", lambda g, s, t: g["a"] * s + g["e"][g["T"] - 1 - t] ** 2),
    ),
    "s[T] where s[0] = s0, s[t+1] = s[t] + c, t < T": (
        "T*c + s0",
        repeated("s0", lambda g, s, t: s + g["c"]),
    ),
    "s[T+1] where s[0] = s0, s[1] = s1, s[t+2] = a*s[t+1] + c*s[t], t < T": (
        "(powm([0, 1; c, a], T)*[s0; s1])[1]",
        _lagged,
    ),
    "X[T] where X[0] = X0, X[t+1] = A*X[t]*C, t < T": (
        "powm(A, T)*X0*powm(C, T)",
        repeated("X0", lambda g, x, t: g["A"] @ x @ g["C"]),
    ),
    "P[T] where P[0] = P0, P[t+1] = A*P[t]*A', t < T": (
        "powm(A, T)*P0*powm(A, T)'",
        repeated("P0", lambda g, x, t: g["A"] @ x @ g["A"].T),
    ),
    "X[T] where X[0] = X0, X[t+1] = A*X[t] + C, t < T": (
        "",
        repeated("X0", lambda g, x, t: g["A"] @ x + g["C"]),
    ),
    "X[T] where X[0] = X0, X[t+1] = X[t]*A + C, t < T": (
        "",
        repeated("X0", lambda g, x, t: x @ g["A"] + g["C"]),
    ),
}


@pytest.mark.sampled(8)
@pytest.mark.parametrize("text", CASES)
def test_last_states_are_powers(text: str) -> None:
    shown, loop = CASES[text]
    e = mc.expression(text, DECLARED).rewrite("closed")
    assert "where" not in str(e)
    assert not shown or str(e) == shown
    assert mc.expression(str(e), DECLARED).node is e.node
    for kind in MATRICES:
        for length in (0, 1, 2, 6):
            given = data(kind, length)
            found, wanted = e(**{name: given[name] for name in e.symbols}), loop(given)
            assert np.shape(found) == np.shape(wanted)
            assert np.abs(found - wanted).max() <= 1e-12 * max(1, np.abs(wanted).max()), (kind, length)


@pytest.mark.whole
def test_gradients_of_closed_forms_are_those_of_recurrences() -> None:
    for text, wrt in (("b'*x[T] where x[0] = x0, x[t+1] = A*x[t] + b, t < T", "A"),
                      ("s[T] where s[0] = s0, s[t+1] = a*s[t] + c, t < T", "a")):  # fmt: skip
        e = mc.expression(text, DECLARED)
        one, other = mc.gradient(e, wrt), mc.gradient(e.rewrite("closed"), wrt)
        for length in (0, 1, 2, 6):
            given = data("random", length)
            first, second = (g(**{name: given[name] for name in g.symbols}) for g in (one, other))
            assert np.abs(first - second).max() <= 1e-11 * max(1, np.abs(first).max())


@pytest.mark.parametrize(
    "text",
    [
        "x where x[0] = x0, x[t+1] = A*x[t], t < T",
        "x[T] where x[0] = x0, x[t+1] = tanh(A*x[t]), t < T",
        "x[T] where x[0] = x0, x[t+1] = A*x[t] + e[t]*b, t < T",
        "s[T] where s[0] = s0, s[t+1] = e[t]*s[t], t < T",
        "P[T] where P[0] = P0, P[t+1] = A*P[t]*A' + C, t < T",
        "A*b",
    ],
)
def test_other_recurrences_are_refused(text: str) -> None:
    with pytest.raises(NotSupported, match="no recurrence has a closed form here"):
        mc.expression(text, DECLARED).rewrite("closed")
