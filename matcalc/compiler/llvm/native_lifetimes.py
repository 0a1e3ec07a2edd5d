"""Which names of a generated function hold on to memory, and where they let go of it.

A name that stands for parts of one other name's array needs not hold on to it: the other holds as long as both are
spoken of. What holds is let go after the last statement that speaks of it, in the innermost block that all of these
are in.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from matcalc.compiler.code.code import (
    Block,
    Expr,
    For,
    Function,
    If,
    Let,
    Load,
    Name,
    Statement,
    View,
    While,
    parts,
    within,
)

Assigned = Mapping[str, Sequence[Let]]


class Lifetimes:
    """The lifetimes of the names of arrays in a function.

    `holders` are the names that hold on to memory, `last` says after which statement, by `id`, which of them let go,
    and `free` are those that hold nothing whenever they are given a value.
    """

    def __init__(self, function: Function, arrays: Collection[str]) -> None:
        body, given = function.body, {name for name, _ in function.parameters}
        assigned: dict[str, list[Let]] = {name: [] for name in arrays}
        for part in within(body):
            if isinstance(part, Let) and part.name in assigned:
                assigned[part.name].append(part)
        plain = _Uses({})
        begun = [name for name in arrays if name not in given and assigned[name] and plain.begins(body, name)]
        roots = _roots(begun, assigned, given)
        self.holders = [name for name in arrays if name not in roots and (name not in given or assigned[name])]
        self.last: dict[int, list[str]] = {}
        self.free: set[str] = set()
        uses = _Uses(roots, plain)
        for name in sorted(set(self.holders) - set(given)):
            block = uses.home(body, name)
            users = uses.users(block, name)
            if users:
                self.last.setdefault(id(users[-1]), []).append(name)
            if name in begun and len(assigned[name]) == 1 and assigned[name][0] in block:
                self.free.add(name)


def _roots(begun: Sequence[str], assigned: Assigned, given: Collection[str]) -> dict[str, str]:
    """Return the names that always stand for parts of one name's array, which has one value, with that name."""
    roots_of = {name: {_of(statement.value) for statement in assigned[name]} for name in begun}
    roots = {name: name for name, statements in assigned.items() if name in given and not statements}
    roots |= {name: name for name in begun if len(assigned[name]) == 1 and roots_of[name] == {None}}
    while True:
        found = {
            name: root
            for name in begun
            if name not in roots
            and len(of := {roots.get(part) if part else None for part in roots_of[name]}) == 1
            and (root := of.pop()) is not None
        }
        if not found:
            return {name: root for name, root in roots.items() if name != root}
        roots |= found


def _of(expr: Expr) -> str | None:
    """Return the name whose array an expression gives a part of; None for others."""
    while isinstance(expr, View | Load):
        expr = expr.array
    return expr.name if isinstance(expr, Name) else None


def _names(item: Any) -> set[str]:
    """Return the names in a statement or an expression."""
    return {part.name for part in within((item,)) if isinstance(part, Name | Let)}


class _Uses:
    """Which statements of a function speak of which names; of `roots`, as of the other name.

    `plain` are the uses without roots, if they are known.
    """

    def __init__(self, roots: Mapping[str, str], plain: _Uses | None = None) -> None:
        self.roots, self.plain = roots, plain
        self._known: dict[int, Collection[str]] = {}
        self._blocks: dict[int, dict[str, list[Statement]]] = {}

    def of(self, item: Any) -> Collection[str]:
        """Return the names that a statement or an expression speaks of."""
        found = self._known.get(id(item))
        if found is None:
            if isinstance(item, If | For | While):
                found = set().union(*map(self.of, parts(item)))
            else:
                names = self.plain.of(item) if self.plain else _names(item)
                found = {self.roots.get(name, name) for name in names}
            self._known[id(item)] = found
        return found

    def users(self, block: Block, name: str) -> Sequence[Statement]:
        found = self._blocks.get(id(block))
        if found is None:
            found = self._blocks[id(block)] = {}
            for statement in block:
                for word in self.of(statement):
                    found.setdefault(word, []).append(statement)
        return found.get(name, ())

    def inner(self, statement: Statement, name: str) -> Block:
        """Return the one block of a statement that all in it that speaks of a name is in; none where there is none."""
        if not isinstance(statement, If | For | While):
            return ()
        blocks = [statement.body, *([statement.orelse] if isinstance(statement, If) else [])]
        heads = (part for part in parts(statement) if not any(part is inner for block in blocks for inner in block))
        if any(name in self.of(head) for head in heads):
            return ()
        found = [block for block in blocks if self.users(block, name)]
        return found[0] if len(found) == 1 else ()

    def begins(self, block: Block, name: str) -> bool:
        """Whether a name has a value from this block alone: the first statement that speaks of it gives it one."""
        first, *others = self.users(block, name)
        if isinstance(first, Let):
            return first.name == name and not first.op and name not in self.of(first.value)
        inner = self.inner(first, name)
        return not others and bool(inner) and self.begins(inner, name)

    def home(self, body: Block, name: str) -> Block:
        """Return the innermost block that all that speaks of a name is in, if it has its value from there.

        A name that lives from round to round of a loop is at home in a block around that loop.
        """
        users = self.users(body, name)
        while len(users) == 1 and (inner := self.inner(users[0], name)) and self.begins(inner, name):
            body, users = inner, self.users(inner, name)
        return body
