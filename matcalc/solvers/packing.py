"""Packs named arrays into the flat vector of float64 that a solver works on.

Arrays are packed row-major, one after the other, in the order of the names. If a variable has a pattern, only the
entries in the pattern are variables of the solver; the others are 0.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import prod

import numpy as np
from numpy.typing import ArrayLike, NDArray

Vector = NDArray[np.float64]
Matrix = NDArray[np.float64]
Integers = NDArray[np.int64]
Table = NDArray[np.int64]


@dataclass(frozen=True)
class Packing:
    """Arrays of these shapes as a vector; `entries` are the row-major indices of partly packed arrays, by name."""

    shapes: dict[str, tuple[int, ...]]
    entries: Mapping[str, NDArray[np.intp]] = field(default_factory=dict)

    @staticmethod
    def of(arrays: Mapping[str, ArrayLike], names: Sequence[str] | None = None) -> Packing:
        """Return the packing of `arrays` in the order of `names`, by default their own order."""
        return Packing({name: np.shape(arrays[name]) for name in (arrays if names is None else names)})

    def indices(self, name: str) -> NDArray[np.intp]:
        """Return the row-major indices of an array's packed entries."""
        found = self.entries.get(name)
        return np.arange(prod(self.shapes[name])) if found is None else found

    @property
    def size(self) -> int:
        return sum(len(self.indices(name)) for name in self.shapes)

    def pack(self, arrays: Mapping[str, ArrayLike]) -> Vector:
        """Return a new vector with the entries of `arrays`; a number fills its array.

        Raises: ValueError for an array that is missing or has another shape.
        """
        parts = []
        for name, shape in self.shapes.items():
            if name not in arrays:
                raise ValueError(f"no value is given for {name}")
            array = np.asarray(arrays[name], np.float64)
            if array.shape not in ((), shape):
                raise ValueError(f"{name} has shape {shape}, not {array.shape}")
            parts.append(np.broadcast_to(array, shape).reshape(-1)[self.indices(name)])
        return np.concatenate(parts) if parts else np.zeros(0)

    def unpack(self, x: ArrayLike) -> dict[str, Vector]:
        """Return new arrays with the entries of the vector `x`; a scalar has shape ().

        Raises: ValueError for a vector of another length.
        """
        flat = np.array(x, np.float64)  # a copy: with bounds, SciPy passes broadcast arrays
        if flat.shape != (self.size,):
            raise ValueError(f"a vector of shape {flat.shape} does not hold {self.size} variables")
        found, start = {}, 0
        for name, shape in self.shapes.items():
            places = self.indices(name)
            array = np.zeros(prod(shape))
            array[places] = flat[start : start + len(places)]
            found[name] = array.reshape(shape)
            start += len(places)
        return found

    def columns(self, rows: int, blocks: Mapping[str, Vector]) -> Vector:
        """Return the matrix with a column per variable, from arrays whose leading axes have `rows` entries in total."""
        parts = [np.reshape(blocks[n], (rows, prod(s)))[:, self.indices(n)] for n, s in self.shapes.items()]
        return np.concatenate(parts, axis=1) if parts else np.zeros((rows, 0))
