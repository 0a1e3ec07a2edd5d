"""Joins recurrences of one length and direction, and sums over their steps, to one loop.

Recurrences that read each other at the same step become states of one loop. A sum over the steps becomes a total of the
loop, which shares the parts of its terms with the step. A sum of outer products becomes one matrix product after the
loop, of vectors that the loop stores. A part of a step that a later loop needs as well is stored too. A trajectory is
not kept if only its last state is read. With `checkpoints`, no trajectory is stored for a loop in the other direction,
which computes the states again. The resulting nodes are not in normal form, so only `lower` may follow.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from matcalc.calculus.derive.recurrences import all_trajectories, groups_of
from matcalc.compiler.plan.states_again import LoopAgain, check_memory, states_again, without_whole_sums
from matcalc.tensor.constructors import add, product, symbol, zeros
from matcalc.tensor.last_states import with_last_states
from matcalc.tensor.leading_axis import trailing
from matcalc.tensor.nodes.node import Indices, Node, Operand, toposort
from matcalc.tensor.one_step import Step
from matcalc.tensor.raw_nodes import recurrence_node
from matcalc.tensor.recurrence import after_steps, arguments_of, before_steps, closed_parts
from matcalc.tensor.sizes.size import Size
from matcalc.tensor.substitute import Batched, instantiate_all, remake

ZERO = Size.of(0)
Part = tuple[Node, Indices]
"""A factor of an outer product of one step, and its axes in the product."""


@dataclass(eq=False, slots=True)
class Loop:
    """A loop being formed: its states, each with its start, its step, and the symbol of the trajectory or the total.

    `local` are formulas of the symbols that the step knows: the states, and values after the step. `again` are the
    states of an earlier loop that it computes again. `made` are its operands, bodies and slices.
    """

    steps: Size
    backward: bool
    states: list[Node] = field(default_factory=list)
    starts: list[Node] = field(default_factory=list)
    bodies: list[Node] = field(default_factory=list)
    results: list[Node] = field(default_factory=list)
    kept: list[bool] = field(default_factory=list)
    local: dict[Node, Node] = field(default_factory=dict)
    again: LoopAgain | None = None
    made: tuple[Sequence[Node], Sequence[Node], Sequence[Node]] = ((), (), ())

    def add(self, state: Node, start: Node, body: Node, result: Node) -> None:
        self.states.append(state)
        self.starts.append(start)
        self.bodies.append(body)
        self.results.append(result)
        self.kept.append(result.rank > state.rank)

    def nodes(
        self, args: Sequence[Node], bodies: Sequence[Node], slices: Sequence[Node], again: tuple[Any, ...] = ()
    ) -> list[Node]:
        """Return the recurrence nodes of the results."""
        return [
            recurrence_node(args, self.steps, self.backward, self.states, slices, bodies, k, self.kept, again)
            for k in range(len(self.states))
        ]


def joined(roots: Sequence[Node], checkpoints: int | None = None) -> list[Node]:
    """Return the roots with their recurrences joined; roots without recurrences remain.

    With `checkpoints`, at most that many states are stored; 0 stands for twice the square root of the steps.

    Raises: NotSupported if the formulas need all states at once.
    """
    order = toposort(roots)
    groups = groups_of(order)
    if not groups:
        return list(roots)
    if checkpoints is not None:
        roots = without_whole_sums(roots, groups)
        order = toposort(roots)
        groups = groups_of(order)
    joiner = _Joiner(checkpoints)
    for node in groups:
        joiner.place(node)
    for node in order:
        joiner.sum_over_steps(node)
    for root in dict.fromkeys(roots):
        joiner.at_each_step(root)
    if checkpoints is None:
        joiner.store_common_parts()
    return joiner.built(roots)


class _Joiner:
    """The loops in the order in which they run; `replaced` are nodes over symbols for the results of loops."""

    def __init__(self, checkpoints: int | None) -> None:
        self.checkpoints = checkpoints
        self.loops: list[Loop] = []
        self.step = Step()
        self.made_by: dict[Node, int] = {}
        self.needs: dict[Node, int] = {}
        self.replaced: dict[Node, Node] = {}

    def last_needed(self, node: Node) -> int:
        """Return the number of the last loop that must run before a node is computed, or -1."""
        for one in toposort(node, self.needs):
            below = max((self.needs[arg] for arg in one.args), default=-1)
            self.needs[one] = max(below, self.made_by.get(one, -1))
        return self.needs[node]

    def result(self, number: int, state: Node, start: Node, body: Node, is_total: bool = False) -> Node:
        """Add a state to a loop; return the symbol of its trajectory, or of its last value."""
        loop = self.loops[number]
        lead = () if is_total else (loop.steps + 1,)
        found = symbol(f"#w{len(self.made_by)}", (*lead, *state.shape))
        loop.add(state, start, body, found)
        self.made_by[found] = number
        return found

    # ---- recurrences

    def place(self, node: Node) -> None:
        """Add a recurrence to the last loop that it fits in, or to a new one."""
        self.step.avoid([node])
        starts, operands, closed = arguments_of(node)
        number = len(self.loops)
        for k, loop in enumerate(self.loops):
            others = [arg for arg in operands if self.step.slice(arg, 0) not in loop.local]
            is_before = all(self.last_needed(arg) < k for arg in (*starts, *others, *closed))
            if (loop.steps, loop.backward) == (node.steps, node.backward) and is_before:
                number = k
        if number == len(self.loops):
            self.loops.append(Loop(node.steps, node.backward))
        loop = self.loops[number]
        trajectories = all_trajectories(node)
        states = [self.step.slice(before_steps(one, node.backward), 0) for one in trajectories]
        bound = {own: Batched(state) for own, state in zip(node.states, states, strict=True)}
        bound |= {own: Batched(self.step.slice(arg, 0)) for own, arg in zip(node.slices, operands, strict=True)}
        bodies = self.inside(loop, [made.node for made in instantiate_all(node.bodies, bound, {}, ())])
        for trajectory, state, start, body in zip(trajectories, states, starts, bodies, strict=True):
            self.made_by[trajectory] = number
            self.replaced[trajectory] = self.result(number, state, start, body)
            loop.local[state] = state
            loop.local[self.step.slice(after_steps(trajectory, node.backward), 0)] = body

    def inside(self, loop: Loop, bodies: Sequence[Node]) -> list[Node]:
        """Return formulas of a step over the states of a loop, without values after the step."""
        bound = {own: Batched(value) for own, value in loop.local.items() if own is not value}
        return [made.node for made in instantiate_all(bodies, bound, {}, ())]

    # ---- what follows the recurrences

    def loop_for(self, body: Node, steps: Size) -> int | None:
        """Return the number of the last loop that can compute a formula of one step and has states in it."""
        order = toposort(body)
        used = [own for own in order if own in self.step.sequences]
        closed = closed_parts([body], used)
        for k in reversed(range(len(self.loops))):
            local = self.loops[k].local
            others = [self.step.sequences[own] for own in used if own not in local]
            is_before = all(self.last_needed(node) < k for node in (*others, *closed))
            if self.loops[k].steps is steps and is_before and not local.keys().isdisjoint(used):
                return k
        return None

    def sum_over_steps(self, node: Node) -> None:
        """Let a loop compute a product that is summed over its steps, if its terms are more than slices."""
        index = self._summed(node)
        if index is None:
            return
        steps = node.index_sizes[index]
        body = self.step.of(product(1, node.operands, (index, *node.out), node.sizes), 0)
        is_stored = self.checkpoints is None
        parts = _outer(body) if is_stored else [(body, ())]
        is_work = not is_stored or any(map(_is_work, (part for part, _ in parts)))
        number = self.loop_for(body, steps) if is_work else None
        if number is None:
            return
        if len(parts) > 1:
            operands: list[Operand] = [(self.stored(number, part), (node.rank, *at)) for part, at in parts]
            self.replaced[node] = product(node.coef, operands, tuple(range(node.rank)), {node.rank: steps})
            return
        (term,) = self.inside(self.loops[number], [body])
        state = symbol(f"#v{len(self.made_by)}", term.shape)
        total = add([(1, state), (node.coef, term)])
        self.replaced[node] = self.result(number, state, zeros(term.shape), total, is_total=True)

    def _summed(self, node: Node) -> int | None:
        """Return an index of a product that is summed over the steps of a loop."""
        if node.kind != "product":
            return None
        lengths = {loop.steps for loop in self.loops}
        longs = {at[0] for arg, at in node.operands if arg.selects("slice")}
        for index, size in enumerate(node.index_sizes):
            if size in lengths and index not in node.out and index not in longs:
                return index
        return None

    def at_each_step(self, root: Node) -> None:
        """Let a loop compute a result with an axis of steps, if its entries hold an operation."""
        for axis, size in enumerate(root.shape if root not in self.replaced else ()):
            body = self.step.of(root, axis) if any(loop.steps is size for loop in self.loops) else None
            if body is None or not any(one.kind == "op" for one in toposort(body)):
                continue
            number = self.loop_for(body, size)
            if number is not None:
                self.replaced[root] = trailing(self.stored(number, body), axis)
                return

    def stored(self, number: int, part: Node) -> Node:
        """Return the sequence of a part at each step: a known one, or one that a loop stores."""
        known = self.step.sequences.get(part)
        if known is not None:
            return known
        loop = self.loops[number]
        (body,) = self.inside(loop, [part])
        state = symbol(f"#v{len(self.made_by)}", body.shape)
        return after_steps(self.result(number, state, zeros(body.shape), body), loop.backward)

    def store_common_parts(self) -> None:
        """Let loops store the parts of their steps that later loops need too."""
        for number, loop in enumerate(self.loops):
            known = set(toposort(loop.bodies))
            for later in self.loops[number + 1 :]:
                if later.steps is loop.steps:
                    self._share(number, known, later)

    def _share(self, number: int, known: set[Node], later: Loop) -> None:
        """Replace the largest parts of a later loop that a loop knows by sequences that this loop stores."""
        order = toposort(later.bodies)
        outer = {*later.bodies, *(arg for one in order if one not in known for arg in one.args)}
        bound: dict[Node, Batched] = {}
        for part in order:
            if part in known and part in outer and _is_work(part) and self.is_read(part):
                own = symbol(f"#c{len(self.made_by)}", part.shape, sorted(part.facts))
                self.step.sequences[own] = self.stored(number, part)
                bound[part] = Batched(own)
        later.bodies = [made.node for made in instantiate_all(later.bodies, bound, {}, ())]

    def is_read(self, part: Node) -> bool:
        """Whether a part of a step varies with the step."""
        return any(one in self.step.sequences for one in toposort(part))

    # ---- the nodes of the loops

    def built(self, roots: Sequence[Node]) -> list[Node]:
        """Return the roots over the nodes of the loops."""
        renewed: dict[Node, Node] = {}
        slices = [self.slices_of(loop) for loop in self.loops]
        closed = [closed_parts(loop.bodies, [*loop.states, *own]) for loop, own in zip(self.loops, slices, strict=True)]
        if self.checkpoints is not None:
            slices = states_again(self.loops, slices)
        inputs = [
            [*loop.starts, *(self.step.sequences[one] for one in own), *parts]
            for loop, own, parts in zip(self.loops, slices, closed, strict=True)
        ]
        over = {one: self.renewed(one, renewed) for one in [*roots, *(one for own in inputs for one in own)]}
        lasts, over = with_last_states(over, self.ends())
        bound: dict[Node, Batched] = {}
        for loop, own, parts, needed in zip(self.loops, slices, closed, inputs, strict=True):
            results = [lasts.get(one, one) for one in loop.results]
            loop.kept = [result.rank > state.rank for result, state in zip(results, loop.states, strict=True)]
            args = [made.node for made in instantiate_all([over[one] for one in needed], bound, {}, ())]
            moved = {part: Batched(arg) for part, arg in zip(parts, args[len(args) - len(parts) :], strict=True)}
            bodies = [made.node for made in instantiate_all(loop.bodies, moved, {}, ())]
            again: tuple[Any, ...] = ()
            if loop.again is not None:
                again, more = loop.again.data(self.checkpoints or 0, len(args))
                args += more
            loop.made = args, bodies, own
            for result, node in zip(results, loop.nodes(args, bodies, own, again), strict=True):
                bound[result] = Batched(node)
        if self.checkpoints is not None:
            check_memory(self.loops, [over[root] for root in roots])
        return [made.node for made in instantiate_all([over[root] for root in roots], bound, {}, ())]

    def slices_of(self, loop: Loop) -> list[Node]:
        """Return the symbols of slices that a loop reads."""
        return [one for one in toposort(loop.bodies) if one in self.step.sequences and one not in loop.states]

    def ends(self) -> dict[Node, Size]:
        """Return the position of the last state of each trajectory."""
        found: dict[Node, Size] = {}
        for loop in self.loops:
            end = ZERO if loop.backward else loop.steps
            found.update(
                (one, end) for one, state in zip(loop.results, loop.states, strict=True) if one.rank > state.rank
            )
        return found

    def renewed(self, root: Node, done: dict[Node, Node]) -> Node:
        """Return a node over the symbols of results."""
        for node in toposort(root, done):
            replaced = self.replaced.get(node)
            if replaced is None:
                done[node] = remake(node, done)
            else:
                done[node] = replaced if replaced in self.made_by else self.renewed(replaced, done)
        return done[root]


def _outer(body: Node) -> list[Part]:
    """Return the two factors of an outer product, or the whole."""
    whole = [(body, tuple(range(body.rank)))]
    if body.kind != "product" or body.rank < 2 or len(set(body.out)) < body.rank:
        return whole
    groups: list[tuple[list[Operand], set[int]]] = []
    for arg, at in body.operands:
        met = [group for group in groups if not group[1].isdisjoint(at)]
        groups = [group for group in groups if group not in met]
        operands = [operand for group in met for operand in group[0]]
        groups.append(([*operands, (arg, at)], set(at).union(*(indices for _, indices in met))))
    scalars = [operand for operands, indices in groups if indices.isdisjoint(body.out) for operand in operands]
    tensors = [group for group in groups if not group[1].isdisjoint(body.out)]
    if len(tensors) != 2 or not set(body.out) <= tensors[0][1] | tensors[1][1]:
        return whole
    found: list[Part] = []
    for number, (operands, indices) in enumerate(tensors):
        out = tuple(index for index in body.out if index in indices)
        coef, more = (body.coef, scalars) if number == 0 else (1, [])
        node = product(coef, [*operands, *more], out, body.sizes)
        found.append((node, tuple(body.out.index(index) for index in out)))
    return found


def _is_work(node: Node) -> bool:
    """Whether a part of a step holds an operation, or a product that is summed over an index."""
    return any(
        one.kind == "op" or (one.kind == "product" and len(one.args) > 1 and len(one.index_sizes) > len(set(one.out)))
        for one in toposort(node)
    )
