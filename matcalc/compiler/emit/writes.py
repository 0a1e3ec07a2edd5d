"""Spells statements that write to arrays: in place as NumPy does, and as new arrays where arrays do not change."""

from __future__ import annotations

from typing import NamedTuple

from matcalc.compiler.code.code import Expr, Load
from matcalc.compiler.code.print_python import expression


class Write(NamedTuple):
    """Writes `body` to an array or adds it: to the entries `at`, or to the whole array if there are none.

    `order` are the axes of a whole array if it is transposed first. With `repeats`, one entry may be added to more than
    once.
    """

    name: str
    body: str
    at: tuple[str, ...] = ()
    adds: bool = False
    order: tuple[int, ...] = ()
    repeats: bool = False


class Place(NamedTuple):
    """A result of a call: an array or the entries `at` of it. A new array is bound to its name."""

    name: str
    at: tuple[str, ...] = ()
    is_new: bool = False


class Results(NamedTuple):
    """Assigns the results of a call to several places."""

    places: tuple[Place, ...]
    body: str


Statement = str | Write | Results
Noted = tuple[Statement, str]
"""A statement with its comment."""


def place(entry: Expr, is_new: bool = False) -> Place:
    """Return the place of an entry, or of a whole array."""
    if isinstance(entry, Load):
        return Place(expression(entry.array), tuple(map(expression, entry.at)), is_new)
    return Place(expression(entry), (), is_new)


def assigned(places: tuple[Place, ...], body: str) -> Statement:
    """Return the statement that assigns the results of a call."""
    if len(places) > 1:
        return Results(places, body)
    (one,) = places
    return f"{one.name} = {body}" if one.is_new else Write(one.name, body, one.at)


def in_place(statement: Statement) -> str:
    """Return a statement as one that changes arrays."""
    if isinstance(statement, str):
        return statement
    if isinstance(statement, Results):
        return f"{', '.join(map(_target, statement.places))} = {statement.body}"
    name, body, at, adds, order, repeats = statement
    if repeats:
        return f"np.add.at({name}, ({', '.join(at)},), {body})"
    if adds and not at and not order:
        return f"{name} += {body}"
    return f"{_seen(name, order)}[{', '.join(at) or '...'}] {'+=' if adds else '='} {body}"


def renewed(statement: Statement) -> list[str]:
    """Return a statement as statements that only bind names."""
    if isinstance(statement, str):
        return [statement]
    if isinstance(statement, Results):
        late = [(one, f"{one.name}_part") for one in statement.places if one.at]
        heads = [f"{one.name}_part" if one.at else one.name for one in statement.places]
        made = [f"{', '.join(heads)} = {statement.body}"]
        return [*made, *(line for one, part in late for line in renewed(Write(one.name, part, one.at)))]
    name, body, at, adds, order, repeats = statement
    if repeats:
        return [f"{name} = add_at({name}, ({', '.join(at)},), {body})"]
    body = f"({body})" if adds else body
    if at:
        word, indices = "add_at" if adds else "set_at", f"({', '.join(at)}{',' if len(at) == 1 else ''})"
        return [f"{name} = {word}({name}, {indices}, {body})"]
    seen = _seen(name, order)
    total = f"{seen} + {body}" if adds else f"np.broadcast_to({body}, {seen}.shape)"
    back = tuple(sorted(range(len(order)), key=order.__getitem__))
    return [f"{name} = {_seen(f'({total})', back) if order else total}"]


def _target(one: Place) -> str:
    if one.at:
        return f"{one.name}[{', '.join(one.at)}]"
    return one.name if one.is_new else f"{one.name}[...]"


def _seen(name: str, order: tuple[int, ...]) -> str:
    """Return the text of an array with its axes in another order."""
    if not order:
        return name
    return f"{name}.T" if order == (1, 0) else f"{name}.transpose({', '.join(map(str, order))})"
