"""Factors sums: takes out common factors of terms, and merges terms that differ in one operand.

The last pass before printing works on nodes, so that the printed text reads back. A factor is an operand with the same
role in several terms: it has the same output axes, and the same of its own indices link it to the rest. It multiplies
the sum of its cofactors.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from typing import NamedTuple

from matcalc.calculus.simplify.masks import masked, mirrored
from matcalc.calculus.simplify.nested_fractions import cleared, over_common_powers
from matcalc.calculus.simplify.shorten import Guide, estimate, measure, shortened
from matcalc.tensor.constructors import add, product, transpose
from matcalc.tensor.nodes.node import Indices, Node
from matcalc.tensor.sizes.size import is_nonnegative
from matcalc.tensor.substitute import remake
from matcalc.tensor.switches import is_mask, is_masked, is_switch, is_weight

Key = tuple[Node, tuple[int, ...]]

LINKED, OPEN = -1, 0


class Place(NamedTuple):
    """The position of a factor: the number of the term, and of the operand in it."""

    term: int
    operand: int


def factor(root: Node) -> Node:
    """Return an equal node with its sums factored where that is shorter to read."""
    return min((factor_all([root], by)[0] for by in (estimate, measure)), key=measure)


def factor_all(roots: Sequence[Node], by: Guide = estimate, last: bool = False) -> list[Node]:
    """Return the roots with their sums factored; shared nodes are factored once.

    Of factors with equal estimated savings the first is taken out, or the `last`.
    """
    return shortened(roots, (last_factors if last else common_factors, *GENERATORS), by)


def put_together(node: Node) -> Iterator[Node]:
    """Yield a sum with terms that differ in one operand merged, `A*vec(X) + A'*vec(X)` to `(A + A')*vec(X)`."""
    if node.kind != "sum":
        return
    found: dict[tuple[Node, tuple[int, ...]], dict[int, Node]] = {}
    for number, term in enumerate(node.args):
        if term.kind != "product" or len(term.args) < 3 or len(set(term.out)) < len(term.out):
            continue
        for place, operand, how in operands_with_roles(term):
            if any(LINKED * 100 != h < 0 for h in how):
                continue
            axes = tuple(sorted(h for h in how if h > 0))
            order = [*(how.index(axis) for axis in axes), *linked(how)]
            reordered = product(
                1, [(operand, tuple(map(order.index, range(operand.rank))))], tuple(range(operand.rank))
            )
            rest = rest_of(term, place, how)
            found.setdefault((rest, axes), {})[number] = reordered
            if len(linked(how)) == operand.rank == 2:
                found.setdefault((_exchanged(rest), axes), {})[number] = transpose(reordered)
    for (rest, axes), by_term in found.items():
        if len(by_term) > 1 and not all(reordered.switches for reordered in by_term.values()):
            how = (*axes, *[LINKED * 100] * (next(iter(by_term.values())).rank - len(axes)))
            operand = add([(node.coefs[k], reordered) for k, reordered in by_term.items()])
            whole = combined(node, operand, how, rest)
            yield add([(Fraction(1), whole), *((c, a) for k, (c, a) in enumerate(node.terms) if k not in by_term)])


def _exchanged(rest: Node) -> Node:
    """Return a cofactor with its last two axes, at which an operand was linked, exchanged."""
    *before, row, column = range(rest.rank)
    return product(1, [(rest, (*before, column, row))], tuple(range(rest.rank)))


def common_factors(node: Node) -> Iterator[Node]:
    """Yield a sum with its common factors taken out, the one with the largest estimated saving first."""
    if _shared(node):
        yield _factored(node, 0)


def last_factors(node: Node) -> Iterator[Node]:
    """Yield a sum with its common factors taken out, among largest estimated savings the last one first."""
    if _shared(node):
        yield _factored(node, -1)


def single_factors(node: Node) -> Iterator[Node]:
    """Yield a sum with one of its common factors taken out, for each factor."""
    for _, key, places in _shared(node):
        yield _take_out(node, key, places)


def _factored(node: Node, which: int) -> Node:
    def further(inner: Node) -> Node:
        return _factored(inner, which)

    while found := [item for item in _shared(node) if item[0] >= 0]:
        _, key, places = [item for item in found if item[0] == found[0][0]][which]
        node = _take_out(node, key, places, further)
    inner = node.args[0] if node.kind == "product" and len(node.args) == 1 else node
    return remake(node, {inner: further(inner)}) if inner is not node and inner.kind == "sum" else node


def _shared(node: Node) -> list[tuple[int, Key, list[Place]]]:
    """Return the factors of several terms of a sum with estimated savings, the best first."""
    if node.kind != "sum":
        return []
    found: dict[Key, dict[int, Place]] = {}
    for number, term in enumerate(node.args):
        for place, key in candidates(term) or _alone(term):
            found.setdefault(key, {}).setdefault(number, Place(number, place))
    shared = [(key, list(by_term.values())) for key, by_term in found.items() if len(by_term) > 1]
    kept = [  # if all terms are switched off the factor may be infinite, and 0 times that is NaN
        (key, places) for key, places in shared
        if is_switch(key[0]) or not _leaves_out(node, key, places)
    ]  # fmt: skip
    return sorted(((_saving(node, *item), *item) for item in kept), key=lambda item: -item[0])


def _leaves_out(node: Node, key: Key, places: Sequence[Place]) -> bool:
    """Whether all terms are switched off or masked, and taking out the factor would multiply an infinity by 0."""
    factor, how = key
    terms = [node.args[place.term] for place in places]
    if all(term.switches for term in terms):
        return True
    if factor.finite or not all(term.switches or is_masked(term) for term in terms):
        return False
    if all(arg.structural or arg is factor for term in terms for arg in term.args):
        return False
    return not _share_masks(terms, places, how)


def _share_masks(terms: Sequence[Node], places: Sequence[Place], how: Sequence[int]) -> bool:
    """Whether the cofactors of a factor are all 0 by the same masks, and nowhere else: their sum has these masks."""
    found = {_masks(term, place.operand, how) for term, place in zip(terms, places, strict=True)}
    return len(found) == 1 and None not in found


def _masks(term: Node, place: int, how: Sequence[int]) -> frozenset[tuple[Node, Indices]] | None:
    """Return the masks by which a cofactor is 0, at its axes; None if they are not known."""
    alone = {i for i, h in zip(term.indices[place], how, strict=True) if h > 0}
    axes = (*(i for i in term.out if i not in alone), *(term.indices[place][p] for p in linked(how)))
    if any(is_weight(arg) or arg.switches for arg in term.args):
        return None
    masks = [(arg, at) for arg, at in term.operands if arg.selects("mask") or is_mask(arg)]
    summed = Counter(i for _, at in masks for i in at if i not in axes)
    kept = [(mask, tuple(map(axes.index, at))) for mask, at in masks if not summed.keys() & set(at)]
    passing = [(mask, at) for mask, at in masks if summed.keys() & set(at)]
    if not all(_passes(mask, [i in summed for i in at]) for mask, at in passing) or any(n > 1 for n in summed.values()):
        return None
    return frozenset(kept)


def _passes(mask: Node, is_summed: Sequence[bool]) -> bool:
    """Whether a mask i - j >= c is 1 at some value of its one summed index, whatever the other index is."""
    if not mask.selects("mask") or is_summed.count(True) != 1:
        return False
    rows, columns = mask.shape
    offset = mask.selector.offset
    return is_nonnegative(-offset if is_summed[1] else rows - columns - offset)


def candidates(term: Node) -> list[tuple[int, Key]]:
    """Return operands that can be taken out, each with its role.

    An operand with two links is in the middle of a chain; without it the rest would be no matrix.
    A key has a number for each index of the operand. An output axis has OPEN + 1 + axis, or minus that if other
    operands share it. A summed index has LINKED - rank.
    """
    if term.kind != "product":
        return [(0, (term, tuple(1 + a for a in range(len(term.shape)))))] if term.shape == () else []
    repeats = len(set(term.out)) < len(term.out)
    result = []
    for place, arg, own in operands_with_roles(term):
        if repeats and own or LINKED * 1000 in own or _is_entry(term, place):
            continue
        for how in (own, *_beside_diagonal(own)):
            left = len(term.out) - sum(1 for h in how if h > 0) + len(linked(how))
            if len(linked(how)) <= 1 and left <= max(2, len(term.out)):
                result.append((place, (arg, how)))
    return result


def _is_entry(term: Node, place: int) -> bool:
    """Whether only single entries of an operand are read: without this test `q[0] + q[1]` would be `q'*[1; 1]`."""
    indices = term.indices[place]
    slices = (at for a, at in term.operands if a.selects("slice") and a.shape[1] == 1)
    return any(at[0] in indices for at in slices)


def operands_with_roles(term: Node) -> Iterator[tuple[int, Node, tuple[int, ...]]]:
    """Yield operands without repeated indices, except selectors: position, operand, and role of each index."""
    for place, (arg, indices) in enumerate(term.operands):
        if arg.kind != "selector" and len(set(indices)) == len(indices):
            others = {i for k, t in enumerate(term.indices) if k != place for i in t}
            yield place, arg, tuple(_role(i, term.out, others) for i in indices)


def _alone(term: Node) -> list[tuple[int, Key]]:
    """Return an array that is a whole term as an entrywise factor of itself: x + x.*y is x.*(1 + y)."""
    return [(0, (term, tuple(-1 - axis for axis in range(term.rank))))] if term.kind != "product" else []


def _beside_diagonal(how: Sequence[int]) -> list[tuple[int, ...]]:
    """Return the roles of a matrix for each output axis that others share, read as a link to a diagonal matrix."""
    shared = [position for position, h in enumerate(how) if LINKED * 100 < h < 0]
    return [(*how[:p], LINKED * 100, *how[p + 1 :]) for p in shared] if len(how) == 2 else []


def _role(index: int, out: Indices, others: set[int]) -> int:
    if index in out:
        axis = 1 + out.index(index)
        return -axis if index in others else axis
    return LINKED * 100 if index in others else LINKED * 1000


def _saving(node: Node, key: Key, places: Sequence[Place]) -> int:
    """Estimate the tokens saved: the factor and its operator once for each further term, less the tokens added."""
    factor_node, how = key
    size = factor_node.length + 1
    added = 2
    for place in places:
        term = node.args[place.term]
        if term.kind != "product" or len(term.args) == 1:
            is_identity = term.kind == "product" and len(set(term.out)) < len(term.out)
            added += 0 if is_identity or abs(node.coefs[place.term]) != 1 else 1
        elif term.rank < 2 and any(term.indices[place.operand][p] in term.out for p in linked(how)):
            added += 3  # an entrywise factor becomes a diagonal matrix
    return (len(places) - 1) * size - added


def _take_out(
    node: Node, key: Key, places: Sequence[Place], further: Callable[[Node], Node] = lambda inner: inner
) -> Node:
    """Return the sum with the factor taken out of the terms at `places`."""
    factor_node, how = key
    chosen = {place.term: place for place in places}
    inner = add([(node.coefs[k], rest_of(node.args[k], place.operand, how)) for k, place in chosen.items()])
    whole = combined(node, factor_node, how, further(inner))
    others: list[tuple[Fraction, Node]] = [(c, a) for k, (c, a) in enumerate(node.terms) if k not in chosen]
    return add([(Fraction(1), whole), *others]) if others else whole


def linked(how: Sequence[int]) -> list[int]:
    """Return the positions of a factor's indices that are summed with others of its term."""
    return [position for position, h in enumerate(how) if h == LINKED * 100]


