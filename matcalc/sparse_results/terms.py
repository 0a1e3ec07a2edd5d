"""Divides a result into terms with their own entries, and writes the values of these entries as a formula.

A term is a product. Some of its operands tell where it can differ from 0: selectors, sparse matrices, masks, facts.
Their relations are joined when the numbers of all sizes are known. Each tuple of the join contributes to one entry of
the result. The formula of the values has new arguments: for each index of the join the array of its values, and the
positions of the entries. So `diag(x)*D`, with sparse D, becomes the vector of all `x[i[t]]*D_values[k[t]]`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from matcalc.compiler.plan.sparse_data.sparse import is_sparse
from matcalc.language.identifiers import free
from matcalc.language.kinds import INDEX
from matcalc.sparse_results.networks import contracted, is_structured, telling
from matcalc.sparse_results.pattern import Instance, relation
from matcalc.sparse_results.relations import Relation, Table, from_columns, joined, places, with_all
from matcalc.tensor.constructors import add, over_terms, product, symbol, zeros
from matcalc.tensor.nodes.node import Indices, Node, OpenProduct, Operand
from matcalc.tensor.raw_nodes import lookup
from matcalc.tensor.sizes.size import Size

POSITION = -1
"""The label of the position of an entry among the stored entries of a sparse matrix, minus its operand's number."""


@dataclass(frozen=True, slots=True)
class Term:
    """A product: the operands that tell where it can differ from 0, and those that its values are computed from.

    `masks` tell by their position, `stored` are sparse matrices, `others` have values. `labels` are the indices that a
    tuple of the join fixes: those of `masks`, of `stored` and of the result, `out`. Indices are numbered in this order:
    those of `out`, of operands that tell, of others. So terms whose zeros are the same agree in these numbers.
    """

    coef: Fraction
    masks: tuple[Operand, ...]
    stored: tuple[Operand, ...]
    others: tuple[Operand, ...]
    out: Indices
    index_sizes: tuple[Size, ...]
    labels: Indices

    @property
    def is_full(self) -> bool:
        """Whether nothing is known to be 0."""
        return not self.masks and not self.stored and len(set(self.out)) == len(self.out)

    @property
    def zeros(self) -> object:
        """What the entries that can differ from 0 depend on."""
        return self.masks, self.stored, self.out, self.index_sizes[: len(self.labels)]

    def join(self, instance: Instance) -> Relation:
        """Return the tuples of indices at which the term can differ from 0, with the positions of stored entries."""
        sizes = self.lengths(instance)
        found = [_renamed(relation(mask, instance), at) for mask, at in self.masks]
        for number, (matrix, at) in enumerate(self.stored):
            own = instance.stored[matrix.name]
            position = POSITION - number
            sizes[position] = len(own.rows)
            found.append(from_columns([0, 1, 2], [*own, np.arange(len(own.rows))]).renamed([*at, position]))
        return with_all(joined(found, sizes), self.labels, sizes)

    def lengths(self, instance: Instance) -> dict[int, int]:
        """Return the length of each index."""
        return {index: instance.length(size) for index, size in enumerate(self.index_sizes)}

    def entries(self, found: Relation, instance: Instance) -> Table:
        """Return for each tuple of the join the row-major position of its entry in the result."""
        sizes = self.lengths(instance)
        columns = [found.column(index) for index in self.out]
        lengths = {axis: sizes[index] for axis, index in enumerate(self.out)}
        axes = range(len(columns))
        return places(from_columns(axes, columns), axes, lengths)


def _renamed(found: Relation, at: Indices) -> Relation:
    return found.renamed([at[axis] for axis in found.labels])


def terms_of_result(root: Node) -> list[Term]:
    """Return the terms of a result: sums that are 0 at known entries are distributed over."""
    return [_term(contracted(whole)) for whole in _products(root)]


def full_and_structured(root: Node) -> tuple[Node, Node]:
    """Return two parts of a result: the sum of its terms without known zeros, and the sum of the others."""
    parts: tuple[list[tuple[int, Node]], ...] = ([], [])
    for whole in map(contracted, _products(root)):
        node = product(whole.coef, whole.operands, whole.out, dict(enumerate(whole.index_sizes)))
        parts[not _term(whole).is_full].append((1, node))
    full, structured = (add(part) if part else zeros(root.shape) for part in parts)
    return full, structured


def _products(root: Node) -> Iterator[OpenProduct]:
    pending = [(Fraction(1), root)]
    while pending:
        coef, node = pending.pop()
        if node.is_zero:
            continue
        if node.kind == "sum":
            pending += [(coef * c, arg) for c, arg in reversed(node.terms)]
            continue
        position = next(
            (
                k
                for k, arg in enumerate(node.args)
                if node.kind == "product" and arg.kind == "sum" and is_structured(arg)
            ),
            -1,
        )
        if position >= 0:
            pending += [(coef * c, arg) for c, arg in reversed(over_terms(node, position))]
            continue
        yield _dissolved(coef, node)


