"""Finds facts of products, sums and blocks: those that they inherit from all their parts.

`rules/facts.toml` defines which facts these are (`products`, `sums`, `scaled`, `transposed`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from functools import cache
from typing import NamedTuple

from matcalc.rulebook.load import default_rulebook
from matcalc.tensor.facts.chain import Links
from matcalc.tensor.nodes.node import Node, Range
from matcalc.tensor.sizes.size import Size


@cache
def closed_under(product: str) -> tuple[str, ...]:
    """Return the facts that a "matrix", "kron" or "hadamard" product inherits if all factors have them."""
    return tuple(fact.name for fact in default_rulebook().facts.values() if product in fact.products)


def entrywise_facts(node: Node, first: int, last: int) -> list[str]:
    """Return the facts of a Hadamard product of matrices (by Schur, of spd matrices it is spd)."""
    pairs = [(arg, at) for arg, at in node.operands if at]
    if not pairs or any(set(at) != {first, last} for _, at in pairs):
        return []
    closed = [f for f in closed_under("hadamard") if all(link_has(arg, at == (first, last), f) for arg, at in pairs)]
    return _of_multiple(node, closed)


def kronecker_facts(node: Node, first: int, last: int) -> list[str]:
    """Return the facts of kron(A, B): those that all factors have."""
    merges = {at[0]: at[1:] for arg, at in node.operands if arg.selects("merge")}
    if set(merges) != {first, last} or len(merges[first]) != len(merges[last]):
        return []
    factors: dict[tuple[int, int], tuple[Node, bool]] = {}
    for arg, at in node.operands:
        if len(at) == 2 and not arg.selects("merge"):
            factors[min(at), max(at)] = (arg, at[0] in merges[first])
        elif at and not arg.selects("merge"):
            return []
    pairs = list(zip(merges[first], merges[last], strict=True))
    kept = [(min(p), max(p)) for p in pairs if p[0] != p[1]]
    if sorted(kept) != sorted(factors) or len(factors) + 2 + sum(not at for at in node.indices) != len(node.args):
        return []
    closed = [f for f in closed_under("kron") if all(link_has(arg, forward, f) for arg, forward in factors.values())]
    return _of_multiple(node, closed)


def _of_multiple(node: Node, facts: Iterable[str]) -> list[str]:
    """Return those facts of a product that its coefficient and its scalar factors preserve."""
    scalars = [arg.range for arg in node.args if not arg.rank]
    if node.coef == 1 and not scalars:
        return list(facts)
    known, kept = default_rulebook().facts, _preserved_by([node.coef], scalars)
    return [f for f in facts if known[f].scaled in kept]


def sum_facts(node: Node) -> list[str]:
    """Return the facts of a sum that all its terms have."""
    common = frozenset.intersection(*(arg.facts for arg in node.args))
    if not common:
        return []
    kept = _preserved_by(node.coefs)
    return [f.name for f in default_rulebook().facts.values() if f.name in common and f.sums and f.scaled in kept]


def _preserved_by(coefs: Iterable[Fraction], scalars: Sequence[Range] = ()) -> set[str]:
    """Return the kinds of facts (`scaled`) that multiples by all these coefficients and scalars preserve."""
    kept = {"any"}
    if all(coefs) and all(r.nonzero for r in scalars):
        kept.add("nonzero")
    if all(c > 0 for c in coefs) and all(r.positive for r in scalars):
        kept.add("positive")
    if not scalars and all(c.denominator == 1 for c in coefs):
        kept.add("integer")
    return kept


def link_has(arg: Node, forward: bool, fact: str) -> bool:
    """Return whether a factor, or its transpose, has a fact."""
    return (fact if forward else default_rulebook().facts[fact].transposed) in arg.facts


class Definite(NamedTuple):
    """The reason why L*S*L' is spd: L has independent rows, and the centre S is spd or a positive diagonal."""

    centre: tuple[Node, ...]


def definite(node: Node, links: Links) -> Definite | None:
    """Return S of a psd product L*S*L' with S positive definite and the rows of L independent."""
    half = len(links.matrices) // 2
    scalars = all(s.range.positive for s in links.scalars)
    if not scalars or node.coef <= 0 or not all(_has_independent_rows(*link) for link in links.matrices[:half]):
        return None
    if any(not w.range.nonzero for weights in links.weights[:half] for w in weights):
        return None
    weights = [w for weights in links.weights[half : len(links.weights) - half] for w in weights]
    centre = tuple(a for a, _ in links.matrices[half : half + len(links.matrices) % 2])
    is_spd = all("spd" in a.facts for a in centre)
    has_signs = all(w.range.nonzero if centre else w.range.positive for w in weights)
    return Definite(centre) if is_spd and has_signs else None


def _has_independent_rows(node: Node, forward: bool) -> bool:
    if node.kind == "selector":
        return node.selects("slice") and not forward
    return "nonsingular" in node.facts or (not forward and "orthonormal" in node.facts)


def is_over_entries(node: Node) -> bool:
    """Return whether a sum is over all entries of a Hadamard product, such as `tr(A*B)` of symmetric matrices."""
    return len({tuple(sorted(at)) for at in node.indices if at}) == 1


def block_facts(node: Node) -> list[str]:
    """Return the facts of a block diagonal matrix without gaps: those that all blocks have."""
    blocks = [_diagonal_block(arg) for arg in node.args]
    if len(node.shape) != 2 or any(b is None for b in blocks) or any(c != 1 for c in node.coefs):
        return []
    found = [b for b in blocks if b is not None]
    total = sum((size for _, _, size in found), Size.of(0))
    if total != node.shape[0] or len({offset for _, offset, _ in found}) < len(found):
        return []
    return [f for f in closed_under("kron") if all(f in block.facts for block, _, _ in found)]


def _diagonal_block(node: Node) -> tuple[Node, Size, Size] | None:
    """Return the matrix that a term places on the diagonal, the row where it begins and its size."""
    if node.kind != "product" or len(node.args) != 3 or node.coef != 1 or not len(node.out) == len(set(node.out)) == 2:
        return None
    slices = {at[0]: (arg.selector, at[1]) for arg, at in node.operands if arg.selects("slice")}
    blocks = [(arg, at) for arg, at in node.operands if not arg.selects("slice")]
    if set(slices) != set(node.out) or len(blocks) != 1:
        return None
    (row, i), (column, j) = (slices[index] for index in node.out)
    block, at = blocks[0]
    if row != column or at not in ((i, j), (j, i)) or (at == (j, i) and "symmetric" not in block.facts):
        return None
    return block, row.offset, row.shape[1]
