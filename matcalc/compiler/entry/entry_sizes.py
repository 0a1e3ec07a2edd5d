"""Sizes in the entry of `entry_code.py`: the steps of `size_steps.py`, in words of LLVM.

All integers are checked for overflow: such a call goes the slow way, which has the integers of Python.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any

from matcalc.compiler.code.code import Call, Expr, Name, Number, Op
from matcalc.compiler.code.sizes import has_fractions
from matcalc.compiler.entry.entry_words import WORD, Words
from matcalc.compiler.spec.call_names import Spelled
from matcalc.compiler.spec.size_steps import OtherShape, ReadShape, SizeSteps, size_steps
from matcalc.compiler.spec.spec import CompiledSpec

CHECKED = {"+": "sadd", "-": "ssub", "*": "smul"}
"""Operators, and the operations that report an overflow."""


@dataclass
class ReadSizes:
    """Sizes that are arguments, the steps that find the others, the lengths of results."""

    asked: list[str]
    steps: SizeSteps
    shapes: list[list[Expr]]


def read(spec: CompiledSpec) -> ReadSizes | None:
    names = Spelled(spec)
    names.arguments = [f"a{k}" for k in range(len(spec.arguments))]
    names.sizes = {name: f"s{k}" for k, name in enumerate(names.sizes)}
    names.taken |= {*names.arguments, *names.sizes.values()}
    steps = size_steps(spec, names)
    if steps is None or any(has_fractions(size) for operand in spec.outputs for size in operand.shape):
        return None
    steps = SizeSteps(steps.reads, [(test, "") for test, _ in steps.tests])  # messages are not part of an entry
    shapes = [[names.integer(size) for size in operand.shape] for operand in spec.outputs]
    return ReadSizes([names.sizes[name] for name in spec.sizes], steps, shapes)


class Sizes(Words):
    """The part of the entry that reads sizes and tests them; `wanted` are then the shapes of results."""

    def __init__(self, name: str, start: int, read: ReadSizes) -> None:
        super().__init__(name, start)
        self.read = read
        self.sizes: dict[str, Any] = {}
        self.overflown: list[Any] = []

    def read_sizes(self, shapes: Mapping[str, Sequence[Any]]) -> None:
        """Go on where all sizes fit, the shapes of arguments given by what the steps call them."""
        wrong: list[Any] = []
        for step in self.read.steps.reads:
            if isinstance(step, ReadShape):
                self.sizes |= zip(step.names, shapes[step.array], strict=True)
            else:
                self.sizes[step.name] = self.number(step.value)
        for test, _ in self.read.steps.tests:
            if isinstance(test, OtherShape):
                wanted = [self.number(size) for size in test.lengths]
                wrong += [
                    self.builder.icmp_signed("!=", *pair) for pair in zip(shapes[test.array], wanted, strict=True)
                ]
            else:
                wrong.append(self.builder.icmp_signed(test.op, *map(self.number, test.args)))
        self.wanted = [[self.number(length) for length in shape] for shape in self.read.shapes]
        for shape in self.wanted:
            wrong += [self.builder.icmp_signed("<", length, WORD(0)) for length in shape]
        self.entries = [reduce(self.times, shape) if shape else WORD(1) for shape in self.wanted]
        wrong += self.overflown
        if wrong:
            self.need(self.builder.not_(reduce(self.builder.or_, wrong)))

    def number(self, expr: Expr) -> Any:
        """Return the integer that a size is."""
        if isinstance(expr, Number):
            return WORD(expr.value)
        if isinstance(expr, Name):
            return self.sizes[expr.name]
        if isinstance(expr, Call):
            sign = {"min": "<", "max": ">"}[expr.function]
            return reduce(
                lambda a, b: self.builder.select(self.builder.icmp_signed(sign, a, b), a, b),
                map(self.number, expr.args),
            )
        assert isinstance(expr, Op)
        left, *rest = map(self.number, expr.args)
        if not rest:
            return self.checked("ssub", WORD(0), left)
        if expr.op in ("//", "%"):
            return self.divided(left, *rest)[expr.op == "%"]
        return self.checked(CHECKED[expr.op], left, *rest)

    def times(self, left: Any, right: Any) -> Any:
        return self.checked("smul", left, right)

    def checked(self, name: str, left: Any, right: Any) -> Any:
        method = {"sadd": self.builder.sadd_with_overflow, "ssub": self.builder.ssub_with_overflow,
                  "smul": self.builder.smul_with_overflow}[name]  # fmt: skip
        both = method(left, right)
        self.overflown.append(self.builder.extract_value(both, 1))
        return self.builder.extract_value(both, 0)

    def divided(self, left: Any, right: Any) -> Any:
        """Return the quotient rounded down, of a divisor above 0, and what it leaves."""
        builder = self.builder
        quotient, rest = builder.sdiv(left, right), builder.srem(left, right)
        below = builder.icmp_signed("<", rest, WORD(0))
        lower, higher = builder.sub(quotient, WORD(1)), builder.add(rest, right)
        return builder.select(below, lower, quotient), builder.select(below, higher, rest)
