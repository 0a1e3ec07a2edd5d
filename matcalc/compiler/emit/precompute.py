"""Writes the function that computes values when data are fixed: the `ahead` of a specification."""

from __future__ import annotations

from collections.abc import Sequence

from matcalc.compiler.emit.blas_axes import blas_axes
from matcalc.compiler.emit.texts import texts_of
from matcalc.compiler.listing import listing
from matcalc.compiler.program import Program
from matcalc.compiler.spec.spec import CompiledSpec, Operand
from matcalc.tensor.sizes.sizes_from_shapes import Condition


def computed(program: Program) -> list[Operand]:
    """Return the arguments of a program that are computed ahead."""
    made = program.ahead.outputs if program.ahead is not None else ()
    return [Operand(b.name, b.shape, "computed ahead", dtype=b.dtype) for b in map(program.buffer, made)]


def ahead_of(program: Program, arguments: Sequence[Operand], name: str, target: str) -> CompiledSpec | None:
    """Return the specification of the function that computes values ahead from these arguments, or None."""
    before = program.ahead
    if before is None or before.proof is None:
        return None
    name, source, numpy_source = texts_of(before, f"{name}_ahead", target)
    return CompiledSpec(
        name=name,
        arguments=tuple(operand for operand in arguments if operand.name in before.inputs),
        outputs=tuple(computed(program)),
        nesting=tuple(range(len(before.outputs))),
        source=source,
        numpy_source=numpy_source,
        target=target,
        sizes=tuple(before.size_args),
        faults=tuple(before.faults),
        plan=listing(before),
        conditions=tuple(
            Condition(size, f"an intermediate array has the size {size}") for size in before.proof.hoisted
        ),
        blas_axes=blas_axes(before, target),
    )
