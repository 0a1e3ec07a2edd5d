"""Measures the gain of two threads over one: `python benchmarks/threads.py`.

Problems on large data are compiled by `mc.value_and_gradient` with and without `threads=2`. The functions alternate on
the same arrays with the same results (`out=`). BLAS has one thread unless `threads=` gives it more. The shortest call
counts. For comparison it measures the most that two threads gain on this machine: reading memory, and computing in the
first-level cache. Writes results/threads.md.
"""

from __future__ import annotations

import os
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from time import perf_counter

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[name] = "1"

import numba  # noqa: E402  BLAS reads its threads when it is loaded
import numpy as np  # noqa: E402

import matcalc as mc  # noqa: E402

THREADS, TURNS = 2, 25
DATA = "X: matrix(m, n); y: vector(m); w: vector(n)"
PROBLEMS = {
    "logistic regression": ("sum(log(1 + exp(-y.*(X*w)))) + w'*w", "w", DATA, {"m": 200_000, "n": 50}),
    "least squares": ("norm2(X*w - y)^2", "w", DATA, {"m": 200_000, "n": 50}),
    "softmax regression": (
        "sum(logsumexp(X*W, axis=1)) - sum(Y.*(X*W))", "W", "X: matrix(m, n); W: matrix(n, k); Y: matrix(m, k)",
        {"m": 50_000, "n": 50, "k": 10},
    ),
    "hidden layer": (
        "norm2(tanh(X*W)*v - y)^2", "W v", "X: matrix(m, n); W: matrix(n, k); v: vector(k); y: vector(m)",
        {"m": 100_000, "n": 50, "k": 20},
    ),
    "exp(A).*tanh(B)": (
        "sum(exp(A).*tanh(B))", "A B", "A: matrix(m, n); B: matrix(m, n)", {"m": 2000, "n": 2000},
    ),
    "sin of a vector": ("sum(sin(x).^2)", "x", "x: vector(m)", {"m": 4_000_000}),
    "masked factors": (
        "norm2(M.*(T - U*V'))^2", "U V",
        "M: matrix(m, n); T: matrix(m, n); U: matrix(m, k); V: matrix(n, k)", {"m": 2000, "n": 2000, "k": 50},
    ),
    "log-determinant": ("logdet(S)", "S", "S: matrix(n, n) spd", {"n": 1000}),
}  # fmt: skip


def main() -> None:
    rows = [measured(name, *problem) for name, problem in PROBLEMS.items()]
    lines = [
        "| problem | sizes | one thread, ms | two, ms | times faster | what two do |",
        "|---|---|---:|---:|---:|---|",
    ]
    lines += [f"| {' | '.join(row)} |" for row in rows]
    text = "\n".join(["# Threads", "", *__doc__.splitlines()[2:], "", *about(), "", *lines, ""])
    print(text)
    (HERE / "results" / "threads.md").write_text(text, encoding="utf-8")


def measured(name: str, formula: str, wrt: str, declarations: str, sizes: dict[str, int]) -> list[str]:
    """Return a row of the table: the least times of one and two threads, after comparing their results."""
    alone = mc.value_and_gradient(formula, wrt.split(), declarations=declarations)
    beside = mc.value_and_gradient(formula, wrt.split(), declarations=declarations, threads=THREADS)
    data = arrays(declarations, sizes)
    given = [data[arg] for arg in alone.args]
    one, two = alone(*given), beside(*given)
    np.testing.assert_allclose(two[0], one[0], rtol=1e-12)
    for a, b in zip(one[1], two[1], strict=True):
        np.testing.assert_allclose(b, a, rtol=1e-9, atol=1e-12 * np.max(np.abs(a)))
    out = (None, one[1])
    times = least([lambda: alone(*given, out=out), lambda: beside(*given, out=out)])
    shown = ", ".join(f"{k} = {v}" for k, v in sizes.items())
    return [name, shown, *(f"{1e3 * t:.2f}" for t in times), f"{times[0] / times[1]:.2f}", beside.stats["threads"]]


def arrays(declarations: str, sizes: dict[str, int]) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(3)
    found = {}
    for symbol in mc.symbols(declarations):
        shape = tuple(sizes[str(size)] for size in symbol.shape)
        array = rng.standard_normal(shape) / 4
        found[str(symbol)] = array @ array.T + np.eye(len(array)) if "spd" in symbol.facts else array
    return found


def about() -> list[str]:
    """Return the largest speed-ups by two threads that any program can have here."""
    values = np.random.default_rng(0).standard_normal(20_000_000)
    halves = np.split(values, THREADS)
    small = [np.linspace(0, 1, 1000) for _ in range(THREADS)]
    busy(small[0], 1)
    with ThreadPoolExecutor(THREADS) as pool:
        one, two = least([lambda: values @ values, lambda: list(pool.map(np.dot, halves, halves))])
        alone, both = least([lambda: [busy(a, 3000) for a in small], lambda: list(pool.map(busy, small, [3000] * 2))])
    return [
        f"{os.cpu_count()} cores. Two threads that only read memory are {one / two:.2f} times as fast as one "
        f"({values.nbytes / one / 1e9:.1f} GB/s), two that only compute {alone / both:.2f} times."
    ]


@numba.njit(nogil=True, fastmath=True)
def busy(values, rounds):
    found = 0.0
    for _ in range(rounds):
        for x in values:
            found = found * 0.5 + x * x
    return found


def least(calls) -> list[float]:
    """Return the least seconds of each call, in alternation."""
    found = [float("inf")] * len(calls)
    for _ in range(TURNS):
        for k, call in enumerate(calls):
            start = perf_counter()
            call()
            found[k] = min(found[k], perf_counter() - start)
    return found


if __name__ == "__main__":
    main()
