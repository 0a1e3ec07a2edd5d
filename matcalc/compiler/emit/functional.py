"""Prints a Program as one function that changes no array, for frameworks with immutable arrays.

The statements are those of the target `numpy`, except that writing to an array creates a new one: `Y[i] = e` becomes
`Y = set_at(Y, (i,), e)` (`writes.py`), and views are taken again after their array changes. Functions have NumPy's
names; the runtime replaces them by the framework's. `def NAME_array(inputs..., sizes...)` returns a tuple of the
results. If indices in data are outside an axis, the results are NaN.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from matcalc.compiler.code.code import Call, Expr, chain
from matcalc.compiler.code.code import View as ViewOf
from matcalc.compiler.code.code_text import ModuleText
from matcalc.compiler.code.print_python import INDENT, Line, along, expression, line_with_note, lines
from matcalc.compiler.emit.code_of import texts
from matcalc.compiler.emit.module import Statements, words
from matcalc.compiler.emit.spelling import Names
from matcalc.compiler.emit.steps import constants, described, sizes_from_shapes
from matcalc.compiler.emit.vectors import VectorWriter
from matcalc.compiler.emit.writes import Statement, renewed
from matcalc.compiler.entrywise import Guard
from matcalc.compiler.files.array_text import ARRAY_NAMES
from matcalc.compiler.files.array_words import check_entry, module_in_words, reserved_words
from matcalc.compiler.lowering_entries import Kernel, Scalar, template_of
from matcalc.compiler.program import WORD, Loop, Program, Store, View, values_written, walk_inside
from matcalc.compiler.program import Call as KernelCall
from matcalc.compiler.spec.module_text import function_name
from matcalc.compiler.targets import spelling_of
from matcalc.language.identifiers import docstring


def array_source(program: Program, name: str, target: str) -> tuple[str, ModuleText]:
    """Return the spelling of a function's name, and its text in the words of a framework.

    Raises: NotSupported with the name of the word or form that the target lacks.
    """
    for entry in _entries(program):
        check_entry(entry.name, template_of(entry, target), _brought_along(entry, target), _part_names(entry), target)
    name = function_name(name, (), {*reserved_words(target), *ARRAY_NAMES})
    return name, module_in_words(emit_functional(program, name, target, reserved_words(target)), target)


def emit_functional(program: Program, name: str, target: str, reserved: Iterable[str]) -> ModuleText:
    """Return the text of the function `<name>_array`, after those that it calls; it does not use the names `reserved`.

    Raises: NotSupported if the target has no form of a kernel or function.
    """
    inner = _with_local_results(program)
    names = Names(inner, target, f"{name}_array", [*reserved, name, f"{name}_array"])
    steps = _Functional(inner, names, target).lines()
    checks = _checks(inner, names)
    results = [names.give(output) for output in program.outputs]
    if checks:
        steps += [(f"{r} = np.where({names.local('inside')}, {r}, np.nan)", "") for r in results]
    body = _live([(line, note) for line, note in (*checks, *lines(constants(inner, names)), *steps) if line], results)
    text = [f"def {name}_array({', '.join(names.give(p) for p in (*program.inputs, *program.size_args))}):"]
    text += docstring(described(program), INDENT) if program.comment else []
    body = [*lines(sizes_from_shapes(inner, names, words(body))), *body]
    text += [line_with_note(f"{INDENT}{line}", note) for line, note in body]
    text.append(f"{INDENT}return {', '.join(results)}{',' if len(results) == 1 else ''}")
    parts = [part for kernel in program.kernels for part in kernel.parts]
    inside = [text for part in parts for text in emit_functional(part.program, part.name, target, reserved).parts]
    return ModuleText([*inside, *_brought(program, target), "\n".join(text)])


def _entries(program: Program) -> Iterator[Kernel | Scalar]:
    """Yield the kernels and functions that a program calls, including those of its kernels' parts."""
    yield from program.kernels
    yield from program.functions
    for part in (part for kernel in program.kernels for part in kernel.parts):
        yield from _entries(part.program)


def _part_names(entry: Kernel | Scalar) -> tuple[str, ...]:
    """Return the names of the functions that are written for an entry."""
    return tuple(f"{part.name}_array" for part in entry.parts) if isinstance(entry, Kernel) else ()


def _brought_along(entry: Kernel | Scalar, target: str) -> str:
    """Return the text of the functions that an entry defines for its template on a target."""
    return entry.sources.get(spelling_of(entry.templates, target), "")


def _brought(program: Program, target: str) -> list[str]:
    """Return the texts of all functions that the entries define, each once."""
    entries: list[Kernel | Scalar] = [*program.kernels, *program.functions]
    return list(dict.fromkeys(part for entry in entries for part in texts(_brought_along(entry, target))))


