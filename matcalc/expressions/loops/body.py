"""Finds what the body of a loop does: the names that it binds, writes and appends to, and what no recurrence does."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

OWN = "__matcalc_"
"""The first characters of names in rewritten code; no user's name begins so."""
SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_REFUSED: dict[type[ast.AST], str] = {
    ast.Return: "returns inside", ast.Yield: "yields inside", ast.YieldFrom: "yields inside",
    ast.Try: "has a try inside",
    ast.With: "has a with inside", ast.Import: "imports inside", ast.ImportFrom: "imports inside",
    ast.Global: "binds a global name", ast.Nonlocal: "binds a name of another function", ast.Delete: "deletes a name",
    ast.FunctionDef: "defines a function inside", ast.ClassDef: "defines a class inside", ast.Await: "awaits inside",
    ast.Match: "has a match inside",
}  # fmt: skip
_CHANGING = frozenset(
    ("append", "extend", "insert", "remove", "pop", "clear", "sort", "reverse", "update", "add", "setdefault",
     "discard", "popleft", "appendleft", "fill", "put", "popitem", "write")
)  # fmt: skip
"""Methods that change the object."""
BOTH = "changes {} in place and binds it"
"""What a loop does with an array that has other names after it."""


class Body(NamedTuple):
    """The names that a loop binds or writes, lists to which it appends, names that it only changes in place, names that
    it changes in place and binds, names that it writes by subscripts, and names that it reads."""

    names: tuple[str, ...]
    lists: tuple[str, ...]
    in_place: tuple[str, ...]
    rebound: tuple[str, ...]
    written: tuple[str, ...]
    reads: tuple[str, ...]


def body_of(node: ast.For) -> Body:
    """Return what a loop does."""
    bound, lists, written = _bound_names(node), _appended(node), _written_names(node)
    changed = {name for name in bound if all(isinstance(one, ast.AugAssign) for one in _stores(node, name))}
    names = bound | written
    reads = {x.id for x in ast.walk(node) if isinstance(x, ast.Name) and isinstance(x.ctx, ast.Load)}
    rebound = {name for name in bound - changed if isinstance(_changes(node, name)[0], ast.AugAssign)}
    kinds = (names, lists - names, changed | (written - bound), rebound, written - bound, reads)
    return Body(*(tuple(sorted(one)) for one in kinds))


def _inside(nodes: Sequence[ast.AST]) -> Iterator[ast.AST]:
    """Yield nodes without the bodies of inner functions."""
    stack = list(nodes)
    while stack:
        node = stack.pop()
        yield node
        if not isinstance(node, SCOPES):
            stack.extend(ast.iter_child_nodes(node))


def _bound_names(node: ast.For) -> set[str]:
    """Return the names that the body of a loop and its target bind, without those inside comprehensions."""
    found: set[str] = set()
    stack: list[ast.AST] = [node.target, *node.body]
    while stack:
        one = stack.pop()
        if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store):
            found.add(one.id)
        if isinstance(one, COMPREHENSIONS):
            found |= {x.target.id for x in ast.walk(one) if isinstance(x, ast.NamedExpr)}
        elif not isinstance(one, SCOPES):
            stack.extend(ast.iter_child_nodes(one))
    return found


def _appended(node: ast.For) -> set[str]:
    """Return the names of lists to which the body appends."""
    calls = [one.value for one in _inside(node.body) if isinstance(one, ast.Expr) and isinstance(one.value, ast.Call)]
    return {str(name) for call in calls if (name := _list_of(call))}


def _list_of(call: ast.Call) -> str:
    """Return the name of the list to which a call appends, "" for another call."""
    own = call.func
    is_append = isinstance(own, ast.Attribute) and own.attr == "append" and isinstance(own.value, ast.Name)
    return own.value.id if is_append else ""  # type: ignore[attr-defined]


def reason_of(node: ast.For, function: ast.AST) -> str:
    """Return why a loop cannot be read as a recurrence, with its line; "" if it can."""
    if node.orelse:
        return f"line {node.orelse[0].lineno}: the loop has an else"
    local = _bound_names(node)
    for one in leaving(node.body, ast.Break):
        return f"line {one.lineno}: the loop leaves a step by break"
    for name in sorted(local):
        stores = _changes(node, name)
        is_changed = [isinstance(one, (ast.AugAssign, ast.Subscript)) for one in stores]
        if is_changed and is_changed[0] and not all(is_changed) and _writes(node, name):
            return f"line {stores[0].lineno}: the loop {BOTH.format(name)}"  # type: ignore[attr-defined]
    written = _written_names(node) - local
    own_names = _own_names(function)
    for name in sorted(written - own_names):
        line = min(one.lineno for one in _writes(node, name))
        return f"line {line}: the loop writes to {name}, which belongs to another function"
    local |= written
    for inner in _inside(node.body):
        reason = _refused(inner, local)
        if reason:
            return f"line {getattr(inner, 'lineno', node.lineno)}: the loop {reason}"
    own = set(map(id, ast.walk(node)))
    for other in ast.walk(function):
        is_inner = isinstance(other, (ast.FunctionDef, ast.Lambda)) and id(other) not in own and other is not function
        if is_inner and not _is_rewritten(other):
            read = {x.id for x in ast.walk(other) if isinstance(x, ast.Name)} & (local | _appended(node))
            if read - {x.arg for x in ast.walk(other) if isinstance(x, ast.arg)}:
                line = getattr(other, "lineno", node.lineno)
                return f"line {line}: an inner function reads {min(read)}, which the loop changes"
    return ""


