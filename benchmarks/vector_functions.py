"""Measures elementwise functions: time per entry against NumPy, PyTorch and JAX, and the worst error over the range.

    python -m benchmarks.vector_functions     writes results/vector_functions.md

Run it with an interpreter that has the peers; a missing one is left out. Each is called as its users call it: its own
arrays in, a new array out, on one core. The calls alternate, and the best of many rounds counts. Errors are against
mpmath.
"""

from __future__ import annotations

import importlib
import os
import time
import tomllib
from collections.abc import Callable
from pathlib import Path

import llvmlite.binding as llvm
import mpmath
import numpy as np
import scipy.special as special

import matcalc as mc
from benchmarks.whole_range import EXACT, argument, units, whole_range

RESULTS = Path(__file__).parent / "results" / "vector_functions.md"
SCALARS = tomllib.loads((Path(__file__).parents[1] / "codegen" / "scalars.toml").read_text())
COUNTS = (10_000, 1_000_000)
ROUNDS = 25
Call = Callable[[], object]

NUMPY: dict[str, Callable[..., object]] = {
    "sigmoid": special.expit, "softplus": lambda x: np.logaddexp(0.0, x), "erf": special.erf, "erfc": special.erfc,
    "pow": lambda x: x**2.5, "gammaln": special.gammaln, "digamma": special.psi, "atan": np.arctan, "asin": np.arcsin,
    "acos": np.arccos, "asinh": np.arcsinh, "acosh": np.arccosh, "atanh": np.arctanh,
}  # fmt: skip
OTHERS = {
    "torch": {"softplus": "nn.functional.softplus", "gammaln": "lgamma"},
    "jax": {
        "sigmoid": "nn.sigmoid", "softplus": "nn.softplus", "erf": "scipy.special.erf", "erfc": "scipy.special.erfc",
        "gammaln": "scipy.special.gammaln", "digamma": "scipy.special.digamma", "atan": "numpy.arctan",
        "asin": "numpy.arcsin", "acos": "numpy.arccos", "asinh": "numpy.arcsinh", "acosh": "numpy.arccosh",
        "atanh": "numpy.arctanh",
    },
}  # fmt: skip
"""Names of our functions in a framework, if they differ."""


def entries(name: str, count: int) -> np.ndarray:
    """Return normal numbers of deviation 3 inside the domain of a function."""
    x = 3.0 * np.random.default_rng(0).standard_normal(count)
    if name in ("asin", "acos", "atanh"):
        return np.tanh(x / 3.0)
    if name == "acosh":
        return 1.0 + np.abs(x)
    return np.abs(x) + 0.01 if name in ("log", "log1p", "log2", "log10", "pow", "gammaln", "digamma") else x


def ours(name: str, x: np.ndarray) -> Call:
    """Return the call of a compiled function."""
    function = mc.compile(f"{argument(name)}", declarations="x: vector(n)")
    return lambda: function(x)


def numpys(name: str, x: np.ndarray) -> Call:
    """Return NumPy's call, or SciPy's if NumPy has none."""
    function = NUMPY.get(name) or getattr(np, name)
    return lambda: function(x)


def torchs(name: str, x: np.ndarray) -> Call:
    """Return PyTorch's call."""
    torch = importlib.import_module("torch")
    torch.set_num_threads(1)
    given = torch.from_numpy(x)
    if name == "pow":
        return lambda: torch.pow(given, 2.5)
    function = found(torch, OTHERS["torch"].get(name, name))
    return lambda: function(given)


def jaxs(name: str, x: np.ndarray) -> Call:
    """Return JAX's call."""
    jax = importlib.import_module("jax")
    jax.config.update("jax_enable_x64", True)
    importlib.import_module("jax.scipy.special")
    given = jax.numpy.asarray(x)
    function = (lambda v: v**2.5) if name == "pow" else found(jax, OTHERS["jax"].get(name, f"numpy.{name}"))
    compiled = jax.jit(function)
    return lambda: compiled(given).block_until_ready()


def found(module: object, path: str) -> Callable[..., object]:
    """Return the object with a dotted name."""
    for part in path.split("."):
        module = getattr(module, part)
    return module  # type: ignore[return-value]


def times(calls: list[Call | None], count: int) -> list[float | None]:
    """Return ns per entry of alternating calls."""
    repeats = max(1, 200_000 // count)
    best = [float("inf") if call else None for call in calls]
    for _ in range(ROUNDS):
        for place, call in enumerate(calls):
            if call is not None:
                start = time.perf_counter()
                for _ in range(repeats):
                    call()
                taken = (time.perf_counter() - start) / repeats / count * 1e9
                best[place] = min(best[place] or taken, taken)
    return best


def attempt(make: Callable[[str, np.ndarray], Call], name: str, x: np.ndarray) -> Call | None:
    """Return a call that works; None if a peer or its function is missing."""
    try:
        call = make(name, x)
        call()
    except (ImportError, AttributeError):
        return None
    return call


def worst(name: str) -> tuple[float, float]:
    """Return the worst error in units of the last place over the whole range, and where."""
    x = whole_range(name, 30_000)
    got = mc.compile(argument(name), declarations="x: vector(n)")(x)
    errors = units(name, x, got)
    place = int(np.argmax(errors))
    return float(errors[place]), float(x[place])


def row(name: str) -> str:
    """Return a line of the table."""
    cells = []
    for count in COUNTS:
        x = entries(name, count)
        taken = times([attempt(make, name, x) for make in (ours, numpys, torchs, jaxs)], count)
        peers = [t for t in taken[1:] if t is not None]
        shown = [f"{t:.2f}" if t is not None else "-" for t in taken]
        cells += [*shown, f"{(taken[0] or 0.0) / min(peers):.2f}"]
    error, place = worst(name)
    stated = SCALARS[name].get("ulp", "-")
    return f"| {name} | {' | '.join(cells)} | {error:.2f} | {stated} | {place:.6g} |"


def main() -> None:
    """Measure and write the table."""
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})  # JAX uses all cores otherwise
    head = (
        "| function | 10^4: matcalc | NumPy | torch | jax | ratio | 10^6: matcalc | NumPy | torch | jax | ratio "
        "| worst ulp | stated | at |\n|---|" + "---:|" * 13
    )
    rows = []
    with mpmath.workdps(60):
        for name in EXACT:
            rows.append(row(name))
            print(rows[-1], flush=True)
    text = (
        "# Elementwise functions\n\nns per entry, new result each call, on one core, in turns in one process; `ratio`"
        " is matcalc against the fastest peer. NumPy's column is SciPy's where NumPy has none. Errors in units of "
        "the last place against mpmath over the whole range; `stated` is the bound in `codegen/scalars.toml`.\n"
        f"LLVM calls the processor {llvm.get_host_cpu_name()}. `python -m benchmarks.vector_functions` writes this.\n\n"
    )
    RESULTS.write_text(text + "\n".join([head, *rows]) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
