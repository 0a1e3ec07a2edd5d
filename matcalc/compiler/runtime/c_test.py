"""The self-test of a saved file of C."""
from __future__ import annotations
from collections.abc import Sequence
from matcalc.compiler.runtime.spec import CompiledSpec, Derivative

def test_text(specs: Sequence[CompiledSpec], derivatives: Sequence[Derivative]) -> str:
    return ""
