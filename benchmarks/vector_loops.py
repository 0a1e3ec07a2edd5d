"""Measures loops of one, two and three special functions against SciPy and JAX.

    python -m benchmarks.vector_loops         writes results/vector_loops.md

Each is called as its users call it, on one core: its own arrays in, a new array out. The calls alternate, and the best
of many rounds counts, in processor time. A loop of several functions should take the sum of their times.
"""

from __future__ import annotations

import importlib
import os
import time
from pathlib import Path

import numpy as np
import scipy.special as special

import matcalc as mc
from benchmarks.vector_functions import Call

RESULTS = Path(__file__).parent / "results" / "vector_loops.md"
COUNTS = (1_000, 100_000)
ROUNDS = 15
NAMES = "xyz"
FORMULAS = {
    "gammaln": ("gammaln({})", special.gammaln, "gammaln"),
    "digamma": ("digamma({})", special.psi, "digamma"),
    "erf": ("erf({})", special.erf, "erf"),
    "erfcx": ("erfcx({})", special.erfcx, ""),
    "log_ndtr": ("log_ndtr({})", special.log_ndtr, "log_ndtr"),
    "trigamma": ("polygamma(1, {})", lambda v: special.polygamma(1, v), "polygamma"),
    "besseli 0": ("besseli(0, {})", special.i0, "i0"),
    "besseli 1": ("besseli(1, {})", special.i1, "i1"),
}
"""Each function: in matcalc's words, SciPy's own, and its name in JAX, empty if JAX has none."""


def calls(name: str, number: int, data: list[np.ndarray]) -> list[Call | None]:
    """Return the calls of matcalc, SciPy and JAX that add a function of the first arrays."""
    words, scipys, in_jax = FORMULAS[name]
    text = " + ".join(words.format(v) for v in NAMES[:number])
    ours = mc.compile(text, declarations="; ".join(f"{v}: vector(n)" for v in NAMES[:number]))
    given = data[:number]
    return [lambda: ours(*given), lambda: sum(scipys(v) for v in given), jaxs(in_jax, given)]


def jaxs(name: str, data: list[np.ndarray]) -> Call | None:
    """Return JAX's compiled call; None if it or the function is missing."""
    try:
        jax = importlib.import_module("jax")
        functions = importlib.import_module("jax.scipy.special")
    except ImportError:
        return None
    if not name:
        return None
    jax.config.update("jax_enable_x64", True)
    first = (1,) if name == "polygamma" else ()
    compiled = jax.jit(lambda *vs: sum(getattr(functions, name)(*first, v) for v in vs))
    given = [jax.numpy.asarray(v) for v in data]
    return lambda: compiled(*given).block_until_ready()


def times(found: list[Call | None], count: int) -> list[str]:
    """Return ns per entry of each call, in turns."""
    best = [float("inf")] * len(found)
    repeats = max(1, 20_000 // count)
    for turn in range(ROUNDS + 1):
        for place, call in enumerate(found):
            if call is None:
                continue
            start = time.process_time_ns()
            for _ in range(repeats):
                call()
            if turn:
                best[place] = min(best[place], (time.process_time_ns() - start) / repeats / count)
    return ["-" if call is None else f"{taken:.1f}" for call, taken in zip(found, best, strict=True)]


def main() -> None:
    """Measure and write the table."""
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})  # JAX uses all cores otherwise
    rng = np.random.default_rng(0)
    columns = [f"{count}: {number}" for count in COUNTS for number in (1, 2, 3)]
    lines = [f"| function | library | {' | '.join(columns)} |", "|---|---|" + "---:|" * len(columns)]
    for name in FORMULAS:
        cells: list[list[str]] = [[], [], []]
        for count in COUNTS:
            data = [np.abs(3.0 * rng.standard_normal(count)) + 0.05 for _ in NAMES]
            for number in (1, 2, 3):
                for row, cell in zip(cells, times(calls(name, number, data), count), strict=True):
                    row.append(cell)
        lines += [
            f"| {name} | {who} | {' | '.join(row)} |"
            for who, row in zip(("matcalc", "SciPy", "JAX"), cells, strict=True)
        ]
        print("\n".join(lines[-3:]), flush=True)
    text = (
        "# Loops of special functions\n\nns per entry of `f(x)`, `f(x) + f(y)` and `f(x) + f(y) + f(z)`, by the number "
        "of entries, in processor time on one core. `python -m benchmarks.vector_loops` writes this.\n\n"
    )
    RESULTS.write_text(text + "\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
