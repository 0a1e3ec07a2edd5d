"""Rewrites a sum of single entries as the literal array that it prints as: `[1; 1]` for the gradient of `q[0] + q[1]`.

A literal is read as a constant node, but a sum of single entries is another node; it becomes the constant during
simplification. Larger arrays remain sums, whose text names only the few entries.
"""

from __future__ import annotations

from fractions import Fraction
from math import prod

from matcalc.tensor.nodes.node import Node
from matcalc.tensor.raw_nodes import constant

MOST_ENTRIES = 16


def literal(node: Node) -> Node:
    """Return a sum of single entries, or a multiple of a literal array, as a literal array; other nodes unchanged."""
    if not 1 <= node.rank <= 2 or not all(size.is_integer for size in node.shape):
        return node
    shape = [int(size.constant) for size in node.shape]
    if not 1 <= prod(shape) <= MOST_ENTRIES:
        return node
    entries = _entries_of_sum(node) if node.kind == "sum" else _multiple(node)
    if not entries or any(Fraction(repr(float(value))) != value for value in entries.values()):
        return node
    import numpy as np

    array = np.zeros(shape)
    for at, value in entries.items():
        array[at] = float(value)
    return constant(array)


def _entries_of_sum(node: Node) -> dict[tuple[int, ...], Fraction]:
    """Return the nonzero entries of a sum; none if a term is more than a number at one index."""
    entries: dict[tuple[int, ...], Fraction] = {}
    for coef, term in node.terms:
        at = _index_of_entry(term)
        if at is None:
            return {}
        entries[at] = entries.get(at, Fraction(0)) + coef * term.coef
    return entries


def _multiple(node: Node) -> dict[tuple[int, ...], Fraction]:
    """Return the entries of a literal array times a number, none if it is something else."""
    if node.kind != "product" or len(node.operands) != 1 or node.operands[0][0].kind != "constant":
        return {}
    import numpy as np

    array, at = node.operands[0]
    if at != node.out or not np.isfinite(array.array).all():
        return {}
    return {index: node.coef * Fraction(repr(float(value))) for index, value in np.ndenumerate(array.array)}


def _index_of_entry(term: Node) -> tuple[int, ...] | None:
    """Return the index of the entry that a term sets, None if it is more than a number at one index."""
    if term.kind != "product" or len(set(term.out)) < len(term.out):
        return None
    found = {index: 0 for index in term.out if term.index_sizes[index] == 1}
    for selector, at in term.operands:
        if not selector.selects("slice") or at[0] in found or at[0] not in term.out or at[1] in term.out:
            return None
        offset, length = selector.selector.span
        if length != 1 or not offset.is_integer:
            return None
        found[at[0]] = int(offset.constant)
    return tuple(found[index] for index in term.out) if len(found) == len(term.out) else None
