"""Where the names of a function stand: which statement declares each in C, and which blocks see it.

A name of Python lives in the whole function. In C it is declared where it is first given a value, if all that speaks of
it is in that block; in its loop, if it counts nothing else; and at the top of the function otherwise.
"""

from __future__ import annotations

import ast

from matcalc.compiler.files.c_expressions import refused


class Places:
    """Where the names of a function stand: which statement declares each in C."""

    def __init__(self, node: ast.FunctionDef) -> None:
        self.given = [a.arg for a in node.args.args]
        self.names: dict[str, None] = dict.fromkeys(self.given)
        self.read: set[str] = set()
        self.called: set[str] = set()
        self.declared: dict[str, ast.stmt] = {}
        self.in_loops: set[str] = set()
        self.shapes: dict[str, ast.expr] = {}
        self._seen: dict[str, list[tuple[tuple[int, ...], ast.stmt, bool, tuple[str, ...]]]] = {}
        self._walk(node.body, (), ())
        for name, seen in self._seen.items():
            if name in self.names and name not in self.given:
                self._place(name, seen)
        self.at_top = {
            n for n in self.names if n not in self.given and n not in self.declared and n not in self.in_loops
        }

    def _walk(self, body: list[ast.stmt], path: tuple[int, ...], loops: tuple[str, ...]) -> None:
        here = (*path, id(body))
        for statement in body:
            inside = loops
            parts: list[ast.AST] = []
            if isinstance(statement, ast.For):
                parts = [statement.iter]
                if isinstance(statement.target, ast.Name):
                    self.names.setdefault(statement.target.id)
                    inside = (*loops, statement.target.id)
                    self._note(statement.target.id, here, statement, False, inside)
            elif isinstance(statement, (ast.If, ast.While)):
                parts = [statement.test]
            elif isinstance(statement, ast.Assign):
                self._shape(statement)
                parts = [statement.value, *statement.targets]
            elif isinstance(statement, ast.AugAssign):
                parts = [statement.value, statement.target]
                if isinstance(statement.target, ast.Name):
                    self._note(statement.target.id, here, statement, False, loops)
            else:
                parts = [statement]
            for part in parts:
                for found in ast.walk(part):
                    if isinstance(found, ast.Name):
                        self._name(found, here, statement, loops)
                    elif isinstance(found, ast.Call) and isinstance(found.func, ast.Name):
                        self.called.add(found.func.id)
            for block in ("body", "orelse"):
                inner = getattr(statement, block, None)
                if inner:
                    self._walk(inner, here, inside)

    def _shape(self, statement: ast.Assign) -> None:
        target, value = statement.targets[0], statement.value
        is_shape = isinstance(value, ast.Attribute) and value.attr == "shape"
        if isinstance(target, ast.Name) and (is_shape or isinstance(value, ast.Tuple)):
            if target.id in self.shapes and ast.dump(self.shapes[target.id]) != ast.dump(value):
                raise refused(statement)
            self.shapes[target.id] = value

    def _name(self, found: ast.Name, here: tuple[int, ...], statement: ast.stmt, loops: tuple[str, ...]) -> None:
        is_set = isinstance(found.ctx, ast.Store)
        if is_set and found.id not in self.shapes:
            self.names.setdefault(found.id)
        if not is_set:
            self.read.add(found.id)
        self._note(found.id, here, statement, is_set, loops)

    def _note(
        self, name: str, here: tuple[int, ...], statement: ast.stmt, is_set: bool, loops: tuple[str, ...]
    ) -> None:
        self._seen.setdefault(name, []).append((here, statement, is_set, loops))

    def _place(self, name: str, seen: list[tuple[tuple[int, ...], ast.stmt, bool, tuple[str, ...]]]) -> None:
        if all(name in loops for _, _, _, loops in seen):
            self.in_loops.add(name)
            return
        path, statement, is_set, _ = seen[0]
        is_first = is_set and isinstance(statement, ast.Assign)
        if is_first and all(other[: len(path)] == path for other, _, _, _ in seen):
            self.declared[name] = statement

    def written_in(self, body: list[ast.stmt]) -> set[str]:
        """Return the names that a block gives values."""
        nodes = [n for statement in body for n in ast.walk(statement) if isinstance(n, ast.Name)]
        return {n.id for n in nodes if isinstance(n.ctx, ast.Store)}
