"""Readings of an operand of a product: as it is, transposed twice, or as an odd or even function of a negative."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache

from matcalc.tensor.constructors import transpose
from matcalc.tensor.nodes.named_parts import is_matrix
from matcalc.tensor.nodes.node import Indices, Node, Shape
from matcalc.tensor.raw_nodes import map_node, op_node
from matcalc.tensor.sums import scale, summands


def readings(pattern: Node, node: Node, indices: Indices) -> Iterator[tuple[Node, Indices, int]]:
    """Yield the readings of an operand, each with its sign.

    They are: as it is; with indices swapped; as the transpose of its transpose; f(x - y) as f(y - x) or minus that.
    """
    yield node, indices, 1
    is_same = pattern.kind == node.kind in ("map", "op") and pattern.rule == node.rule
    parity = _parity(node) if is_same and len(node.args) == 1 else ""
    if parity and len(summands(node.args[0])) > 1:
        yield _negated(node), indices, -1 if parity == "odd" else 1
    if not is_matrix(indices):
        return
    if "symmetric" in node.facts:
        yield node, indices[::-1], 1
    elif pattern.kind == "symbol" and pattern.rank == 2:
        yield transpose(node), indices[::-1], 1
    elif is_same and _commutes(node):
        yield _mirrored(node), indices[::-1], 1


def _parity(node: Node) -> str:
    """Return whether a function of one argument is even or odd, for a power from its exponent; else an empty text."""
    if node.kind == "map" and node.rule.role == "fixed_power" and node.params[0].denominator == 1:
        return "even" if node.params[0] % 2 == 0 else "odd"
    return node.rule.parity or ""


def _commutes(node: Node) -> bool:
    """Whether a function commutes with the swap of its two axes; batch axes of an operation do not count."""
    return node.kind == "map" or (node.kind == "op" and node.rule.transpose_same and not node.batch_rank)


@lru_cache(maxsize=256)
def _mirrored(node: Node) -> Node:
    """Return f(A') for f(A) without normalisation: f commutes with transposition, so f(A') at [j, i] is f(A)[i, j]."""
    shape = (*node.shape[:-2], *node.shape[:-3:-1])
    return _remade(node, [transpose(a) if a.rank == 2 else a for a in node.args], shape)


def _negated(node: Node) -> Node:
    """Return f(-x) for f(x) without normalisation, which would take out the sign."""
    return _remade(node, [scale(-1, node.args[0])], node.shape)


def _remade(node: Node, args: list[Node], shape: Shape) -> Node:
    if node.kind == "map":
        return map_node(node.rule, node.params, args)
    return op_node(node.rule, node.params, args, node.batches, node.output, shape, node.batch_rank)


def map_indices(pattern: Indices, subject: Indices, known: Mapping[int, int]) -> dict[int, int] | None:
    """Return the subject's index for each index of a pattern, if these agree with the `known` ones, else None."""
    mapped = dict(known)
    for p, s in zip(pattern, subject, strict=True):
        if mapped.setdefault(p, s) != s:
            return None
    return mapped
