"""Times sparse Jacobians and Hessians beside CasADi's and dense ones, and compares their patterns and values.

    /path/to/python -m benchmarks.sparse_results     writes results/sparse_results.md; it needs NumPy, SciPy and CasADi

Each matrix is `mc.compile(..., sparse=True)` of a formula. CasADi's is a function of SX expressions, in its virtual
machine. Entries are those that each stores. `missing` and `extra` count entries of the pattern against central
differences at random points of a small problem: a missing entry would be wrong. The error is the largest difference
from CasADi's values, relative to the largest. Times are of one call in one thread, the best of several rounds; ratios
are of one run. `dense/sparse` is the time of matcalc's dense matrix over that of the sparse one, at about a thousand
variables.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import casadi as ca
import numpy as np
from scipy import sparse

import matcalc as mc

RESULTS = Path(__file__).parent / "results" / "sparse_results.md"
SECONDS, ROUNDS = 0.3, 5
Data = dict[str, Any]


@dataclass(frozen=True)
class Problem:
    """A matrix: the formula whose Hessian or Jacobian it is, its data at a size, and the formula in CasADi.

    `large`, `middle` and `small` are sizes for times, for the dense matrix and for differences.
    """

    name: str
    derive: str
    text: str
    wrt: str
    declarations: str
    data: Callable[[Any, int], Data]
    casadi: Callable[[Any, Data], Any]
    large: int = 20_000
    middle: int = 1_000
    small: int = 7


def vector(rng: Any, n: int) -> Data:
    return {"x": rng.uniform(-1, 1, n)}


def square(rng: Any, n: int) -> Data:
    return {"X": rng.uniform(-1, 1, (n, n))}


def graph(rng: Any, n: int) -> Data:
    a = rng.integers(0, n, 3 * n)
    return {**vector(rng, n), "a": a, "b": (a + rng.integers(1, n, 3 * n)) % n}


def design(rng: Any, n: int) -> Data:
    D = sparse.random_array((2 * n, n), density=min(1.0, 4 / n), rng=rng, format="csr")
    return {**vector(rng, n), "D": D}


def incidence(rng: Any, n: int) -> Data:
    g = graph(rng, n)
    e = len(g["a"])
    ends = (np.tile(np.arange(e), 2), np.concatenate([g["a"], g["b"]]))
    return {"x": g["x"], "D": sparse.csr_array((np.repeat([1.0, -1.0], e), ends), shape=(e, n))}


def views(rng: Any, n: int) -> Data:
    cameras = max(n // 50, 2)
    a, b = rng.integers(0, cameras, 5 * n), np.tile(np.arange(n), 5)
    return {"P": rng.uniform(1, 2, (n, 3)), "C": rng.uniform(0, 1, (cameras, 3)), "a": a, "b": b}


def ratings(rng: Any, n: int) -> Data:
    a, b = np.tile(np.arange(n), 10), rng.integers(0, n, 10 * n)
    return {
        "U": rng.uniform(-1, 1, (n, 3)),
        "V": rng.uniform(-1, 1, (n, 3)),
        "a": a,
        "b": b,
        "r": rng.normal(size=10 * n),
    }


def periods(rng: Any, n: int) -> Data:
    return {"X": rng.uniform(-1, 1, (n, 20)), "d": rng.uniform(1, 2, 20)}


def control(rng: Any, n: int) -> Data:
    return {"x": rng.uniform(-1, 1, n), "u": rng.uniform(-1, 1, n - 1)}


def matrix(x: Any, rows: int) -> Any:
    return ca.reshape(x, rows, x.numel() // rows)


def rows_of(x: Any, data: Data, name: str) -> Any:
    return matrix(x, len(data[name]))


def grid(x: Any, d: Data) -> Any:
    X = rows_of(x, d, "X")
    return ca.sum1(ca.vec((X[1:, :] - X[:-1, :]) ** 4)) + ca.sum1(ca.vec((X[:, 1:] - X[:, :-1]) ** 4))


def surface(x: Any, d: Data) -> Any:
    X = rows_of(x, d, "X")
    return ca.sum1(ca.vec(ca.sqrt(1 + (X[1:, :-1] - X[:-1, :-1]) ** 2 + (X[:-1, 1:] - X[:-1, :-1]) ** 2)))


def bratu(x: Any, d: Data) -> Any:
    U = rows_of(x, d, "X")
    inner = U[1:-1, 1:-1]
    return ca.vec(4 * inner - U[:-2, 1:-1] - U[2:, 1:-1] - U[1:-1, :-2] - U[1:-1, 2:] - ca.exp(inner) / 100)


def projection(x: Any, d: Data) -> Any:
    P, a, b = rows_of(x, d, "P"), d["a"].tolist(), d["b"].tolist()
    return (P[b, 0] + ca.DM(d["C"][a, 0])) / (P[b, 2] + ca.DM(d["C"][a, 2]))


def factors(x: Any, d: Data) -> Any:
    U, a, V = rows_of(x, d, "U"), d["a"].tolist(), ca.DM(d["V"][d["b"]])
    return ca.sumsqr(ca.sum2(U[a, :] * V) - ca.DM(d["r"])) + ca.sum1(ca.vec(U**4))


def trades(x: Any, d: Data) -> Any:
    X = rows_of(x, d, "X")
    return ca.sum1(X**2 @ ca.DM(d["d"])) + ca.sum1(ca.vec(((X[1:, :] - X[:-1, :]) ** 2 + 0.01) ** 0.75))


X = "x: vector(n)"
PAIRS = f"{X}; a: index(e); b: index(e)"
SPARSE = f"{X}; D: matrix(m, n) sparse"
PROBLEMS = [
    Problem("chain (Rosenbrock)", "hessian", "sum((1 - x[:-1]).^2 + 100*(x[1:] - x[:-1].^2).^2)", "x", X, vector,
            lambda x, _: ca.sum1((1 - x[:-1]) ** 2 + 100 * (x[1:] - x[:-1] ** 2) ** 2)),
    Problem("second differences", "hessian", "sum((x[2:] - 2*x[1:-1] + x[:-2]).^4)", "x", X, vector,
            lambda x, _: ca.sum1((x[2:] - 2 * x[1:-1] + x[:-2]) ** 4)),
    Problem("grid", "hessian", "sum((X[1:, :] - X[:-1, :]).^4) + sum((X[:, 1:] - X[:, :-1]).^4)", "X",
            "X: matrix(m, n)", square, grid, 140, 32, 3),
    Problem("minimal surface", "hessian",
            "sum(sqrt(1 + (X[1:, :-1] - X[:-1, :-1]).^2 + (X[:-1, 1:] - X[:-1, :-1]).^2))", "X",
            "X: matrix(m, n)", square, surface, 140, 32, 3),
    Problem("network of springs", "hessian", "sum{k: sqrt(1 + (x[a[k]] - x[b[k]])^2)}", "x", PAIRS, graph,
            lambda x, d: ca.sum1(ca.sqrt(1 + (x[d["a"].tolist()] - x[d["b"].tolist()]) ** 2))),
    Problem("logistic, sparse design", "hessian", "sum(log(1 + exp(D*x)))", "x", SPARSE, design,
            lambda x, d: ca.sum1(ca.log(1 + ca.exp(ca.DM(d["D"].tocsc()) @ x))), 5_000),
    Problem("oscillators on a network", "jacobian", "D'*sin(D*x)", "x", SPARSE, incidence,
            lambda x, d: ca.DM(d["D"].T.tocsc()) @ ca.sin(ca.DM(d["D"].tocsc()) @ x), 5_000),
    Problem("heat equation", "jacobian", "x[1:-1] - x[1:-1].^3 + (x[2:] - 2*x[1:-1] + x[:-2])", "x", X, vector,
            lambda x, _: x[1:-1] - x[1:-1] ** 3 + (x[2:] - 2 * x[1:-1] + x[:-2])),
    Problem("PDE (Bratu)", "jacobian",
            "4*X[1:-1, 1:-1] - X[:-2, 1:-1] - X[2:, 1:-1] - X[1:-1, :-2] - X[1:-1, 2:] - exp(X[1:-1, 1:-1])/100", "X",
            "X: matrix(m, n)", square, bratu, 140, 32, 4),
    Problem("optimal control", "jacobian", "x[1:] - x[:-1] - (u - sin(x[:-1]))/10", "x",
            f"{X}; u: vector(n - 1)", control,
            lambda x, d: x[1:] - x[:-1] - (ca.DM(d["u"]) - ca.sin(x[:-1])) / 10),
    Problem("bundle adjustment", "jacobian", "{k: (P[b[k], 0] + C[a[k], 0])/(P[b[k], 2] + C[a[k], 2])}", "P",
            "P: matrix(p, 3); C: matrix(c, 3); a: index(e); b: index(e)", views, projection, 5_000, 300, 5),
    Problem("factors of ratings", "hessian", "sum{k: (sum{q: U[a[k], q]*V[b[k], q]} - r[k])^2} + sum(U.^4)", "U",
            "U: matrix(m, f); V: matrix(n, f); r: vector(e); a: index(e); b: index(e)", ratings, factors,
            3_000, 300, 4),
    Problem("portfolio over time", "hessian",
            "sum((X.^2)*d) + sum(((X[1:, :] - X[:-1, :]).^2 + 0.01).^0.75)", "X", "X: matrix(t, n); d: vector(n)",
            periods, trades, 1_000, 50, 3),
]  # fmt: skip


def derived(problem: Problem) -> Any:
    derive = mc.hessian if problem.derive == "hessian" else mc.jacobian
    shape = {"layout": "vec"} if problem.wrt != "x" else {}
    return derive(problem.text, problem.wrt, problem.declarations, **shape)


def stacked(array: Any) -> Any:
    return np.asarray(array).reshape(-1, order="F")


def in_casadi(problem: Problem, data: Data) -> tuple[Any, Any]:
    """Return CasADi's function of the matrix, and that of the formula or of its gradient."""
    x = ca.SX.sym("x", int(np.size(data[problem.wrt])))
    f = problem.casadi(x, data)
    first = ca.gradient(f, x) if problem.derive == "hessian" else f
    whole = ca.hessian(f, x)[0] if problem.derive == "hessian" else ca.jacobian(f, x)
    return ca.Function("f", [x], [whole]), ca.Function("g", [x], [first])


