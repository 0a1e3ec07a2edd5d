"""Writes a kernel that runs its part on blocks of rows: the part's statements inside a loop.

Kernels add to vectors themselves, with beta = 0 in the first round. Other totals are written to separate arrays and
added to the results of the call, if there are several blocks. So a call with one block, as for small data, takes hardly
more steps than the part alone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
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
    If,
    Length,
    Let,
    Name,
    Number,
    Op,
    Statement,
    View,
    chain,
)
from matcalc.compiler.emit.loops import assigned
from matcalc.compiler.emit.spelling import Names
from matcalc.compiler.lowering_entries import BLOCK, BUSY, LEAST, ONCE, Blocks
from matcalc.compiler.program import Call as KernelCall
from matcalc.compiler.program import Loop, Program, Step, values_written, walk


def blocks(call: KernelCall, outer: Names, write: Callable[[Program, Names], Block]) -> list[Statement]:
    """Return the statements of a call; `write` returns those of a program."""
    (part,) = call.kernel.parts
    numbers = frozenset(b.name for b in part.program.buffers if b.role == "output" and not b.shape)
    buffers = tuple(replace(b, role="scalar") if b.name in numbers else b for b in part.program.buffers)
    writer = _Writer(call, replace(part.program, buffers=buffers), numbers, outer)
    statements = [*writer.choose(), *writer.begin(), writer.loop(write), *writer.end()]
    outer.taken |= writer.names.taken
    return statements


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
        if (
            not isinstance(step, KernelCall)
            or step.onto
            or memory[program.buffer_of[step.results[0][1].value]] not in summed
        ):
            return step
        return replace(step, params=(*step.params, ("beta", before)))

    return replace(program, steps=tuple(map(changed, program.steps)))


def _can_add(step: Step) -> bool:
    return isinstance(step, KernelCall) and step.kernel.scales and len(step.results) == 1


class _Writer:
    """Writes a call; `outside` maps arguments and results of the part to their names around the loop."""

    def __init__(self, call: KernelCall, program: Program, numbers: frozenset[str], outer: Names) -> None:
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
        names.spelled |= sizes
        names.spelled |= {name: entry.name for name, entry in self.outside.items() if isinstance(entry, Name)}
        names.known |= {n: entry for n in program.inputs if not isinstance(entry := self.outside[n], Name)}
        self.numbers = {n: names.local(f"{n}_total") for n in program.outputs if n in numbers}
        self.summed = _summed(program, self.blocks)
        self.program = _adding(program, self.summed, self.before)
        self.added = [n for n in self.blocks.totals if n not in numbers | self.summed]
        names.spelled |= {n: names.local(f"{n}_part") for n in (*self.numbers, *self.added)}
        self.sliced = [*self.blocks.sliced, *(n for n in program.outputs if n not in self.blocks.totals)]
        names.spelled |= {n: names.local(f"{n}_rows") for n in self.sliced}

    def choose(self) -> list[Statement]:
        """Return the statements that choose the number of rows in a block, from sizes alone."""
        given, integer = self.blocks, self.outer.integer
        count, last, rows = integer(given.rows), Name(self.last), Name(self.rows)
        wide = Name(self.names.local("width"))
        besides = Name(self.names.local("besides"))
        is_small = Op("<=", (Op("*", (count, wide)), Number(ONCE)))
        is_busy = Op(">", (integer(given.flops), Op("*", (Number(BUSY), wide))))
        is_much = Op(">", (Op("*", (Number(3), besides)), chain("*", (Number(2), rows, wide))))
        fit = Call("max", (Number(LEAST), Op("//", (Number(BLOCK), wide))))
        at_least_one = Op("if", (Op(">", (count, ZERO)), count, ONE))
        whole = Let(self.rows, last, note="few entries, flops enough, or much besides rows")
        return [
            Let(self.last, at_least_one, note="without rows too, results are written"),
            Let(wide.name, integer(given.width), note="entries of a row"),
            Let(besides.name, integer(given.besides), note="entries that each block reads or adds to"),
            Let(self.rows, fit),
            If(Op("or", (is_small, is_busy, is_much)), (whole,)),
        ]

    def begin(self) -> list[Statement]:
        """Return the statements before the loop."""
        found: list[Statement] = [Let(total, Number(0.0)) for total in self.numbers.values()]
        found += [Let(self.before, Number(0.0))] if self.summed else []
        found += [Let(self.names.give(n), self.outside[n]) for n in self.added]
        made: list[Statement] = []
        for name in self.added:
            rank = len(self.program.buffer(name).shape)
            shape = tuple(Length(self.outside[name], k) for k in range(rank))
            made += [Let(self.names.give(name), Empty(shape)), Do(Call("zeroed", (_flat(self.outside[name]),)))]
        return [*found, self.if_several(made)] if made else found

    def loop(self, write: Callable[[Program, Names], Block]) -> Statement:
        """Return the loop over blocks."""
        start, names = Name(self.start), self.names
        stop = Op("+", (start, Name(self.rows)))
        body: list[Statement]
        body = [Let(names.give(n), View(self.outside[n], (), start, stop)) for n in self.sliced]
        body.append(Let(names.give(self.blocks.rows.key), Length(Name(names.give(self.blocks.sliced[0])), 0)))
        body += write(self.program, names)
        body += [Let(total, Name(names.give(name)), "+") for name, total in self.numbers.items()]
        added = [Do(Call("added", (_flat(Name(names.give(n))), _flat(self.outside[n])))) for n in self.added]
        body += [self.if_several(added)] if added else []
        body += [Let(self.before, Number(1.0))] if self.summed else []
        return For(self.start, Name(self.last), tuple(body), ZERO, Name(self.rows), self.call.comment)

    def if_several(self, statements: Sequence[Statement]) -> Statement:
        """Return statements that run if there is more than one block."""
        return If(Op("<", (Name(self.rows), Name(self.last))), tuple(statements))

    def end(self) -> list[Statement]:
        return [assigned(self.outside[name], Name(total)) for name, total in self.numbers.items()]


def _flat(array: Expr) -> Expr:
    return View(array, REST)
