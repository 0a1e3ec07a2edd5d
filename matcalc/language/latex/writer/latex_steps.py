r"""Writes recurrences in LaTeX: `\mathbf{x}_{t+1} = \mathbf{A} \mathbf{x}_{t}`, behind the formula.

Steps and states count from 0, as the equations of a recurrence do, and with them the axes that are read at steps. Other
subscripts count from 1.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import cast

from matcalc.language.latex.layout.latex_names import symbol
from matcalc.language.latex.writer.latex_templates import ATOM, PRODUCT, Look, Scope, at
from matcalc.language.one_based import END, added, counted
from matcalc.language.recurrences import STATE, SYSTEM, bound_in, limit_of, names_in, system_of
from matcalc.language.syntax import Ast, definition, parts_in, whole

Looks = Callable[[Ast, Scope], Look]


def with_equations(ast: Ast, scope: Scope, look: Looks) -> str:
    r"""Return a formula and its equations: `c^\top x_{T} \quad\text{where } x_{0} = b, ..., t < T`."""
    indices = frozenset(str(tree.value) for tree in whole(ast) if tree.head == SYSTEM)
    scope = replace(scope, step_indices=indices, from_zero=_read_at_steps(ast, indices))
    rows: list[str] = []
    limits: dict[str, None] = {}
    for part in parts_in(ast):
        tree = definition(part)
        if tree.head != SYSTEM:
            rows.append(f"{symbol(scope.parts[tree], scope.kinds)} = {look(tree, scope).text}")
            continue
        limit, *equations = tree.args
        inner = replace(scope, steps=scope.steps | bound_in(tree), bound=scope.bound | {str(tree.value)})
        for equation in equations:
            subscript, right = (look(arg, inner).text for arg in equation.args)
            left = f"{_base(str(equation.value), scope)}_{{{subscript.replace(' ', '')}}}"
            rows += [f"{left} = {right}"] if left != right else []  # a start x0 of the state x
        if limit.head != "empty":
            limits[rf"{tree.value} < {look(limit, scope).text}"] = None
    return rf"{look(ast, scope).text} \quad\text{{where }} " + r",\; ".join([*rows, *limits])


def _read_at_steps(ast: Ast, indices: frozenset[str]) -> frozenset[tuple[str, int]]:
    """Return the names and axes that have a step index as a subscript; a name is "" for other formulas."""
    return frozenset(
        (str(tree.args[0].value) if tree.args[0].head == "name" else "", k)
        for tree in whole(ast) if tree.head == "part"
        for k, subscript in enumerate(tree.args[1:]) if indices & names_in(subscript)
    )  # fmt: skip


def subscripts(node: Ast, shape: Sequence[str], scope: Scope) -> list[Ast]:
    """Return the subscripts of a part as LaTeX counts them: from 1, or from 0 along axes that are read at steps."""
    base, own = node.args[0], node.args[1:]
    found = counted(own, shape, scope.bound, scope.kinds)
    name = str(base.value) if base.head == "name" else ""
    for k, subscript in enumerate(own):
        if (name, k) in scope.from_zero and (name or scope.step_indices & names_in(subscript)):
            found[k] = _from_zero(subscript, found[k], scope)
    return found


def _from_zero(subscript: Ast, counted_: Ast, scope: Scope) -> Ast:
    if subscript.head != "slice":
        return subscript if scope.step_indices & names_in(subscript) else added(counted_, -1)
    start, stop, step = counted_.args
    low, high = (x if x.head == "empty" else added(x, -1) for x in (start, stop))
    return Ast("slice", (low, high, step), None, counted_.span, counted_.at)


def state(node: Ast, scope: Scope) -> Look:
    """Return a state as a whole, by its name."""
    name = str(node.value)
    kinds = ("scalar", "vector", "matrix", "tensor", "tensor")
    kind = scope.kinds.get(name, "tensor")
    return Look(symbol(name, scope.kinds), ATOM, kinds[kinds.index(kind) + 1])


def step_sum(node: Ast, body: Look, scope: Scope, look: Looks) -> Look:
    """Return a sum over steps with its bounds."""
    limit = limit_of(system_of(node))
    over = str(node.value) if limit is None else rf"0 \le {node.value} < {look(limit, scope).text}"
    return Look(rf"\sum_{{{over}}} {at(body, PRODUCT)}", PRODUCT, body.kind)


def part_of_state(node: Ast, scope: Scope, look: Looks) -> Look | None:
    """Return a state at a step, `x_{t+1}`, or a range of steps, both ends included; None for a part of another tree."""
    base, (first, *rest) = node.args[0], node.args[1:]
    if base.head != STATE and not (base.head == "name" and base.value in scope.steps):
        return None
    if first.head == "slice" and (base.head != STATE or first.args[2].head != "empty"):
        return None
    name = str(base.value)
    shown = _range(base, first, scope, look) if first.head == "slice" else look(_step(first, scope), scope).text
    below = [look(x, scope).text for x in counted(rest, (), scope.bound, scope.kinds)]
    kind = scope.kinds.get(name, "scalar")
    rank = ("scalar", "vector", "matrix", "tensor").index(kind) + (first.head == "slice") - len(below)
    kind = ("scalar", "vector", "matrix", "tensor")[max(min(rank, 3), 0)]
    return Look(f"{_base(name, scope)}_{{{','.join([shown.replace(' ', ''), *below])}}}", ATOM, kind)


def _step(subscript: Ast, scope: Scope) -> Ast:
    """Return the step of a state as LaTeX counts it, from 0; other indices than those of steps count from 1."""
    if scope.step_indices & names_in(subscript):
        return subscript
    (from_one,) = counted([subscript], (), scope.bound)
    return from_one if END in names_in(from_one) else added(from_one, -1)


def _base(name: str, scope: Scope) -> str:
    """Return the LaTeX of a name that gets a further subscript."""
    text = symbol(name, scope.kinds)
    return f"{{{text}}}" if "_" in text else text


def _range(base: Ast, part: Ast, scope: Scope, look: Looks) -> str:
    start, stop, _ = part.args
    system = system_of(base)
    own = [equation for equation in system.args[1:] if equation.value == base.value]
    last, limit = len(own) - 2, limit_of(system)
    first = "0" if start.head == "empty" else look(start, scope).text
    if stop.head == "number":
        value = cast(Fraction, stop.value) - 1
        if value >= 0:
            return f"{first}:{value}"
        last += int(value) + 1
    elif stop.head == "negative" and stop.args[0].head == "number":
        last -= int(cast(Fraction, stop.args[0].value))
    elif stop.head != "empty":
        return f"{first}:{look(added(stop, -1), scope).text}"
    if limit is None:
        return f"{first}:" if stop.head == "empty" else rf"{first}:\mathrm{{end}} - {-last - 1}"
    return f"{first}:{look(added(limit, last), scope).text}"
