r"""Reads states with arguments, \alpha_{t+1}(j) = \sum_i \alpha_t(i) a_{ij}, as states with two subscripts.

An argument is then an index: a name that is defined at one step and read at another one is no function of numbers.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from itertools import pairwise

from matcalc.language.latex.latex_axes import elements
from matcalc.language.latex.latex_scope import Key, key_of
from matcalc.language.latex.recurrences.steps import counted
from matcalc.language.syntax import Ast, rebuild, walk

Lines = Sequence[Sequence[Ast]]
Use = tuple[Key, int, str, int]
"""A use of a name: its key, the number of its arguments, the letter of its step, and the number added to that."""


def with_arguments_below(lines: Lines, declared: Collection[str]) -> tuple[list[Ast], ...]:
    """Return lines in which the arguments of states are subscripts behind the step; a declared name is no index."""
    every = [one for some in lines for one in some]
    defined = {(key, n, letter): offset for line in every for key, n, letter, offset in _left(line, declared)}
    names = {
        (key, n)
        for row in (x for line in every for x in walk(line) if x.head == "row")
        for key, n, letter, offset in _uses(row, declared)
        if defined.get((key, n, letter), offset) != offset
    }
    if not names:
        return tuple(list(some) for some in lines)

    def change(node: Ast) -> Ast:
        if node.head != "row":
            return node
        items: list[Ast] = []
        for item in node.args:
            if items and _name(items[-1], item, declared) in names:
                script = items.pop()
                below = Ast("fence", (*elements(script.args[1]), *item.args), "brace", script.args[1].span)
                item = Ast("script", (script.args[0], below), ("_",), script.span, script.at)
            items.append(item)
        return items[0] if len(items) == 1 else Ast("row", tuple(items), None, node.span, node.at)

    return tuple([rebuild(one, change) for one in some] for some in lines)


def _left(line: Ast, declared: Collection[str]) -> Iterator[Use]:
    """Yield the use on the left side of a line."""
    if line.head == "relation" and len(line.args) == 2 and line.args[0].head == "row" and len(line.args[0].args) == 2:
        yield from _uses(line.args[0], declared)


def _uses(row: Ast, declared: Collection[str]) -> Iterator[Use]:
    for item, after in pairwise(row.args):
        name = _name(item, after, declared)
        at = counted(item.args[1]) if name is not None else None
        if name is not None and at is not None:
            yield (*name, *at)


def _name(item: Ast, after: Ast, declared: Collection[str]) -> tuple[Key, int] | None:
    """Return the key of a letter with one subscript before a list of letters, and their number."""
    if item.head != "script" or item.value != ("_",) or len(elements(item.args[1])) != 1:
        return None
    key = key_of(item.args[0])
    is_list = after.head == "fence" and after.value == "open" and bool(after.args)
    indices = [x for x in after.args if x.head == "letter" and x.value[0] not in declared or _is_primed(x)]  # type: ignore[index]
    letters = is_list and len(indices) == len(after.args)
    return (key, len(after.args)) if key is not None and letters else None


def _is_primed(layout: Ast) -> bool:
    return layout.head == "script" and layout.value == ("'",) and layout.args[0].head == "letter"
