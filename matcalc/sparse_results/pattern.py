"""Finds where an array can differ from 0, at numbers for its sizes: selectors, masks, facts and stored entries tell.

A sum can differ from 0 where one of its terms can; a product where all its operands can, for some values of the summed
indices; a function of one operand with the value 0 at 0 where its operand can. What is not known to be 0 can differ
from 0, also where terms cancel at these sizes or indices alone, as in `x[a] - x[b]` where a = b.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from matcalc.calculus.evaluate.evaluate import evaluate
from matcalc.compiler.plan.sparse_data.sparse import is_sparse
from matcalc.sparse_results.networks import is_structured, telling
from matcalc.sparse_results.relations import EVERYTHING, Relation, from_columns, joined, projected, united, with_all
from matcalc.sparse_results.selector_entries import entries
from matcalc.tensor.nodes.node import Node
from matcalc.tensor.sizes.size import Size

HOLDS = {"diagonal": np.equal, "lower": np.greater_equal, "upper": np.less_equal}
"""Matrices with these facts are 0 except where this holds for the row and the column."""


class Stored(NamedTuple):
    """Rows and columns of the stored entries of a sparse matrix, in the order of its values."""

    rows: np.ndarray
    columns: np.ndarray


def stored_entries(matrix: Any) -> Stored:
    """Return the stored entries of a CSR matrix."""
    return Stored(np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr)), matrix.indices.astype(np.int64))


class Instance(NamedTuple):
    """What a pattern depends on besides its formula: sizes, index data and entries of sparse matrices, by name."""

    sizes: Mapping[str, int]
    indices: Mapping[str, Any]
    stored: Mapping[str, Stored]

    def length(self, size: Size) -> int:
        """Return the number of a size."""
        return size.evaluate(self.sizes)


def relation(node: Node, instance: Instance) -> Relation:
    """Return where a node can differ from 0; the labels are the numbers of its axes."""
    axes = tuple(range(node.rank))
    if not is_structured(node):
        return EVERYTHING
    if node.kind == "selector":
        return _of_selector(node, instance)
    if is_sparse(node):
        return from_columns(axes, instance.stored[node.name])
    if node.kind == "constant":
        return from_columns(axes, np.nonzero(node.array))
    if node.kind == "sum":
        return united([relation(arg, instance) for arg in node.args], _lengths(node, instance))
    if node.kind == "map":
        return relation(node.args[0], instance)
    if node.kind == "product" and (len(set(node.out)) < len(node.out) or telling(node.operands, node.out)):
        return of_axes(node, joined(constraints(node, instance), sizes_of(node, instance)), instance)
    holds = next(HOLDS[fact] for fact in HOLDS if fact in node.facts)
    m, n = _lengths(node, instance).values()
    return from_columns(axes, np.nonzero(holds(np.arange(m)[:, None], np.arange(n))))


def constraints(node: Node, instance: Instance) -> list[Relation]:
    """Return the relations on the indices of a product of its operands that tell where it is 0."""
    own = []
    for arg, at in telling(node.operands, node.out):
        found = relation(arg, instance)
        own.append(found.renamed([at[axis] for axis in found.labels]))
    return own


def of_axes(node: Node, found: Relation, instance: Instance) -> Relation:
    """Return the relation on the axes of a product, from one on its indices."""
    axes = [axis for axis, index in enumerate(node.out) if index in found.labels or node.out.count(index) > 1]
    sizes = sizes_of(node, instance)
    missing = dict.fromkeys(node.out[axis] for axis in axes if node.out[axis] not in found.labels)
    whole = with_all(found, list(missing), sizes)
    if not axes:
        return EVERYTHING if len(whole.table) else Relation((), whole.table[:, :0])
    relation_of_axes = from_columns(axes, [whole.column(node.out[axis]) for axis in axes])
    return projected(relation_of_axes, axes, _lengths(node, instance))


def sizes_of(node: Node, instance: Instance) -> dict[int, int]:
    """Return the length of each index of a product."""
    return {index: instance.length(size) for index, size in node.sizes.items()}


def _lengths(node: Node, instance: Instance) -> dict[int, int]:
    return {axis: instance.length(size) for axis, size in enumerate(node.shape)}


def _of_selector(node: Node, instance: Instance) -> Relation:
    rule = node.selector
    shape = [instance.length(size) for size in rule.shape]
    axes = tuple(range(len(shape)))
    if node.args:
        (places,) = evaluate([node.args[0]], instance.indices, instance.sizes)
        rest = np.indices(places.shape)
        return from_columns(axes, [places.astype(np.int64), *rest])
    return from_columns(axes, entries(rule.kind, shape, instance.length(rule.offset)))
