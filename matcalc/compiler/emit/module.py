"""Emits a Program as the text of one function. It decides nothing and knows no operation by name.

`def NAME_into(inputs..., sizes..., outputs...)` returns a status, 0 or the number of a fault. Scalar inputs are floats,
sizes ints, scalar results arrays of shape (1,). Each line has one statement, with its formula and shape as comment. The
text contains neither imports nor kernels nor decorators, which the runtime adds.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from matcalc.compiler.emit.loops import INDENT, LoopWriter
from matcalc.compiler.emit.row_blocks import blocks_lines
from matcalc.compiler.emit.spelling import Expressions, Names, number, operands
from matcalc.compiler.emit.steps import step_lines
from matcalc.compiler.emit.vectors import VectorWriter
from matcalc.compiler.entrywise import Literal
from matcalc.compiler.lowering_entries import PART, Kernel, fill, template_of
from matcalc.compiler.program import (
    WORD,
    Argument,
    Call,
    Each,
    Loop,
    Program,
    Step,
    View,
    applied,
    values_written,
    walk,
    walk_inside,
)
from matcalc.language.identifiers import comment, docstring, literal
from matcalc.tensor.sizes.size import Size

COMMENT_COLUMN = 48
LINE = 110
FIRST_WORD = re.compile(r"^\w+")
BETWEEN = re.compile(r"\n\n\n(?=\S)")
"""The separator between functions; lines inside a function are indented."""


def emit(program: Program, name: str, target: str = "numba") -> str:
    """Return the text of the function `<name>_into` that computes `program` on `target`.

    Raises: NotSupported if a kernel or function has no template for the target.
    """
    parameters = [*program.inputs, *program.size_args, *program.outputs]
    return "\n".join([*_functions(program, target), *_definition(program, name, "_into", parameters, target)]) + "\n"


def companions(program: Program, target: str) -> str:
    """Return the text of the functions and constants that precede the function of a program."""
    return "\n".join(_functions(program, target))


def _definition(program: Program, name: str, ending: str, parameters: Sequence[str], target: str) -> list[str]:
    """Return the lines that define a program's function, its constants before it."""
    names = Names(program, target, name + ending)
    names.spelled.update({constant: f"{name}_{constant}" for constant in program.constants})
    lines = Statements(program, names, target).lines()
    constants = [line for line, _ in constant_lines(program, names)]
    text = [*constants, "", ""] if constants else []
    if not ending and target == "numba":
        text.append(PART)
    text.append(f"def {name}{ending}({', '.join(names.give(p) for p in parameters)}):")
    if program.comment:
        text += docstring([comment(program.comment), *_zeroed_results(program, names, target)], INDENT)
    body = [(line, comment) for line, comment in (*_checks(program, names, target), *lines) if line]
    text += size_lines(program, names, body)
    text += [joined(f"{INDENT}{line}", note) for line, note in body]
    return [*text, f"{INDENT}return 0"]


def branches(kernel: Kernel) -> list[str]:
    """Return the lines of the Numba function of a kernel that chooses one of its parts, compiled at once."""
    choice = kernel.choice
    assert choice is not None
    result, *parameters = kernel.parts[0].parameters
    name_of = {f"a_{k}": name for k, name in enumerate(parameters)}
    lengths = [FIRST_WORD.sub(lambda m: name_of[m[0]], text) for text in choice.lengths]
    lines = [PART, f"def {kernel.name}({', '.join([*parameters, result])}):"]
    lines += docstring(["The product in the order that takes the least flops."], INDENT)
    lines += [f"{INDENT}n_{k} = float({length})" for k, length in enumerate(lengths)]
    lines += [f"{INDENT}cost_{k} = {cost}" for k, cost in enumerate(choice.costs, 1)]
    lines.append(f"{INDENT}least = min({', '.join(f'cost_{k + 1}' for k in range(len(choice.costs)))})")
    for k, part in enumerate(kernel.parts, 1):
        body = _definition(part.program, part.name, "", part.parameters, "numba")
        start = next(n for n, line in enumerate(body) if line.startswith("def ")) + 1
        text = [line for line in body[start:-1] if not line.lstrip().startswith('"""')]
        lines += [f"{INDENT}{'if' if k == 1 else 'elif'} cost_{k} == least:", *(INDENT + line for line in text)]
    return [*lines, f"{INDENT}return 0"]


