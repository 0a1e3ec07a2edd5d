"""Names the values inside one step of a loop: its inputs, its next values, its sizes, and the arrays that it shares."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from matcalc.compiler.code.code import REST, Call, Do, Expr, Name, Statement, View
from matcalc.compiler.emit.spelling import Names
from matcalc.compiler.lowering_entries import Part
from matcalc.compiler.program import Call as KernelCall
from matcalc.compiler.program import Each, Loop, Step, walk


class StepNames:
    """The names of a part of a kernel that runs at each step.

    `numbers` are those of the operands that it reads; `shared` are operands that are the same at each step. `sizes`
    is the prefix of the parameters that hold its sizes.
    """

    def __init__(
        self, call: KernelCall, part: Part, outer: Names, numbers: Sequence[int], shared: range, sizes: str
    ) -> None:
        own = {b.name for b in part.program.buffers if b.role == "output" and not b.shape}
        buffers = tuple(replace(b, role="scalar") if b.name in own else b for b in part.program.buffers)
        steps = _with_fault(part.program.steps, call.fault)
        self.program = replace(part.program, buffers=buffers, steps=steps, faults=outer.program.faults)
        axes = {axis for step in walk(outer.program.steps) if isinstance(step, Loop) for axis, _ in step.axes}
        self.names = Names(self.program, "numba", reserved=outer.taken - {outer.give(axis) for axis in axes})
        params = {name: size for name, size in call.params if not isinstance(size, str)}
        self.names.spelled |= {s.name: outer.size(s.name) for s in self.program.sources}
        self.names.spelled |= {n: outer.size(params[f"{sizes}{k}"]) for k, n in enumerate(self.program.size_args)}
        for name, number in zip(self.program.inputs, numbers, strict=True):
            if number in shared:
                self._share(name, outer.entry(call.operands[number][1].value, ()))
        self.inputs: Mapping[int, str] = {
            k: self.names.give(name) for k, name in zip(numbers, self.program.inputs, strict=True)
        }
        self.next = [self.names.give(name) for name in self.program.outputs]
        self.is_number = [not self.program.table[name].shape for name in self.program.outputs]

    def _share(self, name: str, entry: Expr) -> None:
        if isinstance(entry, Name):
            self.names.spelled[name] = entry.name
        else:
            self.names.known[name] = entry

    def rank(self, k: int) -> int:
        """Return the number of axes of the next value `k`."""
        return len(self.program.table[self.program.outputs[k]].shape)


def _with_fault(steps: tuple[Step, ...], fault: int) -> tuple[Step, ...]:
    """Return steps whose calls, if they fail, return the status of the whole call."""

    def changed(step: Step) -> Step:
        if isinstance(step, Each):
            return replace(step, body=_with_fault(step.body, fault))
        return replace(step, fault=fault) if isinstance(step, KernelCall) and step.fault else step

    return tuple(map(changed, steps))


def copied(source: Expr, target: Expr) -> Statement:
    """Return the statement that copies all entries of an array to another."""
    return Do(Call("copied", (View(source, REST), View(target, REST))))
