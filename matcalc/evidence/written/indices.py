"""Evaluates parts, blocks, conditions and sums over indices by NumPy indexing, with one index array for each axis."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from matcalc.errors import NoReference
from matcalc.evidence.written.values import Array, Value, aligned, as_matrix, exact, with_axes

RELATIONS: Mapping[str, Callable[[Any, Any], Any]] = {
    "==": operator.eq, "!=": operator.ne, "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge,
}  # fmt: skip

Subscript = int | slice | Value
"""A number, a range, an index (a value along the index axis that it labels), or an array of numbers (a value)."""


def part(base: Value, subscripts: Sequence[Subscript]) -> Value:
    """Return a part of a value. Subscripts are as in NumPy, but ranges are not clipped.

    Raises: IndexError for an index or range outside an axis.
    """
    labels = list(base.axes)
    for one in subscripts:
        labels += [label for label in one.axes if label not in labels] if isinstance(one, Value) else []
    core: list[int] = []  # the lengths of the core axes of the result
    looked_up: int | None = None
    taken: list[tuple[Any, Any]] = []  # for each core axis of `base`, its indices and the first axis of the result
    shape = base.shape
    for axis, length in enumerate(shape):
        one = subscripts[axis] if axis < len(subscripts) else slice(None)
        if isinstance(one, slice):
            taken.append((_range(one, length), len(core)))
            core.append(taken[-1][0].size)
        elif isinstance(one, Value):
            entries = one.array
            if entries.size and (entries.min() < 0 or entries.max() >= length):
                raise IndexError("an index outside an axis")
            if one.rank and looked_up is None:
                looked_up = len(core)
                core += one.shape
            taken.append((one, looked_up))
        else:
            position = one + length if one < 0 else one
            if not 0 <= position < length:
                raise IndexError("an index outside an axis")
            taken.append((np.asarray(position), None))
    count, rank = len(labels), len(core)
    index: list[Array] = [
        _along(np.arange(length), labels.index(label), count + rank)
        for label, length in zip(base.axes, base.array.shape, strict=False)
    ]
    for selected, at in taken:
        if isinstance(selected, Value):
            wide = with_axes(selected, labels)
            shape_of_core = [1] * rank
            if selected.rank:
                shape_of_core[at : at + selected.rank] = selected.shape
            index.append(wide.reshape([*wide.shape[:count], *shape_of_core]))
        elif at is None:
            index.append(selected)
        else:
            index.append(_along(selected, count + at, count + rank))
    found = base.array[tuple(index)] if index else base.array
    lengths = [1] * count
    for label, length in zip(base.axes, base.array.shape, strict=False):
        lengths[labels.index(label)] = length
    for one in subscripts:
        for label, length in zip(one.axes, one.array.shape, strict=False) if isinstance(one, Value) else ():
            lengths[labels.index(label)] = max(lengths[labels.index(label)], length) if length else 0
    found = np.broadcast_to(found, [*lengths, *core])
    return Value(found, tuple(labels), base.row and rank == 1, fixed=base.fixed)


def listed(chosen: Sequence[int], length: int) -> Value:
    """Return a list of indices of an axis, of which negative ones count from the end.

    Raises: IndexError for one outside.
    """
    found = np.asarray(chosen, np.int64)
    if np.any((found < -length) | (found >= length)):
        raise IndexError("an index outside an axis")
    return Value(found % max(length, 1))


def _along(array: Array, axis: int, rank: int) -> Array:
    shape = [1] * rank
    shape[axis] = array.size
    return array.reshape(shape)


def _range(one: slice, length: int) -> Array:
    """Return the indices of a range.

    Raises: IndexError if it does not lie inside the axis.
    """
    step = 1 if one.step is None else one.step
    selected = np.arange(length)[slice(one.start, one.stop, one.step)]
    if step == 1:
        low = 0 if one.start is None else one.start + length * (one.start < 0)
        high = length if one.stop is None else one.stop + length * (one.stop < 0)
        if not 0 <= low <= high <= length:
            raise IndexError("a range outside an axis")
    return selected


def condition(left: Value, relation: str, right: Value) -> Value:
    """Return 1 where a relation of two values holds, and 0 elsewhere."""
    axes, (a, b) = aligned([left, right])
    return Value(np.asarray(RELATIONS[relation](a, b), dtype=float), axes, fixed=True)


def over(value: Value, labels: Sequence[int], lengths: Sequence[int]) -> Value:
    """Return a scalar that depends on indices as a tensor over these indices, in order."""
    if value.rank:
        raise NoReference("an index form whose body is not a scalar")
    rest = tuple(label for label in value.axes if label not in labels)
    order = (*rest, *labels)
    own = with_axes(value, order)
    shape = [*own.shape[: len(rest)], *lengths]
    return Value(np.broadcast_to(own, shape), rest, fixed=value.fixed)


def summed(value: Value, labels: Sequence[int], lengths: Sequence[int]) -> Value:
    """Return a scalar summed over indices; if it does not depend on one, it is multiplied by that length."""
    if value.rank:
        raise NoReference("a sum over indices whose body is not a scalar")
    array, axes = value.array, value.axes
    for label, length in zip(labels, lengths, strict=True):
        if label in axes:
            array = array.sum(axis=axes.index(label))
            axes = tuple(one for one in axes if one != label)
        else:
            array = array * length
    return Value(np.asarray(array), axes, fixed=value.fixed)


def block(rows: Sequence[Sequence[Value]]) -> Value:
    """Return a block matrix; if each row is one scalar or column, the result is a vector."""
    is_vector = all(len(row) == 1 and (row[0].rank == 0 or (row[0].rank == 1 and not row[0].row)) for row in rows)
    values = [as_matrix(value) for row in rows for value in row]
    axes, arrays = aligned(values)
    lengths = np.broadcast_shapes(*(array.shape[: len(axes)] for array in arrays))
    wide = iter([np.broadcast_to(array, (*lengths, *array.shape[len(axes) :])) for array in arrays])
    strips = [np.concatenate([next(wide) for _ in row], axis=-1) for row in rows]
    found = np.concatenate(strips, axis=-2)
    fixed = all(value.fixed for value in values)
    return Value(found[..., 0] if is_vector else found, axes, fixed=fixed)


def index(label: int, length: int, start: int = 0) -> Value:
    """Return the values of an index, along its own index axis."""
    return Value(np.arange(start, start + length), (label,), fixed=True)


def size(number: int) -> Value:
    """Return a size as a number."""
    return exact(number)
