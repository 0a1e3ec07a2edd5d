"""Makes Code of a Program: the function `NAME_into(inputs..., sizes..., outputs...)`, and the functions that it calls.

It returns a status, 0 or the number of a fault. Scalar inputs are numbers, scalar results arrays of shape (1,). Each
statement has its formula and shape as a note. It decides nothing and knows no operation by name.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from matcalc.compiler.code.code import (
    ZERO,
    Block,
    Call,
    Code,
    Constants,
    Do,
    Expr,
    For,
    Foreign,
    Function,
    If,
    Item,
    Let,
    Name,
    Number,
    Op,
    Return,
    Statement,
    Store,
    names_in,
)
from matcalc.compiler.code.parameters import parameter_kind
from matcalc.compiler.code.read_python import expression_of, field_name, filled, template
from matcalc.compiler.emit.loops import LoopWriter, assigned
from matcalc.compiler.emit.row_blocks import blocks
from matcalc.compiler.emit.spelling import Names, operands
from matcalc.compiler.emit.step_loops import step_loop
from matcalc.compiler.emit.steps import Steps, constants, described, sizes_from_shapes
from matcalc.compiler.lowering_entries import Kernel, template_of
from matcalc.compiler.program import Call as KernelCall
from matcalc.compiler.program import Each, Program, Step, View, walk
from matcalc.errors import NotSupported

FIRST_WORD = re.compile(r"^\w+")


def code_of(program: Program, name: str) -> Code:
    """Return the Code of the function `<name>_into`.

    Raises: NotSupported if a kernel or function has no template for loops.
    """
    parameters = [*program.inputs, *program.size_args, *program.outputs]
    return Code((*companions_of(program), *_definition(program, name, "_into", parameters)))


def companions_of(program: Program) -> list[Item]:
    """Return the functions and constants that precede the function of a program, each once."""
    found: list[Item] = []
    chosen = [kernel for kernel in program.kernels if kernel.choice is not None]
    for kernel in program.kernels:
        found += [*kernel.functions, *map(Foreign, texts(kernel.sources.get("numba", "")))]
    found += map(_branches, chosen)
    for kernel, part in ((k, part) for k in program.kernels for part in k.parts if k not in chosen):
        found += companions_of(part.program)
        if not kernel.is_inline:
            found += _definition(part.program, part.name, "", part.parameters)
    found += [Foreign(text) for function in program.functions for text in texts(function.sources.get("numba", ""))]
    return list(dict.fromkeys(found))


def texts(source: str) -> list[str]:
    """Return the functions of a source; lines inside a function are indented."""
    return [part.strip("\n") for part in re.split(r"\n\n\n(?=\S)", source) if part.strip()]


def _definition(program: Program, name: str, ending: str, parameters: Sequence[str]) -> list[Item]:
    """Return a program's function, its constants before it."""
    names = Names(program, "numba", name + ending)
    names.spelled.update({constant: f"{name}_{constant}" for constant in program.constants})
    lets = constants(program, names)
    doc = described(program)
    zeroed = ", ".join(names.give(name) for name in program.zero_filled)
    if doc and zeroed:
        doc = (*doc, "", f"Only what is not zero is written: {zeroed} must be zeros before.")
    given = tuple((names.give(p), parameter_kind(program, p)) for p in parameters)
    body = _body(program, names)
    return [*([Constants(lets)] if lets else []), Function(name + ending, given, body, doc, not ending)]


def _body(program: Program, names: Names) -> Block:
    lines = Writer(program, names).block()  # before the checks, which name axes after those of the steps
    body = (*_checks(program, names), *lines)
    return (*sizes_from_shapes(program, names, names_in(body)), *body, Return(ZERO))


