"""Finds loops that compute the states of an earlier loop again, so that no trajectory is stored.

The states that a loop reads in the other direction are values of the earlier loop before a step, or after it. A closed
set of its states is computed again from a few stored ones.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from matcalc.errors import NotSupported
from matcalc.tensor.constructors import add, product
from matcalc.tensor.leading_axis import between_zeros, leading
from matcalc.tensor.nodes.node import Node, toposort
from matcalc.tensor.sizes.size import Size
from matcalc.tensor.steps.one_step import Step, entry
from matcalc.tensor.steps.recurrence import before_steps, over_all_steps
from matcalc.tensor.substitute import Batched, instantiate_all, remake

HINT = "without checkpoints all states are stored"


class Loop(Protocol):
    """A loop being formed, as in `join_steps`."""

    steps: Size
    backward: bool
    states: list[Node]
    bodies: list[Node]
    results: list[Node]
    kept: list[bool]
    local: dict[Node, Node]
    again: LoopAgain | None
    made: tuple[Sequence[Node], Sequence[Node], Sequence[Node]]


@dataclass(eq=False, slots=True)
class LoopAgain:
    """An earlier loop, the numbers of the states that are computed again, and the values that the later one reads.

    `reads` has for each symbol the number of a state, and whether that is its value after the step.
    """

    loop: Loop
    numbers: list[int]
    reads: dict[Node, tuple[int, bool]]

    def data(self, rows: int, first: int) -> tuple[tuple[Any, ...], list[Node]]:
        """Return what a recurrence node stores of it, and the operands, which are those from number `first` on."""
        args, bodies, slices = self.loop.made
        count, middle = len(self.loop.states), len(self.loop.states) + len(slices)
        own = [bodies[k] for k in self.numbers]
        order = toposort(own)
        read = [k for k, one in enumerate(slices) if one in order]
        closed = [arg for arg in args[middle:] if arg in order]
        used = tuple(slices[k] for k in read)
        operands = [*(args[k] for k in self.numbers), *(args[count + k] for k in read), *closed]
        reads = tuple((one, self.numbers.index(k), is_after) for one, (k, is_after) in self.reads.items())
        states = tuple(self.loop.states[k] for k in self.numbers)
        return (rows, first, states, used, tuple(own), reads), operands


def states_again(loops: Sequence[Loop], slices: Sequence[Sequence[Node]]) -> list[list[Node]]:
    """Set `again` of the loops that read an earlier one; return the slices that they read from memory.

    Raises: NotSupported if a loop reads an earlier one of its own direction, or several, or one that is itself
        computed from another loop in reverse.
    """
    found = []
    for number, (loop, own) in enumerate(zip(loops, slices, strict=True)):
        sources = {one: k for one in own for k, other in enumerate(loops[:number]) if one in other.local}
        found.append([one for one in own if one not in sources])
        if not sources:
            continue
        earlier = loops[next(iter(sources.values()))]
        if len(set(sources.values())) > 1 or earlier.backward == loop.backward or earlier.again is not None:
            raise NotSupported(
                "a recurrence is read by several others, or by one in the same direction: its states are stored, "
                "so checkpoints do not bound the memory",
                hint=HINT,
            )
        reads = {one: _read(earlier, one) for one in sources}
        loop.again = LoopAgain(earlier, _closed(earlier, {k for k, _ in reads.values()}), reads)
    return found


def _read(loop: Loop, one: Node) -> tuple[int, bool]:
    """Return the number of the state that a symbol stands for, and whether that is its value after the step."""
    value = loop.local[one]
    return (loop.states.index(one), False) if value is one else (loop.bodies.index(value), True)


def _closed(loop: Loop, numbers: set[int]) -> list[int]:
    """Return the numbers of states and of all states that their steps need, in order."""
    while True:
        order = set(toposort([loop.bodies[k] for k in numbers]))
        needed = {k for k, state in enumerate(loop.states) if state in order} | numbers
        if needed == numbers:
            return sorted(numbers)
        numbers = needed


def without_whole_sums(roots: Sequence[Node], groups: Iterable[Node]) -> list[Node]:
    """Return roots in which a sum over all states of a recurrence is a sum over its steps, and the last state."""
    lengths = {node.steps + 1: node.steps for node in groups}
    made: dict[Node, Node] = {}
    for node in toposort(roots):
        made[node] = remake(node, made)
        ranges = {at[0] for arg, at in node.operands if arg.selects("slice")} if node.kind == "product" else set()
        for index, size in enumerate(node.index_sizes if node.kind == "product" else ()):
            is_whole = index not in node.out and index not in ranges
            if size in lengths and is_whole and made[node].kind == "product":
                made[node] = _split(made[node], index, lengths[size])
                break
    return [made[root] for root in roots]


def _split(node: Node, index: int, steps: Size) -> Node:
    """Return a product that is summed over an index as the sum over the steps plus its value at the last state."""
    if index in node.out or index >= len(node.index_sizes) or node.index_sizes[index] is not steps + 1:
        return node
    if range_summed(node, index) is not None:
        return node
    step = Step()
    body = step.of(product(1, node.operands, (index, *node.out), dict(enumerate(node.index_sizes))), 0)
    states = [one for one in step.sequences.values() if one.kind == "recurrence"]
    if not states:
        return node
    backward = states[0].backward
    before = {own: before_steps(sequence, backward) for own, sequence in step.sequences.items()}
    last = Size.of(0) if backward else steps
    final = {own: Batched(entry(sequence, last)) for own, sequence in step.sequences.items()}
    rest = instantiate_all([body], final, {}, ())[0].node
    return add([(node.coef, over_all_steps(body, before, steps)), (node.coef, rest)])


def range_summed(node: Node, index: int) -> tuple[Size, Size] | None:
    """Return the first entry and the length of the range of a summed index outside of which a factor is zero.

    A long factor is a product of its own, so the range is not seen in the product around it. None if there is none.
    """
    for arg, at in node.operands:
        if arg.kind == "product" and at.count(index) == 1:
            part = between_zeros(leading(arg, at.index(index)))
            if part is not None:
                return part.first, part.tensor.shape[0]
    return None


def check_memory(loops: Sequence[Loop], roots: Sequence[Node]) -> None:
    """Raise NotSupported if all states of a loop are stored, and no result has an axis as long as the loop."""
    for loop in loops:
        long = set(loop.steps.names)
        if any(loop.kept) and long and not any(long.intersection(size.names) for root in roots for size in root.shape):
            raise NotSupported(
                "the formula reads all states of a recurrence at once, so checkpoints do not bound the memory",
                hint=HINT,
            )
