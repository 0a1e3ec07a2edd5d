"""Kernels as object code, found and loaded by LLVM alone.

The symbol of a kernel ends in the digest of its text and of all that this is linked with; beside it the key says what
it was made by and for (`made_by.py`). A kernel comes with the installation, or is kept in the cache since it was
compiled here. Loaded once, it stays; what it needs is found before: other kernels here, routines in SciPy's library,
the rest in this process.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

import llvmlite.binding as llvm

from matcalc.compiler.runtime import blas_kept
from matcalc.compiler.runtime.generated import PACKAGE
from matcalc.compiler.runtime.machine_code import MachineCode, add_symbols, object_code
from matcalc.compiler.runtime.own_runtime import ASSEMBLY, FUNCTIONS
from matcalc.compiler.runtime.scipy_routines import add_routine, is_routine
from matcalc.compiler.runtime.shipped import shipped
from matcalc.locks import loading
from matcalc.store import cache_entries

PREFIX = f"{PACKAGE}."
"""What the symbols of kernels begin with: the modules that they are compiled in."""
STEM = "kernel"


class Part(NamedTuple):
    """The object code of one function: its name there, the symbols that it needs, and the types of its signature.

    Types are written for kernels alone, in the words of `kernels.py`: that of the result, then those of arguments.
    """

    name: str
    code: bytes
    needs: tuple[str, ...]
    types: tuple[str, ...] = ()


class Loaded(NamedTuple):
    """A kernel in memory. `is_kept`: another process finds it too."""

    types: tuple[str, ...]
    code: MachineCode
    is_kept: bool


_kernels: dict[str, Loaded] = {}


def kernel(symbol: str, surroundings: Sequence[str]) -> Loaded | None:
    """Return a kernel, loaded with all that it needs; None where it is not kept as made in one of the surroundings."""
    with loading:
        if symbol not in _kernels:
            part = _found(symbol, surroundings)
            if part is None or not is_there(part, surroundings):
                return None
            _load(symbol, part, True)
        return _kernels[symbol]


def keep_kernel(symbol: str, part: Part, surroundings: str, is_kept: bool) -> Loaded:
    """Load a kernel that was compiled now, and keep it for other processes, unless it is of this one alone."""
    with loading:
        if is_kept:
            cache_entries.write(STEM, _key(symbol, surroundings), written(part))
        _load(symbol, part, is_kept)
        return _kernels[symbol]


def in_cache(symbol: str, surroundings: str) -> bytes | None:
    """Return a kernel as it is written in the cache; None where it is not."""
    return cache_entries.read(STEM, _key(symbol, surroundings))


def is_kept(part: Part) -> bool:
    """Whether a process without Numba finds all that a part needs."""
    return all(_is_kept(need) for need in part.needs)


def is_there(part: Part, surroundings: Sequence[str]) -> bool:
    """Whether all that a part needs is in this process now; kernels and routines are brought there."""
    return all(need in FUNCTIONS or _brought(need, surroundings) for need in part.needs)


def placed(part: Part) -> tuple[MachineCode, int]:
    """Load a part; return its code and where its function is."""
    own = [_own_runtime()] if set(FUNCTIONS) & set(part.needs) else []
    code = MachineCode(*own, part.code)
    return code, code.address(part.name)


def written(part: Part) -> bytes:
    """Return a part as it is kept."""
    return json.dumps([part.name, part.needs, part.types]).encode() + b"\n" + part.code


def read(content: bytes) -> Part:
    """Return the part that was written."""
    head, _, code = content.partition(b"\n")
    name, needs, types = json.loads(head)
    return Part(name, code, tuple(needs), tuple(types))


def _found(symbol: str, surroundings: Sequence[str]) -> Part | None:
    for around in surroundings:
        content = shipped(symbol, around) or in_cache(symbol, around)
        if content is not None:
            return read(content)
    return None


def _load(symbol: str, part: Part, is_kept: bool) -> None:
    code, address = placed(part)
    llvm.add_symbol(symbol, address)
    _kernels[symbol] = Loaded(part.types, code, is_kept)


def _brought(symbol: str, surroundings: Sequence[str]) -> bool:
    if symbol.startswith(PREFIX):
        return kernel(symbol, surroundings) is not None
    if not is_routine(symbol):
        add_symbols()
        return llvm.address_of_symbol(symbol) is not None
    if llvm.address_of_symbol(symbol) is None:
        name = add_routine(symbol)
        if name and blas_kept.is_kept():
            from matcalc.compiler.runtime.blas_choice import bind

            bind(name)
    return llvm.address_of_symbol(symbol) is not None


def _is_kept(symbol: str) -> bool:
    if symbol.startswith(PREFIX):
        return symbol in _kernels and _kernels[symbol].is_kept
    return symbol in FUNCTIONS or is_routine(symbol) or _is_of_python(symbol)


def _is_of_python(symbol: str) -> bool:
    add_symbols()
    is_numbas = symbol.startswith(("NRT_", "numba_", "scipy_"))
    return not is_numbas and llvm.address_of_symbol(symbol) is not None


@cache
def _own_runtime() -> bytes:
    return object_code(ASSEMBLY)


def _key(symbol: str, surroundings: str) -> str:
    return f"{symbol}\n{surroundings}"
