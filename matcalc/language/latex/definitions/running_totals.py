r"""Reads entries, at data t_i, of sums and products up to an index, \bar\alpha_{t_i} of \bar\alpha_t = \prod_{s=1}^t.

They are entries of the vector of all these sums, which is as long as the arrays that the sums read.
"""

from __future__ import annotations

from collections.abc import Collection

from matcalc.language.identifiers import supply
from matcalc.language.latex.definitions.bound_letters import bound_by
from matcalc.language.latex.definitions.statements import Statement
from matcalc.language.latex.latex_axes import elements, letters_in
from matcalc.language.latex.latex_large_letters import large_of
from matcalc.language.latex.latex_scope import Reading, key_of, subscript_of
from matcalc.language.latex.layout.latex_layout import unbraced
from matcalc.language.syntax import Ast, rebuild, walk


def whole_totals(reading: Reading, one: Statement, taken: Collection[str]) -> Ast | None:
    """Return the vector of all entries of a definition whose sums end at its index, None for any other definition."""
    (letter,) = one.indices
    bigs = [x for x in walk(one.formula) if x.head == "big" and _end_of(x) == letter]
    lengths = {length for big in bigs for length in _lengths(reading, big)}
    if len(lengths) != 1:
        return None
    used = {*reading.known.kinds, *reading.known.sizes, *reading.parts, *reading.letters, *reading.ranges, *taken}
    index = Ast("letter", (), (next(supply("klpqrst", used)), ""), one.formula.span)
    reading.ranges = {**reading.ranges, str(index.value[0]): lengths.pop()}  # type: ignore[index]

    def change(node: Ast) -> Ast:
        return index if node.head == "letter" and node.value[0] == letter else node  # type: ignore[index]

    fence = Ast("fence", (rebuild(one.formula, change),), "bracket", one.formula.span)
    return Ast("script", (fence, index), ("_",), one.formula.span, one.formula.caret)


def _end_of(big: Ast) -> str:
    """Return the letter at which the index of a sum from 1 ends, "" for any other end."""
    ends = [unbraced(x) for mark, x in zip(big.value[1], big.args, strict=False) if mark == "^"]  # type: ignore[index]
    return str(ends[0].value[0]) if len(ends) == 1 and ends[0].head == "letter" else ""  # type: ignore[index]


def _lengths(reading: Reading, big: Ast) -> set[str]:
    """Return the lengths of the axes of declared arrays that have the index of a sum as their subscript."""
    own = bound_by(big)
    found: set[str] = set()
    for script in (x for x in walk(big.args[-1]) if x.head == "script"):
        below, key = subscript_of(script), key_of(script.args[0])
        if below is None or key is None or not own & {*letters_in(below)}:
            continue
        name = next(iter(reading.keys.get(key, ())), large_of(reading, key))
        shape = reading.known.shapes.get(name, ())
        axes = [x for y in elements(below) for x in (y.args if y.head == "row" else (y,))]
        found |= {
            length
            for axis, length in zip(axes, shape, strict=False)
            if axis.head == "letter" and axis.value[0] in own and len(axes) == len(shape)  # type: ignore[index]
        }
    return found
