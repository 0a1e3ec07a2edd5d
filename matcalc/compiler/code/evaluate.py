"""Evaluates Code entry by entry, as its grammar says: a plain reference for the printers, with each index checked."""

from __future__ import annotations

import builtins
import math
import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from matcalc.compiler.code.check import FOLDS
from matcalc.compiler.code.code import (
    Array,
    Block,
    Call,
    Code,
    Constants,
    Empty,
    Expr,
    For,
    Foreign,
    Function,
    If,
    Jump,
    Length,
    Let,
    Load,
    Name,
    Number,
    Op,
    Pair,
    Part,
    Return,
    Statement,
    Store,
    View,
    While,
)
from matcalc.compiler.code.print_python import HEADS, expression
from matcalc.compiler.program import ProgramFault

OPERATORS: Mapping[str, Callable[..., Any]] = {
    "+": operator.add, "*": operator.mul, "/": operator.truediv, "//": operator.floordiv, "%": operator.mod,
    "**": operator.pow, "<": operator.lt, "<=": operator.le, "==": operator.eq, "!=": operator.ne, ">": operator.gt,
    ">=": operator.ge, "|": operator.or_, "&": operator.and_, "^": operator.xor, "not": operator.not_,
    "<<": operator.lshift, ">>": operator.rshift, "-": lambda one, *other: one - other[0] if other else -one,
}  # fmt: skip
CALLS: dict[str, Callable[..., Any]] = {"float": np.float64, "int": int}
CALLS |= {name: getattr(builtins, name) for name in FOLDS}
UNWRITTEN = {"float64": np.nan, "int64": -(2**62), "int32": -(2**30)}
"""What new memory holds, so that a result shows that it was read before it was written."""


class Evaluator:
    """Runs the functions of Code; `functions` are those outside of it, by name."""

    def __init__(self, code: Code, functions: Mapping[str, Callable[..., Any]]) -> None:
        self.functions = {**CALLS, **functions}
        self.constants: dict[str, Any] = {}
        for item in code.items:
            if isinstance(item, Function):
                self.functions[item.name] = self._function(item)
            elif isinstance(item, Constants):
                _Run(self, self.constants).block(item.lets)
            elif isinstance(item, Foreign):
                raise ProgramFault(f"the evaluator does not run the text {item.text.splitlines()[0]!r}")
        self.main = code.main.name

    def __call__(self, *arguments: Any) -> Any:
        """Run the function that is entered."""
        with np.errstate(all="ignore"):
            return self.functions[self.main](*arguments)

    def _function(self, function: Function) -> Callable[..., Any]:
        def run(*arguments: Any) -> Any:
            names = (name for name, _ in function.parameters)
            return _Run(self, dict(zip(names, map(_value, arguments), strict=True))).block(function.body)

        return run


def _value(value: Any) -> Any:
    """Return a number in the type in which its kind computes: integers have no limit here, reals divide by zero."""
    if isinstance(value, np.ndarray | bool | np.bool_ | tuple):
        return value
    return int(value) if isinstance(value, int | np.integer) else np.float64(value)


def _of_module(name: str) -> Callable[..., float]:
    """Return a function of the module math, NaN outside of its domain."""

    def function(*args: float) -> float:
        try:
            return float(getattr(math, name.removeprefix("math."))(*args))
        except ValueError:
            return math.nan

    return function


class _JumpError(Exception):
    """A round of a loop has ended early; the argument is the word of the jump."""


