"""Computes sums inside products as arrays where this needs fewer indices.

In normal form `conv(x, y)'*conv(x, y)` is a sum of one product over four indices. With its equations solved, three
indices remain. With `conv(x, y)` as an array, its product is over two indices, the outer one over its entries. Likewise
`reshape(A*B, n, m)`: `A*B` is an array read in another shape; without it, operands at the indices of the result would
be arrays with all three indices.
"""

from __future__ import annotations

from collections.abc import Sequence, Set

from matcalc.tensor.constructors import product
from matcalc.tensor.nodes.node import Indices, Node
from matcalc.tensor.raw_nodes import product_node
from matcalc.tensor.substitute import rebuild

Term = tuple[Node, Indices]
MANY_TO_ONE = ("conv", "triangle")
"""Selectors that map several combinations of indices to the same first index, so they are no reshaped views."""


def staged_sums(roots: Sequence[Node]) -> list[Node]:
    """Return the roots with sums as operands of products, if two MANY_TO_ONE selectors or shapes share an index."""
    return rebuild(roots, _staged)


def _staged(node: Node) -> Node:
    if node.kind != "product":
        return node
    positions = [
        k for k, (arg, _) in enumerate(node.operands) if arg.kind == "selector" and arg.selector.kind in MANY_TO_ONE
    ]
    for position in positions:
        met, *summed = node.indices[position]
        if any(k != position and met in node.indices[k] for k in positions):
            found = _split(node, met, summed)
            if found is not None:
                own, others = found
                inner = _staged(product(1, own, (met,), node.sizes))
                return _staged(_beside(node, [*others, (inner, (met,))]))
    return _reshaped(node)


def _reshaped(node: Node) -> Node:
    """Return a product with a sum as an operand, if the sum has one shape and is read in another."""
    merges = [k for k, (arg, _) in enumerate(node.operands) if arg.kind == "selector" and arg.selector.kind == "merge"]
    wholes = [node.indices[k][0] for k in merges]
    if len(set(wholes)) == len(wholes) or any(i in wholes for k in merges for i in node.indices[k][1:]):
        return node
    sizes = node.sizes
    for position in merges:
        met, *summed = node.indices[position]
        others = [node.indices[k][1:] for k in merges if k != position and node.indices[k][0] == met]
        if len(others) != 1 or [sizes[i] for i in summed] == [sizes[i] for i in others[0]]:
            continue
        found = _split(node, met, summed)
        if found is not None and _is_contracted(found[0], {met, *summed}):
            own, rest = found
            return _reshaped(_beside(node, [*rest, (product(1, own, (met,), sizes), (met,))]))
    return node


def _is_contracted(terms: Sequence[Term], positions: Set[int]) -> bool:
    """Whether a product has no selector but its shape, and sums over more than the indices of its entries."""
    plain = [indices for arg, indices in terms if arg.kind != "selector"]
    return len(plain) == len(terms) - 1 and any(i not in positions for indices in plain for i in indices)


def _split(node: Node, met: int, summed: Sequence[int]) -> tuple[list[Term], list[Term]] | None:
    """Return the operands of a sum that shares one index with the others, and the others; None without such a sum."""
    if met in node.out:
        return None
    at = set(summed)
    while True:
        own = [term for term in node.operands if not at.isdisjoint(term[1])]
        more = {i for _, indices in own for i in indices if i != met}
        if more <= at:
            break
        at |= more
    others = [term for term in node.operands if at.isdisjoint(term[1])]
    apart = at.isdisjoint(node.out) and sum(met in indices for _, indices in own) == 1
    return (own, others) if apart and others else None


def _beside(node: Node, terms: Sequence[Term]) -> Node:
    """Return a product of operands without normalising it; one operand is itself a product."""
    used = dict.fromkeys([*node.out, *(i for _, indices in terms for i in indices)])
    number = {index: k for k, index in enumerate(used)}
    indices = [tuple(number[i] for i in at) for _, at in terms]
    out = tuple(number[i] for i in node.out)
    return product_node(node.coef, [arg for arg, _ in terms], indices, out, [node.sizes[i] for i in used])
