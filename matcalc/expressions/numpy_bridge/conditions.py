"""Comparisons of arrays, by NumPy's names: they stand where a choice is made, and count as 1 and 0 in arithmetic."""

from __future__ import annotations

from collections.abc import Callable

from matcalc.expressions.numpy_bridge.along_axes import chosen
from matcalc.expressions.numpy_bridge.arguments import Compared, Operand, common, node_of
from matcalc.tensor.constructors import number


def compared(left: object, relation: str, right: object) -> Compared:
    """Return the comparison of two arrays, entry by entry."""
    a, b = common(node_of(left), node_of(right))
    return Compared(lambda yes, no: chosen(relation, a, b, yes, no))


def condition_of(value: object) -> Compared:
    """Return a condition; of an array that it is not 0."""
    return value if isinstance(value, Compared) else compared(value, "!=", number(0))


def _comparison(relation: str) -> Callable[[Operand, Operand], Compared]:
    return lambda x1, x2: compared(x1, relation, x2)


greater, greater_equal, less, less_equal = map(_comparison, (">", ">=", "<", "<="))
equal, not_equal = map(_comparison, ("==", "!="))


def _together(x1: Operand, x2: Operand) -> tuple[Compared, Compared]:
    """Return two conditions.

    Raises: ShapeError where they do not broadcast.
    """
    first, second = condition_of(x1), condition_of(x2)
    common(first.indicator, second.indicator)
    return first, second


def logical_and(x1: Operand, x2: Operand) -> Compared:
    first, second = _together(x1, x2)
    return Compared(lambda yes, no: first.choose(second.choose(yes, no), no))


def logical_or(x1: Operand, x2: Operand) -> Compared:
    first, second = _together(x1, x2)
    return Compared(lambda yes, no: first.choose(yes, second.choose(yes, no)))


def logical_not(x: Operand) -> Compared:
    condition = condition_of(x)
    return Compared(lambda yes, no: condition.choose(no, yes))
