"""In which order of axes each node is wanted in memory, so that nothing is turned that could be made as it is read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from matcalc.tensor.node import Node

Order = tuple[int, ...]  # axes of a node, the slowest first
GIVEN = ("symbol", "op")  # nodes whose arrays have one order


def wanted_orders(results: Sequence[Node], nodes: Sequence[Node]) -> dict[Node, Order]:
    """Return the orders in which nodes are wanted, of those where it matters; `nodes` stand operands first.

    Results and operands of operations are wanted as they are. What is made entry by entry wants its operands as it is
    wanted itself, a transpose the other way around, and as those of them stand that are in memory already; so does a
    sum of such entries. Of several wishes most count.
    """
    wishes: dict[Node, Counter[Order]] = {}
    found: dict[Node, Order] = {}
    for node in results:
        _wish(wishes, node, tuple(range(node.rank)))
    for node in reversed(nodes):
        if node.kind == "op":
            for argument in node.args:
                _wish(wishes, argument, tuple(range(argument.rank)))
        for reader, order in _as_they_stand(node):
            _wish(wishes, reader, order)
        if node in wishes:
            found[node] = _most(wishes[node])
            for operand, order in _passed_on(node, found[node]):
                _wish(wishes, operand, order)
    return found


def _wish(wishes: dict[Node, Counter[Order]], node: Node, order: Order) -> None:
    if node.rank > 1:
        wishes.setdefault(node, Counter())[order] += 1


def _most(wishes: Counter[Order]) -> Order:
    """Return the wish of most readers, of equally many the one that is nearest to the order of the axes."""
    return min(wishes, key=lambda order: (-wishes[order], order))


def _as_they_stand(node: Node) -> Iterator[tuple[Node, Order]]:
    """Yield orders in which operands that are in memory are read as they stand: of a node, of the others in a sum."""
    if node.kind in ("map", "sum"):
        operands = node.args if node.kind == "map" else tuple(term for _, term in node.terms)
        yield from ((node, tuple(range(node.rank))) for a in operands if a.rank == node.rank and a.kind in GIVEN)
    elif node.kind == "product":
        both = list(zip(node.args, node.indices, strict=True))
        for given, at in both:
            if given.kind not in GIVEN or len(set(at)) != len(at):
                continue
            if sorted(at) == sorted(node.out):
                yield node, tuple(node.out.index(i) for i in at)
                continue
            others = ((a, index) for a, index in both if a.kind not in GIVEN and sorted(index) == sorted(at))
            yield from ((other, tuple(index.index(i) for i in at)) for other, index in others)


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
