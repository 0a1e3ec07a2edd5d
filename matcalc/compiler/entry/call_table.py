"""The tables that the entry of all functions reads: arguments, steps for sizes, results and their nesting.

A call has a row of words. Machine code takes the first of them: its status, the address of its exception, a zero, then
each argument and each result, a number as itself and an array as its address and lengths. Values of results that are
numbers and sizes follow. Steps compute one word from two others, or compare them.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import NamedTuple

import numpy as np

from matcalc.compiler.code.code import Call, Expr, Name, Number, Op
from matcalc.compiler.code.sizes import has_fractions
from matcalc.compiler.machine.array_layout import ALIGNED, CONTIGUOUS, WRITABLE
from matcalc.compiler.spec.call_names import Spelled
from matcalc.compiler.spec.size_steps import OtherShape, ReadShape, size_steps
from matcalc.compiler.spec.spec import CompiledSpec, Nesting

Rows = list[list[int]]
UNEQUAL, LESS, CONSTANT = 0, 1, 2
"""Steps: go to Python where two words are not equal, or the first is less; put a number into a word."""
OPERATIONS = {"+": 3, "-": 4, "*": 5, "//": 6, "%": 7, "min": 8, "max": 9}
ZERO, FIRST = 2, 3
"""The word that is zero; the word of the first argument."""
EXACT = ALIGNED | CONTIGUOUS["C"]


class Taken(NamedTuple):
    """What machine code takes: its type, its rank, whether it is written."""

    dtype: str
    rank: int
    is_result: bool = False

    @property
    def row(self) -> list[int]:
        """The rank, the number of the type, the flags that an array has, the bytes of an entry."""
        dtype = np.dtype(self.dtype)
        return [self.rank, dtype.num, EXACT | (WRITABLE if self.is_result else 0), dtype.itemsize]


class CallTable(NamedTuple):
    """How many words a call needs and where tables begin among them; then the rows of four tables."""

    words: Rows
    arguments: Rows
    steps: Rows
    results: Rows
    nodes: Rows


def taken_by(spec: CompiledSpec) -> list[Taken]:
    """Return what the machine code of a function takes: arguments, sizes, results."""
    given = [Taken(operand.dtype, len(operand.shape)) for operand in spec.arguments]
    results = [Taken(operand.memory, max(1, len(operand.shape)), True) for operand in spec.outputs]
    return [*given, *[Taken("int64", 0)] * len(spec.sizes), *results]


def exact_table(taken: Sequence[Taken]) -> CallTable:
    """Return the table of a call whose results are arguments."""
    end = FIRST + sum(one.rank + 1 for one in taken)
    return CallTable(_words(end, len(taken), 0), [one.row for one in taken], [], [], [])


def call_table(spec: CompiledSpec) -> CallTable | None:
    """Return the table of a function; None unless its sizes follow from single axes, one after the other."""
    steps = _Steps(spec)
    if not steps.are_found:
        return None
    nodes: Rows = []
    _nest(spec.nesting, -1, 0, len(spec.outputs), nodes)
    arguments = [one.row for one in taken_by(spec)[: len(spec.arguments) + len(spec.sizes)]]
    made = len(spec.outputs) + sum(length >= 0 for *_, length in nodes)
    return CallTable(_words(steps.end, len(arguments), made), arguments, steps.rows, steps.results, nodes)


def _words(end: int, arguments: int, made: int) -> Rows:
    """Return how many words there are, and where these tables begin: arguments, objects, parts of `out`, spans."""
    starts = [end, end + arguments + 1, end + arguments + 1 + made, end + arguments + 1 + 2 * made]
    return [[starts[-1] + 2 * (arguments + made), *starts]]


def _nest(nesting: Nesting, parent: int, place: int, made: int, nodes: Rows) -> None:
    """Add the results and tuples of a nesting: own number, that of the tuple around, place there, length or -1."""
    if isinstance(nesting, int):
        nodes.append([nesting, parent, place, -1])
        return
    own = made + sum(length >= 0 for *_, length in nodes)
    nodes.append([own, parent, place, len(nesting)])
    for k, part in enumerate(nesting):
        _nest(part, own, k, made, nodes)


class _Steps:
    """The words of a function and the steps that compute them; `are_found` states that all sizes have one."""

    def __init__(self, spec: CompiledSpec) -> None:
        self.rows: Rows = []
        self.results: Rows = []
        self.words: dict[str, int] = {}
        self.known: dict[Expr, int] = {Number(0): ZERO}
        arrays: dict[str, int] = {}
        names = Spelled(spec)
        self.end = FIRST
        for name, operand in zip(names.arguments, spec.arguments, strict=True):
            arrays[name] = self.end + 1
            self.end += 1 + len(operand.shape)
        for name in spec.sizes:
            self.words[names.sizes[name]] = self.end
            self.end += 1
        places = []
        for operand in spec.outputs:
            places.append(self.end)
            self.end += 1 + max(1, len(operand.shape))
        found = size_steps(spec, names)
        self.are_found = found is not None and not any(has_fractions(s) for o in spec.outputs for s in o.shape)
        if found is None or not self.are_found:
            return
        for step in found.reads:
            if isinstance(step, ReadShape):
                self.words |= {name: arrays[step.array] + axis for axis, name in enumerate(step.names)}
            else:
                self.words[step.name] = self.word(step.value)
        for test, _ in found.tests:
            if isinstance(test, OtherShape):
                for axis, length in enumerate(test.lengths):
                    self._test(UNEQUAL, arrays[test.array] + axis, self.word(length))
            else:
                self._compare(test)
        for place, operand in zip(places, spec.outputs, strict=True):
            value = self._new() if not operand.shape else 0
            self.results.append([len(operand.shape), place, int(operand.zero_filled), value])
            for axis, size in enumerate(operand.shape):
                self.rows.append([OPERATIONS["+"], self.word(names.integer(size)), ZERO, place + 1 + axis, 0])

    def word(self, expr: Expr) -> int:
        """Return the word that holds an integer; steps compute it once."""
        if isinstance(expr, Name):
            return self.words[expr.name]
        if expr not in self.known:
            self.known[expr] = self._computed(expr)
        return self.known[expr]

    def _computed(self, expr: Expr) -> int:
        if isinstance(expr, Number):
            return self._step(CONSTANT, ZERO, ZERO, int(expr.value))
        assert isinstance(expr, Call | Op)
        operation = OPERATIONS[expr.function if isinstance(expr, Call) else expr.op]
        words = [self.word(arg) for arg in expr.args]
        if len(words) == 1:
            words.insert(0, ZERO)
        return reduce(lambda one, other: self._step(operation, one, other), words)

    def _step(self, operation: int, one: int, other: int, constant: int = 0) -> int:
        to = self._new()
        self.rows.append([operation, one, other, to, constant])
        return to

    def _new(self) -> int:
        self.end += 1
        return self.end - 1

    def _compare(self, test: Op) -> None:
        one, other = map(self.word, test.args)
        if test.op == "!=":
            self._test(UNEQUAL, one, other)
        elif test.op == "<":
            self._test(LESS, one, other)
        else:
            self._test(LESS, other, one)

    def _test(self, step: int, one: int, other: int) -> None:
        if one != other:
            self.rows.append([step, one, other, one, 0])
