"""Builds the nodes of recurrences: one step over symbols for what it reads, then all steps."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from matcalc.errors import NotSupported
from matcalc.formula.inference.inference import Inference, shown
from matcalc.formula.inference.typed import Typed
from matcalc.formula.recurrences.read_systems import AtStep, System, Variable
from matcalc.tensor.constructors import symbol
from matcalc.tensor.leading_axis import cut, leading, numbers
from matcalc.tensor.nodes.node import Node, toposort
from matcalc.tensor.sizes.size import Size
from matcalc.tensor.steps.lags import with_starts
from matcalc.tensor.steps.one_step import at_all_steps, entry_facts
from matcalc.tensor.steps.recurrence import PASSING, Steps, over_all_steps, recurrences

ZERO, ONE = Size.of(0), Size.of(1)
Place = tuple[str, int]
"""A state and the position, counted from the step, at which it is read."""


@dataclass(slots=True)
class Stepping:
    """A step being built: the symbols of states, and sequences by the symbols of their slices."""

    length: Size
    facts: Mapping[str, frozenset[str]] = field(default_factory=dict)
    states: dict[Place, Node] = field(default_factory=dict)
    sequences: dict[Node, Node] = field(default_factory=dict)


@dataclass(slots=True)
class Built:
    """A system that has been built: whole states and quantities, and the sequences of a step with all states.

    `named` are the nodes whose names results keep: quantities, and of each state what the step computes.
    """

    whole: dict[str, Node]
    sequences: dict[Node, Node]
    facts: Mapping[str, frozenset[str]]
    named: dict[str, Node]


class Builder(Protocol):
    """What recurrences need of the state of building: sizes, nodes of trees, and the steps and systems in progress.

    `inner` are systems that read a step in progress.
    """

    inference: Inference
    steps: dict[System, Stepping]
    systems: dict[System, Built]
    inner: dict[System, Built]

    def size(self, size: Size) -> Size: ...

    def node(self, value: Typed) -> Node: ...

    def within(self, system: System, stepping: Stepping) -> Builder: ...


def read_at_step(builder: Builder, value: Typed, args: list[Node]) -> Node:
    """Return the symbol of what is read at a step: a state, the number of the step, or a slice of a sequence."""
    record: AtStep = value.data
    system, stepping = record.system, builder.steps[record.system]
    if record.name:
        place = record.name, record.offset
        if place not in stepping.states:
            shape = tuple(map(builder.size, system.variables[record.name].shape))
            label = f"#x{system.number}.{record.name}.{record.offset}"
            stepping.states[place] = symbol(label, shape, sorted(stepping.facts.get(record.name, ())))
        return stepping.states[place]
    sequence = cut(leading(args[0], record.axis), Size.of(record.offset), stepping.length) if args else None
    sequence = sequence if sequence is not None else numbers(stepping.length)
    if not {*stepping.states.values(), *stepping.sequences}.isdisjoint(toposort([sequence])):
        message = f"{shown(record.written)} reads what is computed in the step, at the number of the step"
        hint = "such a sequence is another one at each step: compute the entry alone"
        raise NotSupported(message, text=builder.inference.text, at=record.written.caret, hint=hint)
    found = next((s for s, known in stepping.sequences.items() if known is sequence), None)
    if found is None:
        label = f"#u{system.number}.{len(stepping.sequences)}"
        found = symbol(label, sequence.shape[1:], entry_facts(sequence))
        stepping.sequences[found] = sequence
    return found


def whole_state(builder: Builder, value: Typed) -> Node:
    """Return a state or a quantity with its leading axis."""
    system, variable = value.data
    return built(builder, system).whole[variable.name]


def step_sum(builder: Builder, value: Typed) -> Node:
    """Return the sum of a value over all steps."""
    system, body = value.data
    found = built(builder, system)
    stepping = Stepping(builder.size(system.length), found.facts, {}, dict(found.sequences))
    node = builder.within(system, stepping).node(body)
    return over_all_steps(node, _with_states(system, stepping, found.whole), stepping.length)


def _with_states(system: System, stepping: Stepping, whole: Mapping[str, Node]) -> dict[Node, Node]:
    read = {own: cut(whole[name], Size.of(offset), stepping.length) for (name, offset), own in stepping.states.items()}
    return {**stepping.sequences, **read}


def built(builder: Builder, system: System) -> Built:
    """Return a system as nodes: with all facts that the starts have and the steps keep."""
    known = builder.inner if system.is_inner else builder.systems
    found = known.get(system)
    if found is None:
        states = [variable for variable in system.variables.values() if variable.lag]
        starts = {v.name: [builder.node(start) for start in v.given] for v in states}
        facts = {v.name: frozenset.intersection(*(s.facts for s in starts[v.name])) - PASSING for v in states}
        while True:
            stepping = Stepping(builder.size(system.length), facts)
            inner = builder.within(system, stepping)
            bodies = {v.name: inner.node(v.body) for v in system.variables.values() if v.body is not None}
            kept = {name: own & bodies[name].facts for name, own in facts.items()}
            if kept == facts:
                break
            facts = kept
        found = known[system] = _joined(system, stepping, starts, bodies)
    return found


def _joined(system: System, stepping: Stepping, starts: Mapping[str, list[Node]], bodies: Mapping[str, Node]) -> Built:
    states: list[Node] = []
    begins: list[Node] = []
    steps: list[Node] = []
    last: dict[str, int] = {}
    for variable in (v for v in system.variables.values() if v.lag):
        own = [
            _register(system, stepping, variable, bodies[variable.name], variable.first + k)
            for k in range(variable.lag)
        ]
        body = bodies[variable.name]
        steps += [body, *own[:-1]] if variable.backward else [*own[1:], body]
        last[variable.name] = len(states) + (0 if variable.backward else variable.lag - 1)
        states, begins = [*states, *own], [*begins, *starts[variable.name]]
    made = recurrences(Steps(states, begins, steps, stepping.sequences, stepping.length, system.backward))
    whole = {name: _whole(system.variables[name], made[k], starts[name]) for name, k in last.items()}
    sequences = _with_states(system, stepping, whole)
    for name, body in bodies.items():
        if name not in whole:
            whole[name] = at_all_steps(body, sequences, stepping.length)
    named = {**whole, **{name: made[k] for name, k in last.items()}}
    return Built(whole, dict(stepping.sequences), stepping.facts, named)


def _register(system: System, stepping: Stepping, variable: Variable, body: Node, offset: int) -> Node:
    place = variable.name, offset
    if place not in stepping.states:
        facts = sorted(stepping.facts.get(variable.name, ()))
        stepping.states[place] = symbol(f"#x{system.number}.{variable.name}.{offset}", body.shape, facts)
    return stepping.states[place]


def _whole(variable: Variable, trajectory: Node, starts: list[Node]) -> Node:
    """Return the trajectory of a state with the starts that no step defines."""
    return with_starts(trajectory, starts[1:] if variable.backward else starts[:-1], variable.backward)
