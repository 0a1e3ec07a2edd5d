r"""Reads functions whose argument is written by its entries, \pi([x, y, z]^\top) = (x/z, y/z), as those of a vector."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from fractions import Fraction

from matcalc.language.latex.latex_scope import Reading, fault, key_of
from matcalc.language.latex.latex_superscripts import is_transposing
from matcalc.language.latex.layout.latex_layout import unbraced
from matcalc.language.latex.layout.latex_patterns import without_top
from matcalc.language.syntax import Ast, rebuild


def with_vector_arguments(reading: Reading, lines: Sequence[Ast], signs: Collection[str]) -> list[Ast]:
    """Return lines in which an argument that lists its entries is one letter, and the entries have its subscripts.

    Raises: ParseError for an entry that is declared.
    """
    return [_with_one_letter(reading, x) if _is_definition(x, signs) else x for x in lines]


def _is_definition(line: Ast, signs: Collection[str]) -> bool:
    side = line.args[0] if line.head == "relation" and len(line.args) == 2 else line
    is_call = side.head == "row" and len(side.args) == 2 and side.args[1].head == "fence"
    return is_call and line.value in [(sign,) for sign in signs] and len(side.args[1].args) == 1


def _with_one_letter(reading: Reading, line: Ast) -> Ast:
    name, fence = line.args[0].args
    entries = _entries(fence.args[0])
    letters = [x.value for x in entries if x.head == "letter"]
    if not entries or len(set(letters)) < len(entries) or fence.value != "open":
        return line
    if known := [x for x in entries if key_of(x) in reading.keys]:
        shown = "_".join(key_of(known[0]) or ())
        raise fault(f"the entry {shown} of an argument is declared", known[0], "give one of the two another letter")
    one = Ast("letter", (), ("entries" + "".join(str(x[0]) for x in letters), ""), fence.args[0].span)  # type: ignore[index]

    def change(node: Ast) -> Ast:
        if node.head != "letter" or node.value not in letters:
            return node
        number = letters.index(node.value) + 1
        below = Ast("number", (), (Fraction(number), "", str(number)), node.span)
        return Ast("script", (one, below), ("_",), node.span, node.span[0])

    left = Ast("row", (name, Ast("fence", (one,), "open", fence.span)), None, line.args[0].span)
    return Ast("relation", (left, rebuild(line.args[1], change)), line.value, line.span, line.at)


def _entries(layout: Ast) -> tuple[Ast, ...]:
    r"""Return the entries of [x, y, z]^\top or a column; of anything else nothing."""
    layout = unbraced(layout)
    if layout.head == "matrix" and all(len(row.args) == 1 for row in layout.args):
        return tuple(row.args[0] for row in layout.args)
    fence, above = without_top(layout)
    fence = unbraced(fence)
    is_list = fence.head == "fence" and fence.value in ("open", "bracket") and len(fence.args) > 1
    return fence.args if is_list and all(is_transposing(*x) for x in above) else ()
