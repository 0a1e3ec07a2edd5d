"""Python's subscripts, `w[1:]`, `X[i, 0]`, `x["1:n-1"]`, as trees of the language: they mean what they mean there."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from matcalc.errors import ShapeError
from matcalc.language.identifiers import shown
from matcalc.language.read import read, read_subscripts
from matcalc.language.syntax import Ast, slice_of

Operand = Callable[[Any], Ast | None]
"""Gives the tree of an expression, a number or a size; None for what is none of them."""


def subscripts(at: Any, operand: Operand) -> list[Ast]:
    """Return the trees of what stands between brackets: integers, sizes, slices of them, text.

    Raises: ShapeError for anything else; ParseError for text that holds no subscripts.
    """
    found: list[Ast] = []
    for one in at if isinstance(at, tuple) else (at,):
        if isinstance(one, slice):
            found.append(
                slice_of(*(None if b is None else _bound(b, operand) for b in (one.start, one.stop, one.step)))
            )
        else:
            found += read_subscripts(one) if isinstance(one, str) else [_bound(one, operand)]
    return found


def _bound(value: Any, operand: Operand) -> Ast:
    tree = read(value) if isinstance(value, str) else None if isinstance(value, bool) else operand(value)
    if tree is None:
        raise ShapeError(f"a subscript is an integer, a size or a range of them, not {shown(value)}")
    return tree
