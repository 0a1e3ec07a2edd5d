"""Measures energies of all pairs of rows, with gradients, against loops written by hand for Numba and against JAX.

    python -m benchmarks.pair_energies         writes results/pair_energies.md

The hand-written loops visit each pair once where the energy is symmetric. All run on one core; the calls alternate, and
the best of many rounds counts, in processor time. JAX is left out if it is not installed.
"""

from __future__ import annotations

import importlib
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numba import njit

import matcalc as mc

RESULTS = Path(__file__).parent / "results" / "pair_energies.md"
SIZES = ((50, 3), (300, 3), (1000, 3), (300, 20), (1000, 20))
ROUNDS = 9
Array = np.ndarray


@njit
def gaussian(X: Array, W: Array) -> tuple[float, Array]:
    """Return the sum of W[i,j]*exp(-|x_i - x_j|^2/2), and its gradient in X."""
    m, n = X.shape
    value, gradient = 0.0, np.zeros((m, n))
    for i in range(m):
        value += W[i, i]
        for j in range(i):
            square = 0.0
            for k in range(n):
                square += (X[i, k] - X[j, k]) ** 2
            term = (W[i, j] + W[j, i]) * np.exp(-square / 2)
            value += term
            for k in range(n):
                slope = term * (X[i, k] - X[j, k])
                gradient[i, k] -= slope
                gradient[j, k] += slope
    return value, gradient


@njit
def stress(X: Array, W: Array) -> tuple[float, Array]:
    """Return the sum of (|x_i - x_j| - W[i,j])^2, and its gradient in X."""
    m, n = X.shape
    value, gradient = 0.0, np.zeros((m, n))
    for i in range(m):
        value += W[i, i] ** 2
        for j in range(m):
            if i == j:
                continue
            square = 0.0
            for k in range(n):
                square += (X[i, k] - X[j, k]) ** 2
            distance = np.sqrt(square)
            gap = distance - W[i, j]
            value += gap * gap
            for k in range(n):
                slope = 2 * gap / distance * (X[i, k] - X[j, k])
                gradient[i, k] += slope
                gradient[j, k] -= slope
    return value, gradient


@njit
def lennard_jones(X: Array, W: Array) -> tuple[float, Array]:
    """Return the Lennard-Jones energy of the rows of X, and its gradient."""
    m, n = X.shape
    value, gradient = 0.0, np.zeros((m, n))
    for i in range(m):
        for j in range(i):
            square = 0.0
            for k in range(n):
                square += (X[i, k] - X[j, k]) ** 2
            sixth = 1 / (square * square * square)
            value += 4 * (sixth * sixth - sixth)
            factor = 4 * (6 * sixth - 12 * sixth * sixth) / square
            for k in range(n):
                slope = factor * (X[i, k] - X[j, k])
                gradient[i, k] += slope
                gradient[j, k] -= slope
    return value, gradient


ENERGIES = {
    "Gaussian kernel": ("sum{i,j: W[i,j]*exp(-sum{k: (X[i,k] - X[j,k])^2}/2)}", gaussian),
    "stress of distances": ("sum{i,j: (norm2({k: X[i,k] - X[j,k]}) - W[i,j])^2}", stress),
    "Lennard-Jones": (
        "2*sum((1 - eye(m)).*(r.^-6 - r.^-3)) where r = {i,j: sum{k: (X[i,k] - X[j,k])^2}} + eye(m)",
        lennard_jones,
    ),
}


def in_jax(name: str) -> Callable[..., Any] | None:
    """Return JAX's value and gradient; None if it is not installed."""
    try:
        jax = importlib.import_module("jax")
    except ImportError:
        return None
    jax.config.update("jax_enable_x64", True)
    jnp = jax.numpy

    def energy(X: Any, W: Any) -> Any:
        square = jnp.sum((X[:, None] - X[None]) ** 2, axis=2)
        off = 1 - jnp.eye(len(X))
        if name == "Gaussian kernel":
            return jnp.sum(W * jnp.exp(-square / 2))
        square = jnp.where(off > 0, square, 1)
        if name == "stress of distances":
            return jnp.sum((jnp.where(off > 0, jnp.sqrt(square), 0) - W) ** 2)
        return 2 * jnp.sum(off * (square**-6 - square**-3))

    return jax.jit(jax.value_and_grad(energy))  # type: ignore[no-any-return]


def measured(name: str, m: int, n: int) -> list[float | None]:
    """Return the least milliseconds of matcalc, the loops and JAX on random rows; all must agree."""
    text, by_hand = ENERGIES[name]
    ours = mc.value_and_gradient(text, "X", "X: matrix(m, n); W: matrix(m, m)")
    rng = np.random.default_rng(m + n)
    data = {"X": rng.normal(size=(m, n)), "W": rng.uniform(1, 2, (m, m))}
    given = [data[arg] for arg in ours.args]
    jaxs = in_jax(name)
    calls: list[Callable[[], Any] | None] = [
        lambda: ours(*given),
        lambda: by_hand(data["X"], data["W"]),
        None if jaxs is None else lambda: [np.asarray(x) for x in jaxs(data["X"], data["W"])],
    ]
    value, gradient = by_hand(data["X"], data["W"])
    best: list[float | None] = [None] * len(calls)
    for _ in range(ROUNDS):
        for k, call in enumerate(calls):
            if call is None:
                continue
            start = time.process_time()
            found = call()
            spent = (time.process_time() - start) * 1e3
            best[k] = min(spent, best[k] or spent)
            np.testing.assert_allclose(found[0], value, rtol=1e-9)
            np.testing.assert_allclose(found[1], gradient, rtol=1e-7, atol=1e-7 * np.abs(gradient).max())
    return best


def main() -> None:
    lines = ["# Energies of all pairs of rows, with gradients", "", (__doc__ or "").split("\n\n")[-1].strip(), ""]
    lines += [
        "| energy | rows | columns | by hand, ms | matcalc / by hand | JAX / matcalc |",
        "|---|---|---|---|---|---|",
    ]
    for name in ENERGIES:
        for m, n in SIZES:
            ours, hand, jaxs = measured(name, m, n)
            assert ours is not None and hand is not None
            beside = "-" if jaxs is None else f"{jaxs / ours:.2f}"
            lines.append(f"| {name} | {m} | {n} | {hand:.3f} | {ours / hand:.2f} | {beside} |")
            print(lines[-1], flush=True)
    RESULTS.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
