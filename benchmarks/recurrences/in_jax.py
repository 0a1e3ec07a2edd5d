"""The models in JAX: `jax.lax.scan`, value and gradient under `jax.jit`."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import jax
import jax.numpy as jnp
from jax.scipy.linalg import cho_factor, cho_solve

from benchmarks.recurrences.models import Data, Model

jax.config.update("jax_enable_x64", True)


def kalman(d):
    A, H, Q, R = d["A"], d["H"], d["Q"], d["R"]

    def step(carry, y):
        x, P = carry
        W = P @ H.T
        v, S = y - H @ x, H @ W + R
        L = cho_factor(S, lower=True)
        term = 2 * jnp.sum(jnp.log(jnp.diag(L[0]))) + v @ cho_solve(L, v)
        K = cho_solve(L, W.T).T
        return (A @ (x + K @ v), A @ (P - K @ W.T) @ A.T + Q), term

    return jnp.sum(jax.lax.scan(step, (d["x0"], d["P0"]), d["Y"])[1]) / 2


def rnn(d):
    W, U, b, c = d["W"], d["U"], d["b"], d["c"]

    def step(h, now):
        x, y = now
        h = jnp.tanh(W @ h + U @ x + b)
        return h, (c @ h - y) ** 2

    return jnp.sum(jax.lax.scan(step, d["h0"], (d["X"], d["y"]))[1])


def garch(d):
    def step(g, e):
        return d["w"] + d["a"] * e**2 + d["b"] * g, jnp.log(g) + e**2 / g

    return jnp.sum(jax.lax.scan(step, d["s"], d["e"])[1])


def rk4(d):
    A, b, h = d["A"], d["b"], d["h"]

    def step(x, y):
        def f(x):
            return A @ jnp.tanh(x) + b

        k1 = f(x)
        k2 = f(x + h / 2 * k1)
        k3 = f(x + h / 2 * k2)
        k4 = f(x + h * k3)
        x = x + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        return x, jnp.sum((x - y) ** 2)

    return jnp.sum(jax.lax.scan(step, d["x0"], d["Y"])[1])


def lqr(d):
    A, B, Q, R = d["A"], d["B"], d["Q"], d["R"]

    def step(P, _):
        V, N = P @ A, B.T @ P @ A
        K = cho_solve(cho_factor(R + B.T @ P @ B), N)
        return Q + A.T @ V - N.T @ K, None

    return jnp.sum(jax.lax.scan(step, Q, None, length=d["T"])[0] * d["X0"])


def build(name: str, model: Model, data: Data) -> Callable[[], Sequence[object]]:
    """Return the compiled value and gradient as a function without arguments."""
    value, fixed = globals()[name], {k: v if isinstance(v, int) else jnp.asarray(v) for k, v in data.items()}
    chosen = tuple(fixed[k] for k in model.wrt)

    def of(given, rest):
        return value(
            {**rest, **({"T": fixed["T"]} if "T" in fixed else {}), **dict(zip(model.wrt, given, strict=True))}
        )

    function = jax.jit(jax.value_and_grad(of))
    rest = {k: v for k, v in fixed.items() if k not in model.wrt and k != "T"}
    return lambda: jax.block_until_ready(function(chosen, rest))
