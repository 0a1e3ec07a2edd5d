"""JAX: jit of value_and_grad, hessian, jacrev or vjp, in float64; NumPy arrays in and out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import jax.scipy.linalg
import numpy as np
from problems import DIRECTION, FORWARD_SEED, Call, Data, Problem

jax.config.update("jax_enable_x64", True)


class Functions:
    """Names in `ns` for a problem's formula."""

    sum, exp, tanh, trace, kron = jnp.sum, jnp.exp, jnp.tanh, jnp.trace, jnp.kron
    inv, solve, softplus, expm = jnp.linalg.inv, jnp.linalg.solve, jax.nn.softplus, jax.scipy.linalg.expm
    det, cholesky, pinv, log, log1p, sqrt = (
        jnp.linalg.det,
        jnp.linalg.cholesky,
        jnp.linalg.pinv,
        jnp.log,
        jnp.log1p,
        jnp.sqrt,
    )
    eigvalsh, eye, logsumexp = jnp.linalg.eigvalsh, jnp.eye, jax.nn.logsumexp

    @staticmethod
    def logdet(a: jax.Array) -> jax.Array:
        return jnp.linalg.slogdet(a)[1]

    @staticmethod
    def svdvals(a: jax.Array) -> jax.Array:
        return jnp.linalg.svd(a, compute_uv=False)

    @staticmethod
    def logdet_spd(a: jax.Array) -> jax.Array:
        return 2.0 * jnp.sum(jnp.log(jnp.diagonal(jnp.linalg.cholesky(a))))

    @staticmethod
    def solve_spd(a: jax.Array, b: jax.Array) -> jax.Array:
        return jax.scipy.linalg.solve(a, b, assume_a="pos")

    @staticmethod
    def qr_R(a: jax.Array) -> jax.Array:
        r = jnp.linalg.qr(a)[1]
        return jnp.sign(jnp.diagonal(r))[:, None] * r

    @staticmethod
    def matfun(f: Callable[[jax.Array], jax.Array], a: jax.Array) -> jax.Array:
        w, v = jnp.linalg.eigh(a)
        return (v * f(w)) @ v.T

    @staticmethod
    def polar(a: jax.Array) -> jax.Array:
        u, _, v = jnp.linalg.svd(a, full_matrices=False)
        return u @ v

    @staticmethod
    def sylvester(a: jax.Array, b: jax.Array, c: jax.Array) -> jax.Array:
        n = len(a)
        if n > 60:
            raise NotImplementedError("a Kronecker system")
        one = jnp.eye(n)
        return jnp.linalg.solve(jnp.kron(a, one) + jnp.kron(one, b.T), c.reshape(-1)).reshape(n, n)

    @staticmethod
    def logsumexp_rows(a: jax.Array) -> jax.Array:
        return jax.nn.logsumexp(a, axis=1)

    @staticmethod
    def sum_rows(a: jax.Array) -> jax.Array:
        return jnp.sum(a, axis=1)

    @staticmethod
    def evidence(y: jax.Array, k: jax.Array) -> jax.Array:
        return jnp.sum(y * jnp.linalg.solve(k, y)) + jnp.linalg.slogdet(k)[1]


def build(problem: Problem, data: Data) -> Call:
    """Return a function without arguments that computes the answer from `data`."""
    run, args = jitted(problem, data)
    return lambda: jax.tree.map(np.asarray, run(*args))


def jitted(problem: Problem, data: Data) -> tuple[Any, list[Any]]:
    """Return the jitted function of a problem, not compiled yet, and its arguments."""
    names = list(problem.shapes)
    code = compile(problem.python, problem.name, "eval")
    places = tuple(names.index(w) for w in problem.wrt)
    args = [data[name] for name in names]

    def f(*values: jax.Array) -> jax.Array:
        return eval(code, {"ns": Functions}, dict(zip(names, values, strict=True)))

    if problem.gives == "pullback":
        seed = data[FORWARD_SEED]

        def pullback(seed: jax.Array, *values: jax.Array) -> jax.Array:
            result, backward = jax.vjp(f, *values)
            return result, [backward(seed)[k] for k in places]

        run = jax.jit(pullback)
        args = [seed, *args]
    elif problem.gives == "gradient":
        run = jax.jit(jax.value_and_grad(f, argnums=places))
    elif problem.gives == "hvp":
        (place,) = places

        def product(direction: jax.Array, *values: jax.Array) -> jax.Array:
            def slope(x: jax.Array) -> jax.Array:
                return jax.grad(f, argnums=place)(*values[:place], x, *values[place + 1 :])

            return jax.jvp(slope, (values[place],), (direction,))[1]

        run = jax.jit(product)
        args = [data[DIRECTION], *args]
    else:
        run = jax.jit((jax.hessian if problem.gives == "hessian" else jax.jacrev)(f, argnums=places[0]))
    return run, args
