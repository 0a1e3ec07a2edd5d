"""Parts, blocks, conditions and sums over indices, by NumPy's indexing with one array of places for each axis."""

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
"""A place, a range, or an index: a value whose one axis is its name; data are places that a value holds."""


def part(base: Value, subscripts: Sequence[Subscript]) -> Value:
    """Return a part of a value. Subscripts are as in NumPy, never clipped; an index names the axis that it stands for.

    Raises: NoReference for a place outside.
    """
    labels = list(base.axes)
    for one in subscripts:
        labels += [label for label in one.axes if label not in labels] if isinstance(one, Value) else []
    kept: list[Array] = []  # the core axes of the result, each as the places that it takes
    looked_up: int | None = None
    taken: list[tuple[Array, Any]] = []  # places with the axis of the result that they go along: labels, or a core axis
    shape = base.shape
    for axis, length in enumerate(shape):
        one = subscripts[axis] if axis < len(subscripts) else slice(None)
        if isinstance(one, slice):
            taken.append((_range(one, length), len(kept)))
            kept.append(taken[-1][0])
        elif isinstance(one, Value):
            places = one.array
            if places.size and (places.min() < 0 or places.max() >= length):
                raise IndexError("a place outside of an axis")
            if one.rank and looked_up is None:
                looked_up = len(kept)
                kept.append(places.reshape(-1)[: one.shape[0]])
            taken.append((one, looked_up))  # type: ignore[arg-type]
        else:
            place = one + length if one < 0 else one
            if not 0 <= place < length:
                raise IndexError("a place outside of an axis")
            taken.append((np.asarray(place), None))
    count, rank = len(labels), len(kept)
    index: list[Array] = [
        _along(np.arange(length), labels.index(label), count + rank)
        for label, length in zip(base.axes, base.array.shape, strict=False)
    ]
    for places, at in taken:
        if isinstance(places, Value):
            wide = with_axes(places, labels)
            core = [1] * rank
            if places.rank:
                core[at] = places.shape[0]
            index.append(wide.reshape([*wide.shape[:count], *core]))
        elif at is None:
            index.append(places)
        else:
            index.append(_along(places, count + at, count + rank))
    found = base.array[tuple(index)] if index else base.array
    lengths = [1] * count
    for label, length in zip(base.axes, base.array.shape, strict=False):
        lengths[labels.index(label)] = length
    for one in subscripts:
        for label, length in zip(one.axes, one.array.shape, strict=False) if isinstance(one, Value) else ():
            lengths[labels.index(label)] = max(lengths[labels.index(label)], length) if length else 0
    found = np.broadcast_to(found, [*lengths, *(places.size for places in kept)])
    return Value(found, tuple(labels), base.row and rank == 1, fixed=base.fixed)


def _along(places: Array, axis: int, rank: int) -> Array:
    shape = [1] * rank
    shape[axis] = places.size
    return places.reshape(shape)


def _range(one: slice, length: int) -> Array:
    """Return the places of a range.

    Raises: IndexError where it does not lie inside.
    """
    step = 1 if one.step is None else one.step
    places = np.arange(length)[slice(one.start, one.stop, one.step)]
    if step == 1:
        low = 0 if one.start is None else one.start + length * (one.start < 0)
        high = length if one.stop is None else one.stop + length * (one.stop < 0)
        if not 0 <= low <= high <= length:
            raise IndexError("a range outside of an axis")
    return places


def condition(left: Value, relation: str, right: Value) -> Value:
    """Return 1 where a relation of two values holds, and 0 elsewhere."""
    axes, (a, b) = aligned([left, right])
    return Value(np.asarray(RELATIONS[relation](a, b), dtype=float), axes, fixed=True)


def over(value: Value, labels: Sequence[int], lengths: Sequence[int]) -> Value:
    """Return a number that depends on indices as a tensor over these indices, in order."""
    if value.rank:
        raise NoReference("an index form of what is no number")
    rest = tuple(label for label in value.axes if label not in labels)
    order = (*rest, *labels)
    own = with_axes(value, order)
    shape = [*own.shape[: len(rest)], *lengths]
    return Value(np.broadcast_to(own, shape), rest, fixed=value.fixed)


def summed(value: Value, labels: Sequence[int], lengths: Sequence[int]) -> Value:
    """Return a number summed over indices; one that does not depend on an index counts as often as it is long."""
    if value.rank:
        raise NoReference("a sum over indices of what is no number")
    array, axes = value.array, value.axes
    for label, length in zip(labels, lengths, strict=True):
        if label in axes:
            array = array.sum(axis=axes.index(label))
            axes = tuple(one for one in axes if one != label)
        else:
            array = array * length
    return Value(np.asarray(array), axes, fixed=value.fixed)


def block(rows: Sequence[Sequence[Value]]) -> Value:
    """Return a block matrix; scalars and columns below one another are a vector."""
    is_vector = all(len(row) == 1 and (row[0].rank == 0 or (row[0].rank == 1 and not row[0].row)) for row in rows)
    values = [as_matrix(value) for row in rows for value in row]
    axes, arrays = aligned(values)
    lengths = np.broadcast_shapes(*(array.shape[: len(axes)] for array in arrays))
    wide = iter([np.broadcast_to(array, (*lengths, *array.shape[len(axes) :])) for array in arrays])
    made = [np.concatenate([next(wide) for _ in row], axis=-1) for row in rows]
    found = np.concatenate(made, axis=-2)
    fixed = all(value.fixed for value in values)
    return Value(found[..., 0] if is_vector else found, axes, fixed=fixed)


def index(label: int, length: int) -> Value:
    """Return the places of an index, along the axis of its name."""
    return Value(np.arange(length), (label,), fixed=True)


def size(number: int) -> Value:
    """Return a size as a number."""
    return exact(number)
