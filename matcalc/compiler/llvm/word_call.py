"""How arguments are passed to machine code: one after the other, as Numba does it, or as one row of words.

A row has the status, the exception, a zero, then each argument and each result: a number as itself, an array as its
address and lengths. Python enters all functions with such a row. It is the address of one printed function, which calls
the function itself: one of its own module or, by address, one that Numba has compiled.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from matcalc.compiler.kernels.native_kinds import BYTES, Kind, Number, Row, Value
from matcalc.compiler.llvm.native_lines import Lines
from matcalc.compiler.machine.machine_code import Into, machine_code
from matcalc.compiler.spec.spec import CompiledSpec

FIRST = 3
"""The word of the first argument."""


def kinds_of(spec: CompiledSpec) -> list[Kind]:
    """Return the kinds of what machine code takes: arguments, sizes, results."""
    given = [Kind(operand.dtype, len(operand.shape)) for operand in spec.arguments]
    results = [Kind(operand.memory, max(1, len(operand.shape))) for operand in spec.outputs]
    return [*given, *[Kind("int64")] * len(spec.sizes), *results]


def into_numba(function: int, kinds: Sequence[Kind], owner: Any = None) -> Into:
    """Return how a function of Numba's convention is called with a row of words; `owner` is that of its code."""
    code = machine_code(word_call("words", "", kinds, passed_to_numba))
    return Into(code.address("words"), function, (code, owner))


def word_call(
    symbol: str, function: str, kinds: Sequence[Kind], passed: Callable[[Lines, Value], Sequence[str]]
) -> str:
    """Return the assembly of a function that takes a row of words and calls another one, by address if it has no name.

    It returns 0 unless the other has raised.
    """
    lines, at = Lines(), FIRST
    args = ["ptr %words", f"ptr {_place(lines, 1)}"]
    callee = function or lines.new("load ptr, ptr %words")
    for kind in kinds:
        data = lines.new(f"load {'ptr' if kind.rank else kind.word}, ptr {_place(lines, at)}")
        lengths = [lines.new(f"load i64, ptr {_place(lines, at + 1 + axis)}") for axis in range(kind.rank)]
        args += passed(lines, Row(data, lengths, "null", kind) if kind.rank else Number(data, kind))
        at += 1 + kind.rank
    raised = lines.new(f"call i32 {callee}({', '.join(args)})")
    lines.do(f"ret i64 {lines.new(f'sext i32 {raised} to i64')}")
    return "\n".join([f'define i64 @"{symbol}"(ptr %words) nounwind {{', *lines.text, "}"])


def _place(lines: Lines, at: int) -> str:
    return lines.new(f"getelementptr inbounds i64, ptr %words, i64 {at}")


def passed_inside(lines: Lines, value: Value) -> list[str]:
    """Return what a value is passed as, with its types, to a function of the same module."""
    if isinstance(value, Number):
        return [f"{value.kind.word} {value.text}"]
    return [f"ptr {value.data}", *(f"i64 {length}" for length in value.lengths)]


def parameters(k: int, kind: Kind, attribute: str = "") -> list[str]:
    """Return the parameters that take a value which is passed inside a module."""
    if not kind.rank:
        return [f"{kind.word} %a{k}"]
    return [f"ptr {attribute}%a{k}", *(f"i64 %a{k}.{axis}" for axis in range(kind.rank))]


def parameter(k: int, kind: Kind) -> Value:
    """Return the value of these parameters."""
    if not kind.rank:
        return Number(f"%a{k}", kind)
    return Row(f"%a{k}", [f"%a{k}.{axis}" for axis in range(kind.rank)], "null", kind)


# --- Numba's calling convention: an array as its owner, parent, number of entries, size of an entry, data, lengths and
# strides


def numba_words(kind: Kind) -> list[str]:
    """Return the types that a value is passed as."""
    if not kind.rank:
        return ["i8" if kind.word == "i1" else kind.word]
    return ["ptr", "ptr", "i64", "i64", "ptr", *["i64"] * (2 * kind.rank)]


def passed_to_numba(lines: Lines, value: Value) -> list[str]:
    """Return what a value is passed as, with its types."""
    if isinstance(value, Number):
        if value.kind.word == "i1":
            return [f"i8 {lines.new(f'zext i1 {value.text} to i8')}"]
        return [f"{value.kind.word} {value.text}"]
    size = BYTES[value.kind.number]
    strides, entries = [str(size)], value.lengths[-1]
    for length in reversed(value.lengths[:-1]):
        strides.insert(0, lines.new(f"mul nsw i64 {entries}, {size}"))
        entries = lines.new(f"mul nsw i64 {entries}, {length}")
    shape = [f"i64 {text}" for text in (*value.lengths, *strides)]
    return ["ptr null", "ptr null", f"i64 {entries}", f"i64 {size}", f"ptr {value.data}", *shape]
