"""The inputs of `compile` and `value_and_gradient`, as users pass them.

This module imports no reader of formulas, so that the cache is searched without reading a formula.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from numpy.typing import DTypeLike

    from matcalc.expressions.operands.handle import Key, Symbol, Wrt
    from matcalc.expressions.read_input import Readable, Readables
    from matcalc.language.declare import Declarations


Outputs: TypeAlias = "Readable | Sequence[Outputs]"
"""A formula, or nested tuples and lists of formulas."""


@dataclass(frozen=True, slots=True)
class CompileInputs:
    """The inputs of `compile`."""

    outputs: Outputs
    args: Sequence[Symbol] | None
    target: str
    dtype: DTypeLike
    sizes: Mapping[Key, int] | None
    declarations: Declarations
    dialect: str
    name: str
    check_facts: bool
    guards: str
    check: bool
    checkpoints: object = None


@dataclass(frozen=True, slots=True)
class GradientInputs:
    """The inputs of `value_and_gradient`."""

    f: Readables
    wrt: Wrt
    declarations: Declarations
    dialect: str
    convention: str
    target: str
    sizes: Mapping[Key, int] | None
    name: str
    check_facts: bool
    dtype: DTypeLike
    check: bool
    checkpoints: object = None


Inputs: TypeAlias = CompileInputs | GradientInputs
