"""Writes the Numba statements of a kernel that runs its part on blocks of rows: the part's statements inside a loop.

Kernels add to vectors themselves, with beta = 0 in the first round. Other totals are written to separate arrays and
added to the results of the call, if there are several blocks. So a call with one block, as for small data, takes hardly
more steps than the part alone.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from matcalc.compiler.emit.spelling import Names
from matcalc.compiler.lowering_entries import BLOCK, BUSY, LEAST, ONCE, Blocks
from matcalc.compiler.program import Call, Loop, Program, Step, values_written, walk

INDENT = "    "
Lines = list[tuple[str, str]]


def blocks_lines(call: Call, outer: Names, write: Callable[[Program, Names], Lines]) -> Lines:
    """Return the lines of a call, with comments; `write` returns those of a program."""
    (part,) = call.kernel.parts
    numbers = frozenset(b.name for b in part.program.buffers if b.role == "output" and not b.shape)
    buffers = tuple(replace(b, role="scalar") if b.name in numbers else b for b in part.program.buffers)
    writer = _Writer(call, replace(part.program, buffers=buffers), numbers, outer)
    lines = [*writer.choose(), *writer.begin(), *writer.loop(write), *writer.end()]
    outer.taken |= writer.names.taken
    return lines


def _summed(program: Program, blocks: Blocks) -> frozenset[str]:
    """Return the vector totals that only kernels able to add write; products are slow at adding matrices."""
    memory = program.memory
    writers: dict[str, list[Step]] = {}
    for step in walk(program.steps):
        for value in values_written(step):
            writers.setdefault(memory[program.buffer_of[value]], []).append(step)
    vectors = (name for name in blocks.totals if len(program.buffer(name).shape) == 1)
    return frozenset(name for name in vectors if all(map(_can_add, writers.get(name, ()))))


def _adding(program: Program, summed: frozenset[str], before: str) -> Program:
    """Return a program whose kernels, where they start a total, add `before` times its old entries."""
    memory = program.memory

    def changed(step: Step) -> Step:
        if not isinstance(step, Call) or step.onto or memory[program.buffer_of[step.results[0][1].value]] not in summed:
            return step
        return replace(step, params=(*step.params, ("beta", before)))

    return replace(program, steps=tuple(map(changed, program.steps)))


def _can_add(step: Step) -> bool:
    return isinstance(step, Call) and step.kernel.scales and len(step.results) == 1


class _Writer:
    """Writes a call; `outside` maps arguments and results of the part to their names around the loop."""

    def __init__(self, call: Call, program: Program, numbers: frozenset[str], outer: Names) -> None:
        assert call.kernel.blocks is not None
        self.call, self.outer, self.blocks = call, outer, call.kernel.blocks
        axes = {axis for step in walk(outer.program.steps) if isinstance(step, Loop) for axis, _ in step.axes}
        self.names = names = Names(program, "numba", reserved=outer.taken - {outer.give(axis) for axis in axes})
        arguments = [argument for _, argument in (*call.operands, *call.results)]
        known = zip((*program.inputs, *program.outputs), arguments, strict=True)
        self.outside = {name: outer.entry(argument.value, ()) for name, argument in known}
        sizes = {s.name: outer.size(s.name) for s in program.sources}
        sizes |= {name: outer.size(s) for name, (_, s) in zip(program.size_args, call.params, strict=True)}
        self.start, self.rows, self.last, self.before = map(names.local, ("start", "rows", "end", "before"))
        sizes[self.blocks.rows.key] = names.local(f"{self.blocks.rows.key}_rows")
        names.spelled |= self.outside | sizes
        self.numbers = {n: names.local(f"{n}_total") for n in program.outputs if n in numbers}
        self.summed = _summed(program, self.blocks)
        self.program = _adding(program, self.summed, self.before)
        self.added = [n for n in self.blocks.totals if n not in numbers | self.summed]
        names.spelled |= {n: names.local(f"{n}_part") for n in self.numbers}
        names.spelled |= {n: names.local(f"{n}_part") for n in self.added}
        self.sliced = [*self.blocks.sliced, *(n for n in program.outputs if n not in self.blocks.totals)]
        names.spelled |= {n: names.local(f"{n}_rows") for n in self.sliced}

    def choose(self) -> Lines:
        """Return the lines that choose the number of rows in a block, from sizes alone."""
        blocks, size, wide = self.blocks, self.outer.size, self.names.local("width")
        count = size(blocks.rows)
        besides, enough = self.names.local("besides"), f"{size(blocks.flops)} > {BUSY}*{wide}"
        much = f"3*{besides} > 2*{self.rows}*{wide}"
        lines = [
            (f"{self.last} = {count} if {count} > 0 else 1", "without rows too, results are written"),
            (f"{wide} = {size(blocks.width)}", "entries of a row"),
            (f"{besides} = {size(blocks.besides)}", "entries that each block reads or adds to"),
            (f"{self.rows} = max({LEAST}, {BLOCK}//{wide})", ""),
            (f"if {count}*{wide} <= {ONCE} or {enough} or {much}:", ""),
        ]
        return [*lines, (f"{INDENT}{self.rows} = {self.last}", "few entries, flops enough, or much besides rows")]

    def begin(self) -> Lines:
        """Return the lines before the loop."""
        lines = [f"{total} = 0.0" for total in self.numbers.values()]
        lines += [f"{self.before} = 0.0"] if self.summed else []
        lines += [f"{self.names.give(n)} = {self.outside[n]}" for n in self.added]
        lines += [f"if {self.rows} < {self.last}:"] if self.added else []
        for name in self.added:
            lines.append(f"{INDENT}{self.names.give(name)} = np.empty({self.shape(name)})")
            lines.append(f"{INDENT}zeroed({self.outside[name]}.reshape(-1))")
        return [(line, "") for line in lines]

    def loop(self, write: Callable[[Program, Names], Lines]) -> Lines:
        """Return the loop over blocks."""
        start, rows, names = self.start, self.rows, self.names
        length = names.give(self.blocks.rows.key)
        inner = [f"{names.give(n)} = {self.outside[n]}[{start}:{start} + {rows}]" for n in self.sliced]
        inner.append(f"{length} = {names.give(self.blocks.sliced[0])}.shape[0]")
        lines = [*((line, "") for line in inner), *write(self.program, names)]
        lines += [(f"{total} += {names.give(name)}", "") for name, total in self.numbers.items()]
        lines += [(f"if {rows} < {self.last}:", "")] if self.added else []
        for name in self.added:
            parts = f"{names.give(name)}.reshape(-1), {self.outside[name]}.reshape(-1)"
            lines.append((f"{INDENT}added({parts})", ""))
        lines += [(f"{self.before} = 1.0", "")] if self.summed else []
        head = f"for {start} in range(0, {self.last}, {rows}):"
        return [(head, self.call.comment), *((INDENT + line, note) for line, note in lines)]

    def shape(self, name: str) -> str:
        sizes = [f"{self.outside[name]}.shape[{k}]" for k in range(len(self.program.buffer(name).shape))]
        return sizes[0] if len(sizes) == 1 else f"({', '.join(sizes)})"

    def end(self) -> Lines:
        return [(f"{self.outside[name]} = {total}", "") for name, total in self.numbers.items()]
