"""Reads parts of arrays that a step of a loop or a mask on data decides."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from matcalc.errors import NotSupported, ShapeError
from matcalc.expressions.loops.slices import varying_slice
from matcalc.expressions.loops.subscripts import at_step
from matcalc.expressions.loops.varying import HINT, Make, Varying
from matcalc.expressions.numpy_bridge.arguments import is_array


def part_by_symbols(array: Any, at: Any, make: Make) -> Any:
    """Return the part of an array that a step or a mask selects; None for any other part.

    Raises: NotSupported, ShapeError.
    """
    parts = at if isinstance(at, tuple) else (at,)
    masks = [k for k, part in enumerate(parts) if is_open_mask(part)]
    if masks:
        return _masked(array, parts, masks[0])
    if (varying := varying_slice(array, at, make)) is not None:
        return varying
    if (found := at_step(array.node, at)) is None:
        return None
    part = make(found[0])
    part.lock(array.argument)
    return part[found[1]] if found[1] else part


def is_open_mask(at: Any) -> bool:
    """Whether a subscript is a comparison of arrays whose truth depends on symbols or sizes."""
    return hasattr(at, "compared") and bool(at.ndim) and at.maker(at.node, at.names).known() is None


def _masked(array: Any, parts: Sequence[Any], axis: int) -> Varying:
    """Return the entries along the axes of a mask where it holds; other subscripts are read first.

    Raises: NotSupported for several masks, and for subscripts whose axes NumPy moves; ShapeError.
    """
    import numpy as np

    mask, others = parts[axis], [part for k, part in enumerate(parts) if k != axis]
    if mask.ndim > 1 and others or not all(isinstance(x, (slice, int)) or _is_scalar(x) for x in others):
        raise NotSupported("a mask on data beside such subscripts is not supported", hint=HINT)
    integers = [k for k, part in enumerate(parts) if k != axis and not isinstance(part, slice)]
    if any(isinstance(part, slice) for k in integers for part in parts[min(k, axis) : max(k, axis)]):
        raise NotSupported("a slice between a mask and an integer is not supported", hint="select in two steps")
    base = array[(*parts[:axis], slice(None), *parts[axis + 1 :])] if others else array
    base = base.copy()  # as NumPy's part by a mask
    axis -= sum(k < axis for k in integers)
    if base.ndim < axis + mask.ndim or tuple(base.shape[axis : axis + mask.ndim]) != tuple(mask.shape):
        raise ShapeError(f"a mask of shape {mask.shape} does not fit an array of shape {array.shape}")
    truth: Any = mask
    if mask.ndim > 1:
        base, truth = base.reshape((-1, *base.shape[mask.ndim :])), np.ravel(mask.counted) > 0
    return Varying(base, base.ndim - axis, truth, (mask.node, mask.ndim), np.sum(mask.counted), None)


def _is_scalar(part: Any) -> bool:
    return is_array(part) and not part.node.shape
