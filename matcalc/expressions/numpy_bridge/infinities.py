"""Represents infinities among the entries of joined and written arrays as branches of choices.

A formula has no arithmetic with infinities. So `[-inf, th, inf]` is `[0, th, 0]`, and where a second array has 1 or -1
in the place of an infinity, the choice is inf or -inf.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from inspect import signature
from typing import Any, ParamSpec

from matcalc.expressions.numpy_bridge.along_axes import chosen
from matcalc.expressions.numpy_bridge.arguments import node_of
from matcalc.expressions.numpy_bridge.taking import put as put_finite
from matcalc.tensor import constructors
from matcalc.tensor.nodes.node import Node, toposort

P = ParamSpec("P")
ZERO = constructors.number(0)


def apart(function: Callable[P, Node]) -> Callable[P, Node]:
    """Return a function that joins the arrays of its first parameter, for arrays with infinite entries too."""
    first = next(iter(signature(function).parameters))

    @wraps(function)
    def joined(*args: P.args, **keywords: P.kwargs) -> Node:
        named = first in keywords
        arrays = keywords[first] if named else args[0]
        if not has_infinity(arrays):
            return function(*args, **keywords)

        def of(part: Callable[[Any], Any]) -> Node:
            new: Any = _each(arrays, part)
            others: Any = {**keywords, first: new} if named else keywords
            return function(*(args if named else (new, *args[1:])), **others)

        return _chosen(of(_sign), of(_finite))

    return joined


def put(a: Node, at: object, value: Any) -> Node:
    """Return an array with the entries at subscripts replaced; array and value may have infinite entries."""
    if not has_infinity(value) and not has_infinity(a):
        return put_finite(a, at, node_of(value))
    nothing = constructors.broadcast(ZERO, a.shape)
    values, signs = (node_of(_each(value, part)) for part in (_finite, _sign))
    written = _chosen(put_finite(nothing, at, signs), put_finite(nothing, at, values))
    return chosen("!=", put_finite(nothing, at, constructors.number(1)), ZERO, written, a)


def has_infinity(value: Any) -> bool:
    """Whether an operand, or one in a list of operands, has an infinite entry that is a constant."""
    if isinstance(value, (list, tuple)):
        return any(map(has_infinity, value))
    if isinstance(value, Node):
        return any(node.kind == "constant" and not _is_finite(node.array) for node in toposort(value))
    return not _is_finite(value)


def _is_finite(value: Any) -> bool:
    import numpy as np

    is_number = isinstance(value, float) or getattr(getattr(value, "dtype", None), "kind", "") == "f"
    return not is_number or not np.any(np.isinf(value))


def _each(value: Any, part: Callable[[Any], Any]) -> Any:
    """Return a part of each operand in a list of operands."""
    return [_each(one, part) for one in value] if isinstance(value, (list, tuple)) else part(value)


def _finite(value: Any) -> Any:
    """Return an operand with 0 for infinities; a formula of infinities remains, since a choice reads it whole."""
    import numpy as np

    if isinstance(value, Node):
        return node_of(_finite(value.array)) if value.kind == "constant" else value
    return value if _is_finite(value) else np.where(np.isinf(value), 0.0, value)


def _sign(value: Any) -> Any:
    """Return 1 and -1 for the infinities of an operand, 0 for its other entries."""
    import numpy as np

    if isinstance(value, Node):
        return node_of(_sign(value.array)) if value.kind == "constant" else constructors.broadcast(ZERO, value.shape)
    if _is_finite(value):
        return constructors.broadcast(ZERO, node_of(value).shape)
    return np.where(np.isinf(value), np.sign(value), 0.0)


def _chosen(signs: Node, values: Node) -> Node:
    """Return inf where a sign is positive, -inf where it is negative, else a value."""
    import numpy as np

    upper, lower = (constructors.constant(np.asarray(sign * np.inf)) for sign in (1, -1))
    return chosen(">", signs, ZERO, upper, chosen("<", signs, ZERO, lower, values))
