"""Factoring: common factors of the terms of a sum are taken out where that reads shorter.

The last pass before printing, on nodes, so that what is printed reads back. A factor is an operand that
stands in the same way in several terms: it carries the same output axes and is linked to the rest by the
same of its own indices. What it leaves behind is summed in its place, and factored again.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import NamedTuple

from matcalc.calculus.simplify.masks import masked
from matcalc.calculus.simplify.nested_fractions import cleared, divisors, quotient
from matcalc.tensor.constructors import add, power, product, transpose
from matcalc.tensor.node import LONG, Indices, Node
from matcalc.tensor.substitute import rebuild, remake
from matcalc.tensor.switches import is_switch

Key = tuple[Node, tuple[int, ...]]
Done = dict[tuple[Node, bool], Node]
"""Nodes factored already, each with whether common denominators were tried."""

LINKED, OPEN = -1, 0


class Place(NamedTuple):
    """Where a factor stands: which term, which operand of it."""

    term: int
    operand: int


def factor(root: Node) -> Node:
    """Return an equal node, its sums factored where that is shorter in tokens."""
    return factor_all([root])[0]


def factor_all(roots: Sequence[Node]) -> list[Node]:
    """Return the factored roots; what they share is factored once, and what is written by its shared parts stays.

    The tokens of such a node are those of its tree: what is taken out of it would save tokens that nobody reads, and
    would take apart what its terms share with others, so that a recurrence of ten steps is factored without end.
    """
    done: Done = {}
    return rebuild(roots, lambda node: node if node.length > LONG else cleared(_factored(node, done)))


def _factored(node: Node, done: Done, divides: bool = True) -> Node:
    """Factor a node, once for all its places."""
    found = done.get((node, divides))
    if found is None:
        found = done[node, divides] = _newly_factored(node, done, divides)
    return found


def _newly_factored(node: Node, done: Done, divides: bool) -> Node:
    """Factor a sum (or a scaled one) until nothing is gained; new inner sums are factored on the way.

    With `divides`, common denominators are tried too; not within such a trial, which would double at each level.
    """
    if node.kind == "product" and len(node.args) == 1 and node.args[0].kind == "sum":
        inner = _factored(node.args[0], done, divides)
        return remake(node, {node.args[0]: inner})
    while node.kind == "sum":
        best = _best(node)
        if best is not None:
            node = _take_out(node, *best, done, divides)
            continue
        met = _put_together(node)
        if met is node:
            return masked(_over_common_power(node, done)) if divides else node
        node = met
    return node


def _put_together(node: Node) -> Node:
    """Return a sum in which terms that differ in one operand are one, `A*vec(X) + A'*vec(X)` as `(A + A')*vec(X)`."""
    found: dict[tuple[Node, tuple[int, ...]], dict[int, Node]] = {}
    for number, term in enumerate(node.args):
        if term.kind != "product" or len(term.args) < 3 or len(set(term.out)) < len(term.out):
            continue
        for place, operand, how in standings(term):
            if any(LINKED * 100 != h < 0 for h in how):
                continue
            axes = tuple(sorted(h for h in how if h > 0))
            order = [*(how.index(axis) for axis in axes), *linked(how)]
            turned = product(1, [(operand, tuple(map(order.index, range(operand.rank))))], tuple(range(operand.rank)))
            rest = rest_of(term, place, how)
            found.setdefault((rest, axes), {})[number] = turned
            if len(linked(how)) == operand.rank == 2 and not term.rank:
                found.setdefault((transpose(rest), axes), {})[number] = transpose(turned)
    for (rest, axes), by_term in found.items():
        if len(by_term) > 1 and not all(turned.switches for turned in by_term.values()):
            how = (*axes, *[LINKED * 100] * (next(iter(by_term.values())).rank - len(axes)))
            operand = add([(node.coefs[k], turned) for k, turned in by_term.items()])
            whole = combined(node, operand, how, rest)
            made = add([(Fraction(1), whole), *((c, a) for k, (c, a) in enumerate(node.terms) if k not in by_term)])
            if made.length < node.length:
                return made
    return node


def _over_common_power(node: Node, done: Done) -> Node:
    """Return a sum over a common denominator if that is shorter: `1/u - x/u^2` is `(u - x)/u^2` or `(1 - x/u)/u`."""
    found = dict.fromkeys(divisor for term in node.args for divisor in divisors(term))
    best = node
    for base, axes, exponent in sorted(found, key=lambda divisor: -divisor[2]):
        made = _over(node, base, axes, exponent, done)
        if made is not None and made.length < best.length:
            best = made
    return best


def _over(node: Node, base: Node, axes: Indices, taken: Fraction, done: Done) -> Node | None:
    """Return a sum as base^taken times what is left, None where that is longer or a power in it broken."""
    out = tuple(range(node.rank))
    sizes = dict(enumerate(node.shape))
    inner = quotient(node, base, axes, taken)
    if inner is None or inner.length >= node.length:
        return None
    made = product(1, [(power(base, taken), axes), (inner, out)], out, sizes)
    if made.length >= node.length:
        return None
    return product(1, [(power(base, taken), axes), (_factored(inner, done, divides=False), out)], out, sizes)


def _best(node: Node) -> tuple[Key, list[Place]] | None:
    """Return the factor whose removal saves most tokens, and where it stands (one place a term)."""
    found: dict[Key, dict[int, Place]] = {}
    for number, term in enumerate(node.args):
        for place, key in candidates(term) or _alone(term):
            found.setdefault(key, {}).setdefault(number, Place(number, place))
    best: tuple[int, Key, list[Place]] | None = None
    for key, by_term in found.items():
        if len(by_term) < 2:
            continue
        places = list(by_term.values())
        if not is_switch(key[0]) and all(node.args[place.term].switches for place in places):
            continue  # where all terms are switched off the factor may be infinite, and 0 times that is NaN
        saving = _saving(node, key, places)
        if saving >= 0 and (best is None or saving > best[0]):
            best = (saving, key, places)
    return (best[1], best[2]) if best else None


def candidates(term: Node) -> list[tuple[int, Key]]:
    """Return operands that can be taken out, each with how it stands.

    An operand with two links stands in the middle of a chain: what is left would be no matrix any more.
    A key holds, for each index of the operand, OPEN + 1 + axis if it is an output axis that no other
    operand has, minus that if others share it, LINKED - rank if it is summed.
    """
    if term.kind != "product":
        return [(0, (term, tuple(1 + a for a in range(len(term.shape)))))] if term.shape == () else []
    repeats = len(set(term.out)) < len(term.out)
    result = []
    for place, arg, own in standings(term):
        if repeats and own or LINKED * 1000 in own or _is_entry(term, place):
            continue
        for how in (own, *_beside_diagonal(own)):
            left = len(term.out) - sum(1 for h in how if h > 0) + len(linked(how))
            if len(linked(how)) <= 1 and left <= max(2, len(term.out)):
                result.append((place, (arg, how)))
    return result


def _is_entry(term: Node, place: int) -> bool:
    """Whether an operand is met at single places: without it `q[0] + q[1]` would be `q'*[1; 1]`."""
    indices = term.indices[place]
    slices = (at for a, at in term.operands if a.kind == "selector" and a.selector.kind == "slice" and a.shape[1] == 1)
    return any(at[0] in indices for at in slices)


def standings(term: Node) -> Iterator[tuple[int, Node, tuple[int, ...]]]:
    """Yield the operands of a product that no index meets twice, selectors left out: place, operand, how it stands."""
    for place, (arg, indices) in enumerate(term.operands):
        if arg.kind != "selector" and len(set(indices)) == len(indices):
            others = {i for k, t in enumerate(term.indices) if k != place for i in t}
            yield place, arg, tuple(_standing(i, term.out, others) for i in indices)


def _alone(term: Node) -> list[tuple[int, Key]]:
    """Return an array that is a term as it stands, as an entrywise factor of it: x + x.*y is x.*(1 + y)."""
    return [(0, (term, tuple(-1 - axis for axis in range(term.rank))))] if term.kind != "product" else []


def _beside_diagonal(how: Sequence[int]) -> list[tuple[int, ...]]:
    """Return how an operand stands if what shares an output axis with it is read as a diagonal matrix beside it."""
    shared = [position for position, h in enumerate(how) if LINKED * 100 < h < 0]
    return [(*how[:p], LINKED * 100, *how[p + 1 :]) for p in shared] if len(how) == 2 else []


def _standing(index: int, out: Indices, others: set[int]) -> int:
    if index in out:
        axis = 1 + out.index(index)
        return -axis if index in others else axis
    return LINKED * 100 if index in others else LINKED * 1000


def _saving(node: Node, key: Key, places: Sequence[Place]) -> int:
    """Estimate the tokens saved: the factor and its operator once for each further term, less what is added."""
    factor_node, how = key
    size = factor_node.length + 1
    added = 2
    for place in places:
        term = node.args[place.term]
        if term.kind != "product" or len(term.args) == 1:
            is_identity = term.kind == "product" and len(set(term.out)) < len(term.out)
            added += 0 if is_identity or abs(node.coefs[place.term]) != 1 else 1
        elif term.rank < 2 and any(term.indices[place.operand][p] in term.out for p in linked(how)):
            added += 3  # what was taken by entries is a diagonal matrix now
    return (len(places) - 1) * size - added


def _take_out(node: Node, key: Key, places: Sequence[Place], done: Done, divides: bool) -> Node:
    """Return the sum with the factor taken out of the terms at `places`."""
    factor_node, how = key
    chosen = {place.term: place for place in places}
    rests = [(node.coefs[k], rest_of(node.args[k], place.operand, how)) for k, place in chosen.items()]
    inner = add(rests)
    if inner.length < node.length:  # what is left is smaller each time, so this ends
        inner = _factored(inner, done, divides)
    whole = combined(node, factor_node, how, inner)
    others: list[tuple[Fraction, Node]] = [(c, a) for k, (c, a) in enumerate(node.terms) if k not in chosen]
    return add([(Fraction(1), whole), *others]) if others else whole


def linked(how: Sequence[int]) -> list[int]:
    """Return the positions of a factor's indices that are summed with others of its term."""
    return [position for position, h in enumerate(how) if h == LINKED * 100]


def rest_of(term: Node, place: int, how: Sequence[int]) -> Node:
    """Return a term without its factor: output axes that it alone had are gone, its links are new axes."""
    if term.kind != "product":
        return product(1, [], tuple(range(term.rank)), dict(enumerate(term.shape)))
    indices = term.indices[place]
    alone = {i for i, h in zip(indices, how, strict=True) if h > 0}
    out = (*(i for i in term.out if i not in alone), *(indices[p] for p in linked(how)))
    operands = [(a, t) for k, (a, t) in enumerate(term.operands) if k != place]
    return product(term.coef, operands, out, term.sizes)


def combined(node: Node, factor_node: Node, how: Sequence[int], inner: Node) -> Node:
    """Return a factor, as it stands in terms of `node`, times what it leaves of them."""
    rank = len(node.shape)
    links = linked(how)
    at = tuple(rank + links.index(p) if p in links else abs(h) - 1 for p, h in enumerate(how))
    alone = {h - 1 for h in how if h > 0}
    inner_at = (*(a for a in range(rank) if a not in alone), *(rank + k for k in range(len(links))))
    return product(1, [(factor_node, at), (inner, inner_at)], tuple(range(rank)), dict(enumerate(node.shape)))
