"""Finds Schur complements: why P - C*inv(M)*C' is positive semidefinite.

It is psd if P = L*S*L', C = L*S*R' and M = R*S*R' + K with S and K psd: then it is the complement of M in a psd block
matrix. Examples are `A - A*H'*inv(H*A*H' + V)*H*A`, `S[k:, k:] - S[k:, :k]*inv(S[:k, :k])*S[:k, k:]` and the projection
`eye(m) - X*inv(X'*X)*X'` (S the identity). R' may also be a vector; then M is a scalar. The parts are compared as
chains of factors, so no node is built here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from typing import NamedTuple

from matcalc.tensor.facts.chain import chain_between
from matcalc.tensor.nodes.node import Node, exponent_of, terms_of
from matcalc.tensor.sizes.selectors import are_apart
from matcalc.tensor.sizes.size import collected

Link = tuple[Node, bool]
Links = tuple[Link, ...]
Scalars = tuple[tuple[Node, Fraction], ...]


class Term(NamedTuple):
    """A multiple of a chain: its coefficient, its scalar factors with their exponents, and its links."""

    coef: Fraction
    scalars: Scalars
    links: Links


class Complement(NamedTuple):
    """The reason why a sum is psd or spd: P, the subtracted term C*inv(M)*C', and M (None: the identity).

    `rows` is the slice of S that M is, if P is S and positive definite: on other rows the sum is spd too.
    """

    fact: str
    source: Node
    taken: Node
    within: Node | None
    rows: Node | None = None


class Part(NamedTuple):
    """The reason why rows and columns of a Schur complement are spd: those of this spd matrix are."""

    source: Node


class ParallelSum(NamedTuple):
    """The reason why A*inv(A + B)*B has the signs of A and B."""

    first: Node
    last: Node


def complement(node: Node, sign: int = 1) -> Complement | None:
    """Return why a symmetric sum times `sign`, with one negative term, is psd or spd; None if that is not known."""
    terms = [(sign * coef, term) for coef, term in terms_of(node)]
    negative = [k for k, (coef, _) in enumerate(terms) if coef < 0]
    if len(negative) != 1 or len(terms) < 2:
        return None
    (coef, subtracted) = terms.pop(negative[0])
    if any("psd" not in term.facts for _, term in terms):
        return None
    for part, within in _decomposed(subtracted, -coef):
        for position, (weight, source) in enumerate(terms):
            strict = _fits(source, weight, part, within)
            if strict is not None:
                is_spd = strict or any("spd" in n.facts for k, (_, n) in enumerate(terms) if k != position)
                rows = part.links[1][0] if "spd" in source.facts and _takes_rows(part.links) else None
                return Complement("spd" if is_spd else "psd", source, subtracted, within, rows)
    return None


def definite_part(matrices: Sequence[Link], sign: int = 1) -> Part | None:
    """Return why the rows and columns that a product takes of a complement times `sign`, none of M, are spd."""
    found = complement(matrices[1][0], sign) if len(matrices) == 3 else None
    if found is None or found.rows is None or not _apart(matrices[:1], ((found.rows, True),)):
        return None
    return Part(found.source)


def _takes_rows(links: Links) -> bool:
    """Return whether C is S with the columns that a slice takes."""
    return len(links) == 2 and links[0][0].kind != "selector" and links[1][0].kind == "selector"


def parallel_sum(matrices: Sequence[Link]) -> ParallelSum | None:
    """Return A and B of three factors A*inv(A + B)*B."""
    if len(matrices) != 3 or not _inverts(matrices[1][0]):
        return None
    (first, _), (middle, _), (last, _) = matrices
    inner = middle.args[0]
    is_their_sum = inner.kind == "sum" and {*inner.terms} == {(Fraction(1), first), (Fraction(1), last)}
    return ParallelSum(first, last) if is_their_sum else None


# ---- the subtracted term


def _decomposed(node: Node, coef: Fraction) -> Iterator[tuple[Term, Node | None]]:
    """Yield the readings of a term as C*inv(M)*C': its coefficient, scalars and C, and M (None for the identity)."""
    if node.kind != "product" or len(set(node.out)) < 2:
        return
    coef *= node.coef
    scalars = [arg for arg, at in node.operands if not at]
    links = _links(node)
    if links is not None and links:
        middle = len(links) // 2
        left = links[:middle]
        if _mirror(left) == links[len(links) - middle :]:
            if len(links) % 2 == 0:
                yield Term(coef, _exponents(scalars), left), None
            elif _inverts(links[middle][0]):
                yield Term(coef, _exponents(scalars), left), links[middle][0].args[0]
        return
    halves = [_to_vector(node, i) if len(scalars) < len(node.args) else () for i in node.out]
    half = halves[0]
    if half is None or half != halves[1]:
        return
    for position, scalar in enumerate(scalars):
        base, exponent = exponent_of(scalar)
        if exponent == -1:
            yield Term(coef, _exponents(scalars[:position] + scalars[position + 1 :]), half), base


def _links(node: Node) -> Links | None:
    """Return the factors of a product of matrices along its path, None if it is not such a product."""
    chain = chain_between(node, *node.out) if node.out[0] != node.out[1] else None
    return None if chain is None or chain.weighted else chain.directed


