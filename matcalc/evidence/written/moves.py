"""Evaluates a reference at data moved along directions, at many steps by one walk over its tree.

A step is an index axis of the moved data, so every form evaluates all steps at once. Where that fails, for example
outside a domain at one step, each step is evaluated alone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from matcalc.errors import MatcalcError
from matcalc.evidence.written.points import Point
from matcalc.evidence.written.reference import Reference
from matcalc.evidence.written.values import STEP_AXIS, Array, Value

Directions = Mapping[str, Array]

LEAST_STEPS = 3
"""The least number of steps that one walk evaluates faster than a walk for each."""

MOST_ENTRIES = 2_000
"""The most entries of data that are moved to several steps at once."""

FAILURES = (MatcalcError, np.linalg.LinAlgError, IndexError, TypeError, ValueError, ArithmeticError)
"""Errors after which each step is evaluated alone; it then raises its own."""


class Moves:
    """A reference as a function of the distances along directions; values that were computed ahead are reused.

    The caller ignores floating-point errors and warnings.
    """

    def __init__(self, reference: Reference, point: Point, *directions: Directions) -> None:
        self.reference, self.point, self.directions = reference, point, directions
        self.known: dict[tuple[Any, ...], Array] = {}

    def __call__(self, *steps: Any) -> Array:
        found = self.known.get(steps)
        if found is None:
            data = self.point.data
            for E, step in zip(self.directions[::-1], steps[::-1], strict=True):
                data = along(data, E, step)
            found = self.known[steps] = self.reference.computed(data, self.point.sizes, self.point.data)
        return found

    def ahead(self, steps: Sequence[tuple[Any, ...]]) -> None:
        """Compute the values at several steps together, if the reference is a tree; else do nothing."""
        new = [step for step in steps if step not in self.known]
        names = {name for E in self.directions for name in E}
        if len(new) < LEAST_STEPS or sum(np.size(self.point.data[name]) for name in names) > MOST_ENTRIES:
            return
        data: dict[str, Any] = {**self.point.data, **{name: self.point.data[name][None] for name in names}}
        for E, column in zip(self.directions[::-1], [*zip(*new, strict=True)][::-1], strict=True):
            data = along(data, E, np.array(column))
        for name in names:
            data[name] = Value(data[name], (STEP_AXIS,))
        try:
            values = self.reference.values(data, self.point.sizes, self.point.data, len(new))
        except FAILURES:
            return
        self.known.update(zip(new, values, strict=False))


def along(data: Mapping[str, Any], directions: Directions, step: Any) -> dict[str, Any]:
    """Return data moved along directions; several steps are a first axis."""
    shift = np.multiply.outer if isinstance(step, np.ndarray) else np.multiply
    moved = {name: data[name] + shift(step, E) for name, E in directions.items()}
    return {**data, **moved}


def ahead(f: Callable[..., Array], steps: Sequence[tuple[Any, ...]]) -> None:
    """Compute the values of a function at several steps together, if it can."""
    if isinstance(f, Moves):
        f.ahead(steps)
