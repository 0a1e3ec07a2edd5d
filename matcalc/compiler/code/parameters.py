"""Returns the kinds of the parameters of a Program's function."""

from __future__ import annotations

from matcalc.compiler.kernels.native_kinds import INTEGER, Kind
from matcalc.compiler.program import Program


def parameter_kind(program: Program, name: str) -> Kind:
    """Return the kind of a parameter: an integer if it is a size; a result that is a number has one entry."""
    if name not in program.table:
        return INTEGER
    buffer = program.table[name]
    return Kind(buffer.dtype, len(buffer.shape) or int(buffer.role == "output"))
