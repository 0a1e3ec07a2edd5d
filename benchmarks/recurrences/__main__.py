"""Times recurrences with gradients against hand-written Numba, JAX, PyTorch, PyTensor and CasADi.

    /path/to/python -m benchmarks.recurrences     writes results/recurrences.md

That Python needs matcalc on its path and the libraries to compare with. One thread each. In each round all libraries
run once in turn; a ratio is that of the least times.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from datetime import UTC, datetime
from importlib import import_module
from importlib.metadata import version
from pathlib import Path

import numpy as np

import matcalc as mc
from benchmarks.recurrences import by_hand
from benchmarks.recurrences.models import MODELS, Data

ONE_THREAD = {
    **{f"{library}_NUM_THREADS": "1" for library in ("OMP", "OPENBLAS", "MKL")},
    "XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1",
}
RESULTS = Path(__file__).parents[1] / "results" / "recurrences.md"
PEERS = {"JAX": "in_jax", "PyTorch": "in_torch", "PyTensor": "in_pytensor", "CasADi": "in_casadi"}
SLOW = {"PyTorch": 100, "CasADi": 1000}
"""The most steps that a library is given."""
SECONDS, FEWEST, MOST = 0.5, 5, 40
LOAD = os.getloadavg()[1]
LENGTHS = """
## Length and stored states

The recurrent network, n = 20, value and gradients, compiled without a cache, each in a process of its own. The peak is
that of the resident memory during one call, beyond the data.

| checkpoints | T | seconds to compile | characters of source | us a step | peak MB |
|---|---:|---:|---:|---:|---:|
"""


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


def least(calls: dict[str, Callable[[], object]]) -> dict[str, float]:
    """Return the least seconds of each call, run in turn."""
    best = dict.fromkeys(calls, float("inf"))
    begin, rounds = time.perf_counter(), 0
    while rounds < FEWEST or (rounds < MOST and time.perf_counter() - begin < SECONDS * len(calls)):
        for name, call in calls.items():
            start = time.perf_counter()
            call()
            best[name] = min(best[name], time.perf_counter() - start)
        rounds += 1
    return best


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


def length_row(checkpoints: str, steps: int) -> str:
    """Return the seconds to compile, the length of the source, seconds a step and bytes at the peak of a call."""
    model, option = MODELS["rnn"], int(checkpoints) if checkpoints.isdecimal() else checkpoints
    text = model.text.replace("h[t+1] - y", "h[t] - y")  # an adjoint that reads states after the step stores them
    start = time.perf_counter()
    function = mc.value_and_gradient(
        text,
        list(model.wrt),
        model.declarations,
        sizes={**model.sizes, "T": steps},
        checkpoints=None if option == "none" else option,
    )
    compiled, data = time.perf_counter() - start, model.data(20, steps)
    args = [data[k] for k in function.args]
    small = model.data(20, 2)
    function(*[small[k] for k in function.args])
    Path("/proc/self/clear_refs").write_text("5")  # resets the peak
    before = resident("VmRSS")
    function(*args)
    peak = resident("VmHWM") - before
    seconds = least({"": lambda: function(*args)})[""]
    cells = (f"{compiled:.1f}", f"{len(function.source):,}", f"{1e6 * seconds / steps:.2f}", f"{peak:.1f}")
    return f"| {checkpoints} | {steps:,} | {' | '.join(cells)} |"


def resident(field: str) -> float:
    """Return the resident memory of this process, or its peak, in megabytes (Linux)."""
    lines = Path("/proc/self/status").read_text(encoding="utf-8").splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(field)) / 1024


def lengths() -> list[str]:
    """Return a row for each number of steps, each compiled in a process of its own without a cache."""
    found = []
    for checkpoints in ("none", "sqrt", "20"):
        for steps in (10, 1000, 100_000):
            command = [sys.executable, "-m", "benchmarks.recurrences", checkpoints, str(steps)]
            env = {**os.environ, "MATCALC_CACHE": "0"}
            found.append(subprocess.run(command, env=env, capture_output=True, text=True, check=True).stdout.strip())
    return found


def main() -> None:
    """Write the report, also after each row."""
    rows: list[str] = []
    for name, model in MODELS.items():
        for n, steps in model.grid:
            rows.append(row(name, n, steps))
            write(rows, [])
    write(rows, lengths())


def write(rows: list[str], more: list[str]) -> None:
    libraries = " | ".join(f"{k} / matcalc" for k in PEERS)
    versions = ", ".join(f"{name} {version(name.lower())}" for name in ("Numba", "JAX", "Torch", "PyTensor", "CasADi"))
    load = " to ".join(f"{one:.0f}" for one in sorted({LOAD, os.getloadavg()[1]}))
    machine = (
        f"{datetime.now(UTC):%Y-%m-%d}, {os.cpu_count()} cores with a load of {load} (of five minutes), {versions}"
    )
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
    RESULTS.write_text(text + (LENGTHS + "\n".join(more) + "\n" if more else ""), encoding="utf-8")


if __name__ == "__main__":
    if os.environ.items() >= ONE_THREAD.items():
        print(length_row(sys.argv[1], int(sys.argv[2]))) if sys.argv[1:] else main()
    else:  # libraries read these when they are imported
        command = [sys.executable, "-m", "benchmarks.recurrences", *sys.argv[1:]]
        raise SystemExit(subprocess.run(command, env={**os.environ, **ONE_THREAD}).returncode)
