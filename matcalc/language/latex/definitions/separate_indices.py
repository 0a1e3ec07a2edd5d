r"""Gives the indices that a definition binds other letters where the formula around its use binds the same ones.

In `\sum_j h(u_j)` with `h(t) = \sum_j a_j t`, the two j are two indices: the second is k.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import cast

from matcalc.language.identifiers import supply
from matcalc.language.latex.definitions.bound_letters import bound_by, bound_in
from matcalc.language.latex.definitions.statements import Statement
from matcalc.language.latex.latex_axes import letters_in
from matcalc.language.latex.latex_scope import Reading, key_of, key_of_subscript, subscript_of
from matcalc.language.syntax import Ast, rebuild, walk


def with_own_indices(reading: Reading, one: Statement, taken: Collection[str]) -> Ast:
    """Return the formula of a definition in which no index that it binds has one of the taken letters."""
    own = {*one.indices, *(x for y in one.parameters or () for x in letters_in(y))}
    clashing = sorted((bound_in(one.formula, own) - own - reading.known.sizes) & set(taken))
    if not clashing:
        return one.formula
    known = {*reading.known.kinds, *reading.known.sizes, *reading.parts, *reading.ranges}
    letters = supply("ijklpqrst", {*known, *taken, *own, *letters_in(one.formula), *reading.letters})
    fresh = {letter: next(letters) for letter in clashing}
    reading.ranges = {**reading.ranges, **{fresh[x]: reading.ranges[x] for x in clashing if x in reading.ranges}}
    kept = {id(x) for node in walk(one.formula) if node.head == "script" for x in _letters_of_name(reading, node)}

    def change(node: Ast) -> Ast:
        if node.head != "letter" or id(node) in kept:
            return node
        name, font = cast("tuple[str, str]", node.value)
        return Ast("letter", (), (fresh.get(name, name), font), node.span)

    return rebuild(one.formula, change)


def with_separate_sums(line: Ast) -> Ast:
    r"""Return a line in which sums that are factors of one another have letters of their own, \sum_i x_i \sum_i y_i.

    A term beside them that has the letter too leaves open which sum it belongs to; then nothing changes.
    """
    chains = [x for x in walk(line) if x.head == "chain" and len(x.args) > 1 and any(y.head == "big" for y in walk(x))]
    beside = {x for node in chains for term in node.args for x in {*letters_in(term)} - bound_in(term)}
    letters = supply("ijklpqrst", {*letters_in(line)})

    def change(node: Ast) -> Ast:
        body = node.args[-1] if node.head == "big" and node.value[0] == "sum" else node  # type: ignore[index]
        inner = body.args[-1] if body is not node and body.head == "row" else node
        if inner is node or inner.head != "big" or inner.value[0] != "sum":  # type: ignore[index]
            return node
        around, own = bound_by(node), bound_by(inner)
        twice = sorted(around & own - beside)
        if (
            not twice
            or not own <= around
            and any(x.head == "relation" and x.value != ("==",) for x in walk(inner.args[0]))
        ):
            return node  # \sum_{j>i} binds j only
        put = {x: next(letters) for x in twice}

        def renamed(x: Ast) -> Ast:
            letter = put.get(str(x.value[0])) if x.head == "letter" else None  # type: ignore[index]
            return x if letter is None else Ast("letter", (), (letter, x.value[1]), x.span)  # type: ignore[index]

        row = Ast("row", (*body.args[:-1], rebuild(inner, renamed)), None, body.span, body.at)
        return Ast("big", (*node.args[:-1], row), node.value, node.span, node.at)

    return rebuild(line, change)


def with_indices_beside_sizes(reading: Reading, line: Ast) -> Ast:
    r"""Return a line in which an index has another letter than a declared size: the k of \sum_{k \ne i} x_{ik}.

    It is one if the summand has the letter only as a subscript; a size may be a number there, and then nothing changes.
    """
    sizes = {x for x in reading.known.sizes if len(x) == 1} - reading.known.kinds.keys()
    used = {*letters_in(line), *reading.known.sizes, *reading.known.kinds, *reading.ranges, *reading.letters}
    letters = supply("ijklpqrst", used)

    def change(node: Ast) -> Ast:
        own = sorted(bound_by(node) & sizes) if node.head == "big" else []
        below = {x for y in walk(node.args[-1]) if y.head == "script" for x in _inside(y)} if own else set()
        for letter in own:
            places = [x for x in walk(node.args[-1]) if x.head == "letter" and x.value[0] == letter]  # type: ignore[index]
            if not places or not below.issuperset(places):
                continue
            fresh = next(letters)
            if letter in reading.ranges:
                reading.ranges = {**reading.ranges, fresh: reading.ranges[letter]}
            first, *rest = node.args

            def renamed(x: Ast, letter: str = letter, fresh: str = fresh) -> Ast:
                is_own = x.head == "letter" and x.value[0] == letter  # type: ignore[index]
                return Ast("letter", (), (fresh, x.value[1]), x.span) if is_own else x  # type: ignore[index]

            made = (rebuild(first, renamed), *rest[:-1], rebuild(rest[-1], renamed))
            node = Ast("big", made, node.value, node.span, node.at)
        return node

    return rebuild(line, change)


def _inside(script: Ast) -> list[Ast]:
    below = subscript_of(script)
    return [*walk(below)] if below is not None else []


def _letters_of_name(reading: Reading, script: Ast) -> list[Ast]:
    """Return the letters of a declared name with a subscript, and else those of the base of one."""
    below, key = subscript_of(script), key_of(script.args[0])
    if below is None or key is None:
        return []
    added = key_of_subscript(below)
    is_declared = added is not None and (*key, *added) in reading.keys
    return [*walk(script.args[0]), *(walk(below) if is_declared else ())]