def _branches(kernel: Kernel) -> Function:
    """Return the function of a kernel that chooses one of its parts."""
    choice = kernel.choice
    assert choice is not None
    result, *parameters = kernel.parts[0].parameters
    name_of = {f"a_{k}": name for k, name in enumerate(parameters)}
    lengths = [FIRST_WORD.sub(lambda m: name_of[m[0]], text) for text in choice.lengths]
    body: list[Statement] = []
    body += [Let(f"n_{k}", Call("float", (expression_of(length),))) for k, length in enumerate(lengths)]
    costs = [Name(f"cost_{k}") for k in range(1, len(choice.costs) + 1)]
    body += [Let(cost.name, expression_of(text)) for cost, text in zip(costs, choice.costs, strict=True)]
    body.append(Let("least", Call("min", tuple(costs))))
    orders: Block = ()
    for part, cost in reversed([*zip(kernel.parts, costs, strict=True)]):
        names = Names(part.program, "numba", part.name)
        orders = (If(Op("==", (cost, Name("least"))), _body(part.program, names)[:-1], orders),)
    program = kernel.parts[0].program
    given = tuple((name, parameter_kind(program, name)) for name in (*parameters, result))
    doc = ("The product in the order that takes the least flops.",)
    return Function(kernel.name, given, (*body, *orders, Return(ZERO)), doc, True)


class Writer(Steps):
    """Writes the steps of a Program as statements."""

    def __init__(self, program: Program, names: Names) -> None:
        super().__init__(program, names)
        self.loops = LoopWriter(program, names)

    def block(self) -> Block:
        return tuple(s for step in self.program.steps for s in self.step(step))

    def apart(self) -> tuple[Block, Block]:
        """Return the statements that allocate arrays, and the others."""
        made = tuple(let for step in walk(self.program.steps) for let in self.allocations(step))
        return made, self.block()

    def step(self, step: Step) -> Iterator[Statement]:
        if isinstance(step, Each):
            for inner in walk(step.body):
                yield from self.allocations(inner)
            body = tuple(s for inner in step.body for s in self.step(inner))
            yield For(self.names.give(step.axis), self.names.integer(step.size), body)
            return
        yield from self.allocations(step)
        if isinstance(step, View):
            yield self.view(step)
        elif isinstance(step, KernelCall):
            yield from self.call(step)
        else:
            yield from self.loops.write(step)

    def call(self, call: KernelCall) -> list[Statement]:
        if call.kernel.blocks is not None:
            return blocks(call, self.names, lambda part, names: Writer(part, names).block())
        if call.kernel.loop is not None:
            return step_loop(call, self.names, lambda part, names: Writer(part, names).apart())
        fields = {"alpha": self.loops.expressions.code(call.alpha), "beta": Number(1.0 if call.onto else 0.0)}
        fields |= operands(call, self.names)  # a rule's parameter may be named alpha
        made = template(template_of(call.kernel, "numba"))
        value = filled_in(made.value, fields, call.kernel.name)
        if made.target is not None:
            target = filled_in(made.target, fields, call.kernel.name)
            if made.is_whole:
                return [Store(target, (), value, note=call.comment)]
            return [assigned(target, value, note=call.comment)]
        if not call.fault:
            return [Do(value, call.comment)]
        failed = Return(Number(call.fault), self.program.faults[call.fault - 1])
        return [Let("status", value, note=call.comment), If(Op("!=", (Name("status"), ZERO)), (failed,))]


def filled_in(expr: Expr, fields: dict[str, Expr], kernel: str) -> Expr:
    """Return a template with its fields filled in."""
    found = filled(expr, {field_name(field): value for field, value in fields.items()})
    missing = next((name for name in names_in((Do(found),)) if name.startswith(field_name(""))), None)
    if missing is not None:
        field = missing.removeprefix(field_name(""))
        raise NotSupported(f"the template of {kernel} has the field {{{field}}}, which is not in its pattern")
    return found


def _checks(program: Program, names: Names) -> list[Statement]:
    """Return the statements that compare indices in data with the lengths of their axes."""
    found: list[Statement] = []
    first = len(program.faults) - len(program.data) + 1
    outside = names.local("outside") if program.data else ""
    for status, checked in enumerate(program.data, first):
        index, length = names.integer(checked.index), names.integer(checked.length)
        tests = Op("<", (index, ZERO)), Op(">=", (index, length))
        test: Expr = Op("or", tests)
        if checked.axes:
            loop: Statement = Let(outside, Op("|", tests), "|")
            for axis, size in reversed(checked.axes):
                loop = For(names.give(axis), names.integer(size), (loop,))
            found += [Let(outside, Number(False)), loop]
            test = Name(outside)
        found.append(If(test, (Return(Number(status), program.faults[status - 1]),)))
    return found