def best(call: Callable[[], object]) -> float:
    """Return the least microseconds of a call, after one that is not counted."""
    start = time.perf_counter()
    call()
    count = max(1, int(SECONDS / ROUNDS / max(time.perf_counter() - start, 1e-6)))
    found = []
    for _ in range(ROUNDS):
        start = time.perf_counter()
        for _ in range(min(count, 1000)):
            call()
        found.append((time.perf_counter() - start) / min(count, 1000))
    return 1e6 * min(found)


def by_differences(problem: Problem, function: Any, rng: Any) -> tuple[int, int]:
    """Return the numbers of missing and of extra entries of a pattern, against central differences at three points."""
    data = problem.data(rng, problem.small)
    _, first = in_casadi(problem, data)
    pattern = called(function, data).toarray() * 0 + 1
    stored = np.zeros(pattern.shape, bool)
    made = called(function, data).tocoo()
    stored[made.row, made.col] = True
    nonzero = np.zeros(stored.shape, bool)
    for _ in range(3):
        x = rng.uniform(0.5, 1.5, np.size(data[problem.wrt]))
        for column in range(x.size):
            step = 1e-5 * (np.arange(x.size) == column)
            slope = (first(x + step) - first(x - step)).full().ravel() / 2e-5
            nonzero[:, column] |= np.abs(slope) > 1e-6
    return int(np.sum(nonzero & ~stored)), int(np.sum(stored & ~nonzero))


