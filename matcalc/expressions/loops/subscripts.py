"""Reads arrays at subscripts that a step of a loop decides: the number of the step, and an entry of an index.

An array that the loop does not change is read at all steps at once, and the step has a slice of that. In an array of
the step itself, an entry is marked by a vector of 0 and 1, which is a slice too.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from matcalc.errors import NotSupported, ShapeError
from matcalc.expressions.loops.around import around, repeated
from matcalc.expressions.loops.numbers import Numbers, at_numbers, deciding, numbers_of
from matcalc.expressions.loops.steps import INNER, ONE, ZERO, Stepping, stepping
from matcalc.expressions.numpy_bridge.arguments import check_room, is_array, size_in
from matcalc.expressions.numpy_bridge.index_sets import Looked, Marked
from matcalc.expressions.numpy_bridge.runs import Runs
from matcalc.expressions.numpy_bridge.taking import take
from matcalc.tensor.constructors import add, eye, product, selector_alone, size_number
from matcalc.tensor.leading_axis import cut, leading, trailing
from matcalc.tensor.lookups import is_index
from matcalc.tensor.nodes.node import Node, toposort
from matcalc.tensor.raw_nodes import lookup
from matcalc.tensor.sizes.selectors import Selector
from matcalc.tensor.sizes.size import Size, is_nonnegative
from matcalc.tensor.substitute import substitute


class Place(NamedTuple):
    """The subscript `start + step` of a step, or `start - step`."""

    start: Size
    is_backward: bool

    def number(self, one: Stepping) -> Node:
        """Return the subscript of a step."""
        return add([(-1 if self.is_backward else 1, one.number), (1, size_number(self.start))])

    def run(self, length: Size) -> Runs:
        """Return the subscripts of all steps."""
        start = self.start - length + 1 if self.is_backward else self.start
        return Runs.of(start, length, self.is_backward)


def place_of(node: Node, one: Stepping) -> Place | None:
    """Return a scalar that is the number of a step plus or minus a size; None for any other."""
    forward = size_in(add([(1, node), (-1, one.number)]))
    if forward is not None:
        return Place(forward, False)
    backward = size_in(add([(1, node), (1, one.number)]))
    return None if backward is None else Place(backward, True)


def at_step(node: Node, at: object) -> tuple[Node, tuple[object, ...]] | None:
    """Return the slice of an array that a step reads, and the subscripts that remain; None if it reads no slice.

    Raises: NotSupported for a subscript that is not the number plus a size; ShapeError for entries that do not exist.
    """
    active = stepping.get()
    if not active:
        return None
    parts = at if isinstance(at, tuple) else (at,)
    for k, part in enumerate(parts):
        found = _window(node, part, k) if isinstance(part, slice) else None
        if found is not None:
            return found, (*parts[:k], slice(None), *parts[k + 1 :])
    for one in active:
        mine = [k for k, part in enumerate(parts) if decides(one, part)]
        if not mine or is_of_step(one, node):
            continue
        rest = tuple(x for k, x in enumerate(parts) if k not in mine)
        if all(len(deciding(parts[k].node)) < 2 for k in mine):
            return _slice(one, node, parts, mine), rest
        if len(mine) == 1 and around(parts[mine[0]].node):
            _check_plain(node, parts, mine)
            return _around_two(node, parts[mine[0]].node, mine[0]), rest
        numbers = _two(parts[mine[0]].node)
        if len(mine) > 1 or numbers.terms[0][1] is not one:
            return None
        _check_plain(node, parts, mine)
        return at_numbers(node, parts[mine[0]].node, numbers, mine[0]), rest
    return None


def _window(node: Node, part: slice, axis: int) -> Node | None:
    """Return the entries between two numbers of a step, `x[t:t + p]`; None for a slice that no step decides.

    Raises: NotSupported for a number of entries that differs from step to step.
    """
    bounds = (part.start, part.stop)
    one = next((one for one in stepping.get() if any(decides(one, bound) for bound in bounds)), None)
    if one is None:
        return None
    places = [place_of(bound.node, one) if is_array(bound) else None for bound in bounds]
    first, last = places
    if first is None or last is None or first.is_backward or last.is_backward or part.step not in (None, 1):
        hint = "write an inner loop, for j in range(t - p, t)"
        raise NotSupported("a slice has another number of entries at each step", hint=hint)
    if is_of_step(one, node):
        raise NotSupported("a window of an array of the step", hint="write an inner loop over its entries")
    sequence, width = leading(node, axis), last.start - first.start
    check_room(width, f"a window of {width} entries")
    check_inside(first.start, one.length + width - 1, sequence.shape[0])
    rest = tuple(range(3, sequence.rank + 2))
    rule = selector_alone(Selector("conv", (sequence.shape[0], one.length, width), first.start))
    windows = product(1, [(sequence, (0, *rest)), (rule, (0, 1, 2))], (1, 2, *rest), {})
    return trailing(one.slice_of(windows), axis)


def decides(one: Stepping, part: object) -> bool:
    """Whether a step decides a subscript: it is an entry of an index at the step, or has the number of the step."""
    if not is_array(part) or part.node.shape:  # type: ignore[attr-defined]
        return False
    return any(x is one.number or is_index(x) and x in one.sequences for x in toposort([part.node]))  # type: ignore[attr-defined]


def is_of_step(one: Stepping, node: Node) -> bool:
    """Whether an array has values of a step, or of a step inside."""
    active = stepping.get()
    outer = {s for other in active[: active.index(one)] for s in (*other.sequences, *other.states)}
    return any(x.kind == "symbol" and x.name.startswith(INNER) and x not in outer for x in toposort([node]))


def _check_plain(node: Node, parts: Sequence[Any], mine: Sequence[int]) -> None:
    """Require that the subscripts before the last one of a step stand for one axis each."""
    first = parts[: mine[-1]]
    axes = sum(part is not None for part in parts)
    if None in map(_kind, first) or Ellipsis in map(_kind, first) or axes > node.rank:
        raise NotSupported("the number of a step behind an ellipsis or a new axis", hint="write all subscripts")


def _slice(one: Stepping, node: Node, parts: Sequence[Any], mine: Sequence[int]) -> Node:
    _check_plain(node, parts, mine)
    if len(mine) == 1 and not hasattr(parts[mine[0]], "places"):
        return _at_number(one, node, parts[mine[0]].node, mine[0])
    if any(is_array(parts[k]) and around(parts[k].node) for k in mine):
        rows = [(_entries(one, eye(node.shape[k]), parts[k].node), (node.rank, k)) for k in mine]
        rest = tuple(k for k in range(node.rank) if k not in mine)
        return one.slice_of(product(1, [(node, tuple(range(node.rank))), *rows], (node.rank, *rest), {}))
    every: list[Any] = [slice(None)] * node.rank
    for k in mine:
        every[k] = _at_all_steps(one, parts[k])
    axis = mine[0] if mine[-1] - mine[0] == len(mine) - 1 else 0
    return one.slice_of(leading(take(node, tuple(every)), axis))


def _kind(part: object) -> object:
    return part if part is None or part is Ellipsis else 0


def _at_all_steps(one: Stepping, part: Any) -> Looked | Runs:
    """Return the subscripts of all steps."""
    if hasattr(part, "places"):
        if part.node not in one.sequences:
            raise NotSupported("an index that is computed in the loop", hint="compute the index before the loop")
        return Looked(one.sequences[part.node], part.places.offset)
    return _place(one, part.node).run(one.length)


def _place(one: Stepping, node: Node) -> Place:
    found = place_of(node, one)
    if found is None:
        raise _unread()
    return found


def _two(node: Node) -> Numbers:
    """Return a subscript with the numbers of two steps."""
    found = numbers_of(node)
    if found is None or len(found.terms) != 2:
        raise _unread()
    return found


def _around_two(node: Node, place: Node, axis: int) -> Node:
    """Return the slice of an axis at a remainder of the numbers of two steps, `x[(i + j) % n]`."""
    remainder, sequence = around(place), leading(node, axis)
    assert remainder is not None
    numbers = _two(remainder.number)
    check_inside(ZERO, remainder.period, sequence.shape[0])
    length = sum((one.length for _, one in numbers.terms), -ONE)
    entries = repeated(cut(sequence, ZERO, remainder.period), numbers.least, length)
    moved = add([(1, remainder.number), (-1, size_number(numbers.least))])
    return at_numbers(entries, moved, _two(moved), 0)


def _unread() -> NotSupported:
    hint = "write a window, as in  w @ y[t:t + p];  or mc.scan(step, start, over=X)"
    return NotSupported("a subscript is the number of one or two steps plus a number", hint=hint)


def _at_number(one: Stepping, node: Node, place: Node, axis: int) -> Node:
    return one.slice_of(_entries(one, leading(node, axis), place))


def _entries(one: Stepping, sequence: Node, place: Node) -> Node:
    """Return the entries of a sequence that all steps read."""
    remainder = around(place)
    start, is_backward = _place(one, place if remainder is None else remainder.number)
    if remainder is not None:
        check_inside(ZERO, remainder.period, sequence.shape[0])
        period = cut(sequence, ZERO, remainder.period)
        sequence, start = (_reversed(period), -ONE - start) if is_backward else (period, start)
        return repeated(sequence, start, one.length)
    count = sequence.shape[0]
    if is_backward:
        sequence, start = _reversed(sequence), count - ONE - start
    check_inside(start, one.length, count)
    return cut(sequence, start, one.length)


def check_inside(start: Size, length: Size, count: Size, use: str = "is read") -> None:
    """Require that an axis has the entries that all steps read or write.

    Raises: ShapeError.
    """
    message = f"an axis of {count} entries {use} {length} times from entry {start} on"
    for room in (start, count - start - length):
        if room.is_integer and room.constant < 0 or not is_nonnegative(room - int(room.constant)):
            hint = "declare the lengths so that every step has an entry; index -1 is the last entry in NumPy"
            raise ShapeError(message, hint=hint)
        check_room(room, message)  # k - 1 for a size k: only small sizes have no such entry


def _reversed(sequence: Node) -> Node:
    """Return a sequence in the opposite order."""
    length = sequence.shape[0]
    rule = selector_alone(Selector("flip", (length, length)))
    rest = tuple(range(2, sequence.rank + 1))
    return product(1, [(sequence, (1, *rest)), (rule, (0, 1))], (0, *rest), {})


def marked(part: Any) -> Marked | None:
    """Return the entry at the number of a step as a subscript of an array of the step; None for another subscript."""
    if not is_array(part) or part.node.shape or hasattr(part, "places"):
        return None
    found = next((one for one in reversed(stepping.get()) if decides(one, part)), None)
    if found is None:
        return None
    if len(deciding(part.node)) > 1:
        numbers = _two(part.node)
        return Marked(lambda length: at_numbers(eye(length), part.node, numbers, 0))
    return Marked(lambda length: _at_number(found, eye(length), part.node, 0))


def places_at_all_steps(one: Stepping, parts: Sequence[Any]) -> tuple[Any, ...] | None:
    """Return the subscripts of all steps; None if others than integers or numbers of one step stand beside them."""
    if any(is_array(part) and (len(deciding(part.node)) > 1 or around(part.node)) for part in parts):
        return None
    found = tuple(_at_all_steps(one, part) if decides(one, part) else part for part in parts)
    return found if all(isinstance(x, (Looked, Runs, int)) for x in found) else None


def without_lookups(bodies: Sequence[Node]) -> list[Node]:
    """Return formulas of steps in which an entry at an index is marked by a vector of the step.

    A recurrence has slices of numbers, and an index is none.
    """
    made: dict[Node, Node] = {}
    for node in toposort(bodies):
        for one in stepping.get():
            if node.kind == "selector" and node.args and node.args[0] in one.sequences:
                places = lookup(one.sequences[node.args[0]], node.shape[0])
                made[node] = one.slice_of(leading(places, 1))
    return [substitute(body, made) for body in bodies] if made else list(bodies)
