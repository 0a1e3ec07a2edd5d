"""Writes trajectories at one position, `c'*x[T]`, and sums over the steps of a recurrence, `sum{t: L[t+1]*A*X[t]}`.

A trajectory at a position is a factor of its own. A sum over steps is written as what one step adds, if that is shorter
than the product over the leading axis and reads back as it.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from matcalc.formula.forms import form as forms
from matcalc.formula.forms.form import Form
from matcalc.formula.notation.context import Context
from matcalc.formula.notation.node_reading import Reading, scaled
from matcalc.formula.notation.steps import slice_form, system_of
from matcalc.formula.notation.systems import Systems
from matcalc.language import recurrences, syntax
from matcalc.language.recurrences import EQUATION, SYSTEM
from matcalc.language.syntax import Ast
from matcalc.language.write import text
from matcalc.tensor.constructors import product, symbol
from matcalc.tensor.nodes.node import Node
from matcalc.tensor.one_step import Step
from matcalc.tensor.recurrence import at_all_steps, over_all_steps
from matcalc.tensor.sizes.size import Size


def at_positions(context: Context, node: Node) -> Reading | None:
    """Return the reading of a product whose trajectories are read at one position; None if none is."""
    systems = context.systems
    places = _single_places(node)
    if not places:
        return None
    known = {arg: context.readings[arg] for arg in node.args}
    operands = []
    for arg, at in node.operands:
        offset = places.get(at[0]) if at else None
        if offset is None or arg.kind == "selector":
            operands += [] if offset is not None else [(arg, at)]
            continue
        own = symbol(f"#p{len(known)}", arg.shape[1:])
        known[own] = Reading(forms.part(context.readings[arg].form, [_position(context, offset, arg.shape[0])]))
        operands.append((own, at[1:]))
    return systems.read([product(node.coef, operands, node.out, node.sizes)], known, ())[0]


def _single_places(node: Node) -> dict[int, Size]:
    """Return the indices of leading axes that are read at one position only, each with the position."""
    found: dict[int, Size] = {}
    for rule, (long, short, *_) in ((arg, at) for arg, at in node.operands if arg.selects("slice")):
        others = [(arg, at) for arg, at in node.operands if long in at and arg is not rule]
        alone = all(arg.kind == "recurrence" and at[0] == long and at.count(long) == 1 for arg, at in others)
        is_single = rule.selector.shape[1] == 1 and sum(at.count(short) for at in node.indices) == 1
        if others and alone and is_single and not {long, short} & set(node.out):
            found[long] = rule.selector.offset
    return found


def _position(context: Context, offset: Size, length: Size) -> Form:
    """Return a position, counted from the end if that is shorter."""
    behind = offset - length
    shown = [context.size(offset), *([context.size(behind)] if behind.is_integer else [])]
    return min(shown, key=lambda form: form.tokens + (form.ast.head == "number" and form.ast.value < 0))  # type: ignore[operator]


def step_sum_reading(context: Context, node: Node) -> Reading | None:
    """Return a product that is summed over the steps of a recurrence as a sum over its steps; None if there is none."""
    systems = context.systems
    found = _summed_steps(systems, node)
    if found is None:
        return None
    index, trajectory = found
    step = Step()
    whole = product(1, node.operands, (index, *node.out), node.sizes)
    body = step.of(whole, 0)
    steps = trajectory.steps
    if product(node.coef, [(over_all_steps(body, step.sequences, steps), node.out)], node.out, {}) is not node:
        return None
    try:
        name = systems.index(steps)
        known = {own: Reading(slice_form(context, s, name, steps)) for own, s in step.sequences.items()}
    except KeyError:  # the base of a slice has no reading here
        return None
    inner = systems.read([body], known, (name,))[0].form
    ast = recurrences.step_sum(system_of(context, trajectory), inner.ast)
    form = Form(ast, forms.ATOM, inner.tokens + 5, inner.transposes, inner.names, inner.degree)
    return Reading(scaled(form, Fraction(node.coef)))


def each_step_form(context: Context, node: Node, form: Form, reads_back: Callable[[str, Node], bool]) -> Form:
    """Return a tensor of steps as a quantity, `g where g[t] = B'*l[t+1]`, if it is shorter than an index form."""
    if all(ast.head != "index_form" for ast in syntax.whole(form.ast)):
        return form
    each = _quantity(context, node)
    shown = text(each.ast) if each is not None else ""
    return each if each is not None and len(shown) < len(text(form.ast)) and reads_back(shown, node) else form


def _quantity(context: Context, node: Node) -> Form | None:
    """Return a tensor with a leading axis of steps as a quantity of the step, or None."""
    systems = context.systems
    lengths = {one.steps: one for one in sorted(systems.trajectories(node), key=lambda n: n.digest)}
    if not node.rank or node.shape[0] not in lengths:
        return None
    steps, step = node.shape[0], Step()
    body = step.of(node, 0)
    if body in step.sequences or at_all_steps(body, step.sequences, steps) is not node:
        return None
    index = systems.index(steps)
    name = systems.quantity(node.rank)
    try:
        known = {own: Reading(slice_form(context, s, index, steps)) for own, s in step.sequences.items()}
    except KeyError:  # the base of a slice has no reading here
        return None
    inner = systems.read([body], known, (index, name))[0].form
    equation = Ast(EQUATION, (syntax.name(index), inner.ast), name)
    system = Ast(SYSTEM, (context.size(steps).ast, equation), index)
    return Form(recurrences.state(name, system), forms.ATOM, inner.tokens + 8, 0, (name,))


def _summed_steps(systems: Systems, node: Node) -> tuple[int, Node] | None:
    """Return a summed index that runs over the steps of a recurrence in the product, with one of its trajectories."""
    longs = {at[0] for arg, at in node.operands if arg.selects("slice")}
    by_steps = {one.steps: one for one in sorted(systems.trajectories(node), key=lambda n: n.digest)}
    for index, size in enumerate(node.index_sizes) if by_steps else ():
        if size in by_steps and index not in node.out and index not in longs:
            return index, by_steps[size]
    return None
