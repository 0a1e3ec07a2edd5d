"""Merges masks: `tril(M) - diag(diag(M))/2` into `M.*(tril(ones(n, n)) - eye(n)/2)`, where M is long.

A symmetric matrix that is written by its two triangles has two texts, of which one is shorter.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from matcalc.tensor.constructors import eye, ones, product, transpose, zeros
from matcalc.tensor.nodes.node import Node
from matcalc.tensor.sizes.size import Size
from matcalc.tensor.sums import add, peel

Part = tuple[Node, Node]


def masked(node: Node) -> Iterator[Node]:
    """Yield a sum of parts of one matrix (triangles, the diagonal) as the matrix times a mask, for each matrix."""
    if node.kind != "sum" or node.rank != 2 or node.shape[0] != node.shape[1]:
        return
    found: dict[Node, list[tuple[int, Node]]] = {}
    for position, term in enumerate(node.args):
        part = _triangle(term)
        if part is not None:
            found.setdefault(part[0], []).append((position, part[1]))
    for matrix, parts in found.items():
        yield _with_mask(node, matrix, parts)


def mirrored(node: Node) -> Iterator[Node]:
    """Yield a product in which a triangle of M and the other of M', which are symmetric in sum, are transposed."""
    for place, (arg, at) in enumerate(node.operands if node.kind == "product" else ()):
        if arg.kind == "sum" and arg.rank == len(arg.args) == 2 and arg.coefs[0] == arg.coefs[1]:
            (first, *one), (second, *other) = (_split(term) for term in arg.args)
            offsets = {(str(offset), is_lower) for offset, is_lower in (*one, *other)}
            if first is transpose(second) and offsets in ({("0", True), ("1", False)}, {("1", True), ("0", False)}):
                operands = [*node.operands[:place], (arg, at[::-1]), *node.operands[place + 1 :]]
                yield product(node.coef, operands, node.out, node.sizes)


def _split(term: Node) -> tuple[Node, *tuple[tuple[Size, bool], ...]]:
    """Return a term without its masks, then the offset of each mask and whether it is of a lower triangle."""
    if term.kind != "product" or len(set(term.out)) < 2:
        return (term,)
    masks = [(arg, at) for arg, at in term.operands if arg.selects("mask") and set(at) == set(term.out)]
    rest = [(arg, at) for arg, at in term.operands if (arg, at) not in masks]
    offsets = [(arg.selector.offset, at == term.out) for arg, at in masks]
    return (product(term.coef, rest, term.out, term.sizes), *offsets)


def _with_mask(node: Node, matrix: Node, parts: list[tuple[int, Node]]) -> Node:
    """Return a sum in which all parts of a matrix are one product with a mask."""
    diagonal = product(1, [(matrix, (0, 0))], (0, 0))
    pieces = [*parts, *((k, eye(node.shape[0])) for k, term in enumerate(node.args) if term is diagonal)]
    pieces += [(k, ones(node.shape)) for k, term in enumerate(node.args) if term is matrix]
    if len(pieces) < 2:
        return node
    mask = add([(node.coefs[k], piece) for k, piece in pieces])
    taken = {k for k, _ in pieces}
    rest = [(c, a) for k, (c, a) in enumerate(node.terms) if k not in taken]
    whole = product(1, [(matrix, (0, 1)), (mask, (0, 1))], (0, 1))
    return add([(Fraction(1), whole), *rest, (Fraction(0), zeros(node.shape))])


def _triangle(term: Node) -> Part | None:
    """Return the matrix of which a term is a triangle, and the mask; None if it is no triangle."""
    if term.kind != "product" or term.coef != 1 or len(set(term.out)) < 2:
        return None
    masks = [(arg, at) for arg, at in term.operands if arg.selects("mask") and set(at) == set(term.out)]
    peeled = peel(term)
    if len(masks) != 1 or peeled is None or peeled[1].rank != 2:
        return None
    mask = product(1, masks, term.out)
    core = peeled[1]
    for order in ((0, 1), (1, 0)):
        matrix = product(1, [(core, order)], (0, 1))
        if matrix.shape == mask.shape and product(1, [(matrix, (0, 1)), (mask, (0, 1))], (0, 1)) is term:
            return matrix, mask
    return None
