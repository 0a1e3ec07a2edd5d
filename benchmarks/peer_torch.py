"""PyTorch: eager autograd, torch.func for Hessians and Jacobians; NumPy arrays in and out without copies."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from problems import FORWARD_SEED, Problem

torch.set_num_threads(1)


class Functions:
    """The names that a problem's formula takes from `ns`."""

    sum, exp, tanh, trace, kron = torch.sum, torch.exp, torch.tanh, torch.trace, torch.kron
    inv, solve, expm = torch.linalg.inv, torch.linalg.solve, torch.linalg.matrix_exp
    softplus = torch.nn.functional.softplus

    @staticmethod
    def logdet(a: Any) -> Any:
        return torch.linalg.slogdet(a)[1]

    @staticmethod
    def logsumexp_rows(a: Any) -> Any:
        return torch.logsumexp(a, 1)


def build(problem: Problem, data: dict[str, Any]) -> Callable[[], Any]:
    """Return a function without arguments that computes the answer from `data`."""
    names = list(problem.shapes)
    code = compile(problem.python, problem.name, "eval")
    places = tuple(names.index(w) for w in problem.wrt)

    def f(*values: Any) -> Any:
        return eval(code, {"ns": Functions}, dict(zip(names, values, strict=True)))

    def tensors() -> list[Any]:
        return [torch.as_tensor(data[name], dtype=torch.float64) for name in names]

    def reverse() -> Any:
        values = tensors()
        leaves = [values[k].requires_grad_() for k in places]
        result = f(*values)
        seed = torch.as_tensor(data[FORWARD_SEED]) if problem.gives == "pullback" else None
        return [t.detach().numpy() for t in (result, *torch.autograd.grad(result, leaves, seed))]

    def second() -> Any:
        transform = torch.func.hessian if problem.gives == "hessian" else torch.func.jacrev
        return transform(f, argnums=places[0])(*tensors()).numpy()

    return reverse if problem.gives in ("gradient", "pullback") else second
