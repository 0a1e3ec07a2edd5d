"""Reads lists of indices and masks as subscripts: `x[[0, 2]]`, `X[[True, False, True], :]`.

A list is a block of one row. A mask becomes the list of the places of True; its value is then its length, which the
axis must have.
"""

from __future__ import annotations

from matcalc.errors import ParseError
from matcalc.language.syntax import Ast, number

_TRUTH = ("True", "False")


def as_list(subscript: Ast) -> Ast:
    """Return a subscript with a mask as the list of its places; any other subscript as it is.

    Raises: ParseError for a list that is a mask in part.
    """
    if not is_list(subscript):
        return subscript
    found = entries(subscript)
    marks = [one.head == "name" and one.value in _TRUTH for one in found]
    if not any(marks):
        return subscript
    if not all(marks):
        hint = "write the indices that are selected, as in  x[[0, 2]]"
        raise ParseError("a mask contains True and False only", at=found[marks.index(False)].span[0], hint=hint)
    places = tuple(number(k) for k, one in enumerate(found) if one.value == "True")
    return Ast("block", (Ast("row", places, None, subscript.span),), len(found), subscript.span, subscript.at)


def is_list(subscript: Ast) -> bool:
    return subscript.head == "block"


def entries(subscript: Ast) -> list[Ast]:
    """Return the indices of a list."""
    return [one for row in subscript.args for one in row.args]
