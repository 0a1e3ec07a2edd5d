"""Computes the sizes of a call from the shapes of its arguments, and the shapes of its results."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from matcalc.compiler.spec.spec import LONGEST_AXIS, CompiledSpec, Operand, size_names, too_long
from matcalc.errors import NotSupported, ShapeError
from matcalc.tensor.sizes.sizes_from_shapes import check_conditions, solve


def solve_sizes(spec: CompiledSpec, shapes: Sequence[Sequence[int]], given: Mapping[str, int]) -> dict[str, int]:
    """Return every size of a call.

    Raises: ShapeError naming the argument whose shape does not fit, or the slice that is out of bounds;
    NotSupported for an axis longer than BLAS supports.
    """
    declared = [(a.name, a.shape) for a in spec.arguments]
    known = solve(declared, {a.name: s for a, s in zip(spec.arguments, shapes, strict=True)}, given)
    missing = [name for name in size_names(spec) if name not in known]
    if missing:
        raise ShapeError(f"the shapes of the arguments do not determine {', '.join(missing)}")
    check_conditions(spec.conditions, known)
    for size in spec.blas_axes:
        if size.evaluate(known) > LONGEST_AXIS:
            raise NotSupported(too_long(size), hint="split the axis, and add up the parts")
    return known


def output_shapes(spec: CompiledSpec, sizes: Mapping[str, int]) -> list[tuple[int, ...]]:
    """Return the shapes of the results.

    Raises: ShapeError for a negative size.
    """
    shapes = []
    for operand in spec.outputs:
        shape = tuple(size.evaluate(sizes) for size in operand.shape)
        for size, length in zip(operand.shape, shape, strict=True):
            if length < 0:
                raise ShapeError(f"the size {size} of {operand.name} is {length}, which is negative")
        shapes.append(shape)
    return shapes


def new_result(operand: Operand, shape: Sequence[int]) -> np.ndarray[Any, np.dtype[Any]]:
    """Return the array that machine code writes a result into; a scalar's has one entry."""
    make = np.zeros if operand.zero_filled else np.empty
    return make(shape or (1,))
