r"""Gives parts that read the argument of a function that argument: \mu = \frac{1}{d} \sum_j x_j beside f(x) = x - \mu.

Such a part is a function too, \mu(x). Without its argument, x_j would be a column of a declared X.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from matcalc.language.latex.definitions.squares import names_of, powers_of
from matcalc.language.latex.latex_scope import Key, Reading, key_of
from matcalc.language.latex.layout.latex_patterns import without_top
from matcalc.language.latex.names_in_lines import whole_key
from matcalc.language.syntax import Ast, rebuild, walk


def with_implicit_arguments(reading: Reading, lines: Sequence[Ast], signs: Collection[str]) -> list[Ast]:
    """Return lines in which parts that read the one argument of a function are functions of it."""
    done = list(lines)
    while (found := _implicit(reading, done, signs)) is not None:
        part, argument = found
        key = _name_of_part(reading, done[part])
        fence = Ast("fence", (argument,), "open", argument.span)
        side, formula = done[part].args
        left = Ast("row", (side, fence), None, side.span)
        done[part] = Ast("relation", (left, formula), done[part].value, done[part].span, done[part].at)
        for k, line in enumerate(done):
            if line.head == "relation" and _reads(reading, line, key):
                right = _called(reading, line.args[-1], key, fence)
                done[k] = Ast("relation", (*line.args[:-1], right), line.value, line.span, line.at)
    return done


def _implicit(reading: Reading, lines: Sequence[Ast], signs: Collection[str]) -> tuple[int, Ast] | None:
    """Return the number of a part and the argument that it reads; None if there is no further one."""
    equations = [k for k, x in enumerate(lines) if x.head == "relation" and x.value in [(sign,) for sign in signs]]
    arguments = {k: one for k in equations if (one := _argument(reading, lines[k])) is not None}
    for k in equations:
        key = _name_of_part(reading, lines[k])
        own = {key_of(x) for x in walk(lines[k].args[-1])} if key else set()
        readers = [j for j, line in enumerate(lines) if key and j != k and _reads(reading, line, key)]
        if not readers or not all(j in arguments and key_of(arguments[j]) in own for j in readers):
            continue
        if len({key_of(arguments[j]) for j in readers}) == 1:
            return k, arguments[readers[0]]
    return None


def _argument(reading: Reading, line: Ast) -> Ast | None:
    """Return the argument of a function of one undeclared letter that a line defines."""
    side = line.args[0]
    is_call = side.head == "row" and len(side.args) == 2 and side.args[1].head == "fence"
    arguments = side.args[1].args if is_call and side.args[1].value == "open" else ()
    key = key_of(arguments[0]) if len(arguments) == 1 else None
    return arguments[0] if key is not None and key not in reading.keys else None


def _name_of_part(reading: Reading, line: Ast) -> Key | None:
    """Return the key of the undeclared name on the left of a line, also of a square."""
    base, _, power = powers_of(line.args[0])
    key = whole_key(without_top(line.args[0])[0]) if base is not None and power in (1, 2) else None
    return key if key is not None and key not in reading.keys and len(line.args) == 2 else None


def _reads(reading: Reading, line: Ast, key: Key | None) -> bool:
    right = line.args[-1] if line.head == "relation" else line
    return any(whole_key(without_top(x)[0]) == key for x in names_of(right))


def _called(reading: Reading, formula: Ast, key: Key | None, fence: Ast) -> Ast:
    """Return a formula in which a name is followed by its argument."""
    put = {
        x: Ast("row", (x, fence), "implicit", x.span) for x in names_of(formula) if whole_key(without_top(x)[0]) == key
    }

    def change(node: Ast) -> Ast:
        if node in put:
            return put[node]
        if node.head != "row" or not any(x.value == "implicit" for x in node.args):
            return node
        items = [y for x in node.args for y in (x.args if x.value == "implicit" else (x,))]
        return Ast("row", tuple(items), None, node.span, node.at)

    made = rebuild(formula, change)
    return rebuild(made, lambda x: Ast("row", x.args, None, x.span) if x.value == "implicit" else x)
