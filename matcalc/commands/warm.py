"""Implements `matcalc warm`: compiles kernels for this machine or a wheel, and chooses BLAS by measurement."""

from __future__ import annotations

import argparse
import sys
import time

from matcalc.commands.handlers import complain
from matcalc.compiler.numba.private_members import removed


def warm(arguments: argparse.Namespace) -> int:
    """Compile all kernels, or the shipped files of a wheel, or measure a BLAS, or delete a measured choice."""
    if arguments.forget and arguments.measure:
        return complain("--forget undoes what --measure has chosen: give one of them")
    if arguments.blas and not arguments.measure:
        return complain("--blas names the library that --measure tries: give both")
    if arguments.jobs < 0:
        return complain("--jobs takes a number of processes, 1 or more")
    if arguments.ship and (arguments.forget or arguments.measure):
        return complain("--ship makes files for a wheel and measures nothing: give it alone")
    if arguments.forget:
        return forget()
    if removed():
        return complain(f"no code can be compiled ahead: {removed()[0]} is not there")
    if arguments.ship:
        return ship(arguments.jobs)
    compile_all(arguments.jobs, arguments.quiet)
    return measure(arguments.blas or "mkl") if arguments.measure else 0


def compile_all(jobs: int, is_quiet: bool) -> None:
    from matcalc.compiler.call import warm as warming
    from matcalc.store.cache_folder import cache_folder

    def progress(name: str, done: int, count: int) -> None:
        print(f"\r{done} of {count}: {name}\x1b[K", end="" if done < count else "\r\x1b[K", file=sys.stderr, flush=True)

    start = time.perf_counter()
    shown = None if is_quiet or not sys.stderr.isatty() else progress
    built, count = warming.warm(jobs, shown), len(warming.kernels())
    kept = f"{warming.cache_size() / 1e6:.1f} MB of compiled code in {cache_folder().path}"
    print(f"{count} kernels and functions, {built} compiled now, in {time.perf_counter() - start:.1f} s; {kept}")


def ship(jobs: int) -> int:
    from matcalc.compiler.call.ship import ship as shipping

    for part, path in shipping(jobs):
        print(f"{part}: {path.stat().st_size / 1e6:.2f} MB in {path}")
    return 0


def measure(given: str) -> int:
    from matcalc.compiler.blas.blas_choice import measure as measured
    from matcalc.compiler.blas.blas_routines import TRIED

    choice = measured(given)
    orders = "".join(f"{f'n = {n}':>10}" for n in TRIED)
    print(f"time of SciPy's OpenBLAS over that of {choice.path}, threads = {choice.threads}; * is taken")
    print(f"{'':8}{orders}")
    for name, ratios in choice.ratios.items():
        cells = "".join(f"{f'{r:.2f}' if r else 'differs':>10}" for r in ratios)
        print(f"{name:8}{cells}{' *' if choice.has_routine(name) else ''}")
    print("new processes use it so; `matcalc warm --forget` undoes it")
    return 0


def forget() -> int:
    from matcalc.compiler.blas.blas_choice import forget as forgotten

    print("new processes use SciPy's OpenBLAS alone" if forgotten() else "nothing was chosen: OpenBLAS does all")
    return 0