def _dissolved(coef: Fraction, node: Node) -> OpenProduct:
    """Return a node as a product whose operands are no products."""
    if node.kind != "product":
        axes = tuple(range(node.rank))
        return OpenProduct(coef, (node,), (axes,), axes, node.shape)
    whole = OpenProduct(coef * node.coef, node.args, node.indices, node.out, node.index_sizes)
    while True:
        inner = (k for k, arg in enumerate(whole.args) if arg.kind == "product" and len(set(arg.out)) == len(arg.out))
        position = next(inner, None)
        if position is None:
            return whole
        whole = whole.dissolved(position)


def _term(whole: OpenProduct) -> Term:
    """Return a product as a term, with its indices numbered."""
    tell = sorted(telling(whole.operands, whole.out), key=lambda operand: operand[0].digest)
    silent = [o for o in whole.operands if o not in tell]
    number = {i: k for k, i in enumerate(dict.fromkeys(_indices(whole.out, tell, silent)))}

    def numbered(operands: Sequence[Operand]) -> tuple[Operand, ...]:
        return tuple((node, tuple(number[i] for i in at)) for node, at in operands)

    stored = numbered([(node, at) for node, at in tell if is_sparse(node)])
    masks = numbered([(node, at) for node, at in tell if not is_sparse(node)])
    others = numbered(silent) + tuple((node, at) for node, at in masks if node.kind != "selector")
    out = tuple(number[i] for i in whole.out)
    sizes = tuple(whole.index_sizes[i] for i in number)
    return Term(whole.coef, masks, stored, others, out, sizes, tuple(dict.fromkeys(_indices(out, masks, stored))))


def _indices(out: Indices, *operands: Sequence[Operand]) -> Iterator[int]:
    """Yield the indices of a result, then those of operands."""
    yield from out
    yield from (i for part in operands for _, at in part for i in at)


@dataclass(frozen=True, slots=True)
class Group:
    """Terms with one join: its new arguments, by label, the positions of its entries, and the number of its tuples."""

    terms: tuple[Term, ...]
    indices: dict[int, Node]
    entry: Node

    @property
    def arguments(self) -> tuple[Node, ...]:
        """The new arguments: the indices of each tuple, and its entry."""
        return (*self.indices.values(), self.entry)

    def join(self, instance: Instance) -> tuple[Relation, Table]:
        """Return the join, and the row-major position in the result of each of its tuples."""
        found = self.terms[0].join(instance)
        return found, self.terms[0].entries(found, instance)

    def arrays(self, found: Relation, entry: Table, entries: Table) -> list[Table]:
        """Return the arrays for the new arguments; `entries` has the sorted positions of all entries of the result."""
        return [*(found.column(label) for label in self.indices), entries.searchsorted(entry)]


def grouped(terms: Sequence[Term]) -> list[list[Term]]:
    """Return the terms in groups whose entries that can differ from 0 are the same."""
    groups: dict[object, list[Term]] = {}
    for term in terms:
        groups.setdefault(term.zeros, []).append(term)
    return list(groups.values())


def group_of(terms: Sequence[Term], used: set[str]) -> Group:
    """Return a group with new symbols for its arguments; their names are added to `used`."""
    first = terms[0]
    count = (Size.of(free("tuples", used)),)
    needed = [i for i in first.labels if any(i in at for term in terms for _, at in term.others)]
    needed += [POSITION - number for number, _ in enumerate(first.stored)]
    indices = {label: symbol(free("k", used), count, [INDEX]) for label in needed}
    return Group(tuple(terms), indices, symbol(free("entry", used), count, [INDEX]))


def values_of(group: Group, values: dict[Node, Node], length: Size) -> Node:
    """Return the contribution of a group to the values of the entries of the result, a vector of that length."""
    return add([(1, _contribution(term, group, values, length)) for term in group.terms])


def _contribution(term: Term, group: Group, values: dict[Node, Node], length: Size) -> Node:
    sizes = dict(enumerate(term.index_sizes))
    each, entry = len(sizes), len(sizes) + 1
    sizes |= {each: group.entry.shape[0], entry: length}
    operands = list(term.others)
    used = {i for _, at in operands for i in at}
    for number, (matrix, _) in enumerate(term.stored):
        at = len(sizes)
        own = values[matrix]
        sizes[at] = own.shape[0]
        operands += [(own, (at,)), (lookup(group.indices[POSITION - number], own.shape[0]), (at, each))]
    operands += [(lookup(group.indices[label], sizes[label]), (label, each)) for label in term.labels if label in used]
    operands.append((lookup(group.entry, length), (entry, each)))
    return product(term.coef, operands, (entry,), sizes)
