"""Contracts factors with labelled axes: by matrix products and broadcasting where these do it, else by einsum."""

from __future__ import annotations

from collections.abc import Sequence

from matcalc.plain_source.terms.indicators import without_convolutions
from matcalc.plain_source.terms.products import (
    diagonal_of_product,
    inner_product,
    is_ones,
    summed,
    times,
    trace_of_product,
)
from matcalc.plain_source.terms.structured import structured
from matcalc.plain_source.terms.term import Pool, Term, transposed
from matcalc.tensor.sizes.size import Size

Labels = tuple[int, ...]
Labelled = tuple[Term, Labels]

MOST_BROADCAST = 2
"""The largest rank of a product that broadcasting writes; einsum names the axes of a larger one."""


def contracted(pool: Pool, factors: Sequence[Labelled], out: Labels) -> Term:
    """Return the sum over all labels that are not in `out` of a product."""
    scalars = [term for term, at in factors if not at]
    arrays = _without_ones([f for f in factors if f[1]])
    arrays = without_convolutions(pool, _without_identities(pool, arrays, out), out)
    while len(arrays) > 1 and (found := _step(pool, arrays, out)) is not None:
        arrays = found
    made = _last(pool, arrays, out) if arrays else None
    total: Term | None = None
    for scalar in scalars:
        total = scalar if total is None else times(pool, total, scalar)
    if made is None:
        assert total is not None
        return total
    return made if total is None else times(pool, total, made)


def _without_ones(factors: list[Labelled]) -> list[Labelled]:
    """Return factors without vectors of ones over an index that another factor has."""
    kept = list(factors)
    for factor in factors:
        others = [at for other, at in kept if other is not factor[0] or at != factor[1]]
        if is_ones(factor[0]) and any(factor[1][0] in at for at in others):
            kept.remove(factor)
    return kept


def _without_identities(pool: Pool, factors: list[Labelled], out: Labels) -> list[Labelled]:
    """Return factors without identities over a summed label: the other label takes its name."""
    for position, (term, at) in enumerate(factors):
        if not _is_identity(term) or len(factors) == 1 or len(set(at)) < 2:
            continue
        old = next((label for label in at if label not in out), None)
        others = factors[:position] + factors[position + 1 :]
        if old is None or not any(old in own for _, own in others):
            continue
        new = at[0] if old == at[1] else at[1]
        renamed = [_relabelled(pool, term, own, old, new) for term, own in others]
        return _without_identities(pool, renamed, out)
    return factors


def _relabelled(pool: Pool, term: Term, at: Labels, old: int, new: int) -> Labelled:
    labels = tuple(new if label == old else label for label in at)
    return diagonal_part(pool, term, labels)


def diagonal_part(pool: Pool, term: Term, at: Labels) -> Labelled:
    """Return a term without repeated labels: its diagonal."""
    if len(set(at)) == len(at):
        return term, at
    once = tuple(dict.fromkeys(at))
    sizes = dict(zip(at, term.shape, strict=True))
    return pool.term("einsum", (term,), (relative([at], once)), [sizes[label] for label in once]), once


def _is_identity(term: Term) -> bool:
    return term.form == "call" and term.data.rule.role == "identity"


def _step(pool: Pool, factors: list[Labelled], out: Labels) -> list[Labelled] | None:
    """Return the factors with two of them combined; None if no pair is a product of matrices or a scaling."""
    for label in dict.fromkeys(label for _, at in factors for label in at):
        if label in out:
            continue
        holding = [k for k, (_, at) in enumerate(factors) if label in at]
        if len(holding) == 1:
            term, at = factors[holding[0]]
            if len(at) <= MOST_BROADCAST:
                return _replaced(factors, holding, (summed_out(pool, term, at, label), _without(at, label)))
        if len(holding) == 2:
            made = _pair(pool, factors, holding, out)
            if made is not None:
                return _replaced(factors, holding, made)
        if len(holding) > 2 and (nested := _nested(factors, holding)) is not None:
            (a, at), (b, inner) = factors[nested[0]], factors[nested[1]]
            product = broadcast_product(pool, [(b, inner), (a, at)], at)
            return _replaced(factors, nested, (product, at))
    return None