def called(function: Any, data: Data) -> Any:
    return function(**{name: data[name] for name in function.args})


def row(problem: Problem) -> list[str]:
    rng = np.random.default_rng(7)
    e = derived(problem)
    function = mc.compile(e, sparse=True)
    missing, extra = by_differences(problem, function, rng)
    data = problem.data(rng, problem.large)
    found = called(function, data).tocsc()
    other, _ = in_casadi(problem, data)
    x = ca.DM(stacked(data[problem.wrt]))
    truth = other(x).sparse()
    error = np.max(np.abs((found - truth).data), initial=0) / max(np.max(np.abs(truth.data), initial=0), 1e-300)
    mine, his = best(lambda: called(function, data)), best(lambda: other(x))
    middle = problem.data(rng, problem.middle)
    dense = mc.compile(e, check=False)
    arrays = {
        n: v.toarray() if sparse.issparse(v) and "sparse" not in problem.declarations else v for n, v in middle.items()
    }
    ratio = best(lambda: called(dense, arrays)) / best(lambda: called(function, middle))
    return [
        problem.name, problem.derive, str(found.shape[1]), str(found.nnz), str(truth.nnz), str(missing), str(extra),
        f"{error:.1e}", f"{mine:.0f}", f"{his:.0f}", f"{his / mine:.2g}", f"{ratio:.3g}",
    ]  # fmt: skip


def main() -> None:
    head = [
        "problem", "matrix", "variables", "entries", "CasADi's", "missing", "extra", "error", "matcalc, us",
        "CasADi, us", "CasADi/matcalc", "dense/sparse",
    ]  # fmt: skip
    lines = ["# Sparse Jacobians and Hessians", "", *(__doc__ or "").strip().splitlines()[4:], ""]
    lines += [f"| {' | '.join(head)} |", f"|---|---|{'---:|' * (len(head) - 2)}"]
    for problem in PROBLEMS:
        try:
            lines.append(f"| {' | '.join(row(problem))} |")
        except (mc.MatcalcError, MemoryError) as fault:
            lines.append(f"| {problem.name} | {problem.derive} | {str(fault).splitlines()[0]} |")
        print(lines[-1], flush=True)
    lines += ["", "Formulas:", ""]
    lines += [f"- {p.name}: `{p.text}`, {p.derive} in `{p.wrt}`" for p in PROBLEMS]
    RESULTS.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
