r"""Reads names that papers and declarations spell in two ways: \varepsilon beside epsilon, \mathrm{ReLU} beside relu.

The delta of Kronecker, \delta(a, b), is the indicator of a = b.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from fractions import Fraction
from itertools import pairwise
from typing import cast

from matcalc.language.latex.latex_axes import elements
from matcalc.language.latex.latex_scope import Key, Reading, key_of, key_of_subscript, subscript_of
from matcalc.language.latex.layout.latex_layout import unbraced
from matcalc.language.latex.layout.latex_names import COMMANDS
from matcalc.language.latex.names_in_lines import used, whole_key
from matcalc.language.syntax import Ast, rebuild, walk

_VARIANTS = (
    ("epsilon", "varepsilon"), ("theta", "vartheta"), ("phi", "varphi"), ("rho", "varrho"), ("sigma", "varsigma"),
    ("pi", "varpi"), ("kappa", "varkappa"),
)  # fmt: skip
_UPRIGHT = ("roman", "operator", "text")


def without_script_labels(lines: Sequence[Ast], signs: Collection[str]) -> list[Ast]:
    r"""Return lines without the name of an energy \mathcal{E} that no other line reads, if a line defines another E."""
    sides = [one.args[0] for one in lines if one.head == "relation" and one.value in [(sign,) for sign in signs]]
    names = [side.value for side in sides if side.head == "letter"]
    every = [x.value for one in lines for x in walk(one) if x.head == "letter"]

    def is_label(line: Ast) -> bool:
        side = line.args[0] if line.head == "relation" and line.args[0] in sides else line
        name = side.value if side.head == "letter" else ("", "")
        is_other = any(x[0] == name[0] and x[1] != name[1] for x in names)  # type: ignore[index]
        return line is not side and name[1] == "script" and is_other and every.count(name) == 1  # type: ignore[index]

    return [line.args[1] if is_label(line) else line for line in lines]


def with_large_letters(reading: Reading, lines: tuple[list[Ast], ...], signs: Collection[str]) -> tuple[list[Ast], ...]:
    r"""Return lines in which entries w_{ij} that a line defines are those of W, if another line reads W as a whole."""
    every = [one for some in lines for one in some]
    sides = [one.args[0] for one in every if one.head == "relation" and one.value in [(sign,) for sign in signs]]
    left = {key for side in sides if (key := _entry(side)) is not None}
    whole = {key for one in every for key in used(one)} - {
        key for side in sides if (key := whole_key(side)) is not None
    }
    found = {
        key
        for key in left
        if (large := (key[0][:1].upper() + key[0][1:], *key[1:])) != key
        and large in whole
        and not {key, large} & {*reading.keys}
        and large not in left
    }
    if not found:
        return lines

    def change(node: Ast) -> Ast:
        if _entry(node) not in found:
            return node
        return Ast(
            "script", (rebuild(node.args[0], _with_large_letter), *node.args[1:]), node.value, node.span, node.at
        )

    return tuple([rebuild(one, change) for one in some] for some in lines)


def _with_large_letter(node: Ast) -> Ast:
    if node.head != "letter":
        return node
    name, font = cast("tuple[str, str]", node.value)
    return Ast("letter", (), (name[:1].upper() + name[1:], font), node.span)


def _entry(node: Ast) -> Key | None:
    """Return the key of a letter with two letters as subscripts, else None."""
    below = subscript_of(node) if node.head == "script" else None
    if below is None:
        return None
    items = [x for one in elements(below) for x in (one.args if one.head == "row" else (one,))]
    return key_of(node.args[0]) if len(items) == 2 and all(x.head == "letter" for x in items) else None


def with_known_spellings(reading: Reading, lines: Sequence[Ast]) -> list[Ast]:
    r"""Return lines in which a letter or a function that is known in another spelling has that one.

    A letter has it if the declarations know only the one variant, and the lines contain only the other one.
    """
    letters = {str(x.value[0]) for line in lines for x in walk(line) if x.head == "letter"}  # type: ignore[index]
    known = {part for key in reading.keys for part in key}
    put: dict[str, str] = {}
    for one, other in (pair for plain, variant in _VARIANTS for pair in ((plain, variant), (variant, plain))):
        if one in letters and other not in letters and other in known and one not in known:
            put[one] = other
    defined = {
        str(x.value[0])  # type: ignore[index]
        for line in lines
        if line.head == "relation"
        for x in walk(line.args[0])
        if x.head == "word"
    }

    def change(node: Ast) -> Ast:
        if node.head == "script" and (inverse := _inverse(reading, node)):
            return Ast("word", (), (inverse, "operator"), node.span)
        if node.head not in ("letter", "word"):
            return node
        name, font = cast("tuple[str, str]", node.value)
        if node.head == "letter":
            return Ast("letter", (), (put.get(name, name), font), node.span)
        if font in ("operator", "text") and (name,) in reading.keys and name not in reading.names.words:
            return Ast("word", (), (name, "roman"), node.span)
        is_own = font not in _UPRIGHT or name in defined or (name,) in reading.keys
        return node if is_own else Ast("word", (), (_function(reading, name), font), node.span)

    made = [rebuild(rebuild(line, change), lambda node: _with_changes(reading, node)) for line in lines]
    if ("delta",) in reading.keys or any(
        _calls_delta(x) for line in lines if _is_equation(line) for x in walk(line.args[0])
    ):
        return made
    return [rebuild(line, lambda node: _without_deltas(node) if node.head == "row" else node) for line in made]


def _inverse(reading: Reading, script: Ast) -> str:
    r"""Return the function that undoes the one of a script, sigmoid for \operatorname{logit}^{-1}; else ""."""
    if script.value != ("^",):
        return ""
    base, layout = script.args[0], unbraced(script.args[1])
    is_inverse = layout.head == "chain" and layout.value == ((-1,), True)
    one = unbraced(layout.args[0]) if is_inverse else layout
    if not is_inverse or one.head != "number" or one.value[0] != 1 or base.head != "word":  # type: ignore[index]
        return ""
    name, font = cast("tuple[str, str]", base.value)
    is_word = font in _UPRIGHT and name not in COMMANDS and (name,) not in reading.keys
    return reading.names.solving.get(reading.names.canonical.get(name, ""), "") if is_word else ""


def _with_changes(reading: Reading, row: Ast) -> Ast:
    r"""Return a row in which \Delta S is one name if Delta_S is declared, and Delta is not."""
    items: list[Ast] = []
    for item in row.args if row.head == "row" else ():
        before = key_of(items[-1]) if items else None
        base, marks = (item.args[0], item) if item.head == "script" else (item, None)
        key = key_of(base)
        is_change = before in (("Delta",), ("delta",)) and before not in reading.keys and key is not None
        below = subscript_of(item) if item.head == "script" else None
        whole = (*key, *((key_of_subscript(below) or ()) if below is not None else ())) if key is not None else ()
        is_known = before is not None and {(*before, *(key or ())), (*before, *whole)} & reading.keys.keys()
        if not is_change or key is None or not is_known:
            items.append(item)
            continue
        name = Ast("accent", (items[-1],), key[0], items[-1].span)
        items[-1] = name if marks is None else Ast("script", (name, *marks.args[1:]), marks.value, item.span, item.at)
    return Ast("row", tuple(items), None, row.span, row.at) if items else row


def _is_equation(line: Ast) -> bool:
    return line.head == "relation" and len(line.args) == 2


def _calls_delta(row: Ast) -> bool:
    return row.head == "row" and any(_is_delta(*pair) for pair in pairwise(row.args))


def _is_delta(item: Ast, after: Ast) -> bool:
    is_pair = after.head == "fence" and after.value == "open" and len(after.args) == 2
    return is_pair and item.head == "letter" and item.value == ("delta", "")


def _without_deltas(row: Ast) -> Ast:
    r"""Return a row with the indicator of a = b in the place of \delta(a, b)."""
    items: list[Ast] = []
    for item in row.args:
        if not items or not _is_delta(items[-1], item):
            items.append(item)
            continue
        equal = Ast("relation", item.args, ("==",), item.span, item.at)
        one = Ast("number", (), (Fraction(1), "double", "1"), items[-1].span)
        items[-1:] = [one, Ast("fence", (equal,), "bracket", item.span, item.at)]
    return Ast("row", tuple(items), None, row.span, row.at)


def _function(reading: Reading, name: str) -> str:
    """Return the name of a function of entries that is written with capitals, else the name itself."""
    names, small = reading.names, name.lower()
    is_other = name in names.words or name in names.canonical or small not in names.canonical
    # Exp and Log are also maps between a group and its tangents.
    is_other = is_other or small in (names.roles["exponential"], names.roles["logarithm"])
    return name if is_other or names.results.get(small) != "same" else small
