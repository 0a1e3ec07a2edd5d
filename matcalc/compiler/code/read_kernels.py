"""Reads the kernel sources of `codegen/numba` as Code, each function once.

Kernels are written in more of Python than generated functions: they assign several names at once, fill arrays, leave
loops, and state the kinds of their parameters. Each such form is read as the statements of Code that it means.
"""

from __future__ import annotations

import ast
import io
import tokenize
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any

from matcalc.compiler.code.code import (
    REST,
    ZERO,
    Array,
    Call,
    Constants,
    Empty,
    Expr,
    For,
    Function,
    Item,
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
    within,
)
from matcalc.compiler.code.read_python import PythonReader
from matcalc.compiler.kernels.native_kinds import INTEGER, NOTHING, PAIR, REAL, TRUTH, Kind, UnknownFormError
from matcalc.language.identifiers import free

KINDS = {
    "boolean": TRUTH, "int64": INTEGER, "float64": REAL, "void": NOTHING, "UniTuple(float64, 2)": PAIR,
    "VECTOR": Kind("float64", 1), "MATRIX": Kind("float64", 2), "TENSOR": Kind("float64", 3),
    "PIVOTS": Kind("int32", 1),
}  # fmt: skip
"""The words of signatures."""
FILLED: Mapping[str, Expr | None] = {"np.zeros": Number(0.0), "np.ones": Number(1.0), "np.arange": None}
"""The functions that make an array and fill it; None is the index itself."""
SAME = {"float64": "float", "int64": "int"}


@lru_cache(maxsize=1024)
def kernel_items(text: str) -> tuple[Item, ...]:
    """Return the functions and constants of a source, with its comments as notes.

    Raises: UnknownFormError for a form that Code does not have.
    """
    notes = _comments(text) if "#" in text else {}
    return tuple(_item(node, notes) for node in ast.parse(text).body)


def _comments(text: str) -> dict[int, str]:
    """Return the comments of a text by line."""
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    return {token.start[0]: token.string.lstrip("# ") for token in tokens if token.type == tokenize.COMMENT}


def _item(node: ast.stmt, notes: Mapping[int, str]) -> Item:
    reader = _Reader(node, notes)
    if isinstance(node, ast.FunctionDef):
        return reader.function(node)
    first, *others = reader.block([node]) or (None,)
    if others or not isinstance(first, Let):
        raise UnknownFormError(ast.unparse(node))
    return Constants((first,))


