r"""Refuses signs that have two meanings in a passage: a letter in two fonts, dots, and 2\pi beside an array pi."""

from __future__ import annotations

from collections.abc import Sequence

from matcalc.language.latex.latex_scope import Reading, fault, font_of, key_of
from matcalc.language.latex.layout.latex_names import REFUSED
from matcalc.language.latex.layout.latex_patterns import without_top
from matcalc.language.latex.recurrences.steps import DOTS
from matcalc.language.syntax import Ast, walk


def check_signs(reading: Reading, layouts: Sequence[Ast]) -> None:
    """Raise ParseError for a sign that can have two meanings."""
    _check_fonts(layouts)
    _check_dots(layouts)
    _check_constant(reading, layouts)
    _check_differences(reading, layouts)


def _check_fonts(layouts: Sequence[Ast]) -> None:
    """Raise ParseError for a letter in two fonts, two symbols in papers, except the italic entries of a bold x.

    The arguments on the left side of a line, L(\\beta) = ..., may be in plain letters.
    """
    fonts: dict[object, tuple[str, Ast]] = {}
    for layout in layouts:
        below = {x for script in walk(layout) if script.head == "script" for x in _name_leaves(script)}
        label = set(walk(layout.args[0])) if layout.head == "relation" else set()
        for leaf in walk(layout):
            font = font_of(leaf) if leaf.head == "letter" else ""
            if leaf.head != "letter" or leaf in below or font in ("script", "") and leaf in label:
                continue
            base = leaf.value[0]  # type: ignore[index]
            known, _ = fonts.setdefault(base, (font, leaf))
            if known != font and {known, font} != {"", "italic"}:
                hint = "two fonts are two symbols: give one of them another letter"
                raise fault(f"{base} in two fonts", leaf, hint)


def _check_dots(layouts: Sequence[Ast]) -> None:
    r"""Raise ParseError for a sum or a product with dots, before the terms beside them are read."""
    rows = (x for layout in layouts for x in walk(layout) if x.head in ("row", "chain", "infix"))
    for one in (one for row in rows for one in row.args):
        if one.head == "word" and one.value[0] in DOTS:  # type: ignore[index]
            raise fault(f"\\{one.value[0]} is not supported", one, REFUSED["dots"])  # type: ignore[index]


def _check_constant(reading: Reading, layouts: Sequence[Ast]) -> None:
    r"""Raise ParseError for 2\pi if \pi_k is a declared array: papers then mean the number by it."""
    names = [name for name in reading.keys.get(("pi",), ()) if reading.kind_of(name) != "scalar"]
    rows = [node for layout in layouts for node in walk(layout) if node.head == "row"] if names else []
    for row in rows:
        for one, after in zip(row.args, row.args[1:], strict=False):
            shown = without_top(after)[0]
            if one.head == "number" and shown.head == "letter" and key_of(shown) == ("pi",):
                hint = "declare the array under another name, or write 6.283185307179586 for the number"
                raise fault(f"this can be the declared {names[0]} or the number 3.14...", after, hint)


def _check_differences(reading: Reading, layouts: Sequence[Ast]) -> None:
    r"""Raise ParseError for \Delta a_j with an undeclared \Delta: a difference, or a product with a number."""
    if ("Delta",) in reading.keys:
        return
    rights = [x for one in layouts for x in (one.args[1:] if one.head == "relation" else (one,))]
    rows = (x for one in rights for x in walk(one) if x.head == "row")
    for row in rows:
        for one, after in zip(row.args, row.args[1:], strict=False):
            base = without_top(one)[0]
            is_entry = after.head == "script" and after.value[:1] == ("_",)  # type: ignore[index]
            if (
                base.head == "letter"
                and key_of(base) == ("Delta",)
                and is_entry
                and key_of(after.args[0]) in reading.keys
            ):
                hint = r"write a line with its formula, \Delta a_j = a_j - a_{j-1}, or declare Delta for the product"
                raise fault(r"\Delta in front of an entry can be a difference or a factor", one, hint)


def _name_leaves(script: Ast) -> list[Ast]:
    """Return the letters of a subscript, and of its base."""
    marks = script.value
    found: list[Ast] = []
    for mark, layout in zip([x for x in marks if x != "'"], script.args[1:], strict=True):  # type: ignore[attr-defined]
        if mark == "_":
            found += walk(layout)
            found += walk(script.args[0]) if key_of(script.args[0]) else []
    return found
