"""Why a scalar product of tensors is never negative: it is its own mirror image about what is positive semidefinite.

Read as a path or a cycle of matrices, `v'*X'*D*X*v` and `tr(C*B'*P*B)` look the same from both ends: the halves on
either side are each other's transposes, and on the axis stands a positive semidefinite matrix, a nonnegative diagonal
or nothing. Matrices between the same two indices count as their entrywise product (Schur).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from matcalc.formula.notation.write_node import formula_of
from matcalc.language.write import text
from matcalc.rulebook.notations import spelled
from matcalc.tensor.constructors import diag_matrix, hadamard
from matcalc.tensor.node import Node

NOT_NEGATIVE = "none of its factors is negative"
Edge = tuple[tuple[Node, bool], ...]


class Joint(NamedTuple):
    """An index with its weights, or the matrices between two indices with their direction."""

    weights: tuple[Node, ...] = ()
    edge: Edge = ()

    @property
    def is_edge(self) -> bool:
        return bool(self.edge)


def nonnegative(node: Node) -> str | None:
    """Return why a scalar is never negative, in words; None where that is not known."""
    if node.kind == "product" and node.coef > 0 and node.rank == 0:
        reason = _mirrored(node)
        if reason is not None:
            return reason
    return NOT_NEGATIVE if node.range.nonnegative else None


def _mirrored(node: Node) -> str | None:
    scalars = Counter(a for a in node.args if a.rank == 0)
    if any(count % 2 and nonnegative(a) is None for a, count in scalars.items()):
        return None
    ring = _walk(node)
    if ring is None:
        return None
    joints, is_cycle = ring
    if not joints:
        return "a square" if all(count % 2 == 0 for count in scalars.values()) else NOT_NEGATIVE
    if len(joints) == 1:
        return NOT_NEGATIVE if _why(joints[0]) is not None else None
    for axis in _axes(joints, is_cycle):
        reasons = [_why(joint) for joint in axis]
        if None not in reasons and _is_mirror(joints, axis, is_cycle):
            return _words([r for r in reasons if r], is_cycle)
    return None


def _words(reasons: Sequence[str], is_cycle: bool) -> str:
    if not reasons:
        return "a sum of squares"
    names = [r.replace("P", letter, 1) for r, letter in zip(reasons, "PQ", strict=False)]
    form = "P*B'*Q*B" if is_cycle and len(reasons) > 1 else "B'*P*B"
    form = f"{spelled('diagonal_trace')}({form})" if is_cycle else form
    return f"of the form {form} with {' and '.join(names)}"


def _walk(node: Node) -> tuple[list[Joint], bool] | None:
    """Return the joints of a product along its path or round its cycle; None where it is neither."""
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
    here = ends[0] if ends else 0
    joints: list[Joint] = []
    passed: list[int] = []
    if not neighbours:
        return [], False
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


def _flipped(edge: Edge) -> Edge:
    return _sorted((a, not forward) for a, forward in edge)


def _axes(joints: Sequence[Joint], is_cycle: bool) -> Iterator[tuple[Joint, ...]]:
    """Yield what stands on each axis of symmetry that there may be: one place of a path, two of a cycle."""
    half = len(joints) // 2
    if not is_cycle:
        yield (joints[half],)
        return
    for k in range(half):
        yield joints[k], joints[k + half]


def _is_mirror(joints: Sequence[Joint], axis: Sequence[Joint], is_cycle: bool) -> bool:
    """Whether what follows the axis is what precedes it, read backwards."""
    count = len(joints)
    middle = next(k for k, j in enumerate(joints) if j is axis[0]) if is_cycle else count // 2
    reach = count // 2 - 1 if is_cycle else count // 2
    pairs = ((joints[(middle + k) % count], joints[(middle - k) % count]) for k in range(1, reach + 1))
    return all(a.weights == b.weights and a.edge == _flipped(b.edge) for a, b in pairs)


def _why(joint: Joint) -> str | None:
    """Return why what stands on the axis keeps the product nonnegative; "" for nothing, None where it may not."""
    if joint.is_edge:
        if not all("psd" in a.facts for a, _ in joint.edge):
            return None
        return f"P = {text(formula_of(hadamard(*(a for a, _ in joint.edge))))} positive semidefinite"
    counts = Counter(joint.weights)
    odd = [a for a, count in counts.items() if count % 2]
    if any(not a.range.nonnegative for a in odd):
        return None
    if not joint.weights:
        return ""
    return f"P = {text(formula_of(diag_matrix(hadamard(*joint.weights))))} >= 0"
