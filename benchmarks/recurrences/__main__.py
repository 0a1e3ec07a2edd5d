"""Times recurrences with gradients against hand-written Numba, JAX, PyTorch and CasADi.

    /path/to/python -m benchmarks.recurrences     writes results/recurrences.md

That Python needs matcalc on its path and the libraries to compare with. One thread each. In each round all libraries
run once in turn; a ratio is that of the least times.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
import tracemalloc
from collections.abc import Callable
from importlib import import_module
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
PEERS = {"JAX": "in_jax", "PyTorch": "in_torch", "CasADi": "in_casadi"}
SLOW = {"PyTorch": 1000, "CasADi": 1000}
"""The most steps that a library is given."""
SECONDS, FEWEST, MOST = 1.0, 5, 40


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


def lengths() -> list[str]:
    """Return rows of the seconds to compile, seconds a step and bytes at its peak, by the number of steps."""
    model, found = MODELS["rnn"], []
    for checkpoints in (None, "sqrt", 20):
        for steps in (10, 1000, 100_000):
            sizes = {"n": 20, "m": 10, "T": steps}
            start = time.perf_counter()
            function = mc.value_and_gradient(
                model.text, list(model.wrt), model.declarations, sizes=sizes, checkpoints=checkpoints
            )
            compiled, data = time.perf_counter() - start, model.data(20, steps)
            args = [data[k] for k in function.args]
            seconds = least({"": lambda function=function, args=args: function(*args)})[""]
            tracemalloc.start()
            function(*args)
            peak = tracemalloc.get_traced_memory()[1]
            tracemalloc.stop()
            code = len(function.source)
            cells = (f"{steps:,}", f"{compiled:.1f}", f"{code:,}", f"{1e6 * seconds / steps:.2f}", f"{peak / 1e6:.2f}")
            found.append(f"| {checkpoints or 'none'} | {' | '.join(cells)} |")
    return found


def main() -> None:
    """Write the report."""
    rows = [row(name, n, steps) for name, model in MODELS.items() for n, steps in model.grid]
    libraries = " | ".join(f"{k} / matcalc" for k in PEERS)
    text = f"""# Recurrences with gradients

Written by `python -m benchmarks.recurrences`. float64, one thread each, libraries in turn in one process, least
times. "by hand" is Numba with BLAS, adjoints derived by hand. JAX is `jax.lax.scan` under `jit`, PyTorch a loop, CasADi
`mapaccum`. A ratio to the code by hand above 1 means that matcalc is slower, one of a library above 1 that it is
faster. All results agree to nine digits. Each model is compiled once, with the typical sizes of n = 20.

| model | n | T | us a step | matcalc / by hand | {libraries} |
|---|---:|---:|---:|---:|{"---:|" * len(PEERS)}
{chr(10).join(rows)}

## Length and stored states

The recurrent network, n = 20, value and gradients. Seconds to compile are those with an empty cache.

| checkpoints | T | seconds to compile | characters of source | us a step | peak MB |
|---|---:|---:|---:|---:|---:|
{chr(10).join(lengths())}
"""
    RESULTS.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    if os.environ.items() >= ONE_THREAD.items():
        main()
    else:  # libraries read these when they are imported
        command = [sys.executable, "-m", "benchmarks.recurrences"]
        raise SystemExit(subprocess.run(command, env={**os.environ, **ONE_THREAD}).returncode)
