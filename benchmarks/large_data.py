"""Measures fits whose rows are read from files: memory and time by number of rows, beside a bare pass over the files.

    python -m benchmarks.large_data --folder FOLDER [--rows 50000000]      writes results/large_data.md

Logistic regression, `sum(softplus(-y.*(X*w)))` with its gradient, on generated rows of 50 float64 columns. Each number
is measured in a process of its own on one thread. A bare pass sums the entries of each block of `np.memmap`, or only
touches each page. Files are dropped from the page cache before each pass.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.large_rows import COLUMNS, forget, written

LOSS = "sum(softplus(-y.*(X*w)))"
LET = "X: matrix(m, n); y: vector(m); w: vector(n)"
RESULTS = Path(__file__).parent / "results" / "large_data.md"
THREADS = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")
GIB = 2**30


def peak() -> int:
    """Return the peak resident memory of this process in bytes, mapped files included."""
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) * 1024 for line in status if line.startswith("VmHWM"))


def loss() -> Any:
    """Return the compiled loss, called once."""
    import matcalc as mc

    s = mc.split(LOSS, over="m", wrt="w", declarations=LET)
    s.over([{"X": np.ones((2, COLUMNS)), "y": np.ones(2)}], w=np.ones(COLUMNS))
    return s


def one_pass(paths: dict[str, str], threads: int) -> dict[str, float]:
    """Time one value and gradient."""
    s = loss()
    before, start = peak(), time.perf_counter()
    s.npy(paths, w=np.ones(COLUMNS), threads=threads)
    return {"seconds": time.perf_counter() - start, "peak": peak(), "before": before}


def bare(paths: dict[str, str], way: str) -> dict[str, float]:
    """Time a pass over the entries of `np.memmap`: their sum, or one entry of each page."""
    start, total = time.perf_counter(), 0.0
    for path in paths.values():
        rows = np.load(path, mmap_mode="r").reshape(-1)
        if way == "touch":
            total += float(np.sum(rows[::512]))
        else:
            total += sum(float(np.sum(rows[k : k + 2**22])) for k in range(0, len(rows), 2**22))
    return {"seconds": time.perf_counter() - start, "total": total}


def read(paths: dict[str, str]) -> dict[str, float]:
    """Time reading the files without any computation."""
    start, buffer = time.perf_counter(), bytearray(2**25)
    for path in paths.values():
        with open(path, "rb", buffering=0) as file:
            while file.readinto(buffer):
                pass
    return {"seconds": time.perf_counter() - start}


def fit(paths: dict[str, str]) -> dict[str, float]:
    """Fit to a gradient of a relative 1e-6 with SciPy's L-BFGS."""
    from scipy.optimize import minimize

    s, passes = loss(), 0
    rows = np.load(paths["y"], mmap_mode="r").shape[0]

    def both(w: np.ndarray) -> tuple[float, np.ndarray]:
        nonlocal passes
        passes += 1
        value, gradient = s.npy(paths, w=w)
        return value / rows, gradient / rows

    start = time.perf_counter()
    found = minimize(both, np.zeros(COLUMNS), jac=True, method="L-BFGS-B", options={"gtol": 1e-6, "ftol": 1e-12})
    slope = float(np.max(np.abs(found.jac)))
    return {
        "seconds": time.perf_counter() - start,
        "passes": passes,
        "peak": peak(),
        "slope": slope,
        "value": found.fun,
    }


def in_process(folder: Path, rows: int, *words: str) -> dict[str, float]:
    """Return the measurement of this module with these arguments, in a process of its own on one thread."""
    environment = {**os.environ, **dict.fromkeys(THREADS, "1")}
    environment.pop("OPENBLAS_CORETYPE", None)
    command = [
        sys.executable,
        "-m",
        "benchmarks.large_data",
        "--folder",
        str(folder),
        "--rows",
        str(rows),
        "--do",
        *words,
    ]
    done = subprocess.run(command, check=True, capture_output=True, text=True, env=environment)
    found: dict[str, float] = json.loads(done.stdout)
    return found


def report(folder: Path, most: int) -> str:
    """Return the page of results."""
    heads = ("rows", "size", "bare read", "`np.memmap`, pages touched", "`np.memmap`, summed", "value and gradient",
             "in 2 threads", "over the sum", "peak memory")  # fmt: skip
    lines = [f"| {' | '.join(heads)} |", "|---:" * len(heads) + "|"]
    for rows in [r for r in (100_000, 1_000_000, 10_000_000) if r < most] + [most]:
        paths = written(folder, rows)
        ways = {way: in_process(folder, rows, *way.split()) for way in ("read", "touch", "sum", "pass 1", "pass 2")}
        seconds = {way: one["seconds"] for way, one in ways.items()}
        size = sum(os.path.getsize(path) for path in paths.values())
        times = [f"{seconds[way]:.2f} s" for way in ways]
        most_memory = max(ways[way]["peak"] for way in ("pass 1", "pass 2")) / GIB
        cells = [f"{rows:,}", f"{size / 1e9:.2f} GB", *times, f"{seconds['pass 1'] / seconds['sum']:.2f}"]
        lines.append(f"| {' | '.join(cells)} | {most_memory:.2f} GiB |")
        print(lines[-1], flush=True)
    done = in_process(folder, most, "fit")
    fit_text = (
        f"The whole fit of {most:,} rows by L-BFGS: {done['passes']} passes, {done['seconds']:.0f} s, "
        f"{done['seconds'] / done['passes']:.1f} s each, a greatest slope of {done['slope']:.1e} per row, "
        f"peak memory {done['peak'] / GIB:.2f} GiB."
    )
    load = f"Load of the machine at the end: {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores."
    lead = (__doc__ or "").strip()
    return "\n".join(["# Large data", "", lead, "", *lines, "", fit_text, "", load, ""])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--rows", type=int, default=50_000_000)
    parser.add_argument("--do", nargs="+")
    arguments = parser.parse_args()
    if not arguments.do:
        text = report(arguments.folder, arguments.rows)
        RESULTS.write_text(text)
        return print(text)
    paths = written(arguments.folder, arguments.rows)
    for path in paths.values():
        forget(path)
    what, *more = arguments.do
    found = (
        one_pass(paths, int(more[0])) if what == "pass"
        else fit(paths) if what == "fit"
        else read(paths) if what == "read"
        else bare(paths, what)
    )  # fmt: skip
    print(json.dumps(found))


if __name__ == "__main__":
    main()
