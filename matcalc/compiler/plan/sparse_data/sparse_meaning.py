"""Translates operations on stored entries back for comments and names: `X*w` for `csr_mv` of arrays.

A vector with one entry for each stored entry represents the matrix with these entries.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from matcalc.compiler.plan.sparse_data.sparse_forms import SIGNATURES, Stored
from matcalc.tensor.constructors import add, apply, product
from matcalc.tensor.nodes.node import Node, Operand, toposort
from matcalc.tensor.substitute import remake

ROWS, COLUMNS = 0, 1


class Meaning:
    """Maps nodes to formulas over sparse symbols; a node without stored entries is unchanged."""

    def __init__(self, stored: Iterable[Stored]) -> None:
        self.stored = {array: s for s in stored for array in s.structure}
        self.made = {s.values: s.symbol for s in self.stored.values()}
        self.entries = {s.values: s for s in self.stored.values()}  # the matrix of each vector of stored entries

    def __call__(self, root: Node) -> Node:
        for node in toposort([root]):
            if node not in self.made:
                self.made[node] = self._found(node)
        return self.made[root]

    def _found(self, node: Node) -> Node:
        if node.kind == "op" and node.rule.name in SIGNATURES:
            return self._operation(node)
        if self.entries.keys().isdisjoint(node.args):
            return remake(node, self.made)
        if node.kind == "product":
            return self._product(node)
        args = [self.made[arg] for arg in node.args]
        if node.kind not in ("map", "sum") or not all(arg in self.entries for arg in node.args):
            return node
        self.entries[node] = self.entries[node.args[0]]
        return apply(node.rule, args, node.params) if node.kind == "map" else add([*zip(node.coefs, args, strict=True)])

    def _product(self, node: Node) -> Node:
        """Return a product of vectors of entries as one of matrices: each index becomes a row and a column."""
        of = {at[0]: self.entries[arg] for arg, at in node.operands if arg in self.entries}
        column = {index: len(node.index_sizes) + k for k, index in enumerate(sorted(of))}
        others = {i for arg, at in node.operands if arg not in self.entries for i in at}
        if not others.isdisjoint(of) or (of.keys() & set(node.out) and len(node.out) > 1):
            return node
        sizes = node.sizes
        for index, stored in of.items():
            sizes[index], sizes[column[index]] = stored.symbol.shape
        operands = [
            (self.made[arg], (at[0], column[at[0]]) if arg in self.entries else at) for arg, at in node.operands
        ]
        if of.keys() & set(node.out):
            self.entries[node] = of[node.out[0]]
        out = tuple(i for index in node.out for i in ((index, column[index]) if index in column else (index,)))
        return product(node.coef, operands, out, sizes)

    def _operation(self, node: Node) -> Node:
        """Return an operation on stored entries as a product with the sparse matrix."""
        stored = next(self.stored[arg] for arg in node.args if arg in self.stored)
        arrays = [self.made[arg] for arg in node.args if arg not in self.stored]
        operands, out = OPERATIONS[node.rule.name](arrays)
        if node.shape == (stored.length,):
            self.entries[node] = stored
        rows, columns = stored.symbol.shape
        return product(1, operands, out, {ROWS: rows, COLUMNS: columns})


X = (ROWS, COLUMNS)
OPERATIONS: dict[str, Callable[[Sequence[Node]], tuple[list[Operand], tuple[int, ...]]]] = {
    "csr_mv": lambda a: ([(a[0], X), (a[1], (COLUMNS,))], (ROWS,)),
    "csr_tmv": lambda a: ([(a[0], X), (a[1], (ROWS,))], (COLUMNS,)),
    "csr_mm": lambda a: ([(a[0], X), (a[1], (COLUMNS, 2))], (ROWS, 2)),
    "csr_tmm": lambda a: ([(a[0], X), (a[1], (ROWS, 2))], (COLUMNS, 2)),
    "csr_rows": lambda a: ([(a[0], (ROWS,))], X),
    "csr_columns": lambda a: ([(a[0], (COLUMNS,))], X),
    "csr_entries": lambda a: ([(a[0], X)], X),
    "csr_sampled": lambda a: ([(a[0], (ROWS, 2)), (a[1], (COLUMNS, 2))], X),
    "csr_gram": lambda a: ([(a[0], X), (a[1], (ROWS, 2))], (COLUMNS, 2)),
    "csr_outer": lambda a: ([(a[0], X), (a[1], (2, COLUMNS))], (ROWS, 2)),
    "csr_forms": lambda a: ([(a[0], X), (a[1], (ROWS, 2)), (a[2], (COLUMNS, 2))], (ROWS,)),
}
"""For each operation, from its arguments other than index arrays: the operands and output indices of the product."""
