"""Expressions of generated code in LLVM's assembly. A form that is not here is left to Numba, never guessed at."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

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
from matcalc.compiler.llvm.native_inference import Kinds, widened
from matcalc.compiler.llvm.native_lines import Lines, real
from matcalc.compiler.llvm.native_words import load_llvm_words

OF_REALS: Mapping[type[ast.AST], str] = {ast.Add: "fadd", ast.Sub: "fsub", ast.Mult: "fmul", ast.Div: "fdiv"}
OF_INTEGERS: Mapping[type[ast.AST], str] = {
    ast.Add: "add",
    ast.Sub: "sub",
    ast.Mult: "mul",
    ast.BitAnd: "and",
    ast.BitOr: "or",
    ast.BitXor: "xor",
}
DIVIDED: Mapping[type[ast.AST], str] = {ast.FloorDiv: "quotient", ast.Mod: "modulo"}
COMPARED: Mapping[type[ast.AST], tuple[str, str]] = {
    ast.Eq: ("eq", "oeq"),
    ast.NotEq: ("ne", "une"),
    ast.Lt: ("slt", "olt"),
    ast.LtE: ("sle", "ole"),
    ast.Gt: ("sgt", "ogt"),
    ast.GtE: ("sge", "oge"),
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
        self.writers: Mapping[type[ast.AST], Callable[..., Value]] = {
            ast.Constant: self._constant,
            ast.Name: lambda node: around.name(node.id),
            ast.UnaryOp: self._unary,
            ast.BinOp: lambda node: self.binary(node.op, self.number(node.left), self.number(node.right)),
            ast.BoolOp: self._both,
            ast.Compare: self._compare,
            ast.IfExp: self._choice,
            ast.Subscript: self._subscript,
            ast.Attribute: self._attribute,
            ast.Call: self._call,
        }

    def value(self, node: ast.expr) -> Value:
        writer = self.writers.get(type(node))
        if writer is None:
            raise UnknownFormError(ast.unparse(node))
        return writer(node)

    def number(self, node: ast.expr) -> Number:
        found = self.value(node)
        if not isinstance(found, Number):
            raise UnknownFormError(ast.unparse(node))
        return found

    def row(self, node: ast.expr) -> Row:
        found = self.value(node)
        if not isinstance(found, Row):
            raise UnknownFormError(ast.unparse(node))
        return found

    def integer(self, node: ast.expr) -> str:
        """Return an integer. Raises: UnknownFormError for a real number."""
        found = self.number(node)
        if found.kind == REAL:
            raise UnknownFormError(ast.unparse(node))
        return self.as_kind(found, INTEGER)

    def truth(self, node: ast.expr) -> str:
        found = self.number(node)
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

    def _constant(self, node: ast.Constant) -> Number:
        if isinstance(node.value, bool):
            return Number(str(node.value).lower(), TRUTH)
        if isinstance(node.value, int) and abs(node.value) < 2**63:
            return Number(str(node.value), INTEGER)
        if isinstance(node.value, float):
            return Number(real(node.value), REAL)
        raise UnknownFormError(ast.unparse(node))

    def _unary(self, node: ast.UnaryOp) -> Number:
        if isinstance(node.op, ast.Not):
            return Number(self.lines.new(f"xor i1 {self.truth(node.operand)}, true"), TRUTH)
        if not isinstance(node.op, ast.USub):
            raise UnknownFormError(ast.unparse(node))
        value = self.number(node.operand)
        if value.kind == REAL:
            return Number(self.lines.new(f"fneg double {value.text}"), REAL)
        return Number(self.lines.new(f"sub i64 0, {self.as_kind(value, INTEGER)}"), INTEGER)

    def binary(self, op: ast.operator, left: Number, right: Number, flags: str = "") -> Number:
        """Write what an operator makes of two numbers; `flags` are what may be done to it, where they are real."""
        kind = joined(left.kind, right.kind)
        if isinstance(op, ast.Div) or kind == REAL:
            if type(op) not in OF_REALS:
                raise UnknownFormError(type(op).__name__)
            one, other = self.as_kind(left, REAL), self.as_kind(right, REAL)
            return Number(self.lines.new(f"{OF_REALS[type(op)]} {flags}double {one}, {other}"), REAL)
        is_bits = isinstance(op, ast.BitAnd | ast.BitOr | ast.BitXor)
        if kind == TRUTH and not is_bits:
            kind = INTEGER
        one, other = self.as_kind(left, kind), self.as_kind(right, kind)
        if type(op) in DIVIDED:
            return Number(self.lines.new(f"call i64 @{DIVIDED[type(op)]}(i64 {one}, i64 {other})"), INTEGER)
        if type(op) not in OF_INTEGERS:
            raise UnknownFormError(type(op).__name__)
        return Number(self.lines.new(f"{OF_INTEGERS[type(op)]} {kind.word} {one}, {other}"), kind)

    def _both(self, node: ast.BoolOp) -> Number:
        """Write tests, of which the later are made only where the sooner have not decided."""
        lines, end = self.lines, self.lines.name("both")
        is_and, ways = isinstance(node.op, ast.And), []
        for k, part in enumerate(node.values):
            test = self.truth(part)
            ways.append((test, lines.block))
            if k + 1 == len(node.values):
                lines.go(end)
                break
            more = lines.name("more")
            lines.either(test, *((more, end) if is_and else (end, more)))
            lines.begin(more)
        lines.begin(end)
        return Number(lines.joined("i1", ways), TRUTH)

    def _compare(self, node: ast.Compare) -> Number:
        left, found = self.number(node.left), ""
        for op, part in zip(node.ops, node.comparators, strict=True):
            right = self.number(part)
            kind = joined(left.kind, right.kind)
            if type(op) not in COMPARED:
                raise UnknownFormError(ast.unparse(node))
            kind = INTEGER if kind == TRUTH else kind
            words = "icmp", "fcmp"
            one, other = self.as_kind(left, kind), self.as_kind(right, kind)
            is_real = kind == REAL
            test = self.lines.new(f"{words[is_real]} {COMPARED[type(op)][is_real]} {kind.word} {one}, {other}")
            found = self.lines.new(f"and i1 {found}, {test}") if found else test
            left = right
        return Number(found, TRUTH)

    def _choice(self, node: ast.IfExp) -> Number:
        lines, kind = self.lines, self.around.kinds.of(node)
        if kind.rank:
            raise UnknownFormError(ast.unparse(node))
        then, other, end = (lines.name(stem) for stem in ("then", "other", "chosen"))
        lines.either(self.truth(node.test), then, other)
        ways = []
        for label, part in ((then, node.body), (other, node.orelse)):
            lines.begin(label)
            ways.append((self.as_kind(self.number(part), kind), lines.block))
            lines.go(end)
        lines.begin(end)
        return Number(lines.joined(kind.word, ways), kind)

    # --- arrays

    def _attribute(self, node: ast.Attribute) -> Number:
        if ast.unparse(node) in self.words.literals:
            return Number(real(self.words.literals[ast.unparse(node)]), REAL)
        if node.attr != "size":
            raise UnknownFormError(ast.unparse(node))
        return Number(self.entries(self.row(node.value).lengths), INTEGER)

    def _subscript(self, node: ast.Subscript) -> Value:
        if isinstance(node.value, ast.Attribute) and node.value.attr == "shape":
            axis = node.slice.value if isinstance(node.slice, ast.Constant) else None
            if not isinstance(axis, int):
                raise UnknownFormError(ast.unparse(node))
            return Number(self.row(node.value.value).lengths[axis], INTEGER)
        array = self.row(node.value)
        if isinstance(node.slice, ast.Slice):
            return self._slice(node.slice, array)
        place = self.place(node.slice, array)
        rest = array.lengths[_count(node.slice) :]
        if rest:
            return Row(place, rest, array.owner, Kind(array.kind.number, len(rest)))
        found = self.lines.new(f"load {array.kind.word}, ptr {place}")
        if widened(array.kind.entry) != array.kind.entry:
            return Number(self.lines.new(f"sext {array.kind.word} {found} to i64"), INTEGER)
        return Number(found, array.kind.entry)

    def place(self, index: ast.expr, array: Row) -> str:
        """Return where an entry is, or the part at the first indices."""
        indices = index.elts if isinstance(index, ast.Tuple) else [index]
        if len(indices) > array.kind.rank:
            raise UnknownFormError(ast.unparse(index))
        at = ""
        for k, part in enumerate(indices):
            text = self.index(part, array.lengths[k])
            if at:
                at = self.lines.new(f"mul nsw i64 {at}, {array.lengths[k]}")
                at = self.lines.new(f"add nsw i64 {at}, {text}")
            else:
                at = text
        for length in array.lengths[len(indices) :]:
            at = self.lines.new(f"mul nsw i64 {at}, {length}")
        return self.lines.new(f"getelementptr inbounds {array.kind.word}, ptr {array.data}, i64 {at}")

    def index(self, node: ast.expr, length: str) -> str:
        """Return a place on an axis."""
        text = self.integer(node)
        if not self.around.wraps or text.isdigit():
            return text
        is_from_end, other = self.lines.new(f"icmp slt i64 {text}, 0"), self.lines.new(f"add i64 {text}, {length}")
        return self.lines.new(f"select i1 {is_from_end}, i64 {other}, i64 {text}")

    def _slice(self, node: ast.Slice, array: Row) -> Row:
        """Write `X[start:stop]`, which ends where X does."""
        if node.step is not None or self.around.wraps:
            raise UnknownFormError("a slice with a step, or of indices that may be below 0")
        length, *rest = array.lengths
        stop = self.within(self.integer(node.upper), length) if node.upper else length
        start = self.within(self.integer(node.lower), stop) if node.lower else "0"
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

    def _call(self, node: ast.Call) -> Value:
        name = ast.unparse(node.func)
        if node.keywords or any(isinstance(arg, ast.Starred) for arg in node.args):
            raise UnknownFormError(ast.unparse(node))
        if name == "np.empty":
            return self._empty(node)
        if isinstance(node.func, ast.Attribute) and node.func.attr in self.words.views:
            return self._reshaped(node.func.value, node)
        if name in self.words.plain:
            return self._plain(name, [self.number(arg) for arg in node.args])
        if not isinstance(node.func, ast.Name):
            raise UnknownFormError(name)
        return self.around.call(name, [self.value(arg) for arg in node.args])

    def _plain(self, name: str, args: Sequence[Number]) -> Number:
        if name in self.words.real:
            given = ", ".join(f"double {self.as_kind(arg, REAL)}" for arg in args)
            return Number(self.lines.new(f"call double @{self.words.real[name]}({given})"), REAL)
        if name in self.words.folds:
            return self._extreme(args, self.words.folds[name])
        (value,) = args
        if name in self.words.casts:
            kind = Kind(self.words.casts[name])
            return Number(self.as_kind(value, kind), kind)
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

    def _lengths(self, shape: ast.expr) -> tuple[str, ...]:
        if isinstance(shape, ast.Attribute):
            return tuple(self.row(shape.value).lengths)
        return tuple(map(self.integer, shape.elts if isinstance(shape, ast.Tuple) else [shape]))

    def _empty(self, node: ast.Call) -> Row:
        kind = self.around.kinds.of(node)
        lengths = self._lengths(node.args[0])
        total = lengths[0]
        for length in lengths[1:]:
            total = self.lines.new(f"call i64 @product(i64 {total}, i64 {length})")
        data = self.around.take(total, BYTES[kind.number])
        return Row(data, lengths, data, kind, is_new=True)

    def _reshaped(self, of: ast.expr, node: ast.Call) -> Row:
        array, (shape,) = self.row(of), node.args
        if ast.unparse(shape) == "-1":
            lengths: tuple[str, ...] = (self.entries(array.lengths),)
        else:
            lengths = self._lengths(shape)
        return Row(array.data, lengths, array.owner, Kind(array.kind.number, len(lengths)))


def _count(index: ast.expr) -> int:
    return len(index.elts) if isinstance(index, ast.Tuple) else 1
