"""One function of Code in LLVM's assembly: names, statements, and when arrays let go of their memory.

A name is a place on the stack, which LLVM turns into registers. An array holds on to memory that was taken for it;
names that stand for parts of one array hold on to it together, by a count before its entries. A name lets go after
the last statement that speaks of it, so that the memory of a call is what it needs at a time. What names hold stands in
one table on the stack, by which all let go where a call fails: as registers, carried there from each place that may
fail, it would take LLVM time by the square of the text.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from matcalc.compiler.code.check import Kinds
from matcalc.compiler.code.code import Block, Do, Expr, For, Function, If, Let, Name, Return, Store, While
from matcalc.compiler.kernels.native_kinds import INTEGER, Kind, Number, Row, UnknownFormError, Value
from matcalc.compiler.llvm.native_expressions import Expressions
from matcalc.compiler.llvm.native_lifetimes import Lifetimes
from matcalc.compiler.llvm.native_lines import HELD, STATUS, Lines

RAISED = "memory_error"
"""The constant that tells a caller of memory that there is none."""
FAILED = 1
"""What a function returns to its caller where it raises (see Numba's calling convention)."""
HEAD = "head"
"""How the names of blocks begin that loops go back to."""


def has_loops(assembly: str) -> bool:
    """Whether a loop stands in the assembly of functions written here."""
    return f"label %{HEAD}" in assembly


class Callee(Protocol):
    """What can be called: the kinds of its arguments and of what it gives."""

    @property
    def kinds(self) -> Sequence[Kind]: ...

    @property
    def result(self) -> Kind | None: ...

    def written(self, lines: Lines, args: Sequence[Value], result: str) -> str:
        """Write a call whose result goes to a place; return its status, empty where nobody has to look at it."""


class Unit(Protocol):
    """What a function stands among."""

    @property
    def arrays(self) -> Mapping[str, Row]: ...

    def callee(self, name: str, kinds: Sequence[Kind]) -> Callee | None: ...


class Writer:
    """Writes a function for arguments of these kinds.

    `sums` is what may be done to `total += x`; all else is done as it is written.
    """

    def __init__(self, unit: Unit, function: Function, given: Sequence[Kind], sums: str = "") -> None:
        self.unit, self.function, self.sums, self.wraps = unit, function, sums, function.wraps
        self.lines = Lines()
        arrays = {name: row.kind for name, row in unit.arrays.items()}
        self.kinds = Kinds(function, given, arrays, unit.callee)
        self.expressions = Expressions(self)
        self.numbers: dict[str, str] = {}
        self.rows: dict[str, tuple[str, list[str]]] = {}
        self.given = {name for name, _ in function.parameters}
        for name, kind in self.kinds.names.items():
            if kind.rank:
                self.rows[name] = self.lines.place("ptr"), [self.lines.place("i64") for _ in range(kind.rank)]
            else:
                self.numbers[name] = self.lines.place(kind.word)
        self.lives = Lifetimes(function, self.rows)
        self.holders = {name: self.lines.part(HELD, "ptr", k) for k, name in enumerate(self.lives.holders)}
        self.writers: Mapping[type, Callable[[Any], None]] = {
            Let: self._let,
            Store: self._store,
            Do: lambda do: self.do(do.call),
            For: self._for,
            While: self._while,
            If: self._if,
            Return: self._return,
        }

    def body(self, given: Mapping[str, Value]) -> list[str]:
        """Return the lines of the function for these arguments."""
        lines = self.lines
        for name, value in given.items():
            self._give(name, value)
        self._block(self.function.body)
        if not isinstance(self.function.body[-1], Return):
            lines.go("end")
        count = len(self.holders)
        lines.begin("end")
        if count:
            lines.do(f"call void @matcalc_drop_all(ptr {HELD}, i64 {count})")
        lines.go("out")
        lines.begin("out")
        lines.do(f"ret i32 {lines.new(f'load i32, ptr {STATUS}')}")
        held = f"  {HELD} = alloca [{count} x ptr]", f"  store [{count} x ptr] zeroinitializer, ptr {HELD}"
        first = ["start:", f"  {STATUS} = alloca i32", f"  store i32 0, ptr {STATUS}", *(held if count else ())]
        return [*first, *lines.places, *lines.text]

    # --- what expressions ask for

    def name(self, word: str) -> Value:
        if word in self.numbers:
            kind = self.kinds.names[word]
            return Number(self.lines.new(f"load {kind.word}, ptr {self.numbers[word]}"), kind)
        if word in self.rows:
            data, lengths = self.rows[word]
            loaded = [self.lines.new(f"load i64, ptr {place}") for place in lengths]
            at = self.lines.new(f"load ptr, ptr {data}")
            owner = self.lines.new(f"load ptr, ptr {self.holders[word]}") if word in self.holders else "null"
            return Row(at, loaded, owner, self.kinds.names[word])
        if word in self.unit.arrays:
            return self.unit.arrays[word]
        raise UnknownFormError(word)

    def call(self, name: str, args: Sequence[Value]) -> Value:
        callee = self.unit.callee(name, [arg.kind for arg in args])
        if callee is None:
            raise UnknownFormError(name)
        taken: list[Value] = []
        for arg, kind in zip(args, callee.kinds, strict=True):
            if isinstance(arg, Row) and arg.is_new:
                raise UnknownFormError(f"{name} of a new array")
            taken.append(arg if isinstance(arg, Row) else Number(self.expressions.as_kind(arg, kind), kind))
        result = callee.result
        word = "ptr" if result is None else "i8" if result.word == "i1" else result.word
        place = self.lines.place(word)
        status = callee.written(self.lines, taken, place)
        if status:
            self.need(self.lines.new(f"icmp eq i32 {status}, 0"), status)
        if result is None:
            return Number("0", INTEGER)
        found = self.lines.new(f"load {word}, ptr {place}")
        return Number(self.lines.new(f"trunc i8 {found} to i1") if word == "i8" else found, result)

    def take(self, entries: str, size: int) -> str:
        """Return memory for entries of a size, which nobody else holds."""
        place = self.lines.new(f"call ptr @matcalc_take(i64 {entries}, i64 {size})")
        there, none = self.lines.name("there"), self.lines.name("none")
        self.lines.either(self.lines.new(f"icmp ne ptr {place}, null"), there, none)
        self.lines.begin(none)
        self.lines.do(f"store ptr @{RAISED}, ptr %excinfo")
        self.fail(str(FAILED))
        self.lines.begin(there)
        return place

    def need(self, test: str, status: str) -> None:
        """Go on where a test holds, else return a status."""
        fine, failed = self.lines.name("fine"), self.lines.name("failed")
        self.lines.either(test, fine, failed)
        self.lines.begin(failed)
        self.fail(status)
        self.lines.begin(fine)

    def fail(self, status: str) -> None:
        self.lines.do(f"store i32 {status}, ptr {STATUS}")
        self.lines.go("end")

    # --- statements

    def _block(self, body: Block) -> None:
        for statement in body:
            self.writers[type(statement)](statement)
            for name in self.lives.last.get(id(statement), ()) if not isinstance(statement, Return) else ():
                self._let_go(name)

    def do(self, expr: Expr) -> None:
        """Write a call for what it does."""
        self.expressions.value(expr)

    def _let(self, let: Let) -> None:
        value = self.expressions.value(let.value)
        self._give(let.name, self._onto(let.op, self.expressions.number(Name(let.name)), value) if let.op else value)

    def _store(self, store: Store) -> None:
        value = self.expressions.value(store.value)
        array = self.expressions.row(store.array)
        kind, place = array.kind.entry, self.expressions.place(store.at, array)
        if kind.number == "int32":
            raise UnknownFormError("an entry of 32 bits")
        if store.op:
            value = self._onto(store.op, Number(self.lines.new(f"load {kind.word}, ptr {place}"), kind), value)
        assert isinstance(value, Number)
        self.lines.do(f"store {kind.word} {self.expressions.as_kind(value, kind)}, ptr {place}")

    def _onto(self, op: str, before: Number, value: Value) -> Number:
        assert isinstance(value, Number)
        return self.expressions.binary(op, before, value, self.sums if op == "+" else "")

    def _if(self, statement: If) -> None:
        lines = self.lines
        then, other, end = (lines.name(stem) for stem in ("if", "else", "then"))
        lines.either(self.expressions.truth(statement.test), then, other if statement.orelse else end)
        for label, body in ((then, statement.body), (other, statement.orelse)):
            if body:
                lines.begin(label)
                self._block(body)
                if not isinstance(body[-1], Return):
                    lines.go(end)
        lines.begin(end)

    def _while(self, statement: While) -> None:
        lines = self.lines
        head, body, end = (lines.name(stem) for stem in (HEAD, "body", "done"))
        lines.go(head)
        lines.begin(head)
        lines.either(self.expressions.truth(statement.test), body, end)
        lines.begin(body)
        self._block(statement.body)
        if not isinstance(statement.body[-1], Return):
            lines.go(head)
        lines.begin(end)

    def _for(self, statement: For) -> None:
        lines, integer = self.lines, self.expressions.integer
        start = "0" if statement.start is None else integer(statement.start)
        stop = integer(statement.stop)
        step = "1" if statement.step is None else integer(statement.step)
        at = lines.place("i64")
        lines.do(f"store i64 {start}, ptr {at}")
        head, body, end = (lines.name(stem) for stem in (HEAD, "body", "done"))
        lines.go(head)
        lines.begin(head)
        now = lines.new(f"load i64, ptr {at}")
        lines.either(self._is_before(now, stop, step), body, end)
        lines.begin(body)
        self._give(statement.name, Number(now, INTEGER))
        self._block(statement.body)
        if not isinstance(statement.body[-1], Return):
            lines.do(f"store i64 {lines.new(f'add nsw i64 {now}, {step}')}, ptr {at}")
            lines.go(head)
        lines.begin(end)

    def _is_before(self, now: str, stop: str, step: str) -> str:
        lines = self.lines
        if step.lstrip("-").isdigit():
            return lines.new(f"icmp {'sgt' if step.startswith('-') else 'slt'} i64 {now}, {stop}")
        up, down = (lines.new(f"icmp {order} i64 {now}, {stop}") for order in ("slt", "sgt"))
        is_up = lines.new(f"icmp sgt i64 {step}, 0")
        return lines.new(f"select i1 {is_up}, i1 {up}, i1 {down}")

    def _return(self, statement: Return) -> None:
        kind = self.kinds.result
        assert kind is not None
        text, word = self.expressions.as_kind(self.expressions.number(statement.value), kind), kind.word
        if word == "i1":
            text, word = self.lines.new(f"zext i1 {text} to i8"), "i8"
        self.lines.do(f"store {word} {text}, ptr %result")
        if statement is not self.function.body[-1]:
            self.lines.go("end")
            return
        for name in (*self.lives.last.get(id(statement), ()), *(n for n in self.holders if n in self.given)):
            self._let_go(name)
        self.lines.go("out")

    # --- names

    def _give(self, name: str, value: Value) -> None:
        """Let a name stand for a value."""
        if isinstance(value, Number):
            kind = self.kinds.names[name]
            self.lines.do(f"store {kind.word} {self.expressions.as_kind(value, kind)}, ptr {self.numbers[name]}")
            return
        data, lengths = self.rows[name]
        if name in self.holders:
            if value.owner != "null" and not value.is_new:
                self.lines.do(f"call void @matcalc_hold(ptr {value.owner})")
            if name not in self.lives.free:
                self._let_go(name)
            self.lines.do(f"store ptr {value.owner}, ptr {self.holders[name]}")
        self.lines.do(f"store ptr {value.data}, ptr {data}")
        for place, length in zip(lengths, value.lengths, strict=True):
            self.lines.do(f"store i64 {length}, ptr {place}")

    def _let_go(self, name: str) -> None:
        owner = self.holders[name]
        self.lines.do(f"call void @matcalc_drop(ptr {self.lines.new(f'load ptr, ptr {owner}')})")
        self.lines.do(f"store ptr null, ptr {owner}")
