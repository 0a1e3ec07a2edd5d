r"""Extends sums over the terms behind them that have no other meaning: `\sum_i y_i \log p_i + (1 - y_i) \log(1 - p_i)`.

A sum ends at + or -. A later term with its index as a subscript has no meaning outside of the sum, so it is inside.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import cast

from matcalc.language.latex.definitions.bound_letters import bound_by, bound_in
from matcalc.language.latex.latex_axes import letters_in
from matcalc.language.latex.latex_scope import Reading, fault, subscript_of
from matcalc.language.latex.layout.latex_names import OVER
from matcalc.language.syntax import Ast, rebuild, walk


def with_long_sums(reading: Reading, line: Ast, equal: Collection[str]) -> Ast:
    """Return a line in which each sum extends to the last term that has its index.

    Raises: ParseError if terms without the index follow such a term.
    """
    is_named = line.head == "relation" and line.value in [(sign,) for sign in equal] and len(line.args) == 2
    taken = set(letters_in(line.args[0])) if is_named else set()
    ranged = bound_in(line, letters_in(line))  # in \sum_i \log \sum_{k \ne i}, the second sum is over k alone

    def change(node: Ast) -> Ast:
        while node.head == "chain" and (longer := _extended(reading, node, taken, ranged)) is not node:
            node = longer
        return node

    return rebuild(line, change)


def _extended(reading: Reading, node: Ast, taken: Collection[str], ranged: Collection[str]) -> Ast:
    """Return a chain of terms of which the first sum that must be longer contains more terms.

    A condition on indices binds none of the `ranged` ones, which have a range in another sum.
    """
    signs = cast("tuple[tuple[int, ...], bool]", node.value)[0]
    for k, term in enumerate(node.args[:-1]):
        big = term.args[-1] if term.head == "row" else term
        if big.head == "big" and big.value[0] in OVER:  # type: ignore[index]
            form = ((1, *signs[k + 1 :]), False)
            inner = Ast("chain", (big.args[-1], *node.args[k + 1 :]), form, (big.args[-1].span[0], node.span[1]))
            if (found := _extended(reading, inner, taken, ranged)) is not inner:
                return _ending(node, k, found)
            continue
        if big.head != "big" or big.value[0] != "sum":  # type: ignore[index]
            continue
        bound = {x for x in bound_by(big, ranged) if (x,) not in reading.keys} - set(taken)
        needed = [bool(_free(later) & bound) for later in node.args[k + 1 :]]
        if not any(needed):
            continue
        if not needed[-1]:
            hint = "write parentheses around what is summed"
            raise fault("the end of this sum is ambiguous", big, hint)
        body = big.args[-1]
        own: tuple[tuple[int, ...], bool] = ((1,), False)
        terms = [body]
        if body.head == "chain":
            own, terms = cast("tuple[tuple[int, ...], bool]", body.value), list(body.args)
        span = (body.span[0], node.span[1])
        after = node.args[k + 1 :]
        longer = Ast("chain", (*terms, *after), ((*own[0], *signs[k + 1 :]), own[1]), span, after[0].span[0])
        return _ending(node, k, _extended(reading, longer, taken, ranged))
    return node


def _ending(node: Ast, k: int, body: Ast) -> Ast:
    """Return a chain that ends with term k, in which the operator at the end of that term has another operand."""
    signs, begins = cast("tuple[tuple[int, ...], bool]", node.value)
    term = node.args[k]
    big = term.args[-1] if term.head == "row" else term
    made = Ast("big", (*big.args[:-1], body), big.value, (big.span[0], node.span[1]), big.at)
    if term.head == "row":
        made = Ast("row", (*term.args[:-1], made), term.value, (term.span[0], node.span[1]), term.at)
    if k == 0 and not begins:
        return made
    return Ast("chain", (*node.args[:k], made), (signs[: k + 1], begins), node.span, node.at)


def _free(layout: Ast) -> set[str]:
    """Return the letters in the subscripts of a layout that its own sums do not bind."""
    return _subscripts(layout) - bound_in(layout)


def _subscripts(layout: Ast) -> set[str]:
    below = [subscript_of(node) for node in walk(layout) if node.head == "script"]
    return {x for one in below if one is not None for x in letters_in(one)}
