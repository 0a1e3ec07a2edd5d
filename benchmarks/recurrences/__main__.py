"""Times recurrences with gradients against hand-written Numba, JAX, PyTorch, PyTensor and CasADi.

    /path/to/python -m benchmarks.recurrences             writes results/recurrences.md
    /path/to/python -m benchmarks.recurrences times FILE  writes the first part to another file, of another processor
    /path/to/python -m benchmarks.recurrences lengths     writes its second part only, which needs no other library

That Python needs matcalc on its path and the libraries to compare with. One thread each. In each round all libraries
run once in turn; a ratio is that of the least times.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import numpy as np

import matcalc as mc
from benchmarks.blas import processor
from benchmarks.recurrences import by_hand, lengths
from benchmarks.recurrences.least import least
from benchmarks.recurrences.models import MODELS, Data

ONE_THREAD = {
    **{f"{library}_NUM_THREADS": "1" for library in ("OMP", "OPENBLAS", "MKL")},
    "XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1",
}
RESULTS = Path(__file__).parents[1] / "results" / "recurrences.md"
PEERS = {"JAX": "in_jax", "PyTorch": "in_torch", "PyTensor": "in_pytensor", "CasADi": "in_casadi"}
SLOW = {"PyTorch": 100, "CasADi": 1000}
"""The most steps that a library is given."""
LOAD = os.getloadavg()[1]
SECOND_PART = "\n## "


def symmetric(array: object) -> np.ndarray:
    found = np.asarray(array, dtype=float)
    square = found.ndim == 2 and found.shape[0] == found.shape[1]
    return found + found.T if square else found


def agree(found: list[object], expected: list[object]) -> bool:
    """Whether results are equal to nine digits; gradients in matrices are compared by their symmetric parts."""
    shaped = [np.asarray(a, dtype=float).reshape(np.shape(b)) for a, b in zip(found, expected, strict=True)]
    pairs = [(symmetric(a).ravel(), symmetric(b).ravel()) for a, b in zip(shaped, expected, strict=True)]
    return all(np.max(np.abs(a - b)) <= 1e-9 * np.max(np.abs(b)) for a, b in pairs)


def peers(name: str, data: Data) -> dict[str, Callable[[], object]]:
    """Return the libraries that are installed and have the model."""
    found = {}
    steps = data["T"] if "T" in data else max(len(data[k]) for k in ("Y", "X", "e") if k in data)
    for library, module in PEERS.items():
        if steps <= SLOW.get(library, steps):
            try:
                found[library] = import_module(f"benchmarks.recurrences.{module}").build(name, MODELS[name], data)
            except (ImportError, KeyError) as lacking:
                print(f"{name}: {library}: {lacking!r}", file=sys.stderr)
    return found


def flat(result: object) -> list[object]:
    value, gradients = result if len(result) == 2 else (result[0], result[1:])
    return [value, *gradients]


def row(name: str, n: int, steps: int) -> str:
    model, data = MODELS[name], MODELS[name].data(n, steps)
    function = mc.value_and_gradient(model.text, list(model.wrt), model.declarations, sizes=model.sizes)
    args, given = [data[k] for k in function.args], list(data.values())
    calls = {"matcalc": lambda: function(*args), "by hand": lambda: getattr(by_hand, name)(*given), **peers(name, data)}
    expected = flat(calls["by hand"]())
    for library, call in calls.items():
        if not agree(flat(call()), expected):
            raise AssertionError(f"{name}, n = {n}, T = {steps}: {library} is wrong")
    best = least(calls)
    own = best["matcalc"]
    cells = [f"{own / best['by hand']:.2f}", *(f"{best[k] / own:.1f}" if k in best else "" for k in PEERS)]
    print(name, n, steps, *cells, file=sys.stderr, flush=True)
    return f"| {name} | {n} | {steps:,} | {1e6 * own / steps:.2f} | {' | '.join(cells)} |"


def main() -> None:
    """Write the report, also after each row."""
    rows: list[str] = []
    for name, model in MODELS.items():
        for n, steps in model.grid:
            rows.append(row(name, n, steps))
            write(rows)
    for report in lengths.reports():
        write(rows, report)


def installed(library: str) -> str:
    """Return a library with its version, or that it is missing: its column is empty then."""
    try:
        return f"{library} {version(library.lower())}"
    except PackageNotFoundError:
        return f"no {library}"


def write(path: Path, rows: list[str], more: str = "") -> None:
    libraries = " | ".join(f"{k} / matcalc" for k in PEERS)
    versions = ", ".join(map(installed, ("Numba", "JAX", "Torch", "PyTensor", "CasADi")))
    load = " to ".join(f"{one:.0f}" for one in sorted({LOAD, os.getloadavg()[1]}))
    cores = f"{processor()}, {os.cpu_count()} cores with a load of {load} (of five minutes)"
    machine = f"{datetime.now(UTC):%Y-%m-%d}, {cores}, {versions}"
    text = f"""# Recurrences with gradients

Written by `python -m benchmarks.recurrences`. float64, one thread each, libraries in turn in one process, least
times. "by hand" is Numba with BLAS, adjoints derived by hand. JAX is `jax.lax.scan` under `jit`, PyTorch a loop,
PyTensor `scan` in its Numba mode, CasADi `mapaccum`. A ratio to the code by hand above 1 means that matcalc is slower,
one of a library above 1 that it is faster. All results agree to nine digits. Each model is compiled once, with the
typical sizes of n = 20.

{machine}.
Where the load exceeds the number of cores, ratios vary from run to run.

| model | n | T | us a step | matcalc / by hand | {libraries} |
|---|---:|---:|---:|---:|{"---:|" * len(PEERS)}
{chr(10).join(rows)}
"""
    path.write_text(text + more, encoding="utf-8")


def write_lengths() -> None:
    """Write the second part behind the first one that is there."""
    first = RESULTS.read_text(encoding="utf-8").partition(SECOND_PART)[0]
    for report in lengths.reports():
        RESULTS.write_text(first + report, encoding="utf-8")


if __name__ == "__main__":
    if os.environ.items() >= ONE_THREAD.items():
        write_lengths() if sys.argv[1:] == ["lengths"] else main(*map(Path, sys.argv[2:]))
    else:  # libraries read these when they are imported
        command = [sys.executable, "-m", "benchmarks.recurrences", *sys.argv[1:]]
        raise SystemExit(subprocess.run(command, env={**os.environ, **ONE_THREAD}).returncode)
