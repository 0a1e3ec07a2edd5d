"""Code in LLVM's assembly: its functions, the constants before them, and what calls of kernels look like.

The function that Python enters has the calling convention of Numba, whose own it stands for: `i32 f(result, excinfo,
arguments)`, an array as its owner, parent, number of entries, size of an entry, data, lengths and strides. Others are
of this module alone.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, NamedTuple

from matcalc.compiler.code.code import Array, Code, Constants, Expr, Foreign, Function, Op, View
from matcalc.compiler.code.code import Number as Literal
from matcalc.compiler.code.print_python import expression
from matcalc.compiler.code.read_python import items_of
from matcalc.compiler.kernels.library import Item
from matcalc.compiler.kernels.native_kinds import BYTES, Kind, Number, Row, UnknownFormError, Value, kind_of_word
from matcalc.compiler.llvm.native_function import RAISED, Writer
from matcalc.compiler.llvm.native_lines import Lines, real
from matcalc.compiler.llvm.native_words import load_llvm_words

ANY_ORDER = "reassoc "
"""What is allowed of the additions to a total in a generated text: their order, so that a loop adds in lanes."""
SAYS = pickle.dumps((MemoryError, ("there is no memory for the arrays of a call",), None))
RAISES = f"""
@says = internal constant [{len(SAYS)} x i8] c"{"".join(f"{chr(92)}{byte:02X}" for byte in SAYS)}"
@{RAISED} = internal constant {{ ptr, i32, ptr, ptr, i32 }} {{ ptr @says, i32 {len(SAYS)}, ptr null, ptr null, i32 0 }}
"""
"""What Numba's convention says of an exception: where a pickle of its class and arguments is."""


class Outside(NamedTuple):
    """A function outside of this module, in Numba's calling convention; `can_fail`: whether its status is looked at."""

    symbol: str
    kinds: Sequence[Kind]
    result: Kind | None
    can_fail: bool

    def written(self, lines: Lines, args: Sequence[Value], result: str) -> str:
        given = ", ".join(text for arg in args for text in _passed(lines, arg))
        status = lines.new(f'call i32 @"{self.symbol}"(ptr {result}, ptr %excinfo{", " if given else ""}{given})')
        return status if self.can_fail else ""

    @property
    def declaration(self) -> str:
        kinds = ", ".join(word for kind in self.kinds for word in _words(kind))
        return f'declare i32 @"{self.symbol}"(ptr, ptr{", " if kinds else ""}{kinds})'


class Inside(NamedTuple):
    """A function of this module."""

    symbol: str
    kinds: Sequence[Kind]
    result: Kind | None

    def written(self, lines: Lines, args: Sequence[Value], result: str) -> str:
        given = [f"ptr {result}", "ptr %excinfo"]
        for arg in args:
            if isinstance(arg, Number):
                given.append(f"{arg.kind.word} {arg.text}")
            else:
                given += [f"ptr {arg.data}", *(f"i64 {length}" for length in arg.lengths)]
        return lines.new(f"call i32 @{self.symbol}({', '.join(given)})")


Found = Callable[[str, Sequence[Kind]], Outside | None]
"""What finds a function outside, by its name and the kinds of its arguments."""


