"""Times one whole fit of a logistic regression: matcalc's loops, scikit-learn's solvers, SciPy by hand, JAX.

    python -m benchmarks.large_fits --peers /path/to/python    writes results/large_fits.md

The objective is the mean loss with a ridge of 1/m, without intercept, in float64. The data are the breast-cancer data
(569 x 30, standardised) and generated data (100,000 x 100). Each method starts at zero with the data in its own arrays.
It stops when the largest entry of the gradient of the mean is below 1e-6; newton-cholesky and optimistix use their own
tests with that number. Times are milliseconds of a fit, the least of several after one that is not counted. So
deriving, compiling and tracing are excluded. Each method runs in a process of its own on one processor with one thread.
"Worse" is the relative difference of its value from the least one.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

Array = np.ndarray
Fit = Callable[[], tuple[Array, int]]
"""A fit that can be repeated: returns its weights and its number of steps."""

ROUNDS = 7
TOLERANCE, STEPS = 1e-6, 500
RESULTS = Path(__file__).parent / "results" / "large_fits.md"
THREADS = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")
XLA = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"
FORMULA = "sum(softplus(-y.*(X*w)))/m + w'*w/(2*m)"
DECLARED = "X: matrix(m, n); y: vector(m); w: vector(n)"
RELATIVE = 64 * np.finfo(float).eps  # scikit-learn's ftol


def breast_cancer() -> tuple[Array, Array]:
    """Return the standardised measurements and the labels of the data shipped with matcalc."""
    path = Path(__file__).parents[1] / "matcalc" / "data" / "breast_cancer.csv"
    table = np.loadtxt(
        path, delimiter=",", skiprows=1, converters={0: lambda kind: float(kind == "M")}, encoding="utf-8"
    )
    y, X = 2 * table[:, 0] - 1, table[:, 1:]
    return (X - X.mean(axis=0)) / X.std(axis=0), y


def generated() -> tuple[Array, Array]:
    """Return correlated columns and labels drawn from the model."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((100_000, 100)) @ (np.eye(100) + 0.1 * rng.standard_normal((100, 100)))
    p = 1 / (1 + np.exp(-X @ rng.standard_normal(100) / 5))
    return X, np.where(rng.random(len(X)) < p, 1.0, -1.0)


PROBLEMS = {"breast cancer, 569 x 30": breast_cancer, "generated, 100,000 x 100": generated}


# ---- the methods


def compiled_loop(X: Array, y: Array, method: str) -> Fit:
    """Return a fit by matcalc's compiled loop around the compiled derivatives."""
    import matcalc as mc
    from matcalc.solvers import minimize_compiled

    inner, kept = minimize_compiled.run, []

    def remembered(*arguments: Any) -> Any:
        kept[:] = [arguments]
        return inner(*arguments)

    minimize_compiled.run = remembered
    options = {"gtol": TOLERANCE, "maxiter": STEPS} | ({"ftol": RELATIVE} if method == "lbfgs" else {})
    mc.minimize(FORMULA, "w", {"w": np.zeros(X.shape[1])}, {"X": X, "y": y}, method, compiled=True, options=options,
                declarations=DECLARED)  # fmt: skip

    def fit() -> tuple[Array, int]:
        w, _, _, counts = inner(*kept[0])
        return w[0], int(counts[0, 1])

    return fit


def by_scipy(X: Array, y: Array, method: str) -> Fit:
    """Return a fit by SciPy's loop in Python around the compiled derivatives, as in `mc.minimize`."""
    from scipy.optimize import minimize

    from matcalc import solvers

    made = solvers.problem(FORMULA, "w", {"X": X, "y": y}, start={"w": np.zeros(X.shape[1])}, declarations=DECLARED)
    options: dict[str, Any] = {"gtol": TOLERANCE, "maxiter": STEPS}
    if method == "L-BFGS-B":
        options |= {"ftol": RELATIVE, "maxls": 50}
    more = {"trust-ncg": {"hessp": made.hessp}, "trust-exact": {"hess": made.hess}}.get(method, {})

    def fit() -> tuple[Array, int]:
        found = minimize(made.fun, made.x0, jac=made.jac, method=method, options=options, **more)
        return found.x, found.nit

    return fit


def by_hand(X: Array, y: Array, method: str) -> Fit:
    """Return a fit by SciPy around a gradient hand-written in NumPy."""
    from scipy.optimize import minimize
    from scipy.special import expit

    m = len(y)

    def both(w: Array) -> tuple[float, Array]:
        z = -y * (X @ w)
        return float(np.logaddexp(0, z).sum() + w @ w / 2) / m, (X.T @ (-y * expit(z)) + w) / m

    options = {"gtol": TOLERANCE, "maxiter": STEPS, "ftol": RELATIVE, "maxls": 50}

    def fit() -> tuple[Array, int]:
        found = minimize(both, np.zeros(X.shape[1]), jac=True, method=method, options=options)
        return found.x, found.nit

    return fit


