r"""Tells apart a total and its parts, L = \sum_i L_i, and entries of numbered names, d_{1,i} beside d_{2,i}."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from matcalc.language.latex.latex_axes import elements, letters_in
from matcalc.language.latex.latex_scope import Key, Reading, key_of, subscript_of
from matcalc.language.latex.layout.latex_patterns import TOPS, without_top
from matcalc.language.syntax import Ast, rebuild, walk


def with_totals(reading: Reading, lines: Sequence[Ast], signs: Collection[str]) -> list[Ast]:
    r"""Return lines in which a total that no line reads, L = \sum_i L_i beside L_i = ..., is its formula alone."""
    equations = [x for x in lines if _is_equation(x, signs)]
    parts = {key for x in equations if (key := _part(x.args[0])) is not None}

    def is_total(line: Ast) -> bool:
        if not _is_equation(line, signs):
            return False
        side = line.args[0]
        is_call = side.head == "row" and len(side.args) == 2 and side.args[1].head == "fence"
        name = side.args[0] if is_call and side.args[1].value in TOPS else side
        key = key_of(name)
        return key in parts and key not in reading.keys and not any(key in _bare(x.args[-1]) for x in equations)

    totals = [x for x in equations if is_total(x)]
    return [x.args[1] if len(totals) == 1 and x is totals[0] else x for x in lines]


def _is_equation(line: Ast, signs: Collection[str]) -> bool:
    return line.head == "relation" and len(line.args) == 2 and line.value in [(sign,) for sign in signs]


def _part(side: Ast) -> Key | None:
    """Return the key of the letter of entries L_i or L_i(x) on a left side; None for anything else."""
    name = side.args[0] if side.head == "row" else side
    below = subscript_of(name) if name.head == "script" else None
    is_index = below is not None and all(x.head == "letter" and len(str(x.value[0])) == 1 for x in elements(below))  # type: ignore[index]
    return key_of(name.args[0]) if is_index else None


def _bare(layout: Ast) -> set[Key]:
    """Return the keys of the letters of a layout that have no subscripts."""
    bases = {id(x) for s in walk(layout) if s.head == "script" and subscript_of(s) is not None for x in walk(s.args[0])}
    return {key for x in walk(layout) if id(x) not in bases and (key := key_of(x)) is not None}


def with_numbered_entries(reading: Reading, lines: Sequence[Ast], signs: Collection[str]) -> list[Ast]:
    r"""Return lines in which the entries d_{1,i} that a line defines are those of a vector d_1."""
    found: set[tuple[Key, Key]] = set()
    for line in lines:
        parts = _numbered(line.args[0]) if _is_equation(line, signs) else None
        if parts is not None and parts[0] not in reading.keys:
            found.add((parts[0], (str(parts[1].value[2]),)))  # type: ignore[index]

    def change(node: Ast) -> Ast:
        parts = _numbered(without_top(node)[0]) if node.head == "script" else None
        if parts is None or (parts[0], (str(parts[1].value[2]),)) not in found:  # type: ignore[index]
            return node
        base = Ast("accent", (node.args[0],), str(parts[1].value[2]), node.args[0].span)  # type: ignore[index]
        below = Ast("fence", parts[2], "brace", node.args[1].span)
        return Ast("script", (base, below, *node.args[2:]), node.value, node.span, node.at)

    return [rebuild(line, change) for line in lines] if found else list(lines)


def _numbered(side: Ast) -> tuple[Key, Ast, tuple[Ast, ...]] | None:
    """Return the key, the number and the indices of d_{1,i}; None for anything else."""
    below = subscript_of(side) if side.head == "script" and side.value[:1] == ("_",) else None  # type: ignore[index]
    key = key_of(side.args[0]) if below is not None else None
    items = elements(below) if below is not None else ()
    is_numbered = len(items) > 1 and items[0].head == "number" and all(x.head == "letter" for x in items[1:])
    return (key, items[0], items[1:]) if key is not None and is_numbered and letters_in(items[1]) else None
