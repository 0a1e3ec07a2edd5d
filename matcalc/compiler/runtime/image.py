"""Compiled functions on disk as object code alone, which any process runs without Numba.

An image is the code of one function, the symbols that it needs, which entry Python calls it through, and what its
kernels were made by, whose code is kept by itself. What it needs is found before it is loaded. Where anything is
missing, the function is made anew.
"""

from __future__ import annotations

import hashlib
import pickle
from functools import cache
from typing import Any, NamedTuple

import llvmlite.binding as llvm

from matcalc.compiler.runtime.call_slot import exact_call
from matcalc.compiler.runtime.kernel_code import Part, is_kept, is_there, placed, read, written
from matcalc.compiler.runtime.machine_code import MachineCode, kept_code
from matcalc.compiler.runtime.spec import CompiledSpec
from matcalc.locks import loading
from matcalc.store import cache_entries
from matcalc.store.installation import installation, settings


class Image(NamedTuple):
    """A compiled function: its text, its code, and the digest of the entry that Python calls it through.

    `surroundings` are those that its kernels may be found under.
    """

    source: str
    part: Part
    entry: str
    surroundings: tuple[str, ...]


class Made(NamedTuple):
    """What has been made now: its code, whether other processes may have it, and what its kernels may be made by."""

    part: Part
    is_for_all: bool
    surroundings: tuple[str, ...]


class Ready(NamedTuple):
    """An image that is loaded: its text, where its code is, and the way in."""

    source: str
    code: MachineCode
    address: int
    entry: MachineCode


class Exactly:
    """The plain way into machine code, with exact arguments; its entry is made at the first call, since few need it."""

    def __init__(self, spec: CompiledSpec, ready: Ready) -> None:
        self.spec, self.ready = spec, ready
        self.run: Any = None

    def __call__(self, *args: Any) -> int:
        if self.run is None:
            from matcalc.compiler.runtime.entry_code import exact_entry_of

            with loading:
                self.run = exact_call(self.ready.address, exact_entry_of(self.spec))
        status: int = self.run(*args)
        return status


def recalled(spec: CompiledSpec) -> Ready | None:
    """Return a function that this or another process has compiled; None where it has to be made."""
    with loading:
        image = _read(_key(spec))
        if image is None or not is_there(image.part, image.surroundings):
            return None
        entry = kept_code(image.entry)
        if entry is None:
            return None
        code, address = placed(image.part)
        return Ready(image.source, code, address, entry)


def keep(spec: CompiledSpec, source: str, made: Made, entry: MachineCode) -> None:
    """Keep what has been made of a function, where it can run without Numba."""
    if made.is_for_all and entry.digest and is_kept(made.part):
        image = (source, written(made.part), entry.digest, made.surroundings)
        cache_entries.write("image", _key(spec), pickle.dumps(image))


def _read(key: str) -> Image | None:
    content = cache_entries.read("image", key)
    if content is None:
        return None
    source, part, *rest = pickle.loads(content)
    return Image(source, read(part), *rest)


def _key(spec: CompiledSpec) -> str:
    """Return what the text and the code of a function depend on."""
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
