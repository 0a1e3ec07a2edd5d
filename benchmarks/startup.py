"""Measures waiting times besides arithmetic: the overhead of a call, `matcalc --help`, a second process."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path
from time import perf_counter
from types import ModuleType

from problems import Call, Problem

ROOT = Path(__file__).resolve().parent.parent
OVERHEAD = Problem(
    "overhead",
    "x'*y",
    "ns.sum(x*y)",
    ("x",),
    "gradient",
    {"x": ("n",), "y": ("n",)},
    {},
    {},
    {"tiny": {"n": 2}},
)
PROCESS = """\
import matcalc as mc
import numpy as np

fn = mc.value_and_gradient("sum(log(1 + exp(-y.*(X*w)))) + lam*w'*w", "w", declarations="lam: scalar")
fn(X=np.ones((8, 3)), w=np.ones(3), y=np.ones(8), lam=0.5)
print(fn.stats["cache"])
"""
CALLS = 2000


def startup_table(libraries: dict[str, ModuleType]) -> str:
    """Return the tables of call overhead and startup."""
    lines = ["\n## A call with two vectors of two entries in, (float, vector) out\n"]
    lines += ["| library | us |", "|---|---:|"]
    data = OVERHEAD.data("tiny")
    for name, library in libraries.items():
        if name not in ("expert", "bare"):
            lines.append(f"| {name} | {overhead(library.build(OVERHEAD, data)) * 1e6:.2f} |")
    with tempfile.TemporaryDirectory() as folder:
        bare = best(["-c", "pass"], folder)
        array = best(["-c", "import numpy"], folder)
        helped = best(["-m", "matcalc", "--help"], folder)
    with tempfile.TemporaryDirectory() as folder:
        first = process(["-c", PROCESS], folder)
        again = best(["-c", PROCESS], folder)
    lines += ["\n## Whole processes, seconds\n", "| | s |", "|---|---:|"]
    lines.append(f"| `python -c pass` | {bare:.3f} |")
    lines.append(f"| `python -c 'import numpy'` | {array:.3f} |")
    lines.append(f"| `matcalc --help` | {helped:.3f} |")
    lines.append(f"| formula to first result, nothing cached | {first:.2f} |")
    lines.append(f"| the same again, from the disk cache | {again:.3f}, {again / array:.1f} times `import numpy` |")
    return "\n".join(lines)


def overhead(call: Call) -> float:
    """Return the time of one call, the best of many rounds, minus that of an empty function."""
    return timed(call) - timed(lambda: None)


def timed(call: Call) -> float:
    call()
    shortest = float("inf")
    for _ in range(50):
        start = perf_counter()
        for _ in range(CALLS):
            call()
        shortest = min(shortest, (perf_counter() - start) / CALLS)
        if shortest * CALLS > 0.05:
            break
    return shortest


def best(arguments: list[str], cache: str, runs: int = 5) -> float:
    return min(process(arguments, cache) for _ in range(runs))


def process(arguments: list[str], cache: str) -> float:
    """Return the seconds that a Python process runs."""
    path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
    environment = {**os.environ, "MATCALC_CACHE": cache, "PYTHONPATH": path}
    start = perf_counter()
    subprocess.run([sys.executable, *arguments], env=environment, check=True, stdout=subprocess.DEVNULL)
    return perf_counter() - start
