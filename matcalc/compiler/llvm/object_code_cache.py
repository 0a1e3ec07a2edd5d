"""Caches compiled functions as object code, which any process runs without Numba.

An image holds the code of one function, the symbols that it needs, and the digest of its entry for Python. Kernels are
cached separately. Everything that the code needs is located before it is loaded. If anything is missing, the function
is compiled anew.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from matcalc.compiler.entry.call_slot import exact_call
from matcalc.compiler.kernels.kernel_code import Part, is_cached, is_there, part_of, parts, placed
from matcalc.compiler.machine.machine_code import MachineCode, cached_code
from matcalc.compiler.spec.spec import CompiledSpec
from matcalc.locks import loading
from matcalc.store import artefacts
from matcalc.store.kinds import FUNCTION


class Made(NamedTuple):
    """A function compiled now: its code, and whether other processes can use it."""

    part: Part
    is_for_all: bool


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
        image = artefacts.read("image", _inputs(spec))
        if image is None:
            return None
        name, needs, types, digest, code = image
        part = part_of(name, needs, types, code)
        entry = cached_code(digest) if is_there(part) else None
        return None if entry is None else Ready(*placed(part), entry)


def keep(spec: CompiledSpec, made: Made, entry: MachineCode) -> None:
    """Cache a compiled function, if it can run without Numba."""
    if made.is_for_all and entry.digest and is_cached(made.part):
        *stored, code = parts(made.part)
        artefacts.write("image", _inputs(spec), [*stored, entry.digest, code])


def _inputs(spec: CompiledSpec) -> list[object]:
    return [getattr(spec, name) for name in FUNCTION]
