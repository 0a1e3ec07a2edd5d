"""Changes entries of arrays in loops, `x[t] += y`, where the operator may add to the entry that a step selects."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from typing import Any

from matcalc.expressions.loops.steps import stepping
from matcalc.expressions.loops.subscripts import decides
from matcalc.expressions.loops.writes import Written
from matcalc.expressions.numpy_bridge.arguments import is_array

OPERATORS: Mapping[str, tuple[Callable[[Any, Any], Any], Callable[[Any, Any], Any]]] = {
    "Add": (operator.add, operator.iadd), "Sub": (operator.sub, operator.isub),
    "Mult": (operator.mul, operator.imul), "Div": (operator.truediv, operator.itruediv),
    "Pow": (operator.pow, operator.ipow), "MatMult": (operator.matmul, operator.imatmul),
    "FloorDiv": (operator.floordiv, operator.ifloordiv), "Mod": (operator.mod, operator.imod),
    "BitAnd": (operator.and_, operator.iand), "BitOr": (operator.or_, operator.ior),
    "BitXor": (operator.xor, operator.ixor), "LShift": (operator.lshift, operator.ilshift),
    "RShift": (operator.rshift, operator.irshift),
}  # fmt: skip
"""Python's operators and their forms in place, by the names of the syntax tree."""


class At:
    """Returns the subscripts between its brackets."""

    def __getitem__(self, at: Any) -> Any:
        return at


def change(array: Any, at: Any, operation: str, value: Any) -> None:
    """Change entries in place, as Python does; a sum at an entry that a step selects is added to the array."""
    plain, in_place = OPERATORS[operation]
    if isinstance(array, Written):
        array[at] = plain(array[at], value)
        return
    parts = at if isinstance(at, tuple) else (at,)
    selects = any(decides(one, part) for one in stepping.get() for part in parts)
    if is_array(array) and selects and operation in ("Add", "Sub"):
        array.put_at(at, value if operation == "Add" else -value, adds=True)
        return
    array[at] = in_place(array[at], value)
