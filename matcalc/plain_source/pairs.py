"""Writes the distances of all pairs of rows without the array of their differences.

An index form of differences `{k: X[i,k] - Y[j,k]}` is remembered with its two matrices. The length of such a vector is
a distance, and its direction is the difference divided by the distance.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from matcalc.plain_source.read import Reader, Value, factors_of
from matcalc.plain_source.terms.contraction import Labelled, Labels, aligned
from matcalc.plain_source.terms.products import is_ones
from matcalc.plain_source.terms.term import Term

SYMMETRIC = frozenset({"symmetric"})


def squared_distances(reader: Reader, factors: Sequence[Labelled], labels: Labels) -> Value | None:
    """Return the sum over one label of squared differences of rows; None for another sum."""
    if len(factors) != 1 or len(labels) != 1:
        return None
    term, at = factors[0]
    if not _is_square(term):
        return None
    return _of_pairs(reader, "squared_distances", (term.args[0], at), labels[0])


def distances(reader: Reader, vector: Value) -> Value | None:
    """Return the lengths of vectors of differences of rows; None for other vectors."""
    factors, labels = reader.arrays.get((vector.term, vector.axes), ([], ()))
    if len(factors) != 1 or len(labels) != 1:
        return None
    return _of_pairs(reader, "distances", factors[0], labels[0])


def remember_direction(reader: Reader, vector: Value, term: Term) -> None:
    """Remember the direction of a vector of differences as the difference times the reciprocal of the distance."""
    length = distances(reader, vector)
    if length is not None:
        factors, labels = reader.arrays[vector.term, vector.axes]
        reciprocal = reader.pool.term("reciprocal", (length.term,), None, length.term.shape, length.term.facts)
        reader.arrays[term, vector.axes] = [(reciprocal, length.axes), *factors], labels


def remember_form(reader: Reader, term: Term, rest: Labels, labels: Labels, factors: list[Labelled]) -> None:
    """Remember an index form with the factors of its entries; one factor that is a sum makes it that sum."""
    reader.arrays[term, rest] = factors, labels
    if len(factors) == 1 and factors[0] in reader.sums:
        reader.sums[term, rest + labels] = reader.sums[factors[0]]


def remember_entry(reader: Reader, base: Value, value: Value, labels: Labels) -> None:
    """Remember the factors of an entry of an index form, or of its square, whose axes have these labels now."""
    is_square = _is_square(base.term)
    inner = base.term.args[0] if is_square else base.term
    if (inner, base.axes) not in reader.arrays:
        return
    factors, own = reader.arrays[inner, base.axes]
    names = dict(zip(own, labels, strict=True))
    whole = inner, base.axes + own
    for term, at in [*factors, whole]:
        if (term, at) in reader.sums:
            parts = [(sign, _renamed_value(reader, part, names)) for sign, part in reader.sums[term, at]]
            reader.sums[term, _renamed(at, names)] = parts
    if not is_square:
        reader.factors[value.term, value.axes] = [(term, _renamed(at, names)) for term, at in factors]


def _is_square(term: Term) -> bool:
    return term.form == "power" and term.args[1].form == "number" and term.args[1].data == 2


def _renamed_value(reader: Reader, value: Value, names: Mapping[int, int]) -> Value:
    made = replace(value, axes=_renamed(value.axes, names))
    key = value.term, value.axes
    if key in reader.factors:
        reader.factors[made.term, made.axes] = [(term, _renamed(at, names)) for term, at in factors_of(reader, value)]
    return made


def _renamed(labels: Labels, names: Mapping[int, int]) -> Labels:
    return tuple(names.get(label, label) for label in labels)


def _of_pairs(reader: Reader, form: str, factor: Labelled, label: int) -> Value | None:
    """Return a function of all pairs of rows of two matrices whose difference is a factor."""
    terms = reader.sums.get(factor, [])
    if sorted(sign for sign, _ in terms) != [-1, 1]:
        return None
    rows = [_rows(reader, value, label) for _, value in terms]
    if None in rows:
        return None
    (a, i), (b, j) = filter(None, rows)
    if {i, j, label} != set(factor[1]) or i == j:
        return None
    facts = SYMMETRIC if a is b else frozenset[str]()
    return Value(reader.pool.term(form, (a, b), None, (a.shape[0], b.shape[0]), facts), axes=(i, j))


def _rows(reader: Reader, value: Value, label: int) -> tuple[Term, int] | None:
    """Return a matrix whose columns have a label, and the label of its rows; None for other terms of a difference."""
    factors = [factor for factor in factors_of(reader, value) if not is_ones(factor[0])]
    if len(factors) != 1 or len(factors[0][1]) != 2 or label not in factors[0][1]:
        return None
    (term, at) = factors[0]
    own = next((one for one in at if one != label), label)
    return aligned(reader.pool, term, at, (own, label)), own
