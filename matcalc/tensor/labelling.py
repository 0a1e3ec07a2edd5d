"""The labels of a product: its operands in canonical order, however its indices are called and operands are read.

A symmetric matrix may be read either way, a skew one too but for its sign, and so may a tensor that says so of its
axes (`Node.commuting`, `Node.exchanges`). What is more than two axes changing places together, as in
`kron(A, B) + kron(A, B)'`, is tried in every way: the least content wins.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice, product
from typing import NamedTuple

from matcalc.tensor.canonical_labels import Factor, Labels, order_operands, relabelled
from matcalc.tensor.node import Indices, Node, Operand

MOST_WAYS = 64
"""Ways to read the operands of one product that are tried."""

SYMMETRIC, SKEW = frozenset(["symmetric"]), frozenset(["skew"])
EITHER_WAY = SYMMETRIC | SKEW
"""Facts of a matrix whose two indices may be exchanged, with a sign where it is skew."""


class Labelled(NamedTuple):
    """Operands in canonical order, the labels of their indices, the sign that this brings, and the labels of all."""

    args: list[Node]
    shown: list[Indices]
    sign: int
    labels: Labels


def labelled(operands: Sequence[Operand], fixed: Labels) -> Labelled | None:
    """Return operands in canonical order, of all ways to read them in that of least content; None if they vanish."""
    best: Labelled | None = None
    for sign, read in _ways(operands):
        found = _labelled(sign, read, fixed)
        if found is None:
            return None
        if best is None or _content(found) < _content(best):
            best = found
        elif found.sign != best.sign and _content(found) == _content(best):
            return None
    return best


def _content(found: Labelled) -> tuple[list[bytes], list[Indices]]:
    return [arg.digest for arg in found.args], found.shown


def _labelled(sign: int, operands: Sequence[Operand], fixed: Labels) -> Labelled | None:
    given = described(operands)
    places, labels, vanishes = order_operands(given, fixed)
    ordered = [given[place] for place in places]
    sign *= _skew_sign(ordered, labels)
    shown = [relabelled(operand, labels) for operand in ordered]
    return None if vanishes or not sign else Labelled([operands[p][0] for p in places], shown, sign, labels)


def _ways(operands: Sequence[Operand]) -> Iterator[tuple[int, Sequence[Operand]]]:
    """Yield the ways to read operands whose axes change places together, each with its sign: first as they are."""
    if not any(node.exchanges for node, _ in operands):
        yield 1, operands
        return
    choices = [[(1, (node, at)), *_exchanged(node, at)] for node, at in operands]
    for way in islice(product(*choices), MOST_WAYS):
        sign = 1
        for own, _ in way:
            sign *= own
        yield sign, [term for _, term in way]


def _exchanged(node: Node, at: Indices) -> list[tuple[int, Operand]]:
    return [(sign, (node, tuple(at[axis] for axis in order))) for order, sign in node.exchanges]


def described(operands: Sequence[Operand]) -> list[Factor]:
    return [
        Factor(node.digest, indices, commuting_from(node), place, is_turning(node))
        for place, (node, indices) in enumerate(operands)
    ]


def commuting_from(node: Node) -> int:
    """Return the position from which on the axes of an operand commute."""
    if len(node.shape) == 2 and node.facts & EITHER_WAY:
        return 0
    is_even = node.kind == "selector" and node.selector.kind == "conv" and node.shape[1] == node.shape[2]
    return 1 if is_even else node.commuting


def is_turning(node: Node) -> bool:
    """Whether an operand changes its sign as its two indices are exchanged."""
    return len(node.shape) == 2 and "skew" in node.facts and "symmetric" not in node.facts


def _skew_sign(operands: Sequence[Factor], labels: Mapping[int, int]) -> int:
    """Return the sign that skew operands give up as their indices are sorted; 0 if one is read on its diagonal."""
    sign = 1
    for operand in operands:
        if not operand.turns:
            continue
        first, second = (labels[i] for i in operand.indices)
        sign *= 0 if first == second else 1 if first < second else -1
    return sign


def symmetry(node: Node) -> frozenset[str]:
    """Return whether a square product is symmetric or skew: its outputs exchanged, the same but for the sign."""
    if len(node.out) != 2 or node.shape[0] != node.shape[1]:
        return frozenset()
    if not node.coef:
        return SYMMETRIC | SKEW
    first, last = node.out
    if first == last or not node.args:
        return SYMMETRIC
    if _touching(node, first) != _touching(node, last):
        return frozenset()
    for sign, read in _ways(node.operands):
        found = _labelled(sign, read, {first: 1, last: 0})
        if found is not None and (tuple(found.args), tuple(found.shown)) == (node.args, node.indices):
            return SYMMETRIC if found.sign > 0 else SKEW
    return frozenset()


def _touching(node: Node, index: int) -> list[tuple[bytes, tuple[bool, ...]]]:
    found = []
    for arg, indices in node.operands:
        if index in indices:
            at = tuple(i == index for i in indices)
            first = 0 if arg.exchanges else commuting_from(arg)
            found.append((arg.digest, at[:first] + tuple(sorted(at[first:]))))
    return sorted(found)
