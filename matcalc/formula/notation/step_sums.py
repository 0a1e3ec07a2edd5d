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
from matcalc.formula.notation.node_reading import Reading, scaled, summed
from matcalc.formula.notation.steps import position_reading, read_step, system_of
from matcalc.formula.notation.systems import is_of_step
from matcalc.language import recurrences, syntax
from matcalc.language.recurrences import EQUATION, STATE, SYSTEM
from matcalc.language.syntax import Ast
from matcalc.language.write import text
from matcalc.tensor.constructors import add, product, symbol
from matcalc.tensor.nodes.node import Node, toposort
from matcalc.tensor.sizes.size import Size
from matcalc.tensor.steps.one_step import Step, at_all_steps, parted, summed_step
from matcalc.tensor.steps.recurrence import over_all_steps
from matcalc.tensor.sums import split_coef

AWKWARD = 24
"""Tokens that an awkward formula counts more: a step does without parts of formulas and without index forms."""


def at_positions(context: Context, node: Node) -> Reading | None:
    """Return the reading of a product whose trajectories are read at one position; None if none is."""
    systems = context.systems
    places = _single_places(node)
    if not places:
        return None
    of_step = [one for one in toposort(node.args) if one in context.readings and is_of_step(one)]
    known = {arg: context.readings[arg] for arg in (*node.args, *of_step)}
    operands = []
    for arg, at in node.operands:
        offset = places.get(at[0]) if at else None
        if offset is None or arg.kind == "selector":
            operands += [] if offset is not None else [(arg, at)]
            continue
        own = symbol(f"#p{len(known)}", arg.shape[1:])
        known[own] = position_reading(context, arg, offset)
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


def step_sum_reading(context: Context, node: Node) -> Reading | None:
    """Return a product that is summed over the steps of a recurrence as a sum over its steps; None if there is none."""
    for steps in _lengths(context, node):
        step = Step()
        body = summed_step(node, steps, step)
        if body is not None and over_all_steps(body, step.sequences, steps) is node:
            return _sum_form(context, node, body, step, steps)
    return None


def together(context: Context, node: Node) -> Reading | None:
    """Return a sum whose terms that are sums over steps are one: `sum{t: f[t] + g[t]}`; None with fewer than two."""
    for steps in _lengths(context, node):
        step = Step()
        own, others = parted([(Fraction(coef), term) for coef, term in node.terms], steps, step)
        if len(own) < 2:
            continue
        total = add(own)
        if add([(1, over_all_steps(total, step.sequences, steps)), *others]) is not node:
            continue
        found = _sum_form(context, node, total, step, steps)
        if found is not None:
            terms = [(Fraction(1), found), *((coef, context.readings[term]) for coef, term in others)]
            return summed(terms, [total.digest, *(term.digest for _, term in others)])
    return None


def _lengths(context: Context, node: Node) -> dict[Size, Node]:
    """Return the numbers of steps of the recurrences in a node, each with a trajectory."""
    return {one.steps: one for one in sorted(context.systems.trajectories(node), key=lambda n: n.digest)}


def _sum_form(context: Context, whole: Node, body: Node, step: Step, steps: Size) -> Reading | None:
    """Return a sum over the steps of a value of the step, in the formula of `whole`."""
    content, core = split_coef(body)
    try:
        inner = read_step(context, core, step, steps)
    except KeyError:  # the base of a slice has no reading here
        return None
    ast = recurrences.step_sum(system_of(context, _lengths(context, whole)[steps]), inner.ast)
    form = Form(ast, forms.ATOM, inner.tokens + 5, inner.transposes, inner.names, inner.degree, inner.used)
    return Reading(scaled(form, content), scaled(form, -content), content > 0)


def by_steps(context: Context, node: Node, whole: Reading) -> Reading:
    """Return the reading of a product or sum as sums over steps, if that is preferred to the formula of matrices."""
    if node in context.systems.inside:
        return whole
    found = together(context, node) if node.kind == "sum" else step_sum_reading(context, node)
    is_shorter = found is not None and found.form.tokens < whole.form.tokens + extra_tokens(whole.form)
    return found if found is not None and is_shorter else whole


def extra_tokens(form: Form) -> int:
    """Return the tokens that a formula counts more for index forms, and for parts of what is no name."""
    return AWKWARD if any(map(_is_awkward, syntax.distinct(form.ast))) else 0


def _is_awkward(ast: Ast) -> bool:
    base = ast.args[0] if ast.head == "part" else None
    return ast.head == "index_form" or (base is not None and base.head not in ("name", "shared", STATE))


def each_step_form(context: Context, node: Node, form: Form, reads_back: Callable[[str, Node], bool]) -> Form:
    """Return a tensor of steps as a quantity, `g where g[t] = B'*l[t+1]`, if it is shorter than an index form."""
    if not extra_tokens(form):
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
        inner = read_step(context, body, step, steps, (name,))
    except KeyError:  # the base of a slice has no reading here
        return None
    equation = Ast(EQUATION, (syntax.name(index), inner.ast), name)
    system = Ast(SYSTEM, (context.size(steps).ast, equation), index)
    return Form(recurrences.state(name, system), forms.ATOM, inner.tokens + 8, 0, (name,))
