"""Writes a kernel that runs its part at each step of a recurrence: the part's statements inside a loop.

States with a kept trajectory are read from it and written to it. Of other states there are two arrays, the last and the
next value. Arrays of the step are allocated once, before the loop.
"""

from __future__ import annotations

from collections.abc import Callable

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
    Op,
    Statement,
    Store,
    View,
    names_in,
)
from matcalc.compiler.emit.checkpoints import StatesAgain
from matcalc.compiler.emit.loops import assigned
from matcalc.compiler.emit.spelling import Names
from matcalc.compiler.emit.step_names import StepNames, copied
from matcalc.compiler.lowering_entries import LAST, TOTAL, WHOLE
from matcalc.compiler.program import Call as KernelCall
from matcalc.compiler.program import Program


def step_loop(
    call: KernelCall, outer: Names, write: Callable[[Program, Names], tuple[Block, Block]]
) -> list[Statement]:
    """Return the statements of a call; `write` returns the allocations and the other statements of a program."""
    assert call.kernel.loop is not None
    again = StatesAgain(call, outer, write) if call.kernel.loop.again is not None else None
    writer = _Writer(call, outer, again)
    made, body = write(writer.step.program, writer.names)
    statements = [*writer.begin(), *made, writer.loop(body), *writer.end()]
    outer.taken |= writer.names.taken
    return statements


class _Writer:
    """Writes a call: the names of operands and results around the loop, and those of one step inside."""

    def __init__(self, call: KernelCall, outer: Names, again: StatesAgain | None) -> None:
        assert call.kernel.loop is not None
        self.call, self.given, self.again = call, call.kernel.loop, again
        self.kinds = self.given.kinds
        first = len(self.kinds) + self.given.sequences
        end = self.given.again.first if self.given.again is not None else len(call.operands)
        self.step = StepNames(call, call.kernel.parts[0], outer, self.given.inputs, range(first, end), "size_")
        self.names, self.inputs, self.next = self.step.names, self.step.inputs, self.step.next
        self.is_number = self.step.is_number
        self.operands = [outer.entry(argument.value, ()) for _, argument in call.operands]
        self.results = [outer.entry(argument.value, ()) for _, argument in call.results]
        sizes = {name: size for name, size in call.params if not isinstance(size, str)}
        self.steps = outer.integer(sizes["steps_"])
        self.index, self.round = self.names.local("t"), self.names.local("number")

    def begin(self) -> list[Statement]:
        """Return the statements before the loop: the starts, and arrays for states without a trajectory."""
        first = self.steps if self.given.backward else ZERO
        found: list[Statement] = self.again.begin() if self.again is not None else []
        for k, kind in enumerate(self.kinds):
            start, result = self.operands[k], self.results[k]
            if kind == WHOLE and self.is_number[k]:
                found.append(Store(result, (first,), start))
            elif kind == WHOLE:
                found.append(copied(start, Load(result, (first,))))
            elif self.is_number[k]:
                found.append(Let(self.number(k), start))
            else:
                found.append(copied(start, result) if kind == LAST else Do(Call("zeroed", (View(result, REST),))))
                found.append(Let(self.next[k], Empty(tuple(Length(result, axis) for axis in range(self.step.rank(k))))))
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
        for k, name in self.inputs.items():
            if k < len(self.kinds):
                found += [Let(name, Load(self.results[k], (before,)))] if self.kinds[k] == WHOLE else []
            elif k < len(self.kinds) + self.given.sequences:
                found.append(Let(name, Load(self.operands[k], (t,))))
            elif k >= len(self.operands) and self.again is not None:
                found.append(Let(name, self.again.value(k - len(self.operands))))
        for k, kind in enumerate(self.kinds):
            if kind == WHOLE and not self.is_number[k]:
                found.append(Let(self.next[k], Load(self.results[k], (after,))))
        inner = (*found, *body, *self.written(after))
        if self.again is not None:
            return self.again.loop(t.name, self.round, inner, self.call.comment)
        number = Let(t.name, Op("-", (Op("-", (self.steps, ONE)), Name(self.round))))
        reverse = [number] if backward and t.name in names_in(inner) else []
        return For(self.round if backward else t.name, self.steps, (*reverse, *inner), note=self.call.comment)

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
                found.append(copied(own, result))
            elif kind == TOTAL:
                found.append(Do(Call("added", (View(own, REST), View(result, REST)))))
        return found

    def end(self) -> list[Statement]:
        """Return the statements after the loop: numbers that it carried are results."""
        carried = (k for k, kind in enumerate(self.kinds) if kind != WHOLE and self.is_number[k])
        return [assigned(self.results[k], Name(self.number(k))) for k in carried]
