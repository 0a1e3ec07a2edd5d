"""Answers cases by PyTorch or JAX: `python peers.py torch`, cases and answers as lines of JSON (see peer.py).

Everything runs in float64, on one thread, eagerly. JVP is the framework's forward mode, VJP its reverse mode. The
second derivative is that of <G, Y> along V, by the framework's Hessian-vector product: reverse over reverse (PyTorch),
forward over reverse (JAX).
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from fractions import Fraction
from typing import Any

Tensor = Any
"""An array of the framework that answers."""
Scope = dict[str, Any]
JSON = dict[str, "JSON"] | list["JSON"] | str | float | None


class Torch:
    """Names in formulas: `np` is torch, `L` torch.linalg, `S` torch.special."""

    def __init__(self) -> None:
        import torch

        torch.set_num_threads(1)
        torch.set_default_dtype(torch.float64)
        self.torch = torch
        self.scope: Scope = {"np": torch, "L": torch.linalg, "S": torch.special, "F": torch.nn.functional}
        self.scope["array"] = self.array = lambda a: torch.tensor(a, dtype=torch.float64)
        self.scope["stop"] = lambda a: a.detach()
        self.scope.update(gauge(self.scope))

    def run(self, f: Callable[[Tensor], Tensor], kind: str, x: Tensor, dX: Tensor, V: Tensor, G: Tensor) -> Tensor:
        torch = self.torch
        if kind == "value":
            return f(x)
        if kind == "jvp":
            return torch.func.jvp(f, (x,), (dX,))[1]
        x = x.clone().requires_grad_()
        y = f(x)
        if not y.requires_grad:
            return torch.zeros_like(x)
        (gradient,) = torch.autograd.grad(y, x, G, create_graph=kind == "second", materialize_grads=True)
        if kind == "vjp":
            return gradient
        if not gradient.requires_grad:
            return torch.zeros_like(x)
        return torch.autograd.grad(gradient, x, V, materialize_grads=True)[0]


class Jax:
    """Names in formulas: `np` is jax.numpy, `L` jax.numpy.linalg, `S` jax.scipy.special, `SL` jax.scipy.linalg."""

    def __init__(self) -> None:
        import jax
        import jax.numpy as jnp
        import jax.scipy as jsp

        jax.config.update("jax_enable_x64", True)
        self.jax = jax
        self.scope: Scope = {"np": jnp, "L": jnp.linalg, "S": jsp.special, "SL": jsp.linalg, "jax": jax}
        self.scope["array"] = self.array = lambda a: jnp.asarray(a, dtype=jnp.float64)
        self.scope["stop"] = jax.lax.stop_gradient
        self.scope["F"] = jax.nn
        self.scope.update(gauge(self.scope))

    def run(self, f: Callable[[Tensor], Tensor], kind: str, x: Tensor, dX: Tensor, V: Tensor, G: Tensor) -> Tensor:
        jax = self.jax
        if kind == "value":
            return f(x)
        if kind == "jvp":
            return jax.jvp(f, (x,), (dX,))[1]

        def gradient(at: Tensor) -> Tensor:
            return jax.vjp(f, at)[1](G)[0]

        return gradient(x) if kind == "vjp" else jax.jvp(gradient, (x,), (V,))[1]


def gauge(scope: Scope) -> Scope:
    """Return signs of matcalc's eigenvectors, which make the entry of largest magnitude of each column positive."""
    np, stop = scope["np"], scope["stop"]

    def signs(V: Tensor) -> Tensor:
        top = np.argmax(np.abs(V), 0)
        return stop(np.sign(V[top, np.arange(V.shape[1])]))

    return {"signs": signs, "signed": lambda V: V * signs(V)}


def answers(framework: Torch | Jax, request: dict[str, JSON]) -> dict[str, JSON]:
    """Return kind -> numbers, or the framework's error."""
    data = {name[5:]: framework.array(a) for name, a in request.items() if name.startswith("data ")}
    plain = {name: number(text) for name, text in request["plain"].items()}
    code = compile(request["formula"], "formula", "eval")
    dX, V, G = (framework.array(request[name]) for name in ("dX", "V", "G"))
    wrt = request["wrt"]

    def f(x: Tensor) -> Tensor:
        return eval(code, {**framework.scope, **plain, **data, wrt: x})

    found: dict[str, JSON] = {}
    for kind in request["kinds"]:
        try:
            result = framework.run(f, kind, data.get(wrt, framework.array(0.0)), dX, V, G)
            found[kind] = (framework.array(0.0) + result).tolist()  # a sum has storage, PyTorch's zero may not
        except Exception as error:  # any error of a framework is its answer
            found[kind] = f"{type(error).__name__}: {(str(error).splitlines() or [''])[0][:200]}"
    return found


def number(text: str) -> int | float | str:
    """Return a parameter that is not an array: an integer, else a float, else the name of a function."""
    try:
        value = Fraction(text)
    except ValueError:
        return text
    return int(value) if value.denominator == 1 else float(value)


def main() -> None:
    framework = {"torch": Torch, "jax": Jax}[sys.argv[1]]()
    for line in sys.stdin:
        print(json.dumps(answers(framework, json.loads(line))), flush=True)


if __name__ == "__main__":
    main()
