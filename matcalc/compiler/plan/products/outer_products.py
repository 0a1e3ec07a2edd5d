"""Splits a sum of outer products into few pairs of factors: `x*u' + x*v'` is one pair, `x` and `u + v`."""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple

from matcalc.tensor.constructors import add, product
from matcalc.tensor.nodes.node import Indices, Node, Operand
from matcalc.tensor.sums import split_coef, summands

Part = tuple[Node, Indices]
"""A factor of an outer product, and its axes in the product."""


class Outer(NamedTuple):
    """An outer product of two factors, with a coefficient."""

    coef: Fraction
    parts: tuple[Part, Part]


def outer_products(body: Node) -> list[Outer] | None:
    """Return outer products whose sum is a node, in which no two share a factor; None if a term is none."""
    found: list[Outer] = []
    for coef, term in summands(body):
        one = _outer(term)
        if one is None:
            return None
        found.append(Outer(coef * one.coef, one.parts))
    for side in (0, 1, 0):
        found = _joined(found, side)
    return found


def _joined(terms: list[Outer], side: int) -> list[Outer]:
    """Return terms in which those with one factor in common are one, with the sum of the others."""
    groups: dict[tuple[Part, Indices], list[Outer]] = {}
    for one in terms:
        groups.setdefault((one.parts[side], one.parts[1 - side][1]), []).append(one)
    found = []
    for (part, at), own in groups.items():
        coef, other = split_coef(add([(one.coef, one.parts[1 - side][0]) for one in own]))
        if not other.is_zero:
            pair = (part, (other, at))
            found.append(Outer(coef, pair if side == 0 else pair[::-1]))
    return found


def _outer(body: Node) -> Outer | None:
    """Return the two factors of an outer product, the one with the first axis first."""
    if body.kind != "product" or body.rank < 2 or len(set(body.out)) < body.rank:
        return None
    groups: list[tuple[list[Operand], set[int]]] = []
    for arg, at in body.operands:
        met = [group for group in groups if not group[1].isdisjoint(at)]
        groups = [group for group in groups if group not in met]
        operands = [operand for group in met for operand in group[0]]
        groups.append(([*operands, (arg, at)], set(at).union(*(indices for _, indices in met))))
    scalars = [operand for operands, indices in groups if indices.isdisjoint(body.out) for operand in operands]
    tensors = [group for group in groups if not group[1].isdisjoint(body.out)]
    if len(tensors) != 2 or not set(body.out) <= tensors[0][1] | tensors[1][1]:
        return None
    first, second = sorted(tensors, key=lambda group: body.out[0] not in group[1])
    return Outer(body.coef, (_part(body, *first, scalars), _part(body, *second, [])))


def _part(body: Node, operands: list[Operand], indices: set[int], scalars: list[Operand]) -> Part:
    out = tuple(index for index in body.out if index in indices)
    return product(1, [*operands, *scalars], out, body.sizes), tuple(body.out.index(index) for index in out)
