"""Finds the out-of-range index in the data of a call, after compiled code has returned its fault status."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from matcalc.compiler.spec.result_shapes import solve_sizes
from matcalc.compiler.spec.spec import CompiledSpec
from matcalc.errors import ShapeError
from matcalc.tensor.sizes.size import COMPOUND, Atom, Size
from matcalc.tensor.sizes.size_tree import ENTRY
from matcalc.tensor.sizes.sizes_from_shapes import outside


def check_indices(spec: CompiledSpec, inputs: Sequence[Any]) -> None:
    """Raise ShapeError for the first entry of the data that is no index of the axis it selects from."""
    count = len(spec.arguments)
    arrays = [np.asarray(value) for value in inputs[:count]]
    given = dict(zip(spec.sizes, inputs[count:], strict=True))
    frame: dict[str, Any] = {**solve_sizes(spec, [array.shape for array in arrays], given)}
    frame |= {o.name: array for o, array in zip(spec.arguments, arrays, strict=True) if o.dtype != "float64"}
    for checked in spec.data:
        spans = np.ix_(*(np.arange(_value(size, frame)) for _, size in checked.axes))
        axes = {axis: span for (axis, _), span in zip(checked.axes, spans, strict=True)}
        indices, length = np.asarray(_value(checked.index, {**frame, **axes})), int(_value(checked.length, frame))
        wrong = np.argwhere((indices < 0) | (indices >= length))
        if len(wrong):
            entry = tuple(map(int, wrong[0]))
            raise ShapeError(outside(checked.text, entry, int(indices[entry]), length, str(checked.length)))


def _value(size: Size, frame: Mapping[str, Any]) -> Any:
    """Return the value of a size for these values of its names: an integer, or an array of integers."""
    total: Any = 0
    for monomial, coefficient in size.terms:
        term: Any = int(coefficient)
        for atom, power in monomial:
            term = term * _factor(atom, frame) ** power
        total = total + term
    return total


def _factor(atom: Atom, frame: Mapping[str, Any]) -> Any:
    if isinstance(atom, str):
        return frame[atom]
    if atom.operator == ENTRY:
        data, at = atom.place
        return frame[data.key][tuple(_value(index, frame) for index in at)]
    combined = COMPOUND[atom.operator]
    entrywise = np.vectorize(lambda a, b: int(combined(Size.of(int(a)), Size.of(int(b)))), otypes=[np.int64])
    return entrywise(_value(atom.left, frame), _value(atom.right, frame))
