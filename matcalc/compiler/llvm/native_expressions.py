"""Expressions of Code in LLVM's assembly. A form that is not here is left to Numba, never guessed at."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from matcalc.compiler.code.check import CASTS, TESTS, Kinds
from matcalc.compiler.code.code import REST, Array, Call, Empty, Expr, Length, Load, Name, Op, View
from matcalc.compiler.code.code import Number as Literal
from matcalc.compiler.code.print_python import expression
from matcalc.compiler.kernels.native_kinds import (
    BYTES,
    INTEGER,
    REAL,
    TRUTH,
    Kind,
    Number,
    Row,
    UnknownFormError,
    Value,
    joined,
)
from matcalc.compiler.llvm.native_lines import Lines, real
from matcalc.compiler.llvm.native_words import load_llvm_words

OF_REALS = {"+": "fadd", "-": "fsub", "*": "fmul", "/": "fdiv"}
OF_INTEGERS = {"+": "add", "-": "sub", "*": "mul", "&": "and", "|": "or", "^": "xor"}
DIVIDED = {"//": "quotient", "%": "modulo"}
COMPARED = {
    "==": ("eq", "oeq"),
    "!=": ("ne", "une"),
    "<": ("slt", "olt"),
    "<=": ("sle", "ole"),
    ">": ("sgt", "ogt"),
    ">=": ("sge", "oge"),
}


class Surroundings(Protocol):
    """The function that an expression stands in."""

    lines: Lines
    kinds: Kinds
    wraps: bool

    def name(self, word: str) -> Value: ...

    def call(self, name: str, args: Sequence[Value]) -> Value: ...

    def take(self, entries: str, size: int) -> str: ...


class Expressions:
    """Writes expressions, and returns what stands for their values."""

    def __init__(self, around: Surroundings) -> None:
        self.around = around
        self.lines, self.words = around.lines, load_llvm_words()
        self.writers: Mapping[type, Callable[[Any], Value]] = {
            Literal: self._constant,
            Name: lambda expr: around.name(expr.name),
            Op: self._op,
            Call: self._call,
            Load: self._load,
            Length: self._length,
            Empty: self._empty,
            View: self._view,
        }

    def value(self, expr: Expr) -> Value:
        if isinstance(expr, Array):
            raise UnknownFormError(expression(expr))
        return self.writers[type(expr)](expr)

    def number(self, expr: Expr) -> Number:
        found = self.value(expr)
        assert isinstance(found, Number)
        return found

    def row(self, expr: Expr) -> Row:
        found = self.value(expr)
        assert isinstance(found, Row)
        return found

    def integer(self, expr: Expr) -> str:
        return self.as_kind(self.number(expr), INTEGER)

    def truth(self, expr: Expr) -> str:
        found = self.number(expr)
        if found.kind == TRUTH:
            return found.text
        return self.lines.new(
            f"fcmp une double {found.text}, 0.0" if found.kind == REAL else f"icmp ne i64 {found.text}, 0"
        )

    def as_kind(self, value: Number, kind: Kind) -> str:
        """Return a number as another kind."""
        if value.kind == kind:
            return value.text
        step = {
            (TRUTH, INTEGER): "zext i1 {} to i64",
            (TRUTH, REAL): "uitofp i1 {} to double",
            (INTEGER, REAL): "sitofp i64 {} to double",
        }.get((value.kind, kind))
        if step is None:
            raise UnknownFormError(f"{value.kind.number} as {kind.number}")
        return self.lines.new(step.format(value.text))

    # --- numbers

    def _constant(self, expr: Literal) -> Number:
        value = expr.value
        if isinstance(value, bool):
            return Number(str(value).lower(), TRUTH)
        if isinstance(value, float):
            return Number(real(value), REAL)
        if abs(value) >= 2**63:
            raise UnknownFormError(str(value))
        return Number(str(value), INTEGER)

    def _op(self, expr: Op) -> Number:
        op, args = expr.op, expr.args
        if op in ("and", "or"):
            return self._both(expr)
        if op == "if":
            return self._choice(expr)
        if op == "not":
            return Number(self.lines.new(f"xor i1 {self.truth(args[0])}, true"), TRUTH)
        if len(args) == 1:
            return self._negative(self.number(args[0]))
        left, right = map(self.number, args)
        return self._compare(op, left, right) if op in TESTS else self.binary(op, left, right)

    def _negative(self, value: Number) -> Number:
        if value.kind == REAL:
            return Number(self.lines.new(f"fneg double {value.text}"), REAL)
        return Number(self.lines.new(f"sub i64 0, {self.as_kind(value, INTEGER)}"), INTEGER)

    def binary(self, op: str, left: Number, right: Number, flags: str = "") -> Number:
        """Write what an operator makes of two numbers; `flags` are what may be done to it, where they are real."""
        kind = joined(left.kind, right.kind)
        if op == "/" or kind == REAL:
            if op not in OF_REALS:
                raise UnknownFormError(op)
            one, other = self.as_kind(left, REAL), self.as_kind(right, REAL)
            return Number(self.lines.new(f"{OF_REALS[op]} {flags}double {one}, {other}"), REAL)
        kind = INTEGER if kind == TRUTH and op not in ("&", "|", "^") else kind
        one, other = self.as_kind(left, kind), self.as_kind(right, kind)
        if op in DIVIDED:
            return Number(self.lines.new(f"call i64 @{DIVIDED[op]}(i64 {one}, i64 {other})"), INTEGER)
        if op not in OF_INTEGERS:
            raise UnknownFormError(op)
        return Number(self.lines.new(f"{OF_INTEGERS[op]} {kind.word} {one}, {other}"), kind)

    def _both(self, expr: Op) -> Number:
        """Write tests, of which the later are made only where the sooner have not decided."""
        lines, end, ways = self.lines, self.lines.name("both"), []
        for k, part in enumerate(expr.args):
            test = self.truth(part)
            ways.append((test, lines.block))
            if k + 1 == len(expr.args):
                lines.go(end)
                break
            more = lines.name("more")
            lines.either(test, *((more, end) if expr.op == "and" else (end, more)))
            lines.begin(more)
        lines.begin(end)
        return Number(lines.joined("i1", ways), TRUTH)

    def _compare(self, op: str, left: Number, right: Number) -> Number:
        kind = joined(left.kind, right.kind)
        kind = INTEGER if kind == TRUTH else kind
        is_real = kind == REAL
        one, other = self.as_kind(left, kind), self.as_kind(right, kind)
        word = ("icmp", "fcmp")[is_real]
        return Number(self.lines.new(f"{word} {COMPARED[op][is_real]} {kind.word} {one}, {other}"), TRUTH)

    def _choice(self, expr: Op) -> Number:
        lines, kind = self.lines, self.around.kinds.kind(expr)
        if kind.rank:
            raise UnknownFormError(expression(expr))
        test, *values = expr.args
        then, other, end = (lines.name(stem) for stem in ("then", "other", "chosen"))
        lines.either(self.truth(test), then, other)
        ways = []
        for label, part in zip((then, other), values, strict=True):
            lines.begin(label)
            ways.append((self.as_kind(self.number(part), kind), lines.block))
            lines.go(end)
        lines.begin(end)
        return Number(lines.joined(kind.word, ways), kind)

    # --- arrays

    def _length(self, expr: Length) -> Number:
        assert expr.axis is not None
        return Number(self.row(expr.array).lengths[expr.axis], INTEGER)

    def _load(self, expr: Load) -> Value:
        array = self.row(expr.array)
        place = self.place(expr.at, array)
        rest = array.lengths[len(expr.at) :]
        if rest:
            return Row(place, rest, array.owner, Kind(array.kind.number, len(rest)))
        found = self.lines.new(f"load {array.kind.word}, ptr {place}")
        if array.kind.number == "int32":
            return Number(self.lines.new(f"sext i32 {found} to i64"), INTEGER)
        return Number(found, array.kind.entry)

    def place(self, at: Sequence[Expr], array: Row) -> str:
        """Return where an entry is, or the part at the first indices."""
        found = ""
        for k, part in enumerate(at):
            text = self.index(part, array.lengths[k])
            if found:
                found = self.lines.new(f"mul nsw i64 {found}, {array.lengths[k]}")
                found = self.lines.new(f"add nsw i64 {found}, {text}")
            else:
                found = text
        for length in array.lengths[len(at) :]:
            found = self.lines.new(f"mul nsw i64 {found}, {length}")
        return self.lines.new(f"getelementptr inbounds {array.kind.word}, ptr {array.data}, i64 {found}")

    def index(self, expr: Expr, length: str) -> str:
        """Return a place on an axis."""
        text = self.integer(expr)
        if not self.around.wraps or text.isdigit():
            return text
        is_from_end, other = self.lines.new(f"icmp slt i64 {text}, 0"), self.lines.new(f"add i64 {text}, {length}")
        return self.lines.new(f"select i1 {is_from_end}, i64 {other}, i64 {text}")

    def _view(self, expr: View) -> Row:
        array = self.row(expr.array)
        if expr.start is not None and expr.stop is not None:
            array = self._rows(array, expr.start, expr.stop)
        if expr.shape == REST:
            return Row(array.data, (self.entries(array.lengths),), array.owner, Kind(array.kind.number, 1))
        lengths = self.lengths(expr.shape) if expr.shape else array.lengths
        return Row(array.data, lengths, array.owner, Kind(array.kind.number, len(lengths)))

    def _rows(self, array: Row, first: Expr, last: Expr) -> Row:
        """Write `X[start:stop]`, which ends where X does."""
        if self.around.wraps:
            raise UnknownFormError("a slice of indices that may be below 0")
        length, *rest = array.lengths
        stop = self.within(self.integer(last), length)
        start = self.within(self.integer(first), stop)
        at = start
        for other in rest:
            at = self.lines.new(f"mul nsw i64 {at}, {other}")
        data = self.lines.new(f"getelementptr inbounds {array.kind.word}, ptr {array.data}, i64 {at}")
        return Row(data, (self.lines.new(f"sub nsw i64 {stop}, {start}"), *rest), array.owner, array.kind)

    def within(self, value: str, end: str) -> str:
        """Return a place of an axis, none beyond its end."""
        return self.lines.new(f"call i64 @llvm.smin.i64(i64 {value}, i64 {end})")

    def entries(self, lengths: Sequence[str]) -> str:
        total = lengths[0]
        for length in lengths[1:]:
            total = self.lines.new(f"mul nsw i64 {total}, {length}")
        return total

    # --- calls

    def _call(self, expr: Call) -> Value:
        if expr.function in self.words.plain:
            return self._plain(expr.function, [self.number(arg) for arg in expr.args])
        result = self.around.call(expr.function, [self._argument(arg) for arg in expr.args])
        if isinstance(result, Row) and any(isinstance(arg, Array) for arg in expr.args):
            raise UnknownFormError(expression(expr))  # the result may be memory of the argument
        return result

    def _argument(self, expr: Expr) -> Value:
        """Return an argument of a call; an array of given numbers is on the stack until the function returns."""
        if not isinstance(expr, Array):
            return self.value(expr)
        kind = Kind("float64", 1)
        length = str(len(expr.entries))
        array = Row(self.lines.place(f"[{length} x {kind.word}]"), (length,), "null", kind)
        for k, entry in enumerate(expr.entries):
            number = self.as_kind(self.number(entry), kind.entry)
            self.lines.do(f"store {kind.word} {number}, ptr {self.place((Literal(k),), array)}")
        return array

    def _plain(self, name: str, args: Sequence[Number]) -> Number:
        if name in self.words.real:
            given = ", ".join(f"double {self.as_kind(arg, REAL)}" for arg in args)
            return Number(self.lines.new(f"call double @{self.words.real[name]}({given})"), REAL)
        if name in self.words.folds:
            return self._extreme(args, self.words.folds[name])
        (value,) = args
        if name in CASTS:
            return Number(self.as_kind(value, CASTS[name]), CASTS[name])
        kind = INTEGER if value.kind == TRUTH else value.kind
        called = self.words.by_kind[name][kind.number].format(self.as_kind(value, kind))
        return Number(self.lines.new(f"call {called}"), kind)

    def _extreme(self, args: Sequence[Number], order: str) -> Number:
        """Write the least or greatest; the first stays where another is no less, as where one is NaN."""
        kind = args[0].kind
        for other in args[1:]:
            kind = joined(kind, other.kind)
        kind = INTEGER if kind == TRUTH else kind
        test = f"fcmp o{order}" if kind == REAL else f"icmp s{order}"
        found = self.as_kind(args[0], kind)
        for other in args[1:]:
            text = self.as_kind(other, kind)
            is_better = self.lines.new(f"{test} {kind.word} {text}, {found}")
            found = self.lines.new(f"select i1 {is_better}, {kind.word} {text}, {kind.word} {found}")
        return Number(found, kind)

    def lengths(self, shape: Sequence[Expr]) -> tuple[str, ...]:
        first = shape[0]
        if isinstance(first, Length) and first.axis is None:
            return tuple(self.row(first.array).lengths)
        return tuple(map(self.integer, shape))

    def _empty(self, expr: Empty) -> Row:
        lengths = self.lengths(expr.shape)
        total = lengths[0]
        for length in lengths[1:]:
            total = self.lines.new(f"call i64 @product(i64 {total}, i64 {length})")
        data = self.around.take(total, BYTES[expr.number])
        return Row(data, lengths, data, Kind(expr.number, len(lengths)), is_new=True)
