"""Caches compiled functions as object code, which any process runs without Numba.

An image holds the code of one function, the symbols that it needs, the digest of its entry for Python, and its
kernels' build settings. Kernels are cached separately. Everything that the code needs is located before it is loaded.
If anything is missing, the function is compiled anew.
"""

from __future__ import annotations

import hashlib
import pickle
from functools import cache
from typing import Any, NamedTuple

import llvmlite.binding as llvm

from matcalc.compiler.entry.call_slot import exact_call
from matcalc.compiler.kernels.kernel_code import Part, is_cached, is_there, placed, read, written
from matcalc.compiler.machine.machine_code import MachineCode, cached_code
from matcalc.compiler.spec.spec import CompiledSpec
from matcalc.locks import loading
from matcalc.store import cache_entries
from matcalc.store.installation import installation, settings


class Image(NamedTuple):
    """A cached function: its object code, and the digest of the entry that Python calls.

    `surroundings` are the build settings under which its kernels are cached.
    """

    part: Part
    entry: str
    surroundings: tuple[str, ...]


class Made(NamedTuple):
    """A function compiled now: its code, whether other processes can use it, and its kernels' build settings."""

    part: Part
    is_for_all: bool
    surroundings: tuple[str, ...]


class Ready(NamedTuple):
    """A loaded image: its code, the address of its function, and its entry."""

    code: MachineCode
    address: int
    entry: MachineCode


class Exactly:
    """Calls machine code with exact arguments; its entry is compiled at the first call, since few functions need it."""

    def __init__(self, spec: CompiledSpec, ready: Ready) -> None:
        self.spec, self.ready = spec, ready
        self.run: Any = None

    def __call__(self, *args: Any) -> int:
        if self.run is None:
            from matcalc.compiler.entry.entry_code import exact_entry_of

            with loading:
                self.run = exact_call(self.ready.address, exact_entry_of(self.spec))
        status: int = self.run(*args)
        return status


def recalled(spec: CompiledSpec) -> Ready | None:
    """Return the cached function of a spec, loaded; None if it must be compiled."""
    with loading:
        image = _read(_key(spec))
        if image is None or not is_there(image.part, image.surroundings):
            return None
        entry = cached_code(image.entry)
        if entry is None:
            return None
        code, address = placed(image.part)
        return Ready(code, address, entry)


def keep(spec: CompiledSpec, made: Made, entry: MachineCode) -> None:
    """Cache a compiled function, if it can run without Numba."""
    if made.is_for_all and entry.digest and is_cached(made.part):
        image = (written(made.part), entry.digest, made.surroundings)
        cache_entries.write("image", _key(spec), pickle.dumps(image))


def _read(key: str) -> Image | None:
    content = cache_entries.read("image", key)
    if content is None:
        return None
    part, *rest = pickle.loads(content)
    return Image(read(part), *rest)


def _key(spec: CompiledSpec) -> str:
    """Return the cache key: all that the text and the code of a function depend on."""
    parts = (
        spec.name, spec.source, spec.arguments, spec.outputs, spec.nesting, spec.sizes, spec.faults,
        spec.conditions, spec.blas_axes, spec.data, spec.check_facts,
    )  # fmt: skip
    return f"{hashlib.sha256(repr(parts).encode()).hexdigest()}\n{_surroundings()}"


def _surroundings() -> str:
    return f"{installation()}\n{_processor()}\n{settings()}"


@cache
def _processor() -> str:
    return f"{llvm.get_host_cpu_name()} {llvm.get_host_cpu_features().flatten()}"
