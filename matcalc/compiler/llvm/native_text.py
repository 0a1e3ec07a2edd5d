"""Code in LLVM's assembly: its functions, the constants before them, and what calls of kernels look like.

The function that Python enters takes a row of words (`word_call.py`). Kernels have the calling convention of
Numba: `i32 f(result, excinfo, arguments)`. Others are of this module alone.
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
from matcalc.compiler.kernels.native_kinds import Kind, Row, UnknownFormError, Value, kind_of_word
from matcalc.compiler.llvm.native_function import RAISED, Writer
from matcalc.compiler.llvm.native_lines import Lines, real
from matcalc.compiler.llvm.native_words import load_llvm_words
from matcalc.compiler.llvm.word_call import (
    numba_words,
    parameter,
    parameters,
    passed_inside,
    passed_to_numba,
    word_call,
)

ANY_ORDER = "reassoc "
"""What is allowed of the additions to a total in a generated text: their order, so that a loop adds in lanes."""
MAIN = "main"
"""The name of the function that computes, in its module."""
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
        given = ", ".join(text for arg in args for text in passed_to_numba(lines, arg))
        status = lines.new(f'call i32 @"{self.symbol}"(ptr {result}, ptr %excinfo{", " if given else ""}{given})')
        return status if self.can_fail else ""

    @property
    def declaration(self) -> str:
        kinds = ", ".join(word for kind in self.kinds for word in numba_words(kind))
        return f'declare i32 @"{self.symbol}"(ptr, ptr{", " if kinds else ""}{kinds})'


class Inside(NamedTuple):
    """A function of this module."""

    symbol: str
    kinds: Sequence[Kind]
    result: Kind | None

    def written(self, lines: Lines, args: Sequence[Value], result: str) -> str:
        given = [f"ptr {result}", "ptr %excinfo", *(text for arg in args for text in passed_inside(lines, arg))]
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
        """Return the assembly of the module whose function of this name is entered by a symbol, with a row of words."""
        writer = Writer(self, self.functions[name], kinds, ANY_ORDER)
        attributes = ["noalias " if result else "" for result in is_result]
        head = f"define internal i32 @{MAIN}(ptr noalias %result, ptr noalias %excinfo, "
        main = _defined(head, writer, kinds, attributes, " noinline nounwind")
        outside = (callee for callee in self.callees.values() if isinstance(callee, Outside))
        declared = "\n".join(dict.fromkeys(callee.declaration for callee in outside))
        entered = word_call(symbol, f"@{MAIN}", kinds, passed_inside)
        return "\n".join([load_llvm_words().helpers, RAISES, declared, *self.texts, main, entered])

    def _inside(self, function: Function, kinds: Sequence[Kind]) -> Inside:
        name = function.name
        writer = Writer(self, function, kinds, ANY_ORDER if name in self.functions else "")
        made = Inside(f"own.{len(self.callees)}", tuple(kinds), writer.kinds.result)
        self.callees[name, tuple(kinds)] = made
        head = f"define internal i32 @{made.symbol}(ptr %result, ptr %excinfo, "
        self.texts.append(_defined(head, writer, kinds, [""] * len(kinds)))
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


def _defined(head: str, writer: Writer, kinds: Sequence[Kind], attributes: Sequence[str], after: str = "") -> str:
    """Return the assembly of a function; `attributes` are those of its arrays."""
    words = [word for k, kind in enumerate(kinds) for word in parameters(k, kind, attributes[k])]
    names = [name for name, _ in writer.function.parameters]
    body = "\n".join(writer.body({name: parameter(k, kinds[k]) for k, name in enumerate(names)}))
    return f"{head.removesuffix('' if words else ', ')}{', '.join(words)}){after} {{\n{body}\n}}"


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


def outside_kernel(symbol: str, types: Sequence[str]) -> Outside:
    """Return a kernel by its symbol and the words of its signature."""
    result, *arguments = types
    kinds = tuple(map(kind_of_word, arguments))
    return Outside(symbol, kinds, None if result == "void" else kind_of_word(result), True)
