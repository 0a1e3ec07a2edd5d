"""Finds the step of a tensor along an axis: the inverse of `recurrence.at_all_steps`.

An axis that every operand shares is a batch. The step is the same formula without it, over symbols for the slices of
what is no formula of slices: symbols, trajectories, ranges of them, reordered axes.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import NamedTuple

from matcalc.tensor.constructors import add, apply, operate, product, symbol
from matcalc.tensor.leading_axis import between_zeros, cut, leading, numbers
from matcalc.tensor.nodes.node import Indices, Node, Operand
from matcalc.tensor.sizes.size import Size
from matcalc.tensor.substitute import Batched, instantiate


def entry_facts(sequence: Node) -> tuple[str, ...]:
    """Return the facts of the slices of a sequence: those of a state, or what follows from the range of its entries."""
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


Terms = list[tuple[Fraction, Node]]


@dataclass(slots=True)
class Step:
    """A step being found, with the sequences by the symbols of their slices."""

    sequences: dict[Node, Node] = field(default_factory=dict)
    made: dict[tuple[Node, int], Node] = field(default_factory=dict)

    def slice(self, node: Node, axis: int) -> Node:
        """Return the symbol of a slice."""
        sequence = leading(node, axis)
        found = next((own for own, known in self.sequences.items() if known is sequence), None)
        if found is None:
            found = symbol(f"#o{len(self.sequences)}", sequence.shape[1:], entry_facts(sequence))
            self.sequences[found] = sequence
        return found

    def of(self, node: Node, axis: int, depth: int = 0) -> Node:
        """Return a node at one position of an axis."""
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
        if (found := self._terms_cut(node, axis, depth)) is not None:
            return found
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
            elif met and arg.kind == "sum":
                others = tuple(dict.fromkeys(i for i in at if i not in met and i != index))
                rules = [(rule, own) for rule, own in cuts if own[0] in met]
                operands.append((self.of(product(1, [(arg, at), *rules], (index, *others)), 0, depth), others))
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

    def _terms_cut(self, node: Node, axis: int, depth: int) -> Node | None:
        """Return a range or diagonal of a sum at one position, term by term; None for anything else."""
        wholes = [operand for operand in node.operands if operand[0].kind == "sum"]
        rules = [operand for operand in node.operands if operand[0].selects("slice")]
        if len(wholes) != 1 or len(rules) + 1 < len(node.args):
            return None
        if not rules and len({*wholes[0][1]}) == len(wholes[0][1]):
            return None
        ((total, at),) = wholes
        terms = [(coef, product(node.coef, [(one, at), *rules], node.out, node.sizes)) for coef, one in total.terms]
        return add([(coef, self.of(one, axis, depth)) for coef, one in terms])

    def _cut(self, arg: Node, at: Indices, long: int, cuts: list[Operand], depth: int) -> Operand:
        """Return an operand that a slice cuts, at one position of the slice."""
        position = at.index(long)
        rule = next(rule for rule, own in cuts if own[0] == long).selector
        part = cut(leading(arg, position), rule.offset, rule.shape[1])
        return self.of(part, 0, depth), at[:position] + at[position + 1 :]


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
    longs = {at[0] for arg, at in node.operands if arg.selects("slice")}
    over = [i for i, size in enumerate(node.index_sizes) if size == length and i not in node.out and i not in longs]
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
