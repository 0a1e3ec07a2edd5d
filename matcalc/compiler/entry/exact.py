"""Calls machine code with exact arguments, results among them, as the plain entries of modules do."""

from __future__ import annotations

from typing import Any

from matcalc.compiler.entry.call_slot import exact_call
from matcalc.compiler.entry.call_table import Taken
from matcalc.compiler.kernels.native_kinds import Kind
from matcalc.compiler.llvm.word_call import into_numba
from matcalc.compiler.machine.linker_symbols import address_of
from matcalc.compiler.numba.private_members import available


def exact(dispatcher: Any) -> Any:
    """Return the machine code of a function of one signature; it raises TypeError for inexact arguments."""
    if not available():
        from matcalc.compiler.numba import plain_jit

        return plain_jit.exact(dispatcher)
    compiled = dispatcher.overloads[dispatcher.signatures[0]]
    if not dispatcher.targetoptions.get("no_cpython_wrapper"):
        return compiled.entry_point
    taken = [Taken(str(getattr(k, "dtype", k)), getattr(k, "ndim", 0), getattr(k, "mutable", False))
             for k in compiled.signature.args]  # fmt: skip
    return exact_call(into_numba(address_of(dispatcher), [Kind(one.dtype, one.rank) for one in taken]), taken)
