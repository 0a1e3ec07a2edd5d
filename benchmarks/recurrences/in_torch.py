"""The models in PyTorch: loops over tensors, value and gradient by `torch.autograd`."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch

from benchmarks.recurrences.models import Data, Model

torch.set_num_threads(1)


def kalman(d):
    A, H, Q, R, x, P = (d[k] for k in ("A", "H", "Q", "R", "x0", "P0"))
    total = torch.zeros((), dtype=torch.float64)
    for y in d["Y"]:
        W = P @ H.T
        v, L = y - H @ x, torch.linalg.cholesky(H @ W + R)
        K = torch.cholesky_solve(W.T, L).T
        total = total + 2 * torch.log(torch.diagonal(L)).sum() + v @ torch.cholesky_solve(v[:, None], L)[:, 0]
        x, P = A @ (x + K @ v), A @ (P - K @ W.T) @ A.T + Q
    return total / 2


def rnn(d):
    W, U, b, c, h = (d[k] for k in ("W", "U", "b", "c", "h0"))
    total = torch.zeros((), dtype=torch.float64)
    for x, y in zip(d["X"], d["y"], strict=True):
        h = torch.tanh(W @ h + U @ x + b)
        total = total + (c @ h - y) ** 2
    return total


def garch(d):
    g, total = d["s"], torch.zeros((), dtype=torch.float64)
    for e in d["e"]:
        total = total + torch.log(g) + e**2 / g
        g = d["w"] + d["a"] * e**2 + d["b"] * g
    return total


def rk4(d):
    A, b, h, x = (d[k] for k in ("A", "b", "h", "x0"))
    total = torch.zeros((), dtype=torch.float64)
    for y in d["Y"]:
        k1 = A @ torch.tanh(x) + b
        k2 = A @ torch.tanh(x + h / 2 * k1) + b
        k3 = A @ torch.tanh(x + h / 2 * k2) + b
        k4 = A @ torch.tanh(x + h * k3) + b
        x = x + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        total = total + ((x - y) ** 2).sum()
    return total


def lqr(d):
    A, B, Q, R = (d[k] for k in ("A", "B", "Q", "R"))
    P = Q
    for _ in range(d["T"]):
        V, N = P @ A, B.T @ P @ A
        P = Q + A.T @ V - N.T @ torch.cholesky_solve(N, torch.linalg.cholesky(R + B.T @ P @ B))
    return (P * d["X0"]).sum()


def build(name: str, model: Model, data: Data) -> Callable[[], Sequence[object]]:
    """Return value and gradient as a function without arguments."""
    own = {k: v if isinstance(v, int) else torch.as_tensor(v) for k, v in data.items()}
    chosen = [own[k].requires_grad_() for k in model.wrt]

    def run():
        value = globals()[name](own)
        return value.detach(), torch.autograd.grad(value, chosen)

    return run
