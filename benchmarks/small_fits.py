"""Times thousands of small fits: a compiled loop against SciPy with matcalc's gradient, JAX under vmap, and CasADi.

    python -m benchmarks.small_fits --fits 10000 --peers /path/to/python    writes results/small_fits.md

The problems are logistic regression 50 x 5, a curve with 3 parameters at 30 points, and the 3 hyperparameters of a
Gaussian process on 20 points. Each fit has data of its own. Times are microseconds for a fit, without compilation. Each
method runs in a process of its own on one processor with one thread. Methods that take fits one by one are measured on
some of them. "Worse" is the largest excess of a fit's value over the best method's, relative to 1 + its magnitude; it
may belong to another minimum.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

Array = np.ndarray
Data = dict[str, Array]
Values = tuple[float, Array]
"""Seconds of all fits, and the final value of each."""

ROUNDS = 3
RESULTS = Path(__file__).parent / "results" / "small_fits.md"
THREADS = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")
XLA = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"


@dataclass(frozen=True)
class Fit:
    """A formula in x; `over` are the data of each fit; `residual` if it is a sum of squares."""

    formula: str
    declarations: str
    start: tuple[float, ...]
    over: tuple[str, ...]
    methods: tuple[str, ...]
    residual: str = ""


FITS = {
    "logistic": Fit(
        "sum(softplus(-y.*(A*x))) + norm2(x)^2/20",
        "A: matrix(m, n); y: vector(m); x: vector(n)",
        (0.0,) * 5,
        ("A", "y"),
        ("lbfgs", "newton-cg"),
    ),
    "curve": Fit(
        "norm2(x[0]*exp(-x[1]*t) + x[2] - y)^2",
        "t: vector(m); y: vector(m); x: vector(3)",
        (1.0, 1.0, 0.0),
        ("y",),
        ("lm",),
        "x[0]*exp(-x[1]*t) + x[2] - y",
    ),
    "process": Fit(
        "y'*inv(K)*y + logdet(K) where K = exp(x[0])*exp(-exp(x[1])*D) + (exp(x[2]) + 1/10^6)*eye(n)",
        "D: matrix(n, n) symmetric; y: vector(n); x: vector(3)",
        (0.0, 0.0, -2.0),
        ("D", "y"),
        ("lbfgs", "newton-cg"),
    ),
}


def data(problem: str, fits: int) -> Data:
    """Return the data of all fits."""
    rng = np.random.default_rng(0)
    if problem == "logistic":
        A = rng.standard_normal((fits, 50, 5))
        p = 1 / (1 + np.exp(-np.einsum("kij,kj->ki", A, rng.standard_normal((fits, 5)))))
        return {"A": A, "y": np.where(rng.random((fits, 50)) < p, 1.0, -1.0)}
    if problem == "curve":
        t = np.linspace(0, 4, 30)
        a, b, c = rng.uniform(0.5, 2, (3, fits, 1))
        return {"t": t, "y": a * np.exp(-b * t) + c + 0.05 * rng.standard_normal((fits, 30))}
    s = np.sort(rng.uniform(0, 5, (fits, 20)), axis=1)
    D = (s[:, :, None] - s[:, None, :]) ** 2 / 2
    y = np.sin(s * rng.uniform(0.5, 2, (fits, 1))) + 0.2 * rng.standard_normal((fits, 20))
    return {"D": D, "y": y}


def best(function: Callable[[], Array]) -> Values:
    """Return the least seconds of a call, after one that is not counted, and its result."""
    result, found = np.asarray(function()), []
    for _ in range(ROUNDS):
        start = time.perf_counter()
        function()
        found.append(time.perf_counter() - start)
    return min(found), result


def one_by_one(data: Data, over: tuple[str, ...], fit: Callable[[Data], float]) -> Values:
    """Return the time of fits that are called from Python one after the other."""
    count = len(data[over[0]])
    rows = [{n: a[k] if n in over else a for n, a in data.items()} for k in range(count)]
    return best(lambda: np.array([fit(row) for row in rows]))


# ---- the methods


def in_matcalc(problem: str, given: Data, method: str) -> Values:
    """Time one call of the compiled loop, as `mc.minimize` makes it after compiling."""
    import matcalc as mc
    from matcalc.solvers import compiled_loops, minimize_compiled

    model, seconds = FITS[problem], []
    inner = compiled_loops.run

    def timed(*arguments: Any) -> Any:
        inner(*arguments)
        start = time.perf_counter()
        result = inner(*arguments)
        seconds.append(time.perf_counter() - start)
        return result

    minimize_compiled.run = timed
    for _ in range(ROUNDS):
        found = mc.minimize(model.formula, "x", {"x": model.start}, given, method, compiled=True, over=model.over,
                            declarations=model.declarations)  # fmt: skip
    return min(seconds), found.fun


def in_scipy(problem: str, given: Data, method: str) -> Values:
    from scipy.optimize import least_squares, minimize

    import matcalc as mc

    model = FITS[problem]
    start = np.array(model.start)
    if model.residual:
        residual = mc.compile(mc.expression(model.residual, model.declarations))
        jacobian = mc.compile(mc.jacobian(model.residual, "x", declarations=model.declarations))
        order = [name for name in residual.args if name != "x"]

        def squares(row: Data) -> float:
            known = [row[name] for name in order]
            at = residual.args.index("x")

            def filled(x: Array) -> list[Array]:
                return [*known[:at], x, *known[at:]]

            found = least_squares(lambda x: residual(*filled(x)), start, lambda x: jacobian(*filled(x)), method="lm")
            return 2.0 * float(found.cost)

        return one_by_one(given, model.over, squares)
    both = mc.value_and_gradient(model.formula, "x", declarations=model.declarations)
    product = mc.compile(mc.hvp(model.formula, "x", declarations=model.declarations)) if method == "trust-ncg" else None

    def fit(row: Data) -> float:
        def fun(x: Array) -> tuple[float, Array]:
            return both(*(x if name == "x" else row[name] for name in both.args))

        more = {}
        if product is not None:
            more["hessp"] = lambda x, v: product({"x": x, "v": v, **row})
        return float(minimize(fun, start, jac=True, method=method, **more).fun)

    return one_by_one(given, model.over, fit)


def jax_objectives(problem: str) -> Callable[..., Any]:
    """Return the loss, for `curve` the residual, in JAX."""
    import jax
    import jax.numpy as jnp

    jax.config.update("jax_enable_x64", True)

    def logistic(x: Any, row: Any) -> Any:
        return jnp.sum(jax.nn.softplus(-row["y"] * (row["A"] @ x))) + x @ x / 20

    def curve(x: Any, row: Any) -> Any:
        return x[0] * jnp.exp(-x[1] * row["t"]) + x[2] - row["y"]

    def process(x: Any, row: Any) -> Any:
        K = jnp.exp(x[0]) * jnp.exp(-jnp.exp(x[1]) * row["D"]) + (jnp.exp(x[2]) + 1e-6) * jnp.eye(20)
        L = jnp.linalg.cholesky(K)
        z = jax.scipy.linalg.solve_triangular(L, row["y"], lower=True)
        return z @ z + 2 * jnp.sum(jnp.log(jnp.diag(L)))

    return {"logistic": logistic, "curve": curve, "process": process}[problem]


def in_jax(problem: str, given: Data, library: str) -> Values:
    """Run jaxopt or optimistix under vmap and jit, on JAX arrays."""
    objective = jax_objectives(problem)
    import jax
    import jax.numpy as jnp

    x0 = jnp.array(FITS[problem].start)
    squares = bool(FITS[problem].residual)

    def loss(x: Any, row: Any) -> Any:
        return jnp.sum(objective(x, row) ** 2) if squares else objective(x, row)

    if library == "jaxopt":
        import jaxopt

        solver: Any = (
            jaxopt.LevenbergMarquardt(objective, tol=1e-5) if squares else jaxopt.LBFGS(loss, tol=1e-5, maxiter=200)
        )

        def solution(row: Any) -> Any:
            return solver.run(x0, row).params
    else:
        import optimistix

        kind = optimistix.LevenbergMarquardt if squares else optimistix.LBFGS
        solver = kind(rtol=1e-6, atol=1e-6)
        solve = optimistix.least_squares if squares else optimistix.minimise

        def solution(row: Any) -> Any:
            return solve(objective, solver, x0, row, max_steps=300, throw=False).value

    axes = {name: 0 if name in FITS[problem].over else None for name in given}
    run = jax.jit(jax.vmap(lambda row: loss(solution(row), row), in_axes=(axes,)))
    own = {name: jnp.asarray(array) for name, array in given.items()}
    return best(lambda: np.asarray(jax.block_until_ready(run(own))))


def in_casadi(problem: str, given: Data, plugin: str) -> Values:
    import casadi as ca

    model = FITS[problem]
    one = {n: a[0] if n in model.over else a for n, a in given.items()}
    x = ca.MX.sym("x", len(model.start))
    row = {n: ca.MX.sym(n, *a.shape) for n, a in one.items()}
    if problem == "logistic":
        z = -row["y"] * (row["A"] @ x)
        f = ca.sum1(ca.fmax(z, 0) + ca.log1p(ca.exp(-ca.fabs(z)))) + ca.sumsqr(x) / 20
    elif problem == "curve":
        f = ca.sumsqr(x[0] * ca.exp(-x[1] * row["t"]) + x[2] - row["y"])
    else:
        K = ca.exp(x[0]) * ca.exp(-ca.exp(x[1]) * row["D"]) + (ca.exp(x[2]) + 1e-6) * ca.MX.eye(20)
        f = ca.dot(row["y"], ca.solve(K, row["y"])) + ca.log(ca.det(K))
    p = ca.vertcat(*(ca.vec(symbol) for symbol in row.values()))
    quiet = {"print_time": False, "ipopt.print_level": 0, "ipopt.sb": "yes", "ipopt.tol": 1e-6}
    solver = ca.nlpsol("solver", plugin, {"x": x, "p": p, "f": f}, quiet)

    def fit(row: Data) -> float:
        values = np.concatenate([row[n].ravel(order="F") for n in one])
        return float(solver(x0=model.start, p=values)["f"])

    return one_by_one(given, model.over, fit)


WAYS: dict[str, tuple[Callable[[str, Data, str], Values], int]] = {
    "matcalc": (in_matcalc, 1),
    "SciPy": (in_scipy, 50),
    "JAX": (in_jax, 25),
    "CasADi": (in_casadi, 100),
}
"""The function that runs a method, and the fraction of the fits that it is measured on."""


def ways(problem: str, has_peers: bool) -> list[tuple[str, str]]:
    """Return the methods for a problem, each with its algorithm, library or plugin."""
    methods = FITS[problem].methods
    scipy = {"lbfgs": "L-BFGS-B", "newton-cg": "trust-ncg", "lm": "lm"}
    found = [("matcalc", m) for m in methods] + [("SciPy", scipy[m]) for m in methods]
    return found + ([("JAX", "jaxopt"), ("JAX", "optimistix"), ("CasADi", "ipopt")] if has_peers else [])


# ---- the table


def measured(problem: str, way: str, method: str, fits: int, peers: str) -> tuple[float, Array] | str:
    """Return the seconds of a fit and the final values, from a process of its own; its error if it fails."""
    python = peers if way in ("JAX", "CasADi") else sys.executable
    environment = os.environ | dict.fromkeys(THREADS, "1") | {"XLA_FLAGS": XLA}
    environment.pop("OPENBLAS_CORETYPE", None)
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "values.npy"
        command = [python, __file__, "--one", problem, way, method, str(place), "--fits", str(fits)]
        run = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
        if run.returncode:
            return (run.stderr.strip().splitlines() or ["no word"])[-1]
        return json.loads(run.stdout.splitlines()[-1]), np.load(place)


def one(problem: str, way: str, method: str, place: str, fits: int) -> None:
    """Measure one method on one processor; print the seconds of a fit and write the values."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    run, part = WAYS[way]
    count = max(1, fits // part)
    given = {n: a[:count] if n in FITS[problem].over else a for n, a in data(problem, fits).items()}
    seconds, values = run(problem, given, method)
    np.save(place, values)
    print(json.dumps(seconds / count))


def table(problem: str, fits: int, peers: str) -> list[str]:
    """Return the lines of one problem."""
    methods = ways(problem, bool(peers))
    found = [measured(problem, way, method, fits, peers) for way, method in methods]
    lines = ["", f"## {problem}: `{FITS[problem].formula}`", "", "| way | fits | µs a fit | ratio | worse |"]
    lines.append("|---|---:|---:|---:|---:|")
    done = [each for each in found if not isinstance(each, str)]
    least = np.full(fits, np.inf)
    for _, values in done:
        least[: len(values)] = np.fmin(least[: len(values)], values)
    for (way, method), each in zip(methods, found, strict=True):
        if isinstance(each, str):
            lines.append(f"| {way}, {method} | | | | {each} |")
            continue
        seconds, values = each
        known = least[: len(values)]
        excess = (values - known) / (1 + np.abs(known))
        worse = f"{np.nanmax(excess):.0e}; {np.sum(~(excess <= 1e-6))} above 1e-6"
        lines.append(
            f"| {way}, {method} | {len(values)} | {seconds * 1e6:.1f} | {seconds / done[0][0]:.1f} | {worse} |"
        )
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--peers", default="", help="a Python that has JAX, jaxopt, optimistix and CasADi")
    parser.add_argument("--fits", type=int, default=10_000)
    parser.add_argument("--one", nargs=4, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        one(*options.one, options.fits)
        return
    lines = ["# Thousands of small fits", "", *(__doc__ or "").strip().splitlines()[4:]]
    for problem in FITS:
        lines += table(problem, options.fits, options.peers)
        print("\n".join(lines[-8:]), flush=True)
    RESULTS.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    sys.exit(main())