class Statements:
    """Writes the statements of a function's body, as lines with comments."""

    def __init__(self, program: Program, names: Names, target: str) -> None:
        self.program = program
        self.names = names
        self.target = target
        self.table = program.table
        self.fresh = {b.name for b in program.buffers if b.role == "temporary"}
        self.fixed = _fixed(program)
        self.vectors = VectorWriter(program, names, self.fresh, self.fixed)
        self.loops = LoopWriter(program, names)
        self.write_loop: Callable[[Loop], list[tuple[str, str]]]
        self.write_loop = self.loops.write if target == "numba" else self.vectors.write
        self.expressions = Expressions(names, self.loops.read, lambda test, body: (body, 0))

    def lines(self) -> list[tuple[str, str]]:
        filled = self.program.zero_filled if self.target != "numba" else ()
        result = [(f"{self.names.give(name)}[...] = 0.0", "") for name in filled]
        for step, around in walk_inside(self.program.steps):
            result += [(INDENT * len(around) + line, comment) for line, comment in self.step(step)]
        return result

    def apart(self) -> tuple[list[tuple[str, str]], list[tuple[str, str]]]:
        """Return the statements that allocate arrays, and the others."""
        made = [line for step in walk(self.program.steps) for line in self.allocations(step)]
        return made, self.lines()

    def step(self, step: Step) -> list[tuple[str, str]]:
        """Return the statements of a step; of an Each only its head."""
        if isinstance(step, Each):
            made = [line for inner in walk(step.body) for line in self.allocations(inner)]
            return [*made, (f"for {self.names.give(step.axis)} in range({self.names.size(step.size)}):", "")]
        if isinstance(step, View):
            return [*self.allocations(step), (self.view(step), step.comment)]
        written = self.call(step) if isinstance(step, Call) else self.write_loop(step)
        return [*self.allocations(step), *written]

    def allocations(self, step: Step) -> list[tuple[str, str]]:
        """Return statements that allocate the buffers that `step` is the first to write."""
        lines = []
        for value in [step.of] if isinstance(step, View) else values_written(step):
            buffer = self.table[self.program.buffer_of.get(value, value)]
            if buffer.name in self.fresh:
                self.fresh.discard(buffer.name)
                lines.append((self.allocate(buffer.name), ""))
        return lines

    def allocate(self, name: str) -> str:
        buffer = self.table[name]
        sizes = ", ".join(self.names.size(s) for s in buffer.shape)
        shape = sizes if len(buffer.shape) == 1 else f"({sizes})"
        kind = "" if buffer.dtype == "float64" else f", np.{buffer.dtype}"
        return f"{self.names.give(name)} = np.empty({shape}{kind})"

    def view(self, view: View) -> str:
        buffer = self.table[view.buffer]
        base = self.table[view.of]
        text = self.names.give(view.of)
        if view.start is None and base.shape == buffer.shape:
            return f"{self.names.give(view.buffer)} = {text}"
        if not base.shape and base.role != "output":
            text = f"np.array([{text}])"  # a scalar is a number, not an array of one entry
        if view.start is not None:
            end = view.start + buffer.shape[0]
            text = f"{text}[{self.names.size(view.start)}:{self.names.size(end)}]"
        if view.start is None or len(base.shape) != len(buffer.shape):
            sizes = ", ".join(self.names.size(s) for s in buffer.shape)
            text = f"{text}.reshape(({sizes}{',' if len(buffer.shape) == 1 else ''}))"
        return f"{self.names.give(view.buffer)} = {text}"

    def call(self, call: Call) -> list[tuple[str, str]]:
        if call.kernel.blocks is not None and self.target == "numba":
            return blocks_lines(call, self.names, lambda part, names: Statements(part, names, self.target).lines())
        if call.kernel.loop is not None and self.target == "numba":
            return step_lines(call, self.names, lambda part, names: Statements(part, names, self.target).apart())
        template = template_of(call.kernel, self.target)
        fields = operands(call, self.names)
        if call.fault:
            fields.setdefault("fault", literal(self.program.faults[call.fault - 1]))
        if self.target != "numba":
            return self.call_expression(call, template, fields)
        fields.setdefault("alpha", self.expressions.text(call.alpha))  # a rule's parameter may be named alpha
        fields.setdefault("beta", "1.0" if call.onto else "0.0")
        text = fill(template, fields, call.kernel.name)
        if not call.fault:
            return [(text, call.comment)]
        lines = [(f"status = {text}", call.comment), ("if status != 0:", "")]
        return [*lines, (f"{INDENT}return {call.fault}", self.program.faults[call.fault - 1])]

    def call_expression(self, call: Call, template: str, fields: dict[str, str]) -> list[tuple[str, str]]:
        """Return the call as an assignment of its expression to its results."""
        text = fill(template, fields, call.kernel.name)
        if call.alpha != Literal(1):
            text = f"{self.expressions.tight(call.alpha, 2)}*({text})"
        results = [p for _, p in call.results]
        if call.onto:
            return [(f"{self.names.entry(results[0].value, results[0].lead)} += {text}", call.comment)]
        direct = [self.is_bindable(p) for p in results]
        is_array = bool(self.table[self.program.buffer_of[results[0].value]].shape)
        if self.target == "numpy" and call.kernel.sources and any(direct) and is_array:
            text = f'np.array({text}, order="C")'  # a rule's value may return an argument, or a part of one
        self.fresh -= {self.program.buffer_of[p.value] for p, bound in zip(results, direct, strict=True) if bound}
        names = [fields[field] for field, _ in call.results]
        bound = ", ".join(n if d or "[" in n else f"{n}[...]" for n, d in zip(names, direct, strict=True))
        return [(f"{bound} = {text}", call.comment)]

    def is_bindable(self, result: Argument) -> bool:
        buffer = self.program.buffer_of[result.value]
        return not result.lead and (buffer in self.fresh - self.fixed or self.table[buffer].role == "scalar")


