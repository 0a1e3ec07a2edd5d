"""Compiled functions on disk as object code alone, so that another process runs them without Numba.

An image is the code of one function, the symbols that it needs, and which entries Python calls it through; the code of
each kernel is kept once, under its symbol, which no other text of it has. What an image needs is found before it is
loaded: kernels here, routines in SciPy's library, the rest in this process. Where anything is missing, or Numba is
loaded already, the function is loaded through Numba.
"""

from __future__ import annotations

import hashlib
import pickle
import sys
from collections.abc import Iterator
from functools import cache
from typing import Any, NamedTuple

import llvmlite.binding as llvm

from matcalc.compiler.runtime import blas_kept
from matcalc.compiler.runtime.call_slot import exact_call
from matcalc.compiler.runtime.machine_code import MachineCode, add_symbols, kept_code, object_code
from matcalc.compiler.runtime.own_runtime import ASSEMBLY, FUNCTIONS
from matcalc.compiler.runtime.scipy_routines import add_routine, is_routine
from matcalc.compiler.runtime.spec import CompiledSpec
from matcalc.locks import loading
from matcalc.store import cache_entries
from matcalc.store.installation import installation, settings

KERNELS = "matcalc.compiler.runtime.generated."
"""What the symbols of kernels begin with: the modules that they are compiled in."""


class Part(NamedTuple):
    """The object code of one function: the name it has there, and the symbols that it needs."""

    name: str
    code: bytes
    needs: tuple[str, ...]


class Image(NamedTuple):
    """A compiled function: its text, its code, and the digests of the entries that Python calls it through."""

    source: str
    part: Part
    entry: str
    exact: str


class Ready(NamedTuple):
    """An image that is loaded: its text, where its code is, and the two ways in."""

    source: str
    code: MachineCode
    address: int
    entry: MachineCode
    run: Any


_kernels: dict[str, MachineCode] = {}


def recalled(spec: CompiledSpec) -> Ready | None:
    """Return a function that this or another process has compiled; None where it has to be loaded through Numba."""
    if "numba" in sys.modules:
        return None
    with loading:
        image = _read("image", _key(spec), Image)
        if image is None or not _is_there(image.part):
            return None
        entry, exact = kept_code(image.entry), kept_code(image.exact)
        if entry is None or exact is None:
            return None
        code, address = _placed(image.part)
        return Ready(image.source, code, address, entry, exact_call(address, exact))


def keep(spec: CompiledSpec, source: str, dispatcher: Any, entry: MachineCode, exact: MachineCode) -> None:
    """Keep what Numba has made of a function, with the kernels that it calls, where it can run without Numba."""
    part = _part(dispatcher)
    kernels = dict(_kernels_of(part))
    if not entry.digest or not all(_is_known(need) for p in (part, *kernels.values()) for need in p.needs):
        return
    for symbol, kernel in kernels.items():
        key = _kernel_key(symbol)
        if cache_entries.read("kernel", key) is None:
            cache_entries.write("kernel", key, pickle.dumps(tuple(kernel)))
    image = (source, tuple(part), entry.digest, exact.digest)
    cache_entries.write("image", _key(spec), pickle.dumps(image))


def _part(dispatcher: Any) -> Part:
    compiled = dispatcher.overloads[dispatcher.signatures[0]]
    return Part(compiled.fndesc.llvm_func_name, compiled.library.code, compiled.library.needs)


def _kernels_of(part: Part) -> Iterator[tuple[str, Part]]:
    """Yield the kernels that a part needs, by symbol, and those that they need."""
    for need in part.needs:
        if need.startswith(KERNELS):
            module, _, name = need.rpartition(".")
            kernel = _part(getattr(sys.modules[module], name).dispatcher)
            yield need, kernel
            yield from _kernels_of(kernel)


def _is_known(symbol: str) -> bool:
    """Whether a symbol is found in a process without Numba."""
    return symbol in FUNCTIONS or symbol.startswith(KERNELS) or is_routine(symbol) or _is_of_python(symbol)


def _is_of_python(symbol: str) -> bool:
    add_symbols()
    is_numbas = symbol.startswith(("NRT_", "numba_", "scipy_"))
    return not is_numbas and llvm.address_of_symbol(symbol) is not None


def _is_there(part: Part) -> bool:
    """Whether all that a part needs is in this process now; kernels and routines are brought there."""
    return all(need in FUNCTIONS or _brought(need) for need in part.needs)


def _brought(symbol: str) -> bool:
    if symbol.startswith(KERNELS):
        return symbol in _kernels or _kernel(symbol)
    if not is_routine(symbol):
        return _is_of_python(symbol)
    if llvm.address_of_symbol(symbol) is None:
        name = add_routine(symbol)
        if name and blas_kept.is_kept():
            from matcalc.compiler.runtime.blas_choice import bind

            bind(name)
    return llvm.address_of_symbol(symbol) is not None


def _kernel(symbol: str) -> bool:
    """Load a kernel, which stays; return whether it is kept here with all that it needs."""
    part = _read("kernel", _kernel_key(symbol), Part)
    if part is None or not _is_there(part):
        return False
    _kernels[symbol], address = _placed(part)
    llvm.add_symbol(symbol, address)
    return True


def _placed(part: Part) -> tuple[MachineCode, int]:
    own = [_own_runtime()] if set(FUNCTIONS) & set(part.needs) else []
    code = MachineCode(*own, part.code)
    return code, code.address(part.name)


@cache
def _own_runtime() -> bytes:
    return object_code(ASSEMBLY)


def _read(stem: str, key: str, kind: Any) -> Any:
    content = cache_entries.read(stem, key)
    if content is None:
        return None
    fields = pickle.loads(content)
    return Image(fields[0], Part(*fields[1]), *fields[2:]) if kind is Image else Part(*fields)


def _key(spec: CompiledSpec) -> str:
    """Return what the text and the code of a function depend on."""
    parts = (
        spec.name, spec.source, spec.arguments, spec.outputs, spec.nesting, spec.sizes, spec.faults,
        spec.conditions, spec.data, spec.check_facts,
    )  # fmt: skip
    return f"{hashlib.sha256(repr(parts).encode()).hexdigest()}\n{_surroundings()}"


def _kernel_key(symbol: str) -> str:
    return f"{symbol}\n{_surroundings()}"


def _surroundings() -> str:
    return f"{installation()}\n{_processor()}\n{settings()}"


@cache
def _processor() -> str:
    return f"{llvm.get_host_cpu_name()} {llvm.get_host_cpu_features().flatten()}"
