"""Writes the entries of a sparse result as formulas, and arranges their values in SciPy's CSR arrays."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from matcalc.cached import cached_property
from matcalc.language.identifiers import free
from matcalc.sparse_results.pattern import Instance
from matcalc.sparse_results.relations import Table
from matcalc.sparse_results.terms import Group, Term, group_of, grouped, terms_of_result, values_of
from matcalc.tensor.constructors import add, zeros
from matcalc.tensor.nodes.node import Node
from matcalc.tensor.sizes.size import Size

if TYPE_CHECKING:
    from scipy.sparse import csr_array


@dataclass(frozen=True, slots=True)
class SparseResult:
    """A result as a matrix: its first `rows` axes are rows, the others columns.

    `node` is the vector of its entries, row by row, with new arguments in `groups`. A result without known zeros has no
    groups, and its node is the result itself.
    """

    node: Node
    root: Node
    rows: int
    terms: tuple[Term, ...]
    groups: tuple[Group, ...]

    @property
    def is_full(self) -> bool:
        """Whether nothing is known to be 0."""
        return any(term.is_full for term in self.terms)

    @property
    def arguments(self) -> list[Node]:
        """The new arguments of `node`."""
        return [node for group in self.groups for node in group.arguments]

    def pattern(self, instance: Instance) -> Pattern:
        """Return the entries that can differ from 0, and the arrays for the new arguments."""
        matrix = _lengths(self.root, self.rows, instance)
        if self.is_full:
            return _pattern(matrix, np.arange(matrix[0] * matrix[1]), ())
        joins = [group.join(instance) for group in self.groups]
        entries = np.unique(np.concatenate([np.zeros(0, dtype=np.int64), *(entry for _, entry in joins)]))
        pairs = zip(self.groups, joins, strict=True)
        return _pattern(matrix, entries, [a for group, join in pairs for a in group.arrays(*join, entries)])


@dataclass(frozen=True, eq=False)
class Pattern:
    """The shape of a matrix, the columns and row starts of its entries, and arrays for new arguments."""

    shape: tuple[int, int]
    columns: NDArray[Any]
    starts: NDArray[Any]
    arrays: tuple[Table, ...]

    @property
    def count(self) -> int:
        """The number of entries."""
        return len(self.columns)

    def matrix(self, values: Any) -> csr_array:
        """Return the CSR array with these values, row by row.

        Its index arrays are those of the pattern, which all matrices of a function share: do not write to them.
        """
        made = copy(self._zeros)
        made.data = np.ravel(values)
        return made

    @cached_property
    def _zeros(self) -> csr_array:
        """The CSR array of this pattern without values, whose format is checked once."""
        from scipy.sparse import csr_array

        made = csr_array((np.zeros(self.count), self.columns, self.starts), shape=self.shape)
        made.has_canonical_format = True
        return made


def pattern_of(root: Node, rows: int, instance: Instance) -> Pattern:
    """Return the entries of a result that can differ from 0, without arrays for its values."""
    shape, terms = _lengths(root, rows, instance), terms_of_result(root)
    if any(term.is_full for term in terms):
        return _pattern(shape, np.arange(shape[0] * shape[1]), ())
    firsts = [part[0] for part in grouped(terms)]
    found = [term.entries(term.join(instance), instance) for term in firsts]
    return _pattern(shape, np.unique(np.concatenate([np.zeros(0, dtype=np.int64), *found])), ())


def _lengths(root: Node, rows: int, instance: Instance) -> tuple[int, int]:
    """Return the shape of a result as a matrix."""
    shape = [instance.length(size) for size in root.shape]
    return prod(shape[:rows]), prod(shape[rows:])


def _pattern(shape: tuple[int, int], entries: Table, arrays: Sequence[Table]) -> Pattern:
    """Return the pattern with entries at these sorted row-major positions."""
    rows, columns = np.divmod(entries, max(shape[1], 1))
    starts = np.searchsorted(rows, np.arange(shape[0] + 1))
    kind = np.int32 if max(len(entries), *shape) < 2**31 else np.int64
    return Pattern(shape, columns.astype(kind), starts.astype(kind), tuple(map(np.ascontiguousarray, arrays)))


def sparse_result(root: Node, rows: int, values: dict[Node, Node], used: set[str]) -> SparseResult:
    """Return a result by its entries; names of new symbols are added to `used`.

    `values` maps each sparse symbol to the vector of the values of its stored entries.
    """
    terms = terms_of_result(root)
    if any(term.is_full for term in terms):
        return SparseResult(root, root, rows, tuple(terms), ())
    groups = tuple(group_of(part, used) for part in grouped(terms))
    length = Size.of(free("entries", used))
    parts = [(1, values_of(group, values, length)) for group in groups]
    return SparseResult(add(parts) if parts else zeros((length,)), root, rows, tuple(terms), groups)
