"""Writes recurrences as equations of one step: `l[T] = c, l[t] = A'*l[t+1], t < T`.

A trajectory is written by its name; its system is written once, behind `where`. A recurrence in the step of another has
its system in the equations that read it, `x[t+1] = (y[S] where y[0] = x[t], ...)`. In the equations a state is `x[t]`,
and a slice of a sequence is the sequence at `t`: a range or another order of its axes moves into the subscripts.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from matcalc.formula.forms import form as forms
from matcalc.formula.forms.form import Form
from matcalc.formula.notation.context import Context
from matcalc.formula.notation.node_reading import Reading
from matcalc.formula.notation.shared_in_steps import Named, with_shared_parts
from matcalc.formula.notation.systems import is_inner
from matcalc.language import recurrences, syntax
from matcalc.language.recurrences import EQUATION, INNER, SYSTEM, defined_in
from matcalc.language.syntax import Ast
from matcalc.tensor.leading_axis import numbers
from matcalc.tensor.lookups import is_lookup
from matcalc.tensor.nodes.node import Indices, Node, toposort
from matcalc.tensor.sizes.size import Size
from matcalc.tensor.steps.lags import Lagged
from matcalc.tensor.steps.one_step import Step
from matcalc.tensor.steps.recurrence import arguments_of, sequences_in, sibling
from matcalc.tensor.substitute import UNKNOWN

TOKENS = 10
"""Tokens of an equation, as an estimate."""
EVERYTHING = Form(syntax.slice_of(), forms.ATOM, 1, 0, (), 0)


def system_of(context: Context, node: Node) -> Ast:
    """Return the system of a recurrence; it is written once, or once in each equation that reads it."""
    first = sibling(node, 0)
    made = context.inner if is_inner(node) else context.systems.made
    if first not in made:
        made[first] = _system(context, first)
    return made[first]


def _system(context: Context, node: Node) -> Ast:
    systems = context.systems
    lags = [systems.place(sibling(node, k)) for k in range(len(node.states))]
    names = [systems.name(place.head) for place in lags]
    index = systems.index_of(node)
    now, first = forms.name(index), int(node.backward)
    starts, operands, closed = arguments_of(node)
    known = {arg: context.readings[arg] for arg in closed}
    for state, name, place in zip(node.states, names, lags, strict=True):
        known[state] = Reading(forms.part(forms.name(name), [_moved(index, place.offset + first)]))
    for own, operand in zip(node.slices, operands, strict=True):
        known[own] = Reading(slice_form(context, operand, index, node.steps))
    step = Step(sequences_in(node) if systems.quantities is not None else {})
    named = _named(context, node.bodies, step, node.steps)
    named = with_shared_parts(named, [*node.states, *node.slices], systems.shared)
    new = {own: part for own, part in named.parts.items() if own.name not in systems.owners}
    known |= _readings(context, named.parts, index)
    inside = [index, *names, *(own.name for own in new)]
    heads = [k for k, place in enumerate(lags) if place.head is sibling(node, k)]
    values = [*new.values(), *(named.bodies[k] for k in heads)]
    systems.inside.update(toposort(values))
    bodies = systems.read(values, known, inside)
    limit = context.size(node.steps).ast
    origin = node.steps if node.backward else Size.of(0)
    order = sorted(range(len(lags)), key=lambda k: (lags[k].head.position, lags[k].offset))
    equations = [
        _equation(names[k], context.size(origin + lags[k].offset).ast, context.readings[starts[k]].form) for k in order
    ]
    lines = [(own.name, now) for own in new]
    lines += [(names[k], now if node.backward else _moved(index, lags[k].lag)) for k in heads]
    equations += [_equation(name, at.ast, body.form) for (name, at), body in zip(lines, bodies, strict=True)]
    system = Ast(SYSTEM, (limit, *equations), index)
    systems.owners.update((own.name, system) for own in new)
    return system


def _named(context: Context, bodies: Sequence[Node], step: Step, steps: Size) -> Named:
    quantities = context.systems.quantities
    symbols = quantities.symbols(step, steps) if quantities is not None else {}
    if quantities is None or not symbols:
        return Named(list(bodies), {})
    made = [quantities.over(body, symbols) for body in bodies]
    needed, parts = set(toposort(made)), {}
    items = list(symbols.items())
    for k in range(len(items) - 1, -1, -1):
        own, part = items[k]
        if own in needed:
            parts[own] = quantities.over(part, dict(items[:k]))
            needed |= set(toposort([parts[own]]))
    return Named(made, dict(reversed(parts.items())))


def _readings(context: Context, parts: Iterable[Node], index: str) -> dict[Node, Reading]:
    """Return the readings of quantities at a step: with their system, or in the system that is being written."""
    owners = context.systems.owners
    found = {}
    for own in parts:
        base = forms.name(own.name)
        if own.name in owners:
            base = Form(recurrences.state(own.name, owners[own.name]), forms.ATOM, 1, 0, (own.name,))
        found[own] = Reading(forms.part(base, [forms.name(forms.StepIndex(index))]))
    return found


def read_step(context: Context, body: Node, step: Step, steps: Size, names: Sequence[str] = ()) -> Form:
    """Return a value of a step, over the names of quantities; `names` are bound in it.

    Raises: KeyError if the base of a slice has no reading here.
    """
    systems, index = context.systems, context.systems.index(steps)
    symbols = [one for one in toposort(body) if one.kind == "symbol" and one.name.startswith(UNKNOWN)]
    known = {own: context.readings[own] for own in symbols if own in context.readings}
    known |= {own: Reading(slice_form(context, s, index, steps)) for own, s in step.sequences.items()}
    named = with_shared_parts(_named(context, [body], step, steps), [*known], systems.shared)
    for own, part in named.parts.items():
        systems.inside.update(toposort(part))
        if own.name not in systems.owners:
            right = systems.read([part], known, (index, own.name))[0].form
            equation = _equation(own.name, syntax.name(index), right)
            systems.owners[own.name] = Ast(SYSTEM, (context.size(steps).ast, equation), index)
        known |= _readings(context, [own], index)
    systems.inside.update(toposort(named.bodies))
    return systems.read(named.bodies, known, (index, *names))[0].form


def with_inner(context: Context, reading: Reading) -> Reading:
    """Return the reading of a right side with the systems of recurrences that it reads inside the step."""
    form, found = reading.form, dict[Ast, None]()
    names = _names_in(form.ast) if context.inner else set[str]()
    while added := [s for s in context.inner.values() if s not in found and defined_in(s) & names]:
        found.update(dict.fromkeys(added))
        names = names.union(*map(_names_in, added))
    if not found:
        return reading
    tokens = form.tokens + sum(TOKENS * len(system.args) for system in found)
    ast = Ast(INNER, (form.ast, *(s for s in context.inner.values() if s in found)))
    return Reading(Form(ast, forms.ATOM, tokens, form.transposes, form.names))


def _names_in(tree: Ast) -> set[str]:
    return {str(node.value) for node in syntax.distinct(tree) if node.head == "name"}


def _equation(name: str, subscript: Ast, right: Form) -> Ast:
    return Ast(EQUATION, (subscript, right.ast), name)


def _moved(index: str, offset: int) -> Form:
    step = forms.name(forms.StepIndex(index))
    if not offset:
        return step
    ast = syntax.add([step.ast, syntax.number(abs(offset))], [1, 1 if offset > 0 else -1])
    return Form(ast, forms.SUM, 3, 0, (index,))


def slice_form(context: Context, operand: Node, index: str, steps: Size) -> Form:
    """Return a sequence at the step: `U[t, :]`, `x[t+1]`, `W[i[t], :]`; `t` for the number of the step."""
    if operand is numbers(steps):
        return forms.name(index)
    looked_up = _looked_up(context, operand, index, steps)
    if looked_up is not None:
        return looked_up
    base, axis, offset = _cut_from(operand)
    place = context.systems.place(base) if not axis else Lagged(base, 0, 1)
    form = _sequence(context, base) if place.lag > 1 else context.readings[base].form
    rest = 0 if base.kind == "recurrence" and not axis else base.rank - axis - 1
    shown = [EVERYTHING] * axis + [_moved(index, offset + place.offset)] + [EVERYTHING] * rest
    return forms.part(form, shown)


def _looked_up(context: Context, operand: Node, index: str, steps: Size) -> Form | None:
    """Return a tensor, or an identity, looked up at indices of the step; None for any other sequence."""
    if operand.kind != "product" or operand.coef != 1:
        return None
    lead, *rest = operand.out
    lookups = {at[0]: arg.args[0] for arg, at in operand.operands if is_lookup(arg) and at[1:] == (lead,)}
    others = [(arg, at) for arg, at in operand.operands if arg.kind != "selector"]
    if not lookups or len(others) > 1 or len(lookups) + len(others) < len(operand.args):
        return None
    axes: Indices
    if not others:
        if rest != list(lookups):
            return None
        axes = (*rest, lead)
        base = forms.played("identity", context.size(operand.index_sizes[rest[0]]))
    else:
        base, axes = context.readings[others[0][0]].form, others[0][1]
        free = [i for i in axes if i not in lookups]
        if len({*axes}) < len(axes) or not lookups.keys() <= {*axes} or rest != free:
            return None
    own = {i: slice_form(context, indices, index, steps) for i, indices in lookups.items()}
    return forms.part(base, [own.get(i, EVERYTHING) for i in axes])


def _cut_from(operand: Node) -> tuple[Node, int, int]:
    """Return the tensor of which a sequence is a range or has its axes in another order, its axis, and the first index.

    A sequence that is anything else is returned itself.
    """
    whole = operand, 0, 0
    if operand.kind != "product" or operand.coef != 1:
        return whole
    bases = [(arg, at) for arg, at in operand.operands if arg.kind != "selector"]
    rules = [(arg, at) for arg, at in operand.operands if arg.kind == "selector"]
    is_diagonal = operand.out[0] in operand.out[1:]
    if is_diagonal or len(bases) != 1 or len(rules) > 1 or len(set(bases[0][1])) < bases[0][0].rank:
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
    """Return the name of a trajectory, with its system; the part of a sequence with lags that the step computes."""
    form, place = _sequence(context, node), context.systems.place(node)
    if place.lag == 1:
        return Reading(form)
    others = syntax.number(place.lag - 1)
    shown = syntax.slice_of(stop=syntax.negative(others)) if node.backward else syntax.slice_of(others)
    return Reading(forms.part(form, [Form(shown, forms.ATOM, 2, 0, (), 0)]))


def _sequence(context: Context, node: Node) -> Form:
    """Return the name of a trajectory, or of the sequence with lags of which it is a part, with its system."""
    name, system = context.systems.name(node), system_of(context, node)
    if is_inner(node):
        return forms.name(name)
    return Form(recurrences.state(name, system), forms.ATOM, 1, 0, (name,))


def whole_sequence(context: Context, node: Node) -> Reading | None:
    """Return the name of a sequence with lags; None for any other node."""
    head = context.systems.wholes.get(node)
    return None if head is None else Reading(_sequence(context, head))


def position_reading(context: Context, node: Node, offset: Size) -> Reading:
    """Return a trajectory at one position, which is counted from the end if that is shorter."""
    place = context.systems.place(node)
    offset, length = offset + place.offset, node.shape[0] + place.lag - 1
    behind = offset - length
    shown = [context.size(offset), *([context.size(behind)] if behind.is_integer else [])]
    at = min(shown, key=lambda form: form.tokens + (form.ast.head == "number" and form.ast.value < 0))  # type: ignore[operator]
    return Reading(forms.part(_sequence(context, node), [at]))
