"""Compiles all kernels and scalar functions for this machine into the cache, in several processes.

A kernel is compiled after the kernels that it calls: each task reads those from the cache and adds one kernel.
Kernels that are in the cache already are only read, so a second run is fast.
"""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from graphlib import TopologicalSorter

from matcalc.compiler.entry.call_slot import EXACT, entry
from matcalc.compiler.kernels.library import closure, load_library
from matcalc.compiler.kernels.modules import load_items
from matcalc.compiler.llvm.linked_functions import called_by_entries, linked
from matcalc.errors import NotSupported
from matcalc.rulebook.load import shipped_rulebook
from matcalc.rulebook.oracle import shipped_code
from matcalc.store.artefacts import sizes
from matcalc.store.cache_folder import cache_folder
from matcalc.store.events import recording

TARGET = "numba"
LIBRARIES = ("numba", "numpy")


def kernels() -> tuple[str, ...]:
    """Return the names of all kernels, callees first, then of all scalar functions."""
    library = load_library(TARGET)
    found = [item.name for item in closure(library, library.items) if item.is_kernel]
    return (*found, *called_by_entries())


def warm(jobs: int = 0, progress: Callable[[str, int, int], None] | None = None) -> int:
    """Compile all kernels into the cache; return how many were not in it.

    `jobs` is the number of processes; 0 takes one for each processor that this process may use. `progress` is called
    with the name of each finished kernel, the number finished, and the total.

    Raises: NotSupported if nothing outlives this process: the cache is switched off, or its folder is unusable.
    """
    if not cache_folder().lasting:
        raise NotSupported(f"there is no cache to compile into: {cache_folder().note or 'MATCALC_CACHE is 0'}")
    make_forms()
    names = kernels()
    order = _order(names)
    built = done = 0
    running: dict[Future[int], str] = {}
    with ProcessPoolExecutor(jobs or _processors(), multiprocessing.get_context("spawn")) as pool:
        while order.is_active():
            running |= {pool.submit(compile_kernel, name): name for name in order.get_ready()}
            for future in wait(running, return_when=FIRST_COMPLETED).done:
                name = running.pop(future)
                built += future.result()
                done += 1
                order.done(name)
                if progress is not None:
                    progress(name, done, len(names))
    return built


def make_forms() -> None:
    """Cache the objects that are derived from the files of the installation, and the entry of all functions."""
    shipped_rulebook()
    shipped_code()
    for target in LIBRARIES:
        load_library(target)
    if EXACT is not None:
        entry()


def compile_kernel(name: str) -> int:
    """Load a kernel after those that it calls, or a scalar function; return how many were compiled."""
    with recording() as record:
        if load_library(TARGET).items[name].is_kernel:
            load_items(TARGET, [name])
        for kinds in called_by_entries().get(name, ()):
            linked(name, kinds)
    return record.built


def cache_size() -> int:
    """Return the bytes of all artefacts in the cache."""
    return sum(sizes().values())


def _order(names: tuple[str, ...]) -> TopologicalSorter[str]:
    """Return an order of the kernels, each after those that it calls directly or through linked functions."""
    library = load_library(TARGET)
    uses = {name: {item.name for item in closure(library, [name]) if item.is_kernel} - {name} for name in names}
    order = TopologicalSorter(uses)
    order.prepare()
    return order


def _processors() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
