"""Reads rows and columns of matrices: x_i with X: matrix(n, p), at the index of a sum or at data of indices."""

from __future__ import annotations

from collections.abc import Sequence

from matcalc.language.latex.latex_axes import Axis, indexed, whole_axis
from matcalc.language.latex.latex_data_indices import axis_below_limit
from matcalc.language.latex.latex_scope import Index, Reading, Value, fault
from matcalc.language.one_based import added
from matcalc.language.syntax import Ast, walk
from matcalc.language.write import text as written


def row_of(reading: Reading, large: str, index: Index, layout: Ast, offset: Ast) -> Value | None:
    """Return row or column i + offset of a matrix, if the bound of the sum over i, n or n - 1, decides which."""
    shape = reading.known.shapes.get(large, ("", ""))
    bound = written(index.high) if index.high is not None else index.size
    sizes = [str(x.value) for x in walk(index.high) if x.head == "name"] if index.high is not None else []
    zeros = [k for k in range(len(shape)) if (large, k) in reading.zeros]
    axes = zeros or [k for k, length in enumerate(shape) if length == bound or [length] == sizes]
    tried, kind = reading.known.axes.get(large, (None, "vector"))
    if large in reading.stated and (not axes or reading.stated[large] in axes):
        axes = [reading.stated[large]]
    elif large in reading.stated:
        return None
    axes = axes or ([tried] if tried is not None else [])
    if len(axes) != 1 or tried not in (None, axes[0]):
        return None
    name = Ast("name", (), large, layout.span)
    at = indexed(reading, index, added(offset, 1) if zeros else offset, shape[axes[0]])
    below = [at, (whole_axis(layout), None)] if axes[0] == 0 else [(whole_axis(layout), None), at]
    return _as(kind, part_at(name, below, layout))


def row_at(reading: Reading, large: str, at: Ast, layout: Ast) -> Value:
    """Return the row or column of a matrix at an index that is data."""
    told = axis_below_limit(reading, large, at)
    axis, kind = reading.known.axes.get(large, (reading.stated.get(large, told or 0), "vector"))
    if told not in (None, axis):
        raise fault(f"the range of these indices is that of the other axis of {large}", layout)
    below: list[Axis] = [(whole_axis(layout), None)]
    below.insert(axis, (at, None))
    return _as(kind, part_at(Ast("name", (), large, layout.span), below, layout))


def _as(kind: str, part: Ast) -> Value:
    """Return a part with one axis as a vector, or as a row."""
    return Value(part if kind == "vector" else Ast("transpose", (part,), None, part.span, part.at), kind)


def part_at(base: Ast, axes: Sequence[Axis], layout: Ast) -> Ast:
    """Return a part; if a sum covers only a range of an axis, that range is cut out first."""
    if any(cut is not None for _, cut in axes):
        base = Ast("part", (base, *(cut or whole_axis(layout) for _, cut in axes)), None, layout.span, layout.caret)
    return Ast("part", (base, *(tree for tree, _ in axes)), None, layout.span, layout.caret)
