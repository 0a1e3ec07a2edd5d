"""Writes a syntax tree as text with the fewest parentheses that the precedence table allows; reading returns the tree.

A stack converts a tree to pieces of text, so the tree may have any depth. A sum in a sum or a product in a product has
parentheses: without them it would be read as one chain. Nothing is reordered.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from fractions import Fraction
from itertools import chain, count
from math import inf
from typing import Any, cast

from matcalc.language.exact_numbers import decimals, number_text
from matcalc.language.index_limits import limits_of
from matcalc.language.positions import equation_of, tight
from matcalc.language.syntax import (
    Ast,
    call_keywords,
    call_name,
    definition,
    is_chain,
    part_name,
    parts_in,
    rebuilt,
    tree_of_leaf,
    whole,
)

SUM, PRODUCT, SIGNED, TIGHT, TRANSPOSED, PRIMARY = range(1, 7)
"""Levels of the precedence table; TRANSPOSED is the level of a power that may also be a base and have parts."""

ENDED = -1
"""A marker instead of a level: the text of the tree ends here."""

Piece = str | tuple[Ast, int]
"""Something still to be written: text, or a tree and the least level that needs no parentheses."""


def text(ast: Ast) -> str:
    """Return the text of a tree, which `read` reads back: named shared parts first, then the formula."""
    named, body = lines(ast)
    if any(part.head == "system" for part in map(definition, parts_in(ast))):
        return where_text(ast)
    return "; ".join([*(f"{name} = {tree}" for name, tree in named), body])


def where_text(ast: Ast) -> str:
    """Return the text of a tree, the formula first and then its shared parts; `read` reads it back too."""
    named, body = lines(ast)
    shown = (f"{name} = {tree}" if name else tree for name, tree in named)
    return " where ".join([body, *filter(None, [", ".join(shown)])])


def lines(ast: Ast) -> tuple[list[tuple[str, str]], str]:
    """Return the shared parts of a tree, each as name and text, and the text of the formula over them.

    The lines of a recurrence are `x[0]`, `x[t+1]`, with their texts; its limit has no name.
    """
    names = part_names(ast)
    found: list[tuple[str, str]] = []
    limits: dict[tuple[str, str], None] = {}
    for part, name in _named(ast, names):
        tree = definition(part)
        if tree.head != "system":
            found.append((name, _text(tree, names)))
            continue
        limit, *equations = tree.args
        for name, place, right in (equation_of(equation, str(tree.value)) for equation in equations):
            found.append((f"{name}[{_text(place, names)}]", _text(right, names)))
        if limit.head != "empty":
            limits["", f"{tree.value} < {_text(limit, names)}"] = None
    return [*found, *limits], _text(tight(ast), names)


def part_names(ast: Ast) -> dict[Ast, str]:
    """Return a name for each shared part of a tree, by its definition; it differs from all other names in the tree."""
    parts = parts_in(ast)
    if not parts:
        return {}
    used = {str(node.value) for node in whole(ast) if node.head == "name"}
    used.update(str(n) for node in whole(ast) if node.head == "index_form" for n in cast(Any, node.value))
    found: dict[Ast, str] = {}
    for part in parts:
        preferred = part_name(part)
        name = next(n for n in chain([preferred], (f"{preferred}_{k}" for k in count(2))) if n not in used)
        used.add(name)
        found[definition(part)] = name
    return found


def _named(ast: Ast, names: Mapping[Ast, str]) -> list[tuple[Ast, str]]:
    return [(part, names[definition(part)]) for part in parts_in(ast)] if names else []


def ends(ast: Ast, length: int, tail: int) -> str:
    """Return the text of a formula with its middle cut out: `length` characters, the last `tail` of them from its end.

    Shared parts appear by name, without their definitions. The omitted part is never written.
    """
    front = _text(ast, {}, length + 1)
    if len(front) <= length:
        return front
    back = _text(ast, {}, tail, backwards=True)
    return f"{front[: length - tail - 5]} ... {back[-tail:]}"


def placed(ast: Ast) -> tuple[str, Ast]:
    """Return the text of a tree without shared parts, and the tree with the positions of its parts in that text."""
    spans: dict[Ast, tuple[int, int]] = {}
    written = _text(ast, {}, spans=spans)

    def put(node: Ast, new: Ast) -> Ast:
        at = new.args[0].span[1] if node.head == "part" else -1  # the position of its bracket
        return replace(new, span=spans.get(node, (0, 0)), at=at)

    return written, rebuilt(ast, put)


def _text(
    ast: Ast,
    names: Mapping[Ast, str],
    most: float = inf,
    backwards: bool = False,
    spans: dict[Ast, tuple[int, int]] | None = None,
) -> str:
    """Return the text of a tree, or a prefix or suffix of at least `most` characters.

    The position of each part is stored in `spans`.
    """
    written: list[str] = []
    length = 0
    stack: list[Piece] = [(ast, SUM)]
    while stack and length < most:
        piece = stack.pop()
        if isinstance(piece, str):
            written.append(piece)
            length += len(piece)
            continue
        node, least = piece
        if least == ENDED:
            assert spans is not None
            spans[node] = spans[node][0], length
            continue
        if spans is not None:
            spans[node] = length, length
            stack.append((node, ENDED))
        if node.head == "shared":
            stack.append(names.get(definition(node), part_name(node)))
            continue
        if node.head == "leaf":
            stack.append((tree_of_leaf(node), least))
            continue
        if node.head == "at_step":
            stack.append((cast(Any, node.value).written, least))
            continue
        pieces = list(_PIECES[node.head](node))
        if (least > TRANSPOSED or node.head != "part") and level(node) < least:  # the level of a part is in its base
            pieces = ["(", *pieces, ")"]
        stack.extend(pieces if backwards else reversed(pieces))
    return "".join(reversed(written) if backwards else written)


def level(node: Ast) -> int:
    """Return the level of a tree in the precedence table; 0 for an argument such as `x > 0`."""
    if node.head == "number":
        return _number_level(cast(Fraction, node.value))
    if node.head == "part":
        return _part_level(node)
    if node.head == "leaf":
        return level(tree_of_leaf(node))
    return _LEVELS.get(node.head, 0)


def _number_level(value: Fraction) -> int:
    if decimals(value.denominator) is None:
        return PRODUCT
    return SIGNED if value < 0 else PRIMARY


def _part_level(node: Ast) -> int:
    """Return PRIMARY, or TRANSPOSED if the innermost base is not primary: `A'[0, :]`."""
    base, _ = _part_chain(node)
    return PRIMARY if level(base) == PRIMARY else TRANSPOSED


def _part_chain(node: Ast) -> tuple[Ast, list[Ast]]:
    """Return the innermost base of nested parts, and the parts from the inside out."""
    parts: list[Ast] = []
    while node.head == "part":
        parts.append(node)
        node = node.args[0]
    return node, parts[::-1]


def _number(node: Ast) -> Iterator[Piece]:
    yield number_text(cast(Fraction, node.value))


def _name(node: Ast) -> Iterator[Piece]:
    yield str(node.value)


def _word(node: Ast) -> Iterator[Piece]:
    yield f"'{node.value}'"


def _sum(node: Ast) -> Iterator[Piece]:
    signs = cast("tuple[int, ...]", node.value)
    dot = "." if node.head == "dotted_sum" else ""
    for k, (sign, term) in enumerate(zip(signs, node.args, strict=True)):
        if k:
            yield f" {dot}+ " if sign > 0 else f" {dot}- "
        elif sign < 0:
            yield "-"
        if not k and sign > 0 and {term.head, node.head} == {"sum", "dotted_sum"}:
            yield term, SUM  # as it is read, left to right
            continue
        yield term, (PRODUCT if k or sign > 0 or term.head != "product" or is_chain(term) else SIGNED)


def _position(node: Ast) -> Iterator[Piece]:
    signs = cast("tuple[int, ...]", node.value)
    yield node.args[0], PRODUCT
    yield "+" if signs[1] > 0 else "-"
    yield node.args[1], PRODUCT


def _product(node: Ast) -> Iterator[Piece]:
    operators = cast("tuple[str, ...]", node.value)
    first = node.args[0]
    yield first, (PRODUCT if first.head == "number" else SIGNED)
    for operator, factor in zip(operators, node.args[1:], strict=True):
        yield operator
        yield factor, SIGNED


def _negative(node: Ast) -> Iterator[Piece]:
    yield "-"
    yield node.args[0], SIGNED


def _power(node: Ast) -> Iterator[Piece]:
    base, exponent = node.args
    yield base, TRANSPOSED
    yield str(node.value)
    if node.value == "^" and _is_t(exponent):
        yield from ("(", (exponent, SUM), ")")  # A^T is a transpose
        return
    while exponent.head == "negative":
        yield "-"
        exponent = exponent.args[0]
    if exponent.head == "number" and level(exponent) == SIGNED:
        yield "-"
        exponent = Ast("number", (), -cast(Fraction, exponent.value))
    yield exponent, PRIMARY


def _is_t(exponent: Ast) -> bool:
    base, _ = _part_chain(exponent)
    return base.head == "name" and base.value == "T"


def _transpose(node: Ast) -> Iterator[Piece]:
    yield node.args[0], TIGHT
    yield "^T" if node.value == "^T" else "'"


def _list(nodes: tuple[Ast, ...], least: int, separator: str = ", ") -> Iterator[Piece]:
    for k, node in enumerate(nodes):
        if k:
            yield separator
        yield node, least


def _call(node: Ast) -> Iterator[Piece]:
    yield f"{call_name(node)}("
    yield from _list(node.args, 0)
    for k, (key, value) in enumerate(call_keywords(node), start=len(node.args)):
        yield f"{', ' if k else ''}{key}="
        yield value, SUM
    yield ")"


def _part(node: Ast) -> Iterator[Piece]:
    subscripts = node.args[1:]
    yield node.args[0], TRANSPOSED
    yield "["
    yield from _list(subscripts, 0, "," if all(x.head == "name" for x in subscripts) else ", ")
    yield "]"


def _slice(node: Ast) -> Iterator[Piece]:
    start, stop, step = node.args
    yield start, 0
    yield ":"
    yield stop, 0
    if step.head != "empty":
        yield ":"
        yield step, 0


def _empty(node: Ast) -> Iterator[Piece]:
    return iter(())


def _block(node: Ast) -> Iterator[Piece]:
    yield "["
    yield from _list(node.args, 0, "; ")
    yield "]"


def _row(node: Ast) -> Iterator[Piece]:
    return _list(node.args, 0)


def _index_form(node: Ast) -> Iterator[Piece]:
    yield "sum" if node.head == "index_sum" else ""
    limits, body = limits_of(node)
    yield "{"
    for k, name in enumerate(cast("tuple[str, ...]", node.value)):
        yield f"{', ' if limits else ','}{name}" if k else name
        if name in limits:
            yield " < "
            yield limits[name], SUM
    yield ": "
    yield body, SUM
    yield "}"


def _state(node: Ast) -> Iterator[Piece]:
    yield str(node.value)


def _step_sum(node: Ast) -> Iterator[Piece]:
    yield f"sum{{{node.value}: "
    yield node.args[1], SUM
    yield "}"


def _inner(node: Ast) -> Iterator[Piece]:
    formula, *systems = node.args
    yield "("
    yield formula, SUM
    yield " where "
    limits: dict[str, Ast] = {}
    separator = ""
    for system in systems:
        for name, place, right in (equation_of(equation, str(system.value)) for equation in system.args[1:]):
            yield f"{separator}{name}["
            separator = ", "
            yield place, SUM
            yield "] = "
            yield right, SUM
        if system.args[0].head != "empty":
            limits.setdefault(str(system.value), system.args[0])
    for index, limit in limits.items():
        yield f", {index} < "
        yield limit, SUM
    yield ")"


def _relation(node: Ast) -> Iterator[Piece]:
    yield node.args[0], SUM
    yield f" {node.value} "
    yield node.args[1], SUM


def _condition(node: Ast) -> Iterator[Piece]:
    return iter(["[", *_relation(node), "]"])


def _function(node: Ast) -> Iterator[Piece]:
    yield f"{node.value} -> "
    yield node.args[0], SUM


def _spread(node: Ast) -> Iterator[Piece]:
    yield node.args[0], SUM
    yield "..."


_LEVELS = {
    "name": PRIMARY, "shared": PRIMARY, "call": PRIMARY, "block": PRIMARY, "condition": PRIMARY,
    "index_form": PRIMARY, "index_sum": PRIMARY, "state": PRIMARY, "step_sum": PRIMARY, "at_step": PRIMARY,
    "inner_where": PRIMARY,
    "transpose": TRANSPOSED, "power": TIGHT, "negative": SIGNED, "product": PRODUCT, "sum": SUM, "dotted_sum": SUM,
    "position": SUM,
}  # fmt: skip

_PIECES: dict[str, Callable[[Any], Iterator[Piece]]] = {
    "number": _number, "name": _name, "word": _word, "sum": _sum, "dotted_sum": _sum, "position": _position,
    "product": _product,
    "negative": _negative, "power": _power, "transpose": _transpose, "call": _call, "part": _part, "slice": _slice,
    "empty": _empty, "block": _block, "row": _row, "index_form": _index_form,
    "index_sum": _index_form, "state": _state, "step_sum": _step_sum, "inner_where": _inner, "condition": _condition,
    "compare": _relation, "function": _function, "spread": _spread,
}  # fmt: skip
