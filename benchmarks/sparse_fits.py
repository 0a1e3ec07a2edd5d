"""Times logistic regression on a large sparse matrix: matcalc's gradient against scikit-learn, to one objective value.

    python -m benchmarks.sparse_fits                     writes results/sparse_fits.md

The matrix is documents by words, like the 20 newsgroups: 20,000 x 50,000, one entry in a thousand stored, word
frequencies by Zipf's law, rows of length one. The objective is `sum(softplus(-y.*(X*w))) + norm2(w)^2/(2*C)`. Each
method minimises it by L-BFGS until a gradient is small. Its time is that to a value within a relative 1e-6 of the least
value of all methods, at the loosest tolerance that reaches it. Methods alternate, each in a process of its own on one
thread; the best of all rounds counts. Memory is the peak of the process beyond its memory with data and code.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

Array = np.ndarray
ROWS, COLUMNS, FILLED, C = 20_000, 50_000, 0.001, 1.0
ROUNDS, TURNS, CLOSE = 5, 4, 1e-6
RESULTS = Path(__file__).parent / "results" / "sparse_fits.md"
THREADS = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")
TOLERANCES = [10.0**-k for k in range(0, 8)]
FORMULA = "sum(softplus(-y.*(X*w))) + norm2(w)^2/(2*C)"
SYMBOLS = "X: matrix(m, n) sparse; y: vector(m); w: vector(n); C: scalar"
PASSES = 200


def data() -> tuple[Any, Array]:
    """Return the matrix and the labels, 1 and -1."""
    from scipy import sparse

    rng = np.random.default_rng(0)
    count = round(ROWS * COLUMNS * FILLED)
    frequency = 1 / np.arange(10, COLUMNS + 10)
    columns = rng.permutation(COLUMNS)[rng.choice(COLUMNS, count, p=frequency / np.sum(frequency))]
    X = sparse.csr_matrix((np.ones(count), (rng.integers(0, ROWS, count), columns)), shape=(ROWS, COLUMNS))
    X.data = np.log(X.data) + 1
    lengths = np.sqrt(np.asarray(X.multiply(X).sum(axis=1)).ravel())
    X.data /= np.repeat(np.maximum(lengths, 1e-300), np.diff(X.indptr))
    margins = X @ (4 * rng.standard_normal(COLUMNS))
    return X, np.where(rng.random(ROWS) < 1 / (1 + np.exp(-margins)), 1.0, -1.0)


def objective(X: Any, y: Array, w: Array) -> float:
    """Return the value by NumPy."""
    return float(np.sum(np.logaddexp(0, -y * (X @ w))) + w @ w / (2 * C))


Fit = Callable[[Any, Array, float], Array]
"""Returns the coefficients for data and a tolerance."""


def scikit_learn() -> Fit:
    from sklearn.linear_model import LogisticRegression

    def fit(X: Any, y: Array, tol: float) -> Array:
        found = LogisticRegression(C=C, tol=tol, max_iter=10_000, solver="lbfgs", fit_intercept=False).fit(X, y)
        return np.asarray(found.coef_[0])

    return fit


def matcalc_in_scipy() -> Fit:
    from scipy.optimize import minimize

    import matcalc as mc

    fn = mc.value_and_gradient(FORMULA, "w", SYMBOLS)

    def fit(X: Any, y: Array, tol: float) -> Array:
        # as in scikit-learn, the objective is divided by the number of rows, so that a tolerance means the same
        def scaled(w: Array) -> tuple[float, Array]:
            value, gradient = fn(X, y, w, C)
            return value / ROWS, gradient / ROWS

        options = {"gtol": tol, "ftol": 64 * np.finfo(float).eps, "maxiter": 10_000, "maxls": 50}
        return np.asarray(minimize(scaled, np.zeros(COLUMNS), jac=True, method="L-BFGS-B", options=options).x)

    return fit


def matcalc_minimize(compiled: bool) -> Fit:
    import matcalc as mc

    formula = f"({FORMULA})/m"

    def fit(X: Any, y: Array, tol: float) -> Array:
        found = mc.minimize(
            formula,
            "w",
            start={"w": np.zeros(COLUMNS)},
            data={"X": X, "y": y, "C": C},
            declarations=SYMBOLS,
            method="lbfgs" if compiled else "L-BFGS-B",
            compiled=compiled,
            options={"gtol": tol, "ftol": 64 * np.finfo(float).eps, "maxiter": 10_000, "maxls": 50},
        )
        return np.asarray(found.x["w"])

    return fit


WAYS: dict[str, tuple[str, Callable[[], Fit]]] = {
    "scikit-learn": ("`LogisticRegression`, lbfgs", scikit_learn),
    "scipy": ("`mc.value_and_gradient` in SciPy's L-BFGS-B", matcalc_in_scipy),
    "minimize": ("`mc.minimize`, L-BFGS-B", lambda: matcalc_minimize(False)),
    "compiled": ("`mc.minimize(..., compiled=True)`", lambda: matcalc_minimize(True)),
}


def peak() -> int:
    """Return the peak memory of this process in KiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def measured(way: str, tolerances: list[float]) -> dict[str, Any]:
    """Return values and seconds by tolerance, and the peak memory beyond imports and data in MiB."""
    X, y = data()
    fit = WAYS[way][1]()
    fit(X[:50], y[:50], 1.0)  # imports, and code from the cache
    before = peak()
    rows = []
    for tol in tolerances:
        seconds = []
        for _ in range(ROUNDS if len(tolerances) == 1 else 1):
            start = time.perf_counter()
            w = fit(X, y, tol)
            seconds.append(time.perf_counter() - start)
        rows.append({"tol": tol, "value": objective(X, y, w), "seconds": min(seconds)})
    return {"rows": rows, "memory": (peak() - before) / 1024}


