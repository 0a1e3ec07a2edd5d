"""Measures which BLAS routines another library computes faster (`matcalc warm --measure`); caches the choice.

A routine keeps its symbol, so compiled code does not depend on the choice. If the choice depends on the sizes of a
call, the symbol belongs to a function that reads the sizes and jumps to the chosen library. A choice is valid
for the thread count and the file that were measured; otherwise OpenBLAS computes everything, and a note says why.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from functools import cache
from pathlib import Path

import llvmlite.binding as llvm

from matcalc.compiler.blas.blas_library import BlasLibrary, found, opened, threads
from matcalc.compiler.blas.blas_routines import BOUNDS, CLASSES, DEFAULT, Routine, load_routines
from matcalc.compiler.machine.machine_code import PREFIX, MachineCode, machine_code
from matcalc.errors import NotSupported
from matcalc.store import artefacts
from matcalc.store.cache_folder import cache_folder
from matcalc.store.events import note

MARGIN = 1.15
"""How many times faster another library must be to be chosen."""


@dataclass(frozen=True, slots=True)
class Choice:
    """A measured library, with the time ratios of each routine for small, medium and large calls."""

    path: str
    stamp: tuple[int, int]
    threads: int
    ratios: Mapping[str, tuple[float, ...]] = field(default_factory=dict)

    def classes(self, name: str) -> tuple[bool, ...]:
        """Return for each size class whether the library computes a routine."""
        return tuple(ratio >= MARGIN for ratio in self.ratios.get(name, ()))

    def routines_text(self, names: Iterable[str]) -> str:
        """Return which of these routines the library computes, and for which sizes, as text."""
        parts = []
        for name in sorted(names):
            taken = [word for word, is_taken in zip(CLASSES, self.classes(name), strict=False) if is_taken]
            if taken:
                parts.append(name if len(taken) == len(CLASSES) else f"{name} ({', '.join(taken)})")
        return f"{', '.join(parts)} of {self.path}, else {DEFAULT}" if parts else DEFAULT


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


_bound: dict[str, tuple[int, MachineCode | None]] = {}
"""The address that each bound routine has now, and its code if it is a function of ours."""


def bind(name: str) -> None:
    """Point the symbol of a SciPy routine to the library chosen for it.

    The symbol must be registered with SciPy's address. A name that is no routine has no effect.
    """
    if name in _bound:
        llvm.add_symbol(_symbol(name)[0], _bound[name][0])
    if name in _bound or name not in load_routines():
        return
    choice = chosen()
    if isinstance(choice, Choice) and not any(choice.classes(name)):
        return
    library = choice if isinstance(choice, str) else _library(choice.path, choice.threads)
    if isinstance(choice, str) or isinstance(library, str):
        if library:
            note(str(library))
        return
    other = library.address(name)
    symbol, is_lapack = _symbol(name)
    code = None
    if not all(choice.classes(name)):
        llvm.add_symbol(f"{PREFIX}ours.{name}", llvm.address_of_symbol(symbol))
        llvm.add_symbol(f"{PREFIX}other.{name}", other)
        code = machine_code(_fork(load_routines()[name], choice.classes(name), is_lapack))
        other = code.address(f"choose.{name}")
    _bound[name] = other, code
    llvm.add_symbol(symbol, other)


def blas_in_use(names: Iterable[str]) -> str:
    """Return which library computes the routines of these names in this process, as text."""
    choice = chosen()
    return DEFAULT if isinstance(choice, str) else choice.routines_text(name for name in names if name in _bound)


def _symbol(name: str) -> tuple[str, bool]:
    """Return the symbol of SciPy's routine, and whether it is a LAPACK routine, whose last argument is `info`."""
    is_lapack = llvm.address_of_symbol(f"scipy_lapack_{name}") is not None
    return f"scipy_{'lapack' if is_lapack else 'blas'}_{name}", is_lapack


def _fork(routine: Routine, classes: tuple[bool, ...], is_lapack: bool) -> str:
    """Return LLVM assembly of the function that reads the sizes and jumps to one library or the other."""
    count = len(routine.arguments) + is_lapack
    kinds, given = ", ".join(["i64"] * count), ", ".join(f"i64 %a{k}" for k in range(count))
    lines = []
    product = "1.0"
    for k in routine.sizes:
        lines += [
            f"  %p{k} = inttoptr i64 %a{k} to ptr",
            f"  %i{k} = load i32, ptr %p{k}",
            f"  %d{k} = sitofp i32 %i{k} to double",
            f"  %w{k} = fmul double {product}, %d{k}",
        ]
        product = f"%w{k}"
    names = [f"@{PREFIX}{'other' if is_taken else 'ours'}.{routine.name}" for is_taken in classes]
    quoted = [f'@"{name[1:]}"' for name in names]
    small, medium = (f"{float(bound ** len(routine.sizes)):e}" for bound in BOUNDS)
    lines += [
        f"  %small = fcmp ole double {product}, {small}",
        f"  %medium = fcmp ole double {product}, {medium}",
        f"  %rest = select i1 %medium, ptr {quoted[1]}, ptr {quoted[2]}",
        f"  %which = select i1 %small, ptr {quoted[0]}, ptr %rest",
        f"  tail call void %which({given})",
        "  ret void",
    ]
    declared = [f"declare void {name}({kinds})" for name in sorted(set(quoted))]
    return "\n".join([*declared, f'define void @"choose.{routine.name}"({given}) {{', *lines, "}"])


def _stamp(path: Path) -> tuple[int, int]:
    try:
        info = path.stat()
    except OSError:
        return (-1, -1)
    return info.st_size, info.st_mtime_ns
