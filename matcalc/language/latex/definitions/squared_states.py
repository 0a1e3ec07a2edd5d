r"""Reads a recurrence of squares, \sigma_t^2 = \omega + \beta \sigma_{t-1}^2, as one of a state named sigma_squared.

A declared \sigma_0 is its start.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from fractions import Fraction

from matcalc.language.latex.definitions.squares import powers_of, square_of, squared_word
from matcalc.language.latex.latex_axes import elements
from matcalc.language.latex.latex_scope import Key, key_of, key_of_subscript
from matcalc.language.latex.recurrences.steps import counted
from matcalc.language.syntax import Ast, rebuild, walk

Lines = Sequence[Sequence[Ast]]


def with_squared_states(lines: Lines, declared: Collection[Key]) -> tuple[list[Ast], ...]:
    """Return lines in which each square that a line defines by its value at another step is a name of its own."""
    made = [list(some) for some in lines]
    states = [one for some in lines for one in some if (key := _defined(one)) and key not in declared]
    for line in states:
        key = _defined(line)

        def change(node: Ast, key: Key = key) -> Ast:
            base, below, _ = powers_of(node)
            is_own = base is not None and below is not None and key_of(base) == key
            return square_of(node, key) if is_own and (*key, *_subscript(below)) not in declared else node

        starts = [x for x in declared if x[:-1] == key and x[-1].isdigit()]
        given = {_subscript(powers_of(one.args[0])[1])[-1:] for some in made for one in some if _left(one, key)}
        made = [[rebuild(one, change) for one in some] for some in made]
        if len(starts) == 1 and not any(x and x[0].isdigit() for x in given):
            made[-1].append(_start(line, starts[0]))
    return tuple(made)


def _defined(line: Ast) -> Key:
    """Return the key of the name whose square a line defines by its value at another step; () for any other line."""
    if line.head != "relation" or line.value not in (("==",), (":=",)) or len(line.args) != 2:
        return ()
    base, below, power = powers_of(line.args[0])
    at = counted(elements(below)[0]) if below is not None else None
    key = key_of(base) if base is not None else None
    if power != 2 or at is None or key is None:
        return ()
    for node in (x for x in walk(line.args[1]) if x.head == "script"):
        other, own, _ = powers_of(node)
        before = counted(elements(own)[0]) if own is not None else None
        if other is not None and key_of(other) == key and before is not None and before[0] == at[0] and before != at:
            return key
    return ()


def _left(line: Ast, key: Key) -> bool:
    """Return whether a line defines a power of a name with a subscript."""
    if line.head != "relation" or len(line.args) != 2:
        return False
    base, below, _ = powers_of(line.args[0])
    return base is not None and below is not None and key_of(base) == key


def _subscript(below: Ast | None) -> Key:
    return (key_of_subscript(below) or ()) if below is not None else ()


def _start(line: Ast, declared: Key) -> Ast:
    r"""Return the line that makes the square of a declared \sigma_0 the first square."""
    base, _, _ = powers_of(line.args[0])
    assert base is not None
    number = Ast("number", (), (Fraction(declared[-1]), "", declared[-1]), line.span)
    left = Ast("script", (Ast("letter", (), (squared_word(declared[:-1]), ""), line.span), number), ("_",), line.span)
    two = Ast("number", (), (Fraction(2), "", "2"), line.span)
    return Ast("relation", (left, Ast("script", (base, number, two), ("_", "^"), line.span)), ("==",), line.span)
