"""Finds the step of a tensor along an axis: the inverse of `recurrence.at_all_steps`.

An axis that every operand shares is a batch. The step is the same formula without it, over symbols for the slices of
what is no formula of slices: symbols, trajectories, ranges of them, reordered axes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import count

from matcalc.language.kinds import INDEX
from matcalc.tensor.constructors import add, apply, operate, product, symbol
from matcalc.tensor.leading_axis import cut, leading, numbers
from matcalc.tensor.lookups import can_index
from matcalc.tensor.nodes.node import Indices, Node, Operand, toposort
from matcalc.tensor.sizes.size import Size
from matcalc.tensor.substitute import Batched, instantiate


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


DEEPEST = 40
"""The most nested formulas that are taken apart."""


def entry(node: Node, position: Size) -> Node:
    """Return one entry of the leading axis: the step at this position, over entries of its sequences."""
    step = Step()
    found = step.of(node, 0)
    return instantiate(found, {own: Batched(_single(s, position)) for own, s in step.sequences.items()}, {}, ()).node


def _single(sequence: Node, position: Size) -> Node:
    part = cut(sequence, position, Size.of(1))
    rest = tuple(range(1, part.rank))
    return product(1, [(part, (0, *rest))], rest, {})


SLICE = "#o"
"""The prefix of symbols of slices; those of a step around may occur in a formula, and have other numbers."""


@dataclass(slots=True)
class Step:
    """A step being found, with the sequences by the symbols of their slices."""

    sequences: dict[Node, Node] = field(default_factory=dict)
    made: dict[tuple[Node, int], Node] = field(default_factory=dict)
    taken: set[str] = field(default_factory=set)

    def avoid(self, nodes: Sequence[Node]) -> None:
        """Name no slice as a symbol in these nodes."""
        self.taken.update(n.name for n in toposort(nodes) if n.kind == "symbol" and n.name.startswith(SLICE))

    def slice(self, node: Node, axis: int) -> Node:
        """Return the symbol of a slice."""
        sequence = leading(node, axis)
        found = next((own for own, known in self.sequences.items() if known is sequence), None)
        if found is None:
            self.avoid([sequence])
            name = next(name for k in count() if (name := f"{SLICE}{k}") not in self.taken)
            self.taken.add(name)
            found = symbol(name, sequence.shape[1:], entry_facts(sequence))
            self.sequences[found] = sequence
        return found

    def of(self, node: Node, axis: int, depth: int = 0) -> Node:
        """Return a node at one position of an axis."""
        if not depth:
            self.avoid([node])
        if (node, axis) not in self.made:
            self.made[node, axis] = self._found(node, axis, depth + 1)
        return self.made[node, axis]

    def _found(self, node: Node, axis: int, depth: int) -> Node:
        if depth > DEEPEST or (node.rank == 1 and node is numbers(node.shape[0])):
            return self.slice(node, axis)
        if node.kind == "sum":
            return add([(coef, self.of(term, axis, depth)) for coef, term in node.terms])
        if node.kind == "map":
            return apply(node.rule, [self.of(arg, axis, depth) for arg in node.args], node.params)
        if node.kind == "op" and axis < node.batch_rank:
            return self._operation(node, axis, depth)
        found = self._product(node, axis, depth) if node.kind == "product" else None
        return found if found is not None else self.slice(node, axis)

    def _operation(self, node: Node, axis: int, depth: int) -> Node:
        args, batches = [], []
        for arg, batch in zip(node.args, node.batches, strict=True):
            args.append(self.of(arg, batch.index(axis), depth) if axis in batch else arg)
            batches.append(tuple(b - (b > axis) for b in batch if b != axis))
        lengths = [size for k, size in enumerate(node.shape[: node.batch_rank]) if k != axis]
        return operate(node.rule, args, node.params, batches, node.output, lengths)

    def _product(self, node: Node, axis: int, depth: int) -> Node | None:
        """Return a product at one position; None if the axis is not shared by its operands."""
        index = node.out[axis]
        if node.coef != 1 and len(node.args) == 2:
            rest = tuple(range(node.rank - 1))
            part = product(1, node.operands, node.out, node.sizes)
            return product(node.coef, [(self.of(part, axis, depth), rest)], rest, {})
        if node.out.count(index) > 1 or any(at.count(index) > 1 for at in node.indices):
            return None
        operands: list[Operand] = []
        cuts = [(arg, at) for arg, at in node.operands if arg.kind == "selector" and index in at]
        longs = {at[0] for arg, at in cuts if arg.selects("slice") and at[1] == index}
        if len(longs) < len(cuts):
            return None
        used: set[int] = set()
        for arg, at in node.operands:
            met = longs.intersection(at)
            if (arg, at) in cuts:
                continue
            if met and arg.kind != "selector" and len(met) == 1 and at.count(min(met)) == 1 and index not in at:
                operands.append(self._cut(arg, at, min(met), cuts, depth))
                used |= met
            elif met:
                return None
            elif index in at:
                position = at.index(index)
                operands.append((self.of(arg, position, depth), at[:position] + at[position + 1 :]))
            else:
                operands.append((arg, at))
        is_cut = len(node.args) == len(cuts) + 1 == 2 and len(node.index_sizes) == node.rank + 1
        if used != longs or longs.intersection(node.out) or is_cut:
            return None
        out = node.out[:axis] + node.out[axis + 1 :]
        return product(node.coef, operands, out, node.sizes)

    def _cut(self, arg: Node, at: Indices, long: int, cuts: list[Operand], depth: int) -> Operand:
        """Return an operand that a slice cuts, at one position of the slice."""
        position = at.index(long)
        rule = next(rule for rule, own in cuts if own[0] == long).selector
        part = cut(leading(arg, position), rule.offset, rule.shape[1])
        return self.of(part, 0, depth), at[:position] + at[position + 1 :]
