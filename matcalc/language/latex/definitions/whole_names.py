r"""Reads names that are more than a letter: \langle E^2 \rangle, \overline{xy}, and H(X) beside H(Y).

A line defines each of them. The letters inside are no arguments: the formula of H(X) does not contain X. A name with a
superscript in parentheses, y_i^{(\lambda)}, is another one than y_i, and a marginal p_{i\cdot} another one than p_{ij}.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import pairwise
from typing import cast

from matcalc.language.latex.latex_axes import elements, is_whole, letters_in
from matcalc.language.latex.latex_scope import Key, Reading, fault, key_of, key_of_subscript, subscript_of
from matcalc.language.latex.layout.latex_layout import unbraced
from matcalc.language.latex.layout.latex_patterns import TOPS, same_layout, without_top
from matcalc.language.latex.names_in_lines import whole_key
from matcalc.language.syntax import Ast, rebuild, walk


def with_whole_names(lines: Sequence[Ast], signs: Collection[str]) -> list[Ast]:
    """Return lines in which each name of several letters that a line defines and another one uses is one letter.

    Raises: ParseError for a use with other letters inside, whose meaning no line tells.
    """
    done = list(lines)
    sides = [line.args[0] for line in lines if _is_defined(line, signs)]
    heads = [side for side in sides if _is_used(side, done)]
    for side in heads:
        word = "_".join(str(x.value[0]) for x in walk(side) if x.head in ("letter", "word", "number"))  # type: ignore[index]
        letter = Ast("letter", (), (f"whole_{word}".replace("/", "_"), ""), side.span)
        done = [with_letter(line, side, letter) for line in done]
    for name, _ in (x.args for x in heads if x.head == "row"):
        _check_others(whole_key(name), name, done)
    return done


def with_raised_names(reading: Reading, lines: Sequence[Ast], signs: Collection[str]) -> list[Ast]:
    r"""Return lines in which a name y^{(\lambda)} that a line defines has its superscript as an accent."""
    sides = [line.args[0] for line in lines if line.head == "relation" and line.value in [(sign,) for sign in signs]]
    names = [x.args[0] if x.head == "row" and len(x.args) == 2 and x.args[1].head == "fence" else x for x in sides]
    found = {mark for name in names if (mark := raised_key(name) or _letter_above(reading, name, lines)) is not None}
    if not found:
        return list(lines)

    marks = {added for _, added in found}

    def change(node: Ast) -> Ast:
        letter = _letter_above(reading, node, ())
        mark = letter if letter in found else raised_key(node)
        if mark is None or mark[1] not in marks or (*mark[0], *mark[1]) in reading.keys:
            return node
        if mark not in found and (mark[1][0].isdigit() or unbraced(without_top(node)[1][0][1] or node).head != "fence"):
            return node
        if mark not in found:
            shown = "_".join(mark[0])
            hint = "define it by a line of its own, or declare " + "_".join((*mark[0], *mark[1]))
            raise fault(f"{shown} with this superscript is not defined", node, hint)
        base = Ast("accent", (node.args[0],), "_".join(mark[1]), node.args[0].span)
        below = subscript_of(node)
        return base if below is None else Ast("script", (base, below), ("_",), node.span, node.at)

    return [rebuild(line, change) for line in lines]


def _letter_above(reading: Reading, node: Ast, lines: Sequence[Ast]) -> tuple[Key, Key] | None:
    r"""Return the key of a name and that of the Greek letter above it, V^\pi, if it is no power.

    Neither of the two is declared, or stands elsewhere in the formulas of lines.
    """
    above = without_top(node)[1] if node.head == "script" else ()
    layout = unbraced(above[0][1]) if len(above) == 1 and above[0][1] is not None else None
    key, added = key_of(node.args[0]) if layout is not None else None, key_of(layout) if layout is not None else None
    if layout is None or layout.head != "letter" or key is None or added is None or len(added[0]) < 2:
        return None
    formulas = [line.args[-1] if line.head == "relation" else line for line in lines]
    own = [x for line in formulas for x in walk(line) if x.head in ("letter", "accent") and key_of(x) in (key, added)]
    inside = {id(y) for line in formulas for x in walk(line) if x.head == "script" and len(x.args) > 1 for y in walk(x)}
    is_open = key not in reading.keys and added not in reading.keys
    return (key, added) if is_open and all(id(x) in inside for x in own) else None


def raised_key(node: Ast) -> tuple[Key, Key] | None:
    """Return the key of a name and that of its superscript, a letter or number in parentheses or a sign; else None."""
    above = without_top(node)[1] if node.head == "script" else ()
    layout = unbraced(above[0][1]) if len(above) == 1 and above[0][1] is not None else None
    key = key_of(node.args[0]) if layout is not None else None
    if layout is None or key is None:
        return None
    if layout.head == "fence" and layout.value == "open" and len(layout.args) == 1:
        added = key_of_subscript(layout) if layout.args[0].head in ("letter", "number") else None
        return (key, added) if added is not None else None
    is_sign = layout.head in ("lone", "operator") or layout.head == "word" and layout.value[1] != "\\"  # type: ignore[index]
    added = key_of_subscript(layout) if is_sign else None
    return (key, added) if added is not None else None


def with_marginals(lines: Sequence[Ast], signs: Collection[str]) -> list[Ast]:
    r"""Return lines in which sums that a line defines, p_{i\cdot} = \sum_j p_{ij}, are arrays of their own."""
    sides = [line.args[0] for line in lines if line.head == "relation" and line.value in [(sign,) for sign in signs]]
    found = {mark for side in sides if (mark := _marginal(side)) is not None}
    if not found:
        return list(lines)

    def change(node: Ast) -> Ast:
        mark = _marginal(node)
        if mark is None or mark not in found:
            return node
        base = Ast("accent", (node.args[0],), "marginal" + "".join(map(str, mark[1])), node.args[0].span)
        rest = tuple(x for x in _items(node) if not is_whole(x))
        above = without_top(node)[1]
        if not rest and not above:
            return base
        scripts = ([Ast("fence", rest, "brace", node.span)] if rest else []) + [x for _, x in above if x is not None]
        marks = (("_",) if rest else ()) + tuple(mark for mark, _ in above)
        return Ast("script", (base, *scripts), marks, node.span, node.at)

    return [rebuild(line, change) for line in lines]


def _marginal(node: Ast) -> tuple[Key, tuple[int, ...]] | None:
    r"""Return the key of an array and the axes of \cdot in its subscript; None without one."""
    key = key_of(node.args[0]) if node.head == "script" else None
    axes = tuple(k for k, x in enumerate(_items(node)) if is_whole(x)) if key is not None else ()
    return (key, axes) if key is not None and axes else None


def _items(script: Ast) -> list[Ast]:
    below = subscript_of(script)
    every = elements(below) if below is not None else ()
    return [x for one in every for x in (one.args if one.head == "row" else (one,))]


def _is_defined(line: Ast, signs: Collection[str]) -> bool:
    """Return whether a line defines a name of several letters."""
    if line.head != "relation" or line.value not in [(sign,) for sign in signs] or len(line.args) != 2:
        return False
    side, formula = line.args
    if side.head == "accent":
        return key_of(side) is None and side.value == "bar"
    if side.head == "script" and side.value == ("_",):  # \langle x \rangle_T
        side = side.args[0]
    if side.head == "fence":
        return side.value == "angle" and len(side.args) == 1
    if side.head != "row" or len(side.args) != 2 or side.args[1].head != "fence" or side.args[1].value not in TOPS:
        return False
    inside, used = set(letters_in(side.args[1])), set(letters_in(formula))
    if side.args[0].head == "script" and set(letters_in(side.args[0])) & used:
        return False  # d_{ij}(X) = \|x_i - x_j\|
    return whole_key(side.args[0]) is not None and bool(inside) and inside.isdisjoint(used)


def _is_used(side: Ast, lines: Sequence[Ast]) -> bool:
    """Return whether a name on a left side is in another place too, and is no function with further arguments."""
    nodes = [x for line in lines for x in walk(line) if x is not side]
    if side.head != "row":
        return any(same_layout(side, without_top(x)[0]) for x in nodes)
    return any(_is_call(side, *pair) for x in nodes if x.head == "row" for pair in pairwise(x.args))


def _is_call(side: Ast, item: Ast, after: Ast) -> bool:
    return same_layout(side.args[0], item) and same_layout(side.args[1], without_top(after)[0])


def with_letter(line: Ast, side: Ast, letter: Ast) -> Ast:
    """Return a line with a letter for each use of a name of several letters."""

    def change(node: Ast) -> Ast:
        shown, above = without_top(node)
        if side.head != "row" and above and shown.head == side.head == "script" and same_layout(side, shown):
            scripts = [x for _, x in above if x is not None]
            return Ast("script", (letter, *scripts), tuple(mark for mark, _ in above), node.span, node.at)
        if side.head != "row":
            return letter if node.head == side.head and same_layout(side, node) else node
        return _in_row(node, side, letter) if node.head == "row" else node

    return rebuild(line, change)


def _in_row(row: Ast, side: Ast, letter: Ast) -> Ast:
    items: list[Ast] = []
    for item in row.args:
        if not items or not _is_call(side, items[-1], item):
            items.append(item)
            continue
        above = item.args[1:] if item.head == "script" else ()
        items[-1] = Ast("script", (letter, *above), item.value, item.span, item.at) if above else letter
    return items[0] if len(items) == 1 else Ast("row", tuple(items), None, row.span, row.at)


def _check_others(key: Key | None, name: Ast, lines: Sequence[Ast]) -> None:
    """Raise ParseError for a call H(Z) beside the names H(X) and H(Y)."""
    for row in (x for line in lines for x in walk(line) if x.head == "row"):
        for item, after in pairwise(row.args):
            shown = without_top(after)[0]
            if whole_key(item) == key and shown.head == "fence" and shown.value in TOPS:
                hint = "define it by a line of its own, or give the function's formula the letters of its arguments"
                raise fault(f"only other values of {'_'.join(cast(Key, key))}(...) are defined", after, hint)
