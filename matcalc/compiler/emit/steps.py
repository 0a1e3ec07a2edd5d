"""Writes what steps of a Program have in common on all targets: new arrays, views, constants, and sizes from shapes."""

from __future__ import annotations

from collections.abc import Container, Iterator

from matcalc.compiler.code.code import Array, Empty, Expr, Length, Let, Name, Number, Op, View
from matcalc.compiler.emit.spelling import Names
from matcalc.compiler.program import Program, Step, values_written
from matcalc.compiler.program import View as ViewStep
from matcalc.language.identifiers import comment
from matcalc.tensor.facts.ranges import as_float
from matcalc.tensor.sizes.size import Size


class Steps:
    """The new arrays and views of a Program; `fresh` are buffers without memory so far."""

    def __init__(self, program: Program, names: Names) -> None:
        self.program = program
        self.names = names
        self.table = program.table
        self.fresh = {b.name for b in program.buffers if b.role == "temporary"}

    def allocations(self, step: Step) -> Iterator[Let]:
        """Yield statements that allocate the buffers that `step` is the first to write."""
        for value in [step.of] if isinstance(step, ViewStep) else values_written(step):
            name = self.program.buffer_of.get(value, value)
            if name in self.fresh:
                self.fresh.discard(name)
                yield Let(self.names.give(name), self.empty(name))

    def empty(self, name: str) -> Expr:
        buffer = self.table[name]
        return Empty(tuple(map(self.names.integer, buffer.shape)), buffer.dtype)

    def view(self, view: ViewStep) -> Let:
        buffer, base = self.table[view.buffer], self.table[view.of]
        shape = tuple(map(self.names.integer, buffer.shape))
        array: Expr = Name(self.names.give(view.of))
        if view.start is not None:
            start, stop = map(self.names.integer, (view.start, view.start + buffer.shape[0]))
            array = View(array, shape if len(base.shape) != len(buffer.shape) else (), start, stop)
        elif base.shape != buffer.shape:
            is_number = not base.shape and base.role != "output"  # a scalar is a number, not an array of one entry
            array = View(Array((array,)) if is_number else array, shape)
        return Let(self.names.give(view.buffer), array, note=view.comment)


def constants(program: Program, names: Names) -> tuple[Let, ...]:
    """Return the statements that define a program's constants."""
    found = []
    for name, entries in program.constants.items():
        array: Expr = Array(tuple(Number(as_float(entry)) for entry in entries))
        sizes = tuple(Number(int(size)) for size in program.table[name].shape)
        found.append(Let(names.give(name), array if len(sizes) == 1 else View(array, sizes)))
    return tuple(found)


def sizes_from_shapes(program: Program, names: Names, used: Container[str]) -> list[Let]:
    """Return the statements that read the sizes of which the names are used."""
    needed = {s.name for s in program.sources if names.give(s.name) in used}
    for source in reversed(program.sources):
        if source.name in needed:
            needed |= set(source.offset.names)
    found = []
    for source in program.sources:
        if source.name in needed:
            length: Expr = Length(Name(names.give(source.input)), source.axis)
            length = length if source.offset == 0 else Op("-", (length, names.integer(source.offset)))
            if source.factor != 1:
                length = Op("//", (length, names.integer(Size.of(source.factor))))
            found.append(Let(names.give(source.name), length))
    return found


def described(program: Program) -> tuple[str, ...]:
    """Return the docstring of a program's function."""
    return (comment(program.comment),) if program.comment else ()
