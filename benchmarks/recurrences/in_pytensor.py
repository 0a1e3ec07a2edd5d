"""The models in PyTensor: `scan`, value and gradient in its Numba mode."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pytensor
import pytensor.tensor as pt
from pytensor.tensor import linalg

from benchmarks.recurrences.models import Data, Model


def scanned(step, sequences, starts, steps=None):
    """Return all outputs of a scan."""
    found = pytensor.scan(
        step, sequences=sequences, outputs_info=starts, n_steps=steps, return_updates=False, return_list=True
    )
    return found


def kalman(d):
    A, H, Q, R = d["A"], d["H"], d["Q"], d["R"]

    def step(y, x, P):
        W = P @ H.T
        v, S = y - H @ x, H @ W + R
        L = linalg.cholesky(S)
        u = linalg.cho_solve((L, True), v, b_ndim=1)
        K = linalg.cho_solve((L, True), W.T, b_ndim=2).T
        term = 2 * pt.sum(pt.log(pt.diag(L))) + v @ u
        return A @ (x + K @ v), A @ (P - K @ W.T) @ A.T + Q, term

    return pt.sum(scanned(step, [d["Y"]], [d["x0"], d["P0"], None])[2]) / 2


def rnn(d):
    W, U, b, c = d["W"], d["U"], d["b"], d["c"]

    def step(x, y, h):
        h = pt.tanh(W @ h + U @ x + b)
        return h, (c @ h - y) ** 2

    return pt.sum(scanned(step, [d["X"], d["y"]], [d["h0"], None])[1])


def garch(d):
    def step(e, g):
        return d["w"] + d["a"] * e**2 + d["b"] * g, pt.log(g) + e**2 / g

    return pt.sum(scanned(step, [d["e"]], [d["s"], None])[1])


def rk4(d):
    A, b, h = d["A"], d["b"], d["h"]

    def step(y, x):
        def f(x):
            return A @ pt.tanh(x) + b

        k1 = f(x)
        k2 = f(x + h / 2 * k1)
        k3 = f(x + h / 2 * k2)
        k4 = f(x + h * k3)
        x = x + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        return x, pt.sum((x - y) ** 2)

    return pt.sum(scanned(step, [d["Y"]], [d["x0"], None])[1])


def lqr(d):
    A, B, Q, R = d["A"], d["B"], d["Q"], d["R"]

    def step(P):
        V, N = P @ A, B.T @ P @ A
        K = linalg.cho_solve((linalg.cholesky(R + B.T @ P @ B), True), N, b_ndim=2)
        return Q + A.T @ V - N.T @ K

    return pt.sum(scanned(step, [], [Q], d["T"])[0][-1] * d["X0"])


def build(name: str, model: Model, data: Data) -> Callable[[], Sequence[object]]:
    """Return the compiled value and gradient as a function without arguments."""
    kinds = (pt.dscalar, pt.dvector, pt.dmatrix)
    own = {k: v if isinstance(v, int) else kinds[np.ndim(v)](k) for k, v in data.items()}
    value = globals()[name](own)
    inputs = [v for v in own.values() if not isinstance(v, int)]
    outputs = [value, *pytensor.grad(value, [own[k] for k in model.wrt])]
    function = pytensor.function(inputs, outputs, mode="NUMBA", on_unused_input="ignore")
    function.trust_input = True
    given = [np.asarray(data[k], dtype=float) for k, v in own.items() if not isinstance(v, int)]
    return lambda: function(*given)
