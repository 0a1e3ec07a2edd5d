"""Calls the body of a loop on symbols of its states, and builds the recurrence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

from matcalc.errors import NotSupported, ShapeError
from matcalc.expressions.loops.branches import answered, key_of, merged
from matcalc.expressions.loops.steps import (
    INNER,
    SCAN,
    Appending,
    Lost,
    Over,
    Stepping,
    alike,
    conditions_of,
    is_leaf,
    leaves_of,
    running,
    stepping,
)
from matcalc.expressions.loops.subscripts import without_lookups
from matcalc.expressions.loops.writes import Slot, Unfit, Written, entry_of
from matcalc.expressions.numpy_bridge.arguments import Compared, left_open, shape_text, size_in
from matcalc.expressions.numpy_bridge.taking import take
from matcalc.language.containers import items, refilled
from matcalc.tensor.broadcasting import broadcast_nodes
from matcalc.tensor.constructors import add, symbol, zeros
from matcalc.tensor.nodes.node import Node, toposort
from matcalc.tensor.sizes.sizes_from_shapes import Condition
from matcalc.tensor.steps.one_step import at_all_steps
from matcalc.tensor.steps.recurrence import PASSING, Steps, before_steps, over_all_steps, recurrences
from matcalc.tensor.symbols import Names


def _joined(name: str, before: Sequence[Any], arrays: Sequence[Any]) -> Any:
    """Return the entries of a list as one array: those before the loop, then one for each step.

    Raises: NotSupported for entries that are containers.
    """
    import numpy as np

    if len(arrays) != 1 or not all(map(is_leaf, before)):
        raise NotSupported(f"the entries of the list {name} are containers", hint="append to one list for each array")
    (last,) = arrays
    return last if not before else np.concatenate([np.stack(list(before)), last])


class Outcome(NamedTuple):
    """The values after a step: of states, of arrays that it writes, and of what it appends."""

    end: dict[str, Any]
    arrays: dict[str, Written]
    added: dict[str, Any]


class Run:
    """One loop: its states, lists and other values, and the results.

    `writes` are names of arrays whose entries the loop writes.
    """

    def __init__(
        self, over: Over, step: Any, given: Mapping[str, Any], lists: Mapping[str, Any], writes: Sequence[str]
    ) -> None:
        self.over, self.step, self.lists = over, step, lists
        self.writes = {name: given[name] for name in writes if name in given}
        self.given = given
        self.depth = len(stepping.get())

    def result(self) -> dict[str, Any]:
        """Return the values after the loop."""
        while True:
            token = left_open.set([])
            try:
                return self._result()
            except Unfit as fault:
                if self.writes.get(fault.array.name) is not fault.array.before or fault.array.depth != self.depth:
                    raise
                del self.writes[fault.array.name]
            finally:
                left_open.reset(token)

    def _result(self) -> dict[str, Any]:
        others = {name: value for name, value in self.given.items() if name not in self.writes}
        self.carried = {name: value for name, value in others.items() if leaves_of(entry_of(value)) is not None}
        self.fixed = {name: value for name, value in others.items() if name not in self.carried}
        self.lost: set[str] = set()
        self.starts: dict[str, list[Node]] = {
            name: leaves_of(entry_of(value)) or [] for name, value in self.carried.items()
        }
        for name, value in self.lists.items():
            self.starts[INNER + name] = (leaves_of(value[-1]) or []) if value else []
        self.slots = {name: Slot() for name in self.writes}
        self._find_slots()
        facts = {name: [n.facts - PASSING for n in nodes] for name, nodes in self.starts.items()}
        while True:
            states = self._states(facts)
            one, bodies, added = self._called(states)
            if self._broadcast(bodies):
                facts = {name: [n.facts - PASSING for n in nodes] for name, nodes in self.starts.items()}
                continue
            self._check_shapes(states, bodies, added)
            kept = {name: [own & b.facts for own, b in zip(facts[name], bodies[name], strict=False)] for name in facts}
            if kept == facts:
                break
            facts = kept
        again, others, more = self._called(states)
        if (others, list(map(leaves_of, more.values()))) != (bodies, list(map(leaves_of, added.values()))):
            raise NotSupported("a step of the loop gives another formula each time", hint=SCAN)
        return self._after(one, states, bodies, added)

    def _states(self, facts: Mapping[str, Sequence[frozenset[str]]]) -> dict[str, list[Node]]:
        """Return the symbols of the states, by name."""
        return {
            name: [symbol(f"{INNER}x{self.depth}.{name}.{k}", n.shape, sorted(own))
                   for k, (n, own) in enumerate(zip(nodes, facts[name], strict=True))]
            for name, nodes in self.starts.items()
        }  # fmt: skip

    def _find_slots(self) -> None:
        """Find the entries that a step writes, and how far behind them it reads."""
        before: object = None
        while self.slots and before != (before := [slot.found for slot in self.slots.values()]):
            states = self._states({name: [frozenset()] * len(v) for name, v in self.starts.items()})
            one = self._stepping(states)
            found = self._outcome(one, states)
            with running(one):
                for name, slot in self.slots.items():
                    if slot.depth or slot.window is not None:
                        self.starts[name] = found.arrays[name].starts()
        for name, slot in self.slots.items():
            if slot.written is None and slot.scattered is None:
                raise Unfit(self._array(name, Stepping(self.over.length, self.depth), ()), "does not write it")

    def _array(self, name: str, one: Stepping, lags: Sequence[Node]) -> Written:
        array = self.over.loops.array
        return Written(name, self.writes[name], one, self.slots[name], self.depth, [array(n) for n in lags], array)

    def _stepping(self, states: Mapping[str, Sequence[Node]]) -> Stepping:
        """Return a step whose states are these symbols."""
        own = [node for nodes in states.values() for node in nodes]
        return Stepping(
            self.over.length, self.depth, states=own, first=self.over.first, is_guarded=self.over.is_guarded
        )

    def _outcome(self, one: Stepping, states: Mapping[str, Sequence[Node]]) -> Outcome:
        """Run the step; return its values."""
        with running(one):
            item = self.over.item(one)
            guards = self.over.guards(item)
            one.guards = {key_of(*guard.sides): True for guard in guards if guard.sides is not None}
            run, merge = partial(self._branch, one, states, item), partial(self._merged, states=states)
            found: Outcome = answered(one, run, merge)
            for guard in guards:
                found = self._merged(guard, found, self._unchanged(one, states), states)
        return found

    def _branch(self, one: Stepping, states: Mapping[str, Sequence[Node]], item: Any) -> Outcome:
        given = self._states_before(states)
        lists = {
            name: Appending(name, self._filled(value[-1], states[INNER + name]) if states[INNER + name] else None)
            for name, value in self.lists.items()
        }
        arrays = {name: self._array(name, one, states.get(name, ())) for name in self.writes}
        end = self.step(item, {**self.fixed, **given, **lists, **arrays})
        for name, value in self.carried.items():
            if isinstance(value, Written):
                end[name] = value.entry_in(end.get(name))
                continue
            found, count = leaves_of(end.get(name)), len(leaves_of(value) or [])
            if found is None or len(found) != count or not alike(value, end[name]):
                raise NotSupported(f"{name} is another kind of value after a step of the loop", hint=SCAN)
        for name, value in self.fixed.items():
            if end.get(name) is not value:
                raise NotSupported(f"the loop changes {name}, which is no array or number before it", hint=SCAN)
        for name, own in lists.items():
            if end.get(name) is not own or len(own.added) != 1:
                count = len(own.added)
                raise NotSupported(f"a step of the loop appends {count} entries to {name}, not one", hint=SCAN)
            if leaves_of(own.added[0]) is None:
                raise NotSupported(f"the loop appends to {name} what is no array or number", hint=SCAN)
        added = {name: own.added[0] for name, own in lists.items()}
        return Outcome({name: end[name] for name in self.carried}, arrays, added)

    def _unchanged(self, one: Stepping, states: Mapping[str, Sequence[Node]]) -> Outcome:
        """Return the values of a step that is not run."""
        for name in self.lists:
            hint = "write to an array:  xs = np.zeros(n)"
            raise NotSupported(f"the loop appends to {name} in some steps only", hint=hint)
        given = {name: entry_of(value) for name, value in self._states_before(states).items()}
        return Outcome(given, {name: self._array(name, one, states.get(name, ())) for name in self.writes}, {})

    def _merged(self, condition: Compared, yes: Outcome, no: Outcome, states: Mapping[str, Sequence[Node]]) -> Outcome:
        """Return the values after a branch."""
        own = [node for nodes in states.values() for node in nodes]

        def each(a: Mapping[str, Any], b: Mapping[str, Any]) -> dict[str, Any]:
            return {name: merged(condition, a[name], b[name], own, self.over.loops.array) for name in a}

        for name, array in yes.arrays.items():
            other = no.arrays[name]
            if array.value is not None or other.value is not None:
                array.value = merged(condition, array.current(), other.current(), own, self.over.loops.array)
        return Outcome(each(yes.end, no.end), yes.arrays, each(yes.added, no.added))

    def _called(self, states: Mapping[str, Sequence[Node]]) -> tuple[Stepping, dict[str, list[Node]], dict[str, Any]]:
        """Return one call of the step: its slices, the new states, and what it appends."""
        one = self._stepping(states)
        found = self.found = self._outcome(one, states)
        bodies = {name: [] if name in self.lost else leaves_of(value) or [] for name, value in found.end.items()}
        for name, array in found.arrays.items():
            bodies[name] = array.bodies(states.get(name, ()))
        for name, value in found.added.items():
            bodies[INNER + name] = (leaves_of(value) or []) if states[INNER + name] else []
        return one, bodies, dict(found.added)

    def _states_before(self, states: Mapping[str, Sequence[Node]]) -> dict[str, Any]:
        """Return the values before a step; a name that changes its shape, and that no step reads, is as it was."""
        given = self.carried.items()
        return {name: value if name in self.lost else self._filled(value, states[name]) for name, value in given}

    def _filled(self, like: Any, nodes: Sequence[Node]) -> Any:
        rest = iter(nodes)

        def made(value: Any) -> Any:
            if isinstance(value, Written):
                return value.filled(self.over.loops.array(next(rest)))
            if is_leaf(value):
                return self.over.loops.array(next(rest))
            return refilled(value, [made(part) for _, part in items(value) or ()])

        return made(like)

    def _broadcast(self, bodies: Mapping[str, Sequence[Node]]) -> bool:
        """Give numbers that become arrays in the first step the shape of these arrays; return whether there are any."""
        found = False
        for name, starts in self.starts.items():
            if name in self.writes:
                continue
            for k, (start, body) in enumerate(zip(starts, bodies[name], strict=False)):
                if start.shape or not body.shape or size_in(start) is None:
                    continue
                shaped = broadcast_nodes([start, zeros(body.shape)])
                if shaped is not None:
                    starts[k], found = shaped[0], True
        return found

    def _check_shapes(
        self, states: Mapping[str, list[Node]], bodies: Mapping[str, list[Node]], added: Mapping[str, Any]
    ) -> None:
        """Note the names whose shape changes and that no step reads.

        Raises: ShapeError for a state that changes its shape.
        """
        outputs = [n for value in added.values() for n in leaves_of(value) or ()]
        used = set(toposort([*(n for nodes in bodies.values() for n in nodes), *outputs]))
        for name, nodes in states.items():
            if name in self.writes:
                continue
            for own, body in zip(nodes, list(bodies[name]), strict=False):
                if own.shape == body.shape:
                    continue
                if own in used:
                    shown = name.removeprefix(INNER)
                    message = f"a step of the loop changes the shape {shape_text(own.shape)} of {shown} to "
                    raise ShapeError(message + shape_text(body.shape))
                self.lost.add(name)
            if len(bodies[name]) != len(nodes):
                self.lost.add(name)
        for name in self.lost:
            states[name].clear()
            bodies[name].clear()
            self.starts[name] = []

    def _after(
        self,
        one: Stepping,
        states: Mapping[str, list[Node]],
        bodies: Mapping[str, list[Node]],
        added: Mapping[str, Any],
    ) -> dict[str, Any]:
        """Return the last values of the states, and arrays for the lists."""
        length, known = self.over.length, dict(one.sequences)
        outputs = {name: leaves_of(value) or [] for name, value in added.items()}
        entries = {name: [array.value.node] for name, array in self.found.arrays.items()}
        outputs |= {name: entries[name] for name in self.writes if self._is_output(name, states)}
        totals = self._totals(states, bodies, outputs)
        flat = [(own, start, body) for name in states for own, start, body in
                zip(states[name], self.starts[name], bodies[name], strict=True) if own not in totals]  # fmt: skip
        made: dict[Node, Node] = {}
        if flat:
            symbols, starts, steps = (list(x) for x in zip(*flat, strict=True))
            with running(one):
                steps = without_lookups(steps)
            known |= one.sequences
            made = dict(zip(symbols, recurrences(Steps(symbols, starts, steps, known, length)), strict=True))
        known.update((own, before_steps(trajectory, False)) for own, trajectory in made.items())
        names = Names({}, (), conditions=self._conditions(added))
        trajectories: dict[str, Node] = {}
        found: dict[str, Any] = {
            name: Lost(f"{name} has another shape in the loop than before it", "give it a new name inside")
            for name in self.lost
        }
        found[INNER] = trajectories
        for name, value in self.carried.items():
            if name in self.lost:
                continue
            last: list[Node] = []
            for own, start in zip(states[name], self.starts[name], strict=True):
                if own in totals:
                    last.append(add([(1, start), (1, over_all_steps(totals[own], known, length))]))
                else:
                    last.append(take(made[own], -1))
            found[name] = self._with_names(value, last, names)
            is_whole = not isinstance(value, Written) and is_leaf(value)
            if len(last) == 1 and is_whole and states[name][0] in made:
                trajectories[name] = made[states[name][0]]
        for name, value in self.lists.items():
            arrays = [self.over.loops.array(at_all_steps(n, known, length), names) for n in outputs[name]]
            found[name] = self.over.loops.listed(_joined(name, list(value), arrays))
            value[:] = [
                Lost(f"the list {name} has another name", "use only the name to which the loop appends")
            ]  # another name of the list is not read by mistake
        for name, value in self.writes.items():
            is_output = self._is_output(name, states)
            written = at_all_steps(outputs[name][0], known, length) if is_output else made[states[name][0]]
            self.found.arrays[name].finish(self.over.loops.array(written, names), int(not is_output))
            found[name] = value
        return found

    def _is_output(self, name: str, states: Mapping[str, Sequence[Node]]) -> bool:
        """Whether the written entries are outputs of the steps; else they are the trajectory of a state."""
        return not states.get(name) or self.slots[name].window is not None

    def _conditions(self, added: Mapping[str, Any]) -> tuple[Condition, ...]:
        """Return the conditions on sizes of all values of a step, and of the starts."""
        ends = [value for name, value in self.found.end.items() if name not in self.lost]
        arrays = [array.value for array in self.found.arrays.values()]
        before = map(entry_of, self.carried.values())
        found = [one for value in (*before, *ends, *added.values(), *arrays) for one in conditions_of(value)]
        return tuple(dict.fromkeys([*found, *left_open.get(), *self.over.conditions]))

    def _totals(
        self, states: Mapping[str, list[Node]], bodies: Mapping[str, list[Node]], outputs: Mapping[str, list[Node]]
    ) -> dict[Node, Node]:
        """Return what each step adds to states that are only totals."""
        found: dict[Node, Node] = {}
        others = [n for nodes in outputs.values() for n in nodes]
        pairs = [(own, body) for name in states for own, body in zip(states[name], bodies[name], strict=True)]
        candidates = [
            pair for name in states if name not in self.writes for pair in zip(states[name], bodies[name], strict=True)
        ]
        for own, body in candidates:
            rest = add([(1, body), (-1, own)])
            elsewhere = [b for o, b in pairs if o is not own] + others
            if own not in toposort([rest, *elsewhere]):
                found[own] = rest
        return found

    def _with_names(self, like: Any, nodes: Sequence[Node], names: Names) -> Any:
        rest = iter(nodes)

        def made(value: Any) -> Any:
            if isinstance(value, Written):
                value.value = self.over.loops.array(next(rest), names)
                return value
            if is_leaf(value):
                return self.over.loops.array(next(rest), names)
            return refilled(value, [made(part) for _, part in items(value) or ()])

        return made(like)
