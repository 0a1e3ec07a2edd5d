"""Reads comparisons of indices as affine forms, and contracts those that are convolutions."""

from __future__ import annotations

from collections.abc import Sequence

from matcalc.errors import NotSupported
from matcalc.plain_source.terms.ranges import length_of
from matcalc.plain_source.terms.term import Call, Pool, Term
from matcalc.rulebook.load import default_rulebook
from matcalc.tensor.sizes.size import Size

Affine = tuple[tuple[int, ...], Size]
"""The integer factors of the indices of axes, and the constant."""


def affine(pool: Pool, term: Term) -> tuple[str, tuple[int, ...], Size] | None:
    """Return a comparison as `relation`, factors and constant of `sum(factor*index) + constant relation 0`."""
    left, right = (_affine(arg, term.rank) for arg in term.args)
    if left is None or right is None:
        return None
    factors = tuple(a - b for a, b in zip(left[0], right[0], strict=True))
    return str(term.data), factors, pool.known(left[1] - right[1])


def _affine(term: Term, rank: int, place: int | None = None) -> Affine | None:
    """Return a term over the indices of axes as an affine form; `place` is the axis of a term of one axis."""
    nothing = (0,) * rank
    if term.form == "index":
        axis = rank - 1 if place is None else place
        return tuple(int(k == axis) for k in range(rank)), Size.of(0)
    if term.form == "column":
        return _affine(term.args[0], rank, rank - 2)
    if term.form == "row":
        return _affine(term.args[0], rank, rank - 1)
    if term.form == "transpose":
        inner = _affine(term.args[0], rank)
        return inner and (inner[0][::-1], inner[1])
    if term.form == "expand":
        return _expanded(term, rank)
    if term.form == "add":
        return _sum(term, rank, place)
    if term.rank:
        return None
    try:
        return nothing, length_of(term)
    except NotSupported:
        return None


def _expanded(term: Term, rank: int) -> Affine | None:
    """Return a term whose axes are some of all axes."""
    places = [k for k, kept in enumerate(term.data) if kept]
    inner = _affine(term.args[0], len(places))
    if inner is None or len(term.data) != rank:
        return None
    factors = [0] * rank
    for place, factor in zip(places, inner[0], strict=True):
        factors[place] = factor
    return tuple(factors), inner[1]


def _sum(term: Term, rank: int, place: int | None) -> Affine | None:
    found = [_affine(arg, rank, place) for arg in term.args]
    total, constant = [0] * rank, Size.of(0)
    for sign, own in zip(term.data, found, strict=True):
        if own is None:
            return None
        total = [a + sign * b for a, b in zip(total, own[0], strict=True)]
        constant = constant + own[1] * sign
    return tuple(total), constant


Labels = tuple[int, ...]
Labelled = tuple[Term, Labels]


def without_convolutions(pool: Pool, factors: Sequence[Labelled], out: Labels) -> list[Labelled]:
    """Return factors in which `a[i]*b[j]*[i == j + k]`, summed over two of its indices, is one vector."""
    for term, at in factors:
        if term.form == "indicator" and len(at) == 3 and len(set(at)) == 3:
            made = _convolution(pool, factors, term, at, out)
            if made is not None:
                return without_convolutions(pool, made, out)
    return list(factors)


def _convolution(pool: Pool, factors: Sequence[Labelled], term: Term, at: Labels, out: Labels) -> list[Labelled] | None:
    found = affine(pool, term)
    if found is None or found[0] != "==" or found[2] != Size.of(0) or sorted(map(abs, found[1])) != [1, 1, 1]:
        return None
    sign = -1 if sum(found[1]) > 0 else 1
    if abs(sum(found[1])) != 1:
        return None
    total = next(label for label, factor in zip(at, found[1], strict=True) if factor == sign)
    sizes = {label: pool.known(size) for label, size in zip(at, term.shape, strict=True)}
    parts = [label for label in at if label != total]
    if sizes[total] != sizes[parts[0]] + sizes[parts[1]] - 1:
        return None
    vectors: dict[int, Labelled] = {}
    for factor in factors:
        for label in at:
            if factor[0] is not term and label in factor[1]:
                if factor[1] != (label,) or label in vectors or label in out:
                    return None
                vectors[label] = factor
    if len(vectors) != 2:
        return None
    kept = [f for f in factors if f not in vectors.values() and f != (term, at)]
    free = next(label for label in at if label not in vectors)
    shape = (sizes[free],)
    if free == total:
        made = pool.term(
            "call", [vectors[label][0] for label in parts], Call(default_rulebook().playing("convolved")), shape
        )
    else:
        other = next(label for label in parts if label != free)
        made = pool.term("correlation", (vectors[total][0], vectors[other][0]), None, shape)
    return [*kept, (made, (free,))]
