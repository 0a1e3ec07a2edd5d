"""Defines the loops that are read as steps: how many there are, what a step runs over, and the values after them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, replace
from typing import Any

from matcalc.errors import NotSupported
from matcalc.expressions.loops.apart import Step, content, fill, run_apart
from matcalc.expressions.loops.body import BOTH, Body
from matcalc.expressions.loops.branches import Split
from matcalc.expressions.loops.run import Run
from matcalc.expressions.loops.steps import (
    INNER,
    SCAN,
    ZERO,
    Appending,
    Arrays,
    Stepping,
    conditions_of,
    leaves_of,
    stepping,
)
from matcalc.expressions.loops.writes import Written
from matcalc.expressions.numpy_bridge.arguments import Compared, is_array, left_open
from matcalc.expressions.numpy_bridge.length import assuming
from matcalc.tensor.sizes.size import Size, is_nonnegative
from matcalc.tensor.sizes.sizes_from_shapes import Condition

FEWEST = 8
fewest: ContextVar[int] = ContextVar("fewest", default=FEWEST)
"""Fewest steps of a loop of a fixed number of steps that is read as a recurrence; 1 if a condition on data needs it."""
fixed: ContextVar[list[Symbolic] | None] = ContextVar("fixed", default=None)
"""Collects the loops of fixed numbers of steps that became recurrences; None where all are run step by step."""
MOST_APART = 4
"""Most steps that are run one by one where a condition divides a loop."""


def unguarded(item: Any) -> Sequence[Compared]:
    """Return no conditions."""
    return ()


@dataclass
class Symbolic:
    """What a loop over a symbolic number of steps runs over: the number, and the item at a step.

    `entry` is the item at a known position, and `size` a size of the function. `guards` are the conditions under which
    a step is run. `first` is the number of steps before these, and `conditions` are those on sizes. A
    loop of a fixed number of steps has the `original` that it runs over, for a body that is no step of a recurrence.
    `backwards` returns the same steps in the opposite order. `wider` has further steps, which the guards leave out: the
    formula is shorter where they can be run.
    """

    loops: Arrays
    length: Size
    item: Callable[[Stepping], Any]
    entry: Callable[[Size], Any]
    size: Any
    guards: Callable[[Any], Sequence[Compared]] = unguarded
    first: Size = ZERO
    conditions: tuple[Condition, ...] = ()
    original: Iterable[Any] | None = None
    backwards: Callable[[], Symbolic] | None = None
    wider: Symbolic | None = None

    @property
    def is_mapped(self) -> bool:
        """Whether a comprehension over the steps is read as an array of all steps."""
        return self.original is None or fewest.get() == 1

    @property
    def is_guarded(self) -> bool:
        """Whether a step is run under conditions."""
        return self.guards is not unguarded

    def __iter__(self) -> Iterator[Any]:
        if self.original is not None:
            return iter(self.original)
        raise NotSupported(f"a loop over {self.length} steps is not read here", hint=SCAN)

    def run(self, step: Step, values: Mapping[str, Any], bound: Sequence[Sequence[str]]) -> dict[str, Any]:
        """Return the values of names and lists after the loop.

        Raises: NotSupported, ShapeError for a step that is no step of a recurrence.
        """
        body = Body(*map(tuple, bound))
        if self.original is not None:
            found = self.fixed_as_steps(step, values, body) or self.unrolled(self.original, step, values, body)
        else:
            found = self.with_further_steps(step, values, body) or self.as_steps(step, values, body)
        return {INNER: {}, **found}

    def unrolled(self, items: Iterable[Any], step: Step, values: Mapping[str, Any], body: Body) -> dict[str, Any]:
        """Return the values of names and lists after steps that are run one after the other."""
        found: dict[str, Any] = {}
        for item in items:
            found |= run_apart(step, item, {**values, **found}, body, self.loops)
        return found

    def fixed_as_steps(self, step: Step, values: Mapping[str, Any], body: Body) -> dict[str, Any] | None:
        """Return the values after a fixed number of steps as a recurrence; None if the body is no step of one."""
        found = self.tried(step, values, body)
        if found is not None:
            collected = fixed.get()
            assert collected is not None
            collected.append(self)
        return found

    def with_further_steps(self, step: Step, values: Mapping[str, Any], body: Body) -> dict[str, Any] | None:
        """Return the values after the wider loop; None if there is none, or it needs other sizes than this one."""
        own = [values[name] for name in (*body.in_place, *body.lists) if name in values]
        if self.wider is None or any(content(value) is not value for value in own):
            return None
        token = left_open.set([])
        try:
            found = self.wider.tried(step, values, body)
            return None if left_open.get() or any(conditions_of(one) for one in (found or {}).values()) else found
        finally:
            left_open.reset(token)

    def tried(self, step: Step, values: Mapping[str, Any], body: Body) -> dict[str, Any] | None:
        """Return the values after the loop; None, and all objects as they were, if the body is no step of a loop."""
        own = [values[name] for name in (*body.in_place, *body.lists) if name in values]
        before = [(value, content(value)) for value in own]
        try:
            return self.as_steps(step, values, body)
        except Exception:  # noqa: BLE001 - whatever fails on symbols is run in another way
            for value, held in before:
                fill(value, held)
            return None

    def as_steps(self, step: Step, values: Mapping[str, Any], body: Body) -> dict[str, Any]:
        """Return the values of names and lists after the loop, of which one step is run on symbols."""
        found, rest = dict[str, Any](), [self]
        noted: list[Condition] = []
        while rest:
            part = rest.pop(0)
            states = {name: one for name, one in found.items() if name in values or leaves_of(one) is not None}
            known = {**values, **states}
            if part is not self and part.length.is_integer and part.length.constant <= MOST_APART:
                found |= part.one_by_one(step, {**known, **found}, body, noted)
                continue
            try:
                found |= part.whole(step, known, body)
            except Split as fault:
                if fault.one.depth != len(stepping.get()):
                    raise
                rest = [*part.parts(fault.position, noted), *rest]
        for value in found.values() if noted else ():
            if is_array(value):
                value.names = value.names.under(noted)
        return found

    def one_by_one(self, step: Step, values: Mapping[str, Any], body: Body, noted: list[Condition]) -> dict[str, Any]:
        """Return the values of names and lists after a few steps, each run by itself."""
        token = assuming.set(noted)
        try:
            return self.unrolled((self.entry(self.first + k) for k in range(int(self.length))), step, values, body)
        finally:
            assuming.reset(token)

    def parts(self, at: Size, noted: list[Condition]) -> list[Symbolic]:
        """Return the steps before a position, and those from it on; note the conditions for the position."""
        message = f"a condition divides the loop of {self.length} steps at step {at}"
        noted += [Condition(room, message) for room in (at, self.length - at) if not is_nonnegative(room)]
        return [
            replace(self, length=at),
            replace(self, length=self.length - at, first=self.first + at),
        ]

    def whole(self, step: Step, values: Mapping[str, Any], body: Body) -> dict[str, Any]:
        """Return the values of names and lists after steps of one kind."""
        given = {name: values[name] for name in body.names if name in values}
        changed = {name: value for name, value in given.items() if name in body.in_place}
        for name, value in changed.items():
            _check_changed(name, value, values, body)
        own = {name: values[name] for name in body.lists if name in values}
        for name, value in own.items():
            if isinstance(value, Appending):
                hint = "write to an array of two axes:  X[i, j] = ..."
                raise NotSupported(f"an inner loop appends to {name}, a list of a loop around", hint=hint)
            if type(value) is not list:
                raise NotSupported(f"the loop appends to {name}, which is no list of this function", hint=SCAN)
        written = [name for name in body.written if is_array(given.get(name)) or isinstance(given.get(name), Written)]
        run = Run(self, step, given, own, written)
        found = run.result()
        for name in body.rebound:
            if any(getattr(one, "ndim", 0) or isinstance(one, list) for one in (given.get(name), found.get(name))):
                raise NotSupported(f"the loop {BOTH.format(name)}", hint=f"write {name} = {name} + ...")
        for name, value in changed.items():
            if name not in run.writes:
                found[name] = _changed(value, found[name])
        return found


def _check_changed(name: str, value: Any, values: Mapping[str, Any], body: Body) -> None:
    """Require that a loop may change a value in place, and reads it by no other name.

    Raises: NoValue for an argument, NotSupported.
    """
    if isinstance(value, (Written, dict)) or not getattr(value, "ndim", None) and type(value) is not list:
        return
    if not is_array(value):
        hint = "create it inside the function:  np.zeros(n)"
        raise NotSupported(f"the loop writes to {name}, which is no array of formulas", hint=hint)
    value.check_own()
    for other in body.reads:
        twin = values.get(other)
        if other != name and is_array(twin) and getattr(twin, "owner", None) is value.owner:
            raise NotSupported(f"the loop changes {name}, and reads it as {other}", hint="use one name in the loop")


def _changed(value: Any, found: Any) -> Any:
    """Write the value after the loop to the object that the loop changes in place."""
    if is_array(value) and value.ndim:
        value.write(found.node, found.names)
        return value
    if isinstance(value, dict):
        value.update(found)
        return value
    return found
