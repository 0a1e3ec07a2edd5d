r"""Gives an index another letter where a passage uses its letter twice, y_i beside \sum_{y=1}^K z_{iy}.

y: index(n) are data, of which y_i is an entry, and the y that a sum binds is an index. So is the a that a sum of the
definition of h(a) binds, and the k of a sum beside a declared size k that its range does not contain.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import cast

from matcalc.language.identifiers import supply
from matcalc.language.latex.definitions.bound_letters import bound_by
from matcalc.language.latex.latex_axes import letters_in
from matcalc.language.latex.latex_scope import Reading, key_of, subscript_of
from matcalc.language.latex.layout.latex_patterns import TOPS
from matcalc.language.syntax import Ast, rebuild, walk


def with_own_letters(reading: Reading, line: Ast, signs: Collection[str]) -> Ast:
    """Return a line in which no index of a sum has the letter of data, or of an argument that the line defines."""
    bases = {id(x.args[0]) for x in walk(line) if x.head == "script" and subscript_of(x) is not None}
    entries = {key[0] for x in walk(line) if id(x) in bases and (key := key_of(x)) is not None}
    data = {x for x in entries if {*reading.keys.get((x,), ())} & reading.known.indices}
    own = data | _arguments(line, signs) | {x for x in reading.known.sizes if len(x) == 1}
    if not own:
        return line
    letters = supply("ijklpqrst", {*letters_in(line), *reading.known.kinds, *reading.known.sizes, *reading.ranges})

    def change(big: Ast) -> Ast:
        if big.head != "big" or not (twice := sorted(own & bound_by(big) & _ranged(big))):
            return big
        twice = [x for x in twice if x not in reading.known.sizes or _is_index(big, x)]
        put = {x: next(letters) for x in twice}
        kept = {id(x.args[0]) for x in walk(big) if x.head == "script" and subscript_of(x) is not None}

        def renamed(x: Ast) -> Ast:
            letter = put.get(str(x.value[0])) if x.head == "letter" and id(x) not in kept else None  # type: ignore[index]
            return x if letter is None else Ast("letter", (), (letter, x.value[1]), x.span)  # type: ignore[index]

        return rebuild(big, renamed)

    return rebuild(line, change)


def _is_index(big: Ast, letter: str) -> bool:
    """Return whether a letter with a first value occurs inside a sum as a subscript, and nowhere else."""
    below = [x for mark, x in zip(big.value[1], big.args, strict=False) if mark == "_"]  # type: ignore[index]
    ranges = [x for one in below for x in walk(one) if x.head == "relation" and x.value == ("==",)]
    is_ranged = any(letter in letters_in(x.args[0]) for x in ranges)
    body = big.args[-1]
    inside = {id(x) for s in walk(body) if s.head == "script" and (b := subscript_of(s)) is not None for x in walk(b)}
    own = [x for x in walk(body) if x.head == "letter" and x.value[0] == letter]  # type: ignore[index]
    return is_ranged and bool(own) and all(id(x) in inside for x in own)


def _arguments(line: Ast, signs: Collection[str]) -> set[str]:
    """Return the letters of the arguments of the function that a line defines."""
    if line.head != "relation" or line.value not in [(sign,) for sign in signs] or line.args[0].head != "row":
        return set()
    fence = line.args[0].args[-1]
    is_call = len(line.args[0].args) == 2 and fence.head == "fence" and fence.value in TOPS
    return {str(x.value[0]) for x in fence.args if x.head == "letter"} if is_call else set()  # type: ignore[index]


def _ranged(big: Ast) -> set[str]:
    r"""Return the letters that a sum binds, but not those of members of a set, (i, j) \in \Omega."""
    marks = cast("tuple[str, tuple[str, ...]]", big.value)[1]
    below = [x for mark, x in zip(marks, big.args, strict=False) if mark == "_"]
    members = [x for one in below for x in walk(one) if x.head == "relation" and x.value == (r"\in",)]
    return {x for one in below for x in letters_in(one)} - {x for one in members for x in letters_in(one)}
