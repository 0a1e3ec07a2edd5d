"""Measures the peak memory of a call beyond its data, against hand-written code: `python -m benchmarks.peak_memory`.

Each problem of `problems.toml` runs at its large size, by matcalc and by hand-written code, each in a process of its
own. The process first calls at the tiny size, so that everything is loaded. Then it creates the data and measures the
peak resident memory of one call (Linux: `/proc/self`). The minimum of two processes counts. Writes
results/peak_memory.md.
"""

from __future__ import annotations

import argparse
import importlib
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
WAYS = {"matcalc": "peer_matcalc", "by hand": "expert_problems"}
TURNS = 2
MEGABYTE = 2.0**20
PAGES = 0.3
"""Megabytes by which two runs of one program may differ; smaller differences are ignored."""


def main() -> None:
    options = arguments()
    sys.path[:0] = [str(HERE), str(HERE.parent)]
    if options.one:
        print(measured(*options.one))
        return
    chosen = options.only.split(",") if options.only else []
    rows = []
    for problem in importlib.import_module("problems").load("problems"):
        if not chosen or problem.name in chosen:
            rows.append(row(problem))
            print(rows[-1][0], flush=True)
    if not chosen:
        text = table([line for line, _ in rows], [ratio for _, ratio in rows])
        (HERE / "results" / "peak_memory.md").write_text(text, encoding="utf-8")


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="problems, by name: printed, not written")
    parser.add_argument("--one", nargs=2, help=argparse.SUPPRESS)
    return parser.parse_args()


def row(problem: Any) -> tuple[str, float]:
    """Return a row of the table, and the ratio in it."""
    given, made = sizes_of(problem)
    found = {way: min(in_process(problem.name, way) for _ in range(TURNS)) for way in WAYS}
    own, by_hand = found["matcalc"], found["by hand"]
    ratio = max(own, PAGES) / max(by_hand, PAGES)
    return f"| {problem.name} | {given:.1f} | {made:.1f} | {own:.1f} | {by_hand:.1f} | {ratio:.2f} |", ratio


def sizes_of(problem: Any) -> tuple[float, float]:
    """Return the megabytes of data and of results."""
    import numpy as np

    data = data_of(problem, "large")
    results = importlib.import_module("measure").flat(importlib.import_module(WAYS["by hand"]).build(problem, data)())
    return tuple(sum(np.asarray(a).nbytes for a in arrays) / MEGABYTE for arrays in (data.values(), results))  # type: ignore[return-value]


def data_of(problem: Any, size: str) -> dict[str, Any]:
    """Return the data of a problem with the cotangent of a pullback."""
    data: dict[str, Any] = problem.data(size)
    if problem.gives == "pullback":
        shape = importlib.import_module("measure").value_shape(problem, data)
        data[importlib.import_module("problems").FORWARD_SEED] = problem.cotangent(shape)
    return data


def in_process(name: str, way: str) -> float:
    """Return the megabytes measured in a process of its own."""
    command = [sys.executable, str(Path(__file__).resolve()), "--one", name, way]
    threads = {f"{library}_NUM_THREADS": "1" for library in ("OPENBLAS", "OMP", "MKL")}
    done = subprocess.run(command, env={**os.environ, **threads}, capture_output=True, text=True, check=True)
    return float(done.stdout)


def measured(name: str, way: str) -> float:
    """Return the peak resident memory of one call at the large size beyond that before it, in megabytes."""
    (problem,) = (p for p in importlib.import_module("problems").load("problems") if p.name == name)
    build = importlib.import_module(WAYS[way]).build
    build(problem, data_of(problem, "tiny"))()
    call = build(problem, data_of(problem, "large"))
    Path("/proc/self/clear_refs").write_text("5")  # resets the peak
    before = status("VmRSS")
    call()
    return (status("VmHWM") - before) / 1024


def status(field: str) -> int:
    """Return kilobytes of a field of the state of this process."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(f"{field}:"))


def table(lines: list[str], ratios: list[float]) -> str:
    import numpy as np

    head = ["# Memory of a call at its most, above the data, MB", "", (__doc__ or "").split("\n\n", 1)[1].strip(), ""]
    head += ["| problem | data | results | matcalc | by hand | ratio |", "|---|---:|---:|---:|---:|---:|"]
    over = sum(ratio > 1.2 for ratio in ratios)
    middle = float(np.exp(np.mean(np.log(ratios))))
    summary = f"Geometric mean of the ratios {middle:.2f}, worst {max(ratios):.2f}, {over} of {len(ratios)} above 1.2."
    return "\n".join([*head, *lines, "", f"{summary} Less than {PAGES} MB counts as that.", ""])


if __name__ == "__main__":
    main()
