"""Implements comparisons of arrays, by NumPy's names: conditions of choices, and 1 and 0 in arithmetic."""

from __future__ import annotations

import builtins
import sys
from collections.abc import Callable
from math import inf

from matcalc.errors import NotSupported
from matcalc.expressions.numpy_bridge.along_axes import chosen, entrywise
from matcalc.expressions.numpy_bridge.arguments import Axes, Compared, Operand, axes_of, bound_of, common, node_of
from matcalc.expressions.numpy_bridge.products import total
from matcalc.expressions.numpy_bridge.shapes import with_keepdims
from matcalc.rulebook.notations import spelled
from matcalc.tensor.constructors import number
from matcalc.tensor.nodes.node import Node

LARGEST = sys.float_info.max
COMPARING = ("less", "less_equal", "greater", "greater_equal", "equal", "not_equal")
"""NumPy's functions of comparisons."""


def compared(left: object, relation: str, right: object) -> Compared:
    """Return the comparison of two arrays, entry by entry."""
    a, b = common(bound_of(left), bound_of(right))
    return Compared(lambda yes, no: chosen(relation, a, b, yes, no), (relation, a, b))


def condition_of(value: object) -> Compared:
    """Return a condition; for an array, that it is not 0."""
    return value if isinstance(value, Compared) else compared(value, "!=", number(0))


def _is_nan(x: Operand) -> Compared:
    return compared(x, "!=", x)


def isnan(x: Operand) -> Compared:
    return _is_nan(x)


def isfinite(x: Operand) -> Compared:
    return compared(entrywise(spelled("magnitude"), node_of(x)), "<", inf)


def isinf(x: Operand) -> Compared:
    return compared(entrywise(spelled("magnitude"), node_of(x)), "==", inf)


def heaviside(x1: Operand, x2: Operand) -> Node:
    a, b = common(node_of(x1), node_of(x2))
    step = compared(a, ">", number(0)).choose(number(1), compared(a, "==", number(0)).choose(b, number(0)))
    return _is_nan(a).choose(a, step)


def nansum(a: Operand, axis: Axes = None, *, keepdims: bool = False) -> Node:
    node = node_of(a)
    axes = axes_of(axis, len(node.shape))
    known = _is_nan(node).choose(number(0), node)
    return with_keepdims(total(known, axes) if axes else known, axes, keepdims)


def nan_to_num(
    x: Operand, copy: bool = True, nan: float = 0.0, posinf: float | None = None, neginf: float | None = None
) -> Node:
    if not isinstance(copy, bool):
        raise NotSupported("copy= of nan_to_num is True or False", hint="the values are nan=, posinf= and neginf=")
    node = node_of(x)
    above, below = LARGEST if posinf is None else posinf, -LARGEST if neginf is None else neginf
    finite = compared(node, "==", inf).choose(node_of(above), compared(node, "==", -inf).choose(node_of(below), node))
    return _is_nan(node).choose(node_of(nan), finite)


def fmax(x1: Operand, x2: Operand) -> Node:
    return _other_of_nan("larger", x1, x2)


def fmin(x1: Operand, x2: Operand) -> Node:
    return _other_of_nan("smaller", x1, x2)


def _other_of_nan(role: str, x1: Operand, x2: Operand) -> Node:
    """Return the extremum of two arrays; where one is NaN, the other."""
    a, b = common(node_of(x1), node_of(x2))
    return _is_nan(a).choose(b, _is_nan(b).choose(a, entrywise(spelled(role), a, b)))


def _comparison(relation: str) -> Callable[[Operand, Operand], Compared]:
    return lambda x1, x2: compared(x1, relation, x2)


greater, greater_equal, less, less_equal = map(_comparison, (">", ">=", "<", "<="))
equal, not_equal = map(_comparison, ("==", "!="))


def _together(x1: Operand, x2: Operand) -> tuple[Compared, Compared]:
    """Return two conditions.

    Raises: ShapeError if they do not broadcast.
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


def logical_xor(x1: Operand, x2: Operand) -> Compared:
    first, second = _together(x1, x2)
    return Compared(lambda yes, no: first.choose(second.choose(no, yes), second.choose(yes, no)))


def is_truth(value: object) -> bool:
    """Whether an argument is a comparison, a truth value or an array of them."""
    kind = getattr(getattr(value, "dtype", None), "kind", "")
    return isinstance(value, (Compared, bool)) or kind == "b"


def _of_truths(join: Callable[..., Compared]) -> Callable[..., Compared]:
    """Return a function of truth values alone.

    Raises: NotSupported for numbers, on which NumPy's function is bitwise.
    """

    def joined(*operands: Operand) -> Compared:
        if not builtins.all(map(is_truth, operands)):
            raise NotSupported(
                "bitwise operations on numbers are not supported", hint="compare first, as in (x > 0) & (y > 0)"
            )
        return join(*operands)

    return joined


bitwise_and, bitwise_or = _of_truths(logical_and), _of_truths(logical_or)
bitwise_xor, invert = _of_truths(logical_xor), _of_truths(logical_not)


def any(a: Operand, axis: Axes = None, *, keepdims: bool = False) -> Compared:  # noqa: A001 - NumPy's name
    return compared(_count(condition_of(a), axis, keepdims), ">", number(0))


def all(a: Operand, axis: Axes = None, *, keepdims: bool = False) -> Compared:  # noqa: A001 - NumPy's name
    return compared(_count(logical_not(a), axis, keepdims), "==", number(0))


def count_nonzero(a: Operand, axis: Axes = None, *, keepdims: bool = False) -> Node:
    return _count(condition_of(a), axis, keepdims)


def _count(condition: Compared, axis: Axes, keepdims: bool) -> Node:
    node = condition.indicator
    axes = axes_of(axis, len(node.shape))
    return with_keepdims(total(node, axes) if axes else node, axes, keepdims)
