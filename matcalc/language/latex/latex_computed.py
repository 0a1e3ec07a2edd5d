r"""Reads subscripts in LaTeX that are computed from indices: y_{t-j}, x_{n+1-i}, h_{2i+j}.

Indices count from 0 in a tree, so t stands for its first value plus t. A subscript outside its axis is found at the
call, when the sizes are known.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import cast

from matcalc.language import syntax
from matcalc.language.latex.latex_scope import Reading, Scope, fault, needed
from matcalc.language.syntax import Ast, rebuild, walk
from matcalc.language.write import text as written


def is_computed(axis: Ast, bound: list[str]) -> bool:
    """Return whether a subscript is more than one index plus a number; `bound` are its indices."""
    if len(bound) > 1:
        return axis.head in ("chain", "row")
    if axis.head != "chain":
        return axis.head == "row"
    signs = cast("tuple[tuple[int, ...], bool]", axis.value)[0]
    own = [(sign, x) for sign, x in zip(signs, axis.args, strict=True) if any(_is(y, bound[0]) for y in walk(x))]
    return any(sign < 0 or not _is(x, bound[0]) for sign, x in own)


def computed(reading: Reading, axis: Ast, bound: Sequence[str], scope: Scope, first: int) -> tuple[Ast, Ast | None]:
    """Return the position of a computed subscript along an axis, and the range that is cut out before it applies.

    Positions count from 0, and the first entry has the number `first`. A subscript of one index cuts out its range, for
    an index that counts down a reversed one: so the bounds of the index are never shortened to fit the axis. One that
    counts by more, x_{2i}, is a position inside its range.

    Raises: ParseError for a subscript that is not linear in its index, or whose index has no bounds.
    """
    tree = cast(Ast, needed(reading, axis).tree)
    lows = {x.name: x.low if x.low is not None else syntax.number(1) for x in scope.indices.values()}

    def change(node: Ast) -> Ast:
        low = lows.get(str(node.value)) if node.head == "name" else None
        return node if low is None else Ast("sum", (node, low), (1, 1), node.span)

    position = Ast("sum", (rebuild(tree, change), syntax.number(first)), (1, -1), axis.span)
    if len(set(bound)) > 1 or any("%" in cast("tuple[str, ...]", x.value) for x in walk(tree) if x.head == "product"):
        return collected(position), None
    index = scope.indices[bound[0]]
    times = sum(own for own, term in terms_of(position, 1) if term.head == "name" and term.value == index.name)
    own = Ast("name", (), index.name, axis.span)
    if index.high is None or index.low is None:
        raise fault("this index of a sum without bounds", axis, r"write its bounds, \sum_{i=1}^{n}")
    begin = collected(Ast("sum", (position, _multiple(own, times)), (1, -1)))
    if not times or index.name in syntax.names_in(begin):
        hint = "subscripts are linear, as in x_{i+1}, x_{n+1-i} and x_{2i}"
        raise fault("this subscript is not supported", axis, hint)
    index.measured = True
    steps = _multiple(Ast("sum", (index.high, index.low), (1, -1)), abs(times))
    if abs(times) > 1:
        start = begin if times > 0 else collected(Ast("sum", (begin, steps), (1, -1)))
        end = collected(Ast("sum", (start, steps, syntax.number(1)), (1, 1, 1)))
        inside = _multiple(own, abs(times))
        if times < 0:
            inside = collected(Ast("sum", (steps, inside), (1, -1)))
        return inside, Ast("slice", (start, end, Ast("empty")), None, axis.span)
    end = collected(Ast("sum", (begin, steps, syntax.number(1)), (1, times, times)))
    if times < 0 and end.head == "number" and end.value == -1:
        end = Ast("empty")
    step = Ast("empty") if times > 0 else Ast("negative", (syntax.number(1),))
    return own, Ast("slice", (begin, end, step), None, axis.span)


def _multiple(tree: Ast, times: int) -> Ast:
    """Return a whole number times a tree."""
    if abs(times) == 1:
        return tree if times > 0 else Ast("negative", (tree,))
    return syntax.product([syntax.number(times), tree], ["*"])


def collected(tree: Ast) -> Ast:
    """Return a sum with equal terms added up, positive ones first."""
    count = Fraction(0)
    terms: dict[str, tuple[int, Ast]] = {}
    for sign, term in terms_of(tree, 1):
        if term.head == "number":
            count += sign * cast(Fraction, term.value)
            continue
        times, _ = terms.get(shown := written(term), (0, term))
        terms[shown] = (times + sign, term)
    signed = [(1 if times > 0 else -1, _multiple(term, abs(times))) for times, term in terms.values() if times]
    if not signed:
        return syntax.number(count)
    signed += [(1 if count > 0 else -1, syntax.number(abs(count)))] if count else []
    signed.sort(key=lambda one: -one[0])
    if signed == [(1, signed[0][1])]:
        return signed[0][1]
    return syntax.add([term for _, term in signed], [sign for sign, _ in signed])


def terms_of(tree: Ast, sign: int) -> Iterator[tuple[int, Ast]]:
    """Yield the terms of nested sums, each with a whole number of times; a number times a sum is multiplied out."""
    if tree.head == "sum":
        for own, term in zip(cast("tuple[int, ...]", tree.value), tree.args, strict=True):
            yield from terms_of(term, sign * own)
    elif tree.head == "negative":
        yield from terms_of(tree.args[0], -sign)
    elif tree.head == "product" and tree.value == ("*",) and tree.args[0].head == "number":
        times = cast(Fraction, tree.args[0].value)
        for own, term in terms_of(tree.args[1], sign):
            if term.head == "number":
                yield own, syntax.number(times * cast(Fraction, term.value))
            elif times.denominator == 1:
                yield own * int(times), term
            else:
                yield own, syntax.product([tree.args[0], term], ["*"])
    else:
        yield sign, tree


def _is(layout: Ast, letter: str) -> bool:
    return layout.head == "letter" and layout.value[0] == letter  # type: ignore[index]
