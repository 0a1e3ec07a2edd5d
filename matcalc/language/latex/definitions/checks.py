r"""Refuses two definitions of one function, and parts that read what a call replaces.

Beside v(x) = \sum_i (x_i - \bar x)^2 and \bar x = ... of a declared x, v(y) is refused: the part reads x.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import cast

from matcalc.language.latex.definitions.statements import Statement
from matcalc.language.latex.latex_scope import Key, Reading, fault, key_of
from matcalc.language.latex.layout.latex_patterns import TOPS, same_layout, without_top
from matcalc.language.latex.names_in_lines import used, whole_key
from matcalc.language.syntax import Ast, walk


def check_once(every: Sequence[Statement]) -> None:
    """Raise ParseError for a function, or entries, that two lines define by different formulas."""
    found: dict[object, Statement] = {}
    for one in every:
        form = one.key, len(one.parameters or ()), one.indices
        first = found.setdefault(form, one)
        is_put_in = one.name is not None and one.is_put_in
        if is_put_in and not same_layout(first.formula, one.formula):
            raise fault(f"{'_'.join(one.key)} is defined twice", cast(Ast, one.name), "keep one of the definitions")


def check_parts_of_functions(reading: Reading, every: Sequence[Statement]) -> None:
    """Raise ParseError for a function of a declared symbol, called with another argument, whose parts read it."""
    uses = {id(one): used(one.formula) for one in every}
    for one in every:
        for number, parameter in enumerate(one.parameters or ()):
            key = key_of(parameter)
            if key is None or key not in reading.keys:
                continue
            calls = [x for other in every for x in _calls(other.formula, one.key) if len(x.args) > number]
            others = [x for x in calls if key_of(x.args[number]) not in (key, None)] + [
                x for x in calls if key_of(x.args[number]) is None and whole_key(x.args[number]) != key
            ]
            part = _part_that_reads(one, key, every, uses) if others else None
            if part is not None:
                shown, name = "_".join(key), "_".join(part.key)
                hint = rf"write {name}({shown}), a function of {shown}, on its left side and where it is used"
                message = f"{'_'.join(one.key)} has another argument here, and its part {name} reads {shown}"
                raise fault(message, others[0], hint)


def _calls(formula: Ast, key: Key) -> list[Ast]:
    """Return the fences behind the name of a function."""
    rows = [x for x in walk(formula) if x.head == "row"]
    pairs = [(a, without_top(b)[0]) for row in rows for a, b in pairwise(row.args)]
    fences = [(a, b.args[0] if b.head == "script" else b) for a, b in pairs]
    return [b for a, b in fences if b.head == "fence" and b.value in TOPS and whole_key(a) == key]


def _part_that_reads(
    function: Statement, key: Key, every: Sequence[Statement], uses: Mapping[int, frozenset[Key]]
) -> Statement | None:
    """Return the first part that a function needs and that reads a symbol, without being a function of it."""
    rows = (key[0].lower(), *key[1:])
    reads = {key} if rows == key or rows in _defined(every) else {key, rows}
    waiting, seen = [function], {id(function)}
    while waiting:
        one = waiting.pop()
        own = {key_of(x) for x in one.parameters or ()}
        if one is not function and key not in own and reads & uses[id(one)]:
            return one
        found = [x for x in every if x.name is not None and id(x) not in seen and x.used_as in uses[id(one)]]
        seen |= {id(x) for x in found}
        waiting += found
    return None


def _defined(every: Sequence[Statement]) -> set[Key]:
    """Return the names that lines define."""
    return {one.used_as for one in every if one.name is not None}
