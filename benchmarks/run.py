"""Measures matcalc against other libraries and hand-written code: `python benchmarks/run.py [--help]`.

All installed libraries run in one process on the same NumPy arrays, in alternation, without garbage collection. The
best round counts, so other load on the machine affects all equally. Every result is compared with the hand-written
code; a wrong one is marked and not counted. Prints Markdown.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import platform
import sys
import tempfile
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from types import ModuleType
from typing import Any

PEERS = ("jax", "torch", "pytensor", "autograd")
THREADS = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")


def main() -> None:
    options = arguments()
    here = Path(__file__).resolve().parent
    sys.path[:0] = [str(here), str(here.parent)]
    for name in THREADS:  # before NumPy is loaded
        os.environ.setdefault(name, "1")
    with tempfile.TemporaryDirectory() as folder:
        os.environ.setdefault("MATCALC_CACHE", folder)
        libraries = available(options.problems, [n for n in options.peers.split(",") if n])
        print(header(libraries), flush=True)
        if not options.no_problems:
            compare(libraries, options)
        if not options.no_startup:
            startup = importlib.import_module("startup")
            print(startup.startup_table(libraries))


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--peers", default=",".join(PEERS), help="compare with these; missing ones are skipped")
    parser.add_argument(
        "--problems", default="problems", help="or operations: of linear algebra, beside bare LAPACK calls"
    )
    parser.add_argument("--sizes", default="tiny,small,medium,large")
    parser.add_argument("--only", default="", help="problems, by name")
    parser.add_argument("--seconds", type=float, default=0.1, help="of timed calls per library and size")
    parser.add_argument("--json", default="", help="write every time to this file too; plots.py draws it")
    parser.add_argument("--no-problems", action="store_true", help="only call overhead and startup")
    parser.add_argument("--no-startup", action="store_true", help="only the problems")
    return parser.parse_args()


def available(problems: str, peers: list[str]) -> dict[str, ModuleType]:
    """Import the adapters; a library that is not installed is left out."""
    modules = {"expert": f"expert_{problems}", "matcalc": "peer_matcalc"}
    if problems == "operations":
        modules["bare"] = "lapack_bound"
    libraries = {name: importlib.import_module(module) for name, module in modules.items()}
    for name in peers:
        try:
            libraries[name] = importlib.import_module(f"peer_{name}")
        except ImportError as missing:
            print(f"without {name}: {missing}", file=sys.stderr)
    return libraries


def header(libraries: dict[str, ModuleType]) -> str:
    """Return the conditions of the measurement: versions, threads, OpenBLAS's core type."""
    found = {name: installed(name) for name in ("numpy", "scipy", "numba", *libraries)}
    versions = ", ".join(f"{name} {text}" for name, text in found.items() if text)
    core = os.environ.get("OPENBLAS_CORETYPE")
    return "\n".join(
        [
            "# Benchmark",
            "",
            f"Python {platform.python_version()}, {versions}; {os.cpu_count()} cores.",
            ", ".join(f"{name}={os.environ[name]}" for name in THREADS),
            f"OPENBLAS_CORETYPE={core}: it may hold OpenBLAS back" if core else "OPENBLAS_CORETYPE is not set",
        ]
    )


def installed(name: str) -> str:
    try:
        return version({"matcalc": "matcalc-compiler"}.get(name, name))
    except PackageNotFoundError:
        return ""


def compare(libraries: dict[str, ModuleType], options: argparse.Namespace) -> None:
    """Print the tables of all problems and sizes, a row as soon as it is measured."""
    load = importlib.import_module("problems").load
    measure = importlib.import_module("measure").measure
    tables = importlib.import_module("tables")
    chosen = options.only.split(",") if options.only else []
    print("\n" + tables.head(libraries))
    results = {}
    for problem in load(options.problems):
        if chosen and problem.name not in chosen:
            continue
        for size in (s for s in options.sizes.split(",") if s in problem.lengths):
            results[problem.name, size] = measure(problem, size, libraries, options.seconds)
            print(tables.row(problem.name, size, libraries, results[problem.name, size]), flush=True)
            if options.json:
                save(results, options.json, libraries)
    print(tables.summary(results, libraries))
    print(tables.compile_times(results))


def save(results: dict[Any, Any], path: str, libraries: dict[str, ModuleType]) -> None:
    """Write the results so far as JSON: the conditions, and a record for each library, problem and size."""
    machine = {"header": header(libraries), "processor": platform.processor(), "threads": os.environ[THREADS[0]]}
    records = [
        {"problem": problem, "size": size, "entries": t.entries, "library": t.library, "seconds": t.best,
         "first": t.first, "wrong": t.wrong}
        for (problem, size), timings in results.items()
        for t in timings
    ]  # fmt: skip
    Path(path).write_text(json.dumps({"machine": machine, "records": records}, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
