"""Defines NumPy's broadcasting once: shapes are aligned at their last axis, and an axis of size 1 is stretched.

Only an axis whose size is the number 1 is stretched; a size name never counts as 1.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import eq
from typing import NamedTuple

from matcalc.tensor.constructors import product
from matcalc.tensor.nodes.node import Node, Shape
from matcalc.tensor.sizes.size import Size


class Broadcast(NamedTuple):
    """The common shape of operands, and for each operand the common axis of each own axis; None if stretched."""

    shape: Shape
    axes: tuple[tuple[int | None, ...], ...]


def broadcast_shapes(shapes: Sequence[Shape], same: Callable[[Size, Size], bool] = eq) -> Broadcast | None:
    """Return how operands of these shapes broadcast; None if two sizes differ.

    `same` decides whether two sizes that are not the number 1 are equal.
    """
    rank = max(map(len, shapes), default=0)
    common: list[Size] = [Size.of(1)] * rank
    for shape in shapes:
        for axis, size in enumerate(shape, rank - len(shape)):
            if size == 1:
                continue
            if common[axis] != 1 and not same(common[axis], size):
                return None
            common[axis] = size
    axes = (
        tuple(None if size == 1 and common[axis] != 1 else axis for axis, size in enumerate(shape, rank - len(shape)))
        for shape in shapes
    )
    return Broadcast(tuple(common), tuple(axes))


def broadcast_node(node: Node, axes: Sequence[int | None], shape: Shape) -> Node:
    """Return a node repeated along the axes of `shape` that it lacks."""
    if tuple(axes) == tuple(range(len(shape))):
        return node
    rank = len(shape)
    labels = tuple(rank + k if axis is None else axis for k, axis in enumerate(axes))
    return product(1, [(node, labels)], tuple(range(rank)), dict(enumerate(shape)))


def broadcast_nodes(nodes: Sequence[Node]) -> list[Node] | None:
    """Return nodes in their common shape; None if two sizes differ."""
    found = broadcast_shapes([node.shape for node in nodes])
    if found is None:
        return None
    return [broadcast_node(node, at, found.shape) for node, at in zip(nodes, found.axes, strict=True)]


def on_long_axes(function: Callable[[Sequence[Node]], Node], nodes: Sequence[Node]) -> Node:
    """Return an elementwise function of nodes of one shape, computed without idle axes.

    These are axes of size 1 that no operand of a node measures: `f(s[:, None])` is `f(s)[:, None]`.
    """
    shape = nodes[0].shape
    idle = [k for k, size in enumerate(shape) if size == 1 and all(_is_idle(node, k) for node in nodes)]
    if not idle:
        return function(nodes)
    long = tuple(k for k in range(len(shape)) if k not in idle)
    made = function([product(1, [(node, tuple(range(len(shape))))], long) for node in nodes])
    return product(1, [(made, long)], tuple(range(len(shape))), dict(enumerate(shape)))


def _is_idle(node: Node, axis: int) -> bool:
    return node.kind == "product" and not any(node.out[axis] in at for at in node.indices)
