r"""Reads comparisons of an index with data of indices, \mathbb{1}\{y_i = k\} and \sum_{k \ne y_i}, by position.

Data of indices count from 0, as in p_{i,y_i}. So y_i = k holds if both are the same position: k - 1, if the sum over
k begins with 1.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import cast

from matcalc.language.latex.latex_scope import Index, Reading, Scope, fault, key_of, needed
from matcalc.language.syntax import Ast, rebuild, walk

COMPARED = ("==", "!=", "<", "<=", ">", ">=")


def is_datum(reading: Reading, layout: Ast) -> bool:
    """Return whether a layout is an index that is data, y or y_i."""
    base = layout.args[0] if layout.head == "script" and layout.value == ("_",) else layout
    names = reading.keys.get(key_of(base) or (), ())
    return bool(names) and set(names) <= reading.known.indices


def compared(reading: Reading, node: Ast, scope: Scope, sides: tuple[Ast, Ast]) -> tuple[Ast, Ast]:
    """Return the sides of a comparison, with positions in the place of indices if a side is data of indices.

    Raises: ParseError for a comparison of such data with a number.
    """
    data = [is_datum(reading, x) for x in node.args]
    if True not in data or all(data):
        return sides
    other, tree = node.args[data.index(False)], sides[data.index(False)]
    if not any(x.head == "name" and x.value in scope.indices for x in walk(tree)):
        if not any(x.head == "name" for x in walk(tree)):
            datum = node.args[data.index(True)]
            name = "_".join(key_of(datum.args[0] if datum.args else datum) or ())
            hint = f"declare {name} as numbers and not as an index to compare it with numbers"
            raise fault("this number can count from 1, or from 0 as the data do", other, hint)
        return sides
    made = positions(tree, scope.indices)
    return (sides[0], made) if data[0] else (made, sides[1])


def positions(tree: Ast, indices: Mapping[str, Index]) -> Ast:
    """Return a tree with the positions of indices, from 0, in the place of their numbers."""

    def change(node: Ast) -> Ast:
        index = indices.get(str(node.value)) if node.head == "name" else None
        if index is None or index.is_step:
            return node
        if index.low is not None and index.low.head == "number" and not cast(Fraction, index.low.value):
            return node
        return Ast("sum", (node, Ast("number", (), Fraction(1), node.span)), (1, -1), node.span)

    return rebuild(tree, change)


def beside_datum(reading: Reading, element: Ast) -> str | None:
    r"""Return the index k of the condition k \ne y_i below a sum; None for anything else."""
    if element.head != "relation" or len(element.args) != 2 or element.value[0] not in COMPARED[1:]:  # type: ignore[index]
        return None
    data = [is_datum(reading, x) for x in element.args]
    if sum(data) != 1 or (letter := element.args[data.index(False)]).head != "letter":
        return None
    return str(letter.value[0])  # type: ignore[index]


def condition_on(reading: Reading, element: Ast, name: str) -> Ast:
    r"""Return the condition k \ne y_i on positions."""
    own = positions(Ast("name", (), name, element.span), {name: Index(name)})
    trees = [
        own if x.head == "letter" and x.value[0] == name else cast(Ast, needed(reading, x).tree)  # type: ignore[index]
        for x in element.args
    ]
    return Ast("compare", tuple(trees), element.value[0], element.span, element.at)  # type: ignore[index]


def axis_below_limit(reading: Reading, name: str, at: Ast) -> int | None:
    """Return the axis of a matrix that is as long as a passage tells the range of data of indices; None if unknown."""
    data = at.args[0] if at.head == "part" else at
    shape, size = reading.known.shapes.get(name, ()), reading.limits.get(str(data.value), "")
    return shape.index(size) if len(shape) == 2 and shape.count(size) == 1 else None