def rest_of(term: Node, place: int, how: Sequence[int]) -> Node:
    """Return a term without its factor: without the factor's own output axes, with its links as new axes."""
    if term.kind != "product":
        return product(1, [], tuple(range(term.rank)), dict(enumerate(term.shape)))
    indices = term.indices[place]
    alone = {i for i, h in zip(indices, how, strict=True) if h > 0}
    out = (*(i for i in term.out if i not in alone), *(indices[p] for p in linked(how)))
    operands = [(a, t) for k, (a, t) in enumerate(term.operands) if k != place]
    return product(term.coef, operands, out, term.sizes)


def combined(node: Node, factor_node: Node, how: Sequence[int], inner: Node) -> Node:
    """Return the product of a factor, in its role in terms of `node`, and the sum of their cofactors."""
    rank = len(node.shape)
    links = linked(how)
    at = tuple(rank + links.index(p) if p in links else abs(h) - 1 for p, h in enumerate(how))
    alone = {h - 1 for h in how if h > 0}
    inner_at = (*(a for a in range(rank) if a not in alone), *(rank + k for k in range(len(links))))
    return product(1, [(factor_node, at), (inner, inner_at)], tuple(range(rank)), dict(enumerate(node.shape)))


GENERATORS = (put_together, over_common_powers, masked, mirrored, cleared)
