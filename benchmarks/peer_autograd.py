"""HIPS autograd: a tape over NumPy."""

from __future__ import annotations

import autograd
import autograd.numpy as anp
import numpy as np
from autograd.differential_operators import make_vjp
from problems import DIRECTION, FORWARD_SEED, Call, Data, Problem


class Functions:
    """Names in `ns` for a problem's formula; autograd has no expm."""

    sum, exp, tanh, trace, kron = anp.sum, anp.exp, anp.tanh, anp.trace, anp.kron
    inv, solve, det, sqrt, eye = anp.linalg.inv, anp.linalg.solve, anp.linalg.det, anp.sqrt, anp.eye

    @staticmethod
    def eigvalsh(a: np.ndarray) -> np.ndarray:
        return anp.linalg.eigh(a)[0]

    @staticmethod
    def svdvals(a: np.ndarray) -> np.ndarray:
        return anp.linalg.svd(a, full_matrices=False)[1]

    @staticmethod
    def sum_rows(a: np.ndarray) -> np.ndarray:
        return anp.sum(a, axis=1)

    @staticmethod
    def logsumexp(a: np.ndarray) -> np.ndarray:
        top = anp.max(a)
        return anp.log(anp.sum(anp.exp(a - top))) + top

    @staticmethod
    def evidence(y: np.ndarray, k: np.ndarray) -> np.ndarray:
        return anp.sum(y * anp.linalg.solve(k, y)) + anp.linalg.slogdet(k)[1]

    @staticmethod
    def softplus(a: np.ndarray) -> np.ndarray:
        return anp.logaddexp(0.0, a)

    @staticmethod
    def logdet(a: np.ndarray) -> np.ndarray:
        return anp.linalg.slogdet(a)[1]

    @staticmethod
    def logsumexp_rows(a: np.ndarray) -> np.ndarray:
        top = anp.max(a, axis=1, keepdims=True)
        return anp.log(anp.sum(anp.exp(a - top), axis=1)) + top[:, 0]


def build(problem: Problem, data: Data) -> Call:
    """Return a function without arguments that computes the answer from `data`."""
    code = compile(problem.python, problem.name, "eval")
    start = tuple(data[w] for w in problem.wrt)

    def f(values: tuple[np.ndarray, ...]) -> np.ndarray:
        return eval(code, {"ns": Functions}, data | dict(zip(problem.wrt, values, strict=True)))

    if problem.gives == "gradient":
        run = autograd.value_and_grad(f)
        return lambda: run(start)
    if problem.gives == "pullback":
        record = make_vjp(f)

        def pullback() -> object:
            backward, value = record(start)
            return value, backward(data[FORWARD_SEED])

        return pullback
    if problem.gives == "hvp":
        product = autograd.hessian_vector_product(lambda value: f((value,)))
        return lambda: product(start[0], data[DIRECTION])
    transform = autograd.hessian if problem.gives == "hessian" else autograd.jacobian
    second = transform(lambda value: f((value,)))
    return lambda: second(start[0])
