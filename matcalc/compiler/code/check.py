"""Checks the types of Code: each expression has one kind, and each name has one in the whole function.

README.md states the rules. Code that calls foreign functions has no types here and is left to Numba.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from matcalc.compiler.code.code import (
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
    Store,
    View,
    While,
)
from matcalc.compiler.code.print_python import HEADS, expression
from matcalc.compiler.kernels.native_kinds import BYTES, INTEGER, PAIR, REAL, TRUTH, Kind, UnknownFormError, joined

NUMBERS: Mapping[type, Kind] = {bool: TRUTH, int: INTEGER, float: REAL}
TESTS = ("<", "<=", "==", "!=", ">", ">=", "and", "or", "not")
CASTS = {"float": REAL, "int": INTEGER}
FOLDS = ("min", "max", "abs")
"""Functions of Python whose result has the kind of their arguments."""
OF_MATH = {"math.isnan": TRUTH, "math.frexp[1]": INTEGER}
"""The kinds of results of the module math that are not real."""


class Signature(Protocol):
    """The kinds of the arguments and of the result of a function; without a result it is a statement."""

    @property
    def kinds(self) -> Sequence[Kind]: ...

    @property
    def result(self) -> Kind | None: ...


Found = Callable[[str, Sequence[Kind]], Signature | None]
"""Returns the signature of a function outside of the Code, for arguments of these kinds."""


def kinds_of(code: Code, found: Found) -> dict[str, Kinds]:
    """Return the kinds of the names of each function that states the kinds of its parameters.

    Raises: UnknownFormError for what has no type.
    """
    arrays: dict[str, Kind] = {}
    typed: dict[str, Kinds] = {}
    functions = {item.name: item for item in code.items if isinstance(item, Function)}

    def called(name: str, kinds: Sequence[Kind]) -> Signature | None:
        return kinds_in(functions[name]) if name in functions else found(name, kinds)

    def kinds_in(function: Function) -> Kinds:
        if function.name not in typed:  # it may call functions that come later
            given = [kind for _, kind in function.parameters if kind is not None]
            typed[function.name] = Kinds(function, given, arrays, called)
        return typed[function.name]

    for item in code.items:
        if isinstance(item, Foreign):
            raise UnknownFormError(item.text.splitlines()[0])
        if isinstance(item, Constants):
            arrays |= Kinds(Function("", (), item.lets), (), arrays, called).names
    return {name: kinds_in(function) for name, function in functions.items()}


class Kinds:
    """The kinds of all names of a function for arguments of given kinds, and of its result.

    A name has the widest kind of its values. So statements are read again until no kind changes.
    """

    def __init__(self, function: Function, given: Sequence[Kind], arrays: Mapping[str, Kind], found: Found) -> None:
        if len(given) != len(function.parameters):
            raise UnknownFormError(f"{function.name} of {len(given)} arguments")
        self.kinds, self.arrays, self.found = tuple(given), arrays, found
        self.names = dict(zip((name for name, _ in function.parameters), given, strict=True))
        self.result: Kind | None = None
        before: dict[str, Kind] | None = None
        while before != self.names:
            before = dict(self.names)
            self.given = {name for name, _ in function.parameters}
            self.block(function.body)
        self.given = set(self.names)

    # ---- expressions

    def kind(self, expr: Expr) -> Kind:
        return getattr(self, f"_{type(expr).__name__.lower()}")(expr)  # type: ignore[no-any-return]

    def number(self, expr: Expr) -> Kind:
        kind = self.kind(expr)
        self.need(not kind.rank, expr, "a number")
        return kind

    def integers(self, exprs: Sequence[Expr | None]) -> None:
        for expr in exprs:
            self.need(expr is None or self.kind(expr) == INTEGER, expr, "an integer")

    def array(self, expr: Expr) -> Kind:
        kind = self.kind(expr)
        self.need(kind.rank > 0, expr, "an array")
        return kind

    def need(self, holds: bool, expr: Expr | None, what: str) -> None:
        if not holds:
            assert expr is not None
            raise UnknownFormError(f"{expression(expr)} is not {what}")

    def _number(self, expr: Number) -> Kind:
        return NUMBERS[type(expr.value)]

    def _name(self, expr: Name) -> Kind:
        self.need(expr.name in self.given or expr.name in self.arrays, expr, "a name with a value here")
        return self.names[expr.name] if expr.name in self.given else self.arrays[expr.name]

    def _op(self, expr: Op) -> Kind:
        if expr.op == "if":
            self.number(expr.args[0])
            return self.widest(expr, [self.kind(arg) for arg in expr.args[1:]])
        kinds = [self.number(arg) for arg in expr.args]
        if expr.op in TESTS:
            return TRUTH
        if expr.op in ("/", "**"):
            return REAL
        if expr.op in ("|", "&", "^", "<<", ">>"):
            self.need(REAL not in kinds, expr, "an operation on integers")
            return self.widest(expr, kinds if len(expr.op) == 1 else [INTEGER, *kinds])
        return self.widest(expr, [INTEGER, *kinds])

    def widest(self, expr: Expr, kinds: Sequence[Kind]) -> Kind:
        found: Kind | None = None
        for kind in kinds:
            found = joined(found, kind)
        assert found is not None
        return found

    def _call(self, expr: Call) -> Kind:
        kind = self.called(expr)
        self.need(kind is not None, expr, "a value")
        assert kind is not None
        return kind

    def called(self, expr: Call) -> Kind | None:
        """Return the kind of a call; None if it is a statement."""
        kinds = [self.kind(arg) for arg in expr.args]
        if expr.function in CASTS:
            return CASTS[expr.function]
        if expr.function in FOLDS:
            return self.widest(expr, kinds)
        if expr.function.startswith("math."):
            return OF_MATH.get(expr.function, REAL)
        signature = self.found(expr.function, kinds)
        if signature is None:
            raise UnknownFormError(expression(expr))
        self.need(len(kinds) == len(signature.kinds), expr, "a call with all arguments")
        for arg, kind, wanted in zip(expr.args, kinds, signature.kinds, strict=True):
            fits = kind == wanted if kind.rank or wanted.rank else joined(kind, wanted) == wanted
            self.need(fits, arg, f"of the kind {wanted} that {expr.function} takes")
        return signature.result

    def _load(self, expr: Load) -> Kind:
        kind = self.array(expr.array)
        self.integers(expr.at)
        self.need(0 < len(expr.at) <= kind.rank, expr, "an entry")
        entry = Kind(kind.number, kind.rank - len(expr.at))
        return INTEGER if entry == Kind("int32") else entry

    def _length(self, expr: Length) -> Kind:
        self.need(expr.axis is not None and expr.axis < self.array(expr.array).rank, expr, "a length")
        return INTEGER

    def _empty(self, expr: Empty) -> Kind:
        self.need(expr.number in BYTES, expr, "an array")
        return Kind(expr.number, self.rank(expr.shape))

    def rank(self, shape: Sequence[Expr]) -> int:
        """Return the number of lengths in a shape, which may be that of an array."""
        if len(shape) == 1 and isinstance(shape[0], Length) and shape[0].axis is None:
            return self.array(shape[0].array).rank
        self.integers(shape)
        return len(shape)

    def _array(self, expr: Array) -> Kind:
        for entry in expr.entries:
            self.number(entry)
        return Kind("float64", 1)

    def _view(self, expr: View) -> Kind:
        kind = self.array(expr.array)
        self.integers((expr.start, expr.stop))
        return Kind(kind.number, self.rank(expr.shape) or kind.rank)

    def _pair(self, expr: Pair) -> Kind:
        self.number(expr.first)
        self.number(expr.second)
        return PAIR

    def _part(self, expr: Part) -> Kind:
        self.need(self.kind(expr.pair) == PAIR, expr.pair, "a pair")
        return REAL

    # ---- statements

    def block(self, block: Block) -> bool:
        """Check statements; return whether nothing runs after them: they end with a result or a jump."""
        for k, statement in enumerate(block):
            if getattr(self, f"_{type(statement).__name__.lower()}")(statement):
                self.sure(k + 1 == len(block), statement, "the last statement")
                return True
        return False

    def sure(self, holds: bool, statement: Any, what: str) -> None:
        if not holds:
            raise UnknownFormError(f"{HEADS[type(statement)](statement)!r} is not {what}")

    def inside(self, block: Block) -> tuple[bool, set[str]]:
        """Check a block that may not run; return whether it ends with a result, and the names with values after it."""
        before = set(self.given)
        ends = self.block(block)
        after, self.given = self.given, before
        return ends, after

    def give(self, name: str, kind: Kind, statement: Any) -> None:
        self.sure(name not in self.arrays, statement, "a statement about names of this function")
        self.names[name] = joined(self.names.get(name), kind)
        self.given.add(name)

    def _let(self, let: Let) -> None:
        kind = self.number(Op(let.op, (Name(let.name), let.value))) if let.op else self.kind(let.value)
        self.give(let.name, kind, let)

    def _store(self, store: Store) -> None:
        kind, value = self.array(store.array), self.number(store.value)
        self.integers(store.at)
        self.sure(len(store.at) == kind.rank, store, "a store of one entry")
        entry = Kind(kind.number)
        self.sure(entry == Kind("int32") or joined(entry, value) == entry, store, f"a store of {entry.number}")

    def _do(self, do: Do) -> None:
        self.sure(isinstance(do.call, Call), do, "a call")
        assert isinstance(do.call, Call)
        self.called(do.call)

    def _for(self, loop: For) -> None:
        self.integers((loop.start, loop.stop, loop.step))
        before = set(self.given)
        self.give(loop.name, INTEGER, loop)
        self.inside(loop.body)
        self.given = before

    def _while(self, loop: While) -> None:
        self.number(loop.test)
        self.inside(loop.body)

    def _if(self, choice: If) -> bool:
        self.number(choice.test)
        ways = [self.inside(choice.body), self.inside(choice.orelse)]
        open_ways = [after for ends, after in ways if not ends]
        if open_ways:
            self.given = set.intersection(*open_ways)
        return not open_ways

    def _return(self, result: Return) -> bool:
        self.result = joined(self.result, self.number(result.value))
        return True

    def _jump(self, jump: Jump) -> bool:
        return True
