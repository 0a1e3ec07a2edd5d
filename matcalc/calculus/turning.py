"""The ways to read an operand of a product: as it is, or as the transpose of its transpose."""

from __future__ import annotations

from collections.abc import Iterator

from matcalc.normal_form.make import map_node, op_node
from matcalc.normal_form.node import Indices, Node
from matcalc.normal_form.tensor import transpose


def readings(wanted: Node, node: Node, indices: Indices) -> Iterator[tuple[Node, Indices]]:
    """Yield the ways to read an operand: as it is, with indices swapped, as the transposed of its transpose."""
    yield node, indices
    if len(indices) != 2 or indices[0] == indices[1]:
        return
    if "symmetric" in node.facts:
        yield node, indices[::-1]
    elif wanted.kind == "symbol" and wanted.rank == 2:
        yield transpose(node), indices[::-1]
    elif wanted.kind == node.kind and _turns(node) and wanted.rule == node.rule:
        yield _mirrored(node), indices[::-1]


def _turns(node: Node) -> bool:
    """Whether a node is a function that commutes with transposition."""
    return node.kind == "map" or (node.kind == "op" and node.rule.transpose_same)


def _mirrored(node: Node) -> Node:
    """Return f(A') for f(A), as it stands: f commutes with transposition, so it reads f(A)[j, i] at [i, j]."""
    args = [transpose(a) if a.rank == 2 else a for a in node.args]
    if node.kind == "map":
        return map_node(node.rule, node.params, args)
    shape = (*node.shape[:-2], *node.shape[:-3:-1])
    return op_node(node.rule, node.params, args, node.batches, node.output, shape, node.batch_rank)
