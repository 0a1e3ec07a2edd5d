"""Derivations of recurrences: each printed line is read back and compared with a difference along the tangent."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import matcalc as mc

DECLARED = "A, W, dA, dW: matrix(n, n); B: matrix(n, m); U: matrix(T, m); x0, b, dx0: vector(n); a, da: scalar"
LINE = re.compile(r"^ *\d+\. +(.*?) ?= (.*?)((?:    \[.*\])*)$")
N, M, STEPS = 3, 2, 4
RNG = np.random.default_rng(7)
SHAPES = {"A": (N, N), "W": (N, N), "B": (N, M), "U": (STEPS, M), "x0": (N,), "b": (N,), "a": ()}
DATA: dict[str, Any] = {name: RNG.normal(size=shape) / 2 for name, shape in SHAPES.items()}
SIZES = {"n": N, "m": M, "T": STEPS}
CASES = {
    "b'*h[T] where h[0] = x0, h[t+1] = A*h[t] + B*U[t, :], t < T": ("A", "x0"),
    "b'*h[T] + sum{t: h[t]'*h[t]} where h[0] = x0, h[t+1] = tanh(W*h[t] + B*U[t, :]), t < T": ("W",),
    "tr(A*P[0]) where P[T] = W, P[t] = a*A'*P[t+1]*A + W, t < T": ("a",),
}


def value(text: str, data: dict[str, Any]) -> Any:
    e = mc.expression(text, DECLARED)
    return np.asarray(e(**{name: data.get(name, SIZES.get(name)) for name in e.symbols}))


def along(text: str, wrt: str, tangent: Any) -> float:
    """Return the difference quotient of a formula along a tangent."""
    h = 1e-5
    ahead, behind = (value(text, {**DATA, wrt: DATA[wrt] + way * h * tangent}) for way in (1, -1))
    return float((ahead - behind) / (2 * h))


@pytest.mark.sampled(4)
@pytest.mark.parametrize(("text", "wrt"), [(text, wrt) for text, names in CASES.items() for wrt in names])
def test_each_line_has_the_value_of_the_differential(text: str, wrt: str) -> None:
    tangent = RNG.normal(size=np.shape(DATA[wrt]))
    data = {**DATA, f"d{wrt}": tangent}
    shown = str(mc.gradient(mc.expression(text, DECLARED), wrt).explain())
    lines = [LINE.match(line) for line in shown.splitlines()]
    assert all(lines), shown
    expected = along(text, wrt, tangent)
    lefts = [line[1] for line in lines if line]
    assert lefts[0] == "f" and "df" in lefts and lefts[-1] == "gradient"
    for line in filter(None, lines):
        found = value(line[2], data)
        if line[1] == "f":
            np.testing.assert_allclose(found, value(text, DATA), rtol=1e-12)
        else:
            found = np.sum(found * tangent) if line[1] == "gradient" else found
            np.testing.assert_allclose(found, expected, rtol=1e-7)
    assert "the start and the step of each state are differentiated" in shown
    assert "the adjoint runs in the other direction" in shown


@pytest.mark.whole
def test_the_differential_of_a_state_is_named_after_it() -> None:
    (text, *_) = CASES
    for form in ("latex", "markdown"):
        shown = mc.gradient(mc.expression(text, DECLARED), "A").explain(form)
        assert r"\mathit{dh}_{t+1}" in shown
    assert "dh[0] = zeros(n), dh[t+1] = A*dh[t] + dA*h[t]" in str(
        mc.gradient(mc.expression(text, DECLARED), "A").explain()
    )
