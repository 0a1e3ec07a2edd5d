"""Defines relations: the index tuples at which an array can differ from 0, as a table with a column for each index.

A relation constrains the indices of its columns. All other indices are free. The product of arrays can differ from 0
where all of them can: that is the natural join of their relations, as in a database.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Table = NDArray[np.int64]


class Relation(NamedTuple):
    """Tuples of indices: row r of `table` has at column k the value of index `labels[k]`. No row occurs twice.

    Shapes: table (number of tuples, number of labels).
    """

    labels: tuple[int, ...]
    table: Table

    def column(self, label: int) -> Table:
        """Return the values of one index."""
        return self.table[:, self.labels.index(label)]

    def renamed(self, labels: Sequence[int]) -> Relation:
        """Return the relation with other labels; where two become equal, only tuples with equal values stay."""
        table, kept = self.table, list(dict.fromkeys(labels))
        firsts = [list(labels).index(label) for label in kept]
        for position, label in enumerate(labels):
            first = firsts[kept.index(label)]
            if first != position:
                table = table[table[:, first] == table[:, position]]
        return Relation(tuple(kept), table[:, firsts])


EVERYTHING = Relation((), np.zeros((1, 0), dtype=np.int64))
"""The relation that constrains no index."""


def from_columns(labels: Sequence[int], columns: Sequence[Table]) -> Relation:
    """Return the relation of these columns."""
    return Relation(tuple(labels), np.stack([np.asarray(c, dtype=np.int64).ravel() for c in columns], axis=1))


def joined(relations: Iterable[Relation], sizes: Mapping[int, int]) -> Relation:
    """Return the natural join of relations; each next one shares an index with those before if any does."""
    pending = sorted(relations, key=lambda r: len(r.table))
    found = EVERYTHING
    while pending:
        sharing = [r for r in pending if set(r.labels) & set(found.labels)] or pending
        # a relation without new indices only removes tuples
        new = min(sharing, key=lambda r: (len(set(r.labels) - set(found.labels)), len(r.table)))
        pending = [r for r in pending if r is not new]
        found = _join(found, new, sizes)
    return found


def _join(one: Relation, other: Relation, sizes: Mapping[int, int]) -> Relation:
    shared = [label for label in one.labels if label in other.labels]
    left, right = _keys(one, shared, sizes), _keys(other, shared, sizes)
    order = np.argsort(right, kind="stable")
    ascending = right[order]
    start, stop = np.searchsorted(ascending, left, "left"), np.searchsorted(ascending, left, "right")
    counts = stop - start
    rows = np.repeat(np.arange(len(left)), counts)
    within = np.arange(len(rows)) - np.repeat(np.cumsum(counts) - counts, counts)
    matches = order[np.repeat(start, counts) + within]
    new = [k for k, label in enumerate(other.labels) if label not in one.labels]
    labels = (*one.labels, *(other.labels[k] for k in new))
    return Relation(labels, np.concatenate([one.table[rows], other.table[matches][:, new]], axis=1))


def _keys(relation: Relation, labels: Sequence[int], sizes: Mapping[int, int]) -> Table:
    """Return one number for the values of these indices in each tuple."""
    key = np.zeros(len(relation.table), dtype=np.int64)
    for label in labels:
        key = key * sizes[label] + relation.column(label)
    return key


def with_all(relation: Relation, labels: Sequence[int], sizes: Mapping[int, int]) -> Relation:
    """Return the relation with a column for each of these labels too: a free index takes all its values."""
    free = [label for label in labels if label not in relation.labels]
    return joined([relation, *(Relation((i,), np.arange(sizes[i]).reshape(-1, 1)) for i in free)], sizes)


def places(relation: Relation, labels: Sequence[int], sizes: Mapping[int, int]) -> Table:
    """Return the row-major position of each tuple in the array of these indices, all of them columns."""
    return _keys(relation, labels, sizes)


def projected(relation: Relation, labels: Sequence[int], sizes: Mapping[int, int]) -> Relation:
    """Return the relation on those of these labels that are its columns, each tuple once."""
    kept = [label for label in labels if label in relation.labels]
    table = relation.table[:, [relation.labels.index(label) for label in kept]]
    _, first = np.unique(_keys(Relation(tuple(kept), table), kept, sizes), return_index=True)
    return Relation(tuple(kept), table[first])


def united(relations: Sequence[Relation], sizes: Mapping[int, int]) -> Relation:
    """Return the relation with the tuples of each, on all labels that every one of them constrains.

    If one of them constrains nothing, the union constrains nothing.
    """
    if any(not r.labels and len(r.table) for r in relations):
        return EVERYTHING
    labels = list(dict.fromkeys(label for r in relations for label in r.labels))
    parts = [with_all(r, labels, sizes) for r in relations if len(r.table)]
    tables = [r.table[:, [r.labels.index(label) for label in labels]] for r in parts]
    table = np.concatenate([*tables, np.zeros((0, len(labels)), dtype=np.int64)])
    return projected(Relation(tuple(labels), table), labels, sizes)
