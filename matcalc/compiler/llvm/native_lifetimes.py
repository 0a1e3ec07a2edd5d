"""Which names of a generated function hold on to memory, and where they let go of it.

A name that stands for parts of one other name's array needs not hold on to it: the other holds as long as both are
spoken of. What holds is let go after the last statement that speaks of it, in the innermost block that all of these
are in.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator, Mapping, Sequence

from matcalc.compiler.llvm.native_words import load_llvm_words

Assigned = Mapping[str, Sequence[ast.Assign]]


class Lifetimes:
    """The lifetimes of the names of arrays in a function, `given` those of its arguments.

    `holders` are the names that hold on to memory, `last` says after which statement, by `id`, which of them let go,
    and `free` are those that hold nothing whenever they are given a value.
    """

    def __init__(self, node: ast.FunctionDef, arrays: Collection[str], given: Collection[str]) -> None:
        body = node.body
        assigned: dict[str, list[ast.Assign]] = {name: [] for name in arrays}
        for statement in _statements(body):
            if isinstance(statement, ast.Assign):
                for target in statement.targets:
                    if isinstance(target, ast.Name) and target.id in assigned:
                        assigned[target.id].append(statement)
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
    parts = {name: {_of(statement.value) for statement in assigned[name]} for name in begun}
    roots = {name: name for name, statements in assigned.items() if name in given and not statements}
    roots |= {name: name for name in begun if len(assigned[name]) == 1 and parts[name] == {None}}
    while True:
        found = {
            name: root
            for name in begun
            if name not in roots
            and len(of := {roots.get(part) if part else None for part in parts[name]}) == 1
            and (root := of.pop()) is not None
        }
        if not found:
            return {name: root for name, root in roots.items() if name != root}
        roots |= found


def _of(node: ast.expr) -> str | None:
    """Return the name whose array an expression gives a part of; None for others."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        return _of(node.func.value) if node.func.attr in load_llvm_words().views else None
    if isinstance(node, ast.Subscript):
        return _of(node.value)
    return node.id if isinstance(node, ast.Name) else None


def _statements(body: Sequence[ast.stmt]) -> Iterator[ast.stmt]:
    """Yield all statements in a block, also those in inner blocks."""
    for statement in body:
        yield statement
        if isinstance(statement, ast.If | ast.For | ast.While):
            yield from _statements(statement.body)
            yield from _statements(statement.orelse)


def _names(root: ast.AST) -> set[str]:
    """Return the names in a statement or an expression."""
    found, stack = set(), [root]
    while stack:
        node = stack.pop()
        if isinstance(node, ast.Name):
            found.add(node.id)
            continue
        for field in node._fields:
            part = getattr(node, field)
            if isinstance(part, ast.AST):
                stack.append(part)
            elif isinstance(part, list):
                stack += [inner for inner in part if isinstance(inner, ast.AST)]
    return found


class _Uses:
    """Which statements of a function speak of which names; of `roots`, as of the other name.

    `plain` are the uses without roots, if they are known.
    """

    def __init__(self, roots: Mapping[str, str], plain: _Uses | None = None) -> None:
        self.roots, self.plain = roots, plain
        self._known: dict[int, Collection[str]] = {}
        self._blocks: dict[int, dict[str, list[ast.stmt]]] = {}

    def of(self, node: ast.AST) -> Collection[str]:
        """Return the names that a statement or an expression speaks of."""
        found = self._known.get(id(node))
        if found is None:
            if isinstance(node, ast.If | ast.For | ast.While):
                found = set().union(*map(self.of, ast.iter_child_nodes(node)))
            else:
                found = {self.roots.get(name, name) for name in self.plain.of(node)} if self.plain else _names(node)
            self._known[id(node)] = found
        return found

    def users(self, block: Sequence[ast.stmt], name: str) -> Sequence[ast.stmt]:
        found = self._blocks.get(id(block))
        if found is None:
            found = self._blocks[id(block)] = {}
            for statement in block:
                for word in self.of(statement):
                    found.setdefault(word, []).append(statement)
        return found.get(name, ())

    def inner(self, statement: ast.stmt, name: str) -> Sequence[ast.stmt]:
        """Return the one block of a statement that all in it that speaks of a name is in; none where there is none."""
        if not isinstance(statement, ast.If | ast.For | ast.While):
            return ()
        heads = (child for child in ast.iter_child_nodes(statement) if not isinstance(child, ast.stmt))
        if any(name in self.of(head) for head in heads):
            return ()
        blocks = [block for block in (statement.body, statement.orelse) if self.users(block, name)]
        return blocks[0] if len(blocks) == 1 else ()

    def begins(self, block: Sequence[ast.stmt], name: str) -> bool:
        """Whether a name has a value from this block alone: the first statement that speaks of it gives it one."""
        first, *others = self.users(block, name)
        if isinstance(first, ast.Assign):
            is_given = any(isinstance(target, ast.Name) and target.id == name for target in first.targets)
            return is_given and name not in self.of(first.value)
        inner = self.inner(first, name)
        return not others and bool(inner) and self.begins(inner, name)

    def home(self, body: Sequence[ast.stmt], name: str) -> Sequence[ast.stmt]:
        """Return the innermost block that all that speaks of a name is in, if it has its value from there.

        A name that lives from round to round of a loop is at home in a block around that loop.
        """
        users = self.users(body, name)
        while len(users) == 1 and (inner := self.inner(users[0], name)) and self.begins(inner, name):
            body, users = inner, self.users(inner, name)
        return body