def _to_vector(node: Node, start: int) -> Links | None:
    """Return the factors from an output index to the vector at the end of the path."""
    here, passed = start, {start}
    found: list[Link] = []
    while True:
        candidates = [
            (arg, at) for arg, at in node.operands
            if len(at) == 2 and here in at and not passed.issuperset(at)
        ]  # fmt: skip
        weights = [arg for arg, at in node.operands if at == (here,)]
        if not candidates and len(weights) == 1:
            return (*found, (weights[0], True))
        if len(candidates) != 1 or weights:
            return None
        arg, at = candidates[0]
        found.append((arg, at[0] == here or "symmetric" in arg.facts))
        here = at[1] if at[0] == here else at[0]
        passed.add(here)


def _mirror(links: Links) -> Links:
    return tuple((a, "symmetric" in a.facts or not forward) for a, forward in links[::-1])


def _inverts(node: Node) -> bool:
    return node.kind == "op" and node.rule.inverse and not node.batch_rank and len(node.args) == 1


def _exponents(scalars: Sequence[Node]) -> Scalars:
    return _powers(map(exponent_of, scalars))


def _powers(pairs: Iterable[tuple[Node, Fraction]]) -> Scalars:
    return tuple(sorted(collected(pairs).items(), key=lambda pair: pair[0].digest))


# ---- the matrix from which the term is subtracted


def _fits(source: Node, weight: Fraction, subtracted: Term, within: Node | None) -> bool | None:
    """Return whether L*S*L' minus the term is spd (True) or psd (False) as a complement; None if that is not known."""
    whole = _term(source, weight)
    if whole is None or any(not base.range.positive for base, _ in (*whole.scalars, *subtracted.scalars)):
        return None
    is_spd = "spd" in source.facts
    if within is None:
        return _less_projection(whole, subtracted)
    if not subtracted.links and not whole.links:  # eye(n) - ones(n, n)/n
        is_mean = within.kind == "size" and within.size == source.shape[0]
        return False if is_mean and _at_most(subtracted, whole) else None
    for left, middle, right in _splits(subtracted.links):
        if whole.links != left + middle + _mirror(left):
            continue
        expected = _mirror(right) + middle + right
        for position, (coef, term) in enumerate(terms_of(within)):
            inner = _term(term, coef)
            if inner is None or inner.links != expected or any(not b.range.positive for b, _ in inner.scalars):
                continue
            rest = [pair for k, pair in enumerate(terms_of(within)) if k != position]
            if any(c < 0 or not _is_psd(n) for c, n in rest):
                continue
            total = Term(whole.coef * inner.coef, _powers(whole.scalars + inner.scalars), ())
            if not _at_most(subtracted, total):
                continue
            is_strict = subtracted.coef < total.coef or any(_is_spd(n) for _, n in rest)
            return (is_spd and is_strict) or (bool(middle) and "spd" in middle[0][0].facts and _apart(left, right))
    return None


def _less_projection(whole: Term, subtracted: Term) -> bool | None:
    """Return whether the identity minus Q*Q' with orthonormal columns is spd or psd; None if that is not known."""
    if whole.links or not all(_orthonormal(link) for link in subtracted.links) or not _at_most(subtracted, whole):
        return None
    return subtracted.coef < whole.coef


def _orthonormal(link: Link) -> bool:
    node, forward = link
    if node.kind == "selector":
        return node.selector.kind == "slice" and forward
    return "orthogonal" in node.facts or (forward and "orthonormal" in node.facts)


def _at_most(subtracted: Term, total: Term) -> bool:
    return subtracted.scalars == total.scalars and subtracted.coef <= total.coef


def _splits(links: Links) -> Iterator[tuple[Links, Links, Links]]:
    """Yield the readings of C as L*S*R', with an empty S for the identity."""
    for position in range(len(links) + 1):
        yield links[:position], (), links[position:]
        if position < len(links) and "psd" in links[position][0].facts:
            yield links[:position], links[position : position + 1], links[position + 1 :]


def _apart(left: Sequence[Link], right: Sequence[Link]) -> bool:
    """Return whether L and R are slices that take different rows of S."""
    if not len(left) == len(right) == 1 or not all(n.selects("slice") for n, _ in (*left, *right)):
        return False
    one, other = left[0][0].selector, right[0][0].selector
    return are_apart(one.span, other.span)


def _term(node: Node, coef: Fraction) -> Term | None:
    """Return a matrix or a closed scalar as a multiple of a chain."""
    if node.kind != "product":
        return Term(coef, (), ((node, True),))
    scalars = [arg for arg, at in node.operands if not at]
    links: Links | None
    if node.rank == 0:
        links = _closed(node)
    elif node.out[0] == node.out[1]:
        links = () if len(scalars) == len(node.args) else None
    else:
        links = _links(node)
    return None if links is None else Term(coef * node.coef, _exponents(scalars), links)


def _closed(node: Node) -> Links | None:
    """Return the factors of x'*A*y from one end to the other."""
    weights = [(arg, at[0]) for arg, at in node.operands if len(at) == 1]
    if len(weights) != 2 or any(len(at) > 2 for at in node.indices):
        return None
    (first, here), (last, there) = weights
    if here == there:
        return ((first, False), (last, True)) if not any(len(at) == 2 for at in node.indices) else None
    chain = chain_between(node, here, there)
    return None if chain is None else ((first, False), *chain.directed, (last, True))


def _is_psd(node: Node) -> bool:
    return "psd" in node.facts if node.rank else node.range.nonnegative


def _is_spd(node: Node) -> bool:
    return "spd" in node.facts if node.rank else node.range.positive
