"""Checks that the text of a function is that of its Code, from which the machine code is made."""

from __future__ import annotations

from matcalc.compiler.code.compare_text import difference
from matcalc.compiler.spec.spec import CompiledSpec
from matcalc.errors import InternalError
from matcalc.evidence.written.claims import ADVICE


def check_text(spec: CompiledSpec) -> None:
    """Raise InternalError if the text of a function has another meaning than its Code."""
    line = difference(spec.source)
    if line:
        raise InternalError(f"the text of {spec.name} failed its check: {line}", hint=ADVICE)