def passes() -> list[str]:
    """Return the lines of a table of single calls: value and gradient, and the product with the Hessian."""
    import matcalc as mc

    X, y = data()
    rng = np.random.default_rng(1)
    w, v = rng.standard_normal((2, COLUMNS))
    columns = X.tocsc()

    def by_hand() -> Any:
        z = -y * (X @ w)
        s = 1 / (1 + np.exp(-z))
        return np.sum(np.logaddexp(0, z)) + w @ w / (2 * C), X.T @ (-y * s) + w / C

    def product_by_hand() -> Any:
        s = 1 / (1 + np.exp(-(X @ w)))
        return X.T @ (s * (1 - s) * (X @ v)) + v / C

    both = mc.value_and_gradient(FORMULA, "w", SYMBOLS)
    product = mc.compile(mc.hvp(FORMULA, "w", SYMBOLS))
    assert columns.nnz == X.nnz
    cases = [
        ("value and gradient", lambda: both(X, y, w, C), by_hand),
        ("Hessian times a vector", lambda: product(X, y, w, C, v), product_by_hand),
    ]
    lines = ["| | matcalc | SciPy by hand |", "|---|---:|---:|"]
    for name, ours, theirs in cases:
        ours(), theirs()
        best = [float("inf"), float("inf")]
        for _ in range(PASSES):
            for k, call in enumerate((ours, theirs)):
                start = time.perf_counter()
                call()
                best[k] = min(best[k], time.perf_counter() - start)
        lines.append(f"| {name} | {best[0] * 1e3:.2f} ms | {best[1] * 1e3:.2f} ms |")
    return lines


def in_process(*words: str) -> str:
    """Return the output of this module with these arguments, in a process of its own on one thread."""
    environment = {**os.environ, **dict.fromkeys(THREADS, "1")}
    command = [sys.executable, "-m", "benchmarks.sparse_fits", *words]
    return subprocess.run(command, check=True, capture_output=True, text=True, env=environment).stdout


def report() -> str:
    """Return the page of results."""
    found = {way: json.loads(in_process("--way", way)) for way in WAYS}
    least = min(row["value"] for one in found.values() for row in one["rows"])
    lines = ["| | seconds | against scikit-learn | objective above the least, relative | memory, MiB |"]
    lines.append("|---|---:|---:|---:|---:|")
    loosest = {way: next((r["tol"] for r in one["rows"] if (r["value"] - least) / least < CLOSE), None)
               for way, one in found.items()}  # fmt: skip
    turns = [
        (way, json.loads(in_process("--way", way, "--tol", repr(tol))))
        for _ in range(TURNS)
        for way, tol in loosest.items()
        if tol is not None
    ]
    best = {way: min(one["rows"][0]["seconds"] for name, one in turns if name == way) for way, _ in turns}
    for way, tol in loosest.items():
        if tol is None:
            lines.append(f"| {WAYS[way][0]} | does not reach it | | | |")
            continue
        row = next(r for r in found[way]["rows"] if r["tol"] == tol)
        memory = min(one["memory"] for name, one in turns if name == way)
        against = f"{best[way] / best['scikit-learn']:.2f}" if "scikit-learn" in best else ""
        gap = (row["value"] - least) / least
        lines.append(f"| {WAYS[way][0]} | {best[way]:.3f} | {against} | {gap:.1e} | {memory:.0f} |")
    lead = (__doc__ or "").strip().splitlines()[0]
    used = ", ".join(f"{name} {version(name)}" for name in ("scikit-learn", "scipy", "numpy", "numba"))
    size = f"{ROWS} x {COLUMNS}, {FILLED:.1%} filled, C = {C:g}; one thread; the best of {ROUNDS * TURNS}. {used}."
    head = ["# Sparse fits", "", lead, "", size, ""]
    return "\n".join([*head, *lines, "", in_process("--passes").strip(), ""])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--way", choices=list(WAYS))
    parser.add_argument("--tol", type=float)
    parser.add_argument("--passes", action="store_true")
    arguments = parser.parse_args()
    if arguments.way:
        print(json.dumps(measured(arguments.way, [arguments.tol] if arguments.tol else TOLERANCES)))
    elif arguments.passes:
        print("\n".join(passes()))
    else:
        text = report()
        RESULTS.write_text(text)
        print(text)


if __name__ == "__main__":
    main()
