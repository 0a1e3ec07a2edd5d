"""Implements NumPy's functions that join and split arrays, with NumPy's names and parameters, on nodes."""

from __future__ import annotations

from matcalc.errors import NotSupported, ShapeError
from matcalc.expressions.numpy_bridge.arguments import (
    Axes,
    Lengths,
    Operand,
    Operands,
    SizeLike,
    axis_of,
    joined,
    node_of,
    part_of,
    shape_text,
    size_of,
    stacked,
    with_axes,
    without_axes,
)
from matcalc.expressions.numpy_bridge.infinities import apart
from matcalc.expressions.numpy_bridge.shapes import atleast_1d, atleast_2d, atleast_3d, broadcast_to, ravel
from matcalc.tensor.nodes.node import Node
from matcalc.tensor.sizes.size import Size, is_nonnegative


@apart
def concatenate(arrays: Operands, axis: Axes = 0) -> Node:
    nodes = _listed(arrays)
    if axis is None:
        return joined([ravel(node) for node in nodes], 0)
    rank = len(nodes[0].shape)
    if not rank or any(len(node.shape) != rank for node in nodes):
        shapes = ", ".join(shape_text(node.shape) for node in nodes)
        raise ShapeError(f"joined arrays must have equally many axes, at least one: {shapes}")
    return joined(nodes, axis_of(axis, rank))


concat = concatenate


@apart
def stack(arrays: Operands, axis: Axes = 0) -> Node:
    nodes = _listed(arrays)
    return stacked(nodes, axis_of(axis, len(nodes[0].shape) + 1))


@apart
def vstack(tup: Operands) -> Node:
    return concatenate([atleast_2d(a) for a in _listed(tup)], 0)


@apart
def hstack(tup: Operands) -> Node:
    nodes = [atleast_1d(a) for a in _listed(tup)]
    return concatenate(nodes, 0 if len(nodes[0].shape) == 1 else 1)


@apart
def dstack(tup: Operands) -> Node:
    return concatenate([atleast_3d(a) for a in _listed(tup)], 2)


@apart
def column_stack(tup: Operands) -> Node:
    nodes = _listed(tup)
    return concatenate([with_axes(n, range(len(n.shape), 2)) if len(n.shape) < 2 else n for n in nodes], 1)


def _listed(arrays: Operands) -> list[Node]:
    if isinstance(arrays, Node):
        return unstack(arrays)
    found = [node_of(a) for a in arrays]
    if not found:
        raise ShapeError("there is nothing to join")
    return found


def append(arr: Operand, values: Operand, axis: Axes = None) -> Node:
    return concatenate([arr, values], axis)


def insert(arr: Operand, obj: SizeLike, values: Operand, axis: Axes = None) -> Node:
    """Return an array with a slice before one index of an axis; the index counts from the front."""
    node = node_of(arr)
    if axis is None:
        node, axis = ravel(node), 0
    position, at = axis_of(axis, node.rank), size_of(obj)
    length = node.shape[position]
    if not is_nonnegative(at) or not is_nonnegative(length - at):
        raise NotSupported(f"an index {at} to insert at is not known to be on an axis of {length} entries")
    others = [*node.shape[:position], *node.shape[position + 1 :]]
    new = with_axes(broadcast_to(node_of(values), others), [position])
    before, after = part_of(node, position, Size.of(0), at), part_of(node, position, at, length - at)
    return joined([part for part in (before, new, after) if part.shape[position] != 0], position)


@apart
def block(arrays: Operands) -> Node:
    depth = _depth(arrays)
    rank = max(depth, *(len(node.shape) for node in _leaves(arrays)))
    return _block(arrays, rank, rank - depth)


def _block(arrays: Operands, rank: int, axis: int) -> Node:
    if not isinstance(arrays, list):
        node = node_of(arrays)
        return with_axes(node, range(rank - len(node.shape)))
    return joined([_block(part, rank, axis + 1) for part in arrays], axis)


def _depth(arrays: Operands) -> int:
    if not isinstance(arrays, list):
        return 0
    depths = {_depth(part) for part in arrays}
    if len(depths) != 1:
        raise ShapeError("the nested lists of a block matrix must be equally deep and not empty")
    return 1 + depths.pop()


def _leaves(arrays: Operands) -> list[Node]:
    return [leaf for part in arrays for leaf in _leaves(part)] if isinstance(arrays, list) else [node_of(arrays)]


def unstack(x: Operand, axis: Axes = 0) -> list[Node]:
    node = node_of(x)
    position = axis_of(axis, len(node.shape))
    return [without_axes(part, [position]) for part in split(node, int(_number(node.shape[position])), position)]


def split(ary: Operand, indices_or_sections: Lengths, axis: Axes = 0) -> list[Node]:
    node = node_of(ary)
    position = axis_of(axis, len(node.shape))
    length = node.shape[position]
    if isinstance(indices_or_sections, (list, tuple)):
        cuts = [Size.of(0), *map(size_of, indices_or_sections), length]
        if any(cut.is_integer and int(cut) < 0 for cut in cuts):
            raise NotSupported("an index to split at must be counted from the start")
    else:
        count = size_of(indices_or_sections)
        each = length // count if count != 0 else length
        if each * count != length:
            raise ShapeError(f"{length} entries do not split into {count} equal parts")
        cuts = [each * k for k in range(int(_number(count)) + 1)]
    return [part_of(node, position, a, b - a) for a, b in zip(cuts, cuts[1:], strict=False)]


def vsplit(ary: Operand, indices_or_sections: Lengths) -> list[Node]:
    return split(ary, indices_or_sections, 0)


def hsplit(ary: Operand, indices_or_sections: Lengths) -> list[Node]:
    return split(ary, indices_or_sections, 0 if len(node_of(ary).shape) == 1 else 1)


def dsplit(ary: Operand, indices_or_sections: Lengths) -> list[Node]:
    return split(ary, indices_or_sections, 2)


def _number(size: Size) -> Size:
    if not size.is_integer:
        raise ShapeError(f"the number of parts must be known, and {size} is no number")
    return size
