"""Implements functions of numpy.linalg that are no single operation, with NumPy's names and parameters."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from math import inf
from operator import index
from typing import SupportsIndex

from matcalc.errors import NotSupported, ShapeError
from matcalc.expressions.numpy_bridge import products, shapes
from matcalc.expressions.numpy_bridge.along_axes import Along, entrywise, over_axes
from matcalc.expressions.numpy_bridge.arguments import Axes, Operand, SizeLike, axes_of, node_of, shape_text
from matcalc.expressions.numpy_bridge.by_rule import called
from matcalc.expressions.numpy_bridge.shapes import with_keepdims
from matcalc.rulebook.notations import spelled
from matcalc.tensor.constructors import eye
from matcalc.tensor.nodes.node import Node

Order = str | float | None

ENTRIES = "norm:entries"
MATRIX = "norm:matrix"


def norm(x: Operand, ord: Order = None, axis: Axes = None, keepdims: bool = False) -> Node:  # noqa: A002 - NumPy's name
    node = node_of(x)
    axes = axes_of(axis, len(node.shape))
    if ord is not None and len(axes) not in (1, 2):
        raise ShapeError(f"norm with ord={ord!r} of {shape_text(node.shape)} takes one axis or two")
    find = _matrix_norm if ord is not None and len(axes) == 2 else _entries_norm
    return with_keepdims(find(node, axes, ord), axes, keepdims)


def vector_norm(x: Operand, /, *, axis: Axes = None, keepdims: bool = False, ord: Order = 2) -> Node:  # noqa: A002
    node = node_of(x)
    axes = axes_of(axis, len(node.shape))
    return with_keepdims(_entries_norm(node, axes, ord), axes, keepdims)


def matrix_norm(x: Operand, /, *, keepdims: bool = False, ord: Order = "fro") -> Node:  # noqa: A002
    return norm(x, ord, (-2, -1), keepdims)


def _entries_norm(node: Node, axes: tuple[int, ...], kind: Order) -> Node:
    along, kind = [Along(node, axes)], 2 if kind is None else kind
    if isinstance(kind, str) or kind < 0:
        raise NotSupported(f"norm with ord={kind!r} is not supported")
    named = {0: "count", 1: "one", 2: "two", inf: "inf"}.get(kind)
    if named:
        return over_axes(called(f"{ENTRIES}_{named}"), along)
    return over_axes(called(f"{ENTRIES}_p"), [*along, Along(node_of(kind), ())])


def _matrix_norm(node: Node, axes: tuple[int, ...], kind: Order) -> Node:
    if kind == "fro":
        return _entries_norm(node, axes, 2)
    if kind in (1, inf):
        summed, left = axes if kind == 1 else axes[::-1]
        sums = products.total(entrywise(spelled("magnitude"), node), summed)
        return over_axes(called("amax"), [Along(sums, (left - (summed < left),))])
    named = {"nuc": "nuc", 2: "two"}.get(kind)
    if named is None:
        raise NotSupported(f"norm of a matrix with ord={kind!r} is not supported")
    return over_axes(called(f"{MATRIX}_{named}"), [Along(node, axes)])


def matrix_power(a: Operand, n: SupportsIndex) -> Node:
    node, count = node_of(a), index(n)
    _square(node)
    rank = len(node.shape)
    if count < 0:
        core = (rank - 2, rank - 1)
        node, count = over_axes(spelled("inverse"), [Along(node, core)]), -count
    if not count:
        return shapes.broadcast_to(eye(node.shape[-1]), list(node.shape))
    return reduce(products.matmul, [node] * count)


def _square(node: Node) -> None:
    if len(node.shape) < 2 or node.shape[-1] != node.shape[-2]:
        raise ShapeError(f"a square matrix is needed, not {shape_text(node.shape)}")


def multi_dot(arrays: Sequence[Operand]) -> Node:
    if not isinstance(arrays, (list, tuple)):
        raise NotSupported("only a list of arrays is supported")
    return reduce(products.dot, [node_of(a) for a in arrays])


def solve(a: Operand, b: Operand) -> Node:
    matrix, right = node_of(a), node_of(b)
    _square(matrix)
    rank = len(matrix.shape)
    core_rank = 1 if len(right.shape) == 1 else 2
    if right.shape[-core_rank:][:1] != matrix.shape[-1:]:
        raise ShapeError(f"{shape_text(matrix.shape)} and {shape_text(right.shape)} do not fit")
    along = [Along(matrix, (rank - 2, rank - 1)), Along(right, tuple(range(len(right.shape)))[-core_rank:])]
    return over_axes(spelled("solution"), along)


def outer(x1: Operand, x2: Operand, /) -> Node:
    a, b = node_of(x1), node_of(x2)
    if len(a.shape) != 1 or len(b.shape) != 1:
        raise ShapeError(f"outer takes two vectors, not {shape_text(a.shape)} and {shape_text(b.shape)}")
    return products.outer(a, b)


def trace(x: Operand, /, *, offset: SizeLike = 0) -> Node:
    return products.trace(x, offset, -2, -1)


def diagonal(x: Operand, /, *, offset: SizeLike = 0) -> Node:
    return shapes.diagonal(x, offset, -2, -1)


def cross(x1: Operand, x2: Operand, /, *, axis: Axes = -1) -> Node:
    return products.cross(x1, x2, axis=axis)


def tensordot(x1: Operand, x2: Operand, /, *, axes: SupportsIndex | tuple[Axes, Axes] | list[Axes] = 2) -> Node:
    return products.tensordot(x1, x2, axes)
