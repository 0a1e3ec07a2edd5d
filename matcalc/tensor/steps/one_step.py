"""Finds the step of a tensor along an axis, and the tensor of a step: each is the inverse of the other.

An axis that every operand shares is a batch. The step is the same formula without it, over symbols for the slices of
what is no formula of slices: symbols, trajectories, ranges of them, reordered axes.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import count
from typing import NamedTuple, TypeVar

from matcalc.language.kinds import INDEX
from matcalc.tensor.constructors import add, apply, operate, product, symbol, zeros
from matcalc.tensor.leading_axis import between_zeros, cut, leading, numbers
from matcalc.tensor.lookups import can_index, is_lookup
from matcalc.tensor.nodes.node import Node, Operand, toposort
from matcalc.tensor.sizes.size import Size
from matcalc.tensor.steps.lookup_groups import group_of, taken_together
from matcalc.tensor.substitute import Batched, instantiate, spread


def entry_facts(sequence: Node) -> tuple[str, ...]:
    """Return the facts of the slices of a sequence: those of a state, or what follows from the range of its entries."""
    if can_index(sequence):
        return (INDEX,)
    parts = [arg for arg in sequence.args if arg.kind != "selector"] if sequence.kind == "product" else [sequence]
    state = parts[0] if len(parts) == 1 and parts[0].kind == "recurrence" else None
    if state is not None and sequence.shape[1:] == state.shape[1:] and (sequence is state or sequence.coef == 1):
        return tuple(sorted(state.states[state.position].facts))
    found = sequence.range
    return ("positive",) if found.positive else ("nonnegative",) if found.nonnegative else ()


def at_all_steps(body: Node, sequences: Mapping[Node, Node], length: Size) -> Node:
    """Return a step at all numbers at once: a leading axis instead of the symbols of slices."""
    if length is Size.of(0):
        return zeros((length, *body.shape))
    bound = {symbol_: Batched(sequence, (0,)) for symbol_, sequence in sequences.items()}
    return spread(instantiate(body, bound, {}, (length,)), (0,), (length,))


def entry(node: Node, position: Size) -> Node:
    """Return one entry of the leading axis: the step at this position, over entries of its sequences."""
    step = Step()
    found = step.of(node, 0)
    return instantiate(found, {own: Batched(_single(s, position)) for own, s in step.sequences.items()}, {}, ()).node


def _single(sequence: Node, position: Size) -> Node:
    part = cut(sequence, position, Size.of(1))
    rest = tuple(range(1, part.rank))
    return product(1, [(part, (0, *rest))], rest, {})


Answer = TypeVar("Answer")
ONE = Fraction(1)
SLICE = "#o"
"""The prefix of symbols of slices; those of a step around may occur in a formula, and have other numbers."""

Terms = list[tuple[Fraction, Node]]
Range = tuple[Size, Size]
"""The first entry of an axis that the steps read, and the number of steps."""
Place = tuple[Node, int, Range]
"""A node, one of its axes, and the entries of this axis."""
Found = Generator[Place, Node, Answer]
"""Yields the places of operands, receives their steps, and returns an answer. So no formula is too deep for a stack."""


@dataclass(slots=True)
class Step:
    """A step being found, with the sequences by the symbols of their slices."""

    sequences: dict[Node, Node] = field(default_factory=dict)
    made: dict[Place, Node] = field(default_factory=dict)
    taken: set[str] = field(default_factory=set)

    def avoid(self, nodes: Sequence[Node]) -> None:
        """Name no slice as a symbol in these nodes."""
        self.taken.update(n.name for n in toposort(nodes) if n.kind == "symbol" and n.name.startswith(SLICE))

    def slice(self, node: Node, axis: int, steps: Range | None = None) -> Node:
        """Return the symbol of a slice."""
        sequence = leading(node, axis)
        sequence = sequence if steps is None or steps[1] is node.shape[axis] else cut(sequence, *steps)
        found = next((own for own, known in self.sequences.items() if known is sequence), None)
        if found is None:
            self.avoid([sequence])
            name = next(name for k in count() if (name := f"{SLICE}{k}") not in self.taken)
            self.taken.add(name)
            found = symbol(name, sequence.shape[1:], entry_facts(sequence))
            self.sequences[found] = sequence
        return found

    def of(self, node: Node, axis: int, steps: Range | None = None) -> Node:
        """Return a node at one position of an axis: its entry at the number of the step, or in a range of the axis."""
        self.avoid([node])
        root = node, axis, steps or (Size.of(0), node.shape[axis])
        open_: list[tuple[Place, Found[Node]]] = [(root, self._found(*root))] if root not in self.made else []
        answer: Node | None = None
        while open_:
            place, search = open_[-1]
            try:
                needed = next(search) if answer is None else search.send(answer)
            except StopIteration as done:
                self.made[place] = answer = done.value
                open_.pop()
                continue
            answer = self.made.get(needed)
            if answer is None:
                open_.append((needed, self._found(*needed)))
        return self.made[root]

    def _found(self, node: Node, axis: int, steps: Range) -> Found[Node]:
        if node.rank == 1 and node is numbers(node.shape[0]):
            return self.slice(node, axis, steps)
        if node.kind == "sum":
            return add((yield from _each((coef, (term, axis, steps)) for coef, term in node.terms)))
        if node.kind == "map":
            args = yield from _each((ONE, (arg, axis, steps)) for arg in node.args)
            return apply(node.rule, [arg for _, arg in args], node.params)
        if node.kind == "op" and axis < node.batch_rank:
            return (yield from self._operation(node, axis, steps))
        if node.kind != "product":
            return self.slice(node, axis, steps)
        found = yield from self._product(node, axis, steps)
        if found is not None:
            return found
        part = cut(leading(node, axis), *steps)
        is_cut = part.kind != "product" or not (node in part.args or steps[1] is node.shape[axis])
        return (yield part, 0, _whole(part)) if is_cut else self.slice(node, axis, steps)

    def _operation(self, node: Node, axis: int, steps: Range) -> Found[Node]:
        args, batches = [], []
        for arg, batch in zip(node.args, node.batches, strict=True):
            args.append((yield arg, batch.index(axis), steps) if axis in batch else arg)
            batches.append(tuple(b - (b > axis) for b in batch if b != axis))
        lengths = [size for k, size in enumerate(node.shape[: node.batch_rank]) if k != axis]
        return operate(node.rule, args, node.params, batches, node.output, lengths)

    def _product(self, node: Node, axis: int, steps: Range) -> Found[Node | None]:
        """Return a product at one position; None if an operand does not have an entry for each step."""
        index = node.out[axis]
        if node.coef != 1 and len(node.args) == 2:
            return (yield from self._scaled(node, axis, steps))
        operands_apart = _with_lookups_apart(node, index)
        if operands_apart is None:
            return None if node.coef == 1 else (yield from self._scaled(node, axis, steps))
        terms = _terms_cut(node) if node.out.count(index) == 1 else None
        if terms is not None:
            return add((yield from _each((coef, (one, axis, steps)) for coef, one in terms)))
        out = node.out[:axis] + node.out[axis + 1 :]
        along, operands, used = {index: steps}, [], {index}
        others = [(arg, at) for arg, at in operands_apart if not (arg.selects("slice") and at[1] == index)]
        for arg, at in operands_apart:
            if (arg, at) not in others:
                along[at[0]] = steps[0] + arg.selector.offset, steps[1]
        for arg, at in others:
            found = yield from self._without((arg, at), along)
            if found is None:
                return None
            operands.append(found)
            used.update(at)
        if not along.keys() <= used or not along.keys().isdisjoint(out):
            return None
        return product(node.coef, operands, out, node.sizes)

    def _scaled(self, node: Node, axis: int, steps: Range) -> Found[Node]:
        """Return a product at one position as its coefficient times the rest at this position."""
        rest = tuple(range(node.rank - 1))
        part = product(1, node.operands, node.out, node.sizes)
        return product(node.coef, [((yield part, axis, steps), rest)], rest, {})

    def _without(self, operand: Operand, along: Mapping[int, Range]) -> Found[Operand | None]:
        """Return an operand without its axes along the steps; None for a selector, or if a slice has such an axis."""
        arg, at = operand
        places = [index for index in at if index in along]
        if places and arg.kind == "selector":
            return None
        for index in places:
            position = at.index(index)
            arg, at = (yield arg, position, along[index]), at[:position] + at[position + 1 :]
        return None if len(places) > 1 and self._slices_of_slices(arg) else (arg, at)

    def _slices_of_slices(self, node: Node) -> bool:
        """Whether a node reads a slice of a slice: the entries on a diagonal of what has two axes along the steps."""
        own = [one for one in toposort(node) if one in self.sequences]
        return any(one in self.sequences for read in own for one in toposort(self.sequences[read]))


def _each(places: Iterable[tuple[Fraction, Place]]) -> Found[Terms]:
    """Return the steps of places, with their coefficients."""
    found = []
    for coef, place in places:
        found.append((coef, (yield place)))
    return found


def _whole(node: Node) -> Range:
    return Size.of(0), node.shape[0]


def _terms_cut(node: Node) -> Terms | None:
    """Return the terms of a range or diagonal of a sum; None for anything else."""
    wholes = [operand for operand in node.operands if operand[0].kind == "sum"]
    rules = [operand for operand in node.operands if operand[0].selects("slice")]
    if len(wholes) != 1 or len(rules) + 1 < len(node.args):
        return None
    if not rules and len({*wholes[0][1]}) == len(wholes[0][1]):
        return None
    ((total, at),) = wholes
    return [(coef, product(node.coef, [(one, at), *rules], node.out, node.sizes)) for coef, one in total.terms]


def _with_lookups_apart(node: Node, index: int) -> list[Operand] | None:
    """Return the operands of a product in which each lookup along an index is taken with what all steps look up.

    None if the whole product is one lookup.
    """

    def is_own(operand: Operand) -> bool:
        return is_lookup(operand[0]) and index in operand[1][1:]

    def is_fixed(operand: Operand) -> bool:
        return index not in operand[1]

    rest, parts = list(node.operands), list[Operand]()
    for own in filter(is_own, node.operands):
        if own not in rest:
            continue
        group = group_of(node, own[1][0], is_own, is_fixed) or [own]
        part, others = taken_together(node, group, (index,))
        if not others:
            return None
        rest = [operand for operand in rest if operand in others]
        parts.append(part)
    return [*rest, *parts]


def summed_indices(node: Node) -> list[int]:
    """Return the indices over which a product is summed; a slice ties the others, so that entries are only moved."""
    slices = [at for arg, at in node.operands if arg.selects("slice")]
    tied = {long for long, *_ in slices} | {short for long, short, *_ in slices if long in node.out}
    return [index for index in range(len(node.index_sizes)) if index not in tied and index not in node.out]


def summed_step(node: Node, length: Size, step: Step) -> Node | None:
    """Return what one step adds to a sum over the steps; None for anything else."""
    if node.kind == "sum":
        parts = [(coef, summed_step(term, length, step)) for coef, term in node.terms]
        return None if any(part is None for _, part in parts) else add([(c, part) for c, part in parts if part])
    if node.kind != "product":
        return None
    if len(node.args) == 1 and node.args[0].kind == "sum" and sorted(node.indices[0]) == sorted(node.out):
        inner = summed_step(node.args[0], length, step)
        return inner and product(node.coef, [(inner, node.indices[0])], node.out, {})
    over = [index for index in summed_indices(node) if node.index_sizes[index] == length]
    if len(over) != 1:
        return _step_in_range(node, length, step)
    return step.of(product(node.coef, node.operands, (over[0], *node.out), node.sizes), 0)


class Parted(NamedTuple):
    """Terms of a sum with their coefficients: what one step adds to sums over steps, and the others."""

    bodies: Terms
    others: Terms


def parted(terms: Terms, length: Size, step: Step) -> Parted:
    """Return the terms of a sum, of those that are sums over steps one step."""
    found = Parted([], [])
    for coef, term in terms:
        body = summed_step(term, length, step)
        if body is None:
            found.others.append((coef, term))
        else:
            found.bodies.append((coef, body))
    return found


def _step_in_range(node: Node, length: Size, step: Step) -> Node | None:
    """Return what one step adds to a sum over an axis on which an operand is zero outside the range of the steps."""
    for arg, at in node.operands:
        for position, index in enumerate(at if arg.kind == "product" and len({*at}) == len(at) else ()):
            found = between_zeros(leading(arg, position))
            if found is None or found.tensor.shape[0] != length or index in node.out:
                continue
            if any(own.count(index) > 1 or (other.kind == "selector" and index in own) for other, own in node.operands):
                return None
            operands: list[Operand] = []
            for other, own in node.operands:
                axis = own.index(index) if index in own else None
                if axis is None:
                    operands.append((other, own))
                    continue
                part = found.tensor if own is at else cut(leading(other, axis), found.first, length)
                operands.append((step.of(part, 0), own[:axis] + own[axis + 1 :]))
            return product(node.coef, operands, node.out, node.sizes)
    return None
