"""Expressions of Code in C. An expression without a form here is refused by name.

Integers divide as in Python, by helpers. `min` and `max` return the first argument at NaN, as in Python.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

from matcalc.compiler.code.check import CASTS, FOLDS
from matcalc.compiler.code.code import REST, Call, Expr, Length, Load, Name, Number, Op, Pair, Part, View
from matcalc.compiler.code.print_python import expression
from matcalc.compiler.files.c_kinds import word
from matcalc.compiler.files.c_words import load_c_words
from matcalc.compiler.kernels.native_kinds import INTEGER, PAIR, REAL, TRUTH, Kind, joined
from matcalc.errors import NotSupported

TERNARY, OR, AND, BIT, EQUAL, ORDER, SHIFT, SUM, PRODUCT, UNARY, ATOM = range(1, 12)
OPERATORS: Mapping[str, tuple[str, int]] = {
    "+": (" + ", SUM), "-": (" - ", SUM), "*": ("*", PRODUCT), "/": ("/", PRODUCT), "<<": (" << ", SHIFT),
    ">>": (" >> ", SHIFT), "&": (" & ", BIT), "|": (" | ", BIT), "^": (" ^ ", BIT),
}  # fmt: skip
COMPARED = {"==": EQUAL, "!=": EQUAL, "<": ORDER, "<=": ORDER, ">": ORDER, ">=": ORDER}
BOTH = {"and": (" && ", AND), "or": (" || ", OR)}
WHOLE = 2**31
"""The integers from this one on need a suffix."""


class Spelled(NamedTuple):
    """The text of an expression, its kind, and its precedence."""

    text: str
    kind: Kind
    level: int = ATOM

    def at(self, level: int) -> str:
        """Return the text, in brackets if its precedence is below a level."""
        return self.text if self.level >= level else f"({self.text})"


class Row(NamedTuple):
    """An array: the address of its entries, its lengths, and the structure that has both if there is one."""

    data: Spelled
    lengths: Sequence[Spelled]
    kind: Kind
    name: str = ""

    @property
    def text(self) -> str:
        """The array as a value."""
        lengths = ", ".join(length.text for length in self.lengths)
        return self.name or f"(({word(self.kind)}){{{self.data.text}, {{{lengths}}}}})"

    @property
    def entries(self) -> Spelled:
        """The number of entries."""
        return product(self.lengths)


class Surroundings(Protocol):
    """The names of a function and the functions that it may call."""

    def name(self, name: str) -> Spelled: ...

    def call(self, expr: Call, args: Sequence[Spelled]) -> Spelled: ...


def refused(expr: Expr) -> NotSupported:
    """Return the error that names an expression without a form in C."""
    return NotSupported(f"the target c has no form of {expression(expr)}")


def product(factors: Sequence[Spelled]) -> Spelled:
    """Return a product of integers."""
    if len(factors) == 1:
        return factors[0]
    return Spelled("*".join(factor.at(UNARY) for factor in factors), INTEGER, PRODUCT)


def structure(text: str, kind: Kind) -> Row:
    """Return the array in a structure."""
    lengths = [Spelled(f"{text}.shape[{axis}]", INTEGER) for axis in range(kind.rank)]
    return Row(Spelled(f"{text}.at", kind), lengths, kind, text)


class Expressions:
    """Writes expressions; `around` knows names and functions."""

    def __init__(self, around: Surroundings) -> None:
        self.around = around
        self.words = load_c_words()
        self.writers: Mapping[type, Callable[[Any], Spelled]] = {
            Number: number,
            Name: lambda expr: around.name(expr.name),
            Op: self._op,
            Call: self._call,
            Load: self._load,
            Length: self._length,
            View: lambda expr: self._whole(self._view(expr)),
            Pair: self._pair,
            Part: self._part,
        }

    def spelled(self, expr: Expr) -> Spelled:
        """Return an expression.

        Raises: NotSupported for one without a form in C.
        """
        if type(expr) not in self.writers:
            raise refused(expr)
        return self.writers[type(expr)](expr)

    def text(self, expr: Expr, level: int = 0) -> str:
        return self.spelled(expr).at(level)

    # ---- numbers

    def _op(self, expr: Op) -> Spelled:
        op, args = expr.op, expr.args
        if op == "if":
            return self._choice(*args)
        if op in BOTH:
            sign, level = BOTH[op]
            return Spelled(sign.join(self.text(arg, EQUAL) for arg in args), TRUTH, level)
        if op == "not":
            return Spelled(f"!{self.text(args[0], ATOM)}", TRUTH, UNARY)
        if op in COMPARED:
            return Spelled(f"{self.text(args[0], SHIFT)} {op} {self.text(args[1], SHIFT)}", TRUTH, COMPARED[op])
        if len(args) == 1:
            value = self.spelled(args[0])
            return Spelled(f"-{value.at(ATOM)}", joined(INTEGER, value.kind), UNARY)
        return self.binary(expr, self.spelled(args[0]), self.spelled(args[1]))

    def binary(self, expr: Expr, left: Spelled, right: Spelled) -> Spelled:
        """Return what an operator makes of two numbers."""
        assert isinstance(expr, Op)
        op, kind = expr.op, joined(left.kind, right.kind)
        if kind.rank:
            raise refused(expr)
        if op == "%":
            return Spelled(f"modulo{self._suffix(kind)}({left.text}, {right.text})", joined(INTEGER, kind))
        if op == "//" and kind != REAL:
            return Spelled(f"quotient({left.text}, {right.text})", INTEGER)
        if op == "**" and kind == REAL:
            return Spelled(f"{self.words.names[op]}({left.text}, {right.text})", REAL)
        if op not in OPERATORS:
            raise refused(expr)
        sign, level = OPERATORS[op]
        is_bits = level in (SHIFT, BIT)
        first, second = left.at(ATOM if is_bits else level), right.at(ATOM if is_bits else level + 1)
        if op == "/" and kind != REAL:
            first = f"(double){left.at(ATOM)}"
        if op == "<<":
            first = f"(int64_t){first}"
        kind = REAL if op == "/" else kind if level == BIT else joined(INTEGER, kind)
        return Spelled(f"{first}{sign}{second}", kind, level)

    def _suffix(self, kind: Kind) -> str:
        return "_double" if kind == REAL else ""

    def _choice(self, test: Expr, then: Expr, other: Expr) -> Spelled:
        one, two = self.spelled(then), self.spelled(other)
        text = f"{self.text(test, OR)} ? {one.at(OR)} : {two.at(OR)}"
        return Spelled(text, joined(one.kind, two.kind), TERNARY)

    def _pair(self, expr: Pair) -> Spelled:
        return Spelled(f"(pair){{{self.text(expr.first)}, {self.text(expr.second)}}}", PAIR)

    def _part(self, expr: Part) -> Spelled:
        return Spelled(f"{self.text(expr.pair, ATOM)}.{('first', 'second')[expr.place]}", REAL)

    # ---- arrays

    def row(self, expr: Expr) -> Row:
        """Return an array."""
        if isinstance(expr, View):
            return self._view(expr)
        if isinstance(expr, Load):
            return self._rest(expr)
        value = self.spelled(expr)
        if not value.kind.rank:
            raise refused(expr)
        return structure(value.at(ATOM), value.kind)

    def _whole(self, row: Row) -> Spelled:
        return Spelled(row.text, row.kind)

    def _rest(self, expr: Load) -> Row:
        """Return the array of the entries with these first indices."""
        row, count = self.row(expr.array), len(expr.at)
        rest = row.lengths[count:]
        return Row(self._moved(row, self.place(row, expr.at), rest), rest, Kind(row.kind.number, len(rest)))

    def _moved(self, row: Row, by: Spelled, rest: Sequence[Spelled]) -> Spelled:
        return Spelled(f"{row.data.text} + {product([by, *rest]).at(PRODUCT)}", row.data.kind, SUM)

    def _load(self, expr: Load) -> Spelled:
        row = self.row(expr.array)
        if len(expr.at) < row.kind.rank:
            return self._whole(self._rest(expr))
        kind = REAL if row.kind.number == "float64" else INTEGER
        return Spelled(f"{row.data.at(ATOM)}[{self.place(row, expr.at).text}]", kind)

    def place(self, row: Row, at: Sequence[Expr]) -> Spelled:
        """Return the number of an entry, or of the part at the first indices."""
        found = self.spelled(at[0])
        for length, index in zip(row.lengths[1:], at[1:], strict=False):
            before = product([found, length]).text
            found = Spelled(f"{before} + {self.text(index, PRODUCT)}", INTEGER, SUM)
        return found

    def _length(self, expr: Length) -> Spelled:
        if expr.axis is None:
            raise refused(expr)
        return self.row(expr.array).lengths[expr.axis]

    def _view(self, expr: View) -> Row:
        row = self.row(expr.array)
        if expr.start is not None and expr.stop is not None:
            row = self._rows(row, expr.start, expr.stop, expr.stop == Length(expr.array, 0))
        if not expr.shape:
            return row
        lengths = self.lengths(expr.shape) if expr.shape != REST else [row.entries]
        return Row(row.data, lengths, Kind(row.kind.number, len(lengths)))

    def _rows(self, row: Row, start: Expr, stop: Expr, is_last: bool) -> Row:
        """Return the part of an array between two indices, which ends where the array does."""
        first, last, length = self.spelled(start), self.spelled(stop), row.lengths[0]
        last = length if is_last else Spelled(f"least({last.text}, {length.text})", INTEGER)
        if start == Number(0):
            return Row(row.data, [last, *row.lengths[1:]], row.kind)
        count = Spelled(f"{last.text} - {first.at(PRODUCT)}", INTEGER, SUM)
        return Row(self._moved(row, first, row.lengths[1:]), [count, *row.lengths[1:]], row.kind)

    def lengths(self, shape: Sequence[Expr]) -> list[Spelled]:
        """Return the lengths of a shape."""
        if len(shape) == 1 and isinstance(shape[0], Length) and shape[0].axis is None:
            return [*self.row(shape[0].array).lengths]
        return [*map(self.spelled, shape)]

    # ---- calls

    def _call(self, expr: Call) -> Spelled:
        """Return a call of a function of Python, of C, or of the sources."""
        name, args = expr.function, [*map(self.spelled, expr.args)]
        if name in FOLDS and len(args) > 1:
            return self._extreme(self.words.folds[name], args)
        if name in CASTS:
            value, kind = args[0], CASTS[name]
            return value if value.kind == kind else Spelled(f"({word(kind)}){value.at(ATOM)}", kind, UNARY)
        if name == "np.float32":
            return Spelled(f"(double)(float){args[0].at(ATOM)}", REAL, UNARY)
        if name == "math.isnan":
            return Spelled(f"isnan({args[0].text})", TRUTH)
        if name in self.words.by_kind:
            kind = joined(INTEGER, args[0].kind)
            return Spelled(f"{self.words.by_kind[name][word(kind)]}({args[0].text})", kind)
        if name in self.words.names:
            text = f"{self.words.names[name]}({', '.join(arg.text for arg in args)})"
            is_whole = name in self.words.whole
            return Spelled(f"(int64_t){text}", INTEGER, UNARY) if is_whole else Spelled(text, REAL)
        return self.around.call(expr, args)

    def _extreme(self, called: str, args: Sequence[Spelled]) -> Spelled:
        text, kind = args[0].text, joined(INTEGER, args[0].kind)
        for other in args[1:]:
            kind = joined(kind, other.kind)
            text = f"{called}{self._suffix(kind)}({text}, {other.text})"
        return Spelled(text, kind)


def number(expr: Number) -> Spelled:
    """Return a number."""
    value = expr.value
    if isinstance(value, bool):
        return Spelled(str(int(value)), TRUTH)
    if isinstance(value, int):
        text = str(value) if abs(value) < WHOLE else f"INT64_C({value})"
        return Spelled(text, INTEGER, UNARY if value < 0 else ATOM)
    if math.isnan(value):
        return Spelled("NAN", REAL)
    text = "INFINITY" if math.isinf(value) else repr(abs(value))
    is_negative = math.copysign(1.0, value) < 0
    return Spelled(f"-{text}" if is_negative else text, REAL, UNARY if is_negative else ATOM)
