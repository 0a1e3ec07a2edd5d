"""Times plain Python source against hand-written NumPy: values and derivatives of `tests/plain_source/formulas`.

    python -m benchmarks.plain_source     writes results/plain_source.md; ruff counts the lines

Both run in one process with one thread and double precision, in alternation; the fastest of several rounds counts.
"""

from __future__ import annotations

import os

for variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(variable, "1")

import inspect  # noqa: E402 - the threads are set before NumPy is imported
import math  # noqa: E402
import sys  # noqa: E402
import time  # noqa: E402
from collections.abc import Callable  # noqa: E402
from pathlib import Path  # noqa: E402
from statistics import median  # noqa: E402

import numpy as np  # noqa: E402
import scipy  # noqa: E402

sys.path.append(str(Path(__file__).parent.parent / "tests"))  # the formulas are only in the checkout
from plain_source.counted import lines_by_function  # noqa: E402
from plain_source.data import drawn  # noqa: E402
from plain_source.formulas import FORMULAS, LARGE, SECOND, Formula  # noqa: E402
from plain_source.sources import loaded, source  # noqa: E402

from matcalc.errors import MatcalcError  # noqa: E402

RESULTS = Path(__file__).parent / "results" / "plain_source.md"
MOST_OF_HESSIAN = 400
"""The largest size for a Hessian, which has as many entries as the square of its variable."""
SECONDS = 0.1
"""The least time that is spent on each side."""


def main() -> None:
    """Measure all formulas and write the table."""
    rows, failed = [], []
    for formula in FORMULAS + SECOND:
        try:
            rows.append(measured(formula))
        except MatcalcError as error:
            failed.append(f"- `{formula.name}`: {error}")
        print(rows[-1] if rows else failed[-1], flush=True)
    RESULTS.write_text(table(rows, failed), encoding="utf-8")


def measured(formula: Formula) -> tuple[str, float, float, int, int]:
    """Return name, seconds by hand, seconds of plain source, and lines of code of both."""
    sizes = LARGE | formula.large
    if formula.gives == "hessian":
        sizes = {name: min(size, MOST_OF_HESSIAN) for name, size in sizes.items()}
    arguments = drawn(formula, sizes, 0)
    by_hand, plain = fastest(formula.function, loaded(formula), arguments)
    lines = (lines_by_function(text) for text in (inspect.getsource(formula.function), source(formula)))
    hand_lines, plain_lines = (sum(counts.values()) for counts in lines)
    return formula.name, by_hand, plain, hand_lines, plain_lines


def fastest(first: Callable[..., object], second: Callable[..., object], arguments: dict[str, object]) -> list[float]:
    """Return the fewest seconds of each function, called in alternation."""
    functions = (first, second)
    best = [math.inf, math.inf]
    start = time.perf_counter()
    rounds = 0
    while rounds < 3 or time.perf_counter() - start < 2 * SECONDS:
        for k, function in enumerate(functions):
            before = time.perf_counter()
            function(**arguments)
            best[k] = min(best[k], time.perf_counter() - before)
        rounds += 1
    return best


def table(rows: list[tuple[str, float, float, int, int]], failed: list[str]) -> str:
    """Return the table in Markdown, with the geometric mean of the ratios."""
    mean = math.exp(sum(math.log(plain / hand) for _, hand, plain, *_ in rows) / len(rows))
    lines = median(p / h for *_, h, p in rows)
    head = (__doc__ or "").split("\n\n")[0]
    text = [
        "# Plain source and code by hand",
        "",
        head,
        "",
        f"Milliseconds; one thread; NumPy {np.__version__}, SciPy {scipy.__version__}.",
        f"Time: geometric mean of the ratios {mean:.3f}. Lines of code: median of the ratios {lines:.2f}.",
        "",
        "| formula | by hand, ms | plain, ms | ratio | lines by hand | lines, plain |",
        "|---|---:|---:|---:|---:|---:|",
    ]
    for name, hand, plain, hand_lines, plain_lines in rows:
        cells = f"{1e3 * hand:.3f} | {1e3 * plain:.3f} | {plain / hand:.2f} | {hand_lines} | {plain_lines}"
        text.append(f"| {name} | {cells} |")
    if failed:
        text += ["", "No plain source:", "", *failed]
    return "\n".join(text) + "\n"


if __name__ == "__main__":
    main()
