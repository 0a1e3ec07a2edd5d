"""Defines recurrences in normal form: states that a step computes from their last values, for a number of steps.

A recurrence node is one strongly connected component: its states need each other. A state that others need is a
sequence for them, and a state whose step does not need itself is no recurrence, but the step at all numbers at once.
So the normal form does not depend on which equations were written together. A node is one trajectory, with a leading
axis of `steps + 1`; a forward one begins with its start, a backward one ends with it.

The bodies are over bound symbols: the states, and the slices of sequences at the number of the step. They are closed
parameters. Arguments are the starts, the sequences, and the parts of the bodies that are the same at each step. Bound
symbols are numbered, and states are put in an order of their own, so recurrences equal up to renaming are one node.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import permutations
from typing import NamedTuple

from matcalc.language.kinds import INDEX
from matcalc.tensor.constructors import add, product, symbol
from matcalc.tensor.leading_axis import cut, leading, placed, trailing
from matcalc.tensor.nodes.node import Indices, Node, Shape, toposort
from matcalc.tensor.raw_nodes import recurrence_node
from matcalc.tensor.sizes.size import Size
from matcalc.tensor.steps.one_step import Step, at_all_steps, entry_facts
from matcalc.tensor.steps.step_lookups import lookups_as_sequences
from matcalc.tensor.substitute import INSTANTIATE, Batched, Made, Sizes, instantiate_all, spread, union
from matcalc.tensor.sums import split_coef, summands

BOUND = "#"
"""The prefix of the names of bound symbols, `#1.2`: the level of nesting from the inside, then a number."""
MOST_ORDERS = 24
ZERO, ONE = Size.of(0), Size.of(1)
PASSING = frozenset(["constant", "index"])
"""Facts of a start that say nothing about a state."""


class Steps(NamedTuple):
    """A system of recurrences: symbols of states, their starts and steps, sequences by the symbols of their slices."""

    states: Sequence[Node]
    starts: Sequence[Node]
    bodies: Sequence[Node]
    sequences: Mapping[Node, Node]
    length: Size
    backward: bool = False


def recurrences(system: Steps) -> list[Node]:
    """Return the trajectory of each state.

    Shapes: a start and a body have the shape of their state, a sequence `(length, *shape)` of its symbol; a trajectory
    has `(length + 1, *shape)`.
    """
    if system.length is ZERO:
        return [one_row(start) for start in system.starts]
    needed = {state: _used(body, system.states) for state, body in zip(system.states, system.bodies, strict=True)}
    found: dict[Node, Node] = {}
    sequences = dict(system.sequences)
    for group in _components(system.states, needed):
        at = [system.states.index(state) for state in group]
        starts, bodies = [system.starts[k] for k in at], [system.bodies[k] for k in at]
        part = Steps(group, starts, bodies, sequences, system.length, system.backward)
        is_cycle = len(group) > 1 or group[0] in needed[group[0]]
        made = _cycle(part) if is_cycle else [_joined(part)]
        found.update(zip(group, made, strict=True))
        sequences.update((state, before_steps(found[state], system.backward)) for state in group)
    return [found[state] for state in system.states]


def _used(body: Node, symbols: Collection[Node]) -> set[Node]:
    return set(symbols).intersection(toposort(body))


def _components(states: Sequence[Node], needed: Mapping[Node, set[Node]]) -> Iterator[list[Node]]:
    """Yield groups of states that need each other, each after the groups that it needs."""
    reached = {state: {state} | needed[state] for state in states}
    for middle in states:
        for state in states:
            if middle in reached[state]:
                reached[state] |= reached[middle]
    done: set[Node] = set()
    while len(done) < len(states):
        state = next(s for s in states if s not in done and all(o in done or s in reached[o] for o in reached[s]))
        group = [other for other in states if other in reached[state] and state in reached[other]]
        done.update(group)
        yield group


def before_steps(trajectory: Node, backward: bool) -> Node:
    """Return the values that the steps read: all but the last computed one, by the number of the step."""
    return cut(trajectory, ONE if backward else ZERO, trajectory.shape[0] - 1)


def after_steps(trajectory: Node, backward: bool) -> Node:
    """Return the values that the steps compute, by the number of the step."""
    return before_steps(trajectory, not backward)


def _joined(part: Steps) -> Node:
    """Return the trajectory of a state that does not need itself: its start beside the steps, computed at once."""
    steps = at_all_steps(part.bodies[0], part.sequences, part.length)
    lengths = part.length + 1
    start = one_row(part.starts[0])
    first, last = (ZERO, part.length) if part.backward else (ONE, ZERO)
    return add([(1, placed(steps, first, lengths)), (1, placed(start, last, lengths))])


def over_all_steps(body: Node, sequences: Mapping[Node, Node], length: Size) -> Node:
    """Return the sum of a step over all numbers, term by term."""
    if split_coef(body)[1].kind == "sum":
        return add([(coef, over_all_steps(term, sequences, length)) for coef, term in summands(body)])
    steps = at_all_steps(body, sequences, length)
    rest = tuple(range(1, steps.rank))
    return product(1, [(steps, (0, *rest))], rest, {})


def one_row(start: Node) -> Node:
    """Return a start with a leading axis of length 1."""
    return product(1, [(start, tuple(range(1, start.rank + 1)))], tuple(range(start.rank + 1)), {0: ONE})


# One strongly connected component.


def _cycle(part: Steps) -> list[Node]:
    """Return the trajectories of states that need each other, as nodes of one recurrence."""
    part = _without_lookups(_opened(part))
    used = list(part.sequences)
    level = _level(part)
    operands = sorted({part.sequences[s] for s in used}, key=lambda node: node.digest)
    first = len(part.states) + 1
    names = {node: f"{BOUND}{level}.{first + k}" for k, node in enumerate(operands)}
    slices = {node: symbol(names[node], node.shape[1:], entry_facts(node)) for node in operands}
    renamed = {s: Batched(slices[part.sequences[s]]) for s in used}
    bodies = [made.node for made in instantiate_all(part.bodies, renamed, {}, ())]
    part = part._replace(bodies=bodies)
    order = _order(part, [slices[node] for node in operands])
    states, bodies = _with_facts(part, order, level)
    starts = [part.starts[k] for k in order]
    bound = [*states, *slices.values()]
    args = (*starts, *operands, *closed_parts(bodies, bound))
    nodes = [
        recurrence_node(args, part.length, part.backward, states, [slices[n] for n in operands], bodies, position)
        for position in range(len(order))
    ]
    return [nodes[order.index(k)] for k in range(len(order))]


def _opened(part: Steps) -> Steps:
    """Return a system whose sequences are symbols and trajectories: formulas of them are part of the step."""
    inner = set(toposort(part.bodies))
    step = Step()
    step.avoid(part.bodies)
    bound = {s: Batched(step.of(node, 0)) for s, node in part.sequences.items() if s in inner}
    bodies = [made.node for made in instantiate_all(part.bodies, bound, {}, ())]
    inner = set(toposort(bodies))
    return part._replace(bodies=bodies, sequences={s: n for s, n in step.sequences.items() if s in inner})


def _without_lookups(part: Steps) -> Steps:
    """Return a system without lookups at indices of the step."""
    bodies, sequences = lookups_as_sequences(part.bodies, part.states, part.sequences, part.length)
    return part._replace(bodies=bodies, sequences=sequences)


def _level(part: Steps) -> int:
    """Return the level of nesting: above the recurrences inside, and not that of a bound symbol around."""
    varying = varying_parts(part.bodies, [*part.states, *part.sequences])
    inside = max((level_of(node) for node in varying if node.kind == "recurrence"), default=0)
    nodes = toposort([*part.bodies, *part.starts, *part.sequences.values()])
    around = {level_of(n) for n in nodes if n.kind == "symbol" and n not in part.sequences and n not in part.states}
    return next(level for level in range(inside + 1, inside + len(around) + 2) if level not in around)


def level_of(node: Node) -> int:
    """Return the level of a recurrence or of a bound symbol; 0 for other symbols."""
    name = node.states[0].name if node.kind == "recurrence" else node.name
    level, dot, _ = name.removeprefix(BOUND).partition(".")
    return int(level) if dot and level.isdecimal() else 0


def _order(part: Steps, slices: Sequence[Node]) -> Sequence[int]:
    """Return the states in an order that is independent of their names and of the order in which they are given."""
    count = len(part.states)
    if count == 1:
        return (0,)
    alike = {s: Batched(symbol(f"{BOUND}0", s.shape)) for s in part.states}
    blurred = [made.node for made in instantiate_all(part.bodies, alike, {}, ())]
    keys = [(start.digest, body.digest) for start, body in zip(part.starts, blurred, strict=True)]
    plain = sorted(range(count), key=keys.__getitem__)
    if len(set(keys)) == count or count > 4:
        return plain
    orders = [order for order in permutations(range(count)) if [keys[k] for k in order] == sorted(keys)]
    return min(orders[:MOST_ORDERS], key=lambda order: [body.digest for body in _numbered(part, order)])


def _numbered(part: Steps, order: Sequence[int], level: int = 0) -> list[Node]:
    named = {part.states[k]: symbol(f"{BOUND}{level}.{n}", part.states[k].shape) for n, k in enumerate(order, 1)}
    bound = {state: Batched(node) for state, node in named.items()}
    return [made.node for made in instantiate_all([part.bodies[k] for k in order], bound, {}, ())]


def _with_facts(part: Steps, order: Sequence[int], level: int) -> tuple[list[Node], list[Node]]:
    """Return numbered states with all facts that their starts have and the steps keep, and the bodies over them."""
    facts = [part.starts[k].facts - PASSING for k in order]
    while True:
        states = [
            symbol(f"{BOUND}{level}.{n}", part.states[k].shape, sorted(own))
            for n, (k, own) in enumerate(zip(order, facts, strict=True), 1)
        ]
        bound = {part.states[k]: Batched(state) for k, state in zip(order, states, strict=True)}
        bodies = [made.node for made in instantiate_all([part.bodies[k] for k in order], bound, {}, ())]
        kept = [own & body.facts for own, body in zip(facts, bodies, strict=True)]
        if kept == facts:
            return states, bodies
        facts = kept


def closed_parts(bodies: Sequence[Node], bound: Sequence[Node]) -> list[Node]:
    """Return the largest parts of the bodies that hold data and no bound symbol, in the order in which they occur."""
    order = toposort(bodies)
    varying = varying_parts(bodies, bound)
    found = {arg: None for node in order if node in varying for arg in node.args if arg not in varying}
    found.update((body, None) for body in bodies if body not in varying)
    return [node for node in found if not node.structural and node.kind != "constant"]


def varying_parts(bodies: Sequence[Node], bound: Collection[Node]) -> set[Node]:
    """Return the nodes of bodies that depend on bound symbols."""
    order = toposort(bodies)
    varying = set(bound).intersection(order)
    for node in order:
        if any(arg in varying for arg in node.args):
            varying.add(node)
    return varying


def sibling(node: Node, position: int) -> Node:
    """Return another trajectory of a recurrence."""
    steps, backward, states, slices, bodies, _, kept, *again = node.data
    return recurrence_node(node.args, steps, backward, states, slices, bodies, position, kept, *again)


def key_of(node: Node) -> tuple[object, ...]:
    """Return a key that all trajectories of one recurrence share."""
    return node.args, *node.data[:5], *node.data[6:]


def system_of(node: Node) -> Steps:
    """Return the system of a recurrence node, over its bound symbols."""
    starts, operands, _ = arguments_of(node)
    sequences = dict(zip(node.slices, operands, strict=True))
    return Steps(node.states, starts, node.bodies, sequences, node.steps, node.backward)


def sequences_in(node: Node) -> dict[Node, Node]:
    """Return the sequences that the steps of a recurrence read, by their symbols: states and slices."""
    found = {s: before_steps(sibling(node, k), node.backward) for k, s in enumerate(node.states)}
    return {**found, **dict(zip(node.slices, arguments_of(node)[1], strict=True))}


def with_bodies(node: Node, bodies: Sequence[Node]) -> Node:
    """Return a trajectory of the recurrence with equal bodies in other forms."""
    if all(one is other for one, other in zip(bodies, node.bodies, strict=True)):
        return node
    return recurrences(system_of(node)._replace(bodies=bodies))[node.position]


def arguments_of(node: Node) -> tuple[tuple[Node, ...], tuple[Node, ...], tuple[Node, ...]]:
    """Return the starts, the sequences and the closed parts of a recurrence."""
    count = len(node.states)
    middle = count + len(node.slices)
    return node.args[:count], node.args[count:middle], node.args[middle:]


def _recurrence(node: Node, made: Made, sizes: Sizes, batch_sizes: Sequence[Size]) -> Batched:
    """Return a recurrence with other arguments; batch axes are axes of the states."""
    values = [made[arg] for arg in node.args]
    batch = union(values)
    shape = tuple(batch_sizes[b] for b in batch)
    count, middle = len(node.states), len(node.states) + len(node.slices)
    states = [_apart(s, batch, shape, sizes) for s in node.states]
    sequences, bound = {}, dict(zip(node.states, (Batched(s, batch) for s in states), strict=True))
    for own, value in zip(node.slices, values[count:middle], strict=True):
        sliced = _apart(own, value.batch, tuple(batch_sizes[b] for b in value.batch), sizes)
        bound[own] = Batched(sliced, value.batch)
        sequences[sliced] = leading(value.node, len(value.batch))
    bound.update(zip(node.args[middle:], values[middle:], strict=True))
    bodies = [spread(b, batch, batch_sizes) for b in instantiate_all(node.bodies, bound, sizes, batch_sizes)]
    starts = [spread(value, batch, batch_sizes) for value in values[:count]]
    system = Steps(states, starts, bodies, sequences, node.steps.substitute(sizes), node.backward)
    return Batched(trailing(recurrences(system)[node.position], len(batch)), batch)


def _apart(bound: Node, batch: Indices, shape: Shape, sizes: Sizes) -> Node:
    """Return a symbol for a bound one, with batch axes and another name; an index stays one."""
    facts = bound.facts & {INDEX}
    return symbol(f"{bound.name}'", (*shape, *(size.substitute(sizes) for size in bound.shape)), sorted(facts))


INSTANTIATE["recurrence"] = _recurrence
