r"""Reads sums over a set whose members are data, \sum_{(i,j) \in \Omega} with i, j: index(N), as sums over the members.

The set itself is not declared then: its q-th member is (i_q, j_q).
"""

from __future__ import annotations

from fractions import Fraction
from typing import cast

from matcalc.language.identifiers import supply
from matcalc.language.latex.latex_axes import elements, letters_in
from matcalc.language.latex.latex_scope import Reading, key_of
from matcalc.language.latex.layout.latex_layout import unbraced
from matcalc.language.syntax import Ast, rebuild


def with_members(reading: Reading, line: Ast) -> Ast:
    """Return a line in which sums over the members of an undeclared set are sums over their numbers."""

    def change(node: Ast) -> Ast:
        return _over_members(reading, node) if node.head == "big" else node

    return rebuild(line, change)


def _over_members(reading: Reading, node: Ast) -> Ast:
    word, marks = cast("tuple[str, tuple[str, ...]]", node.value)
    below = elements(node.args[0])
    if marks != ("_",) or len(below) != 1 or below[0].head != "relation" or below[0].value != (r"\in",):
        return node
    left, right = below[0].args
    letters = letters_in(left)
    known = reading.known
    sizes = {known.shapes.get(x, ()) for x in letters if x in known.indices}
    if key_of(right) is None or key_of(right) in reading.keys or not set(letters) <= known.indices or len(sizes) != 1:
        return node
    (shape,) = sizes
    if len(shape) != 1:
        return node
    taken = {*known.kinds, *known.sizes, *letters_in(reading.root), *letters_in(node)}
    number = Ast("letter", (), (next(supply("qlst", taken)), ""), left.span)
    members = {x: Ast("script", (Ast("letter", (), (x, ""), left.span), number), ("_",), left.span) for x in letters}

    def change(one: Ast) -> Ast:
        found = members.get(str(one.value[0])) if one.head == "letter" else None  # type: ignore[index]
        return found or one

    first = Ast("number", (), (Fraction(1), "", "1"), left.span)
    last = Ast("letter", (), (shape[0], ""), left.span)
    start = Ast("fence", (Ast("relation", (number, first), ("==",), left.span),), "brace", left.span)
    return Ast("big", (start, last, rebuild(unbraced(node.args[1]), change)), (word, ("_", "^")), node.span, node.at)
