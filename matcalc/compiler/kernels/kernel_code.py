"""Finds and loads kernels as object code, with LLVM alone.

The symbol of a kernel ends in the digest of its text and of all that it links in. A kernel is shipped with the
installation, or cached after it was compiled here. A loaded kernel stays in memory. Its dependencies are located first:
other kernels here, routines in SciPy's library, the rest in this process.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import Any, NamedTuple

import llvmlite.binding as llvm

from matcalc.compiler.machine.generated_modules import PACKAGE
from matcalc.compiler.machine.machine_code import MachineCode, add_symbols, object_code
from matcalc.compiler.machine.memory_functions import ASSEMBLY, FUNCTIONS
from matcalc.compiler.machine.scipy_routines import add_routine, is_routine
from matcalc.locks import loading
from matcalc.store import artefacts

PREFIX = f"{PACKAGE}."
"""The prefix of the symbols of kernels: the package of the modules that they are compiled in."""


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


def kernel(symbol: str) -> Loaded | None:
    """Return a kernel, loaded with its dependencies; None if it is neither cached nor shipped."""
    with loading:
        if symbol not in _kernels:
            found = artefacts.read("kernel", [symbol])
            part = None if found is None else part_of(*found)
            if part is None or not is_there(part):
                return None
            _load(symbol, part, True)
        return _kernels[symbol]


def cache_kernel(symbol: str, part: Part, is_cached: bool) -> Loaded:
    """Load a kernel that was just compiled, and cache it if other processes can use it."""
    with loading:
        if is_cached:
            artefacts.write("kernel", [symbol], parts(part))
        _load(symbol, part, is_cached)
        return _kernels[symbol]


def is_cached(part: Part) -> bool:
    """Whether a process without Numba finds all dependencies of a part."""
    return all(_is_kept(need) for need in part.needs)


def is_there(part: Part) -> bool:
    """Load the kernels and routines that a part needs; return whether all its dependencies are in this process."""
    return all(need in FUNCTIONS or _brought(need) for need in part.needs)


def placed(part: Part) -> tuple[MachineCode, int]:
    """Load a part; return its code and the address of its function."""
    own = [_own_runtime()] if set(FUNCTIONS) & set(part.needs) else []
    code = MachineCode(*own, part.code)
    return code, code.address(part.name)


def parts(part: Part) -> list[Any]:
    """Return what the store keeps of a part, its code last."""
    return [part.name, part.needs, part.types, part.code]


def part_of(name: str, needs: Iterable[str], types: Iterable[str], code: bytes) -> Part:
    """Return the part that `parts` has written out."""
    return Part(name, code, tuple(needs), tuple(types))


def _load(symbol: str, part: Part, is_cached: bool) -> None:
    code, address = placed(part)
    llvm.add_symbol(symbol, address)
    _kernels[symbol] = Loaded(part.types, code, is_cached)


def _brought(symbol: str) -> bool:
    if symbol.startswith(PREFIX):
        return kernel(symbol) is not None
    if not is_routine(symbol):
        add_symbols()
        return llvm.address_of_symbol(symbol) is not None
    if llvm.address_of_symbol(symbol) is None:
        name = add_routine(symbol)
        if name and artefacts.has("blas"):
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
