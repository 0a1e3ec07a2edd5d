"""Times value and gradients with matrices that are simple plus low rank or a Kronecker product; measures digits.

    python -m benchmarks.low_rank --peers /path/to/python     writes results/low_rank.md

Each formula is computed by matcalc; by matcalc without the low-rank form (directly); by NumPy code by hand with small
matrices; by JAX from the formula as written, and from code by hand for the first two, under the interpreter of
`--peers`. SciPy and scikit-learn (`multivariate_normal.logpdf`, `FactorAnalysis.score`) return the value alone. All use
float64 and one thread; the best of several rounds counts. Times are in microseconds, and `directly/matcalc` is their
ratio in this run. A library that is not installed has no column.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Callable
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np

from benchmarks.low_rank_digits import table

Array = np.ndarray
SIZES = ((100, 3), (1_000, 5), (2_000, 20))
FACTORS = ((10, 10), (20, 25), (40, 50))
SECONDS, ROUNDS = 0.2, 5
RESULTS = Path(__file__).parent / "results" / "low_rank.md"
A_AND_Y = "A: matrix(n, k); y: vector(n)"
FORMULAS = {
    "number": ("logdet(K) + y'*inv(K)*y where K = A*A' + c*eye(n)", f"{A_AND_Y}; c: scalar positive", ["A", "c", "y"]),
    "diagonal": (
        "logdet(K) + y'*inv(K)*y where K = A*A' + diag(c)",
        f"{A_AND_Y}; c: vector(n) positive",
        ["A", "c", "y"],
    ),
    "factor": (
        "2*sum(log(diag(L))) + norm2(L\\y)^2 where L = chol(A*A' + diag(c))",
        f"{A_AND_Y}; c: vector(n) positive",
        ["A", "c", "y"],
    ),
    "determinant": ("det(A*A' + diag(c))", "A: matrix(n, k); c: vector(n) positive", ["A", "c"]),
    "kronecker": (
        "logdet(K) + y'*inv(K)*y where K = kron(P, Q) + c*eye(m*n)",
        "P: matrix(m, m) spd; Q: matrix(n, n) spd; c: scalar positive; y: vector(m*n)",
        ["P", "Q", "c", "y"],
    ),
}


def sizes_of(kind: str) -> tuple[tuple[int, int], ...]:
    return FACTORS if kind == "kronecker" else SIZES


def data(kind: str, n: int, k: int) -> dict[str, Any]:
    rng = np.random.default_rng([n, k])
    if kind == "kronecker":
        P, Q = (x @ x.T / len(x) + np.eye(len(x)) / 10 for x in (rng.standard_normal((s, s)) for s in (n, k)))
        return {"P": P, "Q": Q, "c": 0.7, "y": rng.standard_normal(n * k)}
    if kind == "determinant":
        return {"A": rng.standard_normal((n, k)) / np.sqrt(n), "c": np.exp(rng.uniform(-0.1, 0.1, n))}
    c = 0.7 if kind == "number" else rng.uniform(0.5, 1.5, n)
    return {"A": rng.standard_normal((n, k)), "c": c, "y": rng.standard_normal(n)}


def by_hand(kind: str, d: dict[str, Any]) -> tuple[Any, ...]:
    """Value and gradients by small matrices."""
    if kind == "kronecker":
        return by_eigenvalues(**d)
    return determinant(**d) if kind == "determinant" else likelihood(**d)


def likelihood(A: Array, c: Array | float, y: Array) -> tuple[Any, ...]:
    n, k = A.shape
    if np.ndim(c):
        scaled, total = A / np.reshape(c, (-1, 1)), np.sum(np.log(c))
        small = np.eye(k) + A.T @ scaled
    else:
        scaled, total = A, (n - k) * np.log(c)
        small = c * np.eye(k) + A.T @ A
    factor = np.linalg.cholesky(small)
    inverse = np.linalg.inv(small)
    w = inverse @ (scaled.T @ y)
    solved = (y - A @ w) / c
    value = total + 2 * np.sum(np.log(np.diag(factor))) + y @ solved
    pushed = scaled @ inverse
    if np.ndim(c):
        in_c = 1 / c - np.einsum("ij,ij->i", pushed, scaled) - solved**2
    else:
        in_c = (n - k) / c + np.trace(inverse) - solved @ solved
    return value, 2 * (pushed - np.outer(solved, w)), in_c, 2 * solved


def determinant(A: Array, c: Array) -> tuple[Any, ...]:
    scaled = A / c[:, None]
    small = np.eye(A.shape[1]) + A.T @ scaled
    value, inverse = np.exp(np.sum(np.log(c))) * np.linalg.det(small), np.linalg.inv(small)
    pushed = scaled @ inverse
    return value, 2 * value * pushed, value * (1 / c - np.einsum("ij,ij->i", pushed, scaled))


def by_eigenvalues(P: Array, Q: Array, c: float, y: Array) -> tuple[Any, ...]:
    (w, V), (v, U) = np.linalg.eigh(P), np.linalg.eigh(Q)
    D = np.outer(w, v) + c
    Y = V.T @ y.reshape(len(w), -1) @ U
    Z = V @ (Y / D) @ U.T
    value = np.sum(np.log(D)) + np.sum(Y * Y / D)
    in_P = (V * ((1 / D) @ v)) @ V.T - Z @ Q @ Z.T
    in_Q = (U * (w @ (1 / D))) @ U.T - Z.T @ P @ Z
    return value, in_P, in_Q, np.sum(1 / D) - np.sum(Z * Z), 2 * Z.reshape(-1)


def best(function: Callable[[], object]) -> float:
    """Return the least microseconds of a call, after one that is not counted."""
    start = time.perf_counter()
    function()
    count = max(1, int(SECONDS / ROUNDS / max(time.perf_counter() - start, 1e-6)))
    found = []
    for _ in range(ROUNDS if count > 1 else 3):
        start = time.perf_counter()
        for _ in range(min(count, 1000)):
            function()
        found.append((time.perf_counter() - start) / min(count, 1000))
    return 1e6 * min(found)


# ---- libraries in another Python


def in_peers(kind: str, n: int, k: int) -> dict[str, float]:
    """Return the microseconds of JAX, SciPy and scikit-learn, as far as they are installed."""
    given = data(kind, n, k)
    seconds = {}
    if find_spec("jax") is not None:
        import jax
        import jax.numpy as jnp

        jax.config.update("jax_enable_x64", True)
        names = FORMULAS[kind][2]
        arrays = [jnp.asarray(given[name]) for name in names]
        for name, function in jax_functions(kind, n).items():
            compiled = jax.jit(jax.value_and_grad(function, tuple(range(len(names)))))
            seconds[name] = best(lambda f=compiled: jax.block_until_ready(f(*arrays)))
    if kind not in ("number", "diagonal") or find_spec("scipy") is None:
        return seconds
    from scipy.stats import multivariate_normal

    K, zero = given["A"] @ given["A"].T + np.diag(np.broadcast_to(given["c"], n)), np.zeros(n)
    seconds["SciPy, value"] = best(lambda: multivariate_normal.logpdf(given["y"], zero, K))
    if find_spec("sklearn") is None:
        return seconds
    from sklearn.decomposition import FactorAnalysis

    model = FactorAnalysis(n_components=k)
    model.mean_, model.components_ = zero, given["A"].T
    model.noise_variance_ = np.broadcast_to(given["c"], (n,)).astype(float)
    seconds["scikit-learn, value"] = best(lambda: model.score(given["y"][None, :]))
    return seconds


def jax_functions(kind: str, n: int) -> dict[str, Callable[..., Any]]:
    """Return the formula in JAX, and for the likelihoods code by hand with small matrices."""
    import jax
    import jax.numpy as jnp

    def whole(K: Array, y: Array) -> Array:
        factor = jax.scipy.linalg.cho_factor(K, lower=True)
        return 2 * jnp.sum(jnp.log(jnp.diag(factor[0]))) + y @ jax.scipy.linalg.cho_solve(factor, y)

    def written(A: Array, c: Array, y: Array) -> Array:
        return whole(A @ A.T + (c * jnp.eye(n) if kind == "number" else jnp.diag(c)), y)

    def small(A: Array, c: Array, y: Array) -> Array:
        scaled = A / jnp.reshape(c, (-1, 1))
        factor = jax.scipy.linalg.cho_factor(jnp.eye(A.shape[1]) + A.T @ scaled, lower=True)
        w = jax.scipy.linalg.cho_solve(factor, scaled.T @ y)
        total = jnp.sum(jnp.log(jnp.broadcast_to(c, (n,))))
        return total + 2 * jnp.sum(jnp.log(jnp.diag(factor[0]))) + y @ ((y - A @ w) / c)

    if kind == "kronecker":
        return {"JAX, as written": lambda P, Q, c, y: whole(jnp.kron(P, Q) + c * jnp.eye(len(y)), y)}
    if kind == "determinant":
        return {"JAX, as written": lambda A, c: jnp.linalg.det(A @ A.T + jnp.diag(c))}
    return {"JAX, as written": written, "JAX, by hand": small}


# ---- the table


def measured(kind: str, n: int, k: int, peers: str) -> dict[str, float]:
    """Return the microseconds of each method, after comparing results."""
    given = data(kind, n, k)
    seconds = {}
    expected = by_hand(kind, given)
    for name, compiled in zip(("matcalc", "matcalc, directly"), compiled_both(kind), strict=True):
        args = [given[argument] for argument in compiled.args]
        value, gradients = compiled(*args)
        for ours, theirs in zip((value, *gradients), expected, strict=True):
            np.testing.assert_allclose(ours, theirs, rtol=1e-8, atol=1e-8 * np.max(np.abs(theirs)))
        seconds[name] = best(lambda compiled=compiled, args=args: compiled(*args))
    seconds["directly/matcalc"] = seconds["matcalc, directly"] / seconds["matcalc"]
    seconds["NumPy, by hand"] = best(lambda: by_hand(kind, given))
    if peers:
        command = [peers, "-m", "benchmarks.low_rank", "--peer", kind, str(n), str(k)]
        seconds |= json.loads(subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout)
    return seconds


@cache
def compiled_both(kind: str) -> tuple[Any, Any]:
    """Return the function of a formula, and the same without the low-rank form."""
    import matcalc as mc
    from matcalc.compiler.plan import either

    formula, declarations, wrt = FORMULAS[kind]
    function = mc.value_and_gradient(formula, wrt, declarations)
    with mock.patch.object(either, "_low_rank", lambda *_: None):
        return function, mc.value_and_gradient(formula, wrt, declarations, name="direct")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--peers", default="", help="a Python that has JAX, SciPy and scikit-learn")
    parser.add_argument("--peer", nargs=3, metavar=("KIND", "N", "K"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.peer:
        kind, n, k = options.peer
        print(json.dumps(in_peers(kind, int(n), int(k))))
        return
    lines = ["# Low rank and Kronecker products: microseconds of value and gradients", ""]
    lines += (__doc__ or "").strip().splitlines()[4:]
    for kind, (formula, _, _) in FORMULAS.items():
        rows = [measured(kind, n, k, options.peers) for n, k in sizes_of(kind)]
        first, second = ("m", "n") if kind == "kronecker" else ("n", "k")
        lines += [
            "",
            f"## `{formula}`",
            "",
            f"| {first} | {second} | {' | '.join(rows[0])} |",
            f"|---:|---:|{'---:|' * len(rows[0])}",
        ]
        for (n, k), row in zip(sizes_of(kind), rows, strict=True):
            lines.append(f"| {n} | {k} | {' | '.join(f'{t:.3g}' for t in row.values())} |")
        print("\n".join(lines[-6:]), flush=True)
    lines += ["", *table({kind: formula for kind, (formula, _, _) in FORMULAS.items()}, compiled_both)]
    RESULTS.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    sys.exit(main())
