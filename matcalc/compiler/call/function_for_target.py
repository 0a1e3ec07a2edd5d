"""Builds the function of a spec for its target, and checks that a target runs on NumPy arrays."""

from __future__ import annotations

from collections.abc import Sequence

from matcalc.compiler.call.array_function import ArrayFunction
from matcalc.compiler.call.c_function import CFunction
from matcalc.compiler.call.compiled import Compiled
from matcalc.compiler.spec.spec import CompiledSpec
from matcalc.compiler.targets import ON_NUMPY, SAVED, TARGETS
from matcalc.errors import NotSupported
from matcalc.language.identifiers import is_one_of

ELSEWHERE = 'target="numpy" runs it'


def loaded(spec: CompiledSpec, own: Sequence[str]) -> Compiled:
    """Return the function of a spec.

    `own` names the values that come from the user's rules. If Numba cannot compile them, the error lists these names.

    Raises: NotSupported if Numba cannot compile the source.
    """
    if spec.target in SAVED:
        return CFunction(spec)
    if spec.target not in ON_NUMPY:
        return ArrayFunction(spec)
    if spec.target != "numba" or not own:
        return Compiled(spec)
    try:
        return Compiled(spec)
    except Exception as error:
        from numba.core.errors import NumbaError

        if not isinstance(error, NumbaError):
            raise
        lines = [line for line in str(error).splitlines() if line and not line.startswith("Failed in")]
        which = ", ".join(dict.fromkeys(own))
        raise NotSupported(f"Numba cannot compile the {which}: {lines[0]}", hint=ELSEWHERE) from None


def check_on_numpy(target: str) -> None:
    """Raise NotSupported for a target whose functions return a framework's arrays, where NumPy arrays are needed."""
    if is_one_of(target, TARGETS) and target not in ON_NUMPY:
        hint = f"compile, value_and_gradient and export support {target}"
        raise NotSupported(f"this call needs one of the targets {', '.join(ON_NUMPY)}, not {target}", hint=hint)
