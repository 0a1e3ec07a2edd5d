r"""Reads functions of distributions that a passage defines, H(\pi(\cdot \mid s)), as functions of the rest, H(s).

Each use has the distributions of the definition, so their names tell nothing.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import pairwise

from matcalc.language.latex.latex_axes import is_whole
from matcalc.language.latex.latex_scope import Key, fault
from matcalc.language.latex.layout.latex_patterns import TOPS, same_layout
from matcalc.language.latex.names_in_lines import whole_key
from matcalc.language.syntax import Ast, rebuild, walk


def with_functionals(lines: Sequence[Ast], signs: Collection[str]) -> list[Ast]:
    r"""Return lines in which \pi(\cdot \mid s) as the argument of a defined function is s.

    Raises: ParseError for a use with other distributions than the definition.
    """
    sides = [line.args[0] for line in lines if line.head == "relation" and line.value in [(sign,) for sign in signs]]
    calls = [side.args for side in sides if side.head == "row" and len(side.args) == 2]
    defined = {key: names for name, fence in calls if (key := whole_key(name)) and (names := _inner(fence))}
    if not defined:
        return list(lines)
    for row in (x for line in lines for x in walk(line) if x.head == "row"):
        for name, fence in pairwise(row.args):
            key = whole_key(name)
            if key in defined and fence.head == "fence" and _inner(fence) != defined[key]:
                hint = "define the function for these distributions too"
                raise fault("a function of other distributions than those of its definition", fence, hint)

    def change(row: Ast) -> Ast:
        if row.head != "row":
            return row
        items = [
            _rest(x) if k and whole_key(row.args[k - 1]) in defined and _inner(x) else x for k, x in enumerate(row.args)
        ]
        return Ast("row", tuple(items), None, row.span, row.at)

    return [rebuild(line, change) for line in lines]


def _inner(fence: Ast) -> tuple[Key, ...]:
    r"""Return the names of the functions p(\cdot, s) that the arguments of a fence are, none if one is another."""
    if fence.head != "fence" or fence.value not in TOPS or not fence.args:
        return ()
    names = [whole_key(x.args[0]) if _is_distribution(x) else None for x in fence.args]
    others = [_others(x) for x in fence.args if _is_distribution(x)]
    is_same = all(len(x) == len(y) and all(map(same_layout, x, y)) for x, y in pairwise(others))
    return tuple(x for x in names if x is not None) if None not in names and is_same and others[0] else ()


def _is_distribution(argument: Ast) -> bool:
    if argument.head != "row" or len(argument.args) != 2:
        return False
    fence = argument.args[1]
    return fence.head == "fence" and fence.value in TOPS and sum(map(is_whole, fence.args)) == 1


def _others(argument: Ast) -> tuple[Ast, ...]:
    return tuple(x for x in argument.args[1].args if not is_whole(x))


def _rest(fence: Ast) -> Ast:
    return Ast("fence", _others(fence.args[0]), fence.value, fence.span, fence.at)
