"""Times compilation from a formula to machine code, against JAX: `/path/to/python -m benchmarks.compile_times`.

Each problem of `problems.toml` is compiled by matcalc from text, and by JAX with `jax.jit(f).lower(*args).compile()` at
the medium size, in a process that has compiled another formula before. Kernels are in the disk cache; functions are
not, because each has a new name. The minimum over the processes counts. Writes results/compile.md: milliseconds of
both, of matcalc by stage, and their ratio.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any

HERE = Path(__file__).resolve().parent
THREADS = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")
STAGES = ("derive", "simplify", "plan", "emit", "kernels", "compile")
Times = dict[str, dict[str, float]]


def main() -> None:
    options = arguments()
    sys.path[:0] = [str(HERE), str(HERE.parent)]
    if options.one:
        print(json.dumps(measured(options.one, options.only.split(",") if options.only else [])))
        return
    with tempfile.TemporaryDirectory() as folder:
        environment = {"MATCALC_CACHE": folder, **os.environ, **dict.fromkeys(THREADS, "1")}
        command = [sys.executable, str(Path(__file__).resolve()), "--only", options.only, "--one"]
        turns = []
        for turn in range(options.turns + 1):
            done = subprocess.run(
                [*command, f"f{turn}_{os.getpid()}"], env=environment, stdout=subprocess.PIPE, check=True
            )
            turns.append(json.loads(done.stdout))
    found = {name: least([turn[name] for turn in turns[1:]]) for name in turns[0]}
    text = table(found, turns[0])
    print(text)
    if not options.only:
        (HERE / "results" / "compile.md").write_text(text, encoding="utf-8")


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="problems, by name: printed, not written")
    parser.add_argument("--turns", type=int, default=3, help="processes, after one that compiles the kernels")
    parser.add_argument("--one", default="", help=argparse.SUPPRESS)
    return parser.parse_args()


def measured(name: str, only: list[str]) -> Times:
    """Return the seconds that compiling each problem takes in this process, with new names of the functions."""
    own, jax = importlib.import_module("peer_matcalc"), importlib.import_module("peer_jax")
    problems = importlib.import_module("problems").load("problems")
    before = next(p for p in problems if p.name == "pseudo_huber")
    own.compiled(before, f"{name}_before")
    lowered(jax, before)
    found: Times = {}
    for problem in problems:
        if only and problem.name not in only:
            continue
        start = perf_counter()
        fn = own.compiled(problem, name)
        found[problem.name] = {"matcalc": perf_counter() - start}
        found[problem.name] |= {stage: fn.stats.get(stage, 0.0) for stage in STAGES}
        found[problem.name]["jax"] = lowered(jax, problem)
    return found


def lowered(jax: Any, problem: Any) -> float:
    """Return the seconds that JAX takes; infinite if it cannot compile the problem."""
    data = problem.data("medium")
    if problem.gives == "pullback":
        shape = importlib.import_module("measure").value_shape(problem, data)
        data[importlib.import_module("problems").FORWARD_SEED] = problem.cotangent(shape)
    try:
        run, args = jax.jitted(problem, data)
        start = perf_counter()
        run.lower(*args).compile()
    except (AttributeError, NotImplementedError, TypeError):
        return float("inf")
    return perf_counter() - start


def least(turns: list[dict[str, float]]) -> dict[str, float]:
    """Return the stages of matcalc's fastest round, and JAX's shortest time."""
    return {**min(turns, key=lambda turn: turn["matcalc"]), "jax": min(turn["jax"] for turn in turns)}


def table(found: Times, first: Times) -> str:
    """Return the table; `first` holds the times with an empty cache."""
    lines = ["# From a formula to machine code, ms", "", (__doc__ or "").split("\n\n", 1)[1].strip(), ""]
    lines += [f"| problem | matcalc | JAX | ratio | {' | '.join(STAGES)} | nothing cached |"]
    lines.append("|---|---:|---:|---:|" + "---:|" * len(STAGES) + "---:|")
    ratios = {name: row["matcalc"] / row["jax"] for name, row in found.items() if row["jax"] < float("inf")}
    for name, row in found.items():
        stages = " | ".join(f"{row[stage] * 1e3:.0f}" for stage in STAGES)
        others = f"{row['jax'] * 1e3:.0f} | {ratios[name]:.2f}" if name in ratios else "- | -"
        cold = first[name]["matcalc"] * 1e3
        lines.append(f"| {name} | {row['matcalc'] * 1e3:.0f} | {others} | {stages} | {cold:.0f} |")
    worst = max(ratios, key=lambda name: ratios[name])
    lines += ["", f"Ratio: median {median(ratios.values()):.2f}, worst {ratios[worst]:.2f} ({worst})."]
    middle = {stage: median(row[stage] for row in found.values()) * 1e3 for stage in ("matcalc", *STAGES)}
    lines.append(f"Median ms: {', '.join(f'{stage} {ms:.0f}' for stage, ms in middle.items())}.")
    return "\n".join([*lines, ""])


if __name__ == "__main__":
    main()
