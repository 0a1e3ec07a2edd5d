"""PyTorch: eager autograd, torch.func for Hessians and Jacobians; NumPy arrays in and out without copies."""

from __future__ import annotations

from collections.abc import Callable

import torch
from problems import DIRECTION, FORWARD_SEED, Call, Data, Problem

torch.set_num_threads(1)


class Functions:
    """Names in `ns` for a problem's formula."""

    sum, exp, tanh, trace, kron = torch.sum, torch.exp, torch.tanh, torch.trace, torch.kron
    inv, solve, expm = torch.linalg.inv, torch.linalg.solve, torch.linalg.matrix_exp
    det, cholesky, pinv = torch.linalg.det, torch.linalg.cholesky, torch.linalg.pinv
    eigvalsh, svdvals, log, log1p, sqrt = (
        torch.linalg.eigvalsh,
        torch.linalg.svdvals,
        torch.log,
        torch.log1p,
        torch.sqrt,
    )
    softplus, eye = torch.nn.functional.softplus, torch.eye

    @staticmethod
    def logdet(a: torch.Tensor) -> torch.Tensor:
        return torch.linalg.slogdet(a)[1]

    @staticmethod
    def logdet_spd(a: torch.Tensor) -> torch.Tensor:
        return 2.0 * torch.sum(torch.log(torch.diagonal(torch.linalg.cholesky(a))))

    @staticmethod
    def solve_spd(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        return torch.cholesky_solve(b, torch.linalg.cholesky(a))

    @staticmethod
    def qr_R(a: torch.Tensor) -> torch.Tensor:
        r = torch.linalg.qr(a)[1]
        return torch.sign(torch.diagonal(r))[:, None] * r

    @staticmethod
    def matfun(f: Callable[[torch.Tensor], torch.Tensor], a: torch.Tensor) -> torch.Tensor:
        w, v = torch.linalg.eigh(a)
        return (v * f(w)) @ v.T

    @staticmethod
    def polar(a: torch.Tensor) -> torch.Tensor:
        u, _, v = torch.linalg.svd(a, full_matrices=False)
        return u @ v

    @staticmethod
    def sylvester(a: torch.Tensor, b: torch.Tensor, c: torch.Tensor) -> torch.Tensor:
        n = len(a)
        if n > 60:
            raise NotImplementedError("a Kronecker system")
        one = torch.eye(n, dtype=a.dtype)
        return torch.linalg.solve(torch.kron(a, one) + torch.kron(one, b.T.contiguous()), c.reshape(-1)).reshape(n, n)

    @staticmethod
    def logsumexp(a: torch.Tensor) -> torch.Tensor:
        return torch.logsumexp(a, 0)

    @staticmethod
    def logsumexp_rows(a: torch.Tensor) -> torch.Tensor:
        return torch.logsumexp(a, 1)

    @staticmethod
    def sum_rows(a: torch.Tensor) -> torch.Tensor:
        return torch.sum(a, 1)

    @staticmethod
    def evidence(y: torch.Tensor, k: torch.Tensor) -> torch.Tensor:
        return torch.sum(y * torch.linalg.solve(k, y)) + torch.linalg.slogdet(k)[1]


def build(problem: Problem, data: Data) -> Call:
    """Return a function without arguments that computes the answer from `data`."""
    names = list(problem.shapes)
    code = compile(problem.python, problem.name, "eval")
    places = tuple(names.index(w) for w in problem.wrt)

    def f(*values: torch.Tensor) -> torch.Tensor:
        return eval(code, {"ns": Functions}, dict(zip(names, values, strict=True)))

    def tensors() -> list[torch.Tensor]:
        return [torch.as_tensor(data[name], dtype=torch.float64) for name in names]

    def reverse() -> object:
        values = tensors()
        leaves = [values[k].requires_grad_() for k in places]
        result = f(*values)
        seed = torch.as_tensor(data[FORWARD_SEED]) if problem.gives == "pullback" else None
        return [t.detach().numpy() for t in (result, *torch.autograd.grad(result, leaves, seed))]

    def second() -> object:
        transform = torch.func.hessian if problem.gives == "hessian" else torch.func.jacrev
        return transform(f, argnums=places[0])(*tensors()).numpy()

    def product() -> object:
        values = tensors()
        leaf = values[places[0]].requires_grad_()
        (slope,) = torch.autograd.grad(f(*values), leaf, create_graph=True)
        return torch.autograd.grad(slope, leaf, torch.as_tensor(data[DIRECTION]))[0].numpy()

    runs = {"gradient": reverse, "pullback": reverse, "hvp": product}
    return runs.get(problem.gives, second)