def _without(at: Labels, label: int) -> Labels:
    return tuple(own for own in at if own != label)


def _replaced(factors: list[Labelled], positions: Sequence[int], new: Labelled) -> list[Labelled]:
    kept = [f for k, f in enumerate(factors) if k not in positions]
    return [*kept[: positions[0]], new, *kept[positions[0] :]]


def _nested(factors: Sequence[Labelled], holding: Sequence[int]) -> tuple[int, int] | None:
    """Return two factors of which the second has labels of the first alone: it scales the first."""
    for a in holding:
        for b in holding:
            if a != b and set(factors[b][1]) <= set(factors[a][1]) and len(factors[a][1]) <= MOST_BROADCAST:
                return a, b
    return None


def _pair(pool: Pool, factors: Sequence[Labelled], pair: Sequence[int], out: Labels) -> Labelled | None:
    """Return the product of two factors, summed over the labels that nothing else holds."""
    (a, at), (b, bt) = factors[pair[0]], factors[pair[1]]
    if max(len(at), len(bt)) > MOST_BROADCAST:
        return None
    rest = {label for k, (_, own) in enumerate(factors) if k not in pair for label in own} | set(out)
    shared = [label for label in at if label in bt]
    inner = [label for label in shared if label not in rest]
    batch = [label for label in shared if label in rest]
    left = [label for label in at if label not in bt]
    right = [label for label in bt if label not in at]
    if len(inner) == 1 and not batch:
        return _matrix_product(pool, (a, at), (b, bt), inner[0], left, right)
    if len(inner) == 2:
        b = b if bt == at else transposed(pool, b)
        return trace_of_product(pool, a, b), ()
    if len(inner) == len(batch) == 1 and not left and not right:
        order = (batch[0], inner[0])
        a, b = (term if own == order else transposed(pool, term) for term, own in ((a, at), (b, bt)))
        return diagonal_of_product(pool, a, b), (batch[0],)
    return None


def _matrix_product(
    pool: Pool, one: Labelled, other: Labelled, inner: int, left: Sequence[int], right: Sequence[int]
) -> Labelled:
    (a, at), (b, bt) = one, other
    out = (*left, *right)
    if not left and not right:
        return inner_product(pool, a, b), ()
    if not left:
        matrix = transposed(pool, b) if bt[0] == inner else b
        return _times_vector(pool, matrix, a), out
    matrix = a if at[1] == inner else transposed(pool, a)
    if not right:
        return _times_vector(pool, matrix, b), out
    second = b if bt[0] == inner else transposed(pool, b)
    return pool.term("matrix_product", (matrix, second), None, (matrix.shape[0], second.shape[1])), out


def _times_vector(pool: Pool, matrix: Term, vector: Term) -> Term:
    made = structured(pool, matrix, vector)
    return made if made is not None else pool.term("matrix_vector", (matrix, vector), None, matrix.shape[:1])


def _last(pool: Pool, factors: list[Labelled], out: Labels) -> Term:
    """Return the term of factors of which no pair is combined any more."""
    if len(factors) == 1:
        (term, at) = factors[0]
        for label in [label for label in at if label not in out]:
            term, at = summed_out(pool, term, at, label), _without(at, label)
        return aligned(pool, term, at, out) if at else term
    factors = _scaled(pool, factors)
    inner = [f for f in factors if not set(f[1]) <= set(out)]
    if not inner:
        return _outer(pool, factors, out)
    if len(inner) < len(factors):
        rest = tuple(dict.fromkeys(label for _, at in inner for label in at if label in out))
        outer = [f for f in factors if f not in inner]
        return _last(pool, [(_last(pool, inner, rest), rest), *outer], out)
    summed_labels = {label for _, at in inner for label in at} - set(out)
    if len(summed_labels) == 1 and len(inner) > 3 and all(len(at) == 2 for _, at in inner):
        inner = _in_halves(pool, inner, summed_labels.pop())
    return _einsum(pool, inner, out)


