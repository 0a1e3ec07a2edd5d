"""Reads slices whose number of entries a step decides: `x[:t]`, `x[t:]`, and windows that an end cuts off."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from matcalc.expressions.loops.numbers import deciding, numbers_of
from matcalc.expressions.loops.steps import ZERO, Stepping, stepping
from matcalc.expressions.loops.subscripts import check_inside, decides, place_of
from matcalc.expressions.loops.varying import Make, Varying, refuse
from matcalc.expressions.loops.windows import clipped_window, cut_bound
from matcalc.expressions.numpy_bridge.arguments import is_array, size_of
from matcalc.tensor.constructors import add, product, scale, selector_alone, size_number
from matcalc.tensor.leading_axis import cut, leading, numbers, trailing
from matcalc.tensor.sizes.selectors import Selector
from matcalc.tensor.sizes.size import Size, is_nonnegative


def varying_slice(array: Any, at: Any, make: Make) -> Any:
    """Return a part of an array whose number of entries a step decides; None for any other part.

    Raises: NotSupported, ShapeError.
    """
    parts = at if isinstance(at, tuple) else (at,)
    decided = {k: found for k, part in enumerate(parts) if isinstance(part, slice) and any(found := _deciding(part))}
    if not decided:
        return None
    axis, bounds = next(iter(decided.items()))
    part, others = parts[axis], (*parts[:axis], slice(None), *parts[axis + 1 :])
    is_plain = all(isinstance(x, (slice, int)) or is_array(x) and not x.node.shape for x in parts)
    is_alone = len(decided) == 1 and part.step is None and is_plain and len(parts) <= array.ndim
    if all(bounds):
        if not is_alone:
            return None
        return _window(array, part, axis, others, bounds[0][-1], make)
    if not is_alone:
        refuse("with other subscripts")
    one = (bounds[0] or bounds[1])[-1]
    base, axis = _at(array, others, axis)
    return _noted(_entries(base, part, axis, one, make), one)


def _window(array: Any, part: slice, axis: int, others: Sequence[Any], one: Stepping, make: Make) -> Varying | None:
    """Return a window of an axis; subscripts of other axes that its step or a step inside decides are read in it."""
    inner = stepping.get()[stepping.get().index(one) :]
    late = {k for k, x in enumerate(others) if any(decides(step, x) for step in inner)}
    base, axis = _at(array, [slice(None) if k in late else x for k, x in enumerate(others)], axis)
    window = clipped_window(base, part, axis, one, make)
    if window is not None and late:
        rest = [x if k in late else slice(None) for k, x in enumerate(others) if k in late or isinstance(x, slice)]
        window.entries, axis = _at(window.entries, rest, axis)
        window.back = window.ndim - axis
    return _noted(window, one)


def _at(array: Any, others: Sequence[Any], axis: int) -> tuple[Any, int]:
    """Return the part of an array at the subscripts of other axes, and the number of an axis in it."""
    is_whole = all(isinstance(x, slice) and x == slice(None) for x in others)
    part = array if is_whole else array[tuple(others)]
    return part, axis - sum(not isinstance(x, slice) for x in others[:axis])


def _deciding(part: slice) -> tuple[list[Stepping], list[Stepping]]:
    """Return the steps that decide the bounds of a slice."""
    start, stop = ([one for one in stepping.get() if decides(one, bound)] for bound in (part.start, part.stop))
    return start, stop


def _noted(part: Varying | None, one: Stepping) -> Varying | None:
    """Return a part; its number of entries may be a bound of other slices in the step."""
    if part is not None and part.key[0] is not None:
        one.counts[part.count.node] = (part.key[1], part.is_filled is True)
    return part


def _entries(array: Any, part: slice, axis: int, one: Stepping, make: Make) -> Varying:
    is_open_end = is_array(part.stop) and decides(one, part.stop)
    bound = part.stop if is_open_end else part.start
    place, count = place_of(bound.node, one), array.node.shape[axis]
    back = array.ndim - axis
    if place is None or len(deciding(bound.node)) != 1:
        return _counted(array, part, axis, one, make)
    found = numbers_of(bound.node)
    assert found is not None
    least, most = found.least, found.least + one.length - 1
    if is_open_end:
        first = ZERO if part.start is None else _from_front(part.start, count)
        length = most - first
        shift, room = first, least - first
    else:
        last = count if part.stop is None else _from_front(part.stop, count)
        first, length, shift, room = least, last - least, least, last - most
    check_inside(first, length, count)
    check_inside(room, ZERO, room)
    base = _cut(array, axis, first, length, make)
    number, edge = make(numbers(length)), make(add([(1, bound.node), (-1, size_number(shift))]))
    chosen = number < edge if is_open_end else number >= edge
    size = edge if is_open_end else make(add([(1, size_number(last - shift)), (-1, edge.node)]))
    made = Varying(base, back, chosen, (is_open_end, length, size.node), size, is_nonnegative(room - 1))
    if not is_open_end and not place.is_backward:
        made.shift = lambda: _shift(one, length, make)
    return made


def _counted(array: Any, part: slice, axis: int, one: Stepping, make: Make) -> Varying:
    """Return as many entries as another part of the step has, `w[:len(v)]` and `w[-len(v):]`, or `w[:min(t, p)]`."""
    count, back = array.node.shape[axis], array.ndim - axis
    if part.start is None:
        known = one.counts.get(part.stop.node) or cut_bound(part.stop, one, make)
        if known is not None:
            length, is_filled = known
            check_inside(ZERO, length, count)
            chosen = make(numbers(length)) < part.stop
            key = (True, length, part.stop.node)
            return Varying(_cut(array, axis, ZERO, length, make), back, chosen, key, part.stop, is_filled)
    if part.stop is None and is_array(part.start):
        known = one.counts.get(scale(-1, part.start.node))
        if known is not None and known[1]:  # x[-0:] is all of x
            length, is_filled = known
            check_inside(count - length, length, count)
            chosen = make(numbers(length)) >= make(size_number(length)) + part.start
            key = (False, length, scale(-1, part.start.node))
            return Varying(_cut(array, axis, count - length, length, make), back, chosen, key, -part.start, is_filled)
    refuse("with a bound that is no number of a step plus a size")


def first_numbers(count: Any, make: Make) -> Varying | None:
    """Return the numbers below the number of entries of another part of the step, `np.arange(len(v))`."""
    for one in stepping.get():
        if count.node in one.counts:
            length, is_filled = one.counts[count.node]
            number = make(numbers(length))
            return Varying(number, 1, number < count, (True, length, count.node), count, is_filled)
    return None


def _cut(array: Any, axis: int, first: Size, length: Size, make: Make) -> Any:
    return make(trailing(cut(leading(array.node, axis), first, length), axis))


def _shift(one: Stepping, length: Size, make: Make) -> tuple[Any, Any]:
    """Return the matrix that moves the entries of a step to the front, and the numbers of entries."""
    rule = selector_alone(Selector("conv", (length, one.length, length)))
    matrices = product(1, [(rule, (2, 0, 1))], (0, 1, 2), {})
    return make(one.slice_of(matrices)), make(numbers(length))


def _from_front(bound: Any, count: Size) -> Size:
    size = size_of(bound)
    return size + count if size.is_integer and size.constant < 0 else size
