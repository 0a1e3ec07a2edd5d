"""Reads the bounds of inner loops: numbers of steps around, sizes, and the least or the largest of several."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from matcalc.errors import NotSupported
from matcalc.expressions.loops.implications import MIRRORED
from matcalc.expressions.loops.steps import ONE, SCAN, ZERO, stepping
from matcalc.expressions.loops.subscripts import place_of
from matcalc.expressions.numpy_bridge.along_axes import chosen, entrywise
from matcalc.expressions.numpy_bridge.arguments import is_array, size_in, size_of
from matcalc.rulebook.notations import spelled
from matcalc.tensor.constructors import add, scale
from matcalc.tensor.nodes.node import Node, toposort
from matcalc.tensor.sizes.size import Size

EXTREMA = {"<": "smaller", ">": "larger"}


class Limits(NamedTuple):
    """The values of which a bound is the least or the largest, sizes first; `end` is beyond the first in no step.

    `is_one_beyond`: the loop has as many steps as the loop around if it begins or ends a step further out, as
    `range(i)` and `range(i + 1, n)` for an `i` from 0.
    """

    values: Sequence[Any]
    end: Size
    is_one_beyond: bool = False

    @property
    def deciding(self) -> Sequence[Any]:
        """The values that end the loop before `end` in some steps."""
        first, *others = self.values
        return others if not is_array(first) or size_in(first.node) is not None else self.values


def limits_of(value: Any, relation: str, array: Callable[[Node], Any]) -> Limits:
    """Return the values of which a bound is the least, by "<", or the largest, by ">".

    Raises: NotSupported for a value that is no number of steps plus a size.
    """
    values = [value]
    if is_array(value):
        parts = _parts(value.node, relation)
        values = [value if one is value.node else array(one) for one in parts]
        values.sort(key=lambda one: size_in(one.node) is None)
    least, largest = _ends(values[0])
    is_alone = len(values) == 1 and least is not largest
    if relation == ">":
        return Limits(values, least, is_alone and least is ONE)
    return Limits(values, largest, is_alone and least is ZERO)


def _parts(node: Node, relation: str) -> list[Node]:
    negative = scale(-1, node)
    if node.kind == "product" and negative.kind == "sum":
        return [scale(-1, part) for part in _parts(negative, MIRRORED[relation])]
    for sign, term in node.terms if node.kind == "sum" else ():
        inner = _parts(term, relation if sign > 0 else MIRRORED[relation]) if abs(sign) == 1 else [term]
        if len(inner) > 1:
            rest = add([(1, node), (-sign, term)])
            return [part for one in inner for part in _parts(add([(1, rest), (sign, one)]), relation)]
    args = node.args[-2:] if node.kind == "map" else ()
    if len(args) < 2:
        return [node]
    is_extremum = node is chosen(relation, *args, *args) or node is entrywise(spelled(EXTREMA[relation]), *args)
    return [part for one in args for part in _parts(one, relation)] if is_extremum else [node]


def _ends(value: Any) -> tuple[Size, Size]:
    """Return the least and the largest value of a number of steps plus a size, or of a size."""
    size = size_in(value.node) if is_array(value) else size_of(value)
    if size is not None:
        return size, size
    for one in reversed(stepping.get()):
        place = place_of(value.node, one) if one.number in toposort([value.node]) else None
        if place is not None:
            ends = place.start, place.start + (one.length - 1) * (-1 if place.is_backward else 1)
            return (ends[1], ends[0]) if place.is_backward else ends
    raise NotSupported("a bound of an inner loop is a number of steps plus a size", hint=SCAN)
