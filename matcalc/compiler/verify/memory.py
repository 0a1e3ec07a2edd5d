"""Simulates the memory of a Program: each entry records which value wrote it.

A new buffer is NaN without owners. A read of a value is valid if the entry was last written by that value, or by one
that it was added to or written over. So one test finds entries that were never written, and entries that another value
has overwritten.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from matcalc.compiler.entrywise import entry_text
from matcalc.compiler.program import Call, Loop, Program, View, walk
from matcalc.compiler.verify.faults import RunFault
from matcalc.errors import ShapeError

Array = np.ndarray[Any, np.dtype[Any]]
NOBODY = 0


class Memory:
    """Buffers with the owner of each entry, at concrete sizes."""

    def __init__(self, program: Program, number: Mapping[str, int], before: Mapping[str, frozenset[int]]) -> None:
        self.program = program
        self.number = number
        self.before = before
        self.data: dict[str, Array] = {}
        self.owner: dict[str, Array] = {}
        self.read_only: set[str] = set()

    def make(self, name: str, shape: Sequence[int], dtype: str, zero_filled: str = "") -> None:
        """Allocate a buffer without owners, of NaN or the least integer; with `blank`, zeros owned by that value.

        Raises: ShapeError for a negative length: the program does not support such sizes.
        """
        if any(length < 0 for length in shape):
            raise ShapeError(f"{name} has the shape {tuple(shape)}")
        kind = np.dtype(dtype)
        self.data[name] = np.full(shape, np.nan if kind.kind == "f" else np.iinfo(kind).min, kind)
        self.owner[name] = np.full(shape, NOBODY, np.int32)
        if zero_filled:
            self.data[name], self.owner[name] = (
                np.zeros(shape, kind),
                np.full(shape, self.number[zero_filled], np.int32),
            )

    def give(self, name: str, array: Array) -> None:
        """Add an argument or a constant, which is read-only."""
        self.data[name] = np.array(array, self.program.table[name].dtype, order="C")
        self.owner[name] = np.full(self.data[name].shape, self.number[name], np.int32)
        self.read_only.add(name)

    def view(self, view: View, shape: tuple[int, ...], start: int | None) -> None:
        """Bind another name to memory, as `of[start : start + shape[0]].reshape(shape)`."""
        data, owner = self.data[view.of], self.owner[view.of]
        if start is not None:
            if not shape or not data.ndim:
                raise RunFault(f"a part of {view.of}, which has no axis", view.buffer)
            end = start + shape[0]
            if start < 0 or end > data.shape[0]:
                raise RunFault(f"{view.buffer} is {view.of}[{start}:{end}] of {data.shape[0]}", view.buffer, (start,))
            data, owner = data[start:end], owner[start:end]
        if data.size != int(np.prod(shape, dtype=int)):
            raise RunFault(f"{view.buffer} of shape {shape} is a view of {data.shape}", view.buffer)
        self.data[view.buffer], self.owner[view.buffer] = data.reshape(shape), owner.reshape(shape)
        if view.of in self.read_only:
            self.read_only.add(view.buffer)

    def buffer_of(self, value: str) -> str:
        return self.program.buffer_of.get(value, value)

    def may_read(self, value: str, owner: int) -> bool:
        return owner == self.number[value] or owner in self.before[value]

    def fault_of_reading(self, value: str, owner: int, index: tuple[int, ...]) -> RunFault:
        entry = entry_text(value, index)
        if owner == NOBODY:
            return RunFault(f"{entry} is read before it is written", value, index)
        holder = next((v for v, n in self.number.items() if n == owner), "another value")
        return RunFault(f"{entry} is read, but its memory holds {holder}", value, index)

    def block(self, value: str, lead: tuple[int, ...]) -> tuple[Array, Array]:
        """Return the data and owners of a value that a call gets, with its leading axes fixed."""
        name = self.buffer_of(value)
        data = self.data[name]
        check_index(value, lead, data.shape[: len(lead)])
        if len(lead) > data.ndim:
            raise RunFault(f"{value} is given with {len(lead)} leading axes", value, lead)
        at: Any = (*lead, ...)
        return data[at], self.owner[name][at]

    def check_read(self, value: str, lead: tuple[int, ...]) -> Array:
        """Return a block in which every entry holds the value.

        Raises: RunFault for the first entry that does not.
        """
        data, owner = self.block(value, lead)
        for found in np.unique(owner):
            if not self.may_read(value, int(found)):
                first = tuple(int(k) for k in np.argwhere(owner == found)[0])
                raise self.fault_of_reading(value, int(found), (*lead, *first))
        return np.asarray(data)

    def check_write(self, value: str) -> None:
        if self.buffer_of(value) in self.read_only:
            raise RunFault(f"{value} is written into {self.buffer_of(value)}, which is an argument", value)


def check_index(value: str, index: tuple[int, ...], shape: tuple[int, ...]) -> None:
    """Raise RunFault for an index outside a shape."""
    if len(index) != len(shape):
        raise RunFault(f"{value} has {len(shape)} axes and {len(index)} indices", value, index)
    for axis, (k, n) in enumerate(zip(index, shape, strict=True)):
        if not 0 <= k < n:
            raise RunFault(f"{entry_text(value, index)}: index {k} of axis {axis}, length {n}", value, index)


def numbered(program: Program) -> tuple[dict[str, int], dict[str, frozenset[int]]]:
    """Return a number for each value, the same for views of it, and the numbers of the values that it replaces."""
    under: dict[str, str] = {}
    names = dict.fromkeys([*(b.name for b in program.buffers), *program.buffer_of])
    for step in walk(program.steps):
        if isinstance(step, Call):
            names.update(dict.fromkeys(p.value for _, p in (*step.results, *step.operands)))
            if step.onto:
                under[step.results[0][1].value] = step.onto
        elif isinstance(step, Loop):
            under.update({s.value: s.onto or s.over for s in step.stores if s.onto or s.over})
    roots = {name: program.root(name) for name in names}
    number = {root: k for k, root in enumerate(dict.fromkeys(roots.values()), 1)}
    found = {name: number[root] for name, root in roots.items()}
    before: dict[str, frozenset[int]] = {}
    for name, root in roots.items():
        chain: dict[int, None] = {}
        while root in under and number[program.root(under[root])] not in chain:
            root = program.root(under[root])
            chain[number[root]] = None
        before[name] = frozenset(chain)
    return found, before
