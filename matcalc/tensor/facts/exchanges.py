"""Finds the orders of axes that change at most the sign of the argument of an elementwise function.

A sum has these orders as `Node.exchanges`. A product has those of its operands at which all of its operands together
stay the same: `exp(-D.^2)` of differences `D` is the same with their axes exchanged.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import islice, permutations

from matcalc.tensor.nodes.node import Exchange, Indices, Node, Operand, parity_of

MOST_ORDERS = 24
"""Orders of axes that are tried, all of those of a tensor of order 4."""


def exchanges_of_map(node: Node) -> tuple[Exchange, ...]:
    """Return the exchanges of axes of an elementwise function of one operand; an even function has no signs."""
    if len(node.args) != 1:
        return ()
    signs = {"even": {1: 1, -1: 1}, "odd": {1: 1, -1: -1}}.get(parity_of(node), {1: 1})
    return tuple((order, signs[sign]) for order, sign in _exchanges_below(node.args[0]) if sign in signs)


def _exchanges_below(node: Node) -> tuple[Exchange, ...]:
    """Return the exchanges of axes of a node, also of a product without summed or repeated indices."""
    if node.kind != "product":
        return node.exchanges
    if node.rank < 3 or sorted(node.out) != list(range(len(node.index_sizes))):
        return ()
    found = []
    before, sign_before = _settled(node.operands)
    for order in _orders(node):
        moved = dict(zip(node.out, (node.out[axis] for axis in order), strict=True))
        after, sign = _settled([(arg, tuple(moved[i] for i in at)) for arg, at in node.operands])
        found += [(order, sign * sign_before)] if after == before else []
    return tuple(found)


def _orders(node: Node) -> Iterator[Indices]:
    """Yield the orders of axes that keep the shape, but for the given one."""
    orders = islice(permutations(range(node.rank)), 1, MOST_ORDERS)
    return (order for order in orders if all(node.shape[k] is node.shape[axis] for k, axis in enumerate(order)))


def _settled(operands: tuple[Operand, ...] | list[Operand]) -> tuple[Counter[Operand], int]:
    """Return operands with their indices in the least order that their own symmetries allow, and the sign of that."""
    settled: list[Operand] = []
    sign = 1
    for arg, at in operands:
        orders = [(at, 1), *((tuple(at[axis] for axis in order), s) for order, s in arg.exchanges)]
        least, own = min(orders)
        sign *= own
        settled.append((arg, (*least[: arg.commuting], *sorted(least[arg.commuting :]))))
    return Counter(settled), sign