class _Reader(PythonReader):
    """Reads a function. `before` are the statements that run before the one that is read."""

    def __init__(self, node: ast.AST, notes: Mapping[int, str]) -> None:
        super().__init__({})
        self.notes = notes
        self.taken = {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}
        self.taken |= {part.arg for part in ast.walk(node) if isinstance(part, ast.arg)}
        self.made: Counter[str] = Counter()
        self.shapes: dict[str, tuple[Expr, ...]] = {}
        self.before: list[Statement] = []

    def function(self, node: ast.FunctionDef) -> Function:
        names = [a.arg for a in node.args.args]
        if ast.unparse(node.args) != ", ".join(names):
            raise UnknownFormError(ast.unparse(node.args))
        result, kinds = _signature(node)
        body = self.block(node.body)
        returned = [part.value for part in ast.walk(node) if isinstance(part, ast.Return)]
        result = result or (None if any(value is not None for value in returned) else NOTHING)
        doc = tuple((ast.get_docstring(node) or "").splitlines())
        unstated: list[Kind | None] = [None] * len(names)
        parameters = tuple(zip(names, kinds or unstated, strict=True))
        return Function(node.name, parameters, body, doc, wraps=True, result=result)

    def fresh(self, word: str) -> Name:
        self.made[word] += 1
        return Name(free(f"{word}_{self.made[word]}", self.taken))

    # ---- expressions

    def _tuple(self, node: ast.Tuple) -> Expr:
        """Read `(A, k)`: the memory of an array from an entry on."""
        if len(node.elts) != 2:
            raise UnknownFormError(ast.unparse(node))
        array, start = map(self.expression, node.elts)
        entries = View(array, REST)
        return View(entries, (), start, Length(entries, 0))

    def _call(self, node: ast.Call) -> Expr:
        name = ast.unparse(node.func)
        if name in FILLED or name == "np.empty":
            made = self.fresh("array")
            self.before += self._made(made.name, node)
            return made
        read = super()._call(node)
        return replace(read, function=SAME.get(read.function, read.function)) if isinstance(read, Call) else read

    def _made(self, name: str, node: ast.Call) -> list[Statement]:
        """Return the statements that make an array and fill it."""
        word = ast.unparse(node.func)
        shape, *number = node.args
        text = ast.unparse(number[0]).removeprefix("np.") if number else "float64"
        made = Empty(self._shape(shape), "int64" if word == "np.arange" else text)
        return [Let(name, made), *(self._filled(Name(name), FILLED[word]) if word in FILLED else ())]

    def _filled(self, array: Expr, value: Expr | None) -> list[Statement]:
        entries, k = View(array, REST), self.fresh("k")
        return [For(k.name, Length(entries, 0), (Store(entries, (k,), k if value is None else value),))]

    def _shape(self, node: ast.expr) -> tuple[Expr, ...]:
        if isinstance(node, ast.Name) and node.id in self.shapes:
            return self.shapes[node.id]
        if isinstance(node, ast.IfExp):
            test, one, other = self.expression(node.test), self._shape(node.body), self._shape(node.orelse)
            return tuple(Op("if", (test, *pair)) for pair in zip(_axes(one, other), _axes(other, one), strict=True))
        return super()._shape(node)

    def _subscript(self, node: ast.Subscript) -> Expr:
        of, at = node.value, node.slice
        place = at.value if isinstance(at, ast.Constant) and isinstance(at.value, int) else None
        if isinstance(of, ast.Name) and of.id in self.shapes and place is not None:
            shape = self.shapes[of.id]
            return _axis(shape[0], place) if _is_whole(shape) else shape[place]
        if isinstance(of, ast.Call) and place is not None:
            call = self.expression(of)
            if isinstance(call, Call) and call.function.startswith("math."):
                return replace(call, function=f"{call.function}[{place}]")
            return Part(call, place) if isinstance(call, Call) else Load(call, (Number(place),))
        if not isinstance(at, ast.Slice):
            return super()._subscript(node)
        if at.step is not None:
            raise UnknownFormError(ast.unparse(node))
        array = self.expression(of)
        if at.lower is None and at.upper is None:
            return array
        start = ZERO if at.lower is None else self.expression(at.lower)
        return View(array, (), start, Length(array, 0) if at.upper is None else self.expression(at.upper))

    # ---- statements

    def block(self, nodes: Sequence[ast.stmt]) -> tuple[Statement, ...]:
        found: list[Statement] = []
        for node in nodes:
            outer, self.before = self.before, []
            read: Any = [] if self.is_nothing(node) else self._read(node)
            made = [*self.before, *(read if isinstance(read, list) else [read])]
            self.before = outer
            note = self.notes.get(node.lineno, "")
            found += [replace(made[0], note=note), *made[1:]] if made and note else made
        return tuple(found)

    def _assign(self, node: ast.Assign) -> Any:
        (target,) = node.targets
        if isinstance(target, ast.Tuple):
            return self._several(target.elts, node.value)
        value = node.value
        if isinstance(target, ast.Name):
            is_shape = isinstance(value, ast.Attribute) and value.attr == "shape"
            if is_shape or (isinstance(value, ast.Tuple) and not _is_numbers(value)):
                return self._shape_name(target.id, value)
            if isinstance(value, ast.Tuple):
                return Let(target.id, Array(tuple(map(self.expression, value.elts))))
            if isinstance(value, ast.Call) and ast.unparse(value.func) in ("np.empty", *FILLED):
                return self._made(target.id, value)
        if isinstance(target, ast.Subscript) and isinstance(target.slice, ast.Slice):
            return self._filled(self.expression(target), self.expression(value))
        return super()._assign(node)

    def _shape_name(self, name: str, value: ast.expr) -> list[Statement]:
        """Return the statements that keep the lengths of a shape; those of an array are read where they are used."""
        shape = self._shape(value)
        lets: list[Statement] = []
        if not _is_whole(shape):
            lets = [Let(self.fresh(name).name, length) for length in shape]
            shape = tuple(Name(let.name) for let in lets if isinstance(let, Let))
        if self.shapes.setdefault(name, shape) != shape:
            raise UnknownFormError(ast.unparse(value))
        return lets

    def _several(self, targets: list[ast.expr], value: ast.expr) -> list[Statement]:
        """Return the statements that assign several values at once."""
        values = self._values(value, len(targets))
        if values is None:
            both = self.fresh("both")
            pair = [Part(both, place) for place in range(len(targets))]
            return [Let(both.name, self.expression(value)), *map(self._give, targets, pair)]
        given = {target.id for target in targets if isinstance(target, ast.Name)}
        read = {part.name for part in within(values) if isinstance(part, Name)}
        if read & given or any(isinstance(target, ast.Subscript) for target in targets[:-1]):
            new = [self.fresh("new") for _ in values]
            lets = [Let(name.name, one) for name, one in zip(new, values, strict=True)]
            return [*lets, *map(self._give, targets, new)]
        return [*map(self._give, targets, values)]

    def _values(self, value: ast.expr, count: int) -> Sequence[Expr] | None:
        """Return the values of several targets; None for the result of a call."""
        if isinstance(value, ast.IfExp):
            one, other = self._values(value.body, count), self._values(value.orelse, count)
            if one is None or other is None:
                raise UnknownFormError(ast.unparse(value))
            return [Op("if", (self.expression(value.test), *pair)) for pair in zip(one, other, strict=True)]
        if isinstance(value, ast.Tuple):
            return [*map(self.expression, value.elts)]
        if isinstance(value, ast.Call):
            return None
        shape = self._shape(value)
        return [_axis(shape[0], axis) for axis in range(count)] if _is_whole(shape) else shape

    def _give(self, target: ast.expr, value: Expr) -> Statement:
        if isinstance(target, ast.Name):
            return Let(target.id, value)
        place = self.expression(target)
        if not isinstance(place, Load):
            raise UnknownFormError(ast.unparse(target))
        return Store(place.array, place.at, value)

    def _for(self, node: ast.For) -> Statement:
        if not isinstance(node.iter, ast.Name) or not isinstance(node.target, ast.Name) or node.orelse:
            return super()._for(node)
        array, k = Name(node.iter.id), self.fresh("k")
        return For(k.name, Length(array, 0), (Let(node.target.id, Load(array, (k,))), *self.block(node.body)))

    def _while(self, node: ast.While) -> Statement:
        loop = super()._while(node)
        if self.before or node.orelse:
            raise UnknownFormError(ast.unparse(node.test))
        return loop

    def _return(self, node: ast.Return) -> Statement:
        if isinstance(node.value, ast.Tuple) and len(node.value.elts) == 2:
            first, second = map(self.expression, node.value.elts)
            return Return(Pair(first, second))
        return super()._return(node)

    def _break(self, _: ast.Break) -> Statement:
        return Jump("break")

    def _continue(self, _: ast.Continue) -> Statement:
        return Jump("continue")


