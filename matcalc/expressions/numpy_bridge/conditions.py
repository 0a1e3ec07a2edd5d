"""Comparisons of arrays, by NumPy's names: they stand where a choice is made, and count as 1 and 0 in arithmetic."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from matcalc.expressions.numpy_bridge.along_axes import chosen
from matcalc.expressions.numpy_bridge.arguments import common, node_of
from matcalc.tensor.constructors import number
from matcalc.tensor.node import Node


class Compared(NamedTuple):
    """A condition on entries: what chooses between the entries of two arrays by it."""

    choose: Callable[[Node, Node], Node]

    @property
    def indicator(self) -> Node:
        """1 where it holds, else 0."""
        return self.choose(number(1), number(0))


def compared(left: Any, relation: str, right: Any) -> Compared:
    """Return the comparison of two arrays, entry by entry."""
    a, b = common(node_of(left), node_of(right))
    return Compared(lambda yes, no: chosen(relation, a, b, yes, no))


def condition_of(value: Any) -> Compared:
    """Return a condition; of an array that it is not 0."""
    return value if isinstance(value, Compared) else compared(value, "!=", number(0))


def greater(x1: Any, x2: Any) -> Compared:
    return compared(x1, ">", x2)


def greater_equal(x1: Any, x2: Any) -> Compared:
    return compared(x1, ">=", x2)


def less(x1: Any, x2: Any) -> Compared:
    return compared(x1, "<", x2)


def less_equal(x1: Any, x2: Any) -> Compared:
    return compared(x1, "<=", x2)


def equal(x1: Any, x2: Any) -> Compared:
    return compared(x1, "==", x2)


def not_equal(x1: Any, x2: Any) -> Compared:
    return compared(x1, "!=", x2)


def _together(x1: Any, x2: Any) -> tuple[Compared, Compared]:
    """Return two conditions.

    Raises: ShapeError where they do not broadcast.
    """
    first, second = condition_of(x1), condition_of(x2)
    common(first.indicator, second.indicator)
    return first, second


def logical_and(x1: Any, x2: Any) -> Compared:
    first, second = _together(x1, x2)
    return Compared(lambda yes, no: first.choose(second.choose(yes, no), no))


def logical_or(x1: Any, x2: Any) -> Compared:
    first, second = _together(x1, x2)
    return Compared(lambda yes, no: first.choose(yes, second.choose(yes, no)))


def logical_not(x: Any) -> Compared:
    condition = condition_of(x)
    return Compared(lambda yes, no: condition.choose(no, yes))
