"""Writes the Numba statements of a kernel that runs its part at each step of a recurrence: a loop round the part.

States with a kept trajectory are read from it and written to it. Of other states there are two arrays, the last and the
next value. Arrays of the step are allocated once, before the loop.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from matcalc.compiler.emit.spelling import Names
from matcalc.compiler.lowering_entries import LAST, TOTAL, WHOLE
from matcalc.compiler.program import Call, Each, Loop, Program, Step, walk

INDENT = "    "
Lines = list[tuple[str, str]]


def step_lines(call: Call, outer: Names, write: Callable[[Program, Names], tuple[Lines, Lines]]) -> Lines:
    """Return the lines of a call, with comments; `write` returns the allocations and the statements of a program."""
    writer = _Writer(call, outer)
    made, body = write(writer.program, writer.names)
    lines = [*writer.begin(), *made, *writer.loop(body), *writer.end()]
    outer.taken |= writer.names.taken
    return lines


def _with_fault(steps: tuple[Step, ...], fault: int) -> tuple[Step, ...]:
    """Return steps whose calls, if they fail, return the status of the whole call."""

    def changed(step: Step) -> Step:
        if isinstance(step, Each):
            return replace(step, body=_with_fault(step.body, fault))
        return replace(step, fault=fault) if isinstance(step, Call) and step.fault else step

    return tuple(map(changed, steps))


class _Writer:
    """Writes a call: the names of operands and results around the loop, and those of one step inside."""

    def __init__(self, call: Call, outer: Names) -> None:
        (part,) = call.kernel.parts
        assert call.kernel.loop is not None
        self.call, self.outer, self.loop_of = call, outer, call.kernel.loop
        numbers = {b.name for b in part.program.buffers if b.role == "output" and not b.shape}
        buffers = tuple(replace(b, role="scalar") if b.name in numbers else b for b in part.program.buffers)
        steps = _with_fault(part.program.steps, call.fault)
        self.program = replace(part.program, buffers=buffers, steps=steps, faults=outer.program.faults)
        axes = {axis for step in walk(outer.program.steps) if isinstance(step, Loop) for axis, _ in step.axes}
        self.names = Names(self.program, "numba", reserved=outer.taken - {outer.give(axis) for axis in axes})
        self.operands = [outer.entry(argument.value, ()) for _, argument in call.operands]
        self.results = [outer.entry(argument.value, ()) for _, argument in call.results]
        self.sizes = {name: outer.size(size) for name, size in call.params if not isinstance(size, str)}
        spelled = {s.name: outer.size(s.name) for s in self.program.sources}
        spelled |= {n: self.sizes[f"size_{k}"] for k, n in enumerate(self.program.size_args)}
        count = len(self.loop_of.kinds)
        for name, number in zip(self.program.inputs, self.loop_of.inputs, strict=True):
            if number >= count + self.loop_of.sequences:
                spelled[name] = self.operands[number]
        self.names.spelled |= spelled
        self.index, self.round = self.names.local("t"), self.names.local("step")
        inputs = dict(zip(self.loop_of.inputs, self.program.inputs, strict=True))
        self.inputs = {k: self.names.give(name) for k, name in inputs.items()}
        self.next = [self.names.give(name) for name in self.program.outputs]
        self.is_number = [not self.program.table[name].shape for name in self.program.outputs]

    @property
    def steps(self) -> str:
        return self.sizes["steps_"]

    def begin(self) -> Lines:
        """Return the lines before the loop: the starts, and arrays for states without a trajectory."""
        first = self.steps if self.loop_of.backward else "0"
        lines = []
        for k, kind in enumerate(self.loop_of.kinds):
            start, result, own = self.operands[k], self.results[k], self.inputs.get(k, "")
            if kind == WHOLE:
                entry = f"{result}[{first}]"
                lines.append(f"{entry} = {start}" if self.is_number[k] else self.copy(start, entry))
            elif self.is_number[k]:
                lines.append(f"{self.number(k)} = {start if kind == LAST else '0.0'}")
            else:
                lines.append(self.copy(start, result) if kind == LAST else f"zeroed({result}.reshape(-1))")
                lines.append(f"{self.next[k]} = np.empty_like({result})")
                lines += [f"{own} = {result}"] if own else []
        return [(line, "") for line in lines]

    def number(self, k: int) -> str:
        """Return the name of a number that the loop carries."""
        return self.inputs.get(k) or self.names.local(f"{self.next[k]}_total")

    def copy(self, source: str, target: str) -> str:
        return f"copied({source}.reshape(-1), {target}.reshape(-1))"

    def loop(self, body: Lines) -> Lines:
        """Return the loop over the steps, with the statements of a step."""
        backward, t = self.loop_of.backward, self.index
        before, after = (f"{t} + 1", t) if backward else (t, f"{t} + 1")
        head = f"for {self.round if backward else t} in range({self.steps}):"
        lines = [f"{t} = {self.steps} - 1 - {self.round}"] if backward else []
        kinds = self.loop_of.kinds
        for k, name in self.inputs.items():
            if k < len(kinds):
                lines += [f"{name} = {self.results[k]}[{before}]"] if kinds[k] == WHOLE else []
            elif k < len(kinds) + self.loop_of.sequences:
                lines.append(f"{name} = {self.operands[k]}[{t}]")
        for k, kind in enumerate(kinds):
            if kind == WHOLE and not self.is_number[k]:
                lines.append(f"{self.next[k]} = {self.results[k]}[{after}]")
        inner = [*((line, "") for line in lines), *body, *((line, "") for line in self.written(after))]
        return [(head, self.call.comment), *((INDENT + line, note) for line, note in inner)]

    def written(self, after: str) -> list[str]:
        """Return the lines at the end of a step: next values become last ones."""
        lines = []
        for k, kind in enumerate(self.loop_of.kinds):
            own, result = self.next[k], self.results[k]
            if self.is_number[k]:
                target = {WHOLE: f"{result}[{after}] =", LAST: f"{self.number(k)} =", TOTAL: f"{self.number(k)} +="}
                lines.append(f"{target[kind]} {own}")
            elif kind != WHOLE:
                function = "copied" if kind == LAST else "added"
                lines.append(f"{function}({own}.reshape(-1), {result}.reshape(-1))")
        return lines

    def end(self) -> Lines:
        """Return the lines after the loop: numbers that it carried are results."""
        carried = (k for k, kind in enumerate(self.loop_of.kinds) if kind != WHOLE and self.is_number[k])
        return [(f"{self.results[k]} = {self.number(k)}", "") for k in carried]
