"""Converts Python's subscripts, `w[1:]`, `X[i, 0]`, `x["1:n-1"]`, to trees of the language, with its meaning."""

from __future__ import annotations

from collections.abc import Callable

from matcalc.errors import ShapeError
from matcalc.language.identifiers import shown
from matcalc.language.read import read, read_subscripts
from matcalc.language.syntax import Ast, slice_of

Operand = Callable[[object], Ast | None]
"""Returns the tree of an expression, a number or a size; None for other objects."""


def subscripts(at: object, operand: Operand, rank: int) -> tuple[list[Ast], list[int]]:
    """Return the trees of subscripts (integers, sizes, slices of them, text), and the new axes.

    For an array of `rank` axes an ellipsis is as many full slices as fit. A None is an axis of size 1, identified by
    its index in the result.

    Raises: ShapeError for anything else; ParseError for text that holds no subscripts.
    """
    items: list[object] = list(at) if isinstance(at, tuple) else [at]
    dots = [k for k, one in enumerate(items) if one is Ellipsis]
    if len(dots) > 1:
        raise ShapeError("at most one subscript can be an ellipsis")
    if dots:
        own = sum(one is not None for one in items) - 1
        items[dots[0] : dots[0] + 1] = [slice(None)] * (rank - own)
    found: list[Ast] = []
    new: list[int] = []
    axis = 0
    for one in items:
        if one is None:
            new.append(axis)
            axis += 1
            continue
        if isinstance(one, slice):
            trees = [slice_of(*(None if b is None else _bound(b, operand) for b in (one.start, one.stop, one.step)))]
        else:
            trees = read_subscripts(one) if isinstance(one, str) else [_bound(one, operand)]
        axis += sum(tree.head == "slice" for tree in trees)
        found += trees
    return found, new


def _bound(value: object, operand: Operand) -> Ast:
    tree = read(value) if isinstance(value, str) else None if isinstance(value, bool) else operand(value)
    if tree is None:
        hint = "lists of integers are subscripts in a function written for NumPy, def f(x): return x[[0, 2]]"
        hint = hint if isinstance(value, list) else ""
        raise ShapeError(f"a subscript is an integer, a size or a range of them, not {shown(value)}", hint=hint)
    return tree
