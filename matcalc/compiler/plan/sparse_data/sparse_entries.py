"""Computes the entries of any matrix at the stored entries of a sparse one: a vector, without the other entries.

Elementwise functions and sums are computed entry by entry. An entry of a product uses a row of one factor and a column
of the other: `U*V'` sums over their common index for each stored entry. Entries of arrays are read.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction

from matcalc.compiler.plan.sparse_data.sparse_forms import (
    Form,
    Mixed,
    NeedsDense,
    Pattern,
    Stored,
    needs_dense,
    stored_op,
)
from matcalc.tensor.constructors import add, apply, product, selector
from matcalc.tensor.nodes.node import Node, Operand
from matcalc.tensor.sizes.selectors import merge
from matcalc.tensor.sizes.size import Size, volume

Vector = Node | NeedsDense
Dense = list[Operand]


class Entries:
    """Vectors of entries of nodes, each computed once; `form` returns a node without sparse matrices."""

    def __init__(self, form: Callable[[Node], Form]) -> None:
        self.form = form
        self.made: dict[tuple[Node, Node, bool], Vector] = {}

    def of(self, node: Node, stored: Stored, transposed: bool) -> Vector:
        """Return the entries of a matrix at the stored entries of another, or of its transpose.

        Shapes: node as the matrix, or as its transpose if `transposed`; result (stored entries,).
        """
        order: list[Node] = []
        pending = [node]
        while pending:  # operands first, without recursion
            one = pending.pop()
            order.append(one)
            if one.kind in ("map", "sum") and (one, stored.symbol, transposed) not in self.made:
                pending.extend(one.args)
        for one in reversed(order):
            key = (one, stored.symbol, transposed)
            if key not in self.made:
                self.made[key] = self._found(one, stored, transposed)
        return self.made[node, stored.symbol, transposed]

    def _found(self, node: Node, stored: Stored, transposed: bool) -> Vector:
        if node.kind in ("map", "sum"):
            parts = [self.made[arg, stored.symbol, transposed] for arg in node.args]
            fault = next((p for p in parts if isinstance(p, NeedsDense)), None)
            if fault is not None:
                return fault
            vectors = [p for p in parts if isinstance(p, Node)]
            if node.kind == "sum":
                return add(list(zip(node.coefs, vectors, strict=True)))
            return apply(node.rule, vectors, node.params)
        form = self.form(node)
        if isinstance(form, Pattern):
            same = form.of is stored and form.transposed == transposed
            return form.values if same else needs_dense(node, "has other stored entries than another sparse matrix")
        if isinstance(form, (NeedsDense, Mixed)):
            return form if isinstance(form, NeedsDense) else needs_dense(node, "adds a sparse matrix to other arrays")
        if form.kind == "product":
            out = form.out[::-1] if transposed else form.out
            return self.of_product(form.coef, list(form.operands), (out[0], out[1]), form.sizes, stored, node)
        return self._read(form, stored, transposed)

    def _read(self, node: Node, stored: Stored, transposed: bool) -> Node:
        """Return the entries of an array."""
        matrix = product(1, [(node, (0, 1))], (1, 0)) if transposed else node
        return stored_op("csr_entries", [*stored.structure, matrix], (stored.length,))

    def of_product(
        self,
        coef: Fraction | int,
        operands: Dense,
        at: tuple[int, int],
        sizes: Mapping[int, Size],
        stored: Stored,
        what: Node,
    ) -> Vector:
        """Return the entries of a product of dense operands whose rows and columns have the indices `at`."""
        row, column = at
        if row == column:
            return needs_dense(what, "reads a diagonal at the stored entries of a sparse matrix")
        factors: Dense = []
        parts = linked(operands, {row, column})
        for index, other in ((row, column), (column, row)):  # the operands with rows alone make one vector
            alone = [p for p in parts if index in _indices(p) and other not in _indices(p)]
            parts = [p for p in parts if p not in alone] + ([[o for p in alone for o in p]] if alone else [])
        for part in parts:
            found = self._factor(part, row, column, sizes, stored, what)
            if isinstance(found, NeedsDense):
                return found
            factors.append((found, (0,) * found.rank))
        return product(coef, factors, (0,), {0: stored.length})

    def _factor(
        self, part: Dense, row: int, column: int, sizes: Mapping[int, Size], stored: Stored, what: Node
    ) -> Vector:
        """Return the entries of linked operands, which have the row index, the column index, both or neither."""
        held = _indices(part)
        if row not in held and column not in held:
            return product(1, part, ())
        if column not in held:
            return stored_op("csr_rows", [*stored.structure, product(1, part, (row,))], (stored.length,))
        if row not in held:
            return stored_op("csr_columns", [*stored.structure, product(1, part, (column,))], (stored.length,))
        if len(part) == 1:
            node, own = part[0]
            if own in ((row, column), (column, row)) and node.kind != "selector":
                return self.of(node, stored, own == (column, row))
            return needs_dense(what, "is read at other indices than the stored entries of a sparse matrix")
        return self._sampled(part, row, column, sizes, stored, what)

    def _sampled(
        self, part: Dense, row: int, column: int, sizes: Mapping[int, Size], stored: Stored, what: Node
    ) -> Vector:
        """Return the entries of `U*V'`: V from the operands with the column, U from the others."""
        right = [operand for operand in part if column in operand[1]]
        left = [operand for operand in part if column not in operand[1]]
        if any(row in own for _, own in right):
            return needs_dense(what, "needs an operand of more than two axes at the stored entries of a sparse matrix")
        common = sorted({i for _, own in left for i in own} & {i for _, own in right for i in own})
        sides = [as_matrix(left, row, common, sizes), as_matrix(right, column, common, sizes)]
        return stored_op("csr_sampled", [*stored.structure, *sides], (stored.length,))


def _indices(operands: Dense) -> set[int]:
    return {i for _, own in operands for i in own}


def linked(operands: Dense, apart: set[int]) -> list[Dense]:
    """Return operands in groups that share no indices except those in `apart`."""
    groups: list[tuple[set[int], Dense]] = []
    for operand in operands:
        own = set(operand[1]) - apart
        met = [group for group in groups if group[0] & own]
        joined = (own.union(*(g[0] for g in met)), [o for g in met for o in g[1]] + [operand])
        groups = [group for group in groups if group not in met] + [joined]
    return [group for _, group in groups]


def as_matrix(operands: Dense, index: int, others: Sequence[int], sizes: Mapping[int, Size]) -> Node:
    """Return a product with one index in front, the others merged into a second one."""
    if len(others) == 1:
        return product(1, operands, (index, others[0]), {index: sizes[index]})
    whole = 1 + max((*sizes, index))
    merged = selector(merge(*(sizes[i] for i in others)))
    lengths = {index: sizes[index], whole: volume([sizes[i] for i in others])}
    return product(1, [*operands, (merged, (whole, *others))], (index, whole), lengths)
