"""Defines a list after a loop that appended to it once a step: its entries are one array.

The list can be made an array, stacked, summed and indexed. Operators of lists (`+` joins, `*` repeats) are refused,
since those of arrays mean something else.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NoReturn

from matcalc.errors import NotSupported
from matcalc.expressions.numpy_bridge.arguments import is_array
from matcalc.expressions.numpy_bridge.operators import Operation
from matcalc.expressions.traced_array import TracedArray

STACKING = ("stack", "vstack", "row_stack", "column_stack", "hstack", "concatenate", "dstack")
"""NumPy's functions of a list of arrays."""


class StepList(TracedArray):
    """A list of a symbolic number of arrays of one shape."""

    def _refuse(self, *_: object) -> NoReturn:
        hint = "make it an array first: np.array(xs)"
        raise NotSupported("a list of a symbolic number of entries is not changed, joined or repeated", hint=hint)

    def _with_other(self, operation: Operation, other: object, swap: bool = False) -> object:
        if not swap or not is_array(other):
            self._refuse()
        return self.copied()._with_other(operation, other, swap)

    def __array_function__(self, function: Any, types: object, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        return function(*map(_as_array, args), **kwargs)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        return getattr(ufunc, method)(*map(_as_array, inputs), **kwargs)

    def __getitem__(self, at: object) -> Any:
        part = self.copied()[at]
        return StepList(part.node, part.names) if isinstance(at, slice) else part

    append = extend = insert = pop = remove = reverse = clear = _refuse
    sort = _refuse  # type: ignore[assignment]
    __setitem__ = __neg__ = __pos__ = __iadd__ = __imul__ = _refuse

    def stacked(self, function: str, axis: int = 0) -> Any:
        """Return what NumPy's function of this list returns.

        Raises: NotSupported for a function that joins the entries along an axis of theirs.
        """
        import numpy as np

        array = self.copied()
        if function == "stack":
            moved: Any = np.moveaxis
            return moved(array, 0, axis)
        if function in ("vstack", "row_stack") and array.ndim <= 2:
            return array if array.ndim == 2 else array[:, None]
        if function == "column_stack" and array.ndim == 2:
            return array.T
        raise NotSupported(f"np.{function} of a symbolic number of arrays", hint="write np.array(xs), and reshape it")


def _as_array(value: Any) -> Any:
    return value.copied() if isinstance(value, StepList) else value


def stacking(theirs: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function of a list of arrays that accepts a list of a symbolic number of them."""

    def called(arrays: Any, *args: Any, **options: Any) -> Any:
        if isinstance(arrays, StepList):
            return arrays.stacked(theirs.__name__, *args, **options)
        return theirs(arrays, *args, **options)

    called.__name__ = theirs.__name__
    return called
