"""Implements NumPy's functions that only move entries, with NumPy's names and parameters, on nodes.

Each public function here is NumPy's function of that name. An unsupported parameter raises by name.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from math import prod
from operator import mul
from typing import SupportsIndex

from matcalc.errors import NotSupported, ShapeError
from matcalc.expressions.numpy_bridge.arguments import (
    ONE,
    Axes,
    Lengths,
    Operand,
    SizeLike,
    axes_of,
    axis_of,
    check_room,
    node_of,
    permuted,
    shape_text,
    size_of,
    sizes_of,
    with_axes,
    without_axes,
)
from matcalc.tensor import constructors
from matcalc.tensor.broadcasting import broadcast_node, broadcast_nodes, broadcast_shapes
from matcalc.tensor.constructors import product, selector
from matcalc.tensor.nodes.node import Node
from matcalc.tensor.size_factors import divided
from matcalc.tensor.sizes.selectors import Selector, merge
from matcalc.tensor.sizes.size import Size, is_nonnegative, minimum


def transpose(a: Operand, axes: Axes = None) -> Node:
    node = node_of(a)
    rank = len(node.shape)
    order = tuple(range(rank))[::-1] if axes is None else axes_of(axes, rank)
    if len(order) != rank:
        raise ShapeError(f"transpose takes {rank} axes")
    return permuted(node, order)


def matrix_transpose(x: Operand) -> Node:
    return swapaxes(x, -1, -2)


def swapaxes(a: Operand, axis1: SupportsIndex, axis2: SupportsIndex) -> Node:
    node = node_of(a)
    rank = len(node.shape)
    order = list(range(rank))
    i, j = axis_of(axis1, rank), axis_of(axis2, rank)
    order[i], order[j] = order[j], order[i]
    return permuted(node, order)


def moveaxis(a: Operand, source: Axes, destination: Axes) -> Node:
    node = node_of(a)
    rank = len(node.shape)
    sources, targets = axes_of(source, rank), axes_of(destination, rank)
    if len(sources) != len(targets):
        raise ShapeError("moveaxis takes as many sources as destinations")
    order = [k for k in range(rank) if k not in sources]
    for target, origin in sorted(zip(targets, sources, strict=True)):
        order.insert(target, origin)
    return permuted(node, order)


def rollaxis(a: Operand, axis: Axes, start: int = 0) -> Node:
    node = node_of(a)
    rank = len(node.shape)
    moved, position = axis_of(axis, rank), start + rank if start < 0 else start
    if not 0 <= position <= rank:
        raise ShapeError(f"start={start} is out of range for {rank} axes")
    order = [k for k in range(rank) if k != moved]
    order.insert(position - (moved < position), moved)
    return permuted(node, order)


def expand_dims(a: Operand, axis: Axes) -> Node:
    node = node_of(a)
    positions = axis if isinstance(axis, (list, tuple)) else (axis,)
    return with_axes(node, axes_of(positions, len(node.shape) + len(positions)))


def with_keepdims(made: Node, axes: tuple[int, ...], keepdims: object) -> Node:
    """Return a reduced array; with `keepdims` the reduced axes have size 1."""
    return expand_dims(made, axes) if keepdims and axes else made


def squeeze(a: Operand, axis: Axes = None) -> Node:
    node = node_of(a)
    if axis is None:
        for size in node.shape:
            if not size.is_integer:
                check_room(size - 2, "np.squeeze would remove an axis of length 1")
        return _without_ones(node)
    return without_axes(node, axes_of(axis, len(node.shape)))


def _without_ones(node: Node) -> Node:
    return without_axes(node, [k for k, size in enumerate(node.shape) if size == 1])


def atleast_1d(a: Operand) -> Node:
    node = node_of(a)
    return node if node.shape else with_axes(node, [0])


def atleast_2d(a: Operand) -> Node:
    node = atleast_1d(a)
    return node if len(node.shape) > 1 else with_axes(node, [0])


def atleast_3d(a: Operand) -> Node:
    node = atleast_2d(a) if len(node_of(a).shape) < 2 else node_of(a)
    return node if len(node.shape) > 2 else with_axes(node, [2])


def broadcast_to(array: Operand, shape: Lengths) -> Node:
    node, target = node_of(array), tuple(sizes_of(shape))
    found = broadcast_shapes([node.shape, target])
    if found is None or found.shape != target:
        raise ShapeError(f"{shape_text(node.shape)} does not broadcast to {shape_text(target)}")
    return broadcast_node(node, found.axes[0], target)


def broadcast_arrays(*args: Operand) -> tuple[Node, ...]:
    nodes = [node_of(a) for a in args]
    found = broadcast_nodes(nodes)
    if found is None:
        raise ShapeError(f"shapes do not broadcast: {', '.join(shape_text(node.shape) for node in nodes)}")
    return tuple(found)


def ravel(a: Operand, order: str = "C") -> Node:
    return reshape(a, (-1,), order)


def reshape(a: Operand, shape: Lengths, order: str = "C") -> Node:
    node = node_of(a)
    if order not in ("C", "F"):
        raise NotSupported(f"reshape with order={order!r} is not supported", hint="order is 'C' or 'F'")
    target = _whole(shape, node.shape)
    if order == "F":
        return transpose(_reshaped(transpose(node), target[::-1]))
    return _reshaped(node, target)


def _whole(shape: Lengths, own: Sequence[Size]) -> list[Size]:
    """Return the requested shape, with -1 replaced by its length."""
    target = sizes_of(shape)
    open_ = [k for k, size in enumerate(target) if size == -1]
    total = prod(own, start=ONE)
    if len(open_) > 1:
        raise ShapeError("only one size may be -1")
    if open_:
        target[open_[0]] = _quotient(own, [size for size in target if size != -1])
    if prod(target, start=ONE) != total:
        raise ShapeError(f"{shape_text(tuple(own))} does not reshape to {shape_text(tuple(target))}")
    return target


def _quotient(own: Sequence[Size], known: Sequence[Size]) -> Size:
    """Return the length that completes a shape: the product of `own` divided by that of `known`.

    Raises: ShapeError if the quotient is not a length for all sizes.
    """
    left, rest = list(own), []
    for size in known:
        if size in left:
            left.remove(size)
        else:
            rest.append(size)
    top, bottom = prod(left, start=ONE), prod(rest, start=ONE)
    found = divided(top, bottom)
    if found is None:
        entries, part = prod(own, start=ONE), prod(known, start=ONE)
        raise ShapeError(f"{entries} entries do not fill an array of {part} times any number")
    return found


def _reshaped(node: Node, target: list[Size]) -> Node:
    """Return the entries row after row in another shape, with the fewest merged and split axes."""
    if any(size == 0 for size in target):
        return constructors.zeros(tuple(target))
    node = _without_ones(node)
    required = [size for size in target if size != 1]
    own, new = (list(accumulate(sizes, mul, initial=ONE)) for sizes in (node.shape, required))
    labels, out, operands = list(range(len(node.shape))), [], []
    free, i, j = len(labels), 0, 0
    while i < len(node.shape) or j < len(required):
        p = next(k for k in range(i + 1, len(own)) if own[k] in new[j + 1 :]) if i < len(node.shape) else i
        q = next(k for k in range(j + 1, len(new)) if new[k] == own[p]) if j < len(required) else j
        whole, made = free, list(range(free + 1, free + 1 + q - j))
        free += 1 + q - j
        if p - i > 1:
            operands.append((selector(merge(*node.shape[i:p])), (whole, *labels[i:p])))
        else:
            labels[i] = whole
        if q - j > 1:
            operands.append((selector(merge(*required[j:q])), (whole, *made)))
        else:
            made = [whole]
        out += made
        i, j = p, q
    made_node = product(1, [(node, tuple(labels)), *operands], tuple(out))
    return with_axes(made_node, [k for k, size in enumerate(target) if size == 1])


def flip(m: Operand, axis: Axes = None) -> Node:
    node = node_of(m)
    labels = list(range(len(node.shape)))
    out, operands = list(labels), []
    for k in axes_of(axis, len(labels)):
        out[k] = len(labels) + k
        operands.append((selector(Selector("flip", (node.shape[k], node.shape[k]))), (out[k], k)))
    return product(1, [(node, tuple(labels)), *operands], tuple(out))


def fliplr(m: Operand) -> Node:
    return flip(m, 1)


def flipud(m: Operand) -> Node:
    return flip(m, 0)


def rot90(m: Operand, k: int = 1, axes: Axes = (0, 1)) -> Node:
    first, second = axes_of(axes, len(node_of(m).shape))
    if k % 4 == 0:
        return node_of(m)
    if k % 4 == 2:
        return flip(m, (first, second))
    return swapaxes(flip(m, second), first, second) if k % 4 == 1 else flip(swapaxes(m, first, second), second)


def roll(a: Operand, shift: Lengths, axis: Axes = None) -> Node:
    node = node_of(a)
    if axis is None:
        return _reshaped(roll(ravel(node), shift, 0), list(node.shape))
    positions = [axis_of(one, len(node.shape)) for one in (axis if isinstance(axis, (list, tuple)) else [axis])]
    shifts = list(shift) if isinstance(shift, (list, tuple)) else [shift] * len(positions)
    if len(positions) == 1:
        positions *= len(shifts)
    if len(positions) != len(shifts):
        raise ShapeError(f"roll takes as many shifts as axes, not {len(shifts)} and {len(positions)}")
    for position, by in zip(positions, shifts, strict=True):
        size = node.shape[position]
        offset = size_of(by)
        offset = offset % size if offset.is_integer and size.is_integer and size != 0 else offset
        labels = tuple(range(len(node.shape)))
        out = (*labels[:position], len(labels), *labels[position + 1 :])
        rule = selector(Selector("shift", (size, size), offset))
        node = product(1, [(node, labels), (rule, (len(labels), position))], out)
    return node


def repeat(a: Operand, repeats: SizeLike, axis: Axes = None) -> Node:
    node = node_of(a) if axis is not None else ravel(a)
    position = axis_of(axis or 0, len(node.shape))
    count = size_of(repeats)
    wide = with_axes(node, [position + 1])
    shape = (*node.shape[: position + 1], count, *node.shape[position + 1 :])
    return _reshaped(
        broadcast_to(wide, list(shape)), [*node.shape[:position], node.shape[position] * count, *shape[position + 2 :]]
    )


def tile(A: Operand, reps: Lengths) -> Node:  # noqa: N803 - NumPy's name
    node, counts = node_of(A), sizes_of(reps)
    rank = max(len(node.shape), len(counts))
    node = with_axes(node, range(rank - len(node.shape)))
    counts = [ONE] * (rank - len(counts)) + counts
    wide = with_axes(node, range(0, 2 * rank, 2))
    pairs = [size for k in range(rank) for size in (counts[k], node.shape[k])]
    merged = [count * size for count, size in zip(counts, node.shape, strict=True)]
    return _reshaped(broadcast_to(wide, pairs), merged)


def tril(m: Operand, k: SizeLike = 0) -> Node:
    return _masked(m, size_of(k), False)


def triu(m: Operand, k: SizeLike = 0) -> Node:
    return _masked(m, size_of(k), True)


def _masked(m: Operand, k: Size, upper: bool) -> Node:
    node = node_of(m)
    if len(node.shape) == 1:
        node = broadcast_to(node, [node.shape[0], node.shape[0]])
    if not node.shape:
        raise ShapeError("a number has no triangle")
    labels = tuple(range(len(node.shape)))
    rows, columns = labels[-2:]
    m_, n_ = node.shape[-2:]
    mask = (
        (Selector("mask", (n_, m_), k), (columns, rows)) if upper else (Selector("mask", (m_, n_), -k), (rows, columns))
    )
    return product(1, [(node, labels), (selector(mask[0]), mask[1])], labels)


def diag(v: Operand, k: SizeLike = 0) -> Node:
    node = node_of(v)
    if len(node.shape) == 2:
        return diagonal(node, k)
    if len(node.shape) != 1:
        raise ShapeError(f"diag takes a vector or a matrix, not {shape_text(node.shape)}")
    rows, columns = _starts(k)
    if rows == columns == 0:
        return constructors.diag_matrix(node)
    n, long = node.shape[0], node.shape[0] + rows + columns
    positions = [(selector(Selector("slice", (long, n), s)), (1 + j, 0)) for j, s in enumerate((rows, columns))]
    return product(1, [(node, (0,)), *positions], (1, 2))


def diagflat(v: Operand, k: SizeLike = 0) -> Node:
    return diag(ravel(v), k)


def diagonal(a: Operand, offset: SizeLike = 0, axis1: SupportsIndex = 0, axis2: SupportsIndex = 1) -> Node:
    node = node_of(a)
    rank = len(node.shape)
    i, j = axes_of((axis1, axis2), rank)
    rows, columns = _starts(offset)
    length = minimum(node.shape[i] - rows, node.shape[j] - columns)
    if length.is_integer or not (rows + columns).is_integer:
        check_room(length, f"{shape_text(node.shape)} has no diagonal {columns - rows}")
    labels, out = list(range(rank)), [label for label in range(rank) if label not in (i, j)] + [rank]
    operands = []
    for axis, start in ((i, rows), (j, columns)):
        if node.shape[axis] == length and start == 0:
            labels[axis] = rank
        else:
            rule = Selector("slice", (node.shape[axis], length), start)
            operands.append((selector(rule), (axis, rank)))
    return product(1, [(node, tuple(labels)), *operands], tuple(out))


def _starts(k: SizeLike) -> tuple[Size, Size]:
    """Return the row and the column in which a diagonal starts.

    Raises: NotSupported if a size does not decide whether it is above the main diagonal.
    """
    size, none = size_of(k), Size.of(0)
    if is_nonnegative(size):
        return none, size
    if not is_nonnegative(-size):
        raise NotSupported(f"whether the diagonal {size} is above the main one is not known")
    return -size, none


def zeros_like(a: Operand) -> Node:
    return full_like(a, 0)


def ones_like(a: Operand) -> Node:
    return full_like(a, 1)


def full_like(a: Operand, fill_value: Operand) -> Node:
    return broadcast_to(node_of(fill_value), list(node_of(a).shape))


def copy(a: Operand) -> Node:
    return node_of(a)
