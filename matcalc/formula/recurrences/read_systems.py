"""Reads the equations of recurrences: what each equation defines, and the order of a step.

Inside a system `x[t]`, `U[t, :]` and `t` are values of one step. They become trees `at_step`, so the right side of an
equation is an ordinary formula, without a leading axis. A state with a lag `x[t+2] = f(x[t+1], x[t])` reads and defines
positions that are counted from the step; a backward one, `P[t] = f(P[t+1])`, defines position 0.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from matcalc.errors import NotSupported, ShapeError
from matcalc.formula.inference.inference import Inference, shown
from matcalc.formula.inference.typed import Typed
from matcalc.language import recurrences
from matcalc.language.recurrences import STATE
from matcalc.language.syntax import BINDERS, Ast, part, rebuilt, walk, whole
from matcalc.tensor.nodes.signature import size_of
from matcalc.tensor.sizes.size import Size

AT_STEP = "at_step"
ZERO = Size.of(0)


@dataclass(slots=True, eq=False)
class Variable:
    """A name of a system: `defines` is the position of the step that it defines, `starts` its starts in order.

    A variable without starts is a quantity of the step.
    """

    name: str
    equation: Ast
    right: Ast
    defines: int = 0
    starts: tuple[Ast, ...] = ()
    shape: tuple[Size, ...] = ()
    given: tuple[Typed, ...] = ()
    body: Typed | None = None

    @property
    def lag(self) -> int:
        """The number of starts: 0 for a quantity."""
        return len(self.starts)

    @property
    def backward(self) -> bool:
        return bool(self.starts) and not self.defines

    @property
    def first(self) -> int:
        """The first position that a step reads."""
        return 1 if self.backward else 0


@dataclass(slots=True, eq=False)
class System:
    """A system being read: its variables in the order of the step, and the number of its steps."""

    ast: Ast
    index: str
    number: int
    variables: dict[str, Variable]
    length: Size = ZERO

    @property
    def is_inner(self) -> bool:
        """Whether the system reads the step of another, so that it is another one at each step."""
        return any(node.head == AT_STEP for node in whole(self.ast))

    @property
    def backward(self) -> bool:
        return any(variable.backward for variable in self.variables.values())


class AtStep(NamedTuple):
    """What a tree reads at a step: a variable or the step number, or a slice of its operand along an axis."""

    system: System
    written: Ast
    name: str = ""
    offset: int = 0
    axis: int = 0
    outside: bool = False


def system_of(inference: Inference, ast: Ast) -> System:
    """Return the system of a tree, with the order of its step.

    Raises: ShapeError for a state without a start, two equations for one name, or quantities in a circle.
    """
    found = inference.systems.get(ast)
    if found is None:
        found = inference.systems[ast] = _read(inference, ast)
    return found


def _read(inference: Inference, ast: Ast) -> System:
    index = recurrences.index_of(ast)
    system = System(ast, index, len(inference.systems) + 1, {})
    steps: dict[str, tuple[Ast, int]] = {}
    starts: dict[str, list[tuple[Size, Ast]]] = {}
    for equation in ast.args[1:]:
        name, position = str(equation.value), position_of(inference, equation.args[0])
        if index not in position.names:
            if any(position is other for other, _ in starts.get(name, ())):
                raise inference.fault(f"{name}[{position}] has two equations", equation)
            starts.setdefault(name, []).append((position, equation))
            continue
        shift = position - Size.of(index)
        if not shift.is_integer or shift.constant < 0:
            hint = f"shift the index, so that the equation is for {name}[{index}] or {name}[{index}+1]"
            raise inference.fault(f"{name}[{shown(equation.args[0])}] is no position of a step", equation, hint=hint)
        if name in steps:
            raise inference.fault(f"{name} has two equations for one step", equation)
        steps[name] = equation, int(shift.constant)
    for name, (equation, offset) in steps.items():
        own = _in_order(inference, system, name, equation, offset, starts.pop(name, []))
        system.variables[name] = Variable(name, equation, equation.args[1], offset, own)
    directions = {v.backward for v in system.variables.values() if v.lag}
    if len(directions) > 1:
        hint = "give the backward states an index of their own, as in  l[s] = A'*l[s+1], s < T"
        raise inference.fault(f"states of the index {index} run forward and backward", ast, hint=hint)
    for variable in system.variables.values():
        variable.right = at_step(inference, variable.equation.args[1], system)
    system.variables = _ordered(inference, system)
    return system


def position_of(inference: Inference, subscript: Ast) -> Size:
    """Return a subscript as a position.

    Raises: ShapeError for anything but an expression of sizes.
    """
    moving = next((node for node in walk(subscript) if node.head == AT_STEP), None)
    if moving is not None:
        message = f"{shown(moving)} is another number at each step, and the recurrence inside has one number of steps"
        raise inference.fault(message, subscript, hint="run all steps, and choose by where(s < t, a, b)")
    try:
        return size_of(subscript, {})
    except ShapeError as fault:
        raise inference.fault(fault.message, subscript) from None


def _in_order(
    inference: Inference, system: System, name: str, equation: Ast, offset: int, starts: list[tuple[Size, Ast]]
) -> tuple[Ast, ...]:
    """Return the starts of a variable by position, after checking that the step needs exactly these."""
    if not starts:
        if offset or _reads_itself(equation, name):
            where = f"{name}[0] = ..." if offset else f"{name}[T] = ..., T the limit of {system.index}"
            raise inference.fault(f"the state {name} has no start", equation, hint=f"add  {where}")
        return ()
    first = ZERO
    if not offset:
        limit = recurrences.limit_of(system.ast)
        first = position_of(inference, limit) if limit is not None else min((p for p, _ in starts), key=str)
    wanted = [first + k for k in range(offset or len(starts))]
    given = {position: tree for position, tree in starts}
    missing = next((position for position in wanted if position not in given), None)
    if missing is not None:
        raise inference.fault(f"the state {name} has no start {name}[{missing}]", equation)
    extra = next(((p, tree) for p, tree in starts if p not in wanted), None)
    if extra is not None:
        raise inference.fault(f"{name}[{extra[0]}] is not a start: a step defines it", extra[1])
    return tuple(given[position].args[1] for position in wanted)


def _reads_itself(equation: Ast, name: str) -> bool:
    return any(
        node.head == "part" and node.args[0].head == "name" and node.args[0].value == name
        for node in walk(equation.args[1])
    )


def at_step(inference: Inference, tree: Ast, system: System, outside: bool = False) -> Ast:
    """Return a tree with all that it reads at one step as trees `at_step`.

    `outside` the equations of a step, states may be read after it too.

    Raises: ShapeError, NotSupported for an index that is no position of a step.
    """
    index = system.index

    def change(node: Ast, new: Ast) -> Ast:
        if node.head in BINDERS and index in recurrences.listed_of(node):
            raise inference.fault(f"{index} is the step index", node, hint="give the index of the form another name")
        if node.head == "name" and node.value == index:
            return Ast(AT_STEP, (), AtStep(system, node), node.span, node.at)
        if node.head == "part":
            return _part_at_step(inference, system, node, new, outside)
        return new

    for node in walk(tree):
        if node.head == recurrences.SYSTEM:
            _check_names(inference, system, node)
    made = rebuilt(tree, change)
    for node in walk(made):
        if node.head == "name" and node.value in system.variables:
            hint = f"read it at a step, as in  {node.value}[{index}]"
            raise inference.fault(f"{node.value} is read as a whole in its own step", node, hint=hint)
    return made


def _check_names(inference: Inference, system: System, inner: Ast) -> None:
    """Raise ShapeError for a recurrence in a step that defines a name of the step."""
    both = sorted(recurrences.bound_in(inner) & {system.index, *system.variables})
    if both:
        message = f"{both[0]} is a name of the recurrence over {system.index} and of one in its step"
        raise inference.fault(message, inner, hint="give one of them another name")


def _part_at_step(inference: Inference, system: System, node: Ast, new: Ast, outside: bool) -> Ast:
    """Return a part of something that is read at a step."""
    base = node.args[0]
    at = [k for k, subscript in enumerate(node.args[1:]) if _counts(subscript, system.index)]
    is_own = base.head == "name" and str(base.value) in system.variables
    is_own = is_own or (base.head == STATE and recurrences.system_of(base) is system.ast)
    is_own = is_own and not (outside and at and 0 not in at)
    if not at and (outside or not is_own):
        return new
    if len(at) != 1 or (is_own and at != [0]):
        message = f"{shown(node)} is not read at one step"
        raise NotSupported(message, text=inference.text, at=node.caret, hint=f"write {shown(base)}[{system.index}]")
    (axis,) = at
    subscript = node.args[1:][axis]
    if subscript.head == "slice":
        message = f"the range {shown(subscript)} moves with the step"
        raise NotSupported(message, text=inference.text, at=subscript.caret, hint="read one position of each step")
    offset = position_of(inference, subscript) - Size.of(system.index)
    if not offset.is_integer:
        message = f"the subscript {shown(subscript)} is not {system.index} plus a number"
        raise NotSupported(message, text=inference.text, at=subscript.caret)
    shift = int(offset.constant)
    if is_own:
        name = str(base.value)
        _check_offset(inference, system, name, shift, subscript, outside)
        record = AtStep(system, part(base, subscript), name, shift, 0, outside)
        found = Ast(AT_STEP, (), record, node.span, node.at)
    else:
        if shift < 0:
            hint = f"shift the index: count the steps from {-shift}"
            raise inference.fault(f"{shown(node)} begins at {shift}", subscript, hint=hint)
        whole = [Ast("slice", (Ast("empty"),) * 3)] * axis
        written = replace(part(base, *whole, subscript), span=node.span, at=node.at)
        record = AtStep(system, written, "", shift, axis)
        found = Ast(AT_STEP, (new.args[0],), record, node.span, node.at)
    rest = tuple(s for k, s in enumerate(new.args[1:]) if k != axis)
    return Ast("part", (found, *rest), None, node.span, node.at) if rest else found


def _counts(subscript: Ast, index: str) -> bool:
    """Whether a subscript moves with the step, not by an index that is itself read at the step, as in `W[i[t], :]`."""
    return any(node.head == "name" and node.value == index for node in walk(subscript, ("part",)))


def _check_offset(inference: Inference, system: System, name: str, shift: int, at: Ast, outside: bool) -> None:
    variable = system.variables[name]
    last = variable.lag if variable.lag else 0
    if 0 <= shift <= last:
        return
    what = f"a state is read at most at {system.index}+{last}" if variable.lag else "a quantity is read at its own step"
    raise inference.fault(f"{name}[{shown(at)}] is not known at step {system.index}: {what}", at)


def _ordered(inference: Inference, system: System) -> dict[str, Variable]:
    """Return the variables, each after those whose value at its own step it reads."""
    needed = {
        name: [
            record.name
            for node in walk(variable.right)
            if node.head == AT_STEP and (record := record_of(node)).name and record.system is system
            and record.offset == system.variables[record.name].defines
        ]
        for name, variable in system.variables.items()
    }  # fmt: skip
    found: dict[str, Variable] = {}
    while len(found) < len(needed):
        ready = [name for name, others in needed.items() if name not in found and set(others) <= found.keys()]
        if not ready:
            circle = _circle(needed, found)
            message = (
                f"{', '.join(circle)} need each other in one step"
                if len(circle) > 1
                else (f"{circle[0]} needs itself in one step")
            )
            raise inference.fault(message, system.variables[circle[0]].equation)
        found.update((name, system.variables[name]) for name in ready)
    return found


def _circle(needed: Mapping[str, Sequence[str]], done: Mapping[str, object]) -> list[str]:
    path = [next(name for name in needed if name not in done)]
    while True:
        following = next(name for name in needed[path[-1]] if name not in done)
        if following in path:
            return path[path.index(following) :]
        path.append(following)


def record_of(node: Ast) -> AtStep:
    """Return what a tree `at_step` reads."""
    record: AtStep = node.value  # type: ignore[assignment]
    return record
