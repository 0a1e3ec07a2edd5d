"""Caches compiled functions as object code, which any process runs without Numba.

An image holds the code of one function, the symbols that it needs, and the table of its calls. Kernels are cached
separately. Everything that the code needs is located before it is loaded. If anything is missing, the function
is compiled anew.
"""

from __future__ import annotations

from typing import NamedTuple

from matcalc.compiler.kernels.kernel_code import Part, is_cached, is_there, part_of, parts, placed
from matcalc.compiler.machine.machine_code import Into, Ready, Table
from matcalc.compiler.spec.spec import CompiledSpec
from matcalc.locks import loading
from matcalc.store import artefacts
from matcalc.store.kinds import FUNCTION


class Made(NamedTuple):
    """A function compiled now: its code, whether other processes can use it, and whether it takes a row of words."""

    part: Part
    is_for_all: bool
    takes_words: bool


def recalled(spec: CompiledSpec) -> Ready | None:
    """Return the cached function of a spec, loaded; None if it must be compiled."""
    with loading:
        image = artefacts.read("image", _inputs(spec))
        if image is None:
            return None
        name, needs, types, takes_words, table, code = image
        part = part_of(name, needs, types, code)
        if not is_there(part):
            return None
        loaded, address = placed(part)
        if takes_words:
            return Ready(Into(address, 0, loaded), table)
        from matcalc.compiler.llvm.word_call import into_numba, kinds_of

        return Ready(into_numba(address, kinds_of(spec), loaded), table)


def keep(spec: CompiledSpec, made: Made, table: Table) -> None:
    """Cache a compiled function, if it can run without Numba."""
    if made.is_for_all and is_cached(made.part):
        *stored, code = parts(made.part)
        artefacts.write("image", _inputs(spec), [*stored, made.takes_words, table, code])


def _inputs(spec: CompiledSpec) -> list[object]:
    return [getattr(spec, name) for name in FUNCTION]
