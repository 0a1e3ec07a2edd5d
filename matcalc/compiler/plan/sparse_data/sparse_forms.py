"""The forms of nodes in formulas with sparse matrices, and the operations on stored entries.

The operations have no entry in the rulebook, since users do not write them, and derivatives have been taken before
they are introduced. `codegen/kernels.toml` has their kernels.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

from matcalc.compiler.plan.values.describe import brief
from matcalc.language.kinds import SPARSE
from matcalc.rulebook.entry import rule_from_table
from matcalc.rulebook.rule import Rule
from matcalc.tensor.nodes.node import Node, toposort
from matcalc.tensor.raw_nodes import op_node
from matcalc.tensor.sizes.size import Size

SIGNATURES = {
    "csr_mv": "(v: vector(t), c: vector(t), starts: vector(q), w: vector(j)) -> vector(i)",
    "csr_tmv": "(v: vector(t), c: vector(t), starts: vector(q), r: vector(i)) -> vector(j)",
    "csr_mm": "(v: vector(t), c: vector(t), starts: vector(q), W: matrix(j, k)) -> matrix(i, k)",
    "csr_tmm": "(v: vector(t), c: vector(t), starts: vector(q), R: matrix(i, k)) -> matrix(j, k)",
    "csr_rows": "(c: vector(t), starts: vector(q), d: vector(i)) -> vector(t)",
    "csr_columns": "(c: vector(t), starts: vector(q), e: vector(j)) -> vector(t)",
    "csr_entries": "(c: vector(t), starts: vector(q), M: matrix(i, j)) -> vector(t)",
    "csr_sampled": "(c: vector(t), starts: vector(q), U: matrix(i, k), V: matrix(j, k)) -> vector(t)",
    "csr_gram": "(v: vector(t), c: vector(t), starts: vector(q), u: vector(t)) -> matrix(j, j)",
    "csr_forms": "(v: vector(t), c: vector(t), starts: vector(q), u: vector(t), M: matrix(j, j)) -> vector(i)",
    "csr_outer": "(v: vector(t), c: vector(t), starts: vector(q), u: vector(t)) -> matrix(i, i)",
}
"""The parameters of the kernels for stored entries; `kernels.toml` defines their results in index form."""
LINEAR = ("csr_mv", "csr_tmv", "csr_mm", "csr_tmm", "csr_gram", "csr_forms")
"""Kernels that are linear in each array of values and accept columns in any order: entries stored twice are added."""


class Stored(NamedTuple):
    """The arrays of a sparse matrix: values and columns of the stored entries, row by row, and the starts of rows."""

    symbol: Node
    values: Node
    columns: Node
    starts: Node

    @property
    def arrays(self) -> tuple[Node, Node, Node]:
        """The symbols of the arrays."""
        return self.values, self.columns, self.starts

    @property
    def structure(self) -> tuple[Node, Node]:
        """The symbols of columns and row starts."""
        return self.columns, self.starts

    @property
    def length(self) -> Size:
        """The number of stored entries."""
        return self.values.shape[0]


class Pattern(NamedTuple):
    """A matrix with these values at the stored entries of another, and 0 elsewhere; `transposed`: its transpose."""

    of: Stored
    values: Node
    transposed: bool

    def has_entries_of(self, other: Pattern) -> bool:
        """Whether both have their entries at the same indices."""
        return self.of is other.of and self.transposed == other.transposed


class Mixed(NamedTuple):
    """A sum of patterns and other terms."""

    node: Node


class NeedsDense(NamedTuple):
    """The error of a node that would need a dense copy: message and hint."""

    message: str
    hint: str


Form = Node | Pattern | Mixed | NeedsDense


def needs_dense(node: Node, why: str) -> NeedsDense:
    """Return the error for a node that would need a dense copy of the sparse matrix in it."""
    names = [n.name for n in toposort([node]) if n.kind == "symbol" and SPARSE in n.facts]
    name, what = (names[0], f"the sparse {names[0]}") if names else ("X", "a sparse matrix")
    hint = f"declare {name} without sparse and pass {name}.toarray()"
    return NeedsDense(f"{brief(node)} {why}: it would need a dense copy of {what}", hint)


@cache
def _rule(name: str) -> Rule:
    table = {"signature": f"{name}{SIGNATURES[name]}", "value": "None", "differential": "0", "internal": True}
    return rule_from_table(name, table, f"codegen/kernels.toml [{name}]")


def stored_op(name: str, args: Sequence[Node], shape: tuple[Size, ...]) -> Node:
    """Return the result of an operation on stored entries."""
    rule = _rule(name)
    return op_node(rule, (), args, [()] * len(args), rule.outputs[0], shape, 0)
