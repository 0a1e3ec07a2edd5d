"""Prints a Program as the text of one function, for Numba as loops (`code_of.py`), for NumPy as array statements.

`def NAME_into(inputs..., sizes..., outputs...)` returns a status, 0 or the number of a fault. Scalar inputs are floats,
sizes ints, scalar results arrays of shape (1,). Each line has one statement, with its formula and shape as comment. The
text contains neither imports nor kernels nor decorators, which the runtime adds.
"""

from __future__ import annotations

from collections.abc import Sequence

from matcalc.compiler.code.code_text import ModuleText
from matcalc.compiler.code.print_python import (
    INDENT,
    PRODUCT,
    Line,
    along,
    expression,
    item_text,
    line_with_note,
    lines,
    text,
)
from matcalc.compiler.emit.code_of import code_of, companions_of, texts
from matcalc.compiler.emit.spelling import Expressions, Names, operands
from matcalc.compiler.emit.steps import Steps, constants, described, sizes_from_shapes
from matcalc.compiler.emit.vectors import VectorWriter
from matcalc.compiler.emit.writes import Noted, Write, assigned, in_place, place
from matcalc.compiler.entrywise import Literal
from matcalc.compiler.lowering_entries import fill, template_of
from matcalc.compiler.program import (
    WORD,
    Argument,
    Call,
    Each,
    Program,
    Step,
    View,
    values_written,
    walk,
    walk_inside,
)
from matcalc.language.identifiers import docstring, literal


def emit(program: Program, name: str, target: str = "numba") -> ModuleText:
    """Return the text of the function `<name>_into` that computes `program` on `target`.

    Raises: NotSupported if a kernel or function has no template for the target.
    """
    if target == "numba":
        return text(code_of(program, name))
    parameters = [*program.inputs, *program.size_args, *program.outputs]
    return ModuleText([*_functions(program, target), *_definition(program, f"{name}_into", parameters, target)])


def companions(program: Program, target: str) -> str:
    """Return the text of the functions and constants that precede the function of a program."""
    return "\n\n\n".join(map(item_text, companions_of(program)) if target == "numba" else _functions(program, target))


def _definition(program: Program, name: str, parameters: Sequence[str], target: str) -> list[str]:
    """Return the texts of a program's constants and of its function."""
    names = Names(program, target, name)
    names.spelled.update({constant: f"{name.removesuffix('_into')}_{constant}" for constant in program.constants})
    steps = Statements(program, names, target).lines()
    lets = constants(program, names)
    head = [f"def {name}({', '.join(names.give(p) for p in parameters)}):"]
    head += docstring(described(program), INDENT) if program.comment else []
    body = [(line, note) for line, note in (*_checks(program, names), *steps) if line]
    body = [*lines(sizes_from_shapes(program, names, words(body))), *body, ("return 0", "")]
    function = "\n".join([*head, *(line_with_note(f"{INDENT}{line}", note) for line, note in body)])
    return [*(["\n".join(line for line, _ in lines(lets))] if lets else []), function]


def words(body: Sequence[Line]) -> set[str]:
    """Return the words of lines."""
    return {word for line, _ in body for word in WORD.findall(line)}


class Statements(Steps):
    """Writes the statements of a function's body on arrays, as lines with comments."""

    def __init__(self, program: Program, names: Names, target: str) -> None:
        super().__init__(program, names)
        self.target = target
        self.fixed = _fixed(program)
        self.vectors = VectorWriter(program, names, self.fresh, self.fixed)
        self.expressions = Expressions(names, lambda read: names.entry(read.value, read.at), lambda test, body: body)

    def lines(self) -> list[Line]:
        result = [(f"{self.names.give(name)}[...] = 0.0", "") for name in self.program.zero_filled]
        for step, around in walk_inside(self.program.steps):
            result += [(INDENT * len(around) + in_place(made), comment) for made, comment in self.step(step)]
        return result

    def step(self, step: Step) -> list[Noted]:
        """Return the statements of a step; of an Each only its head."""
        if isinstance(step, Each):
            made = [let for inner in walk(step.body) for let in self.allocations(inner)]
            head = f"for {self.names.give(step.axis)} in range({self.names.size(step.size)}):"
            return [*lines(made), (head, "")]
        if isinstance(step, View):
            return [*lines([*self.allocations(step), self.view(step)])]
        written = self.call(step) if isinstance(step, Call) else self.vectors.write(step)
        return [*lines(self.allocations(step)), *written]  # an array that a statement binds needs no memory before

    def call(self, call: Call) -> list[Noted]:
        """Return the call as an assignment of its expression to its results."""
        entries = operands(call, self.names)
        fields = {field: expression(value) for field, value in entries.items()}
        if call.fault:
            fields.setdefault("fault", literal(self.program.faults[call.fault - 1]))
        made = fill(template_of(call.kernel, self.target), fields, call.kernel.name)
        if call.alpha != Literal(1):
            made = f"{expression(self.expressions.code(call.alpha), PRODUCT)}*({made})"
        results = [p for _, p in call.results]
        if call.onto:
            onto = place(self.names.entry(results[0].value, results[0].lead))
            return [(Write(onto.name, made, onto.at, adds=True), call.comment)]
        direct = [self.is_bindable(p) for p in results]
        is_array = bool(self.table[self.program.buffer_of[results[0].value]].shape)
        is_own = bool(call.kernel.sources or call.kernel.functions) and len(results) == 1
        if self.target == "numpy" and is_own and any(direct) and is_array:
            made = f'np.array({made}, order="C")'  # a rule's value may return an argument, or a part of one
        self.fresh -= {self.program.buffer_of[p.value] for p, bound in zip(results, direct, strict=True) if bound}
        places = tuple(place(entries[field], bound) for (field, _), bound in zip(call.results, direct, strict=True))
        return [(assigned(places, made), call.comment)]

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
    found = [text for kernel in program.kernels for text in texts(kernel.sources.get(target, ""))]
    for part in (part for kernel in program.kernels for part in kernel.parts):
        found += _functions(part.program, target)
        found += _definition(part.program, part.spelled(target), part.parameters, target)
    found += [text for function in program.functions for text in texts(function.sources.get(target, ""))]
    return list(dict.fromkeys(found))


def _checks(program: Program, names: Names) -> list[Line]:
    """Return the lines that compare indices in data with the lengths of their axes."""
    found: list[Line] = []
    first = len(program.faults) - len(program.data) + 1
    for status, checked in enumerate(program.data, first):
        index, length = names.size(checked.index), names.size(checked.length)
        found += [(line, "") for line in along((names.give(a), names.size(size)) for a, size in checked.axes)]
        either = "np.any(({}) | ({}))" if checked.axes else "{} or {}"
        test = either.format(f"{index} < 0", f"{index} >= {length}")
        found += [(f"if {test}:", ""), (f"{INDENT}return {status}", program.faults[status - 1])]
    return found
