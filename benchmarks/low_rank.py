"""Times a Gaussian likelihood with the covariance `A*A' + c*eye(n)` or `A*A' + diag(d)`: value and gradients.

    python -m benchmarks.low_rank --peers /path/to/python     writes results/low_rank.md

It is computed by matcalc; by matcalc without the low-rank form (directly); by NumPy code by hand with matrices of the
rank; by JAX from the formula as written and from code by hand with matrices of the rank, under the interpreter of
`--peers`; and by SciPy and scikit-learn (`multivariate_normal.logpdf`, `FactorAnalysis.score`), which return the value
alone. All use float64 and one thread; the best of several rounds counts. Times are in microseconds.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np

Array = np.ndarray
SIZES = ((100, 3), (1_000, 5), (3_000, 20))
SECONDS, ROUNDS = 0.2, 7
RESULTS = Path(__file__).parent / "results" / "low_rank.md"
FORMULAS = {
    "number": (
        "logdet(K) + y'*inv(K)*y where K = A*A' + c*eye(n)",
        "A: matrix(n, k); c: scalar positive; y: vector(n)",
    ),
    "diagonal": (
        "logdet(K) + y'*inv(K)*y where K = A*A' + diag(c)",
        "A: matrix(n, k); c: vector(n) positive; y: vector(n)",
    ),
}
WRT = ["A", "c", "y"]


def data(kind: str, n: int, k: int) -> dict[str, Any]:
    rng = np.random.default_rng([n, k])
    c = rng.uniform(0.5, 1.5, n) if kind == "diagonal" else 0.7
    return {"A": rng.standard_normal((n, k)), "c": c, "y": rng.standard_normal(n)}


def by_hand(A: Array, c: Array | float, y: Array) -> tuple[Any, ...]:
    """Value and gradients by matrices of the rank."""
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
    """Return the microseconds of JAX, SciPy and scikit-learn."""
    import jax
    import jax.numpy as jnp
    from scipy.stats import multivariate_normal
    from sklearn.decomposition import FactorAnalysis

    jax.config.update("jax_enable_x64", True)
    given = data(kind, n, k)
    arrays = {name: jnp.asarray(value) for name, value in given.items()}

    def written(A: Array, c: Array, y: Array) -> Array:
        K = A @ A.T + c * jnp.eye(n)
        factor = jax.scipy.linalg.cho_factor(K, lower=True)
        return 2 * jnp.sum(jnp.log(jnp.diag(factor[0]))) + y @ jax.scipy.linalg.cho_solve(factor, y)

    def small(A: Array, c: Array, y: Array) -> Array:
        scaled = A / jnp.reshape(c, (-1, 1))
        factor = jax.scipy.linalg.cho_factor(jnp.eye(k) + A.T @ scaled, lower=True)
        w = jax.scipy.linalg.cho_solve(factor, scaled.T @ y)
        total = jnp.sum(jnp.log(jnp.broadcast_to(c, (n,))))
        return total + 2 * jnp.sum(jnp.log(jnp.diag(factor[0]))) + y @ ((y - A @ w) / c)

    seconds = {}
    for name, function in (("JAX, as written", written), ("JAX, by hand", small)):
        compiled = jax.jit(jax.value_and_grad(function, (0, 1, 2)))
        seconds[name] = best(lambda f=compiled: jax.block_until_ready(f(arrays["A"], arrays["c"], arrays["y"])))
    K, zero = given["A"] @ given["A"].T + given["c"] * np.eye(n), np.zeros(n)
    seconds["SciPy, value"] = best(lambda: multivariate_normal.logpdf(given["y"], zero, K))
    model = FactorAnalysis(n_components=k)
    model.mean_, model.components_ = zero, given["A"].T
    model.noise_variance_ = np.broadcast_to(given["c"], (n,)).astype(float)
    seconds["scikit-learn, value"] = best(lambda: model.score(given["y"][None, :]))
    return seconds


# ---- the table


def measured(kind: str, n: int, k: int, peers: str) -> dict[str, float]:
    """Return the microseconds of each method, after comparing results."""
    import matcalc as mc
    from matcalc.compiler.plan import either

    formula, declarations = FORMULAS[kind]
    given = data(kind, n, k)
    function = mc.value_and_gradient(formula, WRT, declarations)
    with mock.patch.object(either, "_low_rank", lambda *_: None):
        direct = mc.value_and_gradient(formula, WRT, declarations, name="direct")
    seconds = {}
    expected = by_hand(**given)
    for name, compiled in (("matcalc", function), ("matcalc, directly", direct)):
        args = [given[argument] for argument in compiled.args]
        value, gradients = compiled(*args)
        for ours, theirs in zip((value, *gradients), expected, strict=True):
            np.testing.assert_allclose(ours, theirs, rtol=1e-8, atol=1e-8 * np.max(np.abs(theirs)))
        seconds[name] = best(lambda compiled=compiled, args=args: compiled(*args))
    seconds["NumPy, by hand"] = best(lambda: by_hand(**given))
    if peers:
        command = [peers, __file__, "--peer", kind, str(n), str(k)]
        seconds |= json.loads(subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout)
    return seconds


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--peers", default="", help="a Python that has JAX, SciPy and scikit-learn")
    parser.add_argument("--peer", nargs=3, metavar=("KIND", "N", "K"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.peer:
        kind, n, k = options.peer
        print(json.dumps(in_peers(kind, int(n), int(k))))
        return
    lines = ["# A Gaussian likelihood of low rank: microseconds of value and gradients", ""]
    lines += (__doc__ or "").strip().splitlines()[4:]
    for kind, (formula, _) in FORMULAS.items():
        rows = [measured(kind, n, k, options.peers) for n, k in SIZES]
        lines += [
            "",
            f"## `{formula}`",
            "",
            f"| n | k | {' | '.join(rows[0])} |",
            f"|---:|---:|{'---:|' * len(rows[0])}",
        ]
        for (n, k), row in zip(SIZES, rows, strict=True):
            lines.append(f"| {n} | {k} | {' | '.join(f'{t:.3g}' for t in row.values())} |")
    RESULTS.write_text("\n".join(lines) + "\n")
    print("\n".join(lines))


if __name__ == "__main__":
    sys.exit(main())
