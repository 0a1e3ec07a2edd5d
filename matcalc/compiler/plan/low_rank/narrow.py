"""Finds the operands of a product that meet an inverse at one of its indices."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import combinations
from typing import NamedTuple

from matcalc.compiler.plan.low_rank.split import ONE_AXIS
from matcalc.tensor.constructors import product
from matcalc.tensor.nodes.node import Node, Operand
from matcalc.tensor.sizes.size import Size

MOST_FACTORS = 8
"""The most operands of a product that are searched for U or V."""


class Narrow(NamedTuple):
    """Operands of a product that meet an inverse at one of its indices: their product has at most one other index."""

    operands: tuple[Operand, ...]
    other: int | None
    width: float

    def cost(self) -> tuple[float, int]:
        """Return the width, then the length of the formula."""
        return self.width, sum(arg.length for arg, _ in self.operands)


def narrow_at(
    node: Node,
    rest: Sequence[Operand],
    index: int,
    away: int,
    estimate: Callable[[Size], float],
    is_inverse: Callable[[Node], bool],
) -> list[Narrow]:
    """Return narrow products of operands that meet an inverse at an index, the best first."""
    if index in node.out:
        return []
    near = [operand for operand in rest if index in operand[1]]
    far, seen = list(near), {index}
    while True:
        seen |= {i for _, at in far for i in at if i not in node.out}
        more = [o for o in rest if o not in far and seen & set(o[1]) and away not in o[1]]
        if not more:
            break
        far += more
    found = []
    for operands in (far, near):
        inside = {i for _, at in operands for i in at}
        outside = {i for o in rest if o not in operands for i in o[1]} | set(node.out) | {away}
        others = sorted((inside & outside) - {index})
        holds = any(is_inverse(arg) for arg, _ in operands)
        if near and len(others) < 2 and away not in inside and not holds:
            width = estimate(node.sizes[others[0]]) if others else 1.0
            found.append(Narrow(tuple(operands), others[0] if others else None, width))
    found = [narrow for narrow in found if narrow.width < estimate(node.sizes[index])]
    return sorted(found, key=Narrow.cost)


def matrix_of(narrow: Narrow, index: int, sizes: Mapping[int, Size]) -> Node:
    out = (index,) if narrow.other is None else (index, narrow.other)
    return product(1, narrow.operands, out, sizes)


def located(node: Node, rest: Sequence[Operand], meets: int, factor: Node) -> Iterator[tuple[tuple[Operand, ...], int]]:
    """Yield operands whose product is a factor with its rows at an index, and the index of its columns."""
    near = [operand for operand in rest if meets in operand[1]]
    far = [operand for operand in rest if meets not in operand[1]]
    if not near or len(rest) > MOST_FACTORS:
        return
    own = len(factor.args) if factor.kind == "product" else 1
    fresh = max(node.sizes) + 1
    inner = dict.fromkeys(i for _, at in near for i in at if i != meets)
    for extra in combinations(far, max(own - len(near), 0)):
        chosen = (*near, *extra)
        outside = {i for operand in rest if operand not in chosen for i in operand[1]} | set(node.out)
        inside = {i for _, at in chosen for i in at}
        for index in (*inner, fresh):
            width = node.sizes.get(index, ONE_AXIS)
            if (inside & outside) - {index} or width is not factor.shape[1]:
                continue
            if product(1, chosen, (meets, index), {**node.sizes, index: factor.shape[1]}) is factor:
                yield chosen, index


def without(operands: Sequence[Operand], used: Sequence[Operand]) -> list[Operand]:
    """Return operands without those used, each of which occurs once more than before."""
    left = list(operands)
    for operand in used:
        left.remove(operand)
    return left
