"""Assigns values to buffers and returns the Program.

A value reuses the memory of another if the loop that writes it reads the other for the last time, at the same indices.
A view gives the memory the shape of the reader. A sum that kernels add to reuses memory too. Such values form a chain
in one buffer: an output's if one of them is an output, else a buffer that is free again, else a new one. `verify`
checks the result.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from matcalc.compiler.entrywise import Read, reads
from matcalc.compiler.plan.memory.schedule import Schedule
from matcalc.compiler.plan.values.values import Graph, Value
from matcalc.compiler.program import (
    Buffer,
    Call,
    Loop,
    Program,
    Source,
    Step,
    Store,
    View,
    statements,
    values_read,
    values_written,
    walk,
)
from matcalc.compiler.verify.order import verify
from matcalc.tensor.sizes.size import Size

Shape = tuple[Size, ...]


@dataclass(slots=True, eq=False)
class Chain:
    """Values that follow each other in one buffer, from step `first` to step `last`."""

    shape: Shape
    dtype: str
    first: int
    last: int
    output: str = ""
    buffer: str = ""
    members: list[str] = field(default_factory=list)


class Allocator:
    def __init__(self, graph: Graph, schedule: Schedule, outputs: Mapping[str, Value]) -> None:
        self.graph = graph
        self.schedule = schedule
        self.outputs = outputs
        self.steps = list(schedule.steps)
        self.chains: dict[str, Chain] = {}
        self.last: dict[str, int] = {}
        self.alias: dict[str, str] = {}
        self.result: dict[str, str] = {self.root(v.name): name for name, v in outputs.items()}
        self.buffers: list[Buffer] = []
        self.table: dict[str, Buffer] = {}
        self.named: dict[tuple[str, Shape, Size | None], str] = {}  # views
        self.taken = set(graph.reserved) | set(outputs)
        self.counts = {"r": 0, "s": 0, "x": 0}

    def root(self, value: str) -> str:
        """Return the stored value of which `value` is a view or a copy."""
        while value in self.alias or value in self.schedule.same:
            value = self.alias[value] if value in self.alias else self.schedule.same[value].name
        return value

    def shape_of(self, value: str) -> Value:
        found = self.graph.values.get(value)
        return found if found is not None else self.graph.values[value.rpartition("_")[0]]

    # ---- liveness and chains

    def find_last(self) -> None:
        for index, step in enumerate(self.steps):
            for inner in walk([step]):
                for value in values_read(inner):
                    self.last[self.root(value)] = index
        for output in self.outputs.values():
            self.last[self.root(output.name)] = len(self.steps)

    def make_chains(self) -> None:
        for index, step in enumerate(self.steps):
            for inner in walk([step]):
                if isinstance(inner, Call):
                    for number, (_, p) in enumerate(inner.results):
                        self._start(p.value, index, inner.onto if number == 0 else "")
                elif isinstance(inner, Loop):
                    self._loop_chains(inner, index)

    def _loop_chains(self, loop: Loop, index: int) -> None:
        reused: set[str] = set()
        local = {let.value for let in loop.lets}
        for store in loop.sums:
            self._start(store.value, index, "")
        for store in loop.stores:
            onto = store.onto or store.over or self._donor(store, loop, index, local, reused)
            self._start(store.value, index, onto)

    def _donor(self, store: Store, loop: Loop, index: int, local: set[str], reused: set[str]) -> str:
        """Return a value that this loop reads for the last time, only at the indices where `store` writes."""
        exprs = [x.expr for x in statements(loop)]
        shape, dtype = self.shape_of(store.value).shape, self.shape_of(store.value).dtype
        found: dict[str, bool] = {}
        for expr in exprs:
            for read in reads(expr):
                if read.value not in local:
                    name = self.root(read.value)
                    same_index = read.at == store.at and self._is_whole(read.value, shape)
                    found[name] = found.get(name, True) and same_index
        own = [r.value for r in reads(store.expr)] if not loop.lets else []
        for name, fits in sorted(found.items(), key=lambda f: (f[0] not in own, f[0])):
            chain = self.chains.get(name)
            if chain is None or not fits or name in reused or not shape or chain.output:
                continue
            if self.last[name] == index and chain.members[-1] == name and chain.dtype == dtype:
                if self._is_read_after(name, store, loop):
                    continue
                reused.add(name)
                return name
        return ""

    def _is_whole(self, name: str, shape: Shape) -> bool:
        """Whether a value has this shape and is a whole array, not a view of a part of one."""
        value = self.graph.values.get(name)
        if value is None or value.shape != shape:
            return value is None and self.shape_of(name).shape == shape
        return not self._is_part(value)

    def _is_read_after(self, name: str, store: Store, loop: Loop) -> bool:
        index = loop.stores.index(store)
        return any(self.root(r.value) == name for later in loop.stores[index + 1 :] for r in reads(later.expr))

    def _start(self, value: str, index: int, onto: str) -> None:
        last = self.last.get(value, index)
        output = self.result.get(value, "")
        if onto:
            chain = self.chains[onto] if onto in self.chains else self.chains[self.root(onto)]
            chain.last = max(last, index)
            chain.output = output
        else:
            described = self.shape_of(value)
            chain = Chain(described.shape, described.dtype, index, max(last, index), output)
        chain.members.append(value)
        self.chains[value] = chain

    # ---- buffers

    def name(self, prefix: str) -> str:
        while True:
            self.counts[prefix] += 1
            text = f"{prefix}{self.counts[prefix]}"
            if text not in self.taken:
                self.taken.add(text)
                return text

    def assign_buffers(self) -> None:
        chains = sorted(dict.fromkeys(self.chains.values()), key=lambda c: c.first)
        free: dict[tuple[Shape, str], list[tuple[int, int, str]]] = {}
        for name, value in self.outputs.items():
            self.buffers.append(Buffer(name, value.shape, value.dtype, "output"))
        for chain in chains:
            if chain.output:
                chain.buffer = chain.output
                if self.outputs[chain.output].shape == chain.shape and chain.first > 0:
                    free.setdefault((chain.shape, chain.dtype), []).append((0, chain.first - 1, chain.output))
        for chain in chains:
            if chain.buffer:
                continue
            if not chain.shape:
                chain.buffer = self.name("s")
                self.buffers.append(Buffer(chain.buffer, (), chain.dtype, "scalar"))
                continue
            spare = free.setdefault((chain.shape, chain.dtype), [])
            fit = next((s for s in spare if s[0] <= chain.first and chain.last <= s[1]), None)
            if fit is not None:
                spare.remove(fit)
                chain.buffer = fit[2]
                spare.append((chain.last + 1, fit[1], fit[2]))
                continue
            chain.buffer = self.name("r")
            self.buffers.append(Buffer(chain.buffer, chain.shape, chain.dtype))
            spare.append((chain.last + 1, len(self.steps), chain.buffer))

    # ---- the program

    def elide_copies(self) -> None:
        """Drop stores that copy a value onto itself."""
        for index, step in enumerate(self.steps):
            if not isinstance(step, Loop):
                continue
            kept: list[Store] = []
            local = {let.value for let in step.lets}
            for store in step.stores:
                source = store.expr
                is_copy = isinstance(source, Read) and source.at == store.at and source.value not in local
                if isinstance(source, Read) and is_copy and not store.onto:
                    chain = self.chains.get(source.value)
                    if chain is not None and chain is self.chains[store.value]:
                        self.alias[store.value] = source.value
                        continue
                kept.append(store)
            if len(kept) < len(step.stores):
                self.steps[index] = Loop(step.axes, step.lets, step.sums, tuple(kept), step.guards)

    def program(
        self, inputs: Sequence[str], size_args: Sequence[str], sources: Sequence[Source], comment: str = ""
    ) -> Program:
        self.find_last()
        self.make_chains()
        self.assign_buffers()
        self.elide_copies()
        buffer_of = {value: chain.buffer for value, chain in self.chains.items()}
        leaves = [v for v in self.graph.values.values() if v.name in inputs or v.kind == "constant"]
        self.buffers = [Buffer(v.name, v.shape, v.dtype, v.kind) for v in leaves] + self.buffers
        buffer_of.update({v.name: v.name for v in leaves})
        steps = self._with_views(buffer_of)
        same = {name: value.name for name, value in self.schedule.same.items()}
        same.update(self.alias)
        program = Program(
            tuple(inputs),
            tuple(self.outputs),
            tuple(size_args),
            tuple(sources),
            tuple(self.buffers),
            buffer_of,
            same,
            {name: value.name for name, value in self.outputs.items()},
            tuple(s for s in steps if not (isinstance(s, Loop) and not s.sums and not s.stores)),
            {v.name: v.entries for v in leaves if v.kind == "constant"},
            self.schedule.faults,
            comment,
        )
        return verify(program)

    def _with_views(self, buffer_of: dict[str, str]) -> list[Step]:
        """Return the steps with a View before the first use of each value that is read in another shape."""
        self.table = {b.name: b for b in self.buffers}
        for value, chain in self.chains.items():
            shape = self.shape_of(value).shape
            if self.table[chain.buffer].shape != shape:
                buffer_of[value] = self._view_buffer(chain.buffer, shape, None)
        for name in self.schedule.views:
            self._locate_view(name, buffer_of)
        pending = {v: k for k, v in self.named.items()}
        result: list[Step] = []
        for step in self.steps:
            for inner in walk([step]):
                for value in (*values_read(inner), *values_written(inner)):
                    pending_views, name = [], buffer_of.get(value, value)
                    while name in pending:
                        pending_views.append(pending.pop(name))
                        name = pending_views[-1][0]
                    result += [View(self.named[key], key[0], key[2]) for key in reversed(pending_views)]
            result.append(step)
        return result

    def _locate_view(self, name: str, buffer_of: dict[str, str]) -> None:
        value = self.schedule.views[name]
        assert value.of is not None
        base = buffer_of.get(value.of.name, value.of.name)
        if value.start is None and not self._is_part(value.of):
            root = self.root(name)
            base = self.chains[root].buffer if root in self.chains else root
        is_same = self.table[base].shape == value.shape and value.start is None
        buffer_of[name] = base if is_same else self._view_buffer(base, value.shape, value.start)

    def _is_part(self, value: Value) -> bool:
        """Whether a value is a view of a part of another, in any shape."""
        while value.start is None and value.of is not None:
            value = value.of
        return value.start is not None

    def _view_buffer(self, base: str, shape: Shape, start: Size | None) -> str:
        key = (base, shape, start)
        if key not in self.named:
            self.named[key] = self.name("x")
            buffer = self.table[self.named[key]] = Buffer(self.named[key], shape, self.table[base].dtype, "view")
            self.buffers.append(buffer)
        return self.named[key]
