r"""Tells apart arrays of one letter with different numbers of subscripts: \theta_{ik} = \theta_i - \theta_k.

A line that defines entries with fewer or more subscripts than the declared array has defines another array, which gets
a name of its own. So do marginals p_x = \sum_y p_{xy} of a declared P, and a function H(z) beside a declared array H.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import pairwise
from typing import NamedTuple, cast

from matcalc.language.latex.latex_axes import elements, letters_in
from matcalc.language.latex.latex_large_letters import large_of
from matcalc.language.latex.latex_scope import Key, Reading, font_of, key_of, subscript_of
from matcalc.language.latex.layout.latex_patterns import without_top
from matcalc.language.latex.names_in_lines import whole_key
from matcalc.language.syntax import Ast, rebuild, walk

Lines = tuple[list[Ast], ...]


class Defined(NamedTuple):
    """An array that a line defines: the key of its letter, and the letters of its subscripts."""

    key: Key
    letters: tuple[str, ...]


def with_own_names(reading: Reading, lines: Sequence[Ast], signs: Collection[str]) -> list[Ast]:
    """Return lines in which arrays that differ from the declared one of their letter have names of their own."""
    found = [one for line in lines if (one := _defined(reading, line, signs)) is not None]
    if not found:
        return list(lines)

    def change(node: Ast) -> Ast:
        key, letters = _entry(node)
        own = [one for one in found if key == one.key and len(letters) == len(one.letters)]
        own = own if len(own) == 1 else [one for one in own if one.letters == letters]
        if not own:
            return node
        name = Ast("accent", (node.args[0],), "".join(own[0].letters), node.args[0].span)
        return Ast("script", (name, *node.args[1:]), node.value, node.span, node.at)

    return [rebuild(line, change) for line in lines]


def _defined(reading: Reading, line: Ast, signs: Collection[str]) -> Defined | None:
    if line.head != "relation" or line.value not in [(sign,) for sign in signs] or len(line.args) != 2:
        return None
    side = line.args[0]
    key, letters = _entry(side)
    if key is None or not letters or len(set(letters)) < len(letters) or side.value != ("_",):
        return None
    names = reading.keys.get(key, ()) or tuple(filter(None, [large_of(reading, key)]))
    if (*key, *letters) in reading.keys or (*key, "".join(letters)) in reading.keys or len(names) != 1:
        return None
    rank = len(reading.known.shapes.get(names[0], ()))
    reads = [own for x in walk(line.args[1]) for other, own in [_entry(x)] if other == key]
    is_other = rank not in (0, len(letters)) and any(len(own) == rank for own in reads)
    # r_{ij} = \|r_i - r_j\| of the rows of R
    is_other |= rank == len(letters) > 1 and bool(reads) and {len(own) for own in reads} == {1}
    return Defined(key, letters) if is_other else None


def _entry(node: Ast) -> tuple[Key | None, tuple[str, ...]]:
    """Return the key and the subscripts of an entry whose subscripts are letters, else None."""
    below = subscript_of(node) if node.head == "script" else None
    key = key_of(node.args[0]) if below is not None else None
    if key is None or below is None:
        return None, ()
    items = [x for one in elements(below) for x in (one.args if one.head == "row" else (one,))]
    if any(x.head != "letter" for x in items):
        return None, ()
    return key, tuple(cast("tuple[str, str]", x.value)[0] for x in items)


def with_own_entries(reading: Reading, lines: Lines, signs: Collection[str]) -> Lines:
    r"""Return lines in which entries that one defines have a name of their own beside a number or size of the letter.

    A number has no entries: beside a size h and a number \\sigma, h_t and \\sigma_i are other symbols. So are those of
    which a line makes the number of their letter, an index P of prices P_g.
    """
    found = {key for some in lines for line in some if (key := _entries_of_number(reading, line, signs)) is not None}
    found |= _made_of_entries(reading, [line for some in lines for line in some], signs)
    if not found:
        return lines

    def change(node: Ast) -> Ast:
        key = key_of(node.args[0]) if node.head == "script" else None
        if key not in found or not _is_place(subscript_of(node)) or whole_key(without_top(node)[0]) in reading.keys:
            return node
        base = Ast("accent", (node.args[0],), "own", node.args[0].span)
        return Ast("script", (base, *node.args[1:]), node.value, node.span, node.at)

    return tuple([rebuild(line, change) for line in some] for some in lines)


def with_own_functions(reading: Reading, lines: Sequence[Ast], signs: Collection[str]) -> list[Ast]:
    r"""Return lines in which functions with the letter of an array have names of their own.

    The array is declared, or a line defines its entries, K_{ij} = K(x_i, x_j).
    """
    found = {key for line in lines if (key := _function(reading, line, signs)) is not None}
    equations = [line for line in lines if line.head == "relation" and line.value in [(sign,) for sign in signs]]
    heads = {key for line in equations if (key := _called(line.args[0])) is not None}
    found |= {key for line in equations if (key := _entry(line.args[0])[0]) in heads and key is not None}
    if not found:
        return list(lines)

    def change(node: Ast) -> Ast:
        if node.head != "row":
            return node
        items = list(node.args)
        for k, (item, after) in enumerate(pairwise(node.args)):
            if key_of(item) in found and without_top(after)[0].head == "fence":
                is_letter = item.head == "letter" and key_of(item) not in reading.keys
                called = (f"{item.value[0]}_function", item.value[1]) if is_letter else None  # type: ignore[index]
                items[k] = Ast(
                    "letter" if called else "accent", () if called else (item,), called or "function", item.span
                )
        return Ast("row", tuple(items), None, node.span, node.at)

    return [rebuild(line, change) for line in lines]


def _called(side: Ast) -> Key | None:
    """Return the key of the name of a left side K(x, y), None for any other."""
    is_call = side.head == "row" and len(side.args) == 2 and without_top(side.args[1])[0].head == "fence"
    return key_of(side.args[0]) if is_call and side.args[1].value == "open" else None


def _entries_of_number(reading: Reading, line: Ast, signs: Collection[str]) -> Key | None:
    """Return the key of a declared number or size of whose letter a line defines entries."""
    if line.head != "relation" or line.value not in [(sign,) for sign in signs] or len(line.args) != 2:
        return None
    side = line.args[0]
    key = key_of(side.args[0]) if side.head == "script" else None
    below = subscript_of(side) if key is not None else None
    names = reading.keys.get(key, ()) if key is not None else ()
    is_number = all(reading.kind_of(x) == "scalar" and x not in reading.known.indices for x in names)
    if below is None or not names or not is_number or whole_key(without_top(side)[0]) in reading.keys:
        return None
    places = [s for x in walk(line.args[1]) if x.head == "script" and (s := subscript_of(x)) is not None]
    indices = {*letters_in(below)} - reading.known.sizes
    return key if _is_place(below) and indices & {x for s in places for x in letters_in(s)} else None


def _made_of_entries(reading: Reading, lines: Sequence[Ast], signs: Collection[str]) -> set[Key]:
    """Return the keys of numbers that lines define by entries of the same letter, which another line defines."""
    equations = [x for x in lines if x.head == "relation" and x.value in [(sign,) for sign in signs]]
    lefts = [x.args[0] for x in equations if len(x.args) == 2]
    entries = {key_of(x.args[0]) for x in lefts if x.head == "script" and _is_place(subscript_of(x))}
    numbers = [x for x in equations if x.args[0].head == "letter" and font_of(x.args[0]) != "bold"]
    return {
        key
        for line in numbers
        if (key := key_of(line.args[0])) in entries - reading.keys.keys()
        and key is not None
        and any(x.head == "script" and subscript_of(x) and key_of(x.args[0]) == key for x in walk(line.args[1]))
    }


def _is_place(below: Ast | None) -> bool:
    """Return whether a subscript consists of letters, numbers and their sums, as of entries."""
    return below is not None and all(
        x.head in ("letter", "number", "chain", "row", "operator")
        or x.head == "fence"
        and x.value == "brace"
        or x.head == "script"
        and {*x.value} == {"'"}  # type: ignore[misc]
        for x in walk(below)
    )


def _function(reading: Reading, line: Ast, signs: Collection[str]) -> Key | None:
    """Return the key of a declared array that a line defines as a function of letters that are no indices."""
    if line.head != "relation" or line.value not in [(sign,) for sign in signs] or len(line.args) != 2:
        return None
    side = line.args[0]
    if side.head != "row" or len(side.args) != 2 or side.args[1].head != "fence" or side.args[1].value != "open":
        return None
    name, fence = side.args
    key = key_of(name)
    names = reading.keys.get(key, ()) if key is not None else ()
    is_array = len(names) == 1 and reading.known.shapes.get(names[0], ()) != ()
    inside = {x for node in walk(line.args[1]) for x in [key_of(node)] if x is not None}
    is_used = all(key_of(x) in inside for x in fence.args) and bool(fence.args)
    return key if is_array and is_used and not any(_is_subscript(line.args[1], x) for x in fence.args) else None


def _is_subscript(formula: Ast, letter: Ast) -> bool:
    below = [s for node in walk(formula) if node.head == "script" and (s := subscript_of(node))]
    return any(key_of(x) == key_of(letter) for s in below for x in walk(s))