def _is_numbers(node: ast.Tuple) -> bool:
    """Whether a tuple holds real numbers; one of integers is a shape."""
    return all(isinstance(part, ast.UnaryOp | ast.BinOp) or _is_real(part) for part in node.elts)


def _is_real(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, float)


def _is_whole(shape: Sequence[Expr]) -> bool:
    """Whether a shape is that of an array."""
    return len(shape) == 1 and isinstance(shape[0], Length) and shape[0].axis is None


def _axis(shape: Expr, axis: int) -> Expr:
    assert isinstance(shape, Length)
    return Length(shape.array, axis)


def _axes(shape: Sequence[Expr], other: Sequence[Expr]) -> Sequence[Expr]:
    """Return the lengths of a shape that has as many axes as another one."""
    return [_axis(shape[0], axis) for axis in range(len(other))] if _is_whole(shape) else shape


def _signature(node: ast.FunctionDef) -> tuple[Kind | None, list[Kind]]:
    """Return the kinds of the result and the parameters that a decorator states; nothing if none does."""
    for decorator in node.decorator_list:
        if isinstance(decorator, ast.Call) and decorator.args and isinstance(decorator.args[0], ast.Call):
            stated = decorator.args[0]
            return _kind(stated.func), [*map(_kind, stated.args)]
    return None, []


def _kind(node: ast.expr) -> Kind:
    word = ast.unparse(node).removeprefix("types.").removesuffix("_OUT")
    if word not in KINDS:
        raise UnknownFormError(f"the type {word}")
    return KINDS[word]
