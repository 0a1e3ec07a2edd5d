"""Evaluates recurrences of a syntax tree step by step: each equation fills its place of an array.

States and quantities are arrays of NaN that the equations fill, in an order found at each step from what is still
missing. Nodes of recurrences are not used.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from matcalc.errors import NoReference
from matcalc.evidence.written.call_forms import is_other
from matcalc.evidence.written.evaluator import Evaluator, Scope, Steps
from matcalc.evidence.written.plain_forms import as_integer
from matcalc.evidence.written.values import Array, Value, exact
from matcalc.language.index_sums import with_sums
from matcalc.language.recurrences import (
    bound_in,
    defined_in,
    index_of,
    is_over,
    limit_of,
    listed_of,
    names_in,
    system_of,
)
from matcalc.language.syntax import Ast, add, number, rebuild, walk
from matcalc.language.write import text

Table = dict[str, Array]


def state_value(at: Evaluator, tree: Ast, scope: Scope) -> Steps:
    """Evaluate a state or a quantity as a whole."""
    found = yield from _table(at, system_of(tree), scope)
    return Value(found[str(tree.value)])


def step_sum_value(at: Evaluator, tree: Ast, scope: Scope) -> Steps:
    """Evaluate a sum over the steps of a recurrence."""
    system = system_of(tree)
    found = yield from _table(at, system, scope)
    if not scope.is_base and _takes_base(at, tree.args[1]):
        yield from _table(at, system, Scope(is_base=True))
    count = at.steps[system, scope.is_base]
    total: Any = 0.0
    for step in range(count):
        inner = _scope_of_step(system, found, step, _with_base(at, system, scope))
        value = yield tree.args[1], inner
        total = total + value.array
    if not count:
        raise NoReference("a sum over no steps")
    return Value(np.asarray(total))


def inner_value(at: Evaluator, tree: Ast, scope: Scope) -> Steps:
    """Evaluate a formula with recurrences of its own, which may read the step around."""
    formula, *missing = tree.args
    while missing:
        names = frozenset().union(*map(defined_in, missing))
        system = next((s for s in missing if names_in(s).isdisjoint(names - defined_in(s))), missing[0])
        missing.remove(system)
        count = yield from _count(at, system, scope)
        if count < 0:
            raise IndexError("a negative number of steps")
        if not scope.is_base and _takes_base(at, tree):
            scope = _with_unmoved(scope, (yield from _filled(at, system, count, scope.at_base())))
        found = yield from _filled(at, system, count, scope)
        scope = replace(scope, parameters={**scope.parameters, **{k: Value(v) for k, v in found.items()}})
        formula = _over_steps(formula, system, count)
    value: Value = yield formula, scope
    return value


def _over_steps(formula: Ast, system: Ast, count: int) -> Ast:
    """Return a formula in which sums over the steps of a system are written out.

    Raises: NoReference for a sum over no steps, whose shape is not known.
    """
    index = index_of(system)

    def change(node: Ast) -> Ast:
        if not is_over(node, [index]):
            return node
        if not count or listed_of(node) != (index,):
            raise NoReference("a sum over the steps of a recurrence in a step")
        return add([_at(node.args[0], index, step) for step in range(count)], [1] * count)

    return rebuild(formula, change)


def _at(tree: Ast, index: str, step: int) -> Ast:
    return rebuild(tree, lambda node: number(step) if node.head == "name" and node.value == index else node)


def _takes_base(at: Evaluator, tree: Ast) -> bool:
    """Whether a tree has a call that may take arguments at unmoved data."""
    return any(node.head == "call" and is_other(node, at.book) for node in walk(tree))


def _with_base(at: Evaluator, system: Ast, scope: Scope) -> Scope:
    """Return a scope with the states of a system at unmoved data, if these have been evaluated."""
    return _with_unmoved(scope, {} if scope.is_base else at.tables.get((system, True), {}))


def _with_unmoved(scope: Scope, states: Table) -> Scope:
    return replace(scope, unmoved={**scope.unmoved, **{name: Value(array) for name, array in states.items()}})


def _scope_of_step(system: Ast, found: Mapping[str, Array], step: int, scope: Scope) -> Scope:
    own = {name: Value(array) for name, array in found.items()}
    return replace(scope, parameters={**scope.parameters, **own, index_of(system): exact(step)})


def _table(at: Evaluator, system: Ast, scope: Scope) -> Generator[tuple[Ast, Scope], Any, Table]:
    """Return the arrays of all names of a system, evaluated once."""
    key = system, scope.is_base
    if key not in at.tables:
        outer = Scope(is_base=scope.is_base)
        at.steps[key] = count = yield from _count(at, system, outer)
        if count < 0:
            raise IndexError("a negative number of steps")
        if not scope.is_base and _takes_base(at, system):
            yield from _table(at, system, Scope(is_base=True))
        at.tables[key] = yield from _filled(at, system, count, _with_base(at, system, outer))
    return at.tables[key]


def _count(at: Evaluator, system: Ast, scope: Scope) -> Generator[tuple[Ast, Scope], Any, int]:
    """Return the number of steps: the limit, the position of an end, or what a sequence leaves."""
    limit = limit_of(system)
    index = index_of(system)
    if limit is not None:
        return as_integer((yield limit, scope))
    steps = [equation for equation in system.args[1:] if index in names_in(equation.args[0])]
    down = {str(equation.value) for equation in steps if equation.args[0].head == "name"}
    ends = [e.args[0] for e in system.args[1:] if e not in steps and e.value in down]
    if ends:
        found = []
        for end in ends:
            found.append(as_integer((yield end, scope)))
        return min(found)
    for node in (node for equation in steps for node in walk(equation.args[1])):
        at_step = [k for k, one in enumerate(node.args[1:]) if node.head == "part" and index in names_in(one)]
        if at_step and not names_in(node.args[0]) & bound_in(system):
            base = yield node.args[0], scope
            first = yield node.args[1 + at_step[0]], replace(scope, parameters={index: exact(0)})
            return int(base.shape[at_step[0]]) - as_integer(first)
    raise NoReference("a recurrence whose number of steps follows only from its context")


def _filled(at: Evaluator, system: Ast, count: int, scope: Scope) -> Generator[tuple[Ast, Scope], Any, Table]:
    index = index_of(system)
    steps = [equation for equation in system.args[1:] if index in names_in(equation.args[0])]
    found: Table = {}
    lengths = {str(equation.value): count for equation in steps}
    starts: list[tuple[str, int, Array]] = []
    for equation in system.args[1:]:
        if equation not in steps:
            position = as_integer((yield equation.args[0], scope))
            value = yield _explicit(at, system, equation.args[1]), scope
            if value.axes:
                raise NoReference("a recurrence at several steps along a direction")
            starts.append((str(equation.value), position, value.array))
            lengths[str(equation.value)] += 1
    for name, position, array in starts:
        _fill(found, name, lengths[name], position, array)
    down = any(e.args[0].head == "name" and str(e.value) in found for e in steps)
    for step in reversed(range(count)) if down else range(count):
        missing = list(steps)
        while missing:
            equation = next(e for e in missing if not _reads(e, missing))
            missing.remove(equation)
            inner = _scope_of_step(system, found, step, scope)
            position = as_integer((yield equation.args[0], inner))
            value = yield _explicit(at, system, equation.args[1]), inner
            name = str(equation.value)
            if value.axes:
                raise NoReference("a recurrence at several steps along a direction")
            _fill(found, name, lengths[name], position, value.array)
    if not set(lengths) <= set(found):
        raise NoReference("a quantity of no steps")
    return found


def _fill(found: Table, name: str, length: int, position: int, array: Array) -> None:
    """Set an entry of the array of a name, which becomes complex with its first complex entry."""
    whole = found[name] if name in found else np.full((length, *array.shape), np.nan)
    found[name] = whole = whole.astype(np.result_type(whole, array), copy=False)
    whole[position] = array


def _reads(equation: Ast, missing: list[Ast]) -> bool:
    """Whether an equation reads a value that another one defines at the same step."""
    defined = {(str(e.value), text(e.args[0])) for e in missing}
    read = {
        (str(node.args[0].value), text(node.args[1]))
        for node in walk(equation.args[1])
        if node.head == "part" and node.args[0].head == "name"
    }
    return not defined.isdisjoint(read)


def _explicit(at: Evaluator, system: Ast, tree: Ast) -> Ast:
    """Return the right side of an equation with explicit sums over indices, the same tree at each step."""
    if tree not in at.explicit:
        bound = bound_in(system)
        at.explicit[tree] = with_sums(
            tree, lambda word: word not in at.data and word not in at.sizes and word not in bound
        )
    return at.explicit[tree]
