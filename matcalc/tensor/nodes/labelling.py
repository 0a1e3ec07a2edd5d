"""Labels a product: puts its operands in canonical order, independent of index names and operand order.

A symmetric matrix may be read transposed, a skew one too but for its sign, and so may a tensor whose axes commute
(`Node.commuting`, `Node.exchanges`). If more than two axes are exchanged together, as in `kron(A, B) + kron(A, B)'`,
all readings are tried and the least content wins.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice, product
from typing import NamedTuple

from matcalc.tensor.nodes.canonical_labels import Factor, Labels, order_operands, relabelled
from matcalc.tensor.nodes.node import Indices, Node, Operand

MOST_WAYS = 64
"""The most readings of the operands of one product that are tried."""

SYMMETRIC, SKEW = frozenset(["symmetric"]), frozenset(["skew"])
SYMMETRIC_OR_SKEW = SYMMETRIC | SKEW
"""Facts of a matrix whose two indices may be exchanged, with a sign if it is skew."""


class Labelled(NamedTuple):
    """Operands in canonical order, the labels of their indices, the sign of this reading, and all labels."""

    args: list[Node]
    shown: list[Indices]
    sign: int
    labels: Labels


def labelled(operands: Sequence[Operand], fixed: Labels) -> Labelled | None:
    """Return operands in canonical order, in the reading of least content; None if they vanish."""
    best: Labelled | None = None
    for sign, operands_read in _readings(operands):
        found = _labelled(sign, operands_read, fixed)
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
    factors = described(operands)
    positions, labels, vanishes = order_operands(factors, fixed)
    ordered = [factors[position] for position in positions]
    sign *= _skew_sign(ordered, labels)
    shown = [relabelled(operand, labels) for operand in ordered]
    return None if vanishes or not sign else Labelled([operands[p][0] for p in positions], shown, sign, labels)


def _readings(operands: Sequence[Operand]) -> Iterator[tuple[int, Sequence[Operand]]]:
    """Yield the readings of operands whose axes may be exchanged together, each with its sign: unchanged first."""
    if not any(node.exchanges for node, _ in operands):
        yield 1, operands
        return
    choices = [[(1, (node, at)), *_exchanged(node, at)] for node, at in operands]
    for reading in islice(product(*choices), MOST_WAYS):
        sign = 1
        for own, _ in reading:
            sign *= own
        yield sign, [term for _, term in reading]


def _exchanged(node: Node, at: Indices) -> list[tuple[int, Operand]]:
    return [(sign, (node, tuple(at[axis] for axis in order))) for order, sign in node.exchanges]


def described(operands: Sequence[Operand]) -> list[Factor]:
    return [
        Factor(node.digest, indices, commuting_from(node), position, changes_sign(node))
        for position, (node, indices) in enumerate(operands)
    ]


def commuting_from(node: Node) -> int:
    """Return the position from which on the axes of an operand commute."""
    if len(node.shape) == 2 and node.facts & SYMMETRIC_OR_SKEW:
        return 0
    is_even = node.kind == "selector" and node.selector.kind == "conv" and node.shape[1] == node.shape[2]
    return 1 if is_even else node.commuting


def changes_sign(node: Node) -> bool:
    """Return whether exchanging the two indices of an operand changes its sign."""
    return len(node.shape) == 2 and "skew" in node.facts and "symmetric" not in node.facts


def _skew_sign(operands: Sequence[Factor], labels: Mapping[int, int]) -> int:
    """Return the sign that sorting the indices of skew operands brings; 0 if one is read on its diagonal."""
    sign = 1
    for operand in operands:
        if not operand.changes_sign:
            continue
        first, second = (labels[i] for i in operand.indices)
        sign *= 0 if first == second else 1 if first < second else -1
    return sign


def symmetry(node: Node) -> frozenset[str]:
    """Return whether a square product is symmetric or skew: the same with its outputs exchanged, but for the sign."""
    if len(node.out) != 2 or node.shape[0] != node.shape[1]:
        return frozenset()
    if not node.coef:
        return SYMMETRIC | SKEW
    first, last = node.out
    if first == last or not node.args:
        return SYMMETRIC
    if _touching(node, first) != _touching(node, last):
        return frozenset()
    for sign, operands_read in _readings(node.operands):
        found = _labelled(sign, operands_read, {first: 1, last: 0})
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
