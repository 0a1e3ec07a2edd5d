"""Converts any array-like of the declared rank to the form that compiled code takes, or raises a clear error."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

import numpy as np
from numpy.typing import NDArray

from matcalc.compiler.spec.spec import Operand
from matcalc.errors import NotSupported
from matcalc.language.identifiers import shown
from matcalc.tensor.sizes.sizes_from_shapes import check_rank

Array = NDArray[np.float64]
Shape = tuple[int, ...]
TYPES = ("float64", "float32")
"""The types that results can have."""


def to_array(operand: Operand, value: Any, batched: bool = False) -> Array:
    """Return an aligned C-contiguous array of native float64 of the declared rank; it is a copy only if needed.

    Index arguments become int64. With `batched`, further leading axes are allowed.

    Raises: TypeError for entries that are no real numbers, ShapeError for another rank.
    """
    array = to_numbers(operand, value, batched)
    if array.dtype.kind == "c":
        raise TypeError(f"{operand.declared} takes real numbers, not complex numbers")
    return np.asarray(array, dtype=operand.dtype, order="C")


def to_numbers(operand: Operand, value: Any, batched: bool = False) -> NDArray[Any]:
    """Return an aligned array of the declared rank: integers unchanged, others as float64 or complex128.

    Raises: TypeError for entries that are no numbers or a mask, ShapeError for another rank.
    """
    array = _as_array(operand, value)
    if not batched or array.ndim < len(operand.shape):
        check_rank(operand.name, operand.shape, array.shape, operand.declared)
    what = operand.declared
    if operand.dtype != "float64" and array.size and array.dtype.kind not in "iu":
        raise TypeError(_no_integers(operand, array))
    if array.dtype.kind not in "biufcO":
        raise TypeError(f"{what} takes real numbers, not entries of type {array.dtype}")
    if array.dtype.kind in "biu":
        return array if array.flags.aligned else array.copy()
    entries = list(array.flat) if array.dtype.kind == "O" else []
    for entry in entries:
        if not (np.iscomplexobj(entry) or hasattr(entry, "__float__")) or _has_mask(entry):
            raise TypeError(f"{what} takes real numbers, not {shown(entry)}")
    dtype = np.complex128 if array.dtype.kind == "c" or any(map(np.iscomplexobj, entries)) else np.float64
    try:
        array = np.asarray(array, dtype=dtype)
    except (TypeError, ValueError, OverflowError) as fault:
        raise TypeError(f"{what} takes real numbers: {fault}") from fault
    return array if array.flags.aligned else array.copy()


def _no_integers(operand: Operand, array: NDArray[Any]) -> str:
    """Return the error message for an index argument whose entries are no integers."""
    given = f"entries of type {array.dtype}" if array.ndim else f"{array.item()!r}"
    hint = f": give {operand.name}.astype(int)" if array.ndim and array.dtype.kind == "f" else ""
    return f"{operand.declared} takes integers, not {given}{hint}"


def to_size(name: str, value: Any) -> int:
    """Return a size that is passed as an argument.

    Raises: TypeError for anything but an integer.
    """
    if not isinstance(value, bool):
        with suppress(AttributeError, TypeError):
            return int(value.__index__())
    raise TypeError(f"the size {name} is an integer, not {shown(value)}")


def _as_array(operand: Operand, value: Any) -> NDArray[Any]:
    if type(value) is np.ndarray:
        return value
    if _has_mask(value, len(operand.shape)):
        raise TypeError(_masked(operand))
    try:
        if hasattr(value, "__dlpack__") and not isinstance(value, np.ndarray | np.generic):
            return np.from_dlpack(value)
        array = np.asanyarray(value)
    except RecursionError:  # the conversion of this value calls the function again
        raise
    except (TypeError, ValueError, RuntimeError, BufferError, OverflowError) as fault:
        raise TypeError(f"{operand.declared} cannot be read as an array: {fault}") from fault
    if _has_mask(array):  # the conversion to an array added a mask
        raise TypeError(_masked(operand))
    if array.dtype.kind == "O" and hasattr(value, "toarray"):
        other = ", or declare it sparse" if len(operand.shape) == 2 else ""
        raise TypeError(f"{operand.declared} takes a dense array: give {operand.name}.toarray(){other}")
    return np.asarray(array)


def _masked(operand: Operand) -> str:
    return f"{operand.declared} takes an array without a mask: give {operand.name}.filled(...)"


def _has_mask(value: Any, depth: int = 0) -> bool:
    """Whether a value is masked or contains masked arrays within `depth` levels of lists."""
    if isinstance(value, np.ma.MaskedArray):
        return True
    return depth > 0 and isinstance(value, list | tuple) and any(_has_mask(part, depth - 1) for part in value)


def type_of_results(dtype: Any, other: str = "") -> str:
    """Return the requested type of results; on the target `other`, results have the type of the arguments.

    Raises: NotSupported for another type, or for any choice on such a target.
    """
    named = getattr(dtype, "__name__", dtype if isinstance(dtype, str) else str(dtype))
    if named not in TYPES:
        raise NotSupported(f"dtype is one of {', '.join(TYPES)}, not {shown(named)}")
    if other and named != TYPES[0]:
        raise NotSupported(f"the target {other} takes no dtype={named}: its results have the type of the arguments")
    return str(named)


def check_outs(operands: Sequence[Operand], values: Mapping[int, Any], shapes: Sequence[Shape]) -> list[Array | None]:
    """Return the caller's array for each result, None for a scalar.

    Raises: ValueError unless each is a writable array of the type and exact shape of its result. No two entries and
    no two arrays may share memory.
    """
    found = [_check_out(o, values[k], shapes[k]) for k, o in enumerate(operands)]
    for k, out in enumerate(found):
        for other in range(k):
            if overlap(out, found[other]):
                raise ValueError(f"out: {operands[other].name} and {operands[k].name} have arrays that overlap")
    return found


def _check_out(operand: Operand, value: Any, shape: Shape) -> Array | None:
    if not operand.shape:
        if value is not None:
            raise ValueError(f"out: {operand.name} is a scalar: pass None for it")
        return None
    if not isinstance(value, np.ndarray):
        raise ValueError(f"out: {operand.name} takes an array of shape {shape}, not {type(value).__name__}")
    if isinstance(value, np.ma.MaskedArray):
        raise ValueError(f"out: {operand.name} takes an array without a mask")
    if value.shape != shape or value.dtype != np.dtype(operand.dtype):
        found = f"{value.dtype} of shape {value.shape}"
        raise ValueError(f"out: {operand.name} takes a {operand.dtype} array of shape {shape}, not {found}")
    if not value.flags.writeable:
        raise ValueError(f"out: the array for {operand.name} is read-only")
    if overlaps_itself(value):
        raise ValueError(f"out: entries of the array for {operand.name} share memory")
    return value


def overlaps_itself(array: NDArray[Any]) -> bool:
    """Whether two entries of an array share memory, as after broadcasting."""
    axes = sorted((abs(stride), length) for stride, length in zip(array.strides, array.shape, strict=True))
    axes = [(stride, length) for stride, length in axes if length > 1]
    if array.size == 0:
        return False
    reach = array.itemsize
    if all(stride >= reach and (reach := reach + stride * (length - 1)) for stride, length in axes):
        return False  # each stride exceeds the extent of all axes with shorter strides
    offsets = np.zeros(1, dtype=np.intp)
    for stride, length in axes:
        offsets = np.add.outer(offsets, stride * np.arange(length)).ravel()
    return bool(np.any(np.diff(np.sort(offsets)) < array.itemsize))


def overlap(one: Any, other: Any) -> bool:
    """Whether two arrays share memory; true also if the exact test takes too long."""
    if not isinstance(one, np.ndarray) or not isinstance(other, np.ndarray) or not np.may_share_memory(one, other):
        return False
    try:
        return np.shares_memory(one, other, max_work=100_000)  # type: ignore[arg-type]
    except np.exceptions.TooHardError:
        return True


def needs_copy(out: Array, others: Sequence[Any]) -> bool:
    """Whether a result cannot be written directly: another type, not contiguous, or memory shared with `others`."""
    usable = type(out) is np.ndarray and out.dtype == np.float64 and out.flags.c_contiguous and out.flags.aligned
    return not usable or any(isinstance(o, np.ndarray) and np.may_share_memory(out, o) for o in others)
