"""The functions and constants of one file of C, each with its callees.

`Unit` finds a function by its name among those of Code and of `codegen/numba`, and prints it for the kinds that it
states, else for those of a call. BLAS and LAPACK are called by their interfaces for C, which take arrays by columns.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np

from matcalc.compiler.code.check import Kinds
from matcalc.compiler.code.code import (
    Array,
    Call,
    Code,
    Constants,
    Empty,
    Expr,
    For,
    Foreign,
    Function,
    Item,
    Let,
    Number,
    Op,
    View,
    within,
)
from matcalc.compiler.code.compare_text import same
from matcalc.compiler.code.evaluate import Evaluator
from matcalc.compiler.code.read_kernels import kernel_items
from matcalc.compiler.files.c_expressions import Spelled, number
from matcalc.compiler.files.c_function import Writer, result_of
from matcalc.compiler.files.c_kinds import word
from matcalc.compiler.files.c_words import load_c_words
from matcalc.compiler.files.c_work import Workspace
from matcalc.compiler.kernels.library import load_library
from matcalc.compiler.kernels.native_kinds import INTEGER, NOTHING, REAL, Kind, UnknownFormError
from matcalc.errors import NotSupported
from matcalc.language.identifiers import free

ELSEWHERE = 'target="numba" or "numpy" has one'
NOTHING_DONE = Function("", (), ())
SYMBOLS = "NTLURVS"
"""The letters of BLAS that the sources name."""


@dataclass(frozen=True, slots=True)
class Stated:
    """The kinds of arguments and result of a function, for the check of types."""

    kinds: Sequence[Kind]
    result: Kind | None


@dataclass
class Unit:
    """The functions and constants of one file; `own` are those of Code, `reserved` the names of public functions."""

    reserved: set[str] = field(default_factory=set)
    own: dict[str, Function] = field(default_factory=dict)
    arrays: dict[str, Kind] = field(default_factory=dict)
    functions: dict[tuple[str, tuple[Kind, ...]], CFunction] = field(default_factory=dict)
    constants: dict[str, str] = field(default_factory=dict)
    reached: list[CFunction] = field(default_factory=list)

    def add(self, code: Code) -> None:
        """Take in the functions and constants of Code.

        Raises: NotSupported if another Code has a different function of the same name.
        """
        for item in (own for whole in code.items for own in _items(whole)):
            if isinstance(item, Constants):
                for let in item.lets:
                    self._array(let.name, let.value)
                continue
            assert isinstance(item, Function)
            if not same(self.own.setdefault(item.name, item).body, item.body):
                raise NotSupported(f"two functions of one file are called {item.name}", hint="write a file for each")

    def _array(self, name: str, value: Expr) -> None:
        """Define an array of numbers."""
        array, shape = (value.array, value.shape) if isinstance(value, View) else (value, ())
        assert isinstance(array, Array)
        entries = [number(entry).text for entry in array.entries if isinstance(entry, Number)]
        lengths = [length.value for length in shape if isinstance(length, Number)] or [len(entries)]
        self.arrays[name] = Kind("float64", len(lengths))
        self.constants[name] = _array_text(name, entries, lengths)

    def function(self, name: str, given: Iterable[Kind] = ()) -> CFunction:
        """Return a function for the kinds of its arguments.

        Raises: NotSupported if it has no form in C.
        """
        source = self.own.get(name) or _kernel(name)
        stated = tuple(kind for _, kind in source.parameters if kind is not None)
        key = name, stated or tuple(given)
        if key not in self.functions:
            versions = sum(known == name for known, _ in self.functions)
            taken = load_c_words().reserved_for([name]) | self.reserved
            called = free(name, taken) + (f"_{versions + 1}" if versions else "")
            self.functions[key] = CFunction(self, source, called, key[1])
            self.functions[key].infer()
        return self.functions[key]

    def reach(self, function: CFunction) -> None:
        """Print a function into the file, after those that it calls."""
        if function in self.reached or function.is_under_way:
            return
        function.is_under_way = True
        function.print()
        function.is_under_way = False
        self.reached.append(function)

    def constant(self, name: str) -> Spelled | None:
        """Return a constant of Code or of the sources, which the file then defines."""
        if name in SYMBOLS:
            return Spelled(f"'{name}'", INTEGER)
        if name in self.arrays:
            return Spelled(name, self.arrays[name])
        if name not in _known():
            return None
        called, value = free(name, load_c_words().reserved_for([name]) | self.reserved), _known()[name]
        if isinstance(value, tuple):
            self.constants[name] = _array_text(called, [number(Number(x)).text for x in value], [len(value)])
        else:
            self.constants[name] = f"static const {word(_kind(value))} {called} = {number(Number(value)).text};"
        return Spelled(called, _kind(value))

    def known(self, function: Function) -> dict[str, Kind]:
        """Return the kinds of the constants that a function may read."""
        own = {name for name, _ in function.parameters}
        own |= {part.name for part in within(function.body) if isinstance(part, Let | For)}
        kinds = {**{name: _kind(value) for name, value in _known().items()}, **dict.fromkeys(SYMBOLS, INTEGER)}
        return {name: kind for name, kind in {**kinds, **self.arrays}.items() if name not in own}

    def signature(self, name: str, kinds: Sequence[Kind]) -> Stated:
        """Return the kinds of a function that may be called."""
        words = load_c_words()
        if name in words.names or name == "np.float32":
            return Stated([REAL] * len(kinds), INTEGER if name in words.whole else REAL)
        if self.routine(name):
            return Stated(kinds, INTEGER)
        function = self.function(name, kinds)
        return Stated(function.given, None if function.result == NOTHING else function.result)

    def routine(self, name: str) -> str:
        """Return the library of a routine, blas or lapack; empty for other functions."""
        item = load_library("numba").items.get(name)
        if name in self.own or item is None or " = external(" not in item.text:
            return ""
        return "blas" if '"blas"' in item.text else "lapack"


class CFunction:
    """A function of a file, for given kinds of its arguments. `calls` are those that take workspace."""

    def __init__(self, unit: Unit, source: Function, name: str, given: tuple[Kind, ...]) -> None:
        self.unit, self.source, self.name_in_c, self.given = unit, source, name, given
        self.makes_arrays = any(isinstance(part, Empty | Array) for part in within(source.body))
        self.calls: list[tuple[CFunction, Call]] = []
        self.workspace: Workspace | None = None
        self.is_under_way = False
        self.kinds: Kinds | None = None
        self.text = ""

    @property
    def takes_work(self) -> bool:
        return self.makes_arrays or bool(self.calls)

    @property
    def result(self) -> Kind:
        if self.kinds is None:
            return self.source.result or NOTHING
        return result_of(self.source, self.kinds)

    def infer(self) -> None:
        """Find the kinds of all names."""
        try:
            self.kinds = Kinds(self.source, self.given, self.unit.known(self.source), self.unit.signature)
        except UnknownFormError as fault:
            raise NotSupported(f"{self.source.name} has no form for the target c: {fault}", hint=ELSEWHERE) from fault
        self.writer = Writer(self.source, self.name_in_c, self.kinds, self)

    @property
    def head(self) -> str:
        return self.writer.head

    def print(self) -> None:
        """Print the function, after its callees."""
        self.calls.clear()
        lines = self.writer.lines()
        if self.takes_work:
            self.workspace = Workspace(self.source, self.given, self.writer.spelling, self.constant, self.calls)
        self.text = "\n".join(lines)

    @property
    def work_definition(self) -> str:
        return self.workspace.definition(self.name_in_c) if self.workspace else ""

    def constant(self, name: str) -> Spelled | None:
        return self.unit.constant(name)

    def call(self, expr: Call, args: Sequence[Spelled]) -> Spelled:
        library = self.unit.routine(expr.function)
        if library:
            return Spelled(self._routine(library, expr, args), INTEGER)
        callee = self.unit.function(expr.function, [arg.kind for arg in args])
        self.unit.reach(callee)
        if callee.takes_work:
            self.calls.append((callee, expr))
        texts = [arg.text for arg in args] + (["work"] if callee.takes_work else [])
        return Spelled(f"{callee.name_in_c}({', '.join(texts)})", callee.result)

    def _routine(self, library: str, expr: Call, args: Sequence[Spelled]) -> str:
        """Return a call of BLAS or LAPACK, which take arrays by columns."""
        words, name = load_c_words(), expr.function
        letters = words.letters.get(name, "").split()
        texts = []
        for place, (arg, value) in enumerate(zip(expr.args, args, strict=True)):
            text = value.text
            if value.kind.rank:
                text = self.writer.expressions.row(arg).data.text
            elif place < len(letters):
                text = f"{letters[place]}({text})"
            elif place in words.address.get(name, ()):
                text = f"&({'double' if value.kind == REAL else 'lapack_int'}){{{text}}}"
            texts.append(text)
        if library == "blas":
            return f"cblas_{name}(CblasColMajor, {', '.join(texts)})"
        return f"LAPACKE_{name}_work(LAPACK_COL_MAJOR, {', '.join(texts)})"


def _items(item: Item) -> Sequence[Item]:
    return kernel_items(item.text) if isinstance(item, Foreign) else (item,)


def _kernel(name: str) -> Function:
    """Return a function of the sources.

    Raises: NotSupported if it has no form in C.
    """
    item = load_library("numba").items.get(name)
    try:
        (found,) = kernel_items(item.text) if item else (None,)
    except UnknownFormError:
        found = None
    if not isinstance(found, Function) or name == "external":
        raise NotSupported(f"{name} has no form for the target c", hint=ELSEWHERE)
    return found


@cache
def _known() -> Mapping[str, float | tuple[float, ...]]:
    """Return the numbers, and the tuples of real numbers, that the sources name."""
    found: dict[str, float | tuple[float, ...]] = {}
    for name, item in load_library("numba").items.items():
        if item.is_function:
            continue
        try:
            (constants,) = kernel_items(item.text)
        except UnknownFormError:
            continue
        assert isinstance(constants, Constants)
        if all(isinstance(part, Number | Op | Array) for part in within([let.value for let in constants.lets])):
            value = Evaluator(Code((constants, NOTHING_DONE)), {}).constants[name]
            found[name] = tuple(map(float, value)) if isinstance(value, np.ndarray) else _plain(value)
    return found


def _plain(value: Any) -> float:
    return int(value) if isinstance(value, int) else float(value)


def _kind(value: float | tuple[float, ...]) -> Kind:
    if isinstance(value, tuple):
        return Kind("float64", 1)
    return INTEGER if isinstance(value, int) else REAL


def _array_text(name: str, entries: Sequence[str], lengths: Sequence[object]) -> str:
    """Return the definition of an array of numbers."""
    return (
        f"static const double {name}_entries[] = {{{', '.join(entries) or '0.0'}}};\n"
        f"static const {word(Kind('float64', len(lengths)))} {name} = "
        f"{{(double *){name}_entries, {{{', '.join(map(str, lengths))}}}}};"
    )
