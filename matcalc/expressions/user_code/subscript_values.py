"""Reads the values between brackets in a traced function: integers, sizes, masks, and arrays of known integers."""

from __future__ import annotations

from typing import Any

from matcalc.errors import NoValue, ShapeError
from matcalc.expressions.loops.subscripts import marked
from matcalc.expressions.numpy_bridge.arguments import is_array, length_in
from matcalc.expressions.numpy_bridge.index_sets import MASK_HINT
from matcalc.expressions.user_code.python_calls import SizeRange
from matcalc.tensor.nodes.node import sizes_used, toposort
from matcalc.tensor.sizes.size import Size


def whole_number(value: Any) -> Size | None:
    """Return an integer or a size; None for anything else."""
    size = length_in(value)
    if size is not None or not hasattr(value, "__index__") or isinstance(value, bool) or is_array(value):
        return size
    return Size.of(int(value))


def shift_by(operation: str, other: object, swap: bool) -> Size | None:
    """Return what `+ 1` or `- 1` adds to the entries of an array; None for another operation."""
    by = whole_number(other)
    if by is None or operation not in ("add", "subtract") or (swap and operation == "subtract"):
        return None
    return by if operation == "add" else -by


def is_plain(one: object) -> bool:
    """Whether a subscript is read by the language: no size in it may be negative."""
    if isinstance(one, slice) and one.step not in (None, 1, -1):
        return False
    bounds = (one.start, one.stop, one.step) if isinstance(one, slice) else (one,)
    return all(b is None or b is Ellipsis or isinstance(b, int) and not isinstance(b, bool) for b in bounds)


def subscript_value(one: Any, call: Any) -> Any:
    """Return a subscript with known numbers for arrays; `call` collects the names in it.

    Raises: NoValue for a mask, and for an array of integers, that depend on a symbol.
    """
    if isinstance(one, range) or isinstance(one, SizeRange) and one.run is None:
        return list(one)
    if isinstance(one, SizeRange):
        for bound in one.bounds:
            call.unwrapped(bound)
        return one.run
    if isinstance(one, slice):
        return slice(*(subscript_value(b, call) for b in (one.start, one.stop, one.step)))
    if length_in(one) is not None:
        call.unwrapped(one)
        return one
    if not is_array(one):
        return one
    places = getattr(one, "places", None)
    if places is not None:
        call.names = call.names.joined(one.names)
        return places
    one_step = marked(one)
    if one_step is not None:
        call.names = call.names.joined(one.names)
        return one_step
    is_mask = hasattr(one, "compared")
    known = (one.maker(one.node, one.names) if is_mask else one).known()
    if known is None and is_mask:
        raise NoValue("a mask that depends on a symbol selects an unknown number of entries", hint=MASK_HINT)
    if known is None and not any(node.kind == "symbol" for node in toposort([one.node])):
        listed = ", ".join(sizes_used([one.node]))
        raise NoValue(f"a subscript that the size {listed} decides", hint="declare its size as a number")
    if known is None:
        hint = "declare the subscript as i: index(k)"
        raise NoValue("a subscript that depends on a symbol's values", hint=hint)
    if is_mask:
        return known != 0
    if (known != known.round()).any():
        raise ShapeError("a subscript is an integer, not a number with decimals")
    return known.astype(int)
