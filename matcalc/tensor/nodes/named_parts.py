"""Decides whether some operands of a product are the scalar, vector or matrix that a pattern names.

Rewrites, laws, kernels, chains and proofs all call it. An index that the pattern sums must be summed in the product
too, by that part alone. The other indices are those at which the part is read. For a factor of a larger product they
may coincide (a trace, a diagonal), since the identity holds entry by entry. For a tensor that an operation takes whole
they are distinct: the diagonal of `A*B` is not `A*B`, and a walk that ends where it began is not a matrix.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from matcalc.tensor.nodes.node import Indices, Node, OpenProduct, Operand


def is_part(product: Node | OpenProduct, positions: Collection[int], indices: Mapping[int, int], free: Indices) -> bool:
    """Return whether operands at these positions, read at the pattern's `indices`, are a factor with the axes `free`.

    Each index that the pattern sums is its own: distinct, not in the output, and of no other operand.
    """
    inner = [index for own, index in indices.items() if own not in free]
    outer = {index for own, index in indices.items() if own in free}.union(product.out)
    for position, at in enumerate(product.indices):
        if position not in positions:
            outer.update(at)
    return len(set(inner)) == len(inner) and outer.isdisjoint(inner)


def is_the_tensor(pattern: Indices, out: Indices, indices: Mapping[int, int]) -> bool:
    """Return whether the output indices of a product are those of a pattern, with the same repetitions and axes.

    An index that no operand of the pattern has broadcasts; it must broadcast in the product too.
    """
    measured = {indices[i] for i in pattern if i in indices}
    for index, other in zip(pattern, out, strict=True):
        if indices.get(index, other) != other or (index not in indices and other in measured):
            return False
    return are_alike(pattern, out)


def are_alike(one: Indices, other: Indices) -> bool:
    """Return whether two tuples of indices are equal up to renaming."""
    return tuple(map(one.index, one)) == tuple(map(other.index, other))


def is_matrix(at: Indices) -> bool:
    """Return whether an operand is read as a matrix: at two different indices."""
    return len(at) == 2 and at[0] != at[1]


def without_order(node: Node) -> Operand:
    """Return a node whose axes a product only exchanges, and the position of each axis in it; or the node as it is."""
    axes = tuple(range(node.rank))
    if node.kind != "product" or len(node.args) > 1 or node.coef != 1 or sorted(node.indices[0]) != sorted(node.out):
        return node, axes
    return node.args[0], tuple(node.indices[0].index(i) for i in node.out)
