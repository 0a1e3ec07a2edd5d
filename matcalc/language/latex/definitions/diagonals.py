r"""Reads a diagonal of entries, \operatorname{diag}(a_i^2) or (a_1, \ldots, a_n), as that of a vector."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import pairwise
from typing import cast

from matcalc.language.identifiers import supply
from matcalc.language.latex.definitions.bound_letters import bound_in
from matcalc.language.latex.latex_axes import elements, letters_in
from matcalc.language.latex.latex_scope import Reading, fault, key_of, subscript_of
from matcalc.language.latex.layout.latex_patterns import same_layout
from matcalc.language.latex.recurrences.steps import DOTS
from matcalc.language.syntax import Ast, rebuild, walk


def with_diagonals(reading: Reading, line: Ast) -> Ast:
    """Return a line in which the operand of each diagonal of entries is the vector of these entries.

    Raises: ParseError for a list whose last number is not the length of the declared vectors in it.
    """
    outer = bound_in(line)
    name = reading.names.roles["diagonals"]

    def change(node: Ast) -> Ast:
        if node.head != "row":
            return node
        items = list(node.args)
        for k, (before, fence) in enumerate(pairwise(node.args)):
            word = str(before.value[0]) if before.head == "word" else ""  # type: ignore[index]
            if word.lower() != name or fence.head != "fence" or fence.value not in ("open", "set", "bracket"):
                continue
            entry = _listed(reading, fence) or _free(reading, fence, outer)
            if entry is not None:
                form = Ast("fence", (entry[0],), "bracket", fence.span)
                letter = Ast("letter", (), (entry[1], ""), fence.span)
                items[k + 1] = Ast("fence", (Ast("script", (form, letter), ("_",), fence.span),), "open", fence.span)
        return Ast("row", tuple(items), None, node.span, node.at)

    return rebuild(line, change)


def with_diagonal_matrices(reading: Reading, lines: Sequence[Ast], signs: Collection[str]) -> list[Ast]:
    r"""Return lines in which D_{ii} = f_i defines the diagonal matrix D that other lines have as a whole."""
    done = list(lines)
    for k, line in enumerate(lines):
        found = _diagonal(reading, line, signs)
        others = [x for x in lines if x is not line]
        if found is None or any(_defines(x, found[0], signs) for x in others):
            continue
        name, letter = found
        if not any(_is_whole(x, name) for x in others):
            continue
        fence = Ast("fence", (line.args[1],), "bracket", line.args[1].span)
        vector = Ast("fence", (Ast("script", (fence, letter), ("_",), fence.span),), "open", fence.span)
        word = Ast("word", (), (reading.names.roles["diagonals"], "operator"), fence.span)
        formula = Ast("row", (word, vector), None, fence.span)
        done[k] = Ast("relation", (name, formula), line.value, line.span, line.at)
    return done


def with_diagonal_entries(reading: Reading, lines: Sequence[Ast], signs: Collection[str]) -> list[Ast | None]:
    r"""Return lines in which p_{ij} = f with p_{ii} = a beside it is a where i = j; None for the second of the two."""
    done: list[Ast | None] = list(lines)
    for line in lines:
        found = _diagonal(reading, line, signs)
        others = [x for x in done if x and x is not line and found is not None and _defines(x, found[0], signs)]
        below = subscript_of(others[0].args[0]) if len(others) == 1 and others[0].args[0].head == "script" else None
        letters = [x for one in elements(below) for x in (one.args if one.head == "row" else (one,))] if below else []
        if found is None or len(letters) != 2 or any(x.head != "letter" for x in letters):
            continue
        if same_layout(*letters) or not any(same_layout(found[1], x) for x in letters):
            continue
        span = line.args[1].span
        equal = Ast("cells", (line.args[1], Ast("relation", tuple(letters), ("==",), span)), None, span)
        rest = Ast("cells", (others[0].args[1], Ast("word", (), ("otherwise", "text"), span)), None, span)
        formula = Ast("matrix", (equal, rest), "cases", span)
        whole = Ast("relation", (others[0].args[0], formula), others[0].value, others[0].span, others[0].at)
        done = [whole if x is others[0] else None if x is line else x for x in done]
    return done


def _diagonal(reading: Reading, line: Ast, signs: Collection[str]) -> tuple[Ast, Ast] | None:
    """Return the name and the index of a left side D_{ii}; None for any other."""
    is_equation = line.head == "relation" and line.value in [(sign,) for sign in signs] and len(line.args) == 2
    side = line.args[0] if is_equation else line
    below = subscript_of(side) if is_equation and side.head == "script" and side.value == ("_",) else None
    key = key_of(side.args[0]) if below is not None else None
    items = [x for one in elements(below) for x in (one.args if one.head == "row" else (one,))] if below else []
    is_twice = len(items) == 2 and items[0].head == "letter" and same_layout(*items)
    return (side.args[0], items[0]) if is_twice and key is not None and key not in reading.keys else None


def _defines(line: Ast, name: Ast, signs: Collection[str]) -> bool:
    """Return whether a line defines a matrix, or entries of it."""
    side = line.args[0] if line.head == "relation" and line.value in [(sign,) for sign in signs] else line
    base = side.args[0] if side.head == "script" else side
    return side is not line and key_of(base) == key_of(name)


def _is_whole(line: Ast, name: Ast) -> bool:
    """Return whether a line has a matrix without subscripts."""
    below = {x.args[0] for x in walk(line) if x.head == "script" and subscript_of(x) is not None}
    accents = {x.args[0] for x in walk(line) if x.head == "accent"}
    return any(key_of(x) == key_of(name) and x not in below | accents for x in walk(line))


def _free(reading: Reading, fence: Ast, outer: set[str]) -> tuple[Ast, str] | None:
    """Return an entry and its index if one letter that nothing binds is a subscript in it."""
    if len(fence.args) != 1 or fence.args[0].head == "script" and fence.args[0].args[0].value == "bracket":
        return None
    known = {key[0] for key in reading.keys if len(key) == 1} | bound_in(fence) | outer
    below = [s for x in walk(fence) if x.head == "script" and not _is_declared(reading, x) and (s := subscript_of(x))]
    letters = {x for s in below for x in letters_in(s) if len(x) == 1} - known
    return (fence.args[0], letters.pop()) if len(letters) == 1 else None


def _listed(reading: Reading, fence: Ast) -> tuple[Ast, str] | None:
    r"""Return the entry of a list a_1, \ldots, a_n, and its index."""
    if len(fence.args) < 3 or fence.args[-2].head != "word" or fence.args[-2].value[0] not in DOTS:  # type: ignore[index]
        return None
    first, last = fence.args[0], fence.args[-1]
    sizes = [x for x in letters_in(last) if x in reading.known.sizes]
    if len(set(sizes)) != 1:
        return None
    size = sizes[0]
    letter = next(supply("ijkl", {*letters_in(fence), *(key[0] for key in reading.keys)}))

    def at(put: Ast) -> Ast:
        return rebuild(last, lambda x: put if x.head == "letter" and x.value[0] == size else x)  # type: ignore[index]

    one = next((x for x in walk(first) if x.head == "number" and x.value[0] == 1), None)  # type: ignore[index]
    if one is None or not same_layout(at(one), first):
        return None
    for script in (x for x in walk(last) if x.head == "script" and subscript_of(x) is not None):
        lengths = [reading.known.shapes.get(n, ()) for n in reading.keys.get(key_of(script.args[0]) or (), ())]
        if size in letters_in(cast(Ast, subscript_of(script))) and any(x and size not in x for x in lengths):
            raise fault(f"{size} is not the length of what is listed here", fence, "write the vector or its range")
    return at(Ast("letter", (), (letter, ""), last.span)), letter


def _is_declared(reading: Reading, script: Ast) -> bool:
    """Return whether a name with its subscript is declared."""
    below, key = subscript_of(script), key_of(script.args[0])
    return key is not None and below is not None and (*key, *letters_in(below)) in reading.keys