class _Run:
    """A call of a function; `names` are the values of its names."""

    def __init__(self, evaluator: Evaluator, names: dict[str, Any]) -> None:
        self.evaluator, self.names = evaluator, names
        self.writers: Mapping[type, Callable[[Any], Any]] = {
            Number: lambda expr: _value(expr.value),
            Name: self._name,
            Op: self._op,
            Call: self._call,
            Load: lambda expr: _value(self.value(expr.array)[self.index(expr)]),
            Length: lambda expr: self.value(expr.array).shape[expr.axis],
            Empty: lambda expr: np.full(self.values(expr.shape), UNWRITTEN[expr.number], expr.number),
            Array: lambda expr: np.array(self.values(expr.entries), float),
            View: self._view,
            Pair: lambda expr: (self.value(expr.first), self.value(expr.second)),
            Part: lambda expr: self.value(expr.pair)[expr.place],
        }

    # ---- expressions

    def value(self, expr: Expr) -> Any:
        return self.writers[type(expr)](expr)

    def values(self, exprs: Sequence[Expr]) -> tuple[Any, ...]:
        return tuple(map(self.value, exprs))

    def _name(self, expr: Name) -> Any:
        if expr.name not in self.names and expr.name not in self.evaluator.constants:
            raise ProgramFault(f"{expr.name} has no value here")
        return self.names.get(expr.name, self.evaluator.constants.get(expr.name))

    def _op(self, expr: Op) -> Any:
        if expr.op == "if":
            test, then, other = expr.args
            return self.value(then if self.value(test) else other)
        if expr.op in ("and", "or"):
            return (all, any)[expr.op == "or"](bool(self.value(arg)) for arg in expr.args)
        values = self.values(expr.args)
        return OPERATORS[expr.op](*(map(np.float64, values) if expr.op in ("/", "**") else values))

    def _call(self, expr: Call) -> Any:
        function = self.evaluator.functions.get(expr.function) or _of_module(expr.function)
        found = function(*self.values(expr.args))
        return None if found is None else _value(found)

    def index(self, expr: Load | Store) -> tuple[int, ...]:
        """Return an index, each part of which is inside its axis."""
        at, shape = self.values(expr.at), self.value(expr.array).shape
        if len(at) > len(shape) or any(not 0 <= k < n for k, n in zip(at, shape, strict=False)):
            raise ProgramFault(f"{expression(Load(expr.array, expr.at))}: {at} is outside of {shape}")
        return at

    def _view(self, expr: View) -> Any:
        array = self.value(expr.array)
        if expr.start is not None and expr.stop is not None:
            start, stop = self.value(expr.start), self.value(expr.stop)
            if not 0 <= start <= len(array) or stop < start:
                raise ProgramFault(f"{expression(expr)}: {start} to {stop} is outside of {array.shape}")
            array = array[start:stop]
        if not expr.shape:
            return array
        shape = self.values(expr.shape)
        if shape != (-1,) and np.prod(shape) != array.size:
            raise ProgramFault(f"{expression(expr)}: {array.shape} has not the entries of {shape}")
        return array.reshape(shape)

    # ---- statements

    def block(self, block: Block) -> Any:
        """Run statements; return the result if one of them returns it, else None."""
        for statement in block:
            found = self.statement(statement)
            if found is not None:
                return found
        return None

    def statement(self, statement: Statement) -> Any:
        if isinstance(statement, Let):
            value = self.value(statement.value)
            self.names[statement.name] = self.joined(statement.op, self.names.get(statement.name), value)
        elif isinstance(statement, Store):
            array, at = self.value(statement.array), self.index(statement)
            if len(at) != array.ndim:
                raise ProgramFault(f"{HEADS[Store](statement)!r} stores more than one entry")
            array[at] = self.joined(statement.op, array[at], self.value(statement.value))
        elif isinstance(statement, Return):
            return self.value(statement.value)
        elif isinstance(statement, If):
            return self.block(statement.body if self.value(statement.test) else statement.orelse)
        elif isinstance(statement, For | While):
            return self.repeated(statement)
        elif isinstance(statement, Jump):
            raise _JumpError(statement.word)
        else:
            self.value(statement.call)
        return None

    def repeated(self, loop: For | While) -> Any:
        rounds = self.rounds(loop) if isinstance(loop, For) else iter(lambda: bool(self.value(loop.test)), False)
        for _ in rounds:
            try:
                found = self.block(loop.body)
            except _JumpError as jump:
                if jump.args == ("break",):
                    return None
                continue
            if found is not None:
                return found
        return None

    def rounds(self, loop: For) -> Any:
        bounds = [self.value(bound) for bound in (loop.start, loop.stop, loop.step) if bound is not None]
        for self.names[loop.name] in range(*bounds):
            yield

    def joined(self, op: str, before: Any, value: Any) -> Any:
        return OPERATORS[op](before, value) if op else value
