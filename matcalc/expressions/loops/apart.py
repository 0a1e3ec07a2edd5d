"""Runs a step of a loop by itself. A condition on data has both answers: what the step binds and writes is a choice."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from matcalc.errors import NotSupported
from matcalc.expressions.loops.body import Body
from matcalc.expressions.loops.branches import answered, merged
from matcalc.expressions.loops.steps import ONE, SCAN, Arrays, Lost, Stepping, conditions_of, running, stepping
from matcalc.expressions.loops.writes import Unfit, Written
from matcalc.expressions.numpy_bridge.arguments import Compared, is_array
from matcalc.tensor.symbols import Names

Step = Callable[[Any, Mapping[str, Any]], Mapping[str, Any]]
"""Runs the body of a loop for an item and values of names; returns the values after it."""


def run_apart(step: Step, item: Any, values: Mapping[str, Any], body: Body, loops: Arrays) -> dict[str, Any]:
    """Return the values of names and lists after one step, which may change arrays and lists in place.

    Raises: NotSupported for a step that has conditions on data and changes other arrays.
    """
    one = Stepping(ONE, len(stepping.get()))
    own = {name: values[name] for name in (*body.in_place, *body.lists) if name in values}
    before = {name: content(value) for name, value in own.items()}
    others = [(name, one, version) for name, one in values.items() if name not in own and (version := _version(one))]
    replaced: set[str] = set()

    def run() -> dict[str, Any]:
        for name, value in own.items():
            fill(value, before[name])
        end = step(item, values)
        replaced.update(name for name, value in own.items() if end.get(name) is not value)
        return {name: content(end[name]) for name in (*body.names, *body.lists) if name in end}

    def merge(condition: Compared, yes: dict[str, Any], no: dict[str, Any]) -> dict[str, Any]:
        changed = [name for name, value, version in others if _version(value) != version]
        if changed:
            raise NotSupported(f"a step changes {changed[0]} under a condition by another name", hint=SCAN)
        return {name: _chosen(name, condition, yes[name], no[name], own, loops) for name in yes if name in no}

    with running(one):
        found: dict[str, Any] = answered(one, run, merge)
    for name, value in own.items():
        if name in found and name not in replaced:
            fill(value, found[name])
            found[name] = value
    return found


def _chosen(name: str, condition: Compared, yes: Any, no: Any, own: Mapping[str, Any], loops: Arrays) -> Any:
    if yes is no:
        return yes
    names = Names({}, (), conditions=tuple(dict.fromkeys([*conditions_of(yes), *conditions_of(no)])))
    try:
        return merged(condition, yes, no, (), lambda node: loops.array(node, names))
    except NotSupported as fault:
        if isinstance(own.get(name), Written):
            raise Unfit(own[name], "writes to it under a condition") from None
        if name in own:
            raise
        return Lost(fault.message, fault.hint)


def _version(value: Any) -> tuple[int, ...]:
    """Return how often an array was written; nothing for any other value."""
    return (value.version,) if is_array(value) and hasattr(value, "version") else ()


def content(value: Any) -> Any:
    """Return what an object holds that can be changed in place; any other value as it is."""
    if isinstance(value, Written):
        return value.value
    return value.copy() if is_array(value) and value.ndim or isinstance(value, (list, dict)) else value


def fill(value: Any, held: Any) -> None:
    """Give an object the content that it had or should have."""
    if isinstance(value, Written):
        value.value = held
    elif isinstance(value, list):
        value[:] = held
    elif isinstance(value, dict):
        value.clear()
        value.update(held)
    elif is_array(value) and value.node is not held.node:
        value.write(held.node, held.names)
