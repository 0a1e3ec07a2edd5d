"""Lists the entries of selectors that are 1, without forming the array."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

Column = NDArray[np.int64]


def entries(kind: str, shape: Sequence[int], offset: int) -> list[Column]:
    """Return the indices of the entries of a selector that are 1, an array for each axis."""
    columns = _COLUMNS[kind](shape, offset)
    inside = np.all([(c >= 0) & (c < length) for c, length in zip(columns, shape, strict=True)], axis=0)
    return [np.asarray(c[inside], dtype=np.int64) for c in columns]


def _merge(shape: Sequence[int], offset: int) -> list[Column]:
    return [np.arange(shape[0]), *(c.ravel() for c in np.indices(shape[1:]))]


def _slice(shape: Sequence[int], offset: int) -> list[Column]:
    j = np.arange(shape[1])
    return [j + offset, j]


def _mask(shape: Sequence[int], offset: int) -> list[Column]:
    i, j = np.indices(shape)
    return list(np.stack([i[i - j >= offset], j[i - j >= offset]]))


def _flip(shape: Sequence[int], offset: int) -> list[Column]:
    j = np.arange(shape[1])
    return [shape[0] - 1 - j, j]


def _shift(shape: Sequence[int], offset: int) -> list[Column]:
    j = np.arange(shape[1])
    return [(j + offset) % max(shape[1], 1), j]


def _conv(shape: Sequence[int], offset: int) -> list[Column]:
    i, j = (c.ravel() for c in np.indices(shape[1:]))
    return [i + j + offset, i, j]


def _triangle(shape: Sequence[int], offset: int) -> list[Column]:
    i, j = (c.ravel() for c in np.indices(shape[1:]))
    i, j = i[i >= j], j[i >= j]
    return [i + j * shape[1] - j * (j + 1) // 2, i, j]


_COLUMNS: dict[str, Callable[[Sequence[int], int], list[Column]]] = {
    "merge": _merge,
    "slice": _slice,
    "mask": _mask,
    "flip": _flip,
    "shift": _shift,
    "conv": _conv,
    "triangle": _triangle,
}
