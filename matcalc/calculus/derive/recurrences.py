"""Derivatives of recurrences, which are recurrences again: tangents run with the states, adjoints against them.

The adjoint of `x[t+1] = f(x[t])` is `l[t] = f'(x[t])' * l[t+1]` plus the cotangent that arrives at `x[t]`. All
trajectories of one recurrence have one adjoint; that of a symmetric state is symmetric. The cotangent of a part that
each step reads is a sum over the steps, an ordinary product over the leading axis, so derivatives of any order need
nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from typing import NamedTuple

from matcalc.calculus.simplify.simplify import simplify
from matcalc.calculus.templates import slope_by_value
from matcalc.tensor.constructors import add, product, symbol, zeros
from matcalc.tensor.leading_axis import between_zeros, leading, trailing
from matcalc.tensor.nodes.node import Node, Shape, toposort
from matcalc.tensor.sizes.size import Size
from matcalc.tensor.steps.one_step import Terms, at_all_steps, entry, entry_facts
from matcalc.tensor.steps.recurrence import (
    Steps,
    after_steps,
    arguments_of,
    before_steps,
    key_of,
    level_of,
    over_all_steps,
    recurrences,
    sequences_in,
    sibling,
)
from matcalc.tensor.substitute import Batched, instantiate, spread, substitute
from matcalc.tensor.sums import summands

Pull = Callable[..., list[Node]]
Push = Callable[..., Node]
ZERO, HALF = Size.of(0), Fraction(1, 2)


def groups_of(order: Iterable[Node]) -> dict[Node, list[Node]]:
    """Return the trajectories of each recurrence among nodes, by the first of them."""
    first: dict[tuple[object, ...], Node] = {}
    found: dict[Node, list[Node]] = {}
    for node in order:
        if node.kind == "recurrence":
            found.setdefault(first.setdefault(key_of(node), node), []).append(node)
    return found


def pull_recurrence(bars: Mapping[Node, Node], active: set[Node], batch: Shape, pull: Pull) -> list[tuple[Node, Node]]:
    """Return the cotangents of arguments of a recurrence from those of its trajectories.

    A cotangent of the values that the steps compute, as of `x[1:]`, meets the adjoint in the step; any other is added
    to the adjoint.

    Shapes: a cotangent has `batch` in front.
    """
    node = next(iter(bars))
    count = len(batch)
    known = sequences_in(node)
    starts, operands, closed = arguments_of(node)
    slices = {own: operand for own, operand in zip(node.slices, operands, strict=True) if operand in active}
    parts = [arg for arg in closed if arg in active]
    chosen = [*node.states, *slices, *parts]
    symmetric = [not batch and "symmetric" in s.facts for s in node.states]
    adjoints = [
        symbol(f"#l{level_of(node)}.{k}", (*batch, *s.shape), ("symmetric",) if is_symmetric else ())
        for k, (s, is_symmetric) in enumerate(zip(node.states, symmetric, strict=True))
    ]
    met: list[Node] = []
    ends: list[Node] = []
    arrivals: list[tuple[int, Node]] = []
    for k, adjoint in enumerate(adjoints):
        whole = bars.get(sibling(node, k), zeros((*batch, node.steps + 1, *node.states[k].shape)))
        bar, late = _apart(leading(whole, count), node)
        arrived = [(1, adjoint)]
        for name, arriving, kept in (("h", late, arrived), ("g", simplify(before_steps(bar, node.backward)), arrivals)):
            own = symbol(f"#{name}{level_of(node)}.{k}", adjoint.shape)
            if not arriving.is_zero:
                known[own] = arriving
            shown = zeros(own.shape) if arriving.is_zero else _symmetric_part(own) if symmetric[k] else own
            kept.append((1, shown))
        met.append(add(arrived))
        end = entry(bar, ZERO if node.backward else node.steps)
        ends.append(simplify(_symmetric_part(end) if symmetric[k] else end))
    pulled, values = _pulled(node, met, chosen, batch, pull)
    known |= values
    totals = {one: add([(1, own[k]) for own in pulled]) for k, one in enumerate(chosen)}
    totals |= {s: _symmetric_part(totals[s]) for s, is_one in zip(node.states, symmetric, strict=True) if is_one}
    parts_of = {one: simplify(total) for one, total in totals.items()}
    bodies = [add([arrival, (1, parts_of[state])]) for state, arrival in zip(node.states, arrivals, strict=True)]
    lagged = _with_lags(node, Steps(adjoints, ends, bodies, known, node.steps, not node.backward))
    states = dict(zip(lagged.system.states, recurrences(lagged.system), strict=True))
    for adjoint, value in lagged.values.items():
        states[adjoint] = at_all_steps(value, states, node.steps + 1)
    made = [states[adjoint] for adjoint in adjoints]
    first = node.steps if node.backward else ZERO
    found = [(start, entry(one, first)) for start, one in zip(starts, made, strict=True)]
    known.update((a, after_steps(one, node.backward)) for a, one in zip(adjoints, made, strict=True))
    for own, operand in slices.items():
        found.append((operand, trailing(at_all_steps(parts_of[own], known, node.steps), count)))
    found += [(arg, over_all_steps(parts_of[arg], known, node.steps)) for arg in parts]
    return [(arg, bar) for arg, bar in found if arg in active]


class Lagged(NamedTuple):
    """A system of adjoints of which some are values of others."""

    system: Steps
    values: dict[Node, Node]


def _with_lags(node: Node, system: Steps) -> Lagged:
    """Return adjoints with lags, `l[t] = a*l[t+1] + b*l[t+2]`: of a state that holds an earlier one it is `b*l[t+1]`.

    The adjoint of such a state is a value of states that hold adjoints, if its step is the same for all numbers of
    steps, and its end is zero.
    """
    states, starts, bodies = list(system.states), list(system.starts), list(system.bodies)
    values: dict[Node, Node] = {}
    for own, body in zip(system.states, node.bodies, strict=True):
        k = states.index(own)
        read = [one for one in states if one in set(toposort(bodies[k]))]
        is_fixed = bool(read) and own not in read and set(system.sequences).isdisjoint(toposort(bodies[k]))
        if body not in node.states or not starts[k].is_zero or not is_fixed or bodies[k] in read:
            continue
        held: dict[Node, Node] = {}
        for one in read:
            at = next((j for j, other in enumerate(bodies) if other is one and starts[j].is_zero and j != k), None)
            if at is None:
                at = len(states)
                states.append(symbol(f"{one.name}-", one.shape, sorted(one.facts)))
                starts.append(zeros(one.shape))
                bodies.append(one)
            held[one] = states[at]
        value = substitute(bodies[k], held)
        del states[k], starts[k], bodies[k]
        bodies = [substitute(other, {own: value}) for other in bodies]
        values = {adjoint: substitute(other, {own: value}) for adjoint, other in values.items()} | {own: value}
    return Lagged(system._replace(states=states, starts=starts, bodies=bodies), values)


def _apart(bar: Node, node: Node) -> tuple[Node, Node]:
    """Return a cotangent of a trajectory in two parts: any, and that of the values which the steps compute.

    Shapes: the parts have leading axes of steps + 1 and of steps.
    """
    first = ZERO if node.backward else Size.of(1)
    kept: Terms = []
    late: Terms = []
    for coef, term in summands(bar):
        found = between_zeros(term)
        is_late = found is not None and found.first == first and found.tensor.shape[0] == node.steps
        (late if is_late else kept).append((coef, found.tensor if found is not None and is_late else term))
    rest = bar.shape[1:]
    return add([(0, zeros(bar.shape)), *kept]), simplify(add([(0, zeros((node.steps, *rest))), *late]))


def _pulled(
    node: Node, met: Sequence[Node], chosen: Sequence[Node], batch: Shape, pull: Pull
) -> tuple[list[list[Node]], dict[Node, Node]]:
    """Return the cotangents of `chosen` from each body, and the sequences of the symbols of later states in them."""
    after = _after_states(node)
    pulled = []
    for body, own, cotangent in zip(node.bodies, after, met, strict=True):
        slope = _slope(body, own, node)
        inner = body if slope is None else body.args[0]
        pulled.append(pull(inner, cotangent if slope is None else _times(cotangent, slope), chosen, batch))
    return _with_later_states(node, after, pulled)


def _after_states(node: Node) -> dict[Node, Node]:
    """Return symbols for the states that the steps compute, with their values at all steps."""
    later = [after_steps(one, node.backward) for one in all_trajectories(node)]
    return {symbol(f"#n{level_of(node)}.{k}", s.shape[1:], entry_facts(s)): s for k, s in enumerate(later)}


def _slope(body: Node, own: Node, node: Node) -> Node | None:
    """Return the derivative of a step, an elementwise function, as a formula in its value: `1 - x[t+1].^2` of tanh."""
    found = slope_by_value(body) if body.kind == "map" and body.args[0] not in (*node.states, *node.slices) else None
    if found is None:
        return None
    at = tuple(range(own.rank))
    return spread(instantiate(found.node, {found.values[0]: Batched(own, at)}, {}, own.shape), at, own.shape)


def _times(incoming: Node, slope: Node) -> Node:
    """Return a tangent or cotangent, with batch axes in front, times a derivative entry by entry."""
    axes = tuple(range(incoming.rank))
    return product(1, [(incoming, axes), (slope, axes[incoming.rank - slope.rank :])], axes)


def _with_later_states(
    node: Node, after: Mapping[Node, Node], found: Sequence[Sequence[Node]]
) -> tuple[list[list[Node]], dict[Node, Node]]:
    """Return derivatives of a step in which a state is read after the step, not computed again."""
    steps = zip(node.bodies, after, strict=True)
    again = {body: own for body, own in steps if {"map", "op"} & {one.kind for one in toposort(body)}}
    shown = [[substitute(part, again) for part in parts] for parts in found]
    used = set(toposort([part for parts in shown for part in parts]))
    return shown, {own: later for own, later in after.items() if own in used}


def _symmetric_part(node: Node) -> Node:
    """Return the symmetric part of matrices along the last two axes: of a cotangent of symmetric matrices."""
    axes = tuple(range(node.rank))
    turned = product(1, [(node, axes)], (*axes[:-2], axes[-1], axes[-2]), {})
    return add([(HALF, node), (HALF, turned)])


def push_recurrence(node: Node, moved: Mapping[Node, Node], batch: Shape, push: Push) -> list[Node]:
    """Return the tangents of all trajectories of a recurrence from those of its arguments.

    Shapes: a tangent has `batch` in front.
    """
    count = len(batch)
    known = sequences_in(node)
    starts, operands, closed = arguments_of(node)
    tangents = [symbol(f"#d{level_of(node)}.{k}", (*batch, *s.shape)) for k, s in enumerate(node.states)]
    inner = dict(zip(node.states, tangents, strict=True))
    inner.update((arg, moved[arg]) for arg in closed if arg in moved)
    for k, (own, operand) in enumerate(zip(node.slices, operands, strict=True)):
        if operand in moved:
            inner[own] = symbol(f"#e{level_of(node)}.{k}", (*batch, *own.shape))
            known[inner[own]] = leading(moved[operand], count)
    after = _after_states(node)
    pushed = []
    for body, own in zip(node.bodies, after, strict=True):
        slope = _slope(body, own, node)
        pushed.append(push(body, inner, batch) if slope is None else _times(push(body.args[0], inner, batch), slope))
    (found,), values = _with_later_states(node, after, [pushed])
    known |= values
    bodies = [simplify(one) for one in found]
    first = [moved.get(start, zeros((*batch, *start.shape))) for start in starts]
    made = recurrences(Steps(tangents, first, bodies, known, node.steps, node.backward))
    return [trailing(one, count) for one in made]


def all_trajectories(node: Node) -> Sequence[Node]:
    """Return the trajectories of a recurrence in their order."""
    return [sibling(node, k) for k in range(len(node.states))]
