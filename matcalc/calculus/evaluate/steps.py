"""Evaluates recurrences step by step, for any kind of numbers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from matcalc.errors import ShapeError
from matcalc.tensor.nodes.node import Node
from matcalc.tensor.steps.recurrence import arguments_of


def values_by_step(
    node: Node,
    values: Mapping[Node, Any],
    sizes: Mapping[str, int],
    evaluate: Callable[[Mapping[str, Any]], Sequence[Any]],
) -> list[list[Any]]:
    """Return the values of each state of a recurrence at all numbers, from index 0 on.

    `values` are those of its arguments. `evaluate` returns the values of the bodies from those of the bound symbols.

    Raises: ShapeError for a negative number of steps.
    """
    starts, operands, _ = arguments_of(node)
    count = node.steps.evaluate(dict(sizes))
    if count < 0:
        raise ShapeError(f"a recurrence of {count} steps: {node.steps} is negative")
    found = [[values[start]] for start in starts]
    for step in reversed(range(count)) if node.backward else range(count):
        at = {s.name: states[-1] for s, states in zip(node.states, found, strict=True)}
        at.update((s.name, values[arg][step]) for s, arg in zip(node.slices, operands, strict=True))
        for states, value in zip(found, evaluate(at), strict=True):
            states.append(value)
    return [states[::-1] if node.backward else states for states in found]
