"""The models in CasADi: one step as a function, `mapaccum` over the steps, value and gradient by reverse mode."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import casadi as ca
import numpy as np

from benchmarks.recurrences.models import Data, Model


def kalman(s, z, y):
    n = s["A"].shape[0]
    x, P = z[:n], ca.reshape(z[n:], n, n)
    W, v = P @ s["H"].T, y - s["H"] @ x
    S = s["H"] @ W + s["R"]
    C = ca.inv(S)
    K = W @ C
    new = s["A"] @ (P - K @ W.T) @ s["A"].T + s["Q"]
    return ca.vertcat(s["A"] @ (x + K @ v), ca.vec(new)), (ca.log(ca.det(S)) + v.T @ C @ v) / 2


def rnn(s, h, now):
    h = ca.tanh(s["W"] @ h + s["U"] @ now[:-1] + s["b"])
    return h, (s["c"].T @ h - now[-1]) ** 2


def garch(s, g, e):
    return s["w"] + s["a"] * e**2 + s["b"] * g, ca.log(g) + e**2 / g


def rk4(s, x, y):
    def f(x):
        return s["A"] @ ca.tanh(x) + s["b"]

    h = s["h"]
    k1 = f(x)
    k2 = f(x + h / 2 * k1)
    k3 = f(x + h / 2 * k2)
    k4 = f(x + h * k3)
    x = x + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
    return x, ca.sumsqr(x - y)


def lqr(s, P, now):
    n = s["A"].shape[0]
    P = ca.reshape(P, n, n)
    N = s["B"].T @ P @ s["A"]
    new = s["Q"] + s["A"].T @ P @ s["A"] - N.T @ ca.inv(s["R"] + s["B"].T @ P @ s["B"]) @ N
    return ca.vec(new), now


STARTS = {
    "kalman": lambda d: np.concatenate([d["x0"], d["P0"].ravel()]),
    "rnn": lambda d: d["h0"],
    "garch": lambda d: np.atleast_1d(d["s"]),
    "rk4": lambda d: d["x0"],
    "lqr": lambda d: d["Q"].ravel(),
}
SEQUENCES = {
    "kalman": lambda d: d["Y"].T,
    "rnn": lambda d: np.column_stack([d["X"], d["y"]]).T,
    "garch": lambda d: d["e"][None],
    "rk4": lambda d: d["Y"].T,
    "lqr": lambda d: np.zeros((1, d["T"])),
}
GIVEN = {"rk4": lambda s: s["x0"], "lqr": lambda s: ca.vec(s["Q"])}
"""Starts in which the gradient is taken too."""


def build(name: str, model: Model, data: Data) -> Callable[[], Sequence[object]]:
    """Return value and gradient as a function without arguments."""
    start, sequence = STARTS[name](data), SEQUENCES[name](data)
    names = [k for k in data if k not in ("Y", "X", "y", "e", "x0", "P0", "h0", "s", "T") or (k in model.wrt)]
    own = {k: ca.MX.sym(k, *(np.shape(data[k]) or (1,))) for k in names}
    state, now = ca.MX.sym("state", len(start)), ca.MX.sym("now", len(sequence))
    arguments = [own[k] for k in names]
    step = ca.Function("step", [state, now, *arguments], list(globals()[name](own, state, now)))
    length = sequence.shape[1]
    first = GIVEN[name](own) if name in GIVEN else start
    states, terms = step.mapaccum(length)(first, sequence, *(ca.repmat(a, 1, length) for a in arguments))
    value = ca.dot(states[:, -1], ca.vec(own["X0"])) if name == "lqr" else ca.sum2(terms)
    function = ca.Function("f", arguments, [value, *(ca.gradient(value, own[k]) for k in model.wrt)])
    given = [data[k] for k in names]
    return lambda: function(*given)
