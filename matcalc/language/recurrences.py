"""Reads recurrences: `x[T] where x[0] = x0, x[t+1] = A*x[t] + B*U[t, :], t < T`.

Equations with one step index are one system. Its tree is `system`: the limit of the index (or `empty`), then an
`equation` for each subscripted name, with subscript and right side. A name of the system is the tree `state` around the
shared system wherever it occurs outside. A sum over the step index is a `step_sum`: it runs over the steps.

A recurrence in a step, `x[t+1] = (y[S] where y[0] = x[t], y[s+1] = A*y[s], s < S)`, is the tree `inner_where`: the
formula, then its systems. It binds the names of these systems, which its operands read by their names.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, NamedTuple, cast

from matcalc.errors import ParseError
from matcalc.language.syntax import Ast, definition, same, shared, walk
from matcalc.language.token_names import identifier

SYSTEM, EQUATION, STATE, STEP_SUM = "system", "equation", "state", "step_sum"
INNER = "inner_where"
EMPTY = Ast("empty")


class Line(NamedTuple):
    """A line of a recurrence: an equation for `name` at a subscript, or the limit of the index `name`."""

    name: str
    at: int
    subscript: Ast | None
    right: Ast


def indices_of(lines: Sequence[Line]) -> set[str]:
    """Return the step indices of lines: names with a limit, and names that count steps on both sides of an equation."""
    limited = {line.name for line in lines if line.subscript is None}
    lengths = set().union(*(names_in(line.right) for line in lines if line.subscript is None))
    steps = [line for line in lines if line.subscript is not None and not limited & names_in(line.subscript)]
    read = [names_in(cast(Ast, line.subscript)) & _subscripting(line.right) - lengths for line in steps]
    stepped = {line.name for line, names in zip(steps, read, strict=True) if names}
    others = [line.subscript for line in steps if line.name not in stepped]  # else x[T+1] is an end
    return limited.union(*read, *(names_in(one) - lengths for one in others if one is not None and one.head == "sum"))


def names_in(tree: Ast) -> set[str]:
    """Return the names in a tree."""
    return {str(node.value) for node in walk(tree) if node.head == "name"}


def _subscripting(tree: Ast) -> set[str]:
    parts = (node for node in walk(tree) if node.head == "part")
    return set().union(*(names_in(subscript) for part in parts for subscript in part.args[1:]))


def systems_of(lines: Sequence[Line]) -> list[Ast]:
    """Return the systems of lines: names that need each other, after the systems that they read.

    Raises: ParseError for a start without a step, a limit without a step, or a name with two indices.
    """
    indices = indices_of(lines)
    index_of: dict[str, str] = {}
    for line in lines:
        own = sorted(indices & names_in(line.subscript)) if line.subscript is not None else []
        if own and index_of.setdefault(line.name, own[0]) != own[0]:
            hint = "write the number of steps, as in  t < T"
            raise ParseError(
                f"'{line.name}' has steps over {index_of[line.name]} and over {own[0]}", at=line.at, hint=hint
            )
    for line in lines:
        if line.subscript is not None and line.name not in index_of:
            hint = f"add its step, as in  {line.name}[t+1] = A*{line.name}[t], t < T"
            raise ParseError(f"'{line.name}' has a start and no step", at=line.at, hint=hint)
    idle = next((line for line in lines if line.subscript is None and line.name not in index_of.values()), None)
    if idle is not None:
        raise ParseError(f"no equation has the step index '{idle.name}'", at=idle.at)
    found: list[Ast] = []
    for index in dict.fromkeys(index_of[line.name] for line in lines if line.subscript is not None):
        limit = _limit(index, [line for line in lines if line.subscript is None and line.name == index])
        steps = [line for line in lines if line.subscript is not None and index_of[line.name] == index]
        at = next((line.at for line in steps if line.name == index), None)
        if at is not None:
            raise ParseError(f"'{index}' is the step index and a state", at=at)
        found += [_system(index, limit, part) for part in (_components(steps) if limit is not EMPTY else [steps])]
    return found


def _limit(index: str, limits: Sequence[Line]) -> Ast:
    """Return the limit of an index, written once or several times."""
    for other in limits[1:]:
        if not same(other.right, limits[0].right):
            raise ParseError(f"the index '{index}' has two limits", at=other.at)
    return limits[0].right if limits else EMPTY


def _system(index: str, limit: Ast, lines: Sequence[Line]) -> Ast:
    equations = [
        Ast(EQUATION, (cast(Ast, line.subscript), line.right), line.name, (line.at, line.right.span[1]), line.at)
        for line in lines
    ]
    return Ast(SYSTEM, (limit, *equations), index, (lines[0].at, lines[-1].right.span[1]), lines[0].at)


def _components(lines: Sequence[Line]) -> list[list[Line]]:
    """Return the lines of names that need each other, each group after the groups that it reads."""
    names = dict.fromkeys(line.name for line in lines)
    reached = {name: {name} for name in names}
    for line in lines:
        reached[line.name] |= names_in(line.right) & names.keys()
    for middle in names:
        for name in names:
            if middle in reached[name]:
                reached[name] |= reached[middle]
    done: set[str] = set()
    found: list[list[Line]] = []
    while len(done) < len(names):
        name = next(n for n in names if n not in done and all(o in done or n in reached[o] for o in reached[n]))
        group = {other for other in reached[name] if name in reached[other]}
        done |= group
        found.append([line for line in lines if line.name in group])
    return found


def state(name: str, system: Ast, span: tuple[int, int] = (0, 0)) -> Ast:
    """Return the tree of a name of a system, outside the system."""
    return Ast(STATE, (shared(index_of(system), system),), name, span)


def step_sum(system: Ast, body: Ast, span: tuple[int, int] = (0, 0)) -> Ast:
    """Return the sum of a tree over the steps of a system."""
    return Ast(STEP_SUM, (shared(index_of(system), system), body), index_of(system), span)


def system_of(tree: Ast) -> Ast:
    """Return the system of a state or of a sum over steps."""
    inner = tree.args[0]
    return definition(inner) if inner.head == "shared" else inner


def index_of(system: Ast) -> str:
    """Return the step index of a system."""
    return str(system.value)


def limit_of(system: Ast) -> Ast | None:
    """Return the number of steps as written; None if it is not."""
    return None if system.args[0].head == "empty" else system.args[0]


def bound_in(system: Ast) -> frozenset[str]:
    """Return the names that a system binds: its index and the left sides of its equations."""
    return defined_in(system) | {index_of(system)}


def defined_in(system: Ast) -> frozenset[str]:
    """Return the left sides of the equations of a system."""
    return frozenset(str(equation.value) for equation in system.args[1:])


def bound_by(tree: Ast) -> frozenset[str]:
    """Return the step index and names that a tree binds in its operands."""
    if tree.head == SYSTEM:
        return bound_in(tree)
    if tree.head == INNER:
        return frozenset().union(*map(defined_in, tree.args[1:]))
    return frozenset([str(tree.value)]) if tree.head == STEP_SUM else frozenset()


def listed_of(form: Ast) -> tuple[str, ...]:
    """Return the indices that an index form or a sum over indices lists."""
    return cast("tuple[str, ...]", form.value)


def is_over(tree: Ast, indices: Collection[str]) -> bool:
    """Whether a tree is a sum over one of these step indices."""
    return tree.head == "index_sum" and not set(indices).isdisjoint(listed_of(tree))


def read_equation(children: list[Any]) -> Line:
    """Return an equation behind an inner `where`.

    Raises: ParseError for anything but one subscript.
    """
    token, right = children[0], children[-1]
    subscripts = children[2] if len(children) > 3 else []
    if len(subscripts) != 1 or subscripts[0].head == "slice":
        hint = "write one step, as in  y[s+1] = A*y[s];  name other parts behind the whole formula"
        raise ParseError(f"'{token}' is not defined at a step", at=token.start_pos, hint=hint)
    return Line(identifier(token), token.start_pos, subscripts[0], right)


def read_limit(children: list[Any]) -> Line:
    """Return the limit of the index behind an inner `where`."""
    token, relation, right = children
    if relation != "<":
        raise ParseError(f"a limit has the sign <, not {relation}", at=relation.start_pos, hint=f"write {token} < S")
    return Line(identifier(token), token.start_pos, None, right)


def read_inner(children: list[Any]) -> Ast:
    """Return a formula in parentheses with its own recurrences."""
    opening, formula, where, lines, closing = children
    return Ast(INNER, (formula, *systems_of(lines)), None, (opening.start_pos, closing.end_pos), where.start_pos)
