"""Finds which part of one array another array is, if both share memory: rows, ranges, transposes, new axes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from matcalc.expressions.numpy_bridge.arguments import part_of, permuted, with_axes, without_axes
from matcalc.tensor.nodes.node import Node
from matcalc.tensor.sizes.size import Size

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Array = npt.NDArray[np.generic]


class View(NamedTuple):
    """A part of an array: for each axis its start and length (None for one index), their order, and new axes."""

    ranges: tuple[tuple[int, int | None], ...]
    order: tuple[int, ...]
    new: tuple[int, ...]

    def of(self, array: Any) -> Any:
        """Return the part of an array."""
        import numpy as np

        at = tuple(start if length is None else slice(start, start + length) for start, length in self.ranges)
        return np.expand_dims(array[at].transpose(self.order), self.new)


def part_of_symbol(node: Node, view: View) -> Node:
    """Return the part of a symbol."""
    single = [axis for axis, (_, length) in enumerate(view.ranges) if length is None]
    for axis, (start, length) in enumerate(view.ranges):
        if (start, Size.of(length or 1)) != (0, node.shape[axis]):
            node = part_of(node, axis, Size.of(start), Size.of(length or 1))
    node = without_axes(node, single)
    node = node if view.order == tuple(range(len(view.order))) else permuted(node, view.order)
    return with_axes(node, view.new)


def view_of(source: Array, view: Array) -> View | None:
    """Return the part of an array that another array is; None if it is no part, or one that no subscripts name."""
    import numpy as np

    same = source.dtype == view.dtype and source.size and view.size
    if not same or not np.may_share_memory(source, view) or 0 in view.shape or any(s <= 0 for s in source.strides):
        return None
    start = _first(source, view)
    if start is None:
        return None
    ranges: list[tuple[int, int | None]] = [(one, None) for one in start]
    own: list[int] = []
    new: list[int] = []
    for axis, (length, stride) in enumerate(zip(view.shape, view.strides, strict=True)):
        if length == 1:
            new.append(axis)
            continue
        k = next(
            (k for k, s in enumerate(source.strides) if s == stride and k not in own and source.shape[k] > 1), None
        )
        if k is None or start[k] + length > source.shape[k]:
            return None
        ranges[k] = (start[k], length)
        own.append(k)
    kept = sorted(own)
    return View(tuple(ranges), tuple(kept.index(k) for k in own), tuple(new))


def _first(source: Array, view: Array) -> tuple[int, ...] | None:
    """Return the indices in an array of the first entry of another one; None if it is outside."""
    left = view.__array_interface__["data"][0] - source.__array_interface__["data"][0]
    found = [0] * source.ndim
    for k in sorted(range(source.ndim), key=lambda k: -source.strides[k]):
        if source.shape[k] > 1:
            found[k], left = divmod(left, source.strides[k])
    inside = all(0 <= at < length for at, length in zip(found, source.shape, strict=True))
    return tuple(found) if inside and not left else None
