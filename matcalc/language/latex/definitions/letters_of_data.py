r"""Gives an index another letter where a passage uses its letter twice, y_i beside \sum_{y=1}^K z_{iy}.

y: index(n) are data, of which y_i is an entry, and the y that a sum binds is an index. So is the a that a sum of the
definition of h(a) binds.
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
    own = data | _arguments(line, signs)
    if not own:
        return line
    letters = supply("ijklpqrst", {*letters_in(line), *reading.known.kinds, *reading.known.sizes, *reading.ranges})

    def change(big: Ast) -> Ast:
        if big.head != "big" or not (twice := sorted(own & bound_by(big) & _ranged(big))):
            return big
        put = {x: next(letters) for x in twice}
        kept = {id(x.args[0]) for x in walk(big) if x.head == "script" and subscript_of(x) is not None}

        def renamed(x: Ast) -> Ast:
            letter = put.get(str(x.value[0])) if x.head == "letter" and id(x) not in kept else None  # type: ignore[index]
            return x if letter is None else Ast("letter", (), (letter, x.value[1]), x.span)  # type: ignore[index]

        return rebuild(big, renamed)

    return rebuild(line, change)


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
