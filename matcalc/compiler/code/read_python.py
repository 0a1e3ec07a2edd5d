"""Reads Python of `codegen/` as Code: functions, and templates such as `where({0} > {1}, 1.0, 0.0)`.

A template is an expression or an assignment. Its fields become names, for which `filled` puts expressions.
"""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any, NamedTuple

from matcalc.compiler.code.code import (
    REST,
    ZERO,
    Array,
    Block,
    Call,
    Constants,
    Do,
    Empty,
    Expr,
    For,
    Function,
    If,
    Item,
    Length,
    Let,
    Load,
    Name,
    Number,
    Op,
    Return,
    Statement,
    Store,
    View,
    While,
    ends,
)
from matcalc.compiler.kernels.native_kinds import UnknownFormError
from matcalc.compiler.lowering_entries import FIELD
from matcalc.errors import NotSupported

OPERATORS: Mapping[type[ast.AST], str] = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.FloorDiv: "//", ast.Mod: "%", ast.Pow: "**",
    ast.BitAnd: "&", ast.BitOr: "|", ast.BitXor: "^", ast.LShift: "<<", ast.RShift: ">>",
    ast.And: "and", ast.Or: "or", ast.Not: "not", ast.USub: "-",
    ast.Lt: "<", ast.LtE: "<=", ast.Eq: "==", ast.NotEq: "!=", ast.Gt: ">", ast.GtE: ">=",
}  # fmt: skip

CONSTANTS = {"inf": math.inf, "nan": math.nan, "pi": math.pi}
"""The numbers of the modules math and np."""
MODULES = ("math", "np", "special", "sp", "sl", "linalg", "scipy", "torch", "jnp", "jax")


class Template(NamedTuple):
    """An expression with fields, and what it is assigned to: a field, or all entries of one."""

    value: Expr
    target: Name | None = None
    is_whole: bool = False


def field_name(field: str) -> str:
    """Return the name that stands for a field of a template; it is no name of generated code."""
    return f"field {field}"


@lru_cache(maxsize=1024)
def template(text: str) -> Template:
    """Return a template.

    Raises: NotSupported for a form that Code does not have.
    """
    fields: dict[str, str] = {}

    def stand_in(found: re.Match[str]) -> str:
        word = f"field_{len(fields)}_"
        fields[word] = field_name(found[0][1:-1])
        return word

    (statement,) = ast.parse(FIELD.sub(stand_in, text)).body
    read = PythonReader(fields).expression
    try:
        if isinstance(statement, ast.Assign):
            (target,) = statement.targets
            is_whole = isinstance(target, ast.Subscript)
            name = read(target.value if isinstance(target, ast.Subscript) else target)
            assert isinstance(name, Name)
            return Template(read(statement.value), name, is_whole)
        assert isinstance(statement, ast.Expr)
        return Template(read(statement.value))
    except UnknownFormError as fault:
        raise NotSupported(f"{fault} is a form that generated code does not have") from fault


def expression_of(text: str) -> Expr:
    """Return an expression without fields."""
    return template(text).value


def items_of(text: str) -> tuple[Item, ...]:
    """Return the functions and constants of a Python text; the kinds of parameters are those of each call.

    A function without a result returns 0.

    Raises: UnknownFormError for a form that Code does not have.
    """
    return tuple(map(_with_result, items_as_written(text)))


def items_as_written(text: str) -> tuple[Item, ...]:
    """Return the functions and constants of a Python text, without results that the text does not have.

    Raises: UnknownFormError for a form that Code does not have.
    """
    return tuple(map(_item, ast.parse(text).body))


def _with_result(item: Item) -> Item:
    if isinstance(item, Function) and not ends(item.body):
        return replace(item, body=(*item.body, Return(ZERO)))
    return item


