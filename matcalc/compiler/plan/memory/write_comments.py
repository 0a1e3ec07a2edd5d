"""Writes the comments of the steps of a Program: the formula of each value, with the shape of each array.

Plans that are compared have no comments: only those of the chosen one are written.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from matcalc.compiler.plan.values.describe import Describer, Factors, For, Subject
from matcalc.compiler.plan.values.values import Graph, Shape, Value
from matcalc.compiler.program import Call, Each, Let, Step, Store, View
from matcalc.tensor.nodes.node import Node


def with_comments(
    steps: Sequence[Step], graph: Graph, describe: Describer, later: Mapping[str, str]
) -> tuple[Step, ...]:
    """Return steps with comments; `later` maps a value to the one that results when something is added to it."""
    return _Comments(graph, describe, later).steps(steps)


class _Comments:
    def __init__(self, graph: Graph, describe: Describer, later: Mapping[str, str]) -> None:
        self.values = graph.values
        self.describe = describe
        self.later = later

    def steps(self, steps: Sequence[Step]) -> tuple[Step, ...]:
        return tuple(map(self.step, steps))

    def step(self, step: Step) -> Step:
        if isinstance(step, View):
            return step
        if isinstance(step, Each):
            return replace(step, body=self.steps(step.body))
        if isinstance(step, Call):
            return self.call(step)
        bound = {let.value for let in step.lets}
        return replace(
            step,
            lets=tuple(self.let(let, step.stores) for let in step.lets),
            sums=tuple(map(self.store, step.sums)),
            stores=tuple(s if self.stored(s).name in bound else self.store(s) for s in step.stores),
        )

    def call(self, call: Call) -> Call:
        value = self.values[call.results[0][1].value]
        assert value.run is not None
        return replace(call, comment=self.text(value.run.comment, value.shape if len(call.results) == 1 else ()))

    def let(self, let: Let, stores: Sequence[Store]) -> Let:
        own = next((s for s in stores if self.stored(s).name == let.value), None)
        return replace(let, comment=self.text(self.subject(own) if own else self.values[let.value].comment))

    def store(self, store: Store) -> Store:
        return replace(store, comment=self.text(self.subject(store), self.stored(store).shape))

    def stored(self, store: Store) -> Value:
        """Return the value that a store writes; the first of its parts have names of their own."""
        name = store.value
        while name not in self.values:
            name = self.later[name]
        return self.values[name]

    def subject(self, store: Store) -> Subject:
        """Return the subject of the comment on a store: parts are added to the first one."""
        value = self.stored(store)
        is_first = value.name != store.value and not store.onto and not store.over
        return For(value.comment) if is_first and isinstance(value.comment, (Node, Factors)) else value.comment

    def text(self, subject: Subject, shape: Shape = ()) -> str:
        """Return a comment with the shape of the stored array."""
        inner = ", ".join(map(str, shape))
        text = self.describe(subject)
        return f"{text}   ({inner}{',' if len(shape) == 1 else ''})" if shape else text
