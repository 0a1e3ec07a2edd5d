"""Composes np.pad for symbols: each axis is joined with what stands before and behind it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from matcalc.errors import NotSupported, ShapeError
from matcalc.expressions.numpy_bridge.arguments import length_in


def pad(array: Any, pad_width: Any, mode: str = "constant", constant_values: Any = 0, **options: Any) -> Any:
    """Return np.pad with one constant, or in the modes edge, reflect, symmetric and wrap.

    Raises: NotSupported for other modes, and for several constants; ShapeError.
    """
    import numpy as np

    if mode not in (*SOURCES, "constant", "edge") or options or np.ndim(constant_values):
        raise NotSupported(
            f"np.pad: the mode {mode} with these arguments is not supported", hint="write np.concatenate"
        )
    for axis, widths in enumerate(_widths(pad_width, array.ndim)):
        front = [slice(None)] * axis
        parts = [array]
        for k, width in enumerate(widths):
            if length_in(width) is None and width == 0:
                continue
            if mode in ("constant", "edge"):
                end = array[(*front, slice(None, 1) if k == 0 else slice(-1, None))]
                end = end if mode == "edge" else np.full_like(end, 0) + constant_values
                part = np.repeat(end, width, axis=axis)
            else:
                part = SOURCES[mode](array, front, width, k == 0)
            parts.insert(0 if k == 0 else len(parts), part)
        array = np.concatenate(parts, axis=axis) if len(parts) > 1 else array
    return array


def _widths(given: Any, count: int) -> list[tuple[Any, Any]]:
    """Return the numbers of entries before and behind each axis."""
    rows = list(given) if hasattr(given, "__len__") else [given]
    if not any(hasattr(one, "__len__") for one in rows):
        rows = [rows]
    pairs = [(one[0], one[-1]) if hasattr(one, "__len__") else (one, one) for one in rows]
    if len(pairs) not in (1, count):
        raise ShapeError(f"np.pad of {count} axes by the widths of {len(pairs)}")
    return pairs * count if len(pairs) == 1 else pairs


def _next_to(first: int, repeats: str) -> Callable[[Any, list[Any], Any, bool], Any]:
    """Return the function that takes the entries at an end, from the entry `first` on.

    `repeats` is the mode.
    """

    def taken(array: Any, front: list[Any], width: Any, is_before: bool) -> Any:
        import numpy as np

        count = array.shape[len(front)]
        if isinstance(count, int) and isinstance(width, int) and not 0 <= width <= count - first:
            raise NotSupported(f"np.pad: {width} entries of {count} in the mode {repeats}", hint="pad by fewer entries")
        is_front = is_before == (repeats != "wrap")
        start = first if is_front else count - width - first
        part = array[(*front, slice(start, start + width))]
        return part if repeats == "wrap" else np.flip(part, len(front))

    return taken


SOURCES: Mapping[str, Callable[[Any, list[Any], Any, bool], Any]] = {
    "symmetric": _next_to(0, "symmetric"), "reflect": _next_to(1, "reflect"), "wrap": _next_to(0, "wrap"),
}  # fmt: skip
"""Modes -> the function that returns the entries which a mode repeats."""
