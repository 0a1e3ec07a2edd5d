"""The function of a spec: what a target's is, and which targets are for what takes arrays of NumPy."""

from __future__ import annotations

from collections.abc import Sequence

from matcalc.compiler.runtime.array_function import ArrayFunction
from matcalc.compiler.runtime.c_function import CFunction
from matcalc.compiler.runtime.compiled import Compiled
from matcalc.compiler.runtime.spec import CompiledSpec
from matcalc.compiler.targets import ON_NUMPY, SAVED, TARGETS
from matcalc.errors import NotSupported
from matcalc.language.identifiers import is_one_of

ELSEWHERE = 'target="numpy" runs it'


def loaded(spec: CompiledSpec, own: Sequence[str]) -> Compiled:
    """Load generated source; `own` are the values of rules in it, which Numba may refuse."""
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
    """Raise NotSupported for a target whose functions return arrays of a framework: those of NumPy are needed."""
    if is_one_of(target, TARGETS) and target not in ON_NUMPY:
        hint = "compile, value_and_gradient and export take it"
        raise NotSupported(f"the target {target} is not for this: one of {', '.join(ON_NUMPY)}", hint=hint)
