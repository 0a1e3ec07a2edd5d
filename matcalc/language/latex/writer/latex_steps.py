r"""Writes recurrences in LaTeX: `\mathbf{x}_{t+1} = \mathbf{A} \mathbf{x}_{t}`, behind the formula.

Steps and states count from 0, as the equations of a recurrence do, and with them the axes that are read at steps. Other
subscripts count from 1.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import cast

from matcalc.errors import NotSupported
from matcalc.language.latex.layout.latex_names import symbol
from matcalc.language.latex.writer.latex_templates import ATOM, PRODUCT, SUM, Look, Scope, at
from matcalc.language.one_based import END, added, counted
from matcalc.language.recurrences import (
    STATE,
    SYSTEM,
    bound_in,
    defined_in,
    index_of,
    is_over,
    limit_of,
    names_in,
    system_of,
)
from matcalc.language.syntax import Ast, definition, parts_in, walk, whole

Looks = Callable[[Ast, Scope], Look]

WHERE, SEPARATOR = r"\quad\text{where }", r",\; "


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
        shown = (look(equation, inside(tree, scope)).text for equation in equations)
        rows += filter(None, shown)
        if limit.head != "empty":
            limits[rf"{tree.value} < {look(limit, scope).text}"] = None
    return f"{look(ast, scope).text} {WHERE} {SEPARATOR.join([*rows, *limits])}"


def inside(node: Ast, scope: Scope) -> Scope:
    """Return the scope of the operands of a system, or of a formula with its own recurrences."""
    if node.head == SYSTEM:
        return replace(scope, steps=scope.steps | bound_in(node), bound=scope.bound | {str(node.value)})
    own = {name: system for system in node.args[1:] for name in defined_in(system)}
    return replace(scope, systems={**scope.systems, **own})


def equation(node: Ast, inner: Sequence[Look], scope: Scope) -> Look:
    """Return an equation; "" for a start that is a symbol with the same look, `x0` of the state `x`."""
    subscript, right = inner
    left = f"{_base(str(node.value), scope)}_{{{subscript.text.replace(' ', '')}}}"
    return Look(f"{left} = {right.text}" if left != right.text else "", SUM)


def system(node: Ast, inner: Sequence[Look]) -> Look:
    """Return the equations of a system in one line; its argument is the limit."""
    limit, *equations = inner
    limits = [Look(f"{node.value} < {limit.text}")] if node.args[0].head != "empty" else []
    return Look(SEPARATOR.join(one.text for one in equations if one.text), SUM, arguments=tuple(limits))


def inner(node: Ast, looks: Sequence[Look]) -> Look:
    """Return a formula in parentheses with the recurrences that it alone reads.

    Raises: NotSupported for a sum over their steps, which has no bounds here.
    """
    indices = [index_of(one) for one in node.args[1:]]
    if any(is_over(one, indices) for one in walk(node.args[0])):
        raise NotSupported("a sum over the steps of a recurrence in a step is not written in LaTeX")
    formula, *systems = looks
    limits = dict.fromkeys(limit.text for one in systems for limit in one.arguments)
    rows = SEPARATOR.join([*(one.text for one in systems if one.text), *limits])
    return Look(rf"\left({formula.text} {WHERE} {rows}\right)", ATOM, formula.kind)


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
    name = str(base.value)
    own = system_of(base) if base.head == STATE else scope.systems.get(name) if base.head == "name" else None
    if own is None and not (base.head == "name" and name in scope.steps):
        return None
    if first.head == "slice" and (own is None or first.args[2].head != "empty"):
        return None
    shown = _range(name, own, first, scope, look) if first.head == "slice" else look(_step(first, scope), scope).text
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


def _range(name: str, system: Ast | None, part: Ast, scope: Scope, look: Looks) -> str:
    start, stop, _ = part.args
    assert system is not None
    own = [equation for equation in system.args[1:] if equation.value == name]
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
