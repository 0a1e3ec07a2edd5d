"""Writes a kernel that runs its part at each step of a recurrence: the part's statements inside a loop.

States with a kept trajectory are read from it and written to it. Of other states there are two arrays, the last and the
next value. Arrays of the step are allocated once, before the loop.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from matcalc.compiler.code.code import (
    ONE,
    REST,
    ZERO,
    Block,
    Call,
    Do,
    Empty,
    Expr,
    For,
    Length,
    Let,
    Load,
    Name,
    Number,
    Op,
    Statement,
    Store,
    View,
)
from matcalc.compiler.emit.loops import assigned
from matcalc.compiler.emit.spelling import Names
from matcalc.compiler.lowering_entries import LAST, TOTAL, WHOLE
from matcalc.compiler.program import Call as KernelCall
from matcalc.compiler.program import Each, Loop, Program, Step, walk


def step_loop(
    call: KernelCall, outer: Names, write: Callable[[Program, Names], tuple[Block, Block]]
) -> list[Statement]:
    """Return the statements of a call; `write` returns the allocations and the other statements of a program."""
    writer = _Writer(call, outer)
    made, body = write(writer.program, writer.names)
    statements = [*writer.begin(), *made, writer.loop(body), *writer.end()]
    outer.taken |= writer.names.taken
    return statements


def _with_fault(steps: tuple[Step, ...], fault: int) -> tuple[Step, ...]:
    """Return steps whose calls, if they fail, return the status of the whole call."""

    def changed(step: Step) -> Step:
        if isinstance(step, Each):
            return replace(step, body=_with_fault(step.body, fault))
        return replace(step, fault=fault) if isinstance(step, KernelCall) and step.fault else step

    return tuple(map(changed, steps))


class _Writer:
    """Writes a call: the names of operands and results around the loop, and those of one step inside."""

    def __init__(self, call: KernelCall, outer: Names) -> None:
        (part,) = call.kernel.parts
        assert call.kernel.loop is not None
        self.call, self.given = call, call.kernel.loop
        numbers = {b.name for b in part.program.buffers if b.role == "output" and not b.shape}
        buffers = tuple(replace(b, role="scalar") if b.name in numbers else b for b in part.program.buffers)
        steps = _with_fault(part.program.steps, call.fault)
        self.program = replace(part.program, buffers=buffers, steps=steps, faults=outer.program.faults)
        axes = {axis for step in walk(outer.program.steps) if isinstance(step, Loop) for axis, _ in step.axes}
        self.names = Names(self.program, "numba", reserved=outer.taken - {outer.give(axis) for axis in axes})
        self.operands = [outer.entry(argument.value, ()) for _, argument in call.operands]
        self.results = [outer.entry(argument.value, ()) for _, argument in call.results]
        self.kinds = self.given.kinds
        sizes = {name: size for name, size in call.params if not isinstance(size, str)}
        self.steps = outer.integer(sizes["steps_"])
        spelled = {s.name: outer.size(s.name) for s in self.program.sources}
        self.names.spelled |= spelled
        self.names.spelled |= {n: outer.size(sizes[f"size_{k}"]) for k, n in enumerate(self.program.size_args)}
        for name, number in zip(self.program.inputs, self.given.inputs, strict=True):
            entry = self.operands[number]
            if number >= len(self.kinds) + self.given.sequences and isinstance(entry, Name):
                self.names.spelled[name] = entry.name
            elif number >= len(self.kinds) + self.given.sequences:
                self.names.known[name] = entry
        self.index, self.round = self.names.local("t"), self.names.local("number")
        inputs = zip(self.given.inputs, self.program.inputs, strict=True)
        self.inputs = {k: self.names.give(name) for k, name in inputs}
        self.next = [self.names.give(name) for name in self.program.outputs]
        self.is_number = [not self.program.table[name].shape for name in self.program.outputs]

    def begin(self) -> list[Statement]:
        """Return the statements before the loop: the starts, and arrays for states without a trajectory."""
        first = self.steps if self.given.backward else ZERO
        found: list[Statement] = []
        for k, kind in enumerate(self.kinds):
            start, result = self.operands[k], self.results[k]
            if kind == WHOLE and self.is_number[k]:
                found.append(Store(result, (first,), start))
            elif kind == WHOLE:
                found.append(_copied(start, Load(result, (first,))))
            elif self.is_number[k]:
                found.append(Let(self.number(k), start if kind == LAST else Number(0.0)))
            else:
                found.append(_copied(start, result) if kind == LAST else Do(Call("zeroed", (View(result, REST),))))
                rank = len(self.program.table[self.program.outputs[k]].shape)
                found.append(Let(self.next[k], Empty(tuple(Length(result, axis) for axis in range(rank)))))
                found += [Let(self.inputs[k], result)] if k in self.inputs else []
        return found

    def number(self, k: int) -> str:
        """Return the name of a number that the loop carries."""
        return self.inputs.get(k) or self.names.local(f"{self.next[k]}_total")

    def loop(self, body: Block) -> Statement:
        """Return the loop over the steps, with the statements of a step."""
        t, backward = Name(self.index), self.given.backward
        following = Op("+", (t, ONE))
        before, after = (following, t) if backward else (t, following)
        found: list[Statement] = []
        if backward:
            found.append(Let(t.name, Op("-", (Op("-", (self.steps, ONE)), Name(self.round)))))
        for k, name in self.inputs.items():
            if k < len(self.kinds):
                found += [Let(name, Load(self.results[k], (before,)))] if self.kinds[k] == WHOLE else []
            elif k < len(self.kinds) + self.given.sequences:
                found.append(Let(name, Load(self.operands[k], (t,))))
        for k, kind in enumerate(self.kinds):
            if kind == WHOLE and not self.is_number[k]:
                found.append(Let(self.next[k], Load(self.results[k], (after,))))
        inner = (*found, *body, *self.written(after))
        return For(self.round if backward else t.name, self.steps, inner, note=self.call.comment)

    def written(self, after: Expr) -> list[Statement]:
        """Return the statements at the end of a step: next values become last ones."""
        found: list[Statement] = []
        for k, kind in enumerate(self.kinds):
            own, result = Name(self.next[k]), self.results[k]
            if self.is_number[k] and kind == WHOLE:
                found.append(Store(result, (after,), own))
            elif self.is_number[k]:
                found.append(Let(self.number(k), own, "+" if kind == TOTAL else ""))
            elif kind == LAST:
                found.append(_copied(own, result))
            elif kind == TOTAL:
                found.append(Do(Call("added", (View(own, REST), View(result, REST)))))
        return found

    def end(self) -> list[Statement]:
        """Return the statements after the loop: numbers that it carried are results."""
        carried = (k for k, kind in enumerate(self.kinds) if kind != WHOLE and self.is_number[k])
        return [assigned(self.results[k], Name(self.number(k))) for k in carried]


def _copied(source: Expr, target: Expr) -> Statement:
    return Do(Call("copied", (View(source, REST), View(target, REST))))
