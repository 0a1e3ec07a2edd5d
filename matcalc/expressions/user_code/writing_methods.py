"""The methods and attributes of a NumPy array that change it, on arrays of a traced function.

Each either writes as NumPy does or raises, since a method that returns a changed copy would lose the change silently.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from matcalc.errors import NotSupported
from matcalc.expressions.user_code.numpy_writes import Flat, put_entries

CHANGING = {
    "partition": "write x.sort()", "resize": "write x = np.concatenate([x, ...]) or x = x[:n]",
    "setfield": "write x[...] = value", "byteswap": "", "setflags": "", "itemset": "write x[k] = value",
}  # fmt: skip
"""Methods that change an array and have no formula -> what to write instead."""


class WritingMethods:
    """Methods that write to an array by its subscripts."""

    __slots__ = ()

    def sort(self, axis: int = -1, kind: object = None, order: object = None, *, stable: object = None) -> None:
        """Sort the entries along an axis, in place."""
        import numpy as np

        if order is not None:
            raise NotSupported("sort: the argument order is not supported")
        self[...] = np.sort(self.copied(), axis=axis)

    def fill(self, value: object) -> None:
        """Write a value to all entries."""
        self[...] = value

    def put(self, indices: object, values: object, mode: str = "raise") -> None:
        """Write values to entries, counted row after row."""
        put_entries(self, indices, values, mode)

    @property
    def flat(self) -> Flat:
        """The entries row after row, to be read and written."""
        return Flat(self)

    @flat.setter
    def flat(self, value: object) -> None:
        self.flat[:] = value

    @property
    def real(self) -> Any:
        """The array itself: all numbers are real here."""
        return self

    @real.setter
    def real(self, value: object) -> None:
        self[...] = value

    @property
    def shape(self) -> Any:
        """The lengths of the axes."""
        return super().shape  # type: ignore[misc]

    @shape.setter
    def shape(self, value: object) -> None:
        raise NotSupported("the shape of an array is not set", hint="write x = x.reshape(...)")

    # The array itself.

    copied: Any
    __getitem__: Any

    def __setitem__(self, at: object, value: object) -> None:
        raise NotImplementedError


def refuse_changing(name: str) -> None:
    """Raise NotSupported for a method that would change an array and has no formula."""
    if name in CHANGING:
        raise NotSupported(f"the method {name}, which changes an array, is not supported", hint=CHANGING[name])


def into_out(made: Any, out: Any, name: str) -> Any:
    """Write a result into the array of `out=`, as NumPy does, and return that array.

    Raises: NotSupported for several arrays or one of numbers, and for another shape.
    """
    target = out[0] if isinstance(out, Sequence) and len(out) == 1 else out
    if not isinstance(target, WritingMethods):
        raise NotSupported(f"np.{name}: the argument out is not supported here", hint="create it inside the function")
    if target.shape != getattr(made, "shape", None):
        raise NotSupported(f"np.{name}: a result of another shape than out")
    target[...] = made
    return target
