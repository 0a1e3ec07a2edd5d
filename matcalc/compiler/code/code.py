"""Defines `Code`, the loop tree of a compiled function. README.md states its grammar and the rules of its types.

Expressions and statements are plain immutable data. An operation is named as Python names it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from functools import reduce
from typing import Any

from matcalc.compiler.kernels.native_kinds import Kind


@dataclass(frozen=True, slots=True)
class Number:
    value: float | int | bool


@dataclass(frozen=True, slots=True)
class Name:
    name: str


@dataclass(frozen=True, slots=True)
class Op:
    """An operator of Python: `-` has one or two operands, `and` and `or` any number, `if` a test and both values."""

    op: str
    args: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class Call:
    """A call of a kernel, a function of numbers, or another function of the Code."""

    function: str
    args: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class Load:
    """An entry of an array; with fewer indices than axes, the array of these entries."""

    array: Expr
    at: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class Length:
    """The length of an axis; without an axis all lengths, which are the shape of a new array."""

    array: Expr
    axis: int | None = None


@dataclass(frozen=True, slots=True)
class Empty:
    """New memory, not yet written."""

    shape: tuple[Expr, ...]
    number: str = "float64"


@dataclass(frozen=True, slots=True)
class Array:
    """New memory that holds these numbers."""

    entries: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class View:
    """The memory of an array, from index `start` to `stop` of its first axis, in its own shape or another one."""

    array: Expr
    shape: tuple[Expr, ...] = ()
    start: Expr | None = None
    stop: Expr | None = None


@dataclass(frozen=True, slots=True)
class Pair:
    """Two numbers, which a function returns together."""

    first: Expr
    second: Expr


@dataclass(frozen=True, slots=True)
class Part:
    """The first number of a pair, or the second one: `place` is 0 or 1."""

    pair: Expr
    place: int


Expr = Number | Name | Op | Call | Load | Length | Empty | Array | View | Pair | Part


@dataclass(frozen=True, slots=True)
class Let:
    """`name = value`, or with an operator `name op= value`."""

    name: str
    value: Expr
    op: str = ""
    note: str = ""


@dataclass(frozen=True, slots=True)
class Store:
    """`array[at] = value`, or with an operator `array[at] op= value`; without indices, all entries are assigned."""

    array: Expr
    at: tuple[Expr, ...]
    value: Expr
    op: str = ""
    note: str = ""


@dataclass(frozen=True, slots=True)
class Do:
    """A call whose result is not used."""

    call: Expr
    note: str = ""


@dataclass(frozen=True, slots=True)
class For:
    name: str
    stop: Expr
    body: Block
    start: Expr | None = None
    step: Expr | None = None
    note: str = ""


@dataclass(frozen=True, slots=True)
class While:
    test: Expr
    body: Block
    note: str = ""


@dataclass(frozen=True, slots=True)
class If:
    test: Expr
    body: Block
    orelse: Block = ()
    note: str = ""


@dataclass(frozen=True, slots=True)
class Return:
    value: Expr
    note: str = ""


@dataclass(frozen=True, slots=True)
class Jump:
    """`break` or `continue` of the innermost loop."""

    word: str
    note: str = ""


Statement = Let | Store | Do | For | While | If | Return | Jump
Block = tuple[Statement, ...]


@dataclass(frozen=True, slots=True)
class Function:
    """A function; `doc` are the lines of its docstring. `is_inner`: only functions of the same Code call it.

    Parameters of a function that was read from Python have no kinds if it states none: it is compiled for those of each
    call. It `wraps`: indices below 0 count from the end, as in Python. `result` is the kind that it states.
    """

    name: str
    parameters: tuple[tuple[str, Kind | None], ...]
    body: Block
    doc: tuple[str, ...] = ()
    is_inner: bool = False
    wraps: bool = False
    result: Kind | None = None


@dataclass(frozen=True, slots=True)
class Constants:
    """Arrays whose entries are known, as statements before a function."""

    lets: tuple[Let, ...]


@dataclass(frozen=True, slots=True)
class Foreign:
    """The text of functions that are not in this form: values of users' rules."""

    text: str


Item = Function | Constants | Foreign


@dataclass(frozen=True, slots=True)
class Code:
    """The items of a module in order; the last one is the function that is entered from outside."""

    items: tuple[Item, ...]

    @property
    def main(self) -> Function:
        last = self.items[-1]
        assert isinstance(last, Function)
        return last


ZERO, ONE = Number(0), Number(1)
REST = (Number(-1),)
"""The shape of a view with one axis for all entries."""


def chain(op: str, args: Sequence[Expr]) -> Expr:
    """Return operands joined by an operator from the left: a*b*c is (a*b)*c."""
    return reduce(lambda left, right: Op(op, (left, right)), args)


def negated(expr: Expr) -> Expr:
    """Return -expr, with the sign at the first factor of a product, where Python reads it in `-x*y`."""
    if isinstance(expr, Op) and expr.op in ("*", "/"):
        return Op(expr.op, (negated(expr.args[0]), expr.args[1]))
    return Op("-", (expr,))


FORMS: tuple[type, ...] = (
    *(Number, Name, Op, Call, Load, Length, Empty, Array, View, Pair, Part),
    *(Let, Store, Do, For, While, If, Return, Jump),
)
PARTS: dict[type, tuple[str, ...]] = {
    form: tuple(field.name for field in fields(form) if "Expr" in str(field.type) or field.type == "Block")
    for form in FORMS
}
"""The fields of each form that hold expressions or statements."""


def parts(item: Any) -> list[Any]:
    """Return the expressions and statements directly inside one."""
    found: list[Any] = []
    for name in PARTS[type(item)]:
        value = getattr(item, name)
        if type(value) is tuple:
            found += value
        elif value is not None:
            found.append(value)
    return found


def within(items: Sequence[Any]) -> Iterator[Any]:
    """Yield expressions and statements and all that is in them, each before its parts."""
    stack = [*reversed(items)]
    while stack:
        top = stack.pop()
        yield top
        if PARTS[type(top)]:
            stack += reversed(parts(top))


def names_in(block: Block) -> set[str]:
    """Return the names that a block reads."""
    return {part.name for part in within(block) if isinstance(part, Name)}


def ends(block: Block) -> bool:
    """Whether a block ends with a result on every way through its last statement; an endless loop ends with one."""
    last = block[-1] if block else None
    if isinstance(last, While):
        return last.test == Number(True) and not _breaks(last.body)
    return isinstance(last, Return) or (isinstance(last, If) and ends(last.body) and ends(last.orelse))


def _breaks(block: Block) -> bool:
    """Whether a block leaves the loop that it is the body of."""
    for statement in block:
        if isinstance(statement, If) and (_breaks(statement.body) or _breaks(statement.orelse)):
            return True
        if isinstance(statement, Jump) and statement.word == "break":
            return True
    return False
