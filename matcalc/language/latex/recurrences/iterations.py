r"""Finds equations that only tell the iteration of an operator of the passage, P_{k+1} = F(P_k) beside F(P) = ..."""

from __future__ import annotations

from collections.abc import Sequence

from matcalc.language.latex.latex_axes import elements
from matcalc.language.latex.latex_scope import Key, Reading, key_of, subscript_of
from matcalc.language.latex.layout.latex_layout import unbraced
from matcalc.language.latex.layout.latex_patterns import TOPS
from matcalc.language.latex.names_in_lines import whole_key
from matcalc.language.latex.recurrences.steps import counted
from matcalc.language.syntax import Ast


def tells_iteration(reading: Reading, line: Ast, lines: Sequence[Ast]) -> bool:
    """Return whether a line is a step of a declared array by a function of it that another line defines."""
    if line.head != "relation" or line.value != ("==",) or len(line.args) != 2:
        return False
    left, right = _step(line.args[0]), _call(line.args[1])
    if left is None or right is None or not reading.keys.get(left[0]):
        return False
    name, argument = right
    before = _step(argument)
    is_array = all(reading.known.shapes.get(x) for x in reading.keys[left[0]])
    is_step = before is not None and before[:2] == left[:2] and before[2] < left[2]
    if not is_array or not is_step:
        return False
    sides = [call for one in lines if one is not line and one.head == "relation" and (call := _call(one.args[0]))]
    return any(whole_key(own) == whole_key(name) and key_of(x) == left[0] for own, x in sides)


def _step(layout: Ast) -> tuple[Key, str, int] | None:
    r"""Return the key of X_{k+1} or X^{(k+1)}, its letter and number; None for anything else."""
    if layout.head != "script" or len(layout.args) != 2 or key_of(layout.args[0]) is None:
        return None
    below = subscript_of(layout)
    place = unbraced(layout.args[1])
    if below is None and place.head == "fence" and place.value == "open" and len(place.args) == 1:
        place = place.args[0]
    elif below is None or len(elements(below)) != 1:
        return None
    at = counted(place)
    key = key_of(layout.args[0])
    return (key, *at) if at is not None and key is not None else None


def _call(layout: Ast) -> tuple[Ast, Ast] | None:
    """Return the name and the argument of F(X), else None."""
    if layout.head != "row" or len(layout.args) != 2:
        return None
    name, fence = layout.args
    is_call = fence.head == "fence" and fence.value in TOPS and len(fence.args) == 1 and whole_key(name) is not None
    return (name, fence.args[0]) if is_call else None