def _scaled(pool: Pool, factors: list[Labelled]) -> list[Labelled]:
    """Return factors in which each vector multiplies a matrix over its index, if there is one."""
    for k, (vector, at) in enumerate(factors):
        wide = next((j for j, (_, own) in enumerate(factors) if len(at) == 1 < len(own) == 2 and at[0] in own), None)
        if wide is not None:
            matrix, own = factors[wide]
            made = broadcast_product(pool, [(vector, at), (matrix, own)], own)
            return _scaled(pool, _replaced(factors, sorted((k, wide)), (made, own)))
    return factors


def _in_halves(pool: Pool, factors: list[Labelled], label: int) -> list[Labelled]:
    """Return two factors, each the product of half of some matrices over one summed index: their sum is one product."""
    made: list[Labelled] = []
    for half in (factors[: len(factors) // 2], factors[len(factors) // 2 :]):
        at = (label, *(own for _, labels in half for own in labels if own != label))
        made.append((_outer(pool, half, at), at) if len(half) > 1 else half[0])
    return made


def _outer(pool: Pool, factors: list[Labelled], out: Labels) -> Term:
    """Return a product without a sum."""
    in_order = all(at == tuple(label for label in out if label in at) for _, at in factors)
    is_whole = in_order and (any(at == out for _, at in factors) or len(out) == MOST_BROADCAST + 1)
    if len(out) <= MOST_BROADCAST or is_whole or all(len(at) == 1 for _, at in factors):
        return broadcast_product(pool, factors, out)
    return _einsum(pool, factors, out)


def _einsum(pool: Pool, factors: list[Labelled], out: Labels) -> Term:
    sizes: dict[int, Size] = {}
    for term, at in factors:
        sizes.update(zip(at, term.shape, strict=True))
    inner, result = relative([at for _, at in factors], out)
    return pool.term("einsum", [term for term, _ in factors], (inner, result), [sizes[label] for label in out])


def relative(operands: Sequence[Labels], out: Labels) -> tuple[tuple[Labels, ...], Labels]:
    """Return labels numbered by their first appearance, so that equal contractions are one term."""
    number = {label: k for k, label in enumerate(dict.fromkeys(label for at in operands for label in at))}
    return tuple(tuple(number[label] for label in at) for at in operands), tuple(number[label] for label in out)


def summed_out(pool: Pool, term: Term, at: Labels, label: int) -> Term:
    """Return the sum of a term over one of its labels."""
    if term.rank == 1:
        return summed(pool, term, None)
    return summed(pool, term, at.index(label))


def aligned(pool: Pool, term: Term, at: Labels, out: Labels) -> Term:
    """Return a term whose axes follow `out`, with axes of length 1 for labels that it lacks, so that it broadcasts."""
    order = [at.index(label) for label in out if label in at]
    if order != sorted(order):
        shape = [term.shape[k] for k in order]
        is_matrix = len(order) == 2
        term = transposed(pool, term) if is_matrix else pool.term("permute", (term,), tuple(order), shape)
    places = tuple(label in at for label in out)
    if all(places):
        return term
    if places == (True, False):
        return pool.term("column", (term,), None, term.shape)
    if places == (False, True):
        return pool.term("row", (term,), None, term.shape)
    return pool.term("expand", (term,), places, term.shape)


def broadcast_product(pool: Pool, factors: Sequence[Labelled], out: Labels) -> Term:
    """Return the elementwise product of factors that expand to the axes `out`."""
    if len(factors) == 2 and len(out) == 2 and all(len(at) == 1 for _, at in factors):
        (a, at), (b, _) = factors
        pair = (a, b) if at[0] == out[0] else (b, a)
        return pool.term("outer_product", pair, None, (*pair[0].shape, *pair[1].shape))
    sizes: dict[int, Size] = {}
    for term, at in factors:
        sizes.update(zip(at, term.shape, strict=True))
    shape = [sizes.get(label, Size.of(1)) for label in out]
    total: Term | None = None
    for term, at in factors:
        one = aligned(pool, term, at, out)
        total = one if total is None else pool.term("mul", (total, one), None, shape)
    assert total is not None
    return total
