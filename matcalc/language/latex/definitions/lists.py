r"""Reads lists as vectors and matrices: (a, b)^\top, (x_1, \ldots, x_n)^\top, [u^\top, v^\top]^\top.

A list with dots has the first, also further ones, and the last of its entries, which tell all of them.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from fractions import Fraction
from itertools import pairwise

from matcalc.language.identifiers import supply
from matcalc.language.latex.latex_axes import letters_in
from matcalc.language.latex.latex_lists import BESIDE, COLUMN, ROW
from matcalc.language.latex.latex_scope import Reading
from matcalc.language.latex.latex_superscripts import is_transposing
from matcalc.language.latex.layout.latex_patterns import same_layout, without_top
from matcalc.language.latex.names_in_lines import whole_key
from matcalc.language.latex.recurrences.steps import DOTS
from matcalc.language.syntax import Ast, rebuild, walk

_CONCATENATE = ("concat", "concatenate", "cat")
_LEAST = 3
"""The least number of parts of a list with dots."""


def with_lists(reading: Reading, line: Ast, signs: Collection[str]) -> Ast:
    r"""Return a line in which lists on the right side are layouts of their own.

    Their head is `stack` for a, b, and `listed` for x_1, \\ldots, x_n; the value is whether they are transposed.
    """

    called = {
        (item.span, item.at)
        for row in walk(line)
        if row.head == "row"
        for before, item in pairwise(row.args)
        if _is_function(reading, before)
    }

    def change(node: Ast) -> Ast:
        if node.head == "script" and (node.span, node.at) not in called:
            shown, above = without_top(node)
            is_turned = len(above) == 1 and above[0][1] is not None and is_transposing(*above[0])
            return _list(reading, shown, COLUMN) or node if is_turned else node
        if node.head == "row":
            items = _concatenated(node.args)
            for k, item in enumerate(items):
                if item.head == "fence" and item.value == "bracket" and (not k or _is_matrix(reading, items[k - 1])):
                    items[k] = _listed(reading, item, ROW) or item
            return Ast("row", tuple(items), None, node.span, node.at) if len(items) > 1 else items[0]
        return node

    if line.head == "relation" and line.value in [(sign,) for sign in signs] and len(line.args) == 2:
        right = rebuild(line.args[1], change)
        right = _list_alone(reading, right) or right
        return Ast("relation", (line.args[0], right), line.value, line.span, line.at)
    return rebuild(line, change)


def _is_function(reading: Reading, item: Ast) -> bool:
    """Return whether an item may be a function: a word or a letter that is not declared."""
    base = without_top(item)[0]
    name = base.args[0] if base.head == "script" else base
    return name.head in ("word", "letter", "accent") and whole_key(base) not in reading.keys


def _concatenated(items: Sequence[Ast]) -> list[Ast]:
    r"""Return items with one for each \operatorname{concat}(a, b)."""
    made: list[Ast] = []
    for item in items:
        word = str(made[-1].value[0]) if made and made[-1].head == "word" else ""  # type: ignore[index]
        is_list = item.head == "fence" and item.value in ("open", "bracket") and len(item.args) > 1
        if word.lower() in _CONCATENATE and is_list and not any(map(_are_dots, item.args)):
            made[-1] = Ast("stack", item.args, BESIDE, item.span, item.at)
        else:
            made.append(item)
    return made


def _list_alone(reading: Reading, right: Ast) -> Ast | None:
    r"""Return the list [x_1, \\ldots, x_n] that is a whole right side."""
    is_list = right.head == "fence" and right.value in ("bracket", "open")
    return _listed(reading, right, ROW) if is_list else None


def _is_matrix(reading: Reading, item: Ast) -> bool:
    names = reading.keys.get(whole_key(item) or (), ())
    return bool(names) and all(reading.kind_of(x) == "matrix" for x in names)


def _list(reading: Reading, fence: Ast, turned: str) -> Ast | None:
    """Return a list in parentheses or brackets, None for anything else."""
    if fence.head != "fence" or fence.value not in ("open", "bracket") or len(fence.args) < 2:
        return None
    if any(_are_dots(x) for x in fence.args):
        return _listed(reading, fence, turned)
    return Ast("stack", fence.args, turned, fence.span, fence.at)


def _listed(reading: Reading, fence: Ast, turned: str) -> Ast | None:
    found = listed_entry(reading, fence.args)
    if found is None:
        return None
    form = Ast("fence", (found[0],), "bracket", fence.span)
    letter = Ast("letter", (), (found[1], ""), fence.span)
    return Ast("listed", (Ast("script", (form, letter), ("_",), fence.span),), turned, fence.span, fence.at)


def listed_entry(reading: Reading, items: Sequence[Ast]) -> tuple[Ast, str] | None:
    r"""Return the entry of a list a_1, \\ldots, a_n and its index; None if its parts do not tell all of them."""
    dots = [k for k, x in enumerate(items) if _are_dots(x)]
    if len(items) < _LEAST or dots != [len(items) - 2]:
        return None
    last = items[-1]
    sizes = {x for x in letters_in(last) if x in reading.known.sizes}
    taken = {*(x for one in items for x in letters_in(one)), *(key[0] for key in reading.keys), *reading.letters}
    letter = next(supply("ijklpqrst", taken))
    for size in sorted(sizes):
        numbers = [Ast("number", (), (Fraction(k + 1), "", str(k + 1)), last.span) for k in range(dots[0])]
        if all(same_layout(_at(last, size, number), x) for number, x in zip(numbers, items, strict=False)):
            return _at(last, size, Ast("letter", (), (letter, ""), last.span)), letter
    return None


def _at(last: Ast, size: str, put: Ast) -> Ast:
    """Return the last part of a list with another number in the place of the size."""
    return rebuild(last, lambda x: put if x.head == "letter" and x.value[0] == size else x)  # type: ignore[index]


def _are_dots(item: Ast) -> bool:
    return item.head == "word" and item.value[0] in DOTS  # type: ignore[index]
