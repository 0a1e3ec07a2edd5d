"""Checks and converts the arguments of compiled code that both njit code and Python call.

Numba misreads an array of the other byte order as native. After one read-only array of a type, it also accepts a
misaligned or masked array as that type. Such arrays cannot occur in njit code, so only calls from Python are checked.
"""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
from numba import types
from numba.extending import overload


def integers(places: Any) -> Any:
    """Return indices in the type that compiled code takes. Only njit code calls this; Numba rejects other types."""
    raise NotImplementedError


@overload(integers, strict=False)  # type: ignore[untyped-decorator]
def _integers(places: Any) -> Any:
    if isinstance(places, types.Integer):
        return lambda places: np.int64(places)
    if not isinstance(places, types.Array) or not isinstance(places.dtype, types.Integer):
        return None
    if places.dtype == types.int64:
        return lambda places: np.ascontiguousarray(places)
    return lambda places: places.astype(np.int64)


def stored_places(places: Any) -> Any:
    """Return columns or row starts of a sparse matrix in the type that compiled code takes."""
    raise NotImplementedError


@overload(stored_places, strict=False)  # type: ignore[untyped-decorator]
def _stored_places(places: Any) -> Any:
    if not isinstance(places, types.Array) or not isinstance(places.dtype, types.Integer):
        return None
    if places.dtype == types.int32:
        return lambda places: np.ascontiguousarray(places)
    return lambda places: places.astype(np.int32)


def _fault(array: np.ndarray[Any, Any]) -> str:
    if isinstance(array, np.ma.MaskedArray):
        return "a masked array: give .filled(...)"
    if not array.dtype.isnative:
        return f"an array of type {array.dtype}: its bytes are in another order than this machine's"
    return "" if array.flags.aligned else "a misaligned array: give a copy"


@numba.njit(error_model="numpy", nogil=True)  # type: ignore[untyped-decorator]
def share(one: Any, other: Any) -> bool:
    """Whether two C-contiguous arrays share memory."""
    if one.size == 0 or other.size == 0:
        return False
    first, second = one.ctypes.data, other.ctypes.data
    return first < second + other.nbytes and second < first + one.nbytes  # type: ignore[no-any-return]


Dispatcher: Any = type(share)
"""Numba's class of njit functions."""


class Guarded(Dispatcher):  # type: ignore[misc]
    """A compiled function that raises TypeError for arrays which Numba would misread."""

    def __call__(self, *args: Any) -> Any:
        for number, value in enumerate(args, 1):
            if isinstance(value, np.ndarray) and (fault := _fault(value)):
                raise TypeError(f"{self.__name__}: argument {number} is {fault}")
        return super().__call__(*args)
