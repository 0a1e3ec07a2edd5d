"""Runs a Program at concrete sizes, point by point, and checks every access.

It shares nothing with the emitters: it runs loops step by step, and computes elementwise functions and kernels from
their rules and patterns (`kernels`). Each index is checked against the shape of its buffer. Each entry that is read
must hold the expected value. An entry is assigned once unless it is added to. Views lie inside their buffers. Calls get
operands of the shapes in their patterns, and results that overlap nothing. Every entry of an output is written in the
end.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from matcalc.compiler.entrywise import At, Read, entry_text, reads
from matcalc.compiler.listing import step_text
from matcalc.compiler.lowering_entries import Part
from matcalc.compiler.program import Call, Each, Loop, Program, Step, Store, View, statements
from matcalc.compiler.verify.expressions import Frame, Numeric, guard, holds, numeric, whole
from matcalc.compiler.verify.faults import RunFault
from matcalc.compiler.verify.kernels import Run, Surroundings, compute, factorised
from matcalc.compiler.verify.memory import Array, Memory, check_index, numbered
from matcalc.errors import ShapeError

LETS = "lets "  # prefix of keys of lets in a frame: no name of a size or axis has a space


def interpret(
    program: Program, arguments: Mapping[str, Any], sizes: Mapping[str, int], goes_on: bool = False
) -> dict[str, Array]:
    """Run a Program on arrays by name and return its outputs; `sizes` are those that no argument determines.

    If a kernel has no value (a singular matrix), its results are NaN with `goes_on`.

    Raises: RunFault for an invalid step; np.linalg.LinAlgError with the program's message if a kernel has no value;
    ShapeError for arguments, or sizes at which a buffer would have a negative length.
    """
    return Interpreter(program, goes_on).run(arguments, sizes)


class Interpreter:
    """A Program prepared to run: its expressions are functions, each step an action."""

    def __init__(self, program: Program, goes_on: bool = False) -> None:
        self.program = program
        self.around = Surroundings(program.faults, self.part, goes_on)
        self.number, self.before = numbered(program)
        self.memory: Memory
        self.frame: Frame
        self.made: dict[tuple[str, tuple[int, ...]], Any] = {}
        self.actions = [(step, self.action(step)) for step in program.steps]
        self.ahead = Interpreter(program.ahead, goes_on) if program.ahead is not None else None

    def run(self, arguments: Mapping[str, Any], sizes: Mapping[str, int]) -> dict[str, Array]:
        program = self.program
        if self.ahead is not None:
            arguments = {**arguments, **self.ahead.run(arguments, sizes)}
        arrays = {name: np.asarray(arguments[name], program.table[name].dtype) for name in program.inputs}
        self.frame = self.sizes_of(arrays, sizes)
        data: Any = {name: arrays[name] for name in program.inputs if arrays[name].dtype.kind == "i"}
        self.frame |= {name: array if array.shape else int(array) for name, array in data.items()}
        self.check_data()
        self.memory, self.made = Memory(program, self.number, self.before), self.precomputed()
        self.frame_sizes = {name: k for name, k in self.frame.items() if isinstance(k, int)}
        for buffer in program.buffers:
            if buffer.role == "view":
                continue
            shape = tuple(whole(s)(self.frame) for s in buffer.shape)
            if buffer.role in ("input", "constant"):
                array = arrays.get(buffer.name)
                if array is None:
                    array = np.array(program.constants[buffer.name]).reshape(shape)
                if array.shape != shape:
                    raise ShapeError(f"{buffer.name} has the shape {array.shape}, not {shape}")
                self.memory.give(buffer.name, array)
            else:
                self.memory.make(buffer.name, shape, buffer.dtype, program.zero_filled.get(buffer.name, ""))
        with np.errstate(all="ignore"):
            for step, act in self.actions:
                self.guarded(step, act)
        return {name: self.result(name) for name in program.outputs}

    def precomputed(self) -> dict[tuple[str, tuple[int, ...]], Any]:
        """Return the recorded origins of the inputs that are computed ahead."""
        if self.ahead is None:
            return {}
        before = self.ahead.program
        names = {before.root(value): name for name, value in before.results.items()}
        return {(names[value], lead): how for (value, lead), how in self.ahead.made.items() if value in names}

    def check_data(self) -> None:
        """Raise ShapeError if indices in data are outside their axes."""
        for checked in self.program.data:
            index, length = whole(checked.index), whole(checked.length)(self.frame)
            for at in np.ndindex(*(whole(size)(self.frame) for _, size in checked.axes)):
                point = dict(zip((axis for axis, _ in checked.axes), at, strict=True))
                if not 0 <= index({**self.frame, **point}) < length:
                    raise ShapeError(checked.fault)

    def sizes_of(self, arrays: Mapping[str, Array], sizes: Mapping[str, int]) -> Frame:
        """Return the sizes, read as the emitted code reads them and compared with `sizes`."""
        frame: Frame = {name: int(sizes[name]) for name in self.program.size_args}
        for source in self.program.sources:
            length = arrays[source.input].shape[source.axis] - whole(source.offset)(frame)
            value = length / source.factor
            frame[source.name] = int(value)
            if value != int(value) or sizes.get(source.name, int(value)) != int(value):
                raise ShapeError(f"{source.name} is {value} by the shape of {source.input}")
        return frame

    def result(self, name: str) -> Array:
        """Return an output after the last step."""
        try:
            return self.memory.check_read(self.program.results[name], ()).copy()
        except RunFault as fault:
            raise fault.inside(f"output {name}", self.frame_sizes) from None

    def guarded(self, step: Step, act: Callable[[], None]) -> None:
        try:
            act()
        except RunFault as fault:
            raise fault.inside(step_text(step), self.frame_sizes) from None
        except KeyError as missing:
            what = f"{missing.args[0]} is not a size, axis or value here"
            raise RunFault(what, str(missing.args[0]), (), step_text(step), self.frame_sizes) from None
        except ZeroDivisionError:
            what = "an index or size is divided by zero"
            raise RunFault(what, "", (), step_text(step), self.frame_sizes) from None

    def part(self, part: Part) -> Callable[..., int]:
        """Return a function that a kernel calls, interpreted; it writes its results into its first arguments."""
        machine = Interpreter(part.program, self.around.goes_on)

        def function(*arguments: Any) -> int:
            named = dict(zip(part.parameters, arguments, strict=True))
            arrays = {name: named[name] for name in part.program.inputs}
            for name, value in machine.run(arrays, {n: int(named[n]) for n in part.program.size_args}).items():
                named[name][...] = value
            return 0

        return function

    # ---- steps

    def action(self, step: Step) -> Callable[[], None]:
        if isinstance(step, Each):
            return self.each(step)
        if isinstance(step, View):
            return lambda: self.view(step)
        if isinstance(step, Loop):
            check_lets(step)
            return LoopRun(self, step).run
        alpha = numeric(step.alpha, self.reader({}))
        return lambda: self.call(step, alpha)

    def each(self, step: Each) -> Callable[[], None]:
        body = [(inner, self.action(inner)) for inner in step.body]
        length = whole(step.size)

        def act() -> None:
            for k in range(length(self.frame)):
                self.frame[step.axis] = k
                for inner, run in body:
                    self.guarded(inner, run)
            self.frame.pop(step.axis, None)

        return act

    def view(self, step: View) -> None:
        shape = tuple(whole(s)(self.frame) for s in self.program.table[step.buffer].shape)
        self.memory.view(step, shape, None if step.start is None else whole(step.start)(self.frame))

    def call(self, call: Call, alpha: Numeric) -> None:
        memory, leads = self.memory, {}
        operands: dict[str, Array] = {}
        for field, argument in call.operands:
            leads[field] = tuple(whole(a)(self.frame) for a in argument.lead)
            operands[field] = memory.check_read(argument.value, leads[field])
        blocks: dict[str, tuple[Array, Array]] = {}
        for number, (field, argument) in enumerate(call.results):
            memory.check_write(argument.value)
            lead = leads[field] = tuple(whole(a)(self.frame) for a in argument.lead)
            data, owner = blocks[field] = memory.block(argument.value, lead)
            for other, array in [*operands.items(), *((f, b[0]) for f, b in blocks.items() if f != field)]:
                if np.may_share_memory(data, array) and array.size and data.size:
                    raise RunFault(
                        f"{argument.value} is written where {other} of the same call is", argument.value, lead
                    )
            if call.onto and number == 0:
                memory.check_read(argument.value, lead)  # the value that is added to, or this value in an earlier round
                if memory.buffer_of(call.onto) != memory.buffer_of(argument.value):
                    raise RunFault(
                        f"{argument.value} is added to {call.onto}, which is in another buffer", argument.value
                    )
            elif np.any(owner == self.number[argument.value]):
                raise RunFault(f"{argument.value} is written a second time", argument.value, lead)
        made = {field: self.made.get((self.program.root(p.value), leads[field])) for field, p in call.operands}
        shapes = {f: b[0].shape for f, b in blocks.items()}
        found = compute(Run(call, operands, shapes, made, self.frame, self.around))
        scale, known = alpha(self.frame), factorised(call, operands)
        for number, (field, argument) in enumerate(call.results):
            data, owner = blocks[field]
            value = scale * found[field] if data.dtype.kind == "f" else found[field]
            data[...] = data + value if call.onto and number == 0 else value
            owner[...] = self.number[argument.value]
            self.made[self.program.root(argument.value), leads[field]] = known

    # ---- reading

    def reader(self, local: Mapping[str, At]) -> Callable[[Read], Numeric]:
        """Return the function that converts reads to functions of a frame; `local` are the lets of a loop."""

        def function(read: Read) -> Numeric:
            value = read.value
            if value in local:
                key = LETS + value
                return lambda frame: frame[key]
            at = [whole(a) for a in read.at]
            number, before = self.number.get(value, -1), self.before.get(value, frozenset())
            buffer = self.program.buffer_of.get(value, value)

            def entry(frame: Frame) -> Any:
                index = tuple([k(frame) for k in at])
                memory = self.memory
                if buffer not in memory.data:
                    raise RunFault(f"{value} has no memory", value, index)
                data = memory.data[buffer]
                if data.shape and index or data.ndim != len(index):
                    check_index(value, index, data.shape)
                owner = int(memory.owner[buffer][index])
                if owner != number and owner not in before:
                    raise memory.fault_of_reading(value, owner, index)
                return data[index]

            return entry

        return function


class LoopRun:
    """A Loop prepared to run: lets, sums and stores as functions of a frame."""

    def __init__(self, machine: Interpreter, loop: Loop) -> None:
        self.machine = machine
        self.loop = loop
        self.axes = [(axis, whole(size)) for axis, size in loop.axes]
        self.guards = [guard(g) for g in loop.guards]
        local: dict[str, At] = {}
        self.lets: list[tuple[str, Numeric]] = []
        for let in loop.lets:
            self.lets.append((LETS + let.value, numeric(let.expr, machine.reader(local))))
            local[let.value] = ()
        read = machine.reader(local)
        self.sums = [(s, [whole(a) for a in s.at], numeric(s.expr, read)) for s in loop.sums]
        self.stores = [(s, [whole(a) for a in s.at], numeric(s.expr, read)) for s in loop.stores]

    def run(self) -> None:
        memory, number = self.machine.memory, self.machine.number
        frame: Any = self.machine.frame
        outer = dict(frame)
        lengths = [length(frame) for _, length in self.axes]
        for store in (*self.loop.sums, *self.loop.stores):
            memory.check_write(store.value)
        for store, at, _ in self.sums:
            self.zero(store, at, dict(zip((a for a, _ in self.axes), lengths, strict=True)))
        names = [axis for axis, _ in self.axes]
        for point in itertools.product(*map(range, lengths)):
            frame.update(zip(names, point, strict=True))
            if not holds(self.guards, frame):
                continue
            for key, value in self.lets:
                frame[key] = value(frame)
            for store, at, value in self.sums:
                data, _, index = self.entry(store, at)
                data[index] += value(frame)
            for store, at, value in self.stores:
                found = value(frame)
                data, owner, index = self.entry(store, at)
                holder, own = int(owner[index]), number[store.value]
                if store.onto:
                    if not memory.may_read(store.value, holder):
                        raise memory.fault_of_reading(store.onto, holder, index)
                    data[index] += found
                elif holder == own:
                    raise RunFault(f"{entry_text(store.value, index)} is assigned a second time", store.value, index)
                else:
                    data[index] = found
                owner[index] = own
        self.machine.frame = outer

    def zero(self, store: Store, at: Sequence[Callable[[Frame], int]], lengths: Mapping[str, int]) -> None:
        """Set the sums to zero at all entries that their axes reach."""
        frame = dict(self.machine.frame)
        found = {n for a in store.at for n in ((a,) if isinstance(a, str) else a.names)}
        names = [axis for axis in lengths if axis in found]
        for point in itertools.product(*(range(lengths[n]) for n in names)):
            frame.update(zip(names, point, strict=True))
            data, owner, index = self.entry(store, at, frame)
            if owner[index] == self.machine.number[store.value]:
                raise RunFault(f"{entry_text(store.value, index)} is summed twice", store.value, index)
            data[index], owner[index] = 0.0, self.machine.number[store.value]

    def entry(
        self, store: Store, at: Sequence[Callable[[Frame], int]], frame: Frame | None = None
    ) -> tuple[Array, Array, tuple[int, ...]]:
        """Return the memory of a store and the index, checked to be inside."""
        memory = self.machine.memory
        buffer = memory.buffer_of(store.value)
        if buffer not in memory.data:
            raise RunFault(f"{store.value} has no memory", store.value)
        index = tuple(k(self.machine.frame if frame is None else frame) for k in at)
        check_index(store.value, index, memory.data[buffer].shape)
        return memory.data[buffer], memory.owner[buffer], index


def check_lets(loop: Loop) -> None:
    """Raise RunFault if a loop reads a let at two indices: a let is one number."""
    lets, seen = {let.value for let in loop.lets}, dict[str, At]()
    for statement in statements(loop):
        for read in reads(statement.expr):
            if read.value in lets and seen.setdefault(read.value, read.at) != read.at:
                what = f"{read.value} is read at two indices in one loop: {read.at} and {seen[read.value]}"
                raise RunFault(what, read.value, (), step_text(loop))
