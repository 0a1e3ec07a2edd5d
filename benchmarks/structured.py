"""Measures formulas of Toeplitz, banded and autoregressive matrices, with gradients, against dense code and SciPy.

    python -m benchmarks.structured         writes results/structured.md

The dense code by hand factorises with SciPy's `cho_factor`. The expert's code uses the structure: `solve_toeplitz`,
`solveh_banded`, or the closed form of an autoregressive covariance. All run on one core; the calls alternate, and the
best of many rounds counts, in processor time.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from scipy import linalg

import matcalc as mc

RESULTS = Path(__file__).parent / "results" / "structured.md"
SIZES = (200, 1000, 3000)
ROUNDS = 5
Array = np.ndarray
Result = tuple[float, Array]


def dense_quadratic(S: Array, y: Array) -> Result:
    """Return y'*inv(S)*y and its gradient in y."""
    z = linalg.cho_solve(linalg.cho_factor(S, lower=True, check_finite=False), y, check_finite=False)
    return y @ z, 2 * z


def toeplitz_dense(c: Array, y: Array) -> Result:
    return dense_quadratic(linalg.toeplitz(c), y)


def toeplitz_expert(c: Array, y: Array) -> Result:
    z = linalg.solve_toeplitz(c, y, check_finite=False)
    return y @ z, 2 * z


def band_dense(lam: float, y: Array) -> Result:
    n = len(y)
    return dense_quadratic((2 + lam) * np.eye(n) - np.eye(n, k=1) - np.eye(n, k=-1), y)


def band_expert(lam: float, y: Array) -> Result:
    z = linalg.solveh_banded([np.full(len(y), -1.0), np.full(len(y), 2 + lam)], y, check_finite=False)
    return y @ z, 2 * z


def autoregressive_dense(rho: float, y: Array) -> Result:
    """Return logdet(S) + y'*inv(S)*y for S[i,j] = rho^|i-j|, and the derivative in rho."""
    n = len(y)
    lags = np.abs(np.subtract.outer(np.arange(n), np.arange(n)))
    S, dS = rho ** lags.astype(float), lags * rho ** np.maximum(lags - 1, 0).astype(float)
    factor = linalg.cho_factor(S, lower=True, check_finite=False)
    z = linalg.cho_solve(factor, y, check_finite=False)
    inverse = linalg.cho_solve(factor, np.eye(n), check_finite=False)
    value = 2 * np.sum(np.log(np.diagonal(factor[0]))) + y @ z
    return value, np.array(np.sum(inverse * dS) - z @ dS @ z)


def autoregressive_expert(rho: float, y: Array) -> Result:
    n, s = len(y), 1 - rho * rho
    e, before = y[1:] - rho * y[:-1], y[:-1]
    value = (n - 1) * np.log(s) + y[0] ** 2 + e @ e / s
    return value, np.array(-2 * rho * (n - 1) / s - 2 * (e @ before) / s + 2 * rho * (e @ e) / s**2)


Case = tuple[str, str, str, Callable[..., Result], Callable[..., Result], Callable[[int], Any]]
CASES: dict[str, Case] = {
    "Toeplitz system": (
        "y'*(toeplitz(c)\\y)",
        "c: vector(n); y: vector(n)",
        "y",
        toeplitz_dense,
        toeplitz_expert,
        lambda n: np.exp(-0.3 * np.arange(n)) + (np.arange(n) == 0),
    ),
    "tridiagonal system": (
        "y'*({i,j: (2 + lam)*[i == j] - [i == j+1] - [j == i+1]}\\y)",
        "lam: scalar positive; y: vector(n)",
        "y",
        band_dense,
        band_expert,
        lambda n: 0.3,
    ),
    "autoregressive likelihood": (
        "logdet(S) + y'*(S\\y) where S = {i,j: rho^abs(i-j)}",
        "rho: scalar; y: vector(n)",
        "rho",
        autoregressive_dense,
        autoregressive_expert,
        lambda n: 0.7,
    ),
}


def measured(name: str, size: int) -> list[float]:
    """Return the least milliseconds of matcalc, the dense code and the expert's; all must agree."""
    text, declarations, wrt, dense, expert, first = CASES[name]
    ours = mc.value_and_gradient(text, wrt, declarations)
    data = {declarations.partition(":")[0]: first(size), "y": np.random.default_rng(size).standard_normal(size)}
    theirs = list(data.values())
    given = [data[arg] for arg in ours.args]
    calls: list[Callable[[], Any]] = [lambda: ours(*given), lambda: dense(*theirs), lambda: expert(*theirs)]
    value, gradient = calls[2]()
    best = [np.inf] * 3
    for _ in range(ROUNDS if size <= 1000 else 2):
        for k, call in enumerate(calls):
            start = time.process_time()
            found = call()
            best[k] = min(best[k], (time.process_time() - start) * 1e3)
            np.testing.assert_allclose(found[0], value, rtol=1e-9)
            np.testing.assert_allclose(found[1], gradient, rtol=1e-7, atol=1e-8 * np.abs(gradient).max())
    return best


def main() -> None:
    lines = ["# Structured matrices, with gradients", "", (__doc__ or "").split("\n\n")[-1].strip(), ""]
    lines += ["| formula | rows | matcalc, ms | dense / matcalc | matcalc / expert |", "|---|---|---|---|---|"]
    for name in CASES:
        for size in SIZES:
            ours, dense, expert = measured(name, size)
            lines.append(f"| {name} | {size:,} | {ours:.3f} | {dense / ours:.2f} | {ours / expert:.1f} |")
            print(lines[-1], flush=True)
    RESULTS.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
