"""The words that the entry of `entry_code.py` is written in: LLVM's, a few at a time."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import reduce
from typing import Any

from llvmlite import ir

from matcalc.compiler.machine.array_layout import WORDS, Object
from matcalc.compiler.machine.machine_code import PREFIX

BIT, BYTE, INT, WORD, REAL = ir.IntType(1), ir.IntType(8), ir.IntType(32), ir.IntType(64), ir.DoubleType()
POINTER = BYTE.as_pointer()
WORD_BYTES = 8
FROM_BEFORE = 1 << 63
"""The flag of Python that the word before the arguments is free."""


class Words:
    """A function of Python's kind of calls as it is written, block by block; `slow` is where what is not exact goes."""

    def __init__(self, name: str, start: int) -> None:
        self.start = start
        self.module = ir.Module(name)
        kind = ir.FunctionType(POINTER, [POINTER, POINTER.as_pointer(), WORD, POINTER])
        self.function = ir.Function(self.module, kind, name)
        self.self, self.args, self.flagged, self.keywords = self.function.args
        self.builder = ir.IRBuilder(self.function.append_basic_block("start"))
        self.positional = self.builder.and_(self.flagged, WORD(FROM_BEFORE - 1))
        self.slow = self.function.append_basic_block("slow")

    def local(self, kind: Any, count: int) -> Any:
        with self.builder.goto_entry_block():
            return self.builder.alloca(kind, count)

    def put(self, table: Any, k: int, value: Any) -> None:
        self.builder.store(value, self.builder.gep(table, [WORD(k)]))

    def at(self, table: Any, k: Any) -> Any:
        return self.builder.load(self.builder.gep(table, [k if isinstance(k, ir.Value) else WORD(k)]))

    def part(self, thing: Any, part: Any, kind: Any) -> Any:
        return self.word(thing, part.offset, kind)

    def word(self, thing: Any, offset: int, kind: Any = POINTER) -> Any:
        place = self.builder.gep(thing, [WORD(offset)])
        return self.builder.load(self.builder.bitcast(place, kind.as_pointer()))

    def field(self, name: str, kind: Any = POINTER) -> Any:
        return self.word(self.self, self.start + WORD_BYTES * WORDS.index(name), kind)

    def symbol(self, name: str) -> Any:
        name = PREFIX + name
        found = self.module.globals.get(name)
        return found if found is not None else ir.GlobalVariable(self.module, BYTE, name)

    def calls(self, name: str, result: Any, *args: Any) -> Any:
        full = PREFIX + name
        function = self.module.globals.get(full)
        if function is None:
            function = ir.Function(self.module, ir.FunctionType(result, [a.type for a in args]), full)
        return self.builder.call(function, args)

    def same(self, one: Any, other: Any) -> Any:
        return self.builder.icmp_unsigned("==", one, other)

    def need(self, *tests: Any, other: Any = None) -> None:
        """Go on only where all tests hold, else the slow way."""
        block = self.function.append_basic_block()
        self.builder.cbranch(reduce(self.builder.and_, tests), block, other or self.slow)
        self.builder.position_at_end(block)

    def branch(self, test: Any) -> tuple[Any, Any]:
        yes, no = self.function.append_basic_block(), self.function.append_basic_block()
        self.builder.cbranch(test, yes, no)
        return yes, no

    @contextmanager
    def each(self, first: int, stop: Any) -> Iterator[Any]:
        """Write what is done for each number from one on, before another."""
        builder, number = self.builder, self.local(WORD, 1)
        builder.store(WORD(first), number)
        head, body, end = (self.function.append_basic_block() for _ in range(3))
        builder.branch(head)
        builder.position_at_end(head)
        at = builder.load(number)
        builder.cbranch(builder.icmp_unsigned("<", at, stop), body, end)
        builder.position_at_end(body)
        yield at
        builder.store(builder.add(at, WORD(1)), number)
        builder.branch(head)
        builder.position_at_end(end)

    def local_word(self, value: int) -> Any:
        place = self.local(WORD, 1)
        self.builder.store(WORD(value), place)
        return place

    def real(self, thing: Any) -> Any:
        """Return the value of a float or an int."""
        builder = self.builder
        kind = self.part(thing, Object.kind, POINTER)
        kinds = [self.same(kind, self.symbol(name)) for name in ("float", "np.float64", "int")]
        self.need(reduce(builder.or_, kinds))
        value = self.calls("PyFloat_AsDouble", REAL, thing)
        self.unless_failed(builder.fcmp_ordered("==", value, REAL(-1.0)))
        return value

    def integer(self, thing: Any) -> Any:
        """Return the value of an int."""
        self.need(self.same(self.part(thing, Object.kind, POINTER), self.symbol("int")))
        value = self.calls("PyLong_AsLongLong", WORD, thing)
        self.unless_failed(self.same(value, WORD(-1)))
        return value

    def unless_failed(self, perhaps: Any) -> None:
        builder = self.builder
        asked, fine = self.branch(perhaps)
        builder.position_at_end(asked)
        failed = self.function.append_basic_block()
        builder.cbranch(self.same(self.calls("PyErr_Occurred", POINTER), POINTER(None)), fine, failed)
        builder.position_at_end(failed)
        self.calls("PyErr_Clear", ir.VoidType())
        builder.branch(self.slow)
        builder.position_at_end(fine)
