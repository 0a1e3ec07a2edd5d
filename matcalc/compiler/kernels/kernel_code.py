"""Finds and loads kernels as object code, with LLVM alone.

The symbol of a kernel ends in the digest of its text and of all that it links in; the cache key adds its provenance
(`provenance.py`). A kernel is shipped with the installation, or cached after it was compiled here. A loaded kernel
stays in memory. Its dependencies are located first: other kernels here, routines in SciPy's library, the rest in this
process.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

import llvmlite.binding as llvm

from matcalc.compiler.blas import blas_stored_choice
from matcalc.compiler.kernels.shipped_kernels import shipped
from matcalc.compiler.machine.generated_modules import PACKAGE
from matcalc.compiler.machine.machine_code import MachineCode, add_symbols, object_code
from matcalc.compiler.machine.memory_functions import ASSEMBLY, FUNCTIONS
from matcalc.compiler.machine.scipy_routines import add_routine, is_routine
from matcalc.locks import loading
from matcalc.store import cache_entries

PREFIX = f"{PACKAGE}."
"""The prefix of the symbols of kernels: the package of the modules that they are compiled in."""
STEM = "kernel"


class Part(NamedTuple):
    """The object code of one function: its name in the code, the symbols that it needs, and its signature's types.

    Only kernels have types, in the words of `kernels.py`: that of the result, then those of the arguments.
    """

    name: str
    code: bytes
    needs: tuple[str, ...]
    types: tuple[str, ...] = ()


class Loaded(NamedTuple):
    """A kernel in memory; `is_cached` states that another process finds it too."""

    types: tuple[str, ...]
    code: MachineCode
    is_cached: bool


_kernels: dict[str, Loaded] = {}


def kernel(symbol: str, surroundings: Sequence[str]) -> Loaded | None:
    """Return a kernel, loaded with its dependencies; None if no surroundings has it in the cache or shipped."""
    with loading:
        if symbol not in _kernels:
            part = _found(symbol, surroundings)
            if part is None or not is_there(part, surroundings):
                return None
            _load(symbol, part, True)
        return _kernels[symbol]


def cache_kernel(symbol: str, part: Part, surroundings: str, is_cached: bool) -> Loaded:
    """Load a kernel that was just compiled, and cache it if other processes can use it."""
    with loading:
        if is_cached:
            cache_entries.write(STEM, _key(symbol, surroundings), written(part))
        _load(symbol, part, is_cached)
        return _kernels[symbol]


def in_cache(symbol: str, surroundings: str) -> bytes | None:
    """Return the content of a kernel in the cache, or None."""
    return cache_entries.read(STEM, _key(symbol, surroundings))


def is_cached(part: Part) -> bool:
    """Whether a process without Numba finds all dependencies of a part."""
    return all(_is_kept(need) for need in part.needs)


def is_there(part: Part, surroundings: Sequence[str]) -> bool:
    """Load the kernels and routines that a part needs; return whether all its dependencies are in this process."""
    return all(need in FUNCTIONS or _brought(need, surroundings) for need in part.needs)


def placed(part: Part) -> tuple[MachineCode, int]:
    """Load a part; return its code and the address of its function."""
    own = [_own_runtime()] if set(FUNCTIONS) & set(part.needs) else []
    code = MachineCode(*own, part.code)
    return code, code.address(part.name)


def written(part: Part) -> bytes:
    """Return a part as bytes for the cache."""
    return json.dumps([part.name, part.needs, part.types]).encode() + b"\n" + part.code


def read(content: bytes) -> Part:
    """Return the part that `written` encoded."""
    head, _, code = content.partition(b"\n")
    name, needs, types = json.loads(head)
    return Part(name, code, tuple(needs), tuple(types))


def _found(symbol: str, surroundings: Sequence[str]) -> Part | None:
    for around in surroundings:
        content = shipped(symbol, around) or in_cache(symbol, around)
        if content is not None:
            return read(content)
    return None


def _load(symbol: str, part: Part, is_cached: bool) -> None:
    code, address = placed(part)
    llvm.add_symbol(symbol, address)
    _kernels[symbol] = Loaded(part.types, code, is_cached)


def _brought(symbol: str, surroundings: Sequence[str]) -> bool:
    if symbol.startswith(PREFIX):
        return kernel(symbol, surroundings) is not None
    if not is_routine(symbol):
        add_symbols()
        return llvm.address_of_symbol(symbol) is not None
    if llvm.address_of_symbol(symbol) is None:
        name = add_routine(symbol)
        if name and blas_stored_choice.has_choice():
            from matcalc.compiler.blas.blas_choice import bind

            bind(name)
    return llvm.address_of_symbol(symbol) is not None


def _is_kept(symbol: str) -> bool:
    if symbol.startswith(PREFIX):
        return symbol in _kernels and _kernels[symbol].is_cached
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
