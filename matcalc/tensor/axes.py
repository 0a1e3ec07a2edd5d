"""Chooses one axis order for sums and maps of tensors of rank 3 and more.

Leaves orient a matrix (`sums.py`, `elementwise.py`). With more axes, the positions at which operands hold an axis
distinguish it; all orders of the axes still tied are tried, and the least content wins. So `T[i,j,k] + U[j,i,k]` is
one node in any order of its axes: the result is that node with its axes permuted back.
Beyond MOST_ORDERS only the first ones are tried: the result is correct, but no longer canonical.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import groupby, islice, permutations, product
from typing import Any, TypeVar

from matcalc.tensor.nodes.labelling import commuting_from
from matcalc.tensor.nodes.node import Exchange, Indices, Node
from matcalc.tensor.product import simple_product

MOST_ORDERS = 120

Reordered = TypeVar("Reordered")
Colour = tuple[int, list[list[tuple[bytes, int]]]]


def with_axes(node: Node, order: Indices) -> Node:
    """Return a tensor whose axis k is the axis order[k] of `node`."""
    if order == tuple(range(node.rank)):
        return node
    return simple_product(1, [(node, tuple(range(node.rank)))], order)


def inverse(order: Indices) -> Indices:
    """Return the inverse permutation of an order."""
    return tuple(sorted(range(len(order)), key=order.__getitem__))


def axes_permuted_by(node: Node) -> Indices | None:
    """Return the order in which a product permutes the axes of its one operand; None if it does anything else."""
    if node.kind != "product" or len(node.args) != 1 or node.coef != 1 or node.rank != node.args[0].rank:
        return None
    at = node.indices[0]
    return tuple(map(at.index, node.out)) if len(set(node.out)) == node.rank and set(node.out) == set(at) else None


def least_order(
    nodes: Sequence[Node], reordered: Callable[[Indices], Reordered], rank_of: Callable[[Reordered], Any]
) -> Indices:
    """Return the axis order of tensors of one shape that is independent of their present axis order.

    `reordered` returns the tensors with their axes in an order; `rank_of` ranks the orders that are otherwise tied.
    Orders with equal results are symmetries; of these the least inverse wins. Axes that may be exchanged come last,
    where products expect them (`Node.commuting`).
    """
    orders = _orders(nodes)
    if len(orders) == 1:
        return orders[0]
    ranks = {order: rank_of(reordered(order)) for order in orders}
    least = min(ranks.values())
    tied = [order for order, rank in ranks.items() if rank == least]
    positions = _exchanged_last(tied[0], lambda order: order in ranks and reordered(order) == reordered(tied[0]))
    return min((tuple(order[position] for position in positions) for order in tied), key=inverse)


def _exchanged_last(order: Indices, is_same: Callable[[Indices], bool]) -> Indices:
    """Return the positions of an axis order with the largest class of mutually exchangeable axes at the end."""
    classes: list[list[int]] = []
    for position in range(len(order)):
        found = next((c for c in classes if is_same(_exchanged(order, c[0], position))), None)
        if found is None:
            classes.append([position])
        else:
            found.append(position)
    last = max(classes, key=len)
    return tuple(sorted(range(len(order)), key=lambda position: (position in last, position)))


def _exchanged(order: Indices, one: int, other: int) -> Indices:
    swapped = {one: other, other: one}
    return tuple(order[swapped.get(axis, axis)] for axis in range(len(order)))


def exchanges_of(nodes: Sequence[Node], sign_of: Callable[[Indices], int]) -> tuple[int, tuple[Exchange, ...]]:
    """Return `Node.commuting` and `Node.exchanges` of tensors.

    `sign_of` returns the sign by which an order changes the tensor, 0 if it yields another.
    """
    straight = tuple(range(nodes[0].rank))
    first_order, *others = _orders(nodes)
    alike = (tuple(order[first_order.index(axis)] for axis in straight) for order in others)
    signs = {order: sign for order in alike if (sign := sign_of(order))}
    first = len(straight) - 1
    while first and signs.get(_exchanged(straight, first - 1, first)) == 1:
        first -= 1
    commuting = first if first < len(straight) - 1 else len(straight)
    found = {(*order[:commuting], *sorted(order[commuting:])): sign for order, sign in signs.items()}
    return commuting, tuple((order, sign) for order, sign in found.items() if order != straight)


def _orders(nodes: Sequence[Node]) -> list[Indices]:
    """Return the orders of axes that their colours leave open."""
    colours = [_colour(nodes, axis) for axis in range(nodes[0].rank)]
    ordered = sorted(range(nodes[0].rank), key=colours.__getitem__)
    cells = [permutations(cell) for _, cell in groupby(ordered, key=colours.__getitem__)]
    return [sum(parts, ()) for parts in islice(product(*cells), MOST_ORDERS)]


def _colour(nodes: Sequence[Node], axis: int) -> Colour:
    """Return the sum of an axis' positions in the operands, and these positions, for each term."""
    occurrences = [sorted(_occurrences(node, axis)) for node in nodes]
    return sum(position for term in occurrences for _, position in term), sorted(occurrences)


def _occurrences(node: Node, axis: int) -> list[tuple[bytes, int]]:
    """Return the operands that hold an axis of a tensor, each with the position."""
    whole = (node,), (tuple(range(node.rank)),), tuple(range(node.rank))
    args, indices, out = (node.args, node.indices, node.out) if node.kind == "product" else whole
    return [
        (arg.digest, _first_alike(arg, position))
        for arg, at in zip(args, indices, strict=True)
        for position, index in enumerate(at)
        if index == out[axis]
    ]


def _first_alike(arg: Node, position: int) -> int:
    """Return the first position of an operand to which its symmetries take an axis."""
    first = commuting_from(arg)
    if not arg.exchanges:
        return min(position, first)
    alike = range(first, arg.rank) if position >= first else [position]
    return min(min(order.index(axis), first) for order in _equivalent_orders(arg) for axis in alike)


def _equivalent_orders(arg: Node) -> list[Indices]:
    return [tuple(range(arg.rank)), *(order for order, _ in arg.exchanges)]
