"""Reads windows of which an end of the array cuts off a part, `x[max(0, t - p):t + 1]`, `x[:min(t, p)]`.

A window has the entries of the whole window, beyond the ends 0, and the condition on those that lie inside.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from matcalc.errors import NotSupported
from matcalc.expressions.loops.bounds import limits_of
from matcalc.expressions.loops.numbers import deciding
from matcalc.expressions.loops.steps import ZERO, Stepping
from matcalc.expressions.loops.subscripts import check_inside, is_of_step, place_of
from matcalc.expressions.loops.varying import Key, Make, Varying
from matcalc.expressions.numpy_bridge.arguments import check_room, is_array, size_in, size_of
from matcalc.expressions.numpy_bridge.joining import concatenate
from matcalc.tensor.constructors import product, selector_alone, size_number, zeros
from matcalc.tensor.leading_axis import cut, leading, numbers, trailing
from matcalc.tensor.nodes.node import Node
from matcalc.tensor.sizes.selectors import Selector
from matcalc.tensor.sizes.size import Size, is_nonnegative


def clipped_window(array: Any, part: slice, axis: int, one: Stepping, make: Make) -> Varying | None:
    """Return a window at the number of a step; None for a slice with other bounds.

    Raises: ShapeError for a window that lies outside beyond the bounds that cut it.
    """
    import numpy as np

    if part.step not in (None, 1) or not (is_array(part.start) and is_array(part.stop)):
        return None
    lower, upper = _bounds(part.start, ">", one, make), _bounds(part.stop, "<", one, make)
    if lower is None or upper is None or lower[1] is None and upper[1] is None:
        return None
    if is_of_step(one, array.node):
        raise NotSupported("a window of an array of the step", hint="write an inner loop over its entries")
    (start, low), (stop, high) = lower, upper
    count, width = array.node.shape[axis], stop - start
    check_room(width, f"a window of {width} entries")
    if high is None and not is_nonnegative(count - stop - one.length + 1):
        high = count  # where NumPy cuts off a slice
    first, last = ZERO if low is None else low, count if high is None else high
    before = ZERO if low is None else first - start
    after = ZERO if high is None else start + one.length + width - 1 - last
    for room in (before, after):
        check_room(room, f"a window of which {room} entries are cut off")
    inside = cut(leading(array.node, axis), first, last - first)
    shape = inside.shape[1:]
    sequence = _joined([zeros((before, *shape)), inside, zeros((after, *shape))])
    check_inside(ZERO if low is not None else start, one.length + width - 1, sequence.shape[0])
    rest = tuple(range(3, sequence.rank + 2))
    rule = selector_alone(Selector("conv", (sequence.shape[0], one.length, width), ZERO if low is not None else start))
    windows = product(1, [(sequence, (0, *rest)), (rule, (0, 1, 2))], (1, 2, *rest), {})
    position = make(numbers(width)) + make(one.number) + make(size_number(start))
    conditions = [position >= make(size_number(first))] * (low is not None)
    conditions += [position < make(size_number(last))] * (high is not None)
    chosen = conditions[0] & conditions[1] if len(conditions) == 2 else conditions[0]
    size = (part.stop if high is not count else np.minimum(part.stop, array.shape[axis])) - part.start
    key: Key = (False if high is None else True if low is None else None, width, size.node)
    is_filled = is_nonnegative(stop - 1 - first) and is_nonnegative(last - start - one.length)
    return Varying(make(trailing(one.slice_of(windows), axis)), array.ndim - axis, chosen, key, size, is_filled)


def _joined(parts: Sequence[Node]) -> Node:
    own = [one for one in parts if one.shape[0] != 0]
    return concatenate(own) if len(own) > 1 else own[0]


def _bounds(bound: Any, relation: str, one: Stepping, make: Make) -> tuple[Size, Size | None] | None:
    """Return the number of a step plus a size as that size, and the size that cuts it; None for another bound."""
    try:
        values = limits_of(bound, relation, make).values
    except NotSupported:
        return None
    sizes = [size for value in values if (size := _size(value)) is not None]
    places = [place_of(value.node, one) for value in values if _size(value) is None]
    if len(places) != 1 or len(sizes) > 1 or len(deciding(bound.node)) > 1:
        return None
    (place,) = places
    return None if place is None or place.is_backward else (place.start, sizes[0] if sizes else None)


def _size(value: Any) -> Size | None:
    return size_in(value.node) if is_array(value) else size_of(value)


def cut_bound(bound: Any, one: Stepping, make: Make) -> tuple[Size, bool] | None:
    """Return the largest value of `min(t, p)`, and whether it is never 0; None for another bound."""
    found = _bounds(bound, "<", one, make)
    if found is None or found[1] is None:
        return None
    check_inside(found[0], ZERO, found[0])
    return found[1], is_nonnegative(found[0] - 1) and is_nonnegative(found[1] - 1)
