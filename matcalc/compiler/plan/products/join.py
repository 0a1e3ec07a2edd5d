"""A step of a contraction: two parts joined by a kernel, in a sum, or entry by entry."""

from __future__ import annotations

from dataclasses import dataclass, field

from matcalc.compiler.plan.products.match_kernel import Factor, Match


@dataclass(slots=True)
class Join:
    """The computation of a subset of operands: `left` and `right` are the joined subsets (bit sets)."""

    mask: int
    at: tuple[int, ...]
    kind: str  # leaf, known, kernel, sum, point, unlink
    factor: Factor
    steps: dict[object, float] = field(default_factory=dict)
    cost: float = 0.0
    left: int = 0
    right: int = 0
    match: Match | None = None
    domain: tuple[int, ...] = ()
    virtual: bool = False
    formed: int = 0  # which of the joined operands are operations to be formed first (a bit set)


def is_later(match: Match, other: Match | None) -> bool:
    """Whether a match is preferred to one of equal cost: a later entry, or fewer flips."""
    if other is None:
        return False
    flips = [sum(flip for *_, flip in m.fields) for m in (match, other)]
    return (match.kernel.order, -flips[0]) > (other.kernel.order, -flips[1])
