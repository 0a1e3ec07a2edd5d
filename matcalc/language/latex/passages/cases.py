r"""Reads the environment `cases` as papers write it, as the nested choices of the rulebook's template.

The template has one condition, `\text{if } x > 0`, and `\text{otherwise}`. Papers leave out *if*, write *for* and
*else*, end cells with commas, have more than two rows, and write the last condition in place of *otherwise*.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import cast

from matcalc.language.latex.latex_scope import Reading, fault, subscript_of
from matcalc.language.latex.layout.latex_patterns import LatexNames, candidates, same_layout
from matcalc.language.syntax import Ast, rebuild, walk

_CASES = re.compile(r"\\begin\s*\{d?cases\}.*?\\end\s*\{d?cases\}", re.S)
_STOP = re.compile(r"[,;.](?=\s*(&|\\\\|\\end\s*\{))")
_BESIDE = re.compile(r"(?<=cases\})(\s*)\\q?quad(?![A-Za-z])(?=\s*[^\s&\\\]$]|\s*\\(?!text|mbox|mathrm|\\|end))")
"""The space between two definitions, behind cases."""
_LAST_STOP = re.compile(
    r"[.,;](?=(?:[\s~&]|\\[,;:! ]|\\q?quad(?![A-Za-z])|\\(?:nonumber|notag)(?![A-Za-z])|\\(?:tag\*?|label)\s*"
    r"\{[^{}]*\})*"
    r"(?:\\\\|\\end\s*\{|\\\]|\$\$(?![\s\S]*\$\$)|\Z))"
)
"""Punctuation at the end of a line."""
_OTHERWISE = ("otherwise", "else")
_ELSE_IF = ("else if", "elseif", "elif")
_FLIPPED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "==": "==", "!=": "!="}

Bound = tuple[Ast, bool]
"""The layout at an end of a range of numbers, and whether it belongs to the range."""


def without_stops(text: str) -> str:
    """Return a passage with a space for each comma or period that ends a cell of cases, and each that ends a line.

    Between cases and a further definition stands a comma.
    """
    text = _BESIDE.sub(lambda found: found[1] + "," + " " * (len(found[0]) - len(found[1]) - 1), text)
    return _LAST_STOP.sub(" ", _CASES.sub(lambda found: _STOP.sub(" ", found[0]), text))


def positive_in(reading: Reading, lines: Sequence[Ast]) -> frozenset[str]:
    r"""Return the letters that are positive: by declarations, and h of \gamma(h) if its arguments are."""
    declared = {key[0] for key, names in reading.keys.items() if len(key) == 1 and {*names} <= reading.known.positive}
    calls = [
        (function, fence.args[0])
        for line in lines
        for row in walk(line)
        for function, fence in zip(row.args, row.args[1:] if row.head == "row" else (), strict=False)
        if fence.head == "fence" and fence.value == "open" and len(fence.args) == 1
    ]
    heads = [line.args[0] for line in lines if line.head == "relation" and line.args[0].head == "row"]
    found = set(declared)
    for head in heads:
        own = [(f, x) for f, x in calls if len(head.args) == 2 and f is head.args[0] and x.head == "letter"]
        for function, parameter in own:
            given = [x for f, x in calls if f is not function and same_layout(f, function)]
            bases = [x.args[0] if x.head == "script" and x.value == ("_",) else x for x in given]
            is_positive = bool(bases) and all(x.head == "letter" and x.value[0] in declared for x in bases)  # type: ignore[index]
            (found.add if is_positive else found.discard)(str(parameter.value[0]))  # type: ignore[index]
    return frozenset(found)


def with_choices(names: LatexNames, layout: Ast, sizes: Collection[str], positive: Collection[str] = ()) -> Ast:
    """Return a layout in which cases have the form of the rulebook's template; no index is greater than a size.

    `positive` are letters without other values.

    Raises: ParseError for rows without a condition, and for a last condition if not exactly one holds for each number.
    """

    def change(node: Ast) -> Ast:
        is_cases = node.head == "matrix" and str(node.value).endswith("cases")
        rows = [row.args for row in node.args] if is_cases else []
        if len(rows) < 2 or any(len(row) != 2 for row in rows):
            return node
        return _choice(names, node, cast("Sequence[tuple[Ast, Ast]]", rows), sizes, positive)

    return rebuild(layout, change)


def _choice(
    names: LatexNames,
    node: Ast,
    rows: Sequence[tuple[Ast, Ast]],
    sizes: Collection[str],
    positive: Collection[str],
) -> Ast:
    conditions = [_conditions(cell) for _, cell in rows[:-1]]
    last = rows[-1][1]
    if not _is_otherwise(last) and not _cover([*conditions, _conditions(last)], sizes, _indices(rows), positive):
        raise fault("the last case needs the word otherwise", last, r"write \text{otherwise}")
    made = rows[-1][0]
    (pattern, *_) = candidates(names, node)
    for (value, _), every in zip(rows[-2::-1], conditions[::-1], strict=True):
        rest, made = made, value
        for condition in reversed(every):
            made = _filled(pattern.items[0], (condition, made, rest), node)
    return made


def _filled(template: Ast, operands: Sequence[Ast], node: Ast) -> Ast:
    """Return a template with layouts for its holes, and the position of a node."""

    def change(one: Ast) -> Ast:
        return operands[int(str(one.value))] if one.head == "hole" else one

    return replace(rebuild(template, change), span=node.span, at=node.at)


def _conditions(cell: Ast) -> list[Ast]:
    r"""Return the relations of a condition, both of 0 \\le x < 1."""
    inner = cell.args[0] if cell.head == "if" and len(cell.args) == 1 else cell
    signs = cast("tuple[str, ...]", inner.value) if inner.head == "relation" else ()
    if len(signs) != 2 or not {*signs} <= {"<", "<=", ">", ">="}:
        return [_condition(cell)]
    pairs = zip(inner.args, inner.args[1:], signs, strict=False)
    return [_condition(Ast("relation", (a, b), (sign,), inner.span, inner.at)) for a, b, sign in pairs]


def _condition(cell: Ast) -> Ast:
    """Return the relation of a condition, with or without the word if.

    Raises: ParseError for anything else.
    """
    inner = cell.args[0] if cell.head == "if" and len(cell.args) == 1 else cell
    if inner.head == "relation":
        left = inner.args[0]
        if left.head == "row" and _word(left.args[0]) in _ELSE_IF:
            rest = left.args[1] if len(left.args) == 2 else replace(left, args=left.args[1:])
            inner = replace(inner, args=(rest, *inner.args[1:]))
    if inner.head != "relation" or len(inner.args) != 2 or inner.value[0] not in _FLIPPED:  # type: ignore[index]
        raise fault("this is no condition of a case", cell, r"write \text{if } x > 0, or \text{otherwise}")
    return inner


def _is_otherwise(cell: Ast) -> bool:
    return _word(cell) in _OTHERWISE


def _word(cell: Ast) -> str:
    return str(cell.value[0]).strip(" .,;") if cell.head == "word" else ""  # type: ignore[index]


def _indices(rows: Sequence[tuple[Ast, Ast]]) -> set[str]:
    """Return the letters in the subscripts of the values of cases."""
    scripts = [below for value, _ in rows for x in walk(value) if x.head == "script" and (below := subscript_of(x))]
    return {str(x.value[0]) for below in scripts for x in walk(below) if x.head == "letter"}  # type: ignore[index]


def _cover(
    conditions: Sequence[Sequence[Ast]], sizes: Collection[str], indices: Collection[str], positive: Collection[str]
) -> bool:
    r"""Return whether exactly one of the conditions holds for each number, as of t \le a, a < t \le b, t > b.

    i < n and i = n are all numbers of an index if n is a size, and so are i = 1 and i > 1. 0 < h \le a and h > a are
    all values of a positive h.
    """
    if [len(every) for every in conditions] == [1, 1] and _is_unequal(conditions[0][0], conditions[1][0]):
        return True
    for quantity in conditions[0][0].args:
        ranges = [_range(quantity, every) for every in conditions]
        rest = [x for x in ranges if x is not None]
        if len(rest) < len(ranges):
            continue
        is_index = quantity.head == "letter" and quantity.value[0] in indices  # type: ignore[index]
        first = [x[0] for x in rest if x[0] is not None and x[0][1] and _is_number(x[0][0], 1)] if is_index else []
        after: Bound | None = (first[0][0], False) if first and all(x[0] is not None for x in rest) else None
        zero = [x[0] for x in rest if x[0] is not None and _is_number(x[0][0], 0)]
        if zero and all(x[0] is not None for x in rest) and _is_letter_of(quantity, positive):
            after = zero[0][0], not zero[0][1]
        for _ in ranges:
            found = [x for x in rest if _follows(after, x[0])]
            if len(found) != 1:
                break
            rest.remove(found[0])
            after = found[0][1]
        is_last = after is not None and after[1] and after[0].head == "letter" and after[0].value[0] in sizes  # type: ignore[index]
        if not rest and (after is None or is_last and quantity.head == "letter"):
            return True
    return False


def _is_number(layout: Ast, number: int) -> bool:
    return layout.head == "number" and layout.value[0] == number  # type: ignore[index]


def _is_letter_of(layout: Ast, letters: Collection[str]) -> bool:
    """Return whether a layout is one of some letters, or an entry of it."""
    base = layout.args[0] if layout.head == "script" and layout.value == ("_",) else layout
    return base.head == "letter" and base.value[0] in letters  # type: ignore[index]


def _is_unequal(one: Ast, other: Ast) -> bool:
    r"""Return whether the relations are t = a and t \ne a."""
    sides = [*zip(one.args, other.args, strict=True)]
    turned = [*zip(one.args, other.args[::-1], strict=True)]
    signs = {*cast("tuple[str]", one.value), *cast("tuple[str]", other.value)}
    return signs == {"==", "!="} and any(all(same_layout(a, b) for a, b in pairs) for pairs in (sides, turned))


def _follows(after: Bound | None, lower: Bound | None) -> bool:
    """Return whether a range begins where another one ends; None is infinity."""
    if after is None or lower is None:
        return after is lower
    return same_layout(after[0], lower[0]) and after[1] is not lower[1]


def _range(quantity: Ast, every: Sequence[Ast]) -> tuple[Bound | None, Bound | None] | None:
    """Return the least and the greatest value of a quantity by its conditions, None if they are about another one."""
    bounds: dict[str, Bound] = {}
    for one in every:
        (a, b), (sign,) = one.args, cast("tuple[str]", one.value)
        is_left = same_layout(a, quantity)
        if is_left is same_layout(b, quantity):
            return None
        sign, bound = (sign, b) if is_left else (_FLIPPED[sign], a)
        for side in {"<": "<", ">": ">", "==": "<>"}.get(sign[:1] if sign != "==" else sign, ""):
            if side in bounds:
                return None
            bounds[side] = bound, "=" in sign
    return (bounds.get(">"), bounds.get("<")) if bounds else None
