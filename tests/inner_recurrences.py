"""Recurrences in the steps of others, as text and as loops in NumPy."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

LET = "A: matrix(n, n); x0, c: vector(n); U: tensor(T, S, n); a: scalar"
Data = Mapping[str, Any]


def plain(d: Data) -> Any:
    x = d["x0"]
    for t in range(d["T"]):
        y = x
        for _ in range(d["S"]):
            y = d["A"] @ y / 2 + t * x
        x = np.tanh(y) / 2 + d["A"] @ x
    return d["c"] @ x


def summed(d: Data) -> Any:
    x, total = d["x0"], 0.0
    for t in range(d["T"]):
        y = x
        for s in range(d["S"]):
            before, y = y, np.sin(d["A"] @ y + d["U"][t, s])
            total = total + before @ y
        x = d["A"] @ x + y
    return total


def backward(d: Data) -> Any:
    x = d["x0"]
    for _ in range(d["T"]):
        states = [x]
        for _ in range(d["S"]):
            states.insert(0, d["A"] @ states[0])
        z = x
        for s in range(d["S"]):
            z = np.sin(z + states[s])
        x = (states[0] + z) / 2
    return d["c"] @ x


def adjoint(d: Data) -> Any:
    """A backward recurrence around a forward one."""
    p = d["c"]
    for t in reversed(range(d["T"])):
        y = p
        for _ in range(d["S"]):
            y = d["a"] * y + np.cos(d["A"] @ p) * (t + 1)
        p = d["A"].T @ y / 2
    return p @ d["x0"]


def thrice(d: Data) -> Any:
    x = d["x0"]
    for _ in range(d["T"]):
        y = x
        for _ in range(d["S"]):
            z = y
            for _ in range(d["S"]):
                z = d["A"] @ z + x / 4
            y = np.tanh(z)
        x = y
    return d["c"] @ x


def lagged(d: Data) -> Any:
    x = d["x0"]
    for _ in range(d["T"]):
        y = [x, d["A"] @ x]
        for _ in range(d["S"]):
            y.append(d["a"] * y[-1] - y[-2] / 3)
        x = y[-1] + y[0] * y[1] / 4
    return d["c"] @ x


def quantity(d: Data) -> Any:
    x, total = d["x0"], 0.0
    for _ in range(d["T"]):
        y = x
        for _ in range(d["S"]):
            y = y + d["a"] * np.tanh(d["A"] @ y)
        g = y @ y
        total = total + g * (d["c"] @ x)
        x = d["A"] @ x / (1 + g)
    return total


def equal_lengths(d: Data) -> Any:
    x = d["x0"]
    for _ in range(d["T"]):
        y, z = x, d["a"] * x
        for _ in range(d["T"]):
            y, z = np.sin(z), np.cos(y) * d["a"]
        x = d["A"] @ (y - z)
    return d["c"] @ x


EXAMPLES: dict[str, tuple[str, Callable[[Data], Any]]] = {
    "plain": (
        "c'*x[T] where x[0] = x0, "
        "x[t+1] = (tanh(y[S])/2 + A*x[t] where y[0] = x[t], y[s+1] = A*y[s]/2 + t*x[t], s < S), t < T",
        plain,
    ),
    "summed": (
        "sum{t: (sum{s: y[s]'*y[s+1]} where y[0] = x[t], y[s+1] = sin(A*y[s] + U[t, s, :]), s < S)} where x[0] = x0, "
        "x[t+1] = A*x[t] + (y[S] where y[0] = x[t], y[s+1] = sin(A*y[s] + U[t, s, :]), s < S), t < T",
        summed,
    ),
    "backward": (
        "c'*x[T] where x[0] = x0, x[t+1] = (y[0]/2 + z[S]/2 where y[S] = x[t], y[s] = A*y[s+1], s < S, "
        "z[0] = x[t], z[k+1] = sin(z[k] + y[k]), k < S), t < T",
        backward,
    ),
    "adjoint": (
        "p[0]'*x0 where p[T] = c, p[t] = (A'*y[S]/2 where y[0] = p[t+1], y[s+1] = a*y[s] + g[t]*(t + 1), s < S), "
        "g[t] = cos(A*p[t+1]), t < T",
        adjoint,
    ),
    "thrice": (
        "c'*x[T] where x[0] = x0, x[t+1] = (y[S] where y[0] = x[t], "
        "y[s+1] = tanh((z[S] where z[0] = y[s], z[k+1] = A*z[k] + x[t]/4, k < S)), s < S), t < T",
        thrice,
    ),
    "lagged": (
        "c'*x[T] where x[0] = x0, x[t+1] = (y[S + 1] + y[0].*y[1]/4 where y[0] = x[t], y[1] = A*x[t], "
        "y[s+2] = a*y[s+1] - y[s]/3, s < S), t < T",
        lagged,
    ),
    "quantity": (
        "sum{t: g[t]*(c'*x[t])} where x[0] = x0, x[t+1] = A*x[t]/(1 + g[t]), "
        "g[t] = (y[S]'*y[S] where y[0] = x[t], y[s+1] = y[s] + a*tanh(A*y[s]), s < S), t < T",
        quantity,
    ),
    "equal lengths": (
        "c'*x[T] where x[0] = x0, x[t+1] = A*(y[T] - z[T] where y[0] = x[t], z[0] = a*x[t], y[s+1] = sin(z[s]), "
        "z[s+1] = a*cos(y[s]), s < T), t < T",
        equal_lengths,
    ),
}
"""Losses by name, each with its loops."""


def data_of(steps: int, inner: int) -> dict[str, Any]:
    """Return data for numbers of steps."""
    rng = np.random.default_rng([steps, inner])
    return {
        "A": rng.normal(size=(3, 3)) / 3, "x0": rng.normal(size=3), "c": rng.normal(size=3), "a": 0.4,
        "U": rng.normal(size=(steps, inner, 3)), "n": 3, "T": steps, "S": inner,
    }  # fmt: skip
