"""Measures which BLAS routines another library computes faster (`matcalc warm --measure`); caches the choice.

A routine keeps its symbol, so compiled code does not depend on the choice. A choice is valid for the thread count and
the file that were measured; otherwise OpenBLAS computes everything, and a note says why.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from functools import cache
from pathlib import Path
from statistics import geometric_mean

import llvmlite.binding as llvm

from matcalc.compiler.blas.blas_library import BlasLibrary, found, opened, threads
from matcalc.compiler.blas.blas_routines import DEFAULT, load_routines
from matcalc.errors import NotSupported
from matcalc.store import artefacts
from matcalc.store.cache_folder import cache_folder
from matcalc.store.events import note

MARGIN = 1.15
"""How many times faster another library must be, on the geometric mean of the tried orders, to be chosen."""


@dataclass(frozen=True, slots=True)
class Choice:
    """A measured library, with the time ratios of each routine at the tried orders."""

    path: str
    stamp: tuple[int, int]
    threads: int
    ratios: Mapping[str, tuple[float, ...]] = field(default_factory=dict)

    def has_routine(self, name: str) -> bool:
        """Return whether the library computes a routine: it is slower at no tried order, and faster on the whole."""
        ratios = self.ratios.get(name, ())
        return bool(ratios) and min(ratios) >= 1 and geometric_mean(ratios) >= MARGIN

    def routines_text(self, names: Iterable[str]) -> str:
        """Return which of these routines the library computes, as text."""
        taken = [name for name in sorted(names) if self.has_routine(name)]
        return f"{', '.join(taken)} of {self.path}, else {DEFAULT}" if taken else DEFAULT


def measure(given: str) -> Choice:
    """Measure a library, named by its path or `mkl`, against SciPy's, and store the choice.

    Raises: NotSupported if the library is not found, cannot be used, or crashes its process; and if there is no
        lasting cache.
    """
    if not cache_folder().lasting:
        raise NotSupported(f"there is no cache for the choice: {cache_folder().note or 'MATCALC_CACHE is 0'}")
    path = found(given)
    program = [sys.executable, "-m", "matcalc.compiler.blas.blas_trial", str(path), str(threads())]
    run = subprocess.run(program, capture_output=True, text=True, check=False)
    try:
        report = json.loads(run.stdout.splitlines()[-1])
    except (IndexError, ValueError):
        raise NotSupported(f"{path} ended the process that tried it, with status {run.returncode}") from None
    if "refused" in report:
        raise NotSupported(report["refused"])
    choice = Choice(str(path), _stamp(path), threads(), {name: tuple(ratios) for name, ratios in report.items()})
    artefacts.write("blas", (), asdict(choice))
    chosen.cache_clear()
    return choice


def forget() -> bool:
    """Delete the choice, so that later processes use OpenBLAS for everything; return whether there was one."""
    was = kept() is not None
    artefacts.write("blas", (), None)
    chosen.cache_clear()
    return was


def kept() -> Choice | None:
    """Return the stored choice, whether or not it is valid for this process; None if there is none."""
    read = artefacts.read("blas")
    if not read:
        return None
    ratios = {name: tuple(row) for name, row in read["ratios"].items()}
    return Choice(read["path"], tuple(read["stamp"]), read["threads"], ratios)


@cache
def chosen() -> Choice | str:
    """Return the choice for this process, or a note on why it is not used, "" if there is no choice."""
    choice = kept()
    if choice is None:
        return ""
    if choice.threads != threads():
        why = f"{choice.path} was measured with threads = {choice.threads}, and this process has {threads()}"
    elif _stamp(Path(choice.path)) != choice.stamp:
        why = f"{choice.path} is not the file that was measured"
    else:
        return choice
    return f"{why}: {DEFAULT} is used"


@cache
def _library(path: str, count: int) -> BlasLibrary | str:
    """Return the library at a path for a number of threads, or a note on why it cannot be used."""
    try:
        return opened(Path(path), count)
    except NotSupported as refusal:
        return f"{refusal.message}: {DEFAULT} is used"


_bound: dict[str, int] = {}
"""The address of each routine that another library computes."""


def bind(name: str) -> None:
    """Point the symbol of a SciPy routine to the library chosen for it.

    The symbol must be registered with SciPy's address. A name that is no routine has no effect.
    """
    if name in _bound:
        llvm.add_symbol(_symbol(name), _bound[name])
    if name in _bound or name not in load_routines():
        return
    choice = chosen()
    if isinstance(choice, Choice) and not choice.has_routine(name):
        return
    library = choice if isinstance(choice, str) else _library(choice.path, choice.threads)
    if isinstance(library, str):
        if library:
            note(library)
        return
    _bound[name] = library.address(name)
    llvm.add_symbol(_symbol(name), _bound[name])


def blas_in_use(names: Iterable[str]) -> str:
    """Return which library computes the routines of these names in this process, as text."""
    choice = chosen()
    return DEFAULT if isinstance(choice, str) else choice.routines_text(name for name in names if name in _bound)


def _symbol(name: str) -> str:
    """Return the symbol of SciPy's routine."""
    lapack = f"scipy_lapack_{name}"
    return f"scipy_blas_{name}" if llvm.address_of_symbol(lapack) is None else lapack


def _stamp(path: Path) -> tuple[int, int]:
    try:
        info = path.stat()
    except OSError:
        return (-1, -1)
    return info.st_size, info.st_mtime_ns
