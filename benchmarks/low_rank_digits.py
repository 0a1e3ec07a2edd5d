"""Measures the digits of matrices of low rank and of Kronecker products, against 50 digits, beside the direct form."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import mpmath as mp
import numpy as np

EXPONENTS = (0, 3, 6, 9, 12)
Array = np.ndarray


def drawn(kind: str, exponent: int) -> dict[str, Any]:
    """Return data whose matrix has the condition 10^exponent or somewhat more."""
    rng = np.random.default_rng(exponent)
    if kind == "kronecker":
        P, Q = (x @ x.T / len(x) for x in (rng.standard_normal((4, 4)), rng.standard_normal((5, 5))))
        return {"P": P, "Q": Q, "c": 10.0**-exponent, "y": rng.standard_normal(20)}
    A = rng.standard_normal((20, 3)) / 5
    c = 10.0**-exponent if kind == "number" else 10.0 ** -rng.uniform(0, exponent, 20)
    return {"A": A, "c": c, "y": rng.standard_normal(20)}


def exact(kind: str, d: dict[str, Any]) -> tuple[Any, list[Any]]:
    """Return the value and the gradient in the first symbol at 50 digits."""
    parts = {name: mp.matrix(np.atleast_1d(d[name]).tolist()) for name in d}
    if kind == "kronecker":
        P, Q = parts["P"], parts["Q"]
        n = Q.rows
        K = mp.matrix(P.rows * n, P.rows * n)
        for i in range(K.rows):
            for j in range(K.rows):
                K[i, j] = P[i // n, j // n] * Q[i % n, j % n]
    else:
        K = parts["A"] * parts["A"].T
    K += mp.diag([mp.mpf(float(c)) for c in np.broadcast_to(d["c"], K.rows)])
    inverse, value = mp.inverse(K), mp.det(K)
    if kind == "determinant":
        return value, list(2 * value * inverse * parts["A"])
    solved = inverse * parts["y"]
    total = mp.log(value) + (parts["y"].T * solved)[0]
    slope = inverse - solved * solved.T
    if kind != "kronecker":
        return total, list(2 * slope * parts["A"])
    m, n = parts["P"].rows, parts["Q"].rows
    Q = parts["Q"]
    blocks = [(i, j, a, b) for i in range(m) for j in range(m) for a in range(n) for b in range(n)]
    sums = mp.matrix(m, m)
    for i, j, a, b in blocks:
        sums[i, j] += slope[i * n + a, j * n + b] * Q[a, b]
    return total, list(sums)


def errors(kind: str, exponent: int, functions: tuple[Any, Any]) -> list[float]:
    """Return the errors of value and first gradient of both functions, relative to the largest entry."""
    d = drawn(kind, exponent)
    found = []
    with mp.workdps(50):
        value, gradient = exact(kind, d)
        largest = max(map(abs, gradient))
        for function in functions:
            mine, slopes = function(*(d[name] for name in function.args))
            found.append(float(abs(mp.mpf(mine) - value) / abs(value)))
            pairs = zip(np.ravel(slopes[0]).tolist(), gradient, strict=True)
            found.append(float(max(abs(mp.mpf(a) - b) for a, b in pairs) / largest))
    return found


def table(formulas: Mapping[str, str], compiled: Callable[[str], tuple[Any, Any]]) -> list[str]:
    """Return the lines of the table; `compiled` returns the function of a formula and the direct one."""
    lines = [
        "## Digits",
        "",
        "Errors of the value and of the gradient in the first symbol against 50 digits, relative to the largest entry.",
        "A has 20 rows and 3 columns; P and Q have 4 and 5 rows. The condition is the largest ratio of 1 to `c`.",
        "Equal errors are those of calls that compute directly, since the low-rank form would lose digits.",
        "",
        "| formula | condition | value | directly | gradient | directly |",
        "|---|---:|---:|---:|---:|---:|",
    ]
    for kind, formula in formulas.items():
        for exponent in EXPONENTS:
            mine, slope, direct, direct_slope = (f"{error:.1e}" for error in errors(kind, exponent, compiled(kind)))
            lines.append(f"| `{formula}` | 1e{exponent} | {mine} | {direct} | {slope} | {direct_slope} |")
    return lines
