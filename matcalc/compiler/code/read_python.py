"""Reads templates of `codegen/` as Code, such as `where({0} > {1}, 1.0, 0.0)` or `{s} = dot({x}, {y})`.

A field becomes a name, for which `filled` puts an expression.
"""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any, NamedTuple

from matcalc.compiler.code.code import Call, Expr, Length, Load, Name, Number, Op, View, chain
from matcalc.compiler.lowering_entries import FIELD
from matcalc.errors import NotSupported

OPERATORS: Mapping[type[ast.AST], str] = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.FloorDiv: "//", ast.Mod: "%", ast.Pow: "**",
    ast.BitAnd: "&", ast.BitOr: "|", ast.BitXor: "^", ast.And: "and", ast.Or: "or", ast.Not: "not", ast.USub: "-",
    ast.Lt: "<", ast.LtE: "<=", ast.Eq: "==", ast.NotEq: "!=", ast.Gt: ">", ast.GtE: ">=",
}  # fmt: skip

CONSTANTS = {"inf": math.inf, "nan": math.nan, "pi": math.pi}
"""The numbers of the modules math and np."""


class Template(NamedTuple):
    """An expression with fields, and what it is assigned to: a field, or all entries of one."""

    value: Expr
    target: Name | None = None
    is_whole: bool = False


def field_name(field: str) -> str:
    """Return the name that stands for a field of a template; it is no name of generated code."""
    return f"field {field}"


@lru_cache(maxsize=4096)
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
    read = _Reader(fields).expression
    if isinstance(statement, ast.Assign):
        (target,) = statement.targets
        is_whole = isinstance(target, ast.Subscript)
        name = read(target.value if isinstance(target, ast.Subscript) else target)
        assert isinstance(name, Name)
        return Template(read(statement.value), name, is_whole)
    if not isinstance(statement, ast.Expr):
        raise NotSupported(f"{text} is no expression")
    return Template(read(statement.value))


def expression_of(text: str) -> Expr:
    """Return an expression without fields."""
    return template(text).value


class _Reader:
    """Reads expressions; `fields` are the names for which fields stand."""

    def __init__(self, fields: Mapping[str, str]) -> None:
        self.fields = fields

    def expression(self, node: ast.expr) -> Expr:
        reader: Callable[[Any], Expr] | None = getattr(self, f"_{type(node).__name__.lower()}", None)
        if reader is None:
            raise NotSupported(f"{ast.unparse(node)} is a form that generated code does not have")
        return reader(node)

    def _constant(self, node: ast.Constant) -> Expr:
        return Number(node.value) if isinstance(node.value, (bool, int, float)) else Name(ast.unparse(node))

    def _name(self, node: ast.Name) -> Expr:
        return Name(self.fields.get(node.id, node.id))

    def _unaryop(self, node: ast.UnaryOp) -> Expr:
        return Op(OPERATORS[type(node.op)], (self.expression(node.operand),))

    def _binop(self, node: ast.BinOp) -> Expr:
        return Op(OPERATORS[type(node.op)], (self.expression(node.left), self.expression(node.right)))

    def _boolop(self, node: ast.BoolOp) -> Expr:
        return chain(OPERATORS[type(node.op)], [*map(self.expression, node.values)])

    def _compare(self, node: ast.Compare) -> Expr:
        terms = [*map(self.expression, (node.left, *node.comparators))]
        tests = [Op(OPERATORS[type(op)], (terms[k], terms[k + 1])) for k, op in enumerate(node.ops)]
        return chain("and", tests)

    def _ifexp(self, node: ast.IfExp) -> Expr:
        return Op("if", (self.expression(node.test), self.expression(node.body), self.expression(node.orelse)))

    def _call(self, node: ast.Call) -> Expr:
        if node.keywords:
            raise NotSupported(f"{ast.unparse(node)} has arguments by keyword, which generated code does not have")
        args = tuple(map(self.expression, node.args))
        if not isinstance(node.func, ast.Attribute) or _is_module(node.func.value):
            return Call(ast.unparse(node.func), args)
        array, method = self.expression(node.func.value), node.func.attr
        if method == "reshape":
            (shape,) = node.args
            lengths = shape.elts if isinstance(shape, ast.Tuple) else [shape]
            return View(array, tuple(Number(-1) if _is_rest(n) else self.expression(n) for n in lengths))
        return Call(f".{method}", (array, *args))

    def _attribute(self, node: ast.Attribute) -> Expr:
        return Number(CONSTANTS[node.attr]) if node.attr in CONSTANTS else Name(ast.unparse(node))

    def _subscript(self, node: ast.Subscript) -> Expr:
        if isinstance(node.value, ast.Attribute) and node.value.attr == "shape":
            assert isinstance(node.slice, ast.Constant)
            return Length(self.expression(node.value.value), node.slice.value)
        at = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        return Load(self.expression(node.value), tuple(map(self.expression, at)))


def _is_module(node: ast.expr) -> bool:
    """Whether a function is looked up in a module: `math.sqrt`."""
    return isinstance(node, ast.Name) and not node.id.startswith("field_")


def _is_rest(node: ast.expr) -> bool:
    return ast.unparse(node) == "-1"


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
    return View(filled(expr.array, fields), expr.shape) if isinstance(expr, View) else expr
