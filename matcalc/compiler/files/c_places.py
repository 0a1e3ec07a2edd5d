"""Finds the statement that declares each name of a function in C.

A name of Code has its value in the whole function. In C it is declared where it first gets a value, if all its uses are
in that block; in its loop, if it is nothing but the index of loops; and at the top of the function otherwise.
"""

from __future__ import annotations

from typing import NamedTuple

from matcalc.compiler.code.code import Block, Call, For, Function, If, Let, Name, Statement, While, parts, within

Place = tuple[int, ...]
"""A statement: its number in its block, after those of the statements and blocks around it."""


class _Use(NamedTuple):
    place: Place
    is_first_value: bool
    loops: frozenset[str]


class Places:
    """The names of a function: where each is declared, which are read, and which functions are called."""

    def __init__(self, function: Function) -> None:
        self.given = [name for name, _ in function.parameters]
        self.names: dict[str, None] = dict.fromkeys(self.given)
        self.read: set[str] = set()
        self.called = {part.function for part in within(function.body) if isinstance(part, Call)}
        self.uses: dict[str, list[_Use]] = {}
        self._walk(function.body, (), frozenset())
        own = [name for name in self.names if name not in self.given]
        self.in_loops = {name for name in own if all(name in use.loops for use in self.uses[name])}
        self.declared = {name: self.uses[name][0].place for name in own if self._is_declared(name)}
        self.at_top = [name for name in own if name not in self.in_loops and name not in self.declared]

    def _is_declared(self, name: str) -> bool:
        first, *others = self.uses[name]
        around = first.place[:-1]
        is_inside = all(use.place[: len(around)] == around for use in others)
        return name not in self.in_loops and first.is_first_value and is_inside

    def _walk(self, block: Block, around: Place, loops: frozenset[str]) -> None:
        for k, statement in enumerate(block):
            place = (*around, k)
            for part in within([part for part in parts(statement) if not isinstance(part, Statement)]):
                if isinstance(part, Name):
                    self.read.add(part.name)
                    self._use(part.name, place, False, loops)
            inside = loops
            if isinstance(statement, For):
                inside = loops | {statement.name}
                self._give(statement.name, place, False, inside)
            elif isinstance(statement, Let):
                self._give(statement.name, place, not statement.op, loops)
            self._walk(block_of(statement), (*place, 0), inside)
            self._walk(else_of(statement), (*place, 1), inside)

    def _give(self, name: str, place: Place, is_first_value: bool, loops: frozenset[str]) -> None:
        self.names.setdefault(name)
        self._use(name, place, is_first_value, loops)

    def _use(self, name: str, place: Place, is_first_value: bool, loops: frozenset[str]) -> None:
        self.uses.setdefault(name, []).append(_Use(place, is_first_value, loops))


def block_of(statement: object) -> Block:
    """Return the block inside a statement."""
    return statement.body if isinstance(statement, If | For | While) else ()


def else_of(statement: object) -> Block:
    return statement.orelse if isinstance(statement, If) else ()
