"""In which order of axes each node is wanted in memory, so that nothing is turned that could be made as it is read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from matcalc.tensor.node import Node

Order = tuple[int, ...]  # axes of a node, the slowest first
Wish = tuple[Node, Order, float]
Wishes = dict[Node, dict[Order, float]]
GIVEN = ("symbol", "op")  # nodes whose arrays have one order
NEED, TASTE = 1.0, 0.01
"""How much a wish counts: something is turned where it is not followed, or may be, by what is read beside it."""


def wanted_orders(results: Sequence[Node], nodes: Sequence[Node]) -> dict[Node, Order]:
    """Return the orders in which nodes are wanted, of those where it matters; `nodes` stand operands first.

    Results and operands of operations are wanted as they are. What is made entry by entry wants its operands as it is
    wanted itself, a transpose the other way around, and as those of them stand that are in memory already; so does a
    sum of such entries. Of several wishes most count. Where nobody needs an order, what is multiplied with an array is
    wanted with the rows of that first, since both can then be read by rows, and operands in the order of each other.
    """
    wishes: Wishes = {}
    found: dict[Node, Order] = {}
    for node in results:
        _wish(wishes, node, _plain(node), NEED)
    for node in reversed(nodes):
        for wish in _own(node):
            _wish(wishes, *wish)
        if node in wishes:
            found[node], weight = _most(wishes[node])
            for operand, order in _passed_on(node, found[node]):
                _wish(wishes, operand, order, NEED if weight >= NEED else TASTE)
    return found


def _plain(node: Node) -> Order:
    return tuple(range(node.rank))


def _wish(wishes: Wishes, node: Node, order: Order, weight: float) -> None:
    if node.rank > 1:
        found = wishes.setdefault(node, {})
        found[order] = found.get(order, 0.0) + weight


def _most(wishes: Mapping[Order, float]) -> tuple[Order, float]:
    """Return the wish of most readers, of equally many the one that is nearest to the order of the axes."""
    order = min(wishes, key=lambda order: (-wishes[order], order))
    return order, wishes[order]


def _own(node: Node) -> Iterator[Wish]:
    """Yield the wishes of a node for its operands, or for itself since operands that are in memory stand so."""
    if node.kind == "op":
        yield from ((a, _plain(a), NEED) for a in node.args)
    elif node.kind in ("map", "sum"):
        operands = node.args if node.kind == "map" else tuple(term for _, term in node.terms)
        yield node, _plain(node), TASTE / 2
        yield from ((node, _plain(node), NEED) for a in operands if a.rank == node.rank and a.kind in GIVEN)
    elif node.kind == "product":
        yield from _of_factors(node)


def _of_factors(node: Node) -> Iterator[Wish]:
    """Yield the wishes of a product: factors of the same indices stand alike, others begin with the rows of arrays."""
    every = [(a, at) for a, at in zip(node.args, node.indices, strict=True) if len(at) > 1 and len(set(at)) == len(at)]
    every.sort(key=lambda factor: factor[0].kind not in GIVEN)
    for place, (factor, at) in enumerate(every):
        is_given = factor.kind in GIVEN
        weight = NEED if is_given else TASTE / 2
        if sorted(at) == sorted(node.out):
            yield node, tuple(node.out.index(i) for i in at), weight
            continue
        for other, indices in every[place + 1 :]:
            if other.kind in GIVEN:
                continue
            if sorted(indices) == sorted(at):
                yield other, tuple(indices.index(i) for i in at), weight
            elif is_given and at[0] in indices:
                yield other, _first(indices.index(at[0]), other), TASTE


def _first(axis: int, node: Node) -> Order:
    """Return the order of a node's axes with one of them first."""
    return axis, *(other for other in range(node.rank) if other != axis)


def _passed_on(node: Node, order: Order) -> Iterator[tuple[Node, Order]]:
    """Yield the operands whose entries stand at those of a node, each with the order that leaves them there."""
    if node.kind == "map":
        yield from ((argument, order) for argument in node.args if argument.rank == node.rank)
    elif node.kind == "sum":
        yield from ((term, order) for _, term in node.terms if term.rank == node.rank)
    elif node.kind == "product" and len(set(node.out)) == len(node.out):
        for operand, at in zip(node.args, node.indices, strict=True):
            if len(at) == len(node.out) and set(at) == set(node.out):
                yield operand, tuple(at.index(node.out[axis]) for axis in order)
