"""Reads an axis at the number of a step modulo a size, `x[(t + 1) % n]`: the entries are repeated without end."""

from __future__ import annotations

from typing import NamedTuple

from matcalc.expressions.numpy_bridge.along_axes import entrywise
from matcalc.expressions.numpy_bridge.arguments import check_room, size_in
from matcalc.expressions.numpy_bridge.shapes import roll
from matcalc.rulebook.notations import spelled
from matcalc.tensor.constructors import product, selector_alone
from matcalc.tensor.leading_axis import cut
from matcalc.tensor.nodes.node import Node
from matcalc.tensor.sizes.selectors import Selector
from matcalc.tensor.sizes.size import Size, is_nonnegative


class Around(NamedTuple):
    """The remainder of a scalar, divided by a size."""

    number: Node
    period: Size


def around(node: Node) -> Around | None:
    """Return a scalar as the remainder that it is; None for any other."""
    if node.kind != "map" or len(node.args) != 2:
        return None
    number, divisor = node.args
    period = size_in(divisor)
    is_remainder = period is not None and node is entrywise(spelled("remainder"), number, divisor)
    return Around(number, period) if is_remainder and period is not None else None


def repeated(sequence: Node, start: Size, length: Size) -> Node:
    """Return the entries `(start + t) % n` of a sequence of n entries, for t below a length."""
    period = sequence.shape[0]
    check_room(period - 1, f"a remainder of a division by {period}")
    turned = roll(sequence, -start, 0) if start != 0 else sequence
    if is_nonnegative(period - length):
        return turned if length is period else cut(turned, Size.of(0), length)
    count = length // period + 1
    rule = selector_alone(Selector("merge", (count * period, count, period)))
    rest = tuple(range(3, 2 + turned.rank))
    return cut(product(1, [(turned, (2, *rest)), (rule, (0, 1, 2))], (0, *rest), {}), Size.of(0), length)