def _item(node: ast.stmt) -> Item:
    reader = PythonReader({})
    if isinstance(node, ast.FunctionDef):
        if ast.unparse(node.args) != ", ".join(a.arg for a in node.args.args):
            raise UnknownFormError(ast.unparse(node.args))
        parameters = tuple((a.arg, None) for a in node.args.args)
        return Function(node.name, parameters, reader.block(node.body), wraps=True)
    (statement,) = reader.block([node])
    if not isinstance(statement, Let):
        raise UnknownFormError(ast.unparse(node))
    return Constants((statement,))


class PythonReader:
    """Reads expressions and statements; `fields` are the names for which fields stand."""

    def __init__(self, fields: Mapping[str, str]) -> None:
        self.fields = fields

    def _read(self, node: ast.AST) -> Any:
        reader = getattr(self, f"_{type(node).__name__.lower()}", None)
        if reader is None:
            raise UnknownFormError(ast.unparse(node))
        return reader(node)

    # ---- expressions

    def expression(self, node: ast.expr) -> Expr:
        return self._read(node)  # type: ignore[no-any-return]

    def expressions(self, node: ast.expr) -> tuple[Expr, ...]:
        """Return the entries of a tuple, or one expression."""
        return tuple(map(self.expression, node.elts if isinstance(node, ast.Tuple) else [node]))

    def _constant(self, node: ast.Constant) -> Expr:
        if not isinstance(node.value, (bool, int, float)):
            raise UnknownFormError(ast.unparse(node))
        return Number(node.value)

    def _name(self, node: ast.Name) -> Expr:
        return Name(self.fields.get(node.id, node.id))

    def _unaryop(self, node: ast.UnaryOp) -> Expr:
        return Op(_operator(node.op), (self.expression(node.operand),))

    def _binop(self, node: ast.BinOp) -> Expr:
        return Op(_operator(node.op), (self.expression(node.left), self.expression(node.right)))

    def _boolop(self, node: ast.BoolOp) -> Expr:
        return Op(_operator(node.op), tuple(map(self.expression, node.values)))

    def _compare(self, node: ast.Compare) -> Expr:
        terms = [*map(self.expression, (node.left, *node.comparators))]
        tests = [Op(_operator(op), (terms[k], terms[k + 1])) for k, op in enumerate(node.ops)]
        return tests[0] if len(tests) == 1 else Op("and", tuple(tests))

    def _ifexp(self, node: ast.IfExp) -> Expr:
        return Op("if", (self.expression(node.test), self.expression(node.body), self.expression(node.orelse)))

    def _call(self, node: ast.Call) -> Expr:
        name = ast.unparse(node.func)
        if node.keywords or any(isinstance(arg, ast.Starred) for arg in node.args):
            raise UnknownFormError(ast.unparse(node))
        if name == "np.empty":
            shape, *number = node.args
            return Empty(self._shape(shape), ast.unparse(number[0]).removeprefix("np.") if number else "float64")
        if name == "np.array" and isinstance(node.args[0], ast.List):
            return Array(tuple(map(self.expression, node.args[0].elts)))
        if not isinstance(node.func, ast.Attribute) or _is_module(node.func.value):
            return Call(name, tuple(map(self.expression, node.args)))
        array, method = self.expression(node.func.value), node.func.attr
        if method != "reshape":
            return Call(f".{method}", (array, *map(self.expression, node.args)))
        (given,) = node.args
        return View(array, REST if ast.unparse(given) == "-1" else self._shape(given))

    def _shape(self, node: ast.expr) -> tuple[Expr, ...]:
        if isinstance(node, ast.Attribute) and node.attr == "shape":
            return (Length(self.expression(node.value)),)
        return self.expressions(node)

    def _attribute(self, node: ast.Attribute) -> Expr:
        if node.attr == "size":
            return Length(View(self.expression(node.value), REST), 0)
        if not _is_module(node.value):
            raise UnknownFormError(ast.unparse(node))
        return Number(CONSTANTS[node.attr]) if node.attr in CONSTANTS else Name(ast.unparse(node))

    def _subscript(self, node: ast.Subscript) -> Expr:
        if isinstance(node.value, ast.Attribute) and node.value.attr == "shape":
            if not isinstance(node.slice, ast.Constant) or not isinstance(node.slice.value, int):
                raise UnknownFormError(ast.unparse(node))
            return Length(self.expression(node.value.value), node.slice.value)
        if not isinstance(node.slice, ast.Slice):
            return Load(self.expression(node.value), self.expressions(node.slice))
        if node.slice.lower is None or node.slice.upper is None or node.slice.step is not None:
            raise UnknownFormError(ast.unparse(node))
        start, stop = map(self.expression, (node.slice.lower, node.slice.upper))
        return View(self.expression(node.value), (), start, stop)

    # ---- statements

    def block(self, nodes: Sequence[ast.stmt]) -> Block:
        return tuple(self._read(node) for node in nodes if not self.is_nothing(node))

    def is_nothing(self, node: ast.stmt) -> bool:
        """Whether a statement is `pass`, or a docstring."""
        return isinstance(node, ast.Pass) or _is_text(node)

    def _expr(self, node: ast.Expr) -> Statement:
        return Do(self.expression(node.value))

    def _assign(self, node: ast.Assign) -> Statement:
        (target,) = node.targets
        return self._assigned(target, node.value, "")

    def _augassign(self, node: ast.AugAssign) -> Statement:
        return self._assigned(node.target, node.value, _operator(node.op))

    def _assigned(self, target: ast.expr, value: ast.expr, op: str) -> Statement:
        if isinstance(target, ast.Name):
            return Let(target.id, self.expression(value), op)
        if not isinstance(target, ast.Subscript) or isinstance(target.slice, ast.Slice):
            raise UnknownFormError(ast.unparse(target))
        return Store(self.expression(target.value), self.expressions(target.slice), self.expression(value), op)

    def _for(self, node: ast.For) -> Statement:
        called = node.iter
        is_range = isinstance(called, ast.Call) and ast.unparse(called.func) == "range" and not node.orelse
        if not is_range or not isinstance(node.target, ast.Name):
            raise UnknownFormError(ast.unparse(called))
        assert isinstance(called, ast.Call)
        bounds = [*map(self.expression, called.args)]
        start, stop = (None, bounds[0]) if len(bounds) == 1 else bounds[:2]
        return For(node.target.id, stop, self.block(node.body), start, bounds[2] if len(bounds) > 2 else None)

    def _while(self, node: ast.While) -> Statement:
        return While(self.expression(node.test), self.block(node.body))

    def _if(self, node: ast.If) -> Statement:
        return If(self.expression(node.test), self.block(node.body), self.block(node.orelse))

    def _return(self, node: ast.Return) -> Statement:
        return Return(ZERO if node.value is None else self.expression(node.value))


def _operator(node: ast.AST) -> str:
    if type(node) not in OPERATORS:
        raise UnknownFormError(type(node).__name__)
    return OPERATORS[type(node)]


def _is_module(node: ast.expr) -> bool:
    """Whether a name is looked up in a module: `math.sqrt`."""
    return isinstance(node, ast.Name) and node.id in MODULES


def _is_text(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


def filled(expr: Expr, fields: Mapping[str, Expr]) -> Expr:
    """Return an expression with names replaced."""
    if isinstance(expr, Name):
        return fields.get(expr.name, expr)
    if isinstance(expr, Op):
        return Op(expr.op, tuple([filled(arg, fields) for arg in expr.args]))
    if isinstance(expr, Call):
        return Call(expr.function, tuple([filled(arg, fields) for arg in expr.args]))
    if isinstance(expr, Load):
        return Load(filled(expr.array, fields), tuple([filled(arg, fields) for arg in expr.at]))
    if isinstance(expr, Length):
        return Length(filled(expr.array, fields), expr.axis)
    if isinstance(expr, Array):
        return Array(tuple([filled(entry, fields) for entry in expr.entries]))
    return View(filled(expr.array, fields), expr.shape) if isinstance(expr, View) else expr
