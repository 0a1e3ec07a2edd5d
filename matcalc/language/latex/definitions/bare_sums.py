r"""Gives a sum without a subscript the indices of its summand: \sum x_i^2 is \sum_i x_i^2.

An index that also stands outside of the sum, y_j = \sum x_i A_{ij} with its j, is none of the sum. Of two factors
\sum x_i \sum y_i each has its own index.
"""

from __future__ import annotations

from collections.abc import Collection

from matcalc.language.latex.definitions.bound_letters import bound_by, bound_in
from matcalc.language.latex.latex_axes import letters_in
from matcalc.language.latex.latex_scope import Reading, is_named, subscript_of
from matcalc.language.syntax import Ast, walk


def with_indices_of_sums(reading: Reading, line: Ast) -> Ast:
    r"""Return a line in which each \sum has a subscript, if its summand has indices that are bound nowhere else."""
    if not any(_is_bare(node) for node in walk(line)):
        return line
    return _changed(reading, line, _outside(reading, line), ())


def _is_bare(node: Ast) -> bool:
    return node.head == "big" and node.value == ("sum", ())


def _changed(reading: Reading, node: Ast, taken: Collection[str], bare: Collection[str]) -> Ast:
    """Return a layout with subscripts of its sums.

    `taken` are the indices that are bound around it, `bare` those of them that sums without a subscript bind.
    """
    taken = {*taken, *bound_by(node)} if node.head == "big" else taken
    found = _outside(reading, node.args[-1]) if _is_bare(node) else {}
    own = {letter: x for letter, x in found.items() if letter not in {*taken, *bound_in(node)}}
    if not own and {*found} <= {*bare} - bound_in(node):
        own = found  # a factor of another sum
    args = tuple(_changed(reading, x, {*taken, *own}, {*bare, *own}) for x in node.args)
    if not own:
        return Ast(node.head, args, node.value, node.span, node.at) if args else node
    below = Ast("fence", tuple(own.values()), "brace", node.span)
    return Ast("big", (below, *args), ("sum", ("_",)), node.span, node.at)


def _outside(reading: Reading, node: Ast) -> dict[str, Ast]:
    """Return the letters that are subscripts in a layout, outside of the sums in it, and no names or sizes."""
    if node.head == "big":
        return {}
    found: dict[str, Ast] = {}
    below = subscript_of(node) if node.head == "script" and not is_named(reading, node) else None
    for x in walk(below) if below is not None else ():
        if x.head == "letter" and not _is_known(reading, letters_in(x)[0]):
            found[letters_in(x)[0]] = x
    for x in node.args:
        found |= _outside(reading, x) if x is not below else {}
    return found


def _is_known(reading: Reading, letter: str) -> bool:
    return (letter,) in reading.keys or letter in reading.known.sizes