def _with_local_results(program: Program) -> Program:
    """Return the program with results that are variables instead of arguments."""
    buffers = [
        replace(b, role="temporary" if b.shape else "scalar") if b.role == "output" else b for b in program.buffers
    ]
    return replace(program, buffers=tuple(buffers))


def _checks(program: Program, names: Names) -> list[Line]:
    """Return the lines that test whether indices in data are inside their axes."""
    lines: list[Line] = []
    inside = names.local("inside") if program.data else ""
    for number, checked in enumerate(program.data):
        index, length = names.size(checked.index), names.size(checked.length)
        lines += [(line, "") for line in along((names.give(a), names.size(size)) for a, size in checked.axes)]
        test = f"np.all((0 <= {index}) & ({index} < {length}))"
        lines.append((f"{inside} = {f'{inside} & ' if number else ''}{test}", checked.text))
    return lines


def _live(lines: list[Line], results: Iterable[str]) -> list[Line]:
    """Return the lines without those that bind a name that nothing reads."""
    live, kept = set(results), []
    for line, note in reversed(lines):
        name, is_assigned, text = line.partition(" = ")
        if is_assigned and name.isidentifier():
            if name not in live:
                continue
            live.discard(name)
            live |= set(WORD.findall(text))
        else:
            live |= set(WORD.findall(line))
        kept.append((line, note))
    return kept[::-1]


class _Vectors(VectorWriter):
    """Writes loops as array statements; a guarded store is one call, since a mask has no fixed length."""

    def scatter(self, store: Store, guards: tuple[Guard, ...], name: str, body: str) -> list[Statement]:
        if not guards:
            return super().scatter(store, guards, name, body)
        shape = self.shape()
        here = f"np.broadcast_to({expression(self.expressions.guards(guards))}, {shape})"
        indices = ", ".join(f"np.broadcast_to({self.names.size(a)}, {shape})" for a in store.at)
        word = "add_where" if store.onto else "set_where"
        return [f"{name} = {word}({name}, {here}, ({indices},), np.broadcast_to({body}, {shape}))"]


class _Functional(Statements):
    """Writes the statements of a function's body."""

    def __init__(self, program: Program, names: Names, target: str) -> None:
        super().__init__(program, names, target)
        self.vectors = _Vectors(program, names, self.fresh, self.fixed)
        self.write_loop = self.vectors.write
        self.views: list[View] = []

    def empty(self, name: str) -> Expr:
        buffer = self.table[name]
        if buffer.dtype == "float64":
            return super().empty(name)
        sizes = tuple(map(self.names.integer, buffer.shape))  # any integers: each is written before it is read
        return ViewOf(Call("np.arange", (chain("*", sizes),)), sizes)

    def lines(self) -> list[Line]:
        result: list[Line] = []
        for step, around in walk_inside(self.program.steps):
            made = [one for statement, note in self.step(step) for one in _noted(statement, note)]
            if isinstance(step, (KernelCall, Loop)):
                for value in values_written(step):
                    made += self.refreshed(self.program.buffer_of.get(value, value))
            elif isinstance(step, View):
                self.views.append(step)
            result += [(INDENT * len(around) + line, note) for line, note in made]
        return result

    def refreshed(self, buffer: str, but: View | None = None) -> list[Line]:
        """Return the lines that update all arrays that share memory with a buffer, after it changes."""
        lines: list[Line] = []
        for view in self.views:
            if view is but:
                continue
            name = self.names.give(view.buffer)
            if view.of == buffer:
                lines += [(f"{name} = {expression(self.view(view).value)}", ""), *self.refreshed(view.buffer, view)]
            elif view.buffer == buffer:
                lines += [(self.copied_back(view), ""), *self.refreshed(view.of, view)]
        return lines

    def copied_back(self, view: View) -> str:
        """Return the statement that copies a view's entries back into the array that it shows."""
        name, text, base = self.names.give(view.of), self.names.give(view.buffer), self.table[view.of]
        own = self.table[view.buffer]
        if view.start is None:
            sizes = ", ".join(self.names.size(s) for s in base.shape)
            text = (
                text if base.shape == own.shape else f"{text}.reshape(({sizes}{',' if len(base.shape) == 1 else ''}))"
            )
            return f"{name} = {text}"
        first, end = self.names.size(view.start), self.names.size(view.start + own.shape[0])
        if len(base.shape) != len(own.shape):
            text = f"{text}.reshape({name}[{first}:{end}].shape)"
        return f"{name} = set_at({name}, (slice({first}, {end}),), {text})"


def _noted(statement: Statement, note: str) -> list[Line]:
    """Return the lines of a statement that changes no array, the first with the note."""
    return [(line, "" if k else note) for k, line in enumerate(renewed(statement))]
