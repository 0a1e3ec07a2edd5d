"""Converts subscripts that count from 0 to LaTeX's, which count from 1 and include both ends of a range.

Indices are converted too: the condition [k == i + j] of indices from 0 is [k == i + j - 1] of indices from 1. Indices
that are data count from 0 in both.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from fractions import Fraction
from typing import cast

from matcalc.language.read import read
from matcalc.language.syntax import Ast, name, number, rebuild, walk

END = "end"
"""The name of the last index of an axis of unknown length."""


def counted(
    subscripts: Sequence[Ast], shape: Sequence[str], bound: Collection[str], data: Collection[str] = ()
) -> list[Ast]:
    """Return subscripts of a part counted from 1; `shape` contains the known lengths of the axes.

    A subscript with one of the symbols `data` is an index that is data, and stays as it is.
    """
    known = [*shape, *[""] * len(subscripts)]
    return [
        one if any(x.head == "name" and x.value in data for x in walk(one)) else _counted(one, length, bound)
        for one, length in zip(subscripts, known, strict=False)
    ]


def _counted(one: Ast, length: str, bound: Collection[str]) -> Ast:
    if one.head == "slice":
        return _range(one, length)
    return one if one.head == "name" and one.value in bound else _index(one, length)


def _index(one: Ast, length: str, more: int = 1) -> Ast:
    """Return an index counted from 1, or from the end."""
    if one.head == "empty":
        return one
    below = _below_end(one)
    if below is None:
        return added(one, more)
    end = read(length) if length else name(END)
    return added(end, more - below) if isinstance(below, int) else Ast("sum", (added(end, more), below), (1, -1))


def _below_end(one: Ast) -> int | Ast | None:
    """Return the distance of an index from the end, None if the index does not count from the end."""
    if one.head == "number" and cast(Fraction, one.value) < 0:
        return int(-cast(Fraction, one.value))
    if one.head != "negative":
        return None
    inner = one.args[0]
    return int(cast(Fraction, inner.value)) if inner.head == "number" else inner


def _range(one: Ast, length: str) -> Ast:
    """Return a range that includes its last index, which in a backward range is above the stop."""
    start, stop, step = one.args
    backwards = _below_end(step) is not None
    bounds = (_index(start, length), _index(stop, length, 2 if backwards else 0), step)
    return Ast("slice", bounds, None, one.span, one.at)


def added(tree: Ast, more: int) -> Ast:
    """Return a size plus a number, added to the number in it if there is one."""
    if not more:
        return tree
    if tree.head == "number":
        return number(cast(Fraction, tree.value) + more)
    if tree.head == "sum" and tree.args[-1].head == "number":
        signs = cast("tuple[int, ...]", tree.value)
        last = signs[-1] * cast(Fraction, tree.args[-1].value) + more
        terms, signs = tree.args[:-1], signs[:-1]
        if last:
            terms, signs = (*terms, number(abs(last))), (*signs, 1 if last > 0 else -1)
        return Ast("sum", terms, signs) if len(terms) > 1 else terms[0] if signs[0] > 0 else Ast("negative", terms)
    return Ast("sum", (tree, number(abs(more))), (1, 1 if more > 0 else -1))


def moved(condition: Ast, bound: Collection[str], by: int) -> Ast:
    """Return a condition on indices increased by a number, which moves to its right side if the condition is linear."""
    left, right = condition.args
    counts = (_count(left, bound), _count(right, bound))
    if None in counts:
        sides = tuple(_each(side, bound, -by) for side in condition.args)
    else:
        sides = (left, added(right, by * (cast(int, counts[0]) - cast(int, counts[1]))))
    return Ast(condition.head, sides, condition.value, condition.span, condition.at)


def _count(tree: Ast, bound: Collection[str]) -> int | None:
    """Return the sum of the coefficients of indices, None if the tree is not linear in them."""
    counts: dict[Ast, int | None] = {}
    for node in walk(tree):
        counts[node] = _of_node(node, [counts[x] for x in node.args], bound)
    return counts[tree]


def _of_node(node: Ast, inner: list[int | None], bound: Collection[str]) -> int | None:
    if node.head == "name":
        return int(node.value in bound)
    if None in inner:
        return None
    counts = cast("list[int]", inner)
    if node.head == "negative":
        return -counts[0]
    if node.head == "sum":
        return sum(sign * count for sign, count in zip(cast("tuple[int, ...]", node.value), counts, strict=True))
    return None if any(x.head == "name" and x.value in bound for x in walk(node)) else 0


def _each(tree: Ast, bound: Collection[str], more: int) -> Ast:
    """Return a tree with a number added to each index in it."""
    return rebuild(tree, lambda node: added(node, more) if node.head == "name" and node.value in bound else node)
