"""Recurrences that cannot be: each fault has its own error in each notation, with its place."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import matcalc as mc
from matcalc.errors import MatcalcError

LET = "A: matrix(n, n); b, c: vector(n); U: matrix(T, n)"
FAULTS: dict[str, list[tuple[str, str, str]]] = {
    "a state without a start": [
        ("text", "x[T] where x[t+1] = A*x[t], t < T", "the state x has no start"),
        ("text", "P[0] where P[t] = A'*P[t+1]*A, t < T", "the state P has no start"),
        ("text", "x[T] where x[0] = b, x[t+2] = A*x[t], t < T", "no start x[1]"),
        ("latex", r"x_T \text{ where } x_{t+1} = A x_t, \; t < T", "the state x has no start x_0"),
        ("latex", r"P_0 \text{ where } P_t = A P_{t+1}, \; t < T", "the state P has no start P_T"),
        ("latex", r"x_T \text{ where } x_0 = b, \; x_{t+2} = A x_t, \; t < T", "no start x_1"),
    ],
    "a start without a step": [
        ("text", "x[T] where x[0] = b, t < T", "no step"),
        ("text", "x[T] where x[0] = b, x[1] = c, x[t+1] = A*x[t], t < T", "a step defines it"),
        ("latex", r"x_T \text{ where } x_0 = b, \; x_1 = c, \; x_{t+1} = A x_t, \; t < T", "2 starts"),
        ("latex", r"x_T \text{ where } x_0 = b, \; x_{t+1} = A x_t, \; t = 1, \dots, T", "no start of these steps"),
    ],
    "two equations for one name": [
        ("text", "x[T] where x[0] = b, x[t+1] = A*x[t], x[t+1] = x[t], t < T", "x has two equations for one step"),
        ("text", "x[T] where x[0] = b, x[0] = c, x[t+1] = A*x[t], t < T", "two equations"),
        ("latex", r"x_T \text{ where } x_0 = b, \; x_{t+1} = A x_t, \; x_{t+1} = x_t, \; t < T", "two equations"),
        ("latex", r"x_T \text{ where } x_0 = b, \; x_0 = c, \; x_{t+1} = A x_t, \; t < T", "x_0 has two equations"),
    ],
    "a step that changes a shape": [
        ("text", "x[T] where x[0] = b, x[t+1] = A*x[t]*c', t < T", "has another shape"),
        ("text", "x[T] where x[0] = b, x[1] = A, x[t+2] = A*x[t], t < T", "the starts of x differ in shape"),
        ("latex", r"x_T \text{ where } x_0 = b, \; x_{t+1} = A x_t c^\top, \; t < T", "has another shape"),
    ],
    "an index beyond t + 1": [
        ("text", "x[T] where x[0] = b, x[t+1] = A*x[t+2], t < T", "not known at step t"),
        ("text", "x[T] where x[0] = b, x[t+1] = A*x[t-1], t < T", "not known at step t"),
        ("text", "x[T] where x[0] = b, x[t+1] = A*x[2*t], t < T", "not t plus a number"),
        ("text", "x[T] where x[0] = b, x[t+1] = A*x[t] + U[t-1, :], t < T", "begins at -1"),
        ("latex", r"x_T \text{ where } x_0 = b, \; x_{t+1} = A x_{t+2}, \; t < T", "not known at step t"),
        ("latex", r"x_T \text{ where } x_0 = b, \; x_{t+1} = A x_t + U_{t-1,:}^\top, \; t < T", "begins at"),
    ],
    "circular quantities": [
        ("text", "x[T] where x[0] = b, x[t+1] = S[t]*x[t], S[t] = V[t] + A, V[t] = S[t], t < T", "need each other"),
        ("text", "x[T] where x[0] = b, x[t+1] = A*x[t] + x[t+1], t < T", "needs itself in one step"),
        ("latex", r"x_T \text{ where } x_0 = b, x_{t+1} = S_t x_t, S_t = V_t + A, V_t = S_t, t < T", "need each other"),
        ("latex", r"x_T \text{ where } x_0 = b, \; x_{t+1} = A x_t + x_{t+1}, \; t < T", "needs itself"),
    ],
    "a length that the data contradict": [
        ("text", "x[T + 1] where x[0] = b, x[t+1] = A*x[t] + U[t, :], t < T + 1", "more often than its length"),
        ("text", "x[T] where x[0] = b, x[t+1] = A*x[t] + U[t+1, :], t < T", "more often than its length"),
        ("latex", r"x_{T+1} \text{ where } x_0 = b, \; x_{t+1} = A x_t + U_{t,:}^\top, \; t \le T", "more often"),
    ],
    "a negative length": [
        ("text", "x[0] where x[0] = b, x[t+1] = A*x[t], t < -1", "negative"),
        ("latex", r"x_0 \text{ where } x_0 = b, \; x_{t+1} = A x_t, \; t < -1", "negative"),
    ],
    "a length that nothing gives": [
        ("text", "x[-1] where x[0] = b, x[t+1] = A*x[t]", "the number of steps over t is not known"),
        ("text", "x[T] where x[0] = b, x[t+1] = A*x[t], t < T, t < n", "two limits"),
        ("text", "x[T] where x[0] = b, x[t+1] = A*x[t], s < T", "no equation has the step index 's'"),
        ("latex", r"x_{\mathrm{end}} \text{ where } x_0 = b, \; x_{t+1} = A x_t", "the number of steps over t"),
        ("latex", r"x_T \text{ where } x_0 = b, \; x_{t+1} = A x_t, \; t < T, \; t < n", "two ranges"),
        ("latex", r"x_T \text{ where } x_0 = b, \; x_{t+1} = A x_t, \; s < T", "no equation has the step index s"),
    ],
}
TEXTS = [(dialect, text, message) for some in FAULTS.values() for dialect, text, message in some]


@pytest.mark.sampled(3)
@pytest.mark.parametrize(("dialect", "text", "message"), TEXTS, ids=[f"{d} {t}" for d, t, _ in TEXTS])
def test_bad_equations_are_refused_with_their_place(dialect: str, text: str, message: str) -> None:
    options: dict[str, Any] = {"dialect": "latex"} if dialect == "latex" else {}
    with pytest.raises(MatcalcError) as found:
        mc.expression(text, LET, **options)
    assert message in str(found.value)
    assert "^" in str(found.value).split("\n", 1)[1]  # the place is marked


SYMBOLS = "A: matrix(n, n); x: vector(n); U: matrix(T, n); V: matrix(k, n); s: scalar"
SCANS: list[tuple[str, Callable[..., Any], str]] = [
    ("no start", lambda A, x, U, V, s: mc.scan(lambda x: A @ x, None, length="T"), "the start None"),
    ("a text as start", lambda A, x, U, V, s: mc.scan(lambda x: A @ x, "x", length="T"), "the start 'x'"),
    ("another shape", lambda A, x, U, V, s: mc.scan(lambda x: A, x, length="T"), "changes the shape (n,)"),
    ("another form", lambda A, x, U, V, s: mc.scan(lambda x: {"x": x}, x, length="T"), "of the form of its start"),
    ("nothing returned", lambda A, x, U, V, s: mc.scan(lambda x: None, x, length="T"), "of the form of its start"),
    ("two lengths", lambda A, x, U, V, s: mc.scan(lambda x, u: A @ x, x, over=(U, V)), "T and k entries"),
    ("a length beside data", lambda A, x, U, V, s: mc.scan(lambda x, u: A @ x, x, U, length=4), "4 and T entries"),
    ("no length", lambda A, x, U, V, s: mc.scan(lambda x: A @ x, x), "a sequence or a length"),
    ("a negative length", lambda A, x, U, V, s: mc.scan(lambda x: A @ x, x, length=-2), "-2 is negative"),
    ("half a step", lambda A, x, U, V, s: mc.scan(lambda x: A @ x, x, length=2.5), "an integer or a size"),
    ("a broken length", lambda A, x, U, V, s: mc.scan(lambda x: A @ x, x, length="T +"), "T +"),
    ("a symbol as length", lambda A, x, U, V, s: mc.scan(lambda x: A @ x, x, length=s), "an integer or a size"),
    ("a scalar sequence", lambda A, x, U, V, s: mc.scan(lambda x, u: A @ x, x, over=s), "the sequence s is a scalar"),
    ("a formula as step", lambda A, x, U, V, s: mc.scan(A, x, length="T"), "a step is a function"),
    (
        "a slice too many",
        lambda A, x, U, V, s: mc.scan(lambda x, u: A @ x, x, length="T"),
        "calls the step with a carry, and it takes (x, u)",
    ),
    (
        "a slice too few",
        lambda A, x, U, V, s: mc.scan(lambda x: A @ x, x, over=U),
        "calls the step with a carry and a slice",
    ),
    ("a branch", lambda A, x, U, V, s: mc.scan(lambda x: x if x[0] > 0 else -x, x, length="T"), "np.where"),
]


@pytest.mark.parametrize(("call", "message"), [one[1:] for one in SCANS], ids=[name for name, *_ in SCANS])
def test_bad_scans_are_refused(call: Callable[..., Any], message: str) -> None:
    with pytest.raises(MatcalcError) as found:
        call(*mc.symbols(SYMBOLS))
    assert message in str(found.value)


@pytest.mark.parametrize("target", ["numpy", "numba"])
def test_lengths_of_data_are_verified(target: str) -> None:
    e = mc.expression("x[T] where x[0] = a, x[t+1] = a*x[t] + y[t], t < T", "a: scalar; y: vector(m)")
    fn = mc.compile(e, target=target)
    with pytest.raises(MatcalcError, match="read"):
        fn(a=0.5, y=np.ones(3), T=4)
    with pytest.raises(MatcalcError, match="T"):
        fn(a=0.5, y=np.ones(3), T=-1)
