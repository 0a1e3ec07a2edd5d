"""Prints Code as Python, which Numba compiles and users read. Brackets stand where precedence needs them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from math import isinf, isnan
from typing import Any

from matcalc.compiler.code.code import (
    REST,
    Array,
    Block,
    Call,
    Code,
    Constants,
    Do,
    Empty,
    Expr,
    For,
    Foreign,
    If,
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
    While,
)
from matcalc.compiler.code.code_text import Printed
from matcalc.compiler.lowering_entries import PART
from matcalc.language.identifiers import comment, docstring

INDENT = "    "
COMMENT_COLUMN = 48
LINE = 110
LEVELS: Mapping[str, int] = {
    "if": 0, "or": 1, "and": 2, "not": 3, "<": 4, "<=": 4, "==": 4, "!=": 4, ">": 4, ">=": 4, "|": 5, "^": 6, "&": 7,
    "<<": 8, ">>": 8, "+": 9, "-": 9, "*": 10, "/": 10, "//": 10, "%": 10, "**": 12,
}  # fmt: skip
"""The precedence of operators. `-` of one operand has SIGN."""
COMPARED, PRODUCT, SIGN, ATOM = 4, 10, 11, 13
TIGHT = ("*", "/", "//", "%", "**")
Line = tuple[str, str]


# ---- expressions


def expression(expr: Expr, level: int = 0) -> str:
    """Return the text of an expression, in brackets if its precedence is below a level."""
    text, own = WRITERS[type(expr)](expr)
    return text if own >= level else f"({text})"


def _number(expr: Number) -> tuple[str, int]:
    value = expr.value
    if isinstance(value, float) and isnan(value):
        return "np.nan", ATOM
    text = f"{'-' if value < 0 else ''}np.inf" if isinstance(value, float) and isinf(value) else repr(value)
    return text, SIGN if text.startswith("-") else ATOM


def _op(expr: Op) -> tuple[str, int]:
    op, args = expr.op, expr.args
    if len(args) == 1:
        level = SIGN if op == "-" else LEVELS[op]
        return f"{op}{' ' * (op != '-')}{expression(args[0], level)}", level
    if op == "if":
        test, then, other = args
        return f"{expression(then, 1)} if {expression(test, 1)} else {expression(other)}", 0
    level, sign = LEVELS[op], op if op in TIGHT else f" {op} "
    if op in ("and", "or"):
        return sign.join([expression(arg, level + 1) for arg in args]), level
    left, right = args
    is_one_sided = level == COMPARED or op == "**"
    return f"{expression(left, level + is_one_sided)}{sign}{expression(right, level + (op != '**'))}", level


def _call(expr: Call) -> tuple[str, int]:
    if expr.function.startswith("."):
        first, *args = expr.args
        return f"{expression(first, ATOM)}{expr.function}({joined(args)})", ATOM
    return f"{expr.function}({joined(expr.args)})", ATOM


def _view(expr: View) -> tuple[str, int]:
    text = expression(expr.array, ATOM)
    if expr.start is not None and expr.stop is not None:
        text = f"{text}[{expression(expr.start)}:{expression(expr.stop)}]"
    if expr.shape == REST:
        return f"{text}.reshape(-1)", ATOM
    return f"{text}.reshape(({joined(expr.shape)}{',' * (len(expr.shape) == 1)}))" if expr.shape else text, ATOM


def _length(expr: Length) -> tuple[str, int]:
    return f"{expression(expr.array, ATOM)}.shape{'' if expr.axis is None else f'[{expr.axis}]'}", ATOM


def _empty(expr: Empty) -> tuple[str, int]:
    shape = joined(expr.shape) if len(expr.shape) == 1 else f"({joined(expr.shape)})"
    return f"np.empty({shape}{'' if expr.number == 'float64' else f', np.{expr.number}'})", ATOM


WRITERS: Mapping[type, Callable[[Any], tuple[str, int]]] = {
    Number: _number,
    Name: lambda expr: (expr.name, ATOM),
    Op: _op,
    Call: _call,
    Load: lambda expr: (f"{expression(expr.array, ATOM)}[{joined(expr.at)}]", ATOM),
    Length: _length,
    Empty: _empty,
    Array: lambda expr: (f"np.array([{joined(expr.entries)}])", ATOM),
    View: _view,
    Pair: lambda expr: (f"({joined((expr.first, expr.second))})", ATOM),
    Part: lambda expr: (f"{expression(expr.pair, ATOM)}[{expr.place}]", ATOM),
}


def joined(args: Iterable[Expr]) -> str:
    """Return expressions separated by commas."""
    return ", ".join([expression(arg) for arg in args])


# ---- statements


def lines(block: Iterable[Statement], indent: str = "") -> list[Line]:
    """Return the lines of statements, with their comments."""
    found: list[Line] = []
    for statement in block:
        found.append((indent + HEADS[type(statement)](statement), statement.note))
        if isinstance(statement, (For, While, If)):
            found += lines(statement.body, indent + INDENT)
        if isinstance(statement, If) and statement.orelse:
            found += _other(statement.orelse, indent)
    return found


def _other(block: Block, indent: str) -> list[Line]:
    """Return the lines of what runs if a test fails; another test continues the first."""
    if len(block) == 1 and isinstance(block[0], If):
        (head, note), *rest = lines(block, indent)
        return [(f"{indent}el{head.removeprefix(indent)}", note), *rest]
    return [(f"{indent}else:", ""), *lines(block, indent + INDENT)]


def _store(store: Store) -> str:
    at = joined(store.at) or "..."
    return f"{expression(store.array, ATOM)}[{at}] {store.op}= {expression(store.value)}"


def _for(loop: For) -> str:
    bounds = [bound for bound in (loop.start, loop.stop, loop.step) if bound is not None]
    return f"for {loop.name} in range({joined(bounds)}):"


HEADS: Mapping[type, Callable[[Any], str]] = {
    Let: lambda let: f"{let.name} {let.op}= {expression(let.value)}",
    Store: _store,
    Do: lambda do: expression(do.call),
    For: _for,
    While: lambda loop: f"while {expression(loop.test)}:",
    If: lambda choice: f"if {expression(choice.test)}:",
    Return: lambda result: f"return {expression(result.value)}",
    Jump: lambda jump: jump.word,
}


def integers(length: str, behind: int = 0) -> str:
    """Return the text of an array of the integers from 0 below a length, with further axes `behind` its own."""
    return f"np.arange({length})" + (f"[:{', None' * behind}]" if behind else "")


def along(lengths: Iterable[tuple[str, str]]) -> list[str]:
    """Return statements that bind names of axes to their integers, each an array along an axis of its own."""
    named = list(lengths)
    return [f"{axis} = {integers(length, len(named) - k)}" for k, (axis, length) in enumerate(named, 1)]


def line_with_note(line: str, note: str) -> str:
    """Return a line with a comment, shortened to the room that is left."""
    if not note:
        return line
    room = LINE - max(len(line) + 2, COMMENT_COLUMN) - 2
    if room < 8:
        return line
    note = comment(note)
    note = note if len(note) <= room else note[: room - 3] + "..."
    return f"{line:<{COMMENT_COLUMN - 2}}  # {note}"


# ---- functions


def text(code: Code) -> Printed:
    """Return the text of a module."""
    return Printed([*map(item_text, code.items)], code)


def item_text(item: Item) -> str:
    if isinstance(item, Foreign):
        return item.text
    if isinstance(item, Constants):
        return "\n".join(line for line, _ in lines(item.lets))
    head = f"def {item.name}({', '.join(name for name, _ in item.parameters)}):"
    body = [line_with_note(line, note) for line, note in lines(item.body, INDENT)]
    return "\n".join([*[PART] * item.is_inner, head, *(docstring(item.doc, INDENT) if item.doc else []), *body])
