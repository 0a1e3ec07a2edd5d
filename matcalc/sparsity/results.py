"""Writes the entries of a sparse result as formulas, and arranges their values in SciPy's CSR arrays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from matcalc.language.identifiers import free
from matcalc.sparsity.pattern import World
from matcalc.sparsity.relations import Table
from matcalc.sparsity.terms import Group, Term, group_of, grouped, terms_of_result, values_of
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

    def pattern(self, world: World) -> Pattern:
        """Return the entries that can differ from 0, for numbers of the sizes, with the arrays for the new arguments."""
        shape = [world.length(size) for size in self.root.shape]
        matrix = (int(np.prod(shape[: self.rows], dtype=np.int64)), int(np.prod(shape[self.rows :], dtype=np.int64)))
        if self.is_full:
            return Pattern(matrix, np.arange(matrix[0] * matrix[1]), ())
        joins = [group.join(world) for group in self.groups]
        entries = np.unique(np.concatenate([np.zeros(0, dtype=np.int64), *(entry for _, entry in joins)]))
        arrays = [a for group, (found, entry) in zip(self.groups, joins, strict=True) for a in group.arrays(found, entry, entries)]
        return Pattern(matrix, entries, tuple(arrays))


@dataclass(frozen=True, slots=True, eq=False)
class Pattern:
    """The shape of a matrix, the sorted row-major positions of its entries, and arrays for new arguments."""

    shape: tuple[int, int]
    entries: Table
    arrays: tuple[Table, ...]

    def matrix(self, values: Any) -> csr_array:
        """Return the CSR array with these values, row by row.

        Index arrays are those of the pattern: they are shared by all matrices of a function, so do not write to them.
        """
        from scipy.sparse import csr_array

        rows, columns = np.divmod(self.entries, max(self.shape[1], 1))
        starts = np.searchsorted(rows, np.arange(self.shape[0] + 1))
        kind = np.int32 if max(len(self.entries), *self.shape) < 2**31 else np.int64
        return csr_array((np.ravel(values), columns.astype(kind), starts.astype(kind)), shape=self.shape)


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
