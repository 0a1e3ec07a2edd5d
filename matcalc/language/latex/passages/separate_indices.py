r"""Gives the indices that a definition binds other letters where the formula around its use binds the same ones.

In `\sum_j h(u_j)` with `h(t) = \sum_j a_j t`, the two j are two indices: the second is k.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import cast

from matcalc.language.identifiers import supply
from matcalc.language.latex.latex_axes import letters_in
from matcalc.language.latex.latex_scope import Reading, key_of, key_of_subscript, subscript_of
from matcalc.language.latex.passages.bound_letters import bound_in
from matcalc.language.latex.passages.statements import Statement
from matcalc.language.syntax import Ast, rebuild, walk


def with_own_indices(reading: Reading, one: Statement, taken: Collection[str]) -> Ast:
    """Return the formula of a definition in which no index that it binds has one of the taken letters."""
    own = {*one.indices, *(x for y in one.parameters or () for x in letters_in(y))}
    clashing = sorted((bound_in(one.formula, own) - own - reading.known.sizes) & set(taken))
    if not clashing:
        return one.formula
    known = {*reading.known.kinds, *reading.known.sizes, *reading.parts, *reading.ranges}
    letters = supply("ijklpqrst", {*known, *taken, *own, *letters_in(one.formula)})
    fresh = {letter: next(letters) for letter in clashing}
    reading.ranges = {**reading.ranges, **{fresh[x]: reading.ranges[x] for x in clashing if x in reading.ranges}}
    kept = {id(x) for node in walk(one.formula) if node.head == "script" for x in _letters_of_name(reading, node)}

    def change(node: Ast) -> Ast:
        if node.head != "letter" or id(node) in kept:
            return node
        name, font = cast("tuple[str, str]", node.value)
        return Ast("letter", (), (fresh.get(name, name), font), node.span)

    return rebuild(one.formula, change)


def _letters_of_name(reading: Reading, script: Ast) -> list[Ast]:
    """Return the letters of a declared name with a subscript, and else those of the base of one."""
    below, key = subscript_of(script), key_of(script.args[0])
    if below is None or key is None:
        return []
    added = key_of_subscript(below)
    is_declared = added is not None and (*key, *added) in reading.keys
    return [*walk(script.args[0]), *(walk(below) if is_declared else ())]
