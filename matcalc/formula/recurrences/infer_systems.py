"""Infers the shapes of recurrences: of the starts, of the step, and of what is read from a state.

The starts of a system are read first and bind its states; then follow the equations in the order of the step.
"""

from __future__ import annotations

from typing import cast

from matcalc.errors import NotSupported
from matcalc.formula.inference.inference import Inference, shown
from matcalc.formula.inference.typed import Typed
from matcalc.formula.recurrences.read_systems import (
    AT_STEP,
    System,
    Variable,
    at_step,
    position_of,
    record_of,
    system_of,
)
from matcalc.language import recurrences
from matcalc.language.named_parts import without_inner
from matcalc.language.recurrences import STATE, STEP_SUM, SYSTEM
from matcalc.language.syntax import Ast, children, walk
from matcalc.language.syntax import names_in as names_of
from matcalc.tensor.sizes.size import Size

BEGIN, DEFINE = "begin_steps", "define_step"
MOST_INNER = 4
"""Levels of recurrences in steps that are read: the time for the normal form grows four times a level."""


def operands(inference: Inference, ast: Ast) -> list[Ast]:
    """Return the trees that read a system: its starts, which bind the states, then its equations."""
    system = system_of(inference, ast)
    starts = [start for variable in system.variables.values() for start in variable.starts]
    limit = recurrences.limit_of(ast)
    begin = Ast(BEGIN, (*starts, *([limit] if limit is not None else [])), system, ast.span, ast.at)
    return [begin, *(Ast(DEFINE, (v.right,), (system, v), v.equation.span) for v in system.variables.values())]


def of_inner(inference: Inference, ast: Ast) -> Ast:
    """Return the formula of a tree `inner_where`, which reads the states of its own systems.

    Raises: NotSupported for systems with an index or parameter of a form around; ShapeError for the name of a symbol.
    """
    names = {*inference.bound, *inference.parameters, *inference.unknowns}
    met = sorted(names & set(names_of(ast)) - recurrences.bound_by(ast))
    if met or (inference.depth and inference.free.get(ast)):
        what = met[0] if met else min(inference.free[ast])
        message = f"a recurrence with its own where cannot read {what}, an index or a parameter around it"
        raise NotSupported(message, text=inference.text, at=ast.caret, hint="index its value, or write mc.scan")
    both = sorted(recurrences.bound_by(ast) & (inference.symbols.keys() | inference.size_names.keys()))
    if both:
        what = "symbol" if both[0] in inference.symbols else "size"
        raise inference.fault(f"'{both[0]}' is a {what} and a state", ast, hint="give the state another name")
    if _depth(ast) > MOST_INNER:
        message = f"recurrences in steps nest at most {MOST_INNER} deep"
        raise NotSupported(
            message, text=inference.text, at=ast.caret, hint="define some of the steps by sums or powers"
        )
    return without_inner(ast)


def _depth(root: Ast) -> int:
    """Return how deep trees `inner_where` nest."""
    found: dict[Ast, int] = {}
    for node in walk(root):
        found[node] = max((found[child] for child in children(node)), default=0) + (node.head == recurrences.INNER)
    return found[root]


def begin(inference: Inference, ast: Ast, values: list[Typed]) -> Typed:
    """Bind the states of a system to the shapes of their starts, and its number of steps."""
    system: System = ast.value  # type: ignore[assignment]
    given = iter(values)
    for variable in system.variables.values():
        variable.given = tuple(next(given) for _ in variable.starts)
        if variable.given:
            variable.shape = variable.given[0].shape
        for start in variable.given[1:]:
            if not inference.same_shape(start.shape, variable.shape):
                message = f"the starts of {variable.name} differ in shape"
                raise inference.fault(message, start.ast, about=(variable.given[0].ast, start.ast))
    limit = next(given, None)
    if limit is None:
        system.length = _length_by_end(inference, system)
        return Typed(BEGIN, ast)
    if limit.exact is None:
        raise inference.fault(f"the number of steps is a size or an integer, not {shown(limit.ast)}", limit.ast)
    system.length = limit.exact
    inference.check_least(limit.exact, limit.ast, lambda: f"the number of steps {shown(limit.ast)} is negative")
    return Typed(BEGIN, ast)


