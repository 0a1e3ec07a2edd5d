"""PyTensor in its Numba mode: one function for all sizes, without its checks of arguments."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytensor
import pytensor.tensor as pt
from problems import DIRECTION, FORWARD_SEED, Call, Data, Problem
from pytensor.tensor import linalg


class Functions:
    """Names in `ns` for a problem's formula."""

    sum, exp, tanh, softplus, sqrt, eye, logsumexp = pt.sum, pt.exp, pt.tanh, pt.softplus, pt.sqrt, pt.eye, pt.logsumexp
    trace, kron, inv, solve, expm, det = pt.trace, linalg.kron, linalg.inv, linalg.solve, linalg.expm, linalg.det

    @staticmethod
    def svdvals(a: pt.TensorVariable) -> pt.TensorVariable:
        return linalg.svd(a, full_matrices=False)[1]

    @staticmethod
    def eigvalsh(a: pt.TensorVariable) -> pt.TensorVariable:
        return linalg.eigh(a)[0]

    @staticmethod
    def sum_rows(a: pt.TensorVariable) -> pt.TensorVariable:
        return pt.sum(a, axis=1)

    @staticmethod
    def evidence(y: pt.TensorVariable, k: pt.TensorVariable) -> pt.TensorVariable:
        return pt.sum(y * linalg.solve(k, y)) + linalg.slogdet(k)[1]

    @staticmethod
    def logdet(a: pt.TensorVariable) -> pt.TensorVariable:
        return linalg.slogdet(a)[1]

    @staticmethod
    def logsumexp_rows(a: pt.TensorVariable) -> pt.TensorVariable:
        return pt.logsumexp(a, axis=1)


FUNCTIONS: dict[str, Callable[..., object]] = {}


def compiled(problem: Problem) -> Callable[..., object]:
    """Return the function of a problem, compiled once."""
    if problem.name not in FUNCTIONS:
        kinds = (pt.dscalar, pt.dvector, pt.dmatrix)
        symbols = {name: kinds[len(shape)](name) for name, shape in problem.shapes.items()}
        value = eval(problem.python, {"ns": Functions}, dict(symbols))
        wrt = [symbols[w] for w in problem.wrt]
        inputs = list(symbols.values())
        if problem.gives == "gradient":
            outputs = [value, *pytensor.grad(value, wrt)]
        elif problem.gives == "pullback":
            inputs.append(value.type(FORWARD_SEED))
            outputs = [value, *pytensor.grad(None, wrt, known_grads={value: inputs[-1]})]
        elif problem.gives == "hvp":
            inputs.append(wrt[0].type(DIRECTION))
            outputs = [pytensor.gradient.hessian_vector_product(value, wrt[0], inputs[-1])]
        else:
            slope = pytensor.grad(value, wrt[0]) if problem.gives == "hessian" else value
            outputs = [pytensor.gradient.jacobian(slope.flatten(), wrt[0], vectorize=True)]
        FUNCTIONS[problem.name] = pytensor.function(
            inputs, outputs, mode="NUMBA", on_unused_input="ignore", trust_input=True
        )
    return FUNCTIONS[problem.name]


def build(problem: Problem, data: Data) -> Call:
    """Return a function without arguments that computes the answer from `data`."""
    fn = compiled(problem)
    args = [np.asarray(data[name]) for name in problem.inputs]
    return lambda: fn(*args)
