"""Calls machine code with exact arguments, results among them."""

from __future__ import annotations

from typing import Any

from matcalc.compiler.entry.call_slot import EXACT, exact_call
from matcalc.compiler.entry.call_table import Taken
from matcalc.compiler.kernels.native_kinds import Kind
from matcalc.compiler.llvm.word_call import into_numba
from matcalc.compiler.machine.linker_symbols import address_of
from matcalc.compiler.numba.private_members import available


def exact(dispatcher: Any) -> Any:
    """Return the machine code of a function of one signature; it raises TypeError for inexact arguments.

    Where machine code cannot be called, it is the function itself, which converts some arguments.
    """
    if EXACT is None or not available():
        return dispatcher
    kinds = dispatcher.overloads[dispatcher.signatures[0]].signature.args
    assert all(getattr(k, "layout", "C") == "C" for k in kinds)
    taken = [Taken(str(getattr(k, "dtype", k)), getattr(k, "ndim", 0), getattr(k, "mutable", False)) for k in kinds]
    return exact_call(into_numba(address_of(dispatcher), [Kind(one.dtype, one.rank) for one in taken]), taken)
