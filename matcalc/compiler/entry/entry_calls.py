"""How the entries of `entry_code.py` read arrays, call machine code, and leave for the slow way."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np
from llvmlite import ir

from matcalc.compiler.entry.entry_words import BIT, BYTE, INT, POINTER, REAL, WORD, WORD_BYTES, Words
from matcalc.compiler.machine.array_layout import ALIGNED, CONTIGUOUS, SWAPPED, Array, Dtype

KINDS = {"float64": REAL, "int64": WORD, "int32": INT}
LARGE = 2048
"""From how many entries of arrays on other threads may run meanwhile; to say so takes 30 ns."""


@dataclass
class Given:
    """An array as machine code takes it."""

    data: Any
    shape: list[Any]
    entries: Any


class Calls(Words):
    """The part of an entry that calls."""

    def array(self, thing: Any, rank: int, dtype: str = "float64", flags: int = 0) -> Given:
        """Return the parts of an exact array."""
        builder = self.builder
        self.need(self.same(self.part(thing, Array.kind, POINTER), self.symbol("ndarray")))
        entries = self.part(thing, Array.dtype, POINTER)
        flags |= CONTIGUOUS["C"] | ALIGNED
        self.need(
            self.same(self.part(thing, Array.rank, INT), INT(rank)),
            self.same(builder.and_(self.part(thing, Array.flags, INT), INT(flags)), INT(flags)),
            self.same(self.part(entries, Dtype.number, INT), INT(np.dtype(dtype).num)),
            builder.not_(self.same(self.part(entries, Dtype.order, BYTE), BYTE(SWAPPED))),
        )
        lengths = self.part(thing, Array.shape, WORD.as_pointer())
        shape = [self.at(lengths, axis) for axis in range(rank)]
        data = self.part(thing, Array.data, KINDS[dtype].as_pointer())
        return Given(data, shape, reduce(builder.mul, shape))

    def clear(self, data: Any, entries: Any) -> None:
        """Fill an array of numbers with zeros."""
        start = self.builder.bitcast(data, POINTER)
        fill = self.module.declare_intrinsic("llvm.memset", [POINTER, WORD])
        self.builder.call(fill, [start, BYTE(0), self.builder.mul(entries, WORD(8)), BIT(0)])

    def run(self, given: Sequence[Any]) -> tuple[Any, Any, Any]:
        """Call the machine code as Numba does; return whether it raised, its status, what tells of the exception."""
        builder = self.builder
        arguments: list[Any] = []
        total = WORD(0)
        for one in given:
            arguments += self.flat(one) if isinstance(one, Given) else [one]
            if isinstance(one, Given):
                total = builder.add(total, one.entries)
        status, fault = self.local_word(0), self.local(POINTER, 1)
        kinds = [status.type, fault.type, *(a.type for a in arguments)]
        into = self.field("into", ir.FunctionType(INT, kinds).as_pointer())
        others, alone = self.branch(builder.icmp_signed(">", total, WORD(LARGE)))
        called = self.function.append_basic_block("called")
        builder.position_at_end(others)
        thread = self.calls("PyEval_SaveThread", POINTER)
        first = builder.call(into, [status, fault, *arguments])
        self.calls("PyEval_RestoreThread", ir.VoidType(), thread)
        builder.branch(called)
        builder.position_at_end(alone)
        second = builder.call(into, [status, fault, *arguments])
        builder.branch(called)
        builder.position_at_end(called)
        raised = builder.phi(INT)
        raised.add_incoming(first, others)
        raised.add_incoming(second, alone)
        return raised, builder.load(status), builder.load(fault)

    def flat(self, given: Given) -> list[Any]:
        """Return the parts of an array in Numba's order: no owner, then lengths and strides."""
        bits = given.data.type.pointee
        size = {KINDS[name]: np.dtype(name).itemsize for name in KINDS}[bits]
        strides = [WORD(size)]
        for length in reversed(given.shape[1:]):
            strides.insert(0, self.builder.mul(strides[0], length))
        return [POINTER(None), POINTER(None), given.entries, WORD(size), given.data, *given.shape, *strides]

    def write_slow(self) -> None:
        """Call the Python function with the object itself and all arguments, whose row is on the heap.

        A call can have millions of arguments, and a thread a stack of a few pages.
        """
        builder = self.builder
        builder.position_at_end(self.slow)
        named = self.local_word(0)
        has_names, counted = self.branch(builder.icmp_unsigned("!=", self.keywords, POINTER(None)))
        builder.position_at_end(has_names)
        builder.store(self.calls("PyTuple_Size", WORD, self.keywords), named)
        builder.branch(counted)
        builder.position_at_end(counted)
        count = builder.add(self.positional, builder.load(named))
        length = builder.mul(builder.add(count, WORD(1)), WORD(WORD_BYTES))
        memory = self.calls("PyMem_Malloc", POINTER, length)
        full, ready = self.branch(self.same(memory, POINTER(None)))
        builder.position_at_end(full)
        builder.ret(self.calls("PyErr_NoMemory", POINTER))
        builder.position_at_end(ready)
        row = builder.bitcast(memory, POINTER.as_pointer())
        builder.store(self.self, row)
        with self.each(0, count) as at:
            builder.store(self.at(self.args, at), builder.gep(row, [builder.add(at, WORD(1))]))
        total = builder.add(self.positional, WORD(1))
        found = self.calls("PyObject_Vectorcall", POINTER, self.field("slow"), row, total, self.keywords)
        self.calls("PyMem_Free", ir.VoidType(), memory)
        builder.ret(found)