def _fixed(program: Program) -> frozenset[str]:
    """Return the buffers that are written after a view of them was taken: they need an array in C order.

    NumPy's expressions of transposed arrays are in Fortran order. `reshape` copies such an array, and the copy would
    miss later writes.
    """
    base, table = program.memory, program.table
    reshaped: set[str] = set()
    writes: dict[str, int] = {}
    for step in walk(program.steps):
        if isinstance(step, View) and (step.start is not None or table[step.of].shape != table[step.buffer].shape):
            reshaped.add(base[step.of])
        for value in values_written(step):
            whose = base[program.buffer_of.get(value, value)]
            writes[whose] = writes.get(whose, 0) + 1
    return frozenset(of for of in reshaped if writes.get(of, 0) > 1)


def _functions(program: Program, target: str) -> list[str]:
    """Return the texts of functions outside the files of `codegen/`, each once."""
    texts = [kernel.sources.get(target, "") for kernel in program.kernels]
    chosen = [kernel for kernel in program.kernels if kernel.choice is not None and target == "numba"]
    texts += ["\n".join(branches(kernel)) for kernel in chosen]
    for kernel, part in ((k, part) for k in program.kernels for part in k.parts if k not in chosen):
        texts.append("\n".join(_functions(part.program, target)))
        if not kernel.is_inline or target != "numba":
            texts.append("\n".join(_definition(part.program, part.spelled(target), "", part.parameters, target)))
    texts += [function.sources.get(target, "") for function in applied(program)]
    parts = dict.fromkeys(part.strip("\n") for text in texts for part in BETWEEN.split(text) if part.strip())
    return [line for part in parts for line in (*part.splitlines(), "", "")]


def _zeroed_results(program: Program, names: Names, target: str) -> list[str]:
    """Return the docstring lines on results that must be zero-filled before a call."""
    zeroed = ", ".join(names.give(name) for name in program.zero_filled) if target == "numba" else ""
    return ["", f"Only what is not zero is written: {zeroed} must be zeros before."] if zeroed else []


def _checks(program: Program, names: Names, target: str) -> list[tuple[str, str]]:
    """Return the lines that compare indices in data with the lengths of their axes."""
    lines: list[tuple[str, str]] = []
    first = len(program.faults) - len(program.data) + 1
    outside = names.local("outside") if program.data else ""
    for status, checked in enumerate(program.data, first):
        index, length = names.size(checked.index), names.size(checked.length)
        either = "({}) | ({})" if target == "numpy" and checked.axes else "{} or {}"
        test = either.format(f"{index} < 0", f"{index} >= {length}")
        axes = [(names.give(axis), names.size(size)) for axis, size in checked.axes]
        if target == "numpy":
            lines += [(f"{axis} = np.arange({size})", "") for axis, size in axes]
            test = f"np.any({test})" if axes else test
        elif axes:
            lines.append((f"{outside} = False", ""))
            for depth, (axis, size) in enumerate(axes):
                lines.append((f"{INDENT * depth}for {axis} in range({size}):", ""))
            lines.append((f"{INDENT * len(axes)}{outside} |= ({index} < 0) | ({index} >= {length})", ""))
            test = outside
        lines += [(f"if {test}:", ""), (f"{INDENT}return {status}", program.faults[status - 1])]
    return lines


def constant_lines(program: Program, names: Names) -> list[tuple[str, str]]:
    """Return the lines that define a program's constants."""
    lines = []
    for name, entries in program.constants.items():
        sizes = [int(s) for s in program.table[name].shape]
        values = ", ".join(number(e, names) for e in entries)
        shape = "" if len(sizes) == 1 else f".reshape(({', '.join(map(str, sizes))}))"
        lines.append((f"{names.give(name)} = np.array([{values}]){shape}", ""))
    return lines


def size_lines(program: Program, names: Names, body: list[tuple[str, str]]) -> list[str]:
    """Return the lines that read the sizes used in the body."""
    used = {word for line, _ in body for word in WORD.findall(line)}
    needed = {s.name for s in program.sources if names.give(s.name) in used}
    for source in reversed(program.sources):
        if source.name in needed:
            needed |= set(source.offset.names)
    lines = []
    for source in program.sources:
        if source.name not in needed:
            continue
        text = f"{names.give(source.input)}.shape[{source.axis}]"
        if source.offset != 0:
            text = f"({text} - {_bracketed(names.size(source.offset))})"
        factor = Size.of(source.factor)
        text = text if factor == 1 else f"{text}//{names.size(factor)}"
        lines.append(f"{INDENT}{names.give(source.name)} = {text}")
    return lines


def _bracketed(text: str) -> str:
    return text if text.isidentifier() or text.isdigit() else f"({text})"


def joined(line: str, note: str) -> str:
    if not note:
        return line
    room = LINE - max(len(line) + 2, COMMENT_COLUMN) - 2
    if room < 8:
        return line
    note = comment(note)
    note = note if len(note) <= room else note[: room - 3] + "..."
    return f"{line:<{COMMENT_COLUMN - 2}}  # {note}"