def scikit_learn(X: Array, y: Array, method: str) -> Fit:
    from sklearn.linear_model import LogisticRegression

    def fit() -> tuple[Array, int]:
        model = LogisticRegression(C=1.0, fit_intercept=False, solver=method, tol=TOLERANCE, max_iter=STEPS).fit(X, y)
        return model.coef_[0], int(model.n_iter_[0])

    return fit


def in_jax(X: Array, y: Array, library: str) -> Fit:
    import jax
    import jax.numpy as jnp

    jax.config.update("jax_enable_x64", True)
    A, b, w0, m = jnp.asarray(X), jnp.asarray(y), jnp.zeros(X.shape[1]), len(y)

    def loss(w: Any, data: Any) -> Any:
        return jnp.sum(jax.nn.softplus(-data[1] * (data[0] @ w))) / m + w @ w / (2 * m)

    if library == "jaxopt":
        import jaxopt

        solver = jaxopt.LBFGS(loss, tol=TOLERANCE, maxiter=STEPS)

        def solved(w: Any, data: Any) -> Any:
            found = solver.run(w, data)
            return found.params, found.state.iter_num
    else:
        import optimistix

        own = optimistix.LBFGS(rtol=TOLERANCE, atol=TOLERANCE)

        def solved(w: Any, data: Any) -> Any:
            found = optimistix.minimise(loss, own, w, data, max_steps=STEPS, throw=False)
            return found.value, found.stats["num_steps"]

    run = jax.jit(solved)

    def fit() -> tuple[Array, int]:
        w, steps = jax.block_until_ready(run(w0, (A, b)))
        return np.asarray(w), int(steps)

    return fit


KINDS: dict[str, Callable[[Array, Array, str], Fit]] = {
    "matcalc compiled": compiled_loop,
    "matcalc in SciPy": by_scipy,
    "NumPy by hand in SciPy": by_hand,
    "scikit-learn": scikit_learn,
    "JAX": in_jax,
}
OWN = (
    ("matcalc compiled", "lbfgs"),
    ("matcalc compiled", "newton-cg"),
    ("matcalc in SciPy", "L-BFGS-B"),
    ("matcalc in SciPy", "trust-ncg"),
    ("matcalc in SciPy", "trust-exact"),
    ("NumPy by hand in SciPy", "L-BFGS-B"),
)
PEERS = (
    ("scikit-learn", "lbfgs"),
    ("scikit-learn", "newton-cg"),
    ("scikit-learn", "newton-cholesky"),
    ("JAX", "jaxopt"),
    ("JAX", "optimistix"),
)


# ---- the table


def one(problem: str, way: str, method: str) -> None:
    """Measure one method on one processor; print its milliseconds, steps and final value."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    X, y = PROBLEMS[problem]()
    fit, found = KINDS[way](X, y, method), []
    w, steps = fit()
    for _ in range(ROUNDS):
        start = time.perf_counter()
        fit()
        found.append(time.perf_counter() - start)
    value = (np.logaddexp(0, -y * (X @ w)).sum() + w @ w / 2) / len(y)
    print(json.dumps([1e3 * min(found), steps, float(value)]))


def measured(problem: str, way: str, method: str, python: str) -> list[float] | str:
    """Return the output of `one` in a process of its own, or its error."""
    environment = os.environ | dict.fromkeys(THREADS, "1") | {"XLA_FLAGS": XLA}
    environment.pop("OPENBLAS_CORETYPE", None)
    command = [python, __file__, "--one", problem, way, method]
    run = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    if run.returncode:
        return (run.stderr.strip().splitlines() or ["no word"])[-1]
    found: list[float] = json.loads(run.stdout.splitlines()[-1])
    return found


def table(problem: str, peers: str) -> list[str]:
    """Return the lines of one problem."""
    methods = [(*way, sys.executable) for way in OWN] + [(*way, peers) for way in PEERS if peers]
    found = [measured(problem, *way) for way in methods]
    done = [each for each in found if not isinstance(each, str)]
    least = min(value for *_, value in done)
    lines = ["", f"## {problem}", "", "| way | steps | ms | ratio | worse |", "|---|---:|---:|---:|---:|"]
    for (way, method, _), each in zip(methods, found, strict=True):
        if isinstance(each, str):
            lines.append(f"| {way}, {method} | | | | {each} |")
            continue
        time_, steps, value = each
        ratio = f"{time_ / done[0][0]:.2f}"
        lines.append(f"| {way}, {method} | {steps:.0f} | {time_:.2f} | {ratio} | {value / least - 1:.0e} |")
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--peers", default="", help="a Python that has scikit-learn, JAX, jaxopt and optimistix")
    parser.add_argument("--one", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        one(*options.one)
        return
    lines = ["# One whole fit", "", *(__doc__ or "").strip().splitlines()[4:]]
    for problem in PROBLEMS:
        lines += table(problem, options.peers)
        print("\n".join(lines[-12:]), flush=True)
    RESULTS.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    sys.exit(main())