def _is_rewritten(function: ast.AST) -> bool:
    """Whether a function is the step of a loop that has been rewritten."""
    arguments = {x.arg for x in ast.walk(function.args) if isinstance(x, ast.arg)}  # type: ignore[attr-defined]
    return any(name.startswith(OWN) for name in arguments)


def _stores(node: ast.For, name: str) -> list[ast.AST]:
    """Return the nodes of a loop that bind a name, in their order; a change in place is its statement."""
    inside = list(_inside([node.target, *node.body]))
    changes = [one for one in inside if isinstance(one, ast.AugAssign) and isinstance(one.target, ast.Name)]
    targets = {id(one.target): one for one in changes}
    names = [one for one in inside if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store) and one.id == name]
    return [targets.get(id(one), one) for one in sorted(names, key=lambda one: (one.lineno, one.col_offset))]


def _changes(node: ast.For, name: str) -> list[ast.AST]:
    """Return the nodes of a loop that bind a name or write to it, in their order."""
    return sorted([*_stores(node, name), *_writes(node, name)], key=_position)


def _position(node: Any) -> tuple[int, int]:
    return node.lineno, node.col_offset


def _writes(node: ast.For, name: str = "") -> list[ast.Subscript]:
    """Return the subscripts of a name, or of all names, to which a loop writes."""
    inside = [one for one in _inside(node.body) if isinstance(one, ast.Subscript) and isinstance(one.ctx, ast.Store)]
    return [one for one in inside if (base := _base_name(one)) and base == (name or base)]


def _base_name(node: ast.AST) -> str:
    """Return the name of the array whose subscripts a node has; "" for an attribute or a value."""
    while isinstance(node, ast.Subscript):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""


def _written_names(node: ast.For) -> set[str]:
    """Return the names of arrays to whose entries a loop writes."""
    return {_base_name(one) for one in _writes(node)}


def _own_names(function: ast.AST) -> set[str]:
    """Return the parameters of a function and the names that it binds."""
    found = {x.arg for x in ast.walk(function.args) if isinstance(x, ast.arg)}  # type: ignore[attr-defined]
    inside = _inside(function.body)  # type: ignore[attr-defined]
    return found | {x.id for x in inside if isinstance(x, ast.Name) and isinstance(x.ctx, ast.Store)}


def leaving(body: Sequence[ast.stmt], kind: type[ast.stmt]) -> Iterator[ast.stmt]:
    """Yield the statements of a kind that leave a step of this loop, not those of inner loops."""
    stack: list[ast.AST] = list(body)
    while stack:
        one = stack.pop()
        if isinstance(one, kind):
            yield one
        if not isinstance(one, (ast.For, ast.While, *SCOPES)):
            stack.extend(ast.iter_child_nodes(one))


def _refused(one: ast.AST, local: set[str]) -> str:
    """Return what a node does that a recurrence cannot; "" if it is allowed."""
    if type(one) in _REFUSED:
        return _REFUSED[type(one)]
    is_store = isinstance(one, (ast.Subscript, ast.Attribute)) and isinstance(one.ctx, ast.Store)
    if is_store and _base_name(one) not in local:
        return f"writes to {ast.unparse(one)}"
    if isinstance(one, ast.Expr) and isinstance(one.value, ast.Call) and not _list_of(one.value):
        return f"calls {ast.unparse(one.value.func)} for its effect"
    if isinstance(one, ast.Call) and isinstance(one.func, ast.Attribute) and one.func.attr in _CHANGING:
        base = one.func.value
        is_local = isinstance(base, ast.Name) and base.id in local
        if not is_local and not _list_of(one):
            return f"changes {ast.unparse(base)} by {one.func.attr}"
    if isinstance(one, ast.Call) and any(word.arg == "out" for word in one.keywords):
        return f"calls {ast.unparse(one.func)} with the argument out"
    if isinstance(one, ast.Call) and isinstance(one.func, ast.Name) and one.func.id in ("next", "print", "input"):
        return f"calls {one.func.id}"
    return ""