@dataclass
class Module:
    """What is written of Code; `items` are the functions of `codegen/`, `found` those outside."""

    items: Mapping[str, Item]
    found: Found
    functions: dict[str, Function] = field(default_factory=dict)
    arrays: dict[str, Row] = field(default_factory=dict)
    texts: list[str] = field(default_factory=list)
    callees: dict[tuple[str, tuple[Kind, ...]], Outside | Inside] = field(default_factory=dict)

    def add(self, code: Code) -> None:
        """Take in the functions and constants of Code."""
        for item in code.items:
            for own in items_of(item.text) if isinstance(item, Foreign) else (item,):
                if isinstance(own, Function):
                    self.functions[own.name] = own
                else:
                    assert isinstance(own, Constants)
                    for let in own.lets:
                        self._constant(let.name, let.value)

    def callee(self, name: str, kinds: Sequence[Kind]) -> Outside | Inside | None:
        """Return what is called by a name with arguments of these kinds."""
        known = name, tuple(kinds)
        if known not in self.callees:
            found = None if name in self.functions else self.found(name, kinds)
            if found is None:
                if name not in self.functions and name not in self.items:
                    return None
                return self._inside(self.functions.get(name) or _function_of(self.items[name]), kinds)
            self.callees[known] = found
        return self.callees[known]

    def entered(self, name: str, kinds: Sequence[Kind], is_result: Sequence[bool], symbol: str) -> str:
        """Return the assembly of the module whose function of this name is entered from outside by a symbol."""
        function = Writer(self, self.functions[name], kinds, ANY_ORDER)
        given, words = {}, []
        for k, ((parameter, _), kind) in enumerate(zip(self.functions[name].parameters, kinds, strict=True)):
            given[parameter] = _taken(k, kind)
            words += _parameters(k, kind, is_result[k])
        body = "\n".join(function.body(given))
        head = f'define i32 @"{symbol}"(ptr noalias %result, ptr noalias %excinfo, {", ".join(words)})'
        outside = (callee for callee in self.callees.values() if isinstance(callee, Outside))
        declared = "\n".join(dict.fromkeys(callee.declaration for callee in outside))
        return "\n".join([load_llvm_words().helpers, RAISES, declared, *self.texts, f"{head} nounwind {{\n{body}\n}}"])

    def _inside(self, function: Function, kinds: Sequence[Kind]) -> Inside:
        name = function.name
        writer = Writer(self, function, kinds, ANY_ORDER if name in self.functions else "")
        made = Inside(f"own.{len(self.callees)}", tuple(kinds), writer.kinds.result)
        self.callees[name, tuple(kinds)] = made
        given: dict[str, Value] = {}
        words = ["ptr %result", "ptr %excinfo"]
        for k, ((parameter, _), kind) in enumerate(zip(function.parameters, kinds, strict=True)):
            if kind.rank:
                lengths = [f"%a{k}.{axis}" for axis in range(kind.rank)]
                given[parameter] = Row(f"%a{k}", lengths, "null", kind)
                words += [f"ptr %a{k}", *(f"i64 {length}" for length in lengths)]
            else:
                given[parameter] = Number(f"%a{k}", kind)
                words.append(f"{kind.word} %a{k}")
        body = "\n".join(writer.body(given))
        self.texts.append(f"define internal i32 @{made.symbol}({', '.join(words)}) {{\n{body}\n}}")
        return made

    def _constant(self, name: str, value: Expr) -> None:
        """Take in an array of numbers, or a view of it in another shape."""
        array, shape = (value.array, value.shape) if isinstance(value, View) else (value, ())
        if not isinstance(array, Array) or not all(isinstance(length, Literal) for length in shape):
            raise UnknownFormError(name)
        count = len(array.entries)
        numbers = ", ".join(f"double {real(_known(entry))}" for entry in array.entries)
        lengths = [str(_known(length, int)) for length in shape] or [str(count)]
        place = f"@constant.{len(self.arrays)}"
        self.texts.append(f"{place} = internal constant [{count} x double] [{numbers}], align 64")
        self.arrays[name] = Row(place, lengths, "null", Kind("float64", len(lengths)))


@lru_cache(maxsize=1024)
def _function_of(item: Item) -> Function:
    """Return a function of the sources, read once."""
    (found,) = items_of(item.text)
    if not isinstance(found, Function):
        raise UnknownFormError(item.name)
    return found


def _known(expr: Expr, kind: type = float) -> Any:
    """Return a literal number."""
    if isinstance(expr, Op) and expr.op == "-" and len(expr.args) == 1:
        return -_known(expr.args[0], kind)
    if not isinstance(expr, Literal):
        raise UnknownFormError(expression(expr))
    return kind(expr.value)


# --- Numba's calling convention


def _words(kind: Kind) -> list[str]:
    if not kind.rank:
        return ["i8" if kind.word == "i1" else kind.word]
    return ["ptr", "ptr", "i64", "i64", "ptr", *["i64"] * (2 * kind.rank)]


def _passed(lines: Lines, value: Value) -> list[str]:
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


def _parameters(k: int, kind: Kind, is_result: bool) -> list[str]:
    if not kind.rank:
        return [f"{kind.word} %a{k}"]
    axes = range(kind.rank)
    noalias = "noalias " if is_result else ""
    parts = ["ptr %a{k}.owner", "ptr %a{k}.parent", "i64 %a{k}.count", "i64 %a{k}.size", "ptr {noalias}%a{k}"]
    parts += [f"i64 %a{{k}}.{axis}" for axis in axes] + [f"i64 %a{{k}}.stride{axis}" for axis in axes]
    return [part.format(k=k, noalias=noalias) for part in parts]


def _taken(k: int, kind: Kind) -> Value:
    if not kind.rank:
        return Number(f"%a{k}", kind)
    return Row(f"%a{k}", [f"%a{k}.{axis}" for axis in range(kind.rank)], "null", kind)


def outside_kernel(symbol: str, types: Sequence[str]) -> Outside:
    """Return a kernel by its symbol and the words of its signature."""
    result, *arguments = types
    kinds = tuple(map(kind_of_word, arguments))
    return Outside(symbol, kinds, None if result == "void" else kind_of_word(result), True)
