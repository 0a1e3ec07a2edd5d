"""Finds the orders of axes that change at most the sign of the argument of an elementwise function.

A sum has these orders as `Node.exchanges`. A product has those of its operands at which all of its operands together
stay the same: `exp(-D.^2)` of differences `D` is the same with their axes exchanged.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import combinations

from matcalc.tensor.nodes.node import Exchange, Indices, Node, Operand


def exchanges_below(node: Node) -> tuple[Exchange, ...]:
    """Return the exchanges of axes of a node, also of a product without summed or repeated indices."""
    if node.kind != "product":
        return node.exchanges
    if node.rank < 3 or sorted(node.out) != list(range(len(node.index_sizes))):
        return ()
    whole = [(arg, at) for arg, at in node.operands if len(set(at)) == len(at) == node.rank]
    found: dict[Indices, int] = {}
    before, _ = _settled(node.operands)
    for order in dict.fromkeys(_candidates(node, whole)):
        moved = dict(zip(node.out, (node.out[axis] for axis in order), strict=True))
        after, sign = _settled([(arg, tuple(moved[i] for i in at)) for arg, at in node.operands])
        if after == before:
            found[order] = sign * _settled(node.operands)[1]
    return tuple(found.items())


def _candidates(node: Node, whole: list[Operand]) -> Iterator[Indices]:
    """Yield the orders of axes by which an operand changes at most its sign, or becomes another one."""
    straight = tuple(range(node.rank))
    pairs = [(at, tuple(at[axis] for axis in order)) for arg, at in whole for order, _ in arg.exchanges]
    for (one, at), (other, to) in combinations(whole, 2):
        pairs += [(at, to), (to, at)] if one is other else []
    for at, to in pairs:
        order = tuple(node.out.index(to[at.index(index)]) for index in node.out)
        if order != straight and all(node.shape[k] is node.shape[axis] for k, axis in enumerate(order)):
            yield order


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
