"""Derivatives of recurrences, which are recurrences again: tangents run with the states, adjoints against them.

The adjoint of `x[t+1] = f(x[t])` is `l[t] = f'(x[t])' * l[t+1]` plus the cotangent that arrives at `x[t]`. All
trajectories of one recurrence have one adjoint; that of a symmetric state is symmetric. The cotangent of a part that
each step reads is a sum over the steps, an ordinary product over the leading axis, so derivatives of any order need
nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction

from matcalc.calculus.simplify.simplify import simplify
from matcalc.tensor.constructors import add, product, symbol, zeros
from matcalc.tensor.leading_axis import leading, trailing
from matcalc.tensor.nodes.node import Node, Shape
from matcalc.tensor.one_step import entry
from matcalc.tensor.recurrence import (
    Steps,
    after_steps,
    arguments_of,
    at_all_steps,
    before_steps,
    key_of,
    level_of,
    over_all_steps,
    recurrences,
    sibling,
    system_of,
)
from matcalc.tensor.sizes.size import Size

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

    Shapes: a cotangent has `batch` in front.
    """
    node = next(iter(bars))
    system, count = system_of(node), len(batch)
    known = {**system.sequences, **_trajectories(node)}
    starts, operands, closed = arguments_of(node)
    chosen = [*node.states, *node.slices, *(arg for arg in closed if arg in active)]
    symmetric = [not batch and "symmetric" in s.facts for s in node.states]
    adjoints = [
        symbol(f"#l{level_of(node)}.{k}", (*batch, *s.shape), ("symmetric",) if is_symmetric else ())
        for k, (s, is_symmetric) in enumerate(zip(node.states, symmetric, strict=True))
    ]
    pulled = [pull(body, adjoint, chosen, batch) for body, adjoint in zip(node.bodies, adjoints, strict=True)]
    totals = {one: add([(1, own[k]) for own in pulled]) for k, one in enumerate(chosen)}
    totals |= {s: _symmetric_part(totals[s]) for s, is_one in zip(node.states, symmetric, strict=True) if is_one}
    parts = {one: simplify(total) for one, total in totals.items()}
    ends, bodies = [], []
    for k, (state, adjoint) in enumerate(zip(node.states, adjoints, strict=True)):
        bar = bars.get(sibling(node, k))
        end = _at_end(bar, count, node) if bar is not None else zeros(adjoint.shape)
        ends.append(simplify(_symmetric_part(end)) if symmetric[k] else end)
        arriving = zeros((node.steps, *adjoint.shape))
        if bar is not None:
            arriving = simplify(before_steps(leading(bar, count), node.backward))
        if arriving.is_zero:
            bodies.append(parts[state])
            continue
        own = symbol(f"#g{level_of(node)}.{k}", adjoint.shape)
        known[own] = arriving
        bodies.append(add([(1, _symmetric_part(own) if symmetric[k] else own), (1, parts[state])]))
    made = recurrences(Steps(adjoints, ends, bodies, known, node.steps, not node.backward))
    first = node.steps if node.backward else ZERO
    found = [(start, entry(one, first)) for start, one in zip(starts, made, strict=True)]
    known.update((a, after_steps(one, node.backward)) for a, one in zip(adjoints, made, strict=True))
    for own, operand in zip(node.slices, operands, strict=True):
        found.append((operand, trailing(at_all_steps(parts[own], known, node.steps), count)))
    found += [(arg, over_all_steps(parts[arg], known, node.steps)) for arg in chosen[len(found) :]]
    return [(arg, bar) for arg, bar in found if arg in active]


def _symmetric_part(node: Node) -> Node:
    """Return the symmetric part of matrices along the last two axes: of a cotangent of symmetric matrices."""
    axes = tuple(range(node.rank))
    turned = product(1, [(node, axes)], (*axes[:-2], axes[-1], axes[-2]), {})
    return add([(HALF, node), (HALF, turned)])


def _at_end(bar: Node, count: int, node: Node) -> Node:
    return entry(leading(bar, count), ZERO if node.backward else node.steps)


def _trajectories(node: Node) -> dict[Node, Node]:
    """Return the values that the steps read, by the symbols of the states."""
    return {s: before_steps(sibling(node, k), node.backward) for k, s in enumerate(node.states)}


def push_recurrence(node: Node, moved: Mapping[Node, Node], batch: Shape, push: Push) -> list[Node]:
    """Return the tangents of all trajectories of a recurrence from those of its arguments.

    Shapes: a tangent has `batch` in front.
    """
    system, count = system_of(node), len(batch)
    known = {**system.sequences, **_trajectories(node)}
    starts, operands, closed = arguments_of(node)
    tangents = [symbol(f"#d{level_of(node)}.{k}", (*batch, *s.shape)) for k, s in enumerate(node.states)]
    inner = dict(zip(node.states, tangents, strict=True))
    inner.update((arg, moved[arg]) for arg in closed if arg in moved)
    for k, (own, operand) in enumerate(zip(node.slices, operands, strict=True)):
        if operand in moved:
            inner[own] = symbol(f"#e{level_of(node)}.{k}", (*batch, *own.shape))
            known[inner[own]] = leading(moved[operand], count)
    bodies = [simplify(push(body, inner, batch)) for body in node.bodies]
    first = [moved.get(start, zeros((*batch, *start.shape))) for start in starts]
    made = recurrences(Steps(tangents, first, bodies, known, node.steps, node.backward))
    return [trailing(one, count) for one in made]


def all_trajectories(node: Node) -> Sequence[Node]:
    """Return the trajectories of a recurrence in their order."""
    return [sibling(node, k) for k in range(len(node.states))]
