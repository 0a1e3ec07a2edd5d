"""Sizes in the entry of `entry_code.py`: the lines of the quick entry in Python, in words of LLVM.

All integers are checked for overflow: such a call goes the slow way, which has the integers of Python.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any

from matcalc.compiler.entry.entry_words import WORD, Words
from matcalc.compiler.spec.module_text import Spelled, size_lines
from matcalc.compiler.spec.spec import CompiledSpec


@dataclass
class ReadSizes:
    """Sizes that are asked for, statements that read the others, tests, the lengths of results; all as text."""

    asked: list[str]
    lines: list[str]
    tests: list[str]
    shapes: list[list[str]]


def read(spec: CompiledSpec) -> ReadSizes | None:
    names = Spelled(spec)
    names.arguments = [f"a{k}" for k in range(len(spec.arguments))]
    names.sizes = {name: f"s{k}" for k, name in enumerate(names.sizes)}
    names.taken |= {*names.arguments, *names.sizes.values()}
    found = size_lines(spec, names)
    shapes = [[names.size(size) for size in o.shape] for o in spec.outputs]
    if found is None or any("/" in text.replace("//", "") for shape in shapes for text in shape):
        return None
    asked = [names.sizes[name] for name in spec.sizes]
    return ReadSizes(asked, found[0], [test for test, _ in found[1]], shapes)


class Sizes(Words):
    """The part of the entry that reads sizes and tests them; `wanted` are then the shapes of results."""

    def __init__(self, name: str, start: int, read: ReadSizes) -> None:
        super().__init__(name, start)
        self.read = read
        self.sizes: dict[str, Any] = {}
        self.overflown: list[Any] = []

    def read_sizes(self, shapes: Mapping[str, Sequence[Any]]) -> None:
        """Go on where all sizes fit, the shapes of arguments given by what the lines call them."""
        wrong: list[Any] = []
        for line in self.read.lines:
            statement: Any = ast.parse(line).body[0]
            target = statement.targets[0]
            if isinstance(target, ast.Tuple):
                for name, length in zip(target.elts, shapes[statement.value.value.id], strict=True):
                    self.sizes[name.id] = length  # type: ignore[attr-defined]
            else:
                self.sizes[target.id] = self.number(statement.value)
        for test in self.read.tests:
            compared: Any = ast.parse(test, mode="eval").body
            left, right = compared.left, compared.comparators[0]
            if isinstance(left, ast.Attribute):
                wanted = [self.number(size) for size in right.elts]
                found = shapes[left.value.id]  # type: ignore[attr-defined]
                wrong += [self.builder.icmp_signed("!=", a, b) for a, b in zip(found, wanted, strict=True)]
            else:
                sign = {ast.NotEq: "!=", ast.Lt: "<", ast.Gt: ">"}[type(compared.ops[0])]
                wrong.append(self.builder.icmp_signed(sign, self.number(left), self.number(right)))
        self.wanted = [[self.number(ast.parse(t, mode="eval").body) for t in shape] for shape in self.read.shapes]
        for shape in self.wanted:
            wrong += [self.builder.icmp_signed("<", length, WORD(0)) for length in shape]
        self.entries = [reduce(self.times, shape) if shape else WORD(1) for shape in self.wanted]
        wrong += self.overflown
        if wrong:
            self.need(self.builder.not_(reduce(self.builder.or_, wrong)))

    def number(self, tree: Any) -> Any:
        """Return the integer that a size is."""
        if isinstance(tree, ast.Constant):
            return WORD(tree.value)
        if isinstance(tree, ast.Name):
            return self.sizes[tree.id]
        if isinstance(tree, ast.UnaryOp):
            return self.checked("ssub", WORD(0), self.number(tree.operand))
        if isinstance(tree, ast.Call):  # min or max
            sign = {"min": "<", "max": ">"}[tree.func.id]  # type: ignore[attr-defined]
            return reduce(
                lambda a, b: self.builder.select(self.builder.icmp_signed(sign, a, b), a, b),
                map(self.number, tree.args),
            )
        left, right = self.number(tree.left), self.number(tree.right)
        if isinstance(tree.op, ast.FloorDiv | ast.Mod):
            return self.divided(left, right)[isinstance(tree.op, ast.Mod)]
        return self.checked({ast.Add: "sadd", ast.Sub: "ssub", ast.Mult: "smul"}[type(tree.op)], left, right)

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
