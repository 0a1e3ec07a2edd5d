"""Measure matcalc against other libraries and code by hand: `python benchmarks/run.py [--help]`.

All libraries that are installed run in one process on the same NumPy arrays, in turns, the collector off; the
time of each is its best round, so that other load on the machine hits all alike. Every result is compared with
the code by hand; a wrong one is marked and counts for nothing. Prints Markdown.
"""

from __future__ import annotations

import os

THREADS = {name: os.environ.get(name, "1") for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")}
os.environ.update(THREADS)  # before NumPy is loaded

import argparse
import gc
import importlib
import platform
import sys
import tempfile
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version
from math import exp, log
from pathlib import Path
from time import perf_counter
from typing import Any

sys.path[:0] = [str(Path(__file__).resolve().parent), str(Path(__file__).resolve().parent.parent)]

import numpy as np
from problems import FORWARD_SEED, SIZES, Problem, load
from startup import startup_table

PEERS = ("jax", "torch", "pytensor", "autograd")
TOLERANCE = 1e-6
ROUND = 2e-3  # seconds that a round of calls is to last
SLOW = 0.6  # seconds beyond which a call is timed once


@dataclass
class Timing:
    """What one library does on one problem and size."""

    library: str
    first: float = 0.0
    best: float = float("inf")
    calls: int = 1
    rounds: int = 0
    wrong: bool = False
    call: Any = field(default=None, repr=False)


def main() -> None:
    options = arguments()
    folder = tempfile.TemporaryDirectory()
    os.environ.setdefault("MATCALC_CACHE", folder.name)
    libraries = available([n for n in options.peers.split(",") if n])
    problems = [p for p in load() if not options.only or p.name in options.only.split(",")]
    print(header(libraries), flush=True)
    if not options.no_speed:
        names = list(libraries)
        print(f"\n| problem | size | matcalc, us | {' | '.join(n for n in names if n != 'matcalc')} |")
        print("|---|---|---:|" + "---:|" * (len(names) - 1), flush=True)
        results = {}
        for problem in problems:
            for size in options.sizes.split(","):
                found = measure(problem, size, libraries, options.seconds)
                results[problem, size] = found
                print(row(problem, size, names, found), flush=True)
        print(summary(results, names))
        print(compile_times(results))
    if not options.no_startup:
        print(startup_table(libraries))


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--peers", default=",".join(PEERS), help="libraries to compare with (those missing are skipped)")
    parser.add_argument("--sizes", default=",".join(SIZES))
    parser.add_argument("--only", default="", help="problems, by name")
    parser.add_argument("--seconds", type=float, default=0.1, help="timed calls per library, problem and size")
    parser.add_argument("--no-speed", action="store_true", help="only call overhead and startup")
    parser.add_argument("--no-startup", action="store_true", help="only the problems")
    return parser.parse_args()


def available(peers: list[str]) -> dict[str, Any]:
    """Import the adapters; a library that is not installed is left out."""
    libraries = {"expert": importlib.import_module("expert"), "matcalc": importlib.import_module("peer_matcalc")}
    for name in peers:
        try:
            libraries[name] = importlib.import_module(f"peer_{name}")
        except ImportError as missing:
            print(f"without {name}: {missing}", file=sys.stderr)
    return libraries


def header(libraries: dict[str, Any]) -> str:
    lines = ["# Benchmark", ""]
    found = [f"{name} {installed(name)}" for name in ("numpy", "scipy", "numba", *libraries) if installed(name)]
    lines.append(f"Python {platform.python_version()}, {', '.join(dict.fromkeys(found))}.")
    lines.append(f"{', '.join(f'{k}={v}' for k, v in THREADS.items())}; {os.cpu_count()} cores.")
    core = os.environ.get("OPENBLAS_CORETYPE")
    lines.append(f"OPENBLAS_CORETYPE={core} (set: OpenBLAS may run below its best)." if core else "OPENBLAS_CORETYPE not set.")
    lines.append("Columns after matcalc: time of that library / time of matcalc; x: wrong result; -: not able.")
    return "\n".join(lines)


def installed(name: str) -> str:
    try:
        return version({"matcalc": "matcalc-compiler"}.get(name, name))
    except PackageNotFoundError:
        return ""


# ---- one problem and size


def measure(problem: Problem, size: str, libraries: dict[str, Any], seconds: float) -> list[Timing]:
    """Time all libraries in turns."""
    data = problem.data(size)
    if problem.gives == "pullback":
        data[FORWARD_SEED] = problem.cotangent(value_shape(problem, data))
    reference: list[np.ndarray] = []
    timings = []
    for name, library in libraries.items():
        timing = Timing(name)
        try:
            start = perf_counter()
            timing.call = library.build(problem, data)
            result = flat(timing.call())
            timing.first = perf_counter() - start
        except (AttributeError, NotImplementedError, TypeError) as lacking:
            print(f"{problem.name} {size}: {name}: {lacking}", file=sys.stderr)
            continue
        reference = reference or result
        timing.wrong = not agree(reference, result, problem)
        timings.append(timing)
    gc.collect()
    gc.disable()
    for timing in timings:
        calibrate(timing, seconds)
    for turn in range(max(t.rounds for t in timings)):
        for timing in timings:
            if turn < timing.rounds:
                timing.best = min(timing.best, once(timing))
    gc.enable()
    return timings


def value_shape(problem: Problem, data: dict[str, Any]) -> tuple[int, ...]:
    inv = {"ns": type("Functions", (), {"inv": staticmethod(np.linalg.inv)})}
    return np.shape(eval(problem.python, inv, dict(data)))


def calibrate(timing: Timing, seconds: float) -> None:
    """Choose how many calls make a round, and how many rounds there are."""
    timing.best = once(timing)
    if timing.best > SLOW:
        return
    for _ in range(2):
        timing.calls = max(1, int(ROUND / timing.best))
        timing.best = min(timing.best, once(timing))
    timing.rounds = max(3, min(40, int(seconds / (timing.best * timing.calls))))


def once(timing: Timing) -> float:
    call, calls = timing.call, timing.calls
    start = perf_counter()
    for _ in range(calls):
        call()
    return (perf_counter() - start) / calls


def flat(result: Any) -> list[np.ndarray]:
    """Return nested results as a list of arrays."""
    if isinstance(result, (tuple, list)):
        return [array for part in result for array in flat(part)]
    return [np.asarray(result)]


def agree(reference: list[np.ndarray], result: list[np.ndarray], problem: Problem) -> bool:
    """Whether results are equal to six digits; gradients in symmetric symbols as symmetric matrices."""
    if len(reference) != len(result):
        return False
    for want, got in zip(reference, result, strict=True):
        got = got.reshape(want.shape) if got.size == want.size else got
        if got.shape != want.shape:
            return False
        if any(problem.facts.get(w) in ("symmetric", "spd") for w in problem.wrt) and want.ndim == 2:
            got = (got + got.T) / 2
        if not np.max(np.abs(got - want), initial=0.0) <= TOLERANCE * np.max(np.abs(want), initial=1e-300):
            return False
    return True


# ---- tables


def row(problem: Problem, size: str, names: list[str], timings: list[Timing]) -> str:
    by_name = {t.library: t for t in timings}
    own = by_name["matcalc"]
    cells = []
    for name in names:
        if name == "matcalc":
            continue
        timing = by_name.get(name)
        cells.append("-" if timing is None else "x" if timing.wrong else f"{timing.best / own.best:.2f}")
    mark = " x" if own.wrong else ""
    return f"| {problem.name} | {size} | {own.best * 1e6:.4g}{mark} | {' | '.join(cells)} |"


def summary(results: dict[tuple[Problem, str], list[Timing]], names: list[str]) -> str:
    """Return geometric means of matcalc's time over that of each library, and of the fastest peer."""
    sizes = list(dict.fromkeys(size for _, size in results))
    lines = ["\n## Time of matcalc / time of a library, geometric mean\n"]
    lines += [f"| library | {' | '.join(sizes)} |", "|---|" + "---:|" * len(sizes)]
    columns: dict[str, dict[str, list[float]]] = {}
    losing: list[tuple[float, str]] = []
    for (problem, size), timings in results.items():
        own = next(t for t in timings if t.library == "matcalc")
        right = {t.library: own.best / t.best for t in timings if not t.wrong and t.library != "matcalc"}
        peers = {name: ratio for name, ratio in right.items() if name != "expert"}
        if own.wrong:
            losing.append((float("inf"), f"{problem.name} {size}: WRONG"))
            continue
        if peers:
            name, ratio = max(peers.items(), key=lambda item: item[1])
            right["fastest peer"] = ratio
            if ratio > 1:
                losing.append((ratio, f"{problem.name} {size}: {ratio:.2f} of {name}"))
        for name, ratio in right.items():
            columns.setdefault(name, {}).setdefault(size, []).append(ratio)
    for name in ("fastest peer", *names):
        if name in columns:
            cells = [f"{mean(columns[name].get(size, [])):.2f}" for size in sizes]
            lines.append(f"| {name} | {' | '.join(cells)} |")
    worst = [text for _, text in sorted(losing, reverse=True)]
    lines.append(f"\nSlower than the fastest peer: {'; '.join(worst) or 'nowhere'}.")
    return "\n".join(lines)


def mean(ratios: list[float]) -> float:
    return exp(sum(map(log, ratios)) / len(ratios)) if ratios else float("nan")


def compile_times(results: dict[tuple[Problem, str], list[Timing]]) -> str:
    """Return seconds from the formula to the first result, at the first size of each problem."""
    first: dict[str, dict[str, float]] = {}
    for (problem, _), timings in results.items():
        for timing in timings:
            first.setdefault(timing.library, {}).setdefault(problem.name, timing.first)
    lines = ["\n## Seconds from the formula to the first result (what was compiled for earlier problems is shared)\n"]
    lines += ["| library | median | worst | |", "|---|---:|---:|---|"]
    for name, by_problem in first.items():
        times = sorted((seconds, problem) for problem, seconds in by_problem.items())
        lines.append(f"| {name} | {times[len(times) // 2][0]:.3f} | {times[-1][0]:.2f} | {times[-1][1]} |")
    return "\n".join(lines)


if __name__ == "__main__":
    main()
