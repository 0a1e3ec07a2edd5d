"""Writes recurrences as equations of one step: `l[T] = c, l[t] = A'*l[t+1], t < T`.

A trajectory is written by its name; its system is written once, behind `where`. In the equations a state is `x[t]`, and
a slice of a sequence is the sequence at `t`: a range or another order of its axes moves into the subscripts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from matcalc.errors import NotSupported
from matcalc.formula.notation import form as forms
from matcalc.formula.notation.form import Form
from matcalc.formula.notation.node_reading import Reading
from matcalc.language import recurrences, syntax
from matcalc.language.identifiers import supply
from matcalc.language.recurrences import EQUATION, SYSTEM
from matcalc.language.syntax import Ast
from matcalc.tensor.leading_axis import numbers
from matcalc.tensor.nodes.node import Node, toposort
from matcalc.tensor.recurrence import arguments_of, level_of, sibling
from matcalc.tensor.sizes.size import Size

if TYPE_CHECKING:
    from matcalc.formula.notation.context import Context

INDICES = "tskjirqp"
FORWARD, BACKWARD = ("xyzshvwu", "XYZSVWMK"), ("lpqrvwuy", "LPQRVWMK")
"""Letters for states by direction: of scalars and vectors, then of tensors with more axes."""
EVERYTHING = Form(syntax.slice_of(), forms.ATOM, 1, 0, (), 0)
ReadBodies = Callable[[Sequence[Node], Mapping[Node, Reading], Sequence[str]], list[Reading]]
"""Reads nodes over symbols that have readings; the names are taken inside."""


class Systems:
    """The systems of one formula, with the names of states and step indices."""

    def __init__(self, taken: frozenset[str], preferred: Mapping[Node, str], read: ReadBodies) -> None:
        self.taken, self.preferred, self.read = set(taken), preferred, read
        self.names: dict[Node, str] = {}
        self.indices: dict[Size, str] = {}
        self.made: dict[Node, Ast] = {}
        self.below: dict[Node, frozenset[Node]] = {}

    def enter(self, nodes: Iterable[Node]) -> frozenset[str]:
        """Name all states and indices of recurrences; return all names in use."""
        for node in nodes:
            if node.kind == "recurrence":
                self.index(node.steps)
                for position in range(len(node.states)):
                    self.name(sibling(node, position))
        return frozenset(self.taken)

    def trajectories(self, root: Node) -> frozenset[Node]:
        """Return the trajectories that a node contains."""
        for node in toposort(root, self.below):
            own = [node] if node.kind == "recurrence" else []
            self.below[node] = frozenset(own).union(*(self.below[arg] for arg in node.args))
        return self.below[root]

    def name(self, node: Node) -> str:
        """Return the name of a trajectory: the user's, or a new letter."""
        if node not in self.names:
            letters = (BACKWARD if node.backward else FORWARD)[node.rank > 2]
            wanted = self.preferred.get(node)
            own = wanted if wanted and wanted not in self.taken else next(supply(letters, self.taken))
            self.taken.add(own)
            self.names[node] = own
        return self.names[node]

    def index(self, steps: Size) -> str:
        """Return the step index of recurrences with this number of steps."""
        if steps not in self.indices:
            self.indices[steps] = next(supply(INDICES, self.taken))
            self.taken.add(self.indices[steps])
        return self.indices[steps]

    def system(self, context: Context, node: Node) -> Ast:
        """Return the system of a recurrence."""
        first = sibling(node, 0)
        if first not in self.made:
            self.made[first] = self._written(context, first)
        return self.made[first]

    def _written(self, context: Context, node: Node) -> Ast:
        if any(level_of(one) for one in toposort(node.args) if one.kind == "symbol"):
            raise NotSupported("a recurrence inside the step of another has no text")
        names = [self.name(sibling(node, k)) for k in range(len(node.states))]
        index = self.index(node.steps)
        now, following = forms.name(index), _moved(index, 1)
        starts, operands, closed = arguments_of(node)
        known = {arg: context.readings[arg] for arg in closed}
        before, after = (following, now) if node.backward else (now, following)
        for state, name in zip(node.states, names, strict=True):
            known[state] = Reading(forms.part(forms.name(name), [before]))
        for own, operand in zip(node.slices, operands, strict=True):
            known[own] = Reading(slice_form(context, operand, index, node.steps))
        bodies = self.read(node.bodies, known, [index, *names])
        limit = context.size(node.steps).ast
        end = limit if node.backward else syntax.number(0)
        begins = [context.readings[start].form for start in starts]
        equations = [_equation(name, end, begin) for name, begin in zip(names, begins, strict=True)]
        equations += [_equation(name, after.ast, body.form) for name, body in zip(names, bodies, strict=True)]
        return Ast(SYSTEM, (limit, *equations), index)


def _equation(name: str, subscript: Ast, right: Form) -> Ast:
    return Ast(EQUATION, (subscript, right.ast), name)


def _moved(index: str, offset: int) -> Form:
    if not offset:
        return forms.name(index)
    ast = syntax.add([syntax.name(index), syntax.number(abs(offset))], [1, 1 if offset > 0 else -1])
    return Form(ast, forms.SUM, 3, 0, (index,))


def slice_form(context: Context, operand: Node, index: str, steps: Size) -> Form:
    """Return a sequence at the step: `U[t, :]`, `x[t+1]`; `t` for the number of the step."""
    if operand is numbers(steps):
        return forms.name(index)
    base, axis, offset = _cut_from(operand)
    shown = [EVERYTHING] * axis + [_moved(index, offset)] + [EVERYTHING] * (base.rank - axis - 1)
    return forms.part(context.readings[base].form, shown)


def _cut_from(operand: Node) -> tuple[Node, int, int]:
    """Return the tensor of which a sequence is a range or has its axes in another order, its axis, and the first index.

    A sequence that is anything else is returned itself.
    """
    whole = operand, 0, 0
    if operand.kind != "product" or operand.coef != 1:
        return whole
    bases = [(arg, at) for arg, at in operand.operands if arg.kind != "selector"]
    rules = [(arg, at) for arg, at in operand.operands if arg.kind == "selector"]
    if len(bases) != 1 or len(rules) > 1 or len(set(bases[0][1])) < bases[0][0].rank:
        return whole
    (base, at), offset = bases[0], 0
    lead = operand.out[0]
    if rules:
        rule, (long, short) = rules[0][0], rules[0][1][:2]
        if not rule.selects("slice") or short != lead or not rule.selector.offset.is_integer:
            return whole
        offset, lead = int(rule.selector.offset.constant), long
    rest = tuple(i for i in at if i != lead)
    if lead not in at or rest != operand.out[1:]:
        return whole
    return base, at.index(lead), offset


def trajectory_reading(context: Context, node: Node) -> Reading:
    """Return the name of a trajectory, with its system."""
    systems = context.systems
    assert systems is not None
    system = systems.system(context, node)
    name = systems.name(node)
    return Reading(Form(recurrences.state(name, system), forms.ATOM, 1, 0, (name,)))
