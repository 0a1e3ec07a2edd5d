"""The values that the reference evaluator computes with: arrays with named index axes in front, and a row mark.

A `Value` is what a part of a syntax tree evaluates to at given data. Inside an index form it depends on indices: each
is an axis in front, named by a number. The axes behind are the core: none of a scalar, one of a vector, two of a
matrix. Nothing here knows nodes, facts or derivatives.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from matcalc.errors import NoReference

Array = np.ndarray[Any, np.dtype[Any]]


@dataclass(frozen=True, slots=True)
class Value:
    """An array: one axis for each index in `axes`, then the core axes.

    `row` marks a vector that is read as a row. `exact` is the number, of an expression of numbers and sizes alone.
    `fixed` says that no data are in it: where it is 0, a product that holds it is 0, whatever else it holds.
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
    value = Fraction(number)
    return Value(np.asarray(as_float(value)), exact=value, fixed=True)


def as_float(number: Fraction) -> float:
    """Return the nearest float, infinite where there is none."""
    try:
        return float(number)
    except OverflowError:
        return float("inf") if number > 0 else float("-inf")


def aligned(values: Sequence[Value]) -> tuple[tuple[int, ...], list[Array]]:
    """Return all index axes of values, and their arrays with an axis for each (of length 1 where there is none)."""
    axes = tuple(dict.fromkeys(label for value in values for label in value.axes))
    return axes, [with_axes(value, axes) for value in values]


def with_axes(value: Value, axes: Sequence[int]) -> Array:
    """Return the array with these index axes in this order, of length 1 where the value has none of a name."""
    if tuple(axes) == value.axes:
        return value.array
    order = [value.axes.index(label) for label in axes if label in value.axes]
    count = len(value.axes)
    turned = np.transpose(value.array, [*order, *range(count, value.array.ndim)])
    lengths = iter(turned.shape[:count])
    return turned.reshape([*(next(lengths) if label in value.axes else 1 for label in axes), *value.shape])


def core_expanded(arrays: Sequence[Array], count: int) -> list[Array]:
    """Return arrays with `count` index axes and cores of one rank: NumPy's rule, new axes in front of the core."""
    rank = max(array.ndim - count for array in arrays)
    return [a.reshape([*a.shape[:count], *[1] * (rank - a.ndim + count), *a.shape[count:]]) for a in arrays]


def in_one_shape(values: Sequence[Value], numpy: bool) -> tuple[tuple[int, ...], list[Array], bool]:
    """Return values expanded to one shape: the index axes, arrays that broadcast, whether the result is a row.

    A scalar goes everywhere. In the matrix language a column goes along columns and a row along rows; with `numpy`
    shapes are aligned at their last axis. What has one entry is a scalar where it does not fit otherwise.

    Raises: NoReference where they do not fit.
    """
    found = _expanded(values, numpy) or _expanded([as_scalar(v) if is_one(v) else v for v in values], numpy)
    if found is None:
        raise NoReference("shapes that do not fit")
    return found


def _expanded(values: Sequence[Value], numpy: bool) -> tuple[tuple[int, ...], list[Array], bool] | None:
    ranked = [value for value in values if value.rank]
    if len({(value.shape, value.row) for value in ranked}) < 2 and not any(value.axes for value in values):
        return (), [value.array for value in values], bool(ranked) and ranked[0].row
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
    """Return a scalar as 1 x 1, a row as 1 x n, a column as n x 1; a matrix as it is."""
    if value.rank == 0:
        return replace(value, array=value.array[..., None, None], row=False)
    if value.rank == 1:
        return replace(value, array=value.array[..., None, :] if value.row else value.array[..., None], row=False)
    return value


def as_scalar(value: Value) -> Value:
    """Return a value with one entry as a scalar.

    Raises: NoReference for one with another number of entries.
    """
    if any(length != 1 for length in value.shape):
        raise NoReference("a value that is no scalar")
    return replace(value, array=value.array.reshape(value.array.shape[: len(value.axes)]), row=False)


def is_one(value: Value) -> bool:
    """Whether a value has one entry, and axes."""
    return bool(value.rank) and all(length == 1 for length in value.shape)


def switched_product(arrays: Sequence[Array], fixed: Sequence[bool]) -> Array:
    """Return the product of arrays by entries; 0 wherever one of them that is `fixed` is 0."""
    total = arrays[0]
    for array in arrays[1:]:
        total = total * array
    for array, is_fixed in zip(arrays, fixed, strict=True):
        if is_fixed and not np.all(array):
            total = np.where(array == 0, 0.0, total)
    return np.asarray(total)
