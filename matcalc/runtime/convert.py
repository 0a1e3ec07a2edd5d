"""The polite way in: any array-like of the declared rank becomes what the code takes, or a clear error."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from matcalc.lengths import check_rank, described
from matcalc.runtime.spec import Operand

Array = NDArray[np.float64]


def to_array(operand: Operand, value: Any) -> Array:
    """Return a C-contiguous float64 array of the declared rank; a copy only where one is needed.

    Raises: TypeError for what holds no real numbers, ShapeError for another rank.
    """
    array = to_numbers(operand, value)
    if array.dtype.kind == "c":
        raise TypeError(f"{described(operand.name, operand.shape)} takes real numbers, not complex numbers")
    try:
        return np.asarray(array, dtype=np.float64, order="C")
    except (TypeError, ValueError) as fault:
        raise TypeError(f"{described(operand.name, operand.shape)} takes real numbers: {fault}") from fault


def to_numbers(operand: Operand, value: Any) -> NDArray[Any]:
    """Return an array of the declared rank, of numbers of any type.

    Raises: TypeError for what holds no numbers, ShapeError for another rank.
    """
    array = _as_array(operand, value)
    check_rank(operand.name, operand.shape, array.shape)
    if array.dtype.kind not in "biufcO":
        raise TypeError(
            f"{described(operand.name, operand.shape)} takes real numbers, not entries of type {array.dtype}"
        )
    if array.dtype.kind == "O" and any(entry is None for entry in array.flat):
        raise TypeError(f"{described(operand.name, operand.shape)} takes real numbers, not None")
    return array


def to_size(name: str, value: Any) -> int:
    """Return a size given as an argument.

    Raises: TypeError for anything but an integer.
    """
    try:
        return int(value.__index__())
    except (AttributeError, TypeError):
        raise TypeError(f"the size {name} is an integer, not {value!r}") from None


def _as_array(operand: Operand, value: Any) -> NDArray[Any]:
    if type(value) is np.ndarray:
        return value
    try:
        if hasattr(value, "__dlpack__") and not isinstance(value, np.ndarray | np.generic):
            return np.from_dlpack(value)
        array = np.asarray(value)
    except (TypeError, ValueError, RuntimeError, BufferError) as fault:
        raise TypeError(f"{described(operand.name, operand.shape)} cannot be read as an array: {fault}") from fault
    if array.dtype.kind == "O" and hasattr(value, "toarray"):
        raise TypeError(f"{described(operand.name, operand.shape)} takes a dense array: give {operand.name}.toarray()")
    return array


def check_out(operand: Operand, value: Any, shape: tuple[int, ...]) -> Array | None:
    """Return the array given for a result, None for a scalar.

    Raises: ValueError unless it is a writable float64 array of exactly this shape.
    """
    if not operand.shape:
        if value is not None:
            raise ValueError(f"out: {operand.name} is a scalar, its place takes None")
        return None
    if not isinstance(value, np.ndarray):
        raise ValueError(f"out: {operand.name} takes an array of shape {shape}, not {type(value).__name__}")
    if value.shape != shape or value.dtype != np.float64:
        found = f"{value.dtype} of shape {value.shape}"
        raise ValueError(f"out: {operand.name} takes a float64 array of shape {shape}, not {found}")
    if not value.flags.writeable:
        raise ValueError(f"out: the array given for {operand.name} is read-only")
    return value


def needs_copy(out: Array, others: Sequence[Any]) -> bool:
    """Whether a result cannot be written in place: not contiguous, or sharing memory with another array."""
    usable = out.flags.c_contiguous and out.flags.aligned and out.dtype.isnative
    return not usable or any(isinstance(o, np.ndarray) and np.may_share_memory(out, o) for o in others)
