"""Labels the summed indices of a product canonically, so that equal products are one object.

Sorting operands by content and numbering indices in order of appearance leaves a product with repeated operands in
many forms. Here summed indices are coloured by where they occur, and the colours refined until stable. The smallest
class still tied is split by trying each member; the least certificate wins (individualisation and refinement, as in
graph canonisation). Components that share no unlabelled index are labelled separately, which keeps stars of equal
operands cheap. Colours are content digests, never addresses. Beyond a budget of calls, ties are broken in input order:
correct, but no longer canonical.

Two labellings with the same least certificate are a symmetry of the product. If skew operands change sign under it an
odd number of times, the product is its own negative, so it is zero (`x'*K*x`).
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Sequence
from typing import NamedTuple, TypeVar

BUDGET = 500
Item = TypeVar("Item")


class Factor(NamedTuple):
    """A factor of a product: its content digest, its index tuple, and the position from which on its indices commute.

    Indices of a symmetric matrix commute from 0, of the convolution selector from 1, of others from the end. Those of a
    skew matrix commute too, but it `changes_sign`: exchanging them changes its sign.
    """

    digest: bytes
    indices: tuple[int, ...]
    commuting: int
    place: int  # position in the caller's list
    changes_sign: bool = False


Labels = dict[int, int]
Certificate = tuple[tuple[bytes, tuple[int, ...]], ...]
Signs = frozenset[int]
PLUS: Signs = frozenset([1])


class Labelling(NamedTuple):
    """A least certificate, the order of the free indices that yields it, and the signs with which it arises."""

    certificate: Certificate
    sequence: list[int]
    signs: Signs


def order_operands(operands: Sequence[Factor], fixed: Labels) -> tuple[list[int], Labels, bool]:
    """Return the canonical order of `operands` (as positions), labels of all indices, and whether they vanish.

    `fixed` labels the output indices; the others are numbered after them in canonical order.
    """
    budget = [BUDGET]
    pieces = _labelled(operands, fixed, budget)
    labels = dict(fixed)
    positions: list[int] = []
    for found, piece in pieces:
        labels = _number(found.sequence, labels)
        positions += [operand.place for operand in _sorted(piece, labels)]
    return positions, labels, any(len(found.signs) > 1 for found, _ in pieces)


def _labelled(operands: Sequence[Factor], fixed: Labels, budget: list[int]) -> list[tuple[Labelling, list[Factor]]]:
    """Return the components of a product with their labellings, least certificates first."""
    pieces = [(_label(piece, fixed, budget), piece) for piece in components(operands, fixed)]
    return sorted(pieces, key=lambda item: item[0].certificate)


def components(operands: Sequence[Factor], fixed: Container[int]) -> list[list[Factor]]:
    """Split operands into groups that share no index outside `fixed`, in order of first appearance."""
    return linked(operands, lambda operand: operand.indices, fixed)


def linked(items: Sequence[Item], at: Callable[[Item], Iterable[int]], fixed: Container[int]) -> list[list[Item]]:
    """Split items at indices into groups that share none outside `fixed`, in order of first appearance."""
    if len(items) < 2:
        return [[item] for item in items]
    parent = list(range(len(items)))
    first_at: dict[int, int] = {}
    for number, item in enumerate(items):
        for index in at(item):
            if index not in fixed:
                one, other = _root(parent, first_at.setdefault(index, number)), _root(parent, number)
                parent[max(one, other)] = min(one, other)
    groups: dict[int, list[Item]] = {}
    for number, item in enumerate(items):
        groups.setdefault(_root(parent, number), []).append(item)
    return list(groups.values())


def _root(parent: list[int], number: int) -> int:
    while parent[number] != number:
        parent[number] = number = parent[parent[number]]
    return number


def _label(operands: list[Factor], fixed: Labels, budget: list[int]) -> Labelling:
    """Return the least certificate of a component and the order of its free indices that yields it."""
    budget[0] -= 1
    free = list(dict.fromkeys(i for o in operands for i in o.indices if i not in fixed))
    if len(free) < 2:
        return _settled(operands, free, fixed)
    colours = _refine(operands, free, fixed)
    cells: dict[int, list[int]] = {}
    for index in free:
        cells.setdefault(colours[index], []).append(index)
    if len(cells) == len(free):
        return _settled(operands, sorted(free, key=colours.__getitem__), fixed)
    smallest = min((len(cell), colour) for colour, cell in cells.items() if len(cell) > 1)[1]
    candidates = cells[smallest] if budget[0] > 0 else cells[smallest][:1]
    best: Labelling | None = None
    for index in candidates:
        found = _individualise(operands, index, fixed, budget)
        if best is None or found.certificate < best.certificate:
            best = found
        elif found.certificate == best.certificate:
            best = best._replace(signs=best.signs | found.signs)
    assert best is not None
    return best


def _settled(operands: list[Factor], sequence: list[int], fixed: Labels) -> Labelling:
    """Return the labelling by an order of the free indices."""
    labels = _number(sequence, fixed)
    sign = 1
    for operand in operands:
        if operand.changes_sign and labels[operand.indices[0]] > labels[operand.indices[1]]:
            sign = -sign
    return Labelling(_certificate(operands, labels), sequence, frozenset([sign]))


def _individualise(operands: list[Factor], index: int, fixed: Labels, budget: list[int]) -> Labelling:
    sequence = [index]
    signs = PLUS
    for part, _ in _labelled(operands, _number([index], fixed), budget):
        sequence.extend(part.sequence)
        signs = frozenset(a * b for a in signs for b in part.signs)
    return Labelling(_certificate(operands, _number(sequence, fixed)), sequence, signs)


def _refine(operands: list[Factor], free: list[int], fixed: Labels) -> dict[int, int]:
    """Colour the free indices by where they occur, until the classes no longer split."""
    colours = dict.fromkeys(free, 0)
    count = 1
    while True:
        signatures: dict[int, list[tuple[object, ...]]] = {index: [] for index in free}
        for operand in operands:
            shown = tuple((0, fixed[i]) if i in fixed else (1, colours[i]) for i in operand.indices)
            first = operand.commuting
            shown = shown[:first] + tuple(sorted(shown[first:]))
            for position, i in enumerate(operand.indices):
                if i not in fixed:
                    same = tuple(j == i for j in operand.indices)
                    own = (*same[:first], *sorted(same[first:]))  # in any order of the commuting ones
                    occurrence = (first, same[first:].count(True)) if position >= first else (position, *own)
                    signatures[i].append((operand.digest, occurrence, shown))
        keys = {i: (colours[i], tuple(sorted(signatures[i]))) for i in free}
        ranking = {key: rank for rank, key in enumerate(sorted(set(keys.values())))}
        colours = {i: ranking[keys[i]] for i in free}
        if len(ranking) == count or len(ranking) == len(free):
            return colours
        count = len(ranking)


def _certificate(operands: Sequence[Factor], labels: Labels) -> Certificate:
    return tuple(sorted((o.digest, relabelled(o, labels)) for o in operands))


def _sorted(operands: list[Factor], labels: Labels) -> list[Factor]:
    return sorted(operands, key=lambda o: (o.digest, relabelled(o, labels), o.place))


def relabelled(operand: Factor, labels: Labels) -> tuple[int, ...]:
    """Return the labels of an operand's indices, sorted where they commute."""
    shown = tuple(labels[i] for i in operand.indices)
    return shown[: operand.commuting] + tuple(sorted(shown[operand.commuting :]))


def _number(sequence: list[int], fixed: Labels) -> Labels:
    start = max(fixed.values(), default=-1) + 1
    return {**fixed, **{index: start + k for k, index in enumerate(sequence)}}
