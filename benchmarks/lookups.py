"""Times formulas with index data: a factorisation of known entries and regression with labels, value and gradients.

    python -m benchmarks.lookups --peers /path/to/python     writes results/lookups.md

They are computed by matcalc, by hand-written NumPy (rows gathered, gradients summed by `np.add.at` and `np.bincount`),
and by JAX under the interpreter of `--peers`. All use float64 and one thread; the best of several rounds counts.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

Array = np.ndarray

COUNTS = (10_000, 100_000, 1_000_000)
ROUNDS = 7
ROWS, COLUMNS, RANK, FEATURES, CLASSES = 10_000, 5_000, 10, 20, 10
Data = dict[str, Array]
RESULTS = Path(__file__).parent / "results" / "lookups.md"

FORMULAS = {
    "factorisation": (
        "sum{t: (r[t] - U[i[t], a]*V[j[t], a])^2}",
        ["U", "V"],
        "U: matrix(m, p); V: matrix(n, p); r: vector(N); i: index(N); j: index(N)",
    ),
    "labels": (
        "-sum{t: log_softmax(X*W, axis=1)[t, y[t]]}",
        ["W"],
        "X: matrix(N, n); W: matrix(n, c); y: index(N)",
    ),
}


def data(problem: str, count: int) -> Data:
    """Return the arguments of a problem with so many known entries or rows."""
    rng = np.random.default_rng(0)
    if problem == "labels":
        X, W = rng.standard_normal((count, FEATURES)), rng.standard_normal((FEATURES, CLASSES))
        return {"X": X, "W": W, "y": rng.integers(0, CLASSES, count)}
    U, V = rng.standard_normal((ROWS, RANK)), rng.standard_normal((COLUMNS, RANK))
    i, j = rng.integers(0, ROWS, count), rng.integers(0, COLUMNS, count)
    return {"U": U, "V": V, "r": rng.standard_normal(count), "i": i, "j": j}


# ---- by hand


def factorisation_at(U: Array, V: Array, r: Array, i: Array, j: Array) -> tuple[object, ...]:
    rows, columns = U[i], V[j]
    e = np.einsum("ta,ta->t", rows, columns) - r
    in_U, in_V = np.zeros_like(U), np.zeros_like(V)
    np.add.at(in_U, i, (2 * e)[:, None] * columns)
    np.add.at(in_V, j, (2 * e)[:, None] * rows)
    return e @ e, in_U, in_V


def factorisation_bincount(U: Array, V: Array, r: Array, i: Array, j: Array) -> tuple[object, ...]:
    rows, columns = U[i], V[j]
    e = np.einsum("ta,ta->t", rows, columns) - r
    in_U = [np.bincount(i, 2 * e * columns[:, a], len(U)) for a in range(U.shape[1])]
    in_V = [np.bincount(j, 2 * e * rows[:, a], len(V)) for a in range(V.shape[1])]
    return e @ e, np.stack(in_U, axis=1), np.stack(in_V, axis=1)


def labels_by_hand(X: Array, W: Array, y: Array) -> tuple[object, ...]:
    Z = X @ W
    Z -= Z.max(axis=1, keepdims=True)
    E = np.exp(Z)
    total = E.sum(axis=1)
    rows = np.arange(len(y))
    value = np.sum(np.log(total) - Z[rows, y])
    E /= total[:, None]
    E[rows, y] -= 1
    return value, X.T @ E


BY_HAND: dict[str, dict[str, Callable[..., tuple[object, ...]]]] = {
    "factorisation": {"np.add.at": factorisation_at, "np.bincount": factorisation_bincount},
    "labels": {"NumPy": labels_by_hand},
}


def best(function: Callable[[], object]) -> float:
    """Return the least seconds of a call, after one that is not counted."""
    function()
    found = []
    for _ in range(ROUNDS):
        start = time.perf_counter()
        function()
        found.append(time.perf_counter() - start)
    return min(found)


# ---- JAX, in another Python


def in_jax(problem: str, count: int) -> float:
    """Return the seconds of JAX's compiled value and gradient on JAX arrays."""
    import jax
    import jax.numpy as jnp

    jax.config.update("jax_enable_x64", True)

    def factorisation(UV: Array, r: Array, i: Array, j: Array) -> Array:
        U, V = UV
        return jnp.sum((jnp.sum(U[i] * V[j], axis=1) - r) ** 2)

    def labels(W: Array, X: Array, y: Array) -> Array:
        return -jnp.sum(jax.nn.log_softmax(X @ W, axis=1)[jnp.arange(len(y)), y])

    given = {name: jnp.asarray(array) for name, array in data(problem, count).items()}
    if problem == "labels":
        function, args = jax.jit(jax.value_and_grad(labels)), (given["W"], given["X"], given["y"])
    else:
        function = jax.jit(jax.value_and_grad(factorisation))
        args = ((given["U"], given["V"]), given["r"], given["i"], given["j"])
    return best(lambda: jax.block_until_ready(function(*args)))


# ---- the table


def measured(problem: str, count: int, peers: str) -> dict[str, float]:
    """Return the seconds of each method, after comparing their results."""
    import matcalc as mc

    formula, wrt, declarations = FORMULAS[problem]
    given = data(problem, count)
    function = mc.value_and_gradient(formula, wrt, declarations)
    args = [given[name] for name in function.args]
    value, gradients = function(*args)
    seconds = {"matcalc": best(lambda: function(*args))}
    for name, by_hand in BY_HAND[problem].items():
        for ours, theirs in zip((value, *gradients), by_hand(**given), strict=True):
            np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-9)
        seconds[name] = best(lambda by_hand=by_hand: by_hand(**given))
    if peers:
        command = [peers, __file__, "--jax", problem, str(count)]
        seconds["JAX"] = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    return seconds


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--peers", default="", help="a Python that has JAX")
    parser.add_argument("--jax", nargs=2, metavar=("PROBLEM", "COUNT"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.jax:
        print(json.dumps(in_jax(options.jax[0], int(options.jax[1]))))
        return
    lines = [
        "# Indices that are data: seconds of value and gradients",
        "",
        *(__doc__ or "").strip().splitlines()[4:],
        "",
    ]
    lines.append(f"Factors of {ROWS} x {RANK} and {COLUMNS} x {RANK}; {FEATURES} features, {CLASSES} classes.")
    for problem, (formula, _, _) in FORMULAS.items():
        rows = [measured(problem, count, options.peers) for count in COUNTS]
        lines += ["", f"## {problem}: `{formula}`", "", f"| entries | {' | '.join(rows[0])} |"]
        lines.append(f"|---:|{'---:|' * len(rows[0])}")
        for count, row in zip(COUNTS, rows, strict=True):
            lines.append(f"| {count} | {' | '.join(f'{s:.4f}' for s in row.values())} |")
    RESULTS.write_text("\n".join(lines) + "\n")
    print("\n".join(lines))


if __name__ == "__main__":
    sys.exit(main())
