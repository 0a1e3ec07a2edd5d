"""What is a part of a product: whether some of its operands are the scalar, vector or matrix that a pattern names.

Rewrites, laws, kernels, chains and proofs all ask here. What a pattern sums is summed in the product too, by the part
alone. What it does not sum are the indices at which the part is read: as a factor of a larger product they may be one
(a trace, a diagonal), since the identity holds entry by entry. As a tensor, which an operation takes whole, they are as
many as the tensor has axes: the diagonal of `A*B` is no `A*B`, and a walk that ends where it began is no matrix.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from matcalc.tensor.node import Indices, Node, OpenProduct


def is_part(product: Node | OpenProduct, places: Collection[int], indices: Mapping[int, int], free: Indices) -> bool:
    """Whether operands at these places, read at `indices` by those of a pattern, are a factor with the axes `free`.

    Each index that the pattern sums is one of its own: not another's, not one of the output, and of no other operand.
    """
    inner = [given for wanted, given in indices.items() if wanted not in free]
    held = {given for wanted, given in indices.items() if wanted in free}.union(product.out)
    for place, at in enumerate(product.indices):
        if place not in places:
            held.update(at)
    return len(set(inner)) == len(inner) and held.isdisjoint(inner)


def is_the_tensor(wanted: Indices, given: Indices, indices: Mapping[int, int]) -> bool:
    """Whether output indices of a product are those of a pattern, each of them as often and at the same axes.

    One that no operand of the pattern has broadcasts; then it does so in the product too.
    """
    measured = {indices[i] for i in wanted if i in indices}
    for index, other in zip(wanted, given, strict=True):
        if indices.get(index, other) != other or (index not in indices and other in measured):
            return False
    return are_alike(wanted, given)


def are_alike(wanted: Indices, given: Indices) -> bool:
    """Whether two tuples of indices are one but for their names: equal at the same places, different at the same."""
    return tuple(map(wanted.index, wanted)) == tuple(map(given.index, given))


def is_matrix(at: Indices) -> bool:
    """Whether an operand is read as a matrix: at two indices, and not on its diagonal."""
    return len(at) == 2 and at[0] != at[1]
