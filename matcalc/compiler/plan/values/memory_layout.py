"""Chooses the order of each node's axes in memory, so that arrays are computed in the order in which they are read.

Nodes whose entries are combined entry by entry form groups with one order. Results, operands of operations and arrays
in memory have a fixed order. They vote for this order in their groups, and each group takes the order with most votes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from matcalc.tensor.nodes.node import Node

Order = tuple[int, ...]  # axes of a node, the slowest first
FIXED = ("symbol", "op")  # nodes whose arrays have a fixed order
NEED, TASTE = 1.0, 0.01
"""Weights of votes: an array is transposed if NEED is not followed; TASTE only enables reading by rows."""


def memory_orders(results: Sequence[Node], nodes: Sequence[Node]) -> dict[Node, Order]:
    """Return the orders of the nodes for which they matter; `nodes` are sorted operands first.

    Without other votes, an operand multiplied by an array has the rows of that array first, so that both are read by
    rows.
    """
    groups = _Groups()
    known: dict[object, tuple[Node, Order]] = {}
    for node in nodes:
        for one, other, axes in (*_meeting(node), *_repeated(node, known)):
            if one.kind in FIXED and other.kind in FIXED:
                continue
            if one.kind in FIXED:
                groups.wish(other, axes, NEED)
            elif other.kind in FIXED:
                groups.wish(one, _inverse(axes), NEED)
            else:
                groups.join(one, other, axes)
        for operand, order, weight in _wishes(node):
            groups.wish(operand, order, weight)
    for node in results:
        groups.wish(node, _plain(node), NEED)
    return groups.found()


class _Groups:
    """Groups of nodes with one order. `group_of` maps each node to its group and its axes in the group's first node."""

    def __init__(self) -> None:
        self.group_of: dict[Node, tuple[int, Order]] = {}
        self.members: dict[int, list[Node]] = {}
        self.wishes: list[tuple[Node, Order, float]] = []

    def wish(self, node: Node, order: Order, weight: float) -> None:
        if node.rank > 1 and node.kind not in FIXED:
            self._grouped(node)
            self.wishes.append((node, order, weight))

    def join(self, one: Node, other: Node, axes: Order) -> None:
        """Merge the groups of two nodes: `axes` are the axes of the second that equal those of the first."""
        (group, first), (former, second) = self._grouped(one), self._grouped(other)
        if group == former:
            return
        back = _inverse(axes)
        moved = dict(zip(second, (first[back[axis]] for axis in range(len(second))), strict=True))
        for node in self.members.pop(former):
            self.group_of[node] = group, tuple(moved[axis] for axis in self.group_of[node][1])
            self.members[group].append(node)

    def found(self) -> dict[Node, Order]:
        """Return the order of each node, except single nodes without votes."""
        votes: dict[int, dict[Order, float]] = {}
        for node, order, weight in self.wishes:
            group, axes = self.group_of[node]
            counts = votes.setdefault(group, {})
            order_in_group = tuple(axes[axis] for axis in order)
            counts[order_in_group] = counts.get(order_in_group, 0.0) + weight
        orders: dict[Node, Order] = {}
        for group, members in self.members.items():
            if len(members) == 1 and group not in votes:
                continue
            chosen = _most(votes.get(group, {_plain(members[0]): 0.0}))
            for node in members:
                back = _inverse(self.group_of[node][1])
                orders[node] = tuple(back[axis] for axis in chosen)
        return orders

    def _grouped(self, node: Node) -> tuple[int, Order]:
        if node not in self.group_of:
            self.group_of[node] = len(self.group_of), _plain(node)
            self.members[self.group_of[node][0]] = [node]
        return self.group_of[node]


def _plain(node: Node) -> Order:
    return tuple(range(node.rank))


def _inverse(axes: Order) -> Order:
    return tuple(axes.index(axis) for axis in range(len(axes)))


def _most(votes: Mapping[Order, float]) -> Order:
    """Return the order with most votes; among equals the one nearest to the order of the axes."""
    return min(votes, key=lambda order: (-votes[order], order))


def _meeting(node: Node) -> Iterator[tuple[Node, Node, Order]]:
    """Yield pairs of nodes combined entry by entry, each with the axes of the second that equal those of the first."""
    if node.kind in ("map", "sum"):
        operands = node.args if node.kind == "map" else tuple(term for _, term in node.terms)
        yield from ((node, operand, _plain(node)) for operand in operands if operand.rank == node.rank > 1)
    elif node.kind == "product":
        met = {tuple(sorted(node.out)): (node, node.out)} if len(set(node.out)) == len(node.out) > 1 else {}
        for factor, at in _factors(node):
            one, indices = met.setdefault(tuple(sorted(at)), (factor, at))
            if one is not factor:
                yield one, factor, tuple(at.index(i) for i in indices)


def _repeated(node: Node, known: dict[object, tuple[Node, Order]]) -> Iterator[tuple[Node, Node, Order]]:
    """Yield an earlier product that is equal up to transposition and coefficient: one array serves both."""
    if node.kind == "product" and len(set(node.out)) == node.rank > 1:
        labels: dict[int, int] = {}
        pairs = sorted(zip(node.args, node.indices, strict=True), key=lambda pair: pair[0].digest)
        body = tuple((a, tuple(labels.setdefault(i, len(labels)) for i in at)) for a, at in pairs)
        if not labels.keys() >= set(node.out):
            return
        out = tuple(labels[i] for i in node.out)
        one, axes = known.setdefault((body, tuple(sorted(out))), (node, out))
        if one is not node:
            yield one, node, tuple(out.index(i) for i in axes)


def _factors(node: Node) -> list[tuple[Node, Order]]:
    """Return the operands of a product with several axes, each with its indices."""
    pairs = zip(node.args, node.indices, strict=True)
    return [(a, at) for a, at in pairs if len(set(at)) == len(at) > 1]


def _wishes(node: Node) -> Iterator[tuple[Node, Order, float]]:
    """Yield the votes of a node on the orders of its operands."""
    if node.kind == "op":
        yield from ((a, _plain(a), NEED) for a in node.args)
    elif node.kind == "product":
        factors = _factors(node)
        for row in (at[0] for a, at in factors if a.kind in FIXED):
            for other, at in factors:
                if row in at:
                    first = at.index(row)
                    yield other, (first, *(axis for axis in range(other.rank) if axis != first)), TASTE
