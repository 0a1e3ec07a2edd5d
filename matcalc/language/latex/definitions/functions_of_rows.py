r"""Reads functions of arrays at other arrays: v(\hat Z) of v(Z) = \sum_i \|z_i - \bar z\|^2, with \bar z of its rows.

The formula of the function reads parts of its argument by a letter of their own, which is a lower-case one for rows. At
another declared array it is the same formula in the letters of that array, with its own copies of the lines that it
needs. At a formula, v(A Z), it is refused elsewhere.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import pairwise
from typing import NamedTuple, cast

from matcalc.language.latex.latex_scope import Key, Reading, key_of, subscript_of
from matcalc.language.latex.layout.latex_patterns import TOPS, same_layout, without_top
from matcalc.language.latex.names_in_lines import used, whole_key
from matcalc.language.syntax import Ast, rebuild, walk

_MOST = 40
"""The number of copies at which the search ends: functions that call each other."""


class _Function(NamedTuple):
    """A line f(Z) = ...: the key of f, the number of the argument, the letter Z and that of its parts, z."""

    line: Ast
    key: Key
    number: int
    letter: Ast
    small: Key


def with_functions_of_rows(reading: Reading, lines: Sequence[Ast], signs: Collection[str]) -> list[Ast]:
    """Return lines with a copy of each function of an array, and of the lines that it needs, for each other array."""
    made = [*lines]
    done: set[tuple[Key, int, Key]] = set()
    while len(made) < len(lines) + _MOST:
        call = next(
            (x for x in _calls(reading, made, signs) if (x[0].key, x[0].number, key_of(x[1])) not in done), None
        )
        if call is None:
            break
        one, argument = call
        done.add((one.key, one.number, cast(Key, key_of(argument))))
        copies = _copies(reading, made, one, argument, signs)
        if copies is None:
            continue
        made = [_with_calls(x, one, argument) for x in [*made, *copies]]
        made = _without_unused(made, one, signs)
    return made


def _without_unused(lines: Sequence[Ast], one: _Function, signs: Collection[str]) -> list[Ast]:
    """Return lines without a function that no other line calls, and without the parts that only it needs."""
    others = [x for x in lines if not _defines(x, one)]
    if any(_fences(x, one) for x in others):
        return [*lines]
    parts = _needed(lines, one.line.args[1], {cast(Key, key_of(one.letter)), one.small}, signs)
    unused = [x for x in parts if not any(_defined(x, signs) in used(y) for y in others if y not in parts)]
    return [x for x in others if x not in unused]


def _defines(line: Ast, one: _Function) -> bool:
    side = line.args[0] if line.head == "relation" else line
    return line.head == "relation" and side.head == "row" and whole_key(side.args[0]) == one.key


def _functions(reading: Reading, lines: Sequence[Ast], signs: Collection[str]) -> list[_Function]:
    found: list[_Function] = []
    others: list[_Function] = []
    defined = {key for line in lines if (key := _defined(line, signs))}
    for line in lines:
        if line.head != "relation" or line.value not in [(sign,) for sign in signs] or len(line.args) != 2:
            continue
        side, formula = line.args
        fence = without_top(side.args[1])[0] if side.head == "row" and len(side.args) == 2 else side
        key = whole_key(side.args[0]) if fence.head == "fence" and fence.value in TOPS and fence is not side else None
        for number, letter in enumerate(fence.args if key is not None else ()):
            own = key_of(letter)
            if own is None or letter.head != "letter" or own not in reading.keys:
                continue
            small = (own[0][:1].lower() + own[0][1:],)
            reads = small != own and small not in {*reading.keys, *defined} and _reads_parts(formula, small)
            one = _Function(line, cast(Key, key), number, letter, small)
            (found if reads or _needed(lines, formula, {own, small} - (defined - {own}), signs) else others).append(one)
    while more := [x for x in others if any(_calls_other(x, one) for one in found)]:
        found += more
        others = [x for x in others if x not in more]
    return found


def _calls_other(one: _Function, other: _Function) -> bool:
    """Return whether the formula of a function calls another one with its own argument."""
    own = key_of(one.letter)
    return any(key_of(fence.args[other.number]) == own for fence in _fences(one.line.args[1], other))


def _fences(layout: Ast, one: _Function) -> list[Ast]:
    """Return the arguments of the calls of a function."""
    pairs = [x for row in walk(layout) if row.head == "row" for x in pairwise(row.args)]
    fences = [without_top(after)[0] for item, after in pairs if whole_key(item) == one.key]
    fences = [x.args[0] if x.head == "script" else x for x in fences]
    return [x for x in fences if x.head == "fence" and x.value in TOPS and len(x.args) > one.number]


def _calls(reading: Reading, lines: Sequence[Ast], signs: Collection[str]) -> list[tuple[_Function, Ast]]:
    """Return the functions with another declared array as their argument."""
    found = []
    for one in _functions(reading, lines, signs):
        for argument in (fence.args[one.number] for line in lines for fence in _fences(line, one)):
            key = key_of(argument) if argument.head in ("letter", "accent") else None
            if key in reading.keys and key != key_of(one.letter):
                found.append((one, argument))
    return found


def _copies(
    reading: Reading, lines: Sequence[Ast], one: _Function, argument: Ast, signs: Collection[str]
) -> list[Ast] | None:
    """Return the line of a function in the letters of another array, and those that it needs; None if they clash."""
    small = _in_small(argument)
    own = cast(Key, key_of(one.letter))
    if one.small != own and key_of(small) in reading.keys:
        return None
    names = reading.keys[cast(Key, key_of(argument))], reading.keys[own]
    if len({len(reading.known.shapes.get(name, ())) for some in names for name in some}) != 1:
        return None
    put = {own: argument, one.small: small if one.small != own else argument}
    every = [one.line, *_needed(lines, one.line.args[1], {*put}, signs)]
    copies = []
    for line in every:
        copy = _renamed(line, put)
        if line is not one.line and same_layout(copy.args[0], line.args[0]):
            return None  # a part without the letter in its name
        if line is one.line:
            name = _copied(copy.args[0].args[0], argument)
            side = Ast("row", (name, *copy.args[0].args[1:]), None, copy.args[0].span, copy.args[0].at)
            copy = Ast("relation", (side, copy.args[1]), copy.value, copy.span, copy.at)
        others = [x for x in lines if _defined(x, signs) == _defined(copy, signs)]
        if any(not same_layout(x.args[1], copy.args[1]) for x in others):
            return None
        copies += [] if others else [copy]
    return copies


def _needed(lines: Sequence[Ast], formula: Ast, reads: set[Key], signs: Collection[str]) -> list[Ast]:
    """Return the lines of parts, without arguments, that a formula needs and that read one of some names."""
    found: list[Ast] = []
    waiting = [formula]
    while waiting:
        uses = used(waiting.pop())
        for line in lines:
            key = _defined(line, signs)
            if key is None or line in found or key not in uses or line.args[0].head == "row":
                continue
            found.append(line)
            waiting.append(line.args[1])
    return [x for x in found if reads & used(x.args[1]) or _needed_below(found, x, reads, signs)]


def _needed_below(lines: Sequence[Ast], line: Ast, reads: set[Key], signs: Collection[str]) -> bool:
    """Return whether a line reads a name by another line."""
    others = [x for x in lines if x is not line and _defined(x, signs) in used(line.args[1])]
    return any(reads & used(x.args[1]) for x in others)


def _defined(line: Ast, signs: Collection[str]) -> Key | None:
    """Return the key of what a line defines, of entries that of their array."""
    if line.head != "relation" or line.value not in [(sign,) for sign in signs] or len(line.args) != 2:
        return None
    side = line.args[0].args[0] if line.args[0].head == "row" else line.args[0]
    return key_of(side.args[0]) if side.head == "script" and subscript_of(side) is not None else whole_key(side)


def _with_calls(line: Ast, one: _Function, argument: Ast) -> Ast:
    """Return a line in which a function at another array has the name of its copy."""

    def change(node: Ast) -> Ast:
        if node.head != "row":
            return node
        items = [*node.args]
        for k, (item, after) in enumerate(pairwise(node.args)):
            fence = without_top(after)[0]
            fence = fence.args[0] if fence.head == "script" else fence
            is_call = whole_key(item) == one.key and fence.head == "fence" and len(fence.args) > one.number
            if is_call and key_of(fence.args[one.number]) == key_of(argument):
                items[k] = _copied(item, argument)
        return Ast("row", tuple(items), None, node.span, node.at)

    return rebuild(line, change)


def _copied(name: Ast, argument: Ast) -> Ast:
    """Return the name of the copy of a function."""
    if name.head == "script":
        return Ast("script", (_copied(name.args[0], argument), *name.args[1:]), name.value, name.span, name.at)
    mark = "".join((*cast(Key, key_of(name)), "of", *cast(Key, key_of(argument))))
    return Ast("letter", (), (mark, ""), name.span, name.at)


def _renamed(line: Ast, put: dict[Key, Ast]) -> Ast:
    def change(node: Ast) -> Ast:
        return put.get(cast(Key, key_of(node)), node) if node.head == "letter" else node

    return rebuild(line, change)


def _in_small(argument: Ast) -> Ast:
    """Return a name with a lower-case letter, that of the rows of an array."""

    def change(node: Ast) -> Ast:
        if node.head != "letter":
            return node
        name, font = cast("tuple[str, str]", node.value)
        return Ast("letter", (), (name[:1].lower() + name[1:], font), node.span, node.at)

    return rebuild(argument, change)


def _reads_parts(formula: Ast, small: Key) -> bool:
    return any(x.head == "script" and subscript_of(x) is not None and key_of(x.args[0]) == small for x in walk(formula))
