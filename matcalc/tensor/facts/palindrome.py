"""Finds why a product is nonnegative or positive semidefinite: it is a palindrome about a centre with that sign.

Read as a path or a cycle of matrices, `X'*D*X`, `v'*X'*D*X*v` and `tr(C*B'*P*B)` are palindromes: the two halves are
each other's transposes. On the axis of symmetry is a positive semidefinite matrix, a nonnegative diagonal or nothing.
Matrices between the same two indices count as their entrywise product (Schur). The joints on the axis are the reason,
which `evidence/explain` puts into words.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from matcalc.tensor.nodes.node import Node

Edge = tuple[tuple[Node, bool], ...]


class Joint(NamedTuple):
    """An index with its weights, or the matrices between two indices with their direction."""

    weights: tuple[Node, ...] = ()
    edge: Edge = ()

    @property
    def is_edge(self) -> bool:
        return bool(self.edge)


class Mirror(NamedTuple):
    """The joints on the axis, one of a path and two of a cycle; none if f*f' is two separate parts."""

    axis: tuple[Joint, ...] = ()
    is_cycle: bool = False


def is_psd(node: Node) -> bool:
    return "psd" in node.facts


def mirror(node: Node, has_sign: Callable[[Node], bool] = is_psd) -> Mirror | None:
    """Return why a scalar or symmetric product is nonnegative or psd, up to its coefficient; None if it may not be.

    Matrices on the axis must satisfy `has_sign`.
    """
    scalars = Counter(a for a in node.args if a.rank == 0)
    if any(count % 2 and not a.range.nonnegative for a, count in scalars.items()):
        return None
    if node.rank == 2 and _separated(node, *node.out):
        return Mirror()
    ring = _walk(node)
    if ring is None:
        return None
    joints, is_cycle = ring
    for axis in _axes(joints, is_cycle):
        if all(_keeps_sign(joint, has_sign) for joint in axis) and _is_mirror(joints, axis, is_cycle):
            return Mirror(axis, is_cycle)
    return None


def _keeps_sign(joint: Joint, has_sign: Callable[[Node], bool]) -> bool:
    if joint.is_edge:
        return all(has_sign(a) for a, _ in joint.edge)
    return all(a.range.nonnegative for a, count in Counter(joint.weights).items() if count % 2)


def _walk(node: Node) -> tuple[list[Joint], bool] | None:
    """Return the joints of a product along its path or round its cycle; None if it is neither.

    The path of a matrix is the path between its outputs.
    """
    weights: dict[int, list[Node]] = {}
    between: dict[tuple[int, int], list[tuple[Node, bool]]] = {}
    for arg, at in node.operands:
        if len(at) > 2 or len(set(at)) < len(at):
            return None
        if len(at) == 1:
            weights.setdefault(at[0], []).append(arg)
        elif len(at) == 2:
            low, high = min(at), max(at)
            between.setdefault((low, high), []).append((arg, at[0] == low))
    neighbours: dict[int, list[int]] = {i: [] for i in range(len(node.index_sizes))}
    for low, high in between:
        neighbours[low].append(high)
        neighbours[high].append(low)
    if any(len(n) > 2 for n in neighbours.values()):
        return None
    ends = [i for i, n in neighbours.items() if len(n) < 2]
    if node.rank and set(ends) != set(node.out):
        return None
    here = ends[0] if ends else 0
    joints: list[Joint] = []
    passed: list[int] = []
    while True:
        passed.append(here)
        joints.append(Joint(weights=tuple(sorted(weights.get(here, ()), key=lambda a: a.digest))))
        following = [i for i in neighbours[here] if i not in passed]
        if not following:
            break
        joints.append(Joint(edge=_edge(between, here, following[0])))
        here = following[0]
    if len(passed) < len(neighbours):
        return None
    if not ends:
        joints.append(Joint(edge=_edge(between, here, passed[0])))
    return joints, not ends


def _edge(between: dict[tuple[int, int], list[tuple[Node, bool]]], here: int, there: int) -> Edge:
    found = between[min(here, there), max(here, there)]
    return _sorted((arg, forward == (here < there)) for arg, forward in found)


def _sorted(parts: Iterator[tuple[Node, bool]]) -> Edge:
    directed = [(a, forward or "symmetric" in a.facts) for a, forward in parts]
    return tuple(sorted(directed, key=lambda p: (p[0].digest, p[1])))


def _reversed(edge: Edge) -> Edge:
    return _sorted((a, not forward) for a, forward in edge)


def _axes(joints: Sequence[Joint], is_cycle: bool) -> Iterator[tuple[Joint, ...]]:
    """Yield the joints on each possible axis of symmetry: one of a path, two of a cycle."""
    half = len(joints) // 2
    if not is_cycle:
        yield (joints[half],)
        return
    for k in range(half):
        yield joints[k], joints[k + half]


def _is_mirror(joints: Sequence[Joint], axis: Sequence[Joint], is_cycle: bool) -> bool:
    """Return whether the joints after the axis are those before it, reversed."""
    count = len(joints)
    middle = next(k for k, j in enumerate(joints) if j is axis[0]) if is_cycle else count // 2
    reach = count // 2 - 1 if is_cycle else count // 2
    pairs = ((joints[(middle + k) % count], joints[(middle - k) % count]) for k in range(1, reach + 1))
    return all(a.weights == b.weights and a.edge == _reversed(b.edge) for a, b in pairs)


def _separated(node: Node, first: int, last: int) -> bool:
    """Return whether no operand links the two outputs: then a symmetric product is f*f' of one vector f."""
    side: dict[int, int] = {first: 0, last: 1}
    pending = list(node.indices)
    while pending:
        rest = []
        for indices in pending:
            sides = {side[i] for i in indices if i in side}
            if len(sides) > 1:
                return False
            if sides:
                side.update(dict.fromkeys(indices, sides.pop()))
            elif indices:
                rest.append(indices)
        if len(rest) == len(pending):
            return False
        pending = rest
    return True
