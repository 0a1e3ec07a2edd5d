"""Values of the reference evaluator: arrays with labelled index axes in front, and a row mark.

A subtree of a syntax tree evaluates to a `Value`. Inside an index form it depends on indices: each is a leading axis,
labelled by a number. The other axes are the core: none for a scalar, one for a vector, two for a matrix. Nodes, facts
and derivatives are not used here.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from matcalc.errors import NoReference

Array = np.ndarray[Any, np.dtype[Any]]

STEP_AXIS = -1_000_000
"""The label of the index axis of data at several steps along a direction. No index has it."""


class Value(NamedTuple):
    """An array: one axis for each index in `axes`, then the core axes.

    `row` marks a vector that is read as a row. `exact` is the exact number if it depends on numbers and sizes only.
    `fixed` marks a value that does not depend on data: where it is 0, a product with it is 0, even with NaN.
    """

    array: Array
    axes: tuple[int, ...] = ()
    row: bool = False
    exact: Fraction | None = None
    fixed: bool = False

    @property
    def rank(self) -> int:
        return self.array.ndim - len(self.axes)

    @property
    def shape(self) -> tuple[int, ...]:
        """The lengths of the core axes."""
        return tuple(self.array.shape[len(self.axes) :])


def exact(number: Fraction | int) -> Value:
    """Return a number as a value."""
    value = number if isinstance(number, Fraction) else Fraction(number)
    return Value(np.asarray(as_float(value)), exact=value, fixed=True)


def as_float(number: Fraction) -> float:
    """Return the nearest float; infinite if the number is too large."""
    try:
        return float(number)
    except OverflowError:
        return float("inf") if number > 0 else float("-inf")


def largest(array: Any) -> float:
    """Return the largest magnitude of an array; 0 if it is empty, NaN if it contains NaN."""
    sizes = np.abs(array)
    return float(np.maximum.reduce(sizes, axis=None, initial=0.0)) if sizes.ndim else float(sizes)


def aligned(values: Sequence[Value]) -> tuple[tuple[int, ...], list[Array]]:
    """Return all index axes of values, and their arrays with each of them (of length 1 if the value lacks it)."""
    axes = tuple(dict.fromkeys([label for value in values for label in value.axes]))
    return axes, [with_axes(value, axes) if axes else value.array for value in values]


def with_axes(value: Value, axes: Sequence[int]) -> Array:
    """Return the array with these index axes in this order, of length 1 if the value lacks one."""
    if tuple(axes) == value.axes:
        return value.array
    order = [value.axes.index(label) for label in axes if label in value.axes]
    count = len(value.axes)
    ordered = np.transpose(value.array, [*order, *range(count, value.array.ndim)])
    lengths = iter(ordered.shape[:count])
    return ordered.reshape([*(next(lengths) if label in value.axes else 1 for label in axes), *value.shape])


def core_expanded(arrays: Sequence[Array], count: int) -> list[Array]:
    """Return arrays with `count` index axes and cores of one rank; as in NumPy, new axes precede the core."""
    rank = max(array.ndim - count for array in arrays)
    return [a.reshape([*a.shape[:count], *[1] * (rank - a.ndim + count), *a.shape[count:]]) for a in arrays]


def in_one_shape(values: Sequence[Value], numpy: bool) -> tuple[tuple[int, ...], list[Array], bool]:
    """Return values expanded to one shape: the index axes, arrays that broadcast, whether the result is a row.

    In the matrix language a vector expands as a column (n x 1) or, if it is marked, as a row (1 x n). With `numpy`
    shapes are aligned at their last axis. A value with one entry is a scalar if it does not fit otherwise.

    Raises: NoReference if they do not fit.
    """
    found = _expanded(values, numpy) or _expanded([as_scalar(v) if is_one(v) else v for v in values], numpy)
    if found is None:
        raise NoReference("shapes that do not fit together")
    return found


def _expanded(values: Sequence[Value], numpy: bool) -> tuple[tuple[int, ...], list[Array], bool] | None:
    if not any([value.axes for value in values]):
        shaped = [value for value in values if value.array.ndim]
        first = shaped[0] if shaped else values[0]
        if all([value.array.shape == first.array.shape and value.row == first.row for value in shaped[1:]]):
            return (), [value.array for value in values], bool(shaped) and first.row
    ranked = [value for value in values if value.rank]
    marks = {value.row for value in ranked if value.rank == 1}
    flat = {value.rank for value in ranked} <= {1}
    if not numpy and max((value.rank for value in ranked), default=0) > 2 and len({v.rank for v in ranked}) > 1:
        return None
    if not (numpy or flat and len(marks) < 2):
        values = [as_matrix(value) if value.rank == 1 else value for value in values]
    axes, arrays = aligned(values)
    arrays = core_expanded(arrays, len(axes))
    try:
        np.broadcast_shapes(*(array.shape for array in arrays))
    except ValueError:
        return None
    return axes, arrays, flat and marks == {True}


def as_matrix(value: Value) -> Value:
    """Return a scalar as 1 x 1, a row as 1 x n, a column as n x 1; other values unchanged."""
    if value.rank == 0:
        return value._replace(array=value.array[..., None, None], row=False)
    if value.rank == 1:
        return value._replace(array=value.array[..., None, :] if value.row else value.array[..., None], row=False)
    return value


def as_scalar(value: Value) -> Value:
    """Return a value with one entry as a scalar.

    Raises: NoReference for another number of entries.
    """
    if any(length != 1 for length in value.shape):
        raise NoReference("a value that is not a scalar")
    return value._replace(array=value.array.reshape(value.array.shape[: len(value.axes)]), row=False)


def is_one(value: Value) -> bool:
    """Whether a value has axes, and one entry."""
    return bool(value.rank) and all(length == 1 for length in value.shape)


def switched_product(arrays: Sequence[Array], fixed: Sequence[bool]) -> Array:
    """Return the product of arrays by entries; it is 0 wherever a `fixed` one is 0."""
    total = arrays[0]
    for array in arrays[1:]:
        total = total * array
    for array, is_fixed in zip(arrays, fixed, strict=True):
        if is_fixed and not np.all(array):
            total = np.where(array == 0, 0.0, total)
    return np.asarray(total)
