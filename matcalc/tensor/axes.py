"""The order of the axes of what is added or mapped: of all orders of tensors of order 3 and more, one is chosen.

A matrix is oriented by its leaves (`sums.py`, `elementwise.py`). For more axes than two, axes are told apart by where
operands hold them; those still tied are tried in every order, and the least content wins. So `T[i,j,k] + U[j,i,k]` is
one node in whatever order its axes are met: the result is that node, its axes put back.
Beyond MOST_ORDERS the first ones are tried: correct, no longer canonical.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import groupby, islice, permutations, product
from typing import Any, TypeVar

from matcalc.tensor.labelling import commuting_from
from matcalc.tensor.node import Exchange, Indices, Node
from matcalc.tensor.product import simple_product

MOST_ORDERS = 120

Turned = TypeVar("Turned")
Colour = tuple[int, list[list[tuple[bytes, int]]]]


def with_axes(node: Node, order: Indices) -> Node:
    """Return a tensor whose axis k is the axis order[k] of `node`."""
    if order == tuple(range(node.rank)):
        return node
    return simple_product(1, [(node, tuple(range(node.rank)))], order)


def inverse(order: Indices) -> Indices:
    """Return the order that undoes another."""
    return tuple(sorted(range(len(order)), key=order.__getitem__))


def axes_of_turned(node: Node) -> Indices | None:
    """Return the order in which a product shows the axes of its one operand; None where it does more than that."""
    if node.kind != "product" or len(node.args) != 1 or node.coef != 1 or node.rank != node.args[0].rank:
        return None
    at = node.indices[0]
    return tuple(map(at.index, node.out)) if len(set(node.out)) == node.rank and set(node.out) == set(at) else None


def least_order(
    nodes: Sequence[Node], turned: Callable[[Indices], Turned], rank_of: Callable[[Turned], Any]
) -> Indices:
    """Return the order of the axes of tensors of one shape that is theirs however they come.

    `turned` gives them with their axes in an order, `rank_of` what decides between orders that nothing else tells
    apart. Of orders that give the same, which are symmetries, the least way back decides; axes that may be exchanged
    go to the end, where products look for them (`Node.commuting`).
    """
    orders = _orders(nodes)
    if len(orders) == 1:
        return orders[0]
    ranks = {order: rank_of(turned(order)) for order in orders}
    least = min(ranks.values())
    tied = [order for order, rank in ranks.items() if rank == least]
    places = _exchanged_last(tied[0], lambda order: order in ranks and turned(order) == turned(tied[0]))
    return min((tuple(order[place] for place in places) for order in tied), key=inverse)


def _exchanged_last(order: Indices, is_same: Callable[[Indices], bool]) -> Indices:
    """Return the places of an order of axes, the most that may all be exchanged for one another at the end."""
    classes: list[list[int]] = []
    for place in range(len(order)):
        found = next((c for c in classes if is_same(_exchanged(order, c[0], place))), None)
        if found is None:
            classes.append([place])
        else:
            found.append(place)
    last = max(classes, key=len)
    return tuple(sorted(range(len(order)), key=lambda place: (place in last, place)))


def _exchanged(order: Indices, one: int, other: int) -> Indices:
    swapped = {one: other, other: one}
    return tuple(order[swapped.get(place, place)] for place in range(len(order)))


def exchanges_of(nodes: Sequence[Node], sign_of: Callable[[Indices], int]) -> tuple[int, tuple[Exchange, ...]]:
    """Return from which axis on tensors may have all their axes exchanged, their rank where there is none, and
    in which other orders their axes may stand, with the sign that each brings.

    `sign_of` tells which sign an order brings, 0 where it makes another tensor.
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
    """Return how far back an axis stands where operands hold it, and where that is, for each term."""
    places = [sorted(_places(node, axis)) for node in nodes]
    return sum(place for term in places for _, place in term), sorted(places)


def _places(node: Node, axis: int) -> list[tuple[bytes, int]]:
    """Return which operands hold an axis of a tensor, each with the position."""
    whole = (node,), (tuple(range(node.rank)),), tuple(range(node.rank))
    args, indices, out = (node.args, node.indices, node.out) if node.kind == "product" else whole
    return [
        (arg.digest, _first_alike(arg, place))
        for arg, at in zip(args, indices, strict=True)
        for place, index in enumerate(at)
        if index == out[axis]
    ]


def _first_alike(arg: Node, place: int) -> int:
    """Return the first place of an operand to which its symmetries take an axis."""
    first = commuting_from(arg)
    if not arg.exchanges:
        return min(place, first)
    alike = range(first, arg.rank) if place >= first else [place]
    return min(min(order.index(axis), first) for order in _ways_to_stand(arg) for axis in alike)


def _ways_to_stand(arg: Node) -> list[Indices]:
    return [tuple(range(arg.rank)), *(order for order, _ in arg.exchanges)]
