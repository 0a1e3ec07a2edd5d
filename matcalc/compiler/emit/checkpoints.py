"""Writes a loop that computes the states of an earlier loop again, from a few stored states, in the reverse order.

The stored states form a stack. To reach the state before a step, the loop runs on from the last stored state, and
stores states on the way where free rows remain. The distance to the next stored state is the optimal one of Revolve:
with `s` rows, `binomial(s + r, s)` steps need each step at most `r` times.

Source: Griewank and Walther, Algorithm 799: Revolve, ACM Trans. Math. Software 26 (2000).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from matcalc.compiler.code.code import (
    ONE,
    ZERO,
    Block,
    Empty,
    Expr,
    For,
    If,
    Length,
    Let,
    Load,
    Name,
    Number,
    Op,
    Statement,
    Store,
    While,
    names_in,
)
from matcalc.compiler.emit.spelling import Names
from matcalc.compiler.emit.step_names import StepNames, copied
from matcalc.compiler.lowering_entries import Again
from matcalc.compiler.program import Call as KernelCall
from matcalc.compiler.program import Program


class StatesAgain:
    """The names and statements of the loop that is computed again."""

    def __init__(self, call: KernelCall, outer: Names, write: Callable[[Program, Names], tuple[Block, Block]]) -> None:
        assert call.kernel.loop is not None and call.kernel.loop.again is not None
        self.given: Again = call.kernel.loop.again
        self.backward = not call.kernel.loop.backward
        shared = range(self.given.first + self.given.states + self.given.sequences, len(call.operands))
        self.step = StepNames(call, call.kernel.parts[1], outer, self.given.inputs, shared, "again_")
        self.made, self.body = write(self.step.program, self.step.names)
        self.operands = [outer.entry(argument.value, ()) for _, argument in call.operands]
        sizes = {name: size for name, size in call.params if not isinstance(size, str)}
        self.steps = outer.integer(sizes["steps_"])
        first, local = self.given.first, self.step.names.local
        words = [self.step.next[k].removesuffix("_next") for k in range(self.given.states)]
        self.starts = self.operands[first : first + self.given.states]
        self.now = [self.step.inputs.get(first + k) or local(f"{word}_now") for k, word in enumerate(words)]
        self.stored = [local(f"{word}_stored") for word in words]
        self.after = {k: local(f"{words[k]}_after") for k, is_after in self.given.reads if is_after}
        self.rows, self.count, self.at = (Name(local(word)) for word in ("rows", "stored", "stored_at"))
        self.number, self.wanted, self.goal = (Name(local(word)) for word in ("done", "wanted", "goal"))
        self.span, self.free, self.most = (Name(local(word)) for word in ("span", "free_rows", "most"))
        self.fewer, self.sweeps, self.t = (Name(local(word)) for word in ("fewer", "sweeps", "t_again"))
        outer.taken |= self.step.names.taken

    def value(self, number: int) -> Expr:
        """Return a value that the loop reads."""
        state, is_after = self.given.reads[number]
        return Name(self.after[state] if is_after else self.now[state])

    # ---- before the loop

    def begin(self) -> list[Statement]:
        """Return the statements before the loop: memory for states, and the first stored state."""
        memory = Number(self.given.rows) if self.given.rows else self.rows  # C needs a size that no loop computes
        found: list[Statement] = [*self._rows(), Let(self.at.name, Empty((memory,), "int64"))]
        for k, start in enumerate(self.starts):
            shape = tuple(Length(start, axis) for axis in range(self.step.rank(k)))
            found.append(Let(self.stored[k], Empty((memory, *shape))))
            for name in (self.now[k], self.step.next[k], *([self.after[k]] if k in self.after else [])):
                found.append(Let(name, start if self.step.is_number[k] else Empty(shape)))
        return [*found, *self._store(ZERO, ZERO, self.starts), Let(self.count.name, ONE), *self.made]

    def _rows(self) -> list[Statement]:
        """Return the statements that compute the number of rows: at least one, and no more than steps."""
        rows = self.rows
        if not self.given.rows:
            four = Op("*", (Number(4), self.steps))
            below = Op("<", (Op("*", (rows, rows)), four))
            return [Let(rows.name, ONE, note="twice the square root of the steps"), While(below, (_more(rows),))]
        least = Op("if", (Op(">", (self.steps, ONE)), self.steps, ONE))
        return [
            Let(rows.name, Number(self.given.rows)),
            Let(rows.name, Op("if", (Op("<", (rows, least)), rows, least))),
        ]

    def _store(self, row: Expr, number: Expr, values: Sequence[Expr]) -> list[Statement]:
        """Return the statements that store states after `number` steps."""
        found: list[Statement] = [Store(self.at, (row,), number)]
        for k, value in enumerate(values):
            entry = Load(Name(self.stored[k]), (row,))
            is_number = self.step.is_number[k]
            found.append(Store(Name(self.stored[k]), (row,), value) if is_number else copied(value, entry))
        return found

    # ---- the loop

    def loop(self, t: str, round_: str, inner: Block, note: str) -> Statement:
        """Return the loop of the other direction, in which `inner` are the statements of the step `t`."""
        top = Op("-", (self.count, ONE))
        found: list[Statement] = [
            Let(self.wanted.name, Op("-", (self.steps, Name(round_)))),
            Let(self.number.name, Load(self.at, (top,))),
            Let(self.goal.name, Number(-1)),
        ]
        found += [self._assigned(k, self.now[k], Load(Name(self.stored[k]), (top,))) for k in range(len(self.now))]
        found.append(While(Op("<", (self.number, self.wanted)), tuple(self._advance(top, Name(round_)))))
        found += [Let(t, self._step_number(self.wanted))] if t in names_in(inner) else []
        pop = If(Op("==", (Load(self.at, (top,)), self.wanted)), (Let(self.count.name, Op("-", (self.count, ONE))),))
        kept = [self._assigned(k, name, Name(self.now[k])) for k, name in self.after.items()]
        if not self.after:
            return For(round_, Op("+", (self.steps, ONE)), (*found, *inner, pop), start=ONE, note=note)
        steps = If(Op(">", (Name(round_), ZERO)), (*inner, pop))
        return For(round_, Op("+", (self.steps, ONE)), (*found, steps, *kept), note=note)

    def _step_number(self, done: Expr) -> Expr:
        """Return the number of the step that follows `done` steps."""
        return Op("-", (Op("-", (self.steps, ONE)), done)) if self.backward else done

    def _assigned(self, k: int, name: str, value: Expr) -> Statement:
        return Let(name, value) if self.step.is_number[k] else copied(value, Name(name))

    def _advance(self, top: Expr, round_: Expr) -> list[Statement]:
        """Return the statements of one step of the loop that is computed again."""
        found: list[Statement] = [
            If(Op("==", (self.number, Load(self.at, (top,)))), tuple(self._next_goal(round_))),
        ]
        begin, end = self.given.first + self.given.states, self.given.first + self.given.states + self.given.sequences
        slices = [
            Let(name, Load(self.operands[k], (self.t,))) for k, name in self.step.inputs.items() if begin <= k < end
        ]
        if self.t.name in names_in((*slices, *self.body)):
            found.append(Let(self.t.name, self._step_number(self.number)))
        found += [*slices, *self.body]
        found += [self._assigned(k, self.now[k], Name(self.step.next[k])) for k in range(len(self.now))]
        stored = (*self._store(self.count, self.number, [Name(name) for name in self.now]), _more(self.count))
        return [*found, _more(self.number), If(Op("==", (self.number, self.goal)), stored)]

    def _next_goal(self, round_: Expr) -> list[Statement]:
        """Return the statements that choose the next state to store, after a stored one."""
        span, free, most, fewer, sweeps = self.span, self.free, self.most, self.fewer, self.sweeps
        last = (
            Op("if", (Op(">", (round_, ZERO)), self.wanted, Op("-", (self.wanted, ONE)))) if self.after else self.wanted
        )
        longer = Op("//", (Op("*", (most, Op("+", (free, sweeps)))), sweeps))
        rest = Op("//", (Op("*", (fewer, free)), Op("-", (Op("+", (free, sweeps)), ONE))))
        rest = Op("-", (span, rest))
        chosen: Block = (
            Let(sweeps.name, ZERO),
            Let(most.name, ONE),
            Let(fewer.name, ONE),
            While(Op("<", (most, span)), (Let(fewer.name, most), _more(sweeps), Let(most.name, longer))),
            Let(fewer.name, Op("if", (Op("<", (fewer, rest)), fewer, rest))),
            Let(self.goal.name, Op("+", (self.number, fewer))),
        )
        return [
            Let(span.name, Op("+", (Op("-", (last, self.number)), ONE))),
            Let(free.name, Op("+", (Op("-", (self.rows, self.count)), ONE))),
            Let(self.goal.name, Number(-1)),
            If(Op("and", (Op(">", (span, ONE)), Op(">", (free, ONE)))), chosen),
        ]


def _more(name: Name) -> Statement:
    return Let(name.name, ONE, "+")
