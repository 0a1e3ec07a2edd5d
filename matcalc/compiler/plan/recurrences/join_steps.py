"""Joins recurrences of one length and direction, and sums over their steps, to one loop.

Recurrences that read each other at the same step become states of one loop. A sum over the steps becomes a total of the
loop, which shares the parts of its terms with the step. A sum of outer products becomes one matrix product after the
loop, of vectors that the loop stores. A part of a step that a later loop needs as well is stored too. A trajectory is
not kept if only its last state is read. With `checkpoints`, no trajectory is stored for a loop in the other direction,
which computes the states again. The resulting nodes are not in normal form, so only `lower` may follow.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from matcalc.calculus.derive.recurrences import all_trajectories, groups_of
from matcalc.compiler.plan.products.outer_products import Part, outer_products
from matcalc.compiler.plan.recurrences.states_again import (
    LoopAgain,
    check_memory,
    range_summed,
    states_again,
    without_whole_sums,
)
from matcalc.compiler.plan.recurrences.stored_products import StepProducts, common_products, has_part, with_part
from matcalc.tensor.constructors import add, product, symbol, zeros
from matcalc.tensor.last_states import with_last_states
from matcalc.tensor.leading_axis import trailing
from matcalc.tensor.nodes.node import Node, toposort
from matcalc.tensor.raw_nodes import recurrence_node
from matcalc.tensor.sizes.size import Size
from matcalc.tensor.steps.one_step import Step, summed_indices
from matcalc.tensor.steps.recurrence import after_steps, arguments_of, before_steps, closed_parts
from matcalc.tensor.substitute import Batched, instantiate_all, remake
from matcalc.tensor.sums import scale, split_coef

ZERO = Size.of(0)
Term = tuple[Fraction, Node, Node]
"""A term of a sum: its coefficient, what each step adds to it, and the term."""


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


def joined(roots: Sequence[Node], checkpoints: int | None, products: StepProducts) -> list[Node]:
    """Return the roots with their recurrences joined; roots without recurrences remain.

    `products` plans steps, to find the products that a later loop reads as an earlier one computes them.
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
    joiner.sums_over_steps(order, roots)
    for root in dict.fromkeys(roots):
        joiner.at_each_step(root)
    if checkpoints is None:
        joiner.store_common_parts(products)
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
        self.totals: dict[tuple[int, Node], Node] = {}
        self.kept: dict[tuple[int, Node], Node] = {}

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

    def loop_for(self, body: Node, steps: Size, first: bool = False) -> int | None:
        """Return the number of the last or first loop that can compute a formula of one step and has states in it."""
        order = toposort(body)
        used = [own for own in order if own in self.step.sequences]
        closed = closed_parts([body], used)
        numbers = range(len(self.loops))
        for k in numbers if first else reversed(numbers):
            local = self.loops[k].local
            others = [self.step.sequences[own] for own in used if own not in local]
            is_before = all(self.last_needed(node) < k for node in (*others, *closed))
            if self.loops[k].steps is steps and is_before and not local.keys().isdisjoint(used):
                return k
        return None

    def sums_over_steps(self, order: Sequence[Node], roots: Sequence[Node]) -> None:
        """Let loops compute what is summed over their steps: the terms of a sum together, then other products."""
        uses = Counter([*roots, *(arg for node in order for arg in dict.fromkeys(node.args))])
        done: set[Node] = set()
        for node in order:
            done |= self._terms_together(node, uses) if node.kind == "sum" else set()
        for node in order:
            found = self._step_sum(node) if node not in done else None
            over = self._over_steps(*found) if found is not None else None
            if over is not None:
                self.replaced[node] = over

    def _terms_together(self, node: Node, uses: Mapping[Node, int]) -> set[Node]:
        """Let each loop compute the terms of a sum that it can sum over its steps; return these terms."""
        groups: dict[int, list[Term]] = {}
        for coef, term in node.terms:
            found = self._step_sum(term) if uses[term] == 1 else None
            if found is not None:
                groups.setdefault(found[0], []).append((coef, found[1], term))
        groups = self._in_last(groups)
        overs: list[tuple[Fraction, Node]] = []
        done: set[Node] = set()
        for number, terms in groups.items():
            over = self._over_steps(number, add([(coef, body) for coef, body, _ in terms]))
            if over is not None:
                overs.append((Fraction(1), over))
                done.update(term for *_, term in terms)
        if done:
            self.replaced[node] = add([*overs, *((coef, term) for coef, term in node.terms if term not in done)])
        return done

    def _in_last(self, groups: dict[int, list[Term]]) -> dict[int, list[Term]]:
        """Return the terms by the loops that add them: those of an earlier loop with the last one of as many steps."""
        found: dict[int, list[Term]] = {}
        for number, terms in groups.items():
            steps = self.loops[number].steps
            last = max(k for k in groups if self.loops[k].steps is steps)
            found.setdefault(last, []).extend(terms)
        return found

    def _step_sum(self, node: Node) -> tuple[int, Node] | None:
        """Return the number of the loop that can sum a product over the steps, and what each step adds."""
        found = self._summed(node)
        if found is None:
            return None
        index, steps = found
        body = self.step.of(product(node.coef, node.operands, (index, *node.out), node.sizes), 0, steps)
        number = self.loop_for(body, steps[1])
        return None if number is None else (number, body)

    def _over_steps(self, number: int, body: Node) -> Node | None:
        """Return the sum of a formula over the steps of a loop, or None if the loop has nothing to compute for it.

        If all terms are outer products, their factors are stored, and multiplied after the loop. Other sums are added
        up in the loop, so that no term is stored.
        """
        factors = outer_products(body) if self.checkpoints is None else None
        parts = [part for one in factors or () for part, _ in one.parts]
        if not any(map(_is_work, parts or [body])) and (factors or (self.checkpoints is None and body.rank < 2)):
            return None
        if factors:
            return add([(one.coef, self._after_loop(number, one.parts, body.rank)) for one in factors])
        coef, term = split_coef(self.inside(self.loops[number], [body])[0])
        if (number, term) not in self.totals:
            state = symbol(f"#v{len(self.made_by)}", term.shape)
            total = add([(1, state), (1, term)])
            self.totals[number, term] = self.result(number, state, zeros(term.shape), total, is_total=True)
        return scale(coef, self.totals[number, term])

    def _after_loop(self, number: int, parts: Sequence[Part], rank: int) -> Node:
        """Return the sum of an outer product over the steps, as one product of the stored factors."""
        operands = [(self.stored(number, part), (rank, *at)) for part, at in parts]
        return product(1, operands, tuple(range(rank)), {rank: self.loops[number].steps})

    def _summed(self, node: Node) -> tuple[int, tuple[Size, Size]] | None:
        """Return an index of a product that is summed over the steps of a loop, with its first entry and the steps."""
        if node.kind != "product":
            return None
        lengths = {loop.steps for loop in self.loops}
        for index in summed_indices(node):
            size = node.index_sizes[index]
            found = (Size.of(0), size) if size in lengths else range_summed(node, index)
            if found is not None and found[1] in lengths:
                return index, found
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
        """Return the sequence of a part at each step: a known one, or one that the first loop able to do so stores."""
        known = self.step.sequences.get(part)
        if known is not None:
            return known
        earliest = self.loop_for(part, self.loops[number].steps, first=True)
        number = number if earliest is None else earliest
        loop = self.loops[number]
        (body,) = self.inside(loop, [part])
        if (number, body) in self.kept:
            return self.kept[number, body]
        state = symbol(f"#v{len(self.made_by)}", body.shape)
        found = after_steps(self.result(number, state, zeros(body.shape), body), loop.backward)
        self.kept[number, body] = found
        return found

    def store_common_parts(self, products: StepProducts) -> None:
        """Let loops store the parts of their steps that later loops need too."""
        for number, loop in enumerate(self.loops):
            known = set(toposort(loop.bodies))
            for later in self.loops[number + 1 :]:
                if later.steps is loop.steps:
                    self._share(number, known, later, products)

    def _share(self, number: int, known: set[Node], later: Loop, products: StepProducts) -> None:
        """Replace parts of a later loop that a loop knows by sequences that this loop stores.

        These are the largest common nodes, then products of some operands of products.
        """
        loop = self.loops[number]
        order = toposort(later.bodies)
        outer = {*later.bodies, *(arg for one in order if one not in known for arg in one.args)}
        bound: dict[Node, Batched] = {}
        for part in order:
            if part in known and part in outer and _is_work(part) and self.is_read(part):
                bound[part] = Batched(self._stored_symbol(number, part))
        later.bodies = [made.node for made in instantiate_all(later.bodies, bound, {}, ())]
        for part, as_read in common_products(loop.bodies, later.bodies, bound, list(self.step.sequences), products):
            if self.is_read(part) and has_part(later.bodies, as_read):
                later.bodies = with_part(later.bodies, as_read, self._stored_symbol(number, part))

    def _stored_symbol(self, number: int, part: Node) -> Node:
        """Return the symbol of the sequence of a part that a loop stores."""
        own = symbol(f"#c{len(self.step.sequences)}", part.shape, sorted(part.facts))
        self.step.sequences[own] = self.stored(number, part)
        return own

    def is_read(self, part: Node) -> bool:
        """Whether a part of a step varies with the step."""
        return any(one in self.step.sequences for one in toposort(part))

    # ---- the nodes of the loops

    def built(self, roots: Sequence[Node]) -> list[Node]:
        """Return the roots over the nodes of the loops."""
        renewed: dict[Node, Node] = {}
        slices = [self.slices_of(loop) for loop in self.loops]
        varying = [[*loop.states, *own] for loop, own in zip(self.loops, slices, strict=True)]
        closed = [closed_parts(loop.bodies, own) for loop, own in zip(self.loops, varying, strict=True)]
        if self.checkpoints is not None:
            slices = states_again(self.loops, slices)
        inputs = [
            [*loop.starts, *(self.step.sequences[one] for one in own), *parts]
            for loop, own, parts in zip(self.loops, slices, closed, strict=True)
        ]
        over = {one: self.renewed(one, renewed) for one in [*roots, *(one for own in inputs for one in own)]}
        lasts, over = with_last_states(over, self.ends())
        bound: dict[Node, Batched] = {}
        for loop, own, parts, needed, symbols in zip(self.loops, slices, closed, inputs, varying, strict=True):
            results = [lasts.get(one, one) for one in loop.results]
            loop.kept = [result.rank > state.rank for result, state in zip(results, loop.states, strict=True)]
            args = [made.node for made in instantiate_all([over[one] for one in needed], bound, {}, ())]
            moved = {part: Batched(arg) for part, arg in zip(parts, args[len(args) - len(parts) :], strict=True)}
            bodies = [made.node for made in instantiate_all(loop.bodies, moved, {}, ())]
            # A product or a sum takes in the coefficient and the operands of a part.
            args = [*args[: len(args) - len(parts)], *closed_parts(bodies, symbols)]
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


def _is_work(node: Node) -> bool:
    """Whether a part of a step holds an operation, or a product that is summed over an index."""
    return any(
        one.kind == "op" or (one.kind == "product" and len(one.args) > 1 and len(one.index_sizes) > len(set(one.out)))
        for one in toposort(node)
    )