def _length_by_end(inference: Inference, system: System) -> Size:
    """Return the number of steps where no limit is written: the position of an end, else unknown as yet."""
    ends = [
        position_of(inference, equation.args[0])
        for equation in system.ast.args[1:]
        if system.backward and system.index not in recurrences.names_in(equation.args[0])
    ]
    return min(ends, key=str) if ends else inference.sizes.fresh()


def define(inference: Inference, ast: Ast, value: Typed) -> Typed:
    """Record the right side of an equation.

    Raises: ShapeError if the step changes the shape of its state.
    """
    system, variable = cast("tuple[System, Variable]", ast.value)
    if variable.lag and not inference.same_shape(value.shape, variable.shape):
        state = inference.describe(Typed(STATE, Ast("name", (), variable.name), variable.shape))
        message = f"the step of {state} has another shape: {inference.describe(value)}"
        raise inference.fault(message, value.ast, about=(value.ast, variable.starts[0]))
    variable.body, variable.shape = value, value.shape
    return value


def read_at_step(inference: Inference, ast: Ast, values: list[Typed]) -> Typed:
    """Return what a tree `at_step` reads.

    Raises: ShapeError for a sequence that is shorter than the steps.
    """
    record = record_of(ast)
    system = record.system
    if values:
        base = values[0]
        if record.axis >= base.rank:
            raise inference.fault(f"{inference.describe(base)} has no axis {record.axis}", record.written)
        length, needed = base.shape[record.axis], system.length + record.offset
        if not inference.same(length, needed):
            inference.check_least(
                length - needed, record.written,
                lambda: f"{shown(record.written)} is read {system.length} times, more often than its length",
            )  # fmt: skip
        shape = (*base.shape[: record.axis], *base.shape[record.axis + 1 :])
        return Typed(AT_STEP, ast, shape, (base,), record)
    if not record.name:
        return Typed(AT_STEP, ast, (), (), record)
    variable = system.variables[record.name]
    if not variable.lag or (record.offset == variable.defines and not record.outside):
        assert variable.body is not None
        return variable.body
    return Typed(AT_STEP, ast, variable.shape, (), record)


def finish(inference: Inference, ast: Ast) -> Typed:
    """Return the value of a system that has been read; its states are read from it.

    Raises: ShapeError for a number of steps that nothing determines.
    """
    system = system_of(inference, ast)
    if "?" in inference.sizes.resolve(system.length).key and not any(
        node.head == AT_STEP and node.args and record_of(node).system is system
        for v in system.variables.values()
        for node in walk(v.right)
    ):
        hint = f"add its limit, as in  {system.index} < T"
        raise inference.fault(f"the number of steps over {system.index} is not known", ast, hint=hint)
    return Typed(SYSTEM, ast, data=system)


def infer_state(inference: Inference, ast: Ast) -> Typed:
    """Return a variable of a system as a tensor with a leading axis."""
    system = system_of(inference, recurrences.system_of(ast))
    variable = system.variables[str(ast.value)]
    return Typed(STATE, ast, (system.length + variable.lag, *variable.shape), data=(system, variable))


def sum_operands(inference: Inference, ast: Ast) -> list[Ast]:
    """Return the trees that read a sum over steps: the system, then what each step adds.

    Raises: NotSupported for a sum that reads an index of an index form around it.
    """
    system = system_of(inference, recurrences.system_of(ast))
    if inference.depth:
        hint = "write  sum{t: {i,j: ...}}  of all its entries, or index the whole tensors"
        message = f"a sum over the steps {system.index} of an entry of an index form is not supported"
        raise NotSupported(message, text=inference.text, at=ast.caret, hint=hint)
    return [ast.args[0], at_step(inference, ast.args[1], system, outside=True)]


def infer_sum(inference: Inference, ast: Ast, values: list[Typed]) -> Typed:
    """Return the sum of a value over the steps of a system."""
    system = system_of(inference, recurrences.system_of(ast))
    return Typed(STEP_SUM, ast, values[1].shape, data=(system, values[1]), row=values[1].row)
