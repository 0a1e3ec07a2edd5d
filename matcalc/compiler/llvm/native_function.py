"""One function of generated code in LLVM's assembly: names, statements, and when arrays let go of their memory.

A name is a place on the stack, which LLVM turns into registers. An array holds on to memory that was taken for it;
names that stand for parts of one array hold on to it together, by a count before its entries. A name lets go after
the last statement that speaks of it, so that the memory of a call is what it needs at a time. What names hold stands in
one table on the stack, by which all let go where a call fails: as registers, carried there from each place that may
fail, it would take LLVM time by the square of the text.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from typing import Protocol

from matcalc.compiler.kernels.native_kinds import INTEGER, Kind, Number, Row, UnknownFormError, Value
from matcalc.compiler.llvm.native_expressions import Expressions
from matcalc.compiler.llvm.native_inference import Kinds
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

    def callee(self, name: str, kinds: Sequence[Kind]) -> Callee: ...


class Function:
    """A function for arguments of these kinds.

    `sums` is what may be done to `total += x`; all else is done as it is written. `wraps`: indices below 0 count from
    the end, as in Python; the function of a Program, whose accesses are proved, has none.
    """

    def __init__(
        self, unit: Unit, node: ast.FunctionDef, given: Sequence[Kind], sums: str = "", wraps: bool = True
    ) -> None:
        self.unit, self.node, self.sums, self.wraps = unit, node, sums, wraps
        self.lines = Lines()
        arrays = {name: row.kind for name, row in unit.arrays.items()}
        self.kinds = Kinds(node, given, arrays, self._result_of)
        self.expressions = Expressions(self)
        self.numbers: dict[str, str] = {}
        self.rows: dict[str, tuple[str, list[str]]] = {}
        self.given = {a.arg for a in node.args.args}
        for name, kind in self.kinds.names.items():
            if kind.rank:
                self.rows[name] = self.lines.place("ptr"), [self.lines.place("i64") for _ in range(kind.rank)]
            else:
                self.numbers[name] = self.lines.place(kind.word)
        self.lives = Lifetimes(node, self.rows, self.given)
        self.holders = {name: self.lines.part(HELD, "ptr", k) for k, name in enumerate(self.lives.holders)}

    def body(self, given: Mapping[str, Value]) -> list[str]:
        """Return the lines of the function for these arguments."""
        lines = self.lines
        for name, value in given.items():
            self._give(name, value)
        self._block(self.node.body)
        if not isinstance(self.node.body[-1], ast.Return):
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

    def _result_of(self, name: str, kinds: Sequence[Kind]) -> Kind:
        result = self.unit.callee(name, kinds).result
        return INTEGER if result is None else result

    def call(self, name: str, args: Sequence[Value]) -> Value:
        callee = self.unit.callee(name, [arg.kind for arg in args])
        if len(callee.kinds) != len(args):
            raise UnknownFormError(f"{name} of {len(args)} arguments")
        taken: list[Value] = []
        for arg, kind in zip(args, callee.kinds, strict=True):
            if isinstance(arg, Row) and arg.is_new:
                raise UnknownFormError(f"{name} of a new array")
            if isinstance(arg, Row) and arg.kind != kind:
                raise UnknownFormError(f"{name} of {arg.kind}")
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

    def _block(self, body: Sequence[ast.stmt]) -> None:
        for statement in body:
            writer = getattr(self, f"_{type(statement).__name__.lower()}", None)
            if writer is None:
                raise UnknownFormError(ast.unparse(statement))
            writer(statement)
            if isinstance(statement, ast.Return):
                if statement is not body[-1]:
                    raise UnknownFormError("statements behind return")
                return
            for name in self.lives.last.get(id(statement), ()):
                self._let_go(name)

    def _expr(self, statement: ast.Expr) -> None:
        if not isinstance(statement.value, ast.Constant):
            self.expressions.value(statement.value)

    def _pass(self, statement: ast.Pass) -> None:
        pass

    def _assign(self, statement: ast.Assign) -> None:
        (target,) = statement.targets
        value = self.expressions.value(statement.value)
        if isinstance(target, ast.Name):
            self._give(target.id, value)
        elif isinstance(target, ast.Subscript) and isinstance(value, Number):
            self._store(target, value)
        else:
            raise UnknownFormError(ast.unparse(statement))

    def _augassign(self, statement: ast.AugAssign) -> None:
        target, value = statement.target, self.expressions.number(statement.value)
        if isinstance(target, ast.Name):
            self._give(target.id, self._onto(statement.op, self._number(target.id), value))
        elif isinstance(target, ast.Subscript):
            array = self.expressions.row(target.value)
            place = self.expressions.place(target.slice, array)
            before = Number(self.lines.new(f"load {array.kind.word}, ptr {place}"), array.kind.entry)
            self._put(place, array, self._onto(statement.op, before, value))
        else:
            raise UnknownFormError(ast.unparse(statement))

    def _onto(self, op: ast.operator, before: Number, value: Number) -> Number:
        return self.expressions.binary(op, before, value, self.sums if isinstance(op, ast.Add) else "")

    def _number(self, word: str) -> Number:
        found = self.name(word)
        assert isinstance(found, Number)
        return found

    def _store(self, target: ast.Subscript, value: Number) -> None:
        array = self.expressions.row(target.value)
        count = len(target.slice.elts) if isinstance(target.slice, ast.Tuple) else 1
        if count != array.kind.rank:
            raise UnknownFormError(ast.unparse(target))
        self._put(self.expressions.place(target.slice, array), array, value)

    def _put(self, place: str, array: Row, value: Number) -> None:
        kind = array.kind.entry
        if kind.number == "int32":
            raise UnknownFormError("an entry of 32 bits")
        self.lines.do(f"store {kind.word} {self.expressions.as_kind(value, kind)}, ptr {place}")

    def _if(self, statement: ast.If) -> None:
        lines = self.lines
        then, other, end = (lines.name(stem) for stem in ("if", "else", "then"))
        lines.either(self.expressions.truth(statement.test), then, other if statement.orelse else end)
        for label, body in ((then, statement.body), (other, statement.orelse)):
            if body:
                lines.begin(label)
                self._block(body)
                if not isinstance(body[-1], ast.Return):
                    lines.go(end)
        lines.begin(end)

    def _while(self, statement: ast.While) -> None:
        lines = self.lines
        head, body, end = (lines.name(stem) for stem in (HEAD, "body", "done"))
        lines.go(head)
        lines.begin(head)
        lines.either(self.expressions.truth(statement.test), body, end)
        lines.begin(body)
        self._block(statement.body)
        if not isinstance(statement.body[-1], ast.Return):
            lines.go(head)
        lines.begin(end)

    def _for(self, statement: ast.For) -> None:
        called = statement.iter
        is_range = isinstance(called, ast.Call) and ast.unparse(called.func) == "range"
        if not is_range or not isinstance(statement.target, ast.Name) or statement.orelse:
            raise UnknownFormError(ast.unparse(called))
        assert isinstance(called, ast.Call)
        lines = self.lines
        bounds = [self.expressions.integer(arg) for arg in called.args]
        start, stop = ("0", bounds[0]) if len(bounds) == 1 else bounds[:2]
        step = bounds[2] if len(bounds) > 2 else "1"
        at = lines.place("i64")
        lines.do(f"store i64 {start}, ptr {at}")
        head, body, end = (lines.name(stem) for stem in (HEAD, "body", "done"))
        lines.go(head)
        lines.begin(head)
        now = lines.new(f"load i64, ptr {at}")
        lines.either(self._is_before(now, stop, step), body, end)
        lines.begin(body)
        self._give(statement.target.id, Number(now, INTEGER))
        self._block(statement.body)
        if not isinstance(statement.body[-1], ast.Return):
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

    def _return(self, statement: ast.Return) -> None:
        if statement.value is not None:
            value = self.expressions.number(statement.value)
            kind = self.kinds.result
            assert kind is not None
            text, word = self.expressions.as_kind(value, kind), kind.word
            if word == "i1":
                text, word = self.lines.new(f"zext i1 {text} to i8"), "i8"
            self.lines.do(f"store {word} {text}, ptr %result")
        if statement is not self.node.body[-1]:
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
