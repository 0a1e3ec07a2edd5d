"""Implements NumPy's products of arrays, with its names and parameters: each is one network of labelled axes."""

from __future__ import annotations

from itertools import count
from operator import index
from typing import SupportsIndex

from matcalc.errors import NotSupported, ShapeError
from matcalc.expressions.numpy_bridge.arguments import (
    Axes,
    Operand,
    SizeLike,
    axes_of,
    axis_of,
    node_of,
    part_of,
    shape_text,
    times,
    with_axes,
)
from matcalc.expressions.numpy_bridge.joining import stack
from matcalc.expressions.numpy_bridge.shapes import diagonal, moveaxis, ravel, reshape, swapaxes
from matcalc.tensor import constructors
from matcalc.tensor.constructors import product, selector
from matcalc.tensor.nodes.node import Node
from matcalc.tensor.sizes.selectors import Selector
from matcalc.tensor.sizes.size import Size

Labelled = tuple[Node, list[int]]


def contracted(operands: list[Labelled], out: list[int]) -> Node:
    """Return the sum of products over labels not in `out`; an axis of size 1 broadcasts.

    Raises: ShapeError for a label of two sizes.
    """
    lengths: dict[int, Size] = {}
    for node, labels in operands:
        for size, label in zip(node.shape, labels, strict=True):
            known = lengths.get(label, size)
            if known != size and 1 not in (known, size):
                raise ShapeError(f"sizes {known} and {size} of one axis differ: {_shapes(*(n for n, _ in operands))}")
            lengths[label] = size if known == 1 else known
    fresh = count(max([*lengths, *out], default=0) + 1)
    placed = [
        (node, tuple(next(fresh) if size != lengths[k] else k for size, k in zip(node.shape, labels, strict=True)))
        for node, labels in operands
    ]
    return product(1, placed, tuple(out), {label: lengths[label] for label in out})


def _shapes(*nodes: Node) -> str:
    return " and ".join(shape_text(node.shape) for node in nodes)


def matmul(x1: Operand, x2: Operand) -> Node:
    a, b = node_of(x1), node_of(x2)
    if not a.shape or not b.shape:
        raise ShapeError(f"a matrix product needs vectors or matrices, not {_shapes(a, b)}")
    _meet(a, b, a.shape[-1], b.shape[-2 if len(b.shape) > 1 else 0])
    rows, inner, columns, front = [0], 1, [2], 3
    if len(a.shape) == 1:
        rows = []
    if len(b.shape) == 1:
        columns = []
    left = list(range(front, front + len(a.shape)))[: len(a.shape) - 1 - len(rows)][::-1]
    right = list(range(front, front + len(b.shape)))[: len(b.shape) - 1 - len(columns)][::-1]
    out = [*max(left, right, key=len), *rows, *columns]
    return contracted([(a, [*left, *rows, inner]), (b, [*right, inner, *columns])], out)


def _meet(a: Node, b: Node, left: Size, right: Size) -> None:
    if left != right:
        raise ShapeError(f"shapes {_shapes(a, b)} do not multiply: {left} and {right} differ")


def dot(a: Operand, b: Operand) -> Node:
    x, y = node_of(a), node_of(b)
    if not x.shape or not y.shape:
        return times(x, y)
    return tensordot(x, y, ([-1], [-2 if len(y.shape) > 1 else 0]))


def inner(a: Operand, b: Operand) -> Node:
    x, y = node_of(a), node_of(b)
    return tensordot(x, y, ([-1], [-1])) if x.shape and y.shape else times(x, y)


def vdot(a: Operand, b: Operand) -> Node:
    return dot(ravel(a), ravel(b))


def vecdot(x1: Operand, x2: Operand, axis: Axes = -1) -> Node:
    a, b = (moveaxis(x, axis, -1) for x in (x1, x2))
    _meet(a, b, a.shape[-1], b.shape[-1])
    labels = [list(range(len(x.shape) - 1, 0, -1)) for x in (a, b)]
    return contracted([(a, [*labels[0], 0]), (b, [*labels[1], 0])], max(labels, key=len))


def matvec(x1: Operand, x2: Operand) -> Node:
    a, b = node_of(x1), node_of(x2)
    if len(a.shape) < 2 or not b.shape:
        raise ShapeError(f"matvec takes a matrix and a vector, not {_shapes(a, b)}")
    return _last_dropped(matmul(a, with_axes(b, [len(b.shape)])))


def vecmat(x1: Operand, x2: Operand) -> Node:
    return matvec(swapaxes(x2, -1, -2), x1)


def _last_dropped(node: Node) -> Node:
    labels = tuple(range(len(node.shape)))
    return product(1, [(node, labels)], labels[:-1])


def outer(a: Operand, b: Operand) -> Node:
    return constructors.outer(ravel(a), ravel(b))


def tensordot(a: Operand, b: Operand, axes: SupportsIndex | tuple[Axes, Axes] | list[Axes] = 2) -> Node:
    x, y = node_of(a), node_of(b)
    if isinstance(axes, (list, tuple)):
        first, second = axes
        left, right = axes_of(first, len(x.shape)), axes_of(second, len(y.shape))
    else:
        many = index(axes)
        if not 0 <= many <= min(len(x.shape), len(y.shape)):
            raise ShapeError(f"{_shapes(x, y)} have no {many} axes to sum over")
        left, right = tuple(range(len(x.shape) - many, len(x.shape))), tuple(range(many))
    if len(left) != len(right):
        raise ShapeError(f"tensordot sums over equally many axes of both arrays, not {len(left)} and {len(right)}")
    for i, j in zip(left, right, strict=True):
        _meet(x, y, x.shape[i], y.shape[j])
    labels = list(range(len(x.shape)))
    others = [left[right.index(k)] if k in right else len(labels) + k for k in range(len(y.shape))]
    summed = set(left)
    return contracted([(x, labels), (y, others)], [k for k in (*labels, *others) if k not in summed])


def kron(a: Operand, b: Operand) -> Node:
    x, y = node_of(a), node_of(b)
    rank = max(len(x.shape), len(y.shape))
    x, y = (with_axes(node, range(rank - len(node.shape))) for node in (x, y))
    left, right = list(range(0, 2 * rank, 2)), list(range(1, 2 * rank, 2))
    made = contracted([(x, left), (y, right)], list(range(2 * rank)))
    return reshape(made, [m * n for m, n in zip(x.shape, y.shape, strict=True)])


def trace(a: Operand, offset: SizeLike = 0, axis1: SupportsIndex = 0, axis2: SupportsIndex = 1) -> Node:
    return total(diagonal(a, offset, axis1, axis2), (-1,))


def total(node: Node, axes: Axes = None) -> Node:
    """Return the sum along axes; of all entries without `axes`."""
    labels = tuple(range(len(node.shape)))
    summed = axes_of(axes, len(labels))
    return product(1, [(node, labels)], tuple(k for k in labels if k not in summed))


def cross(a: Operand, b: Operand, axisa: Axes = -1, axisb: Axes = -1, axisc: Axes = -1, axis: Axes = None) -> Node:
    where = (axisa, axisb, axisc) if axis is None else (axis,) * 3
    x, y = (moveaxis(node_of(v), position, -1) for v, position in zip((a, b), where, strict=False))
    if x.shape[-1] != 3 or y.shape[-1] != 3:
        raise NotSupported(
            f"the cross product of {_shapes(x, y)} is not supported", hint="only vectors of length 3 are supported"
        )
    (x0, x1, x2), (y0, y1, y2) = (
        [_last_dropped(part_of(v, len(v.shape) - 1, Size.of(k), Size.of(1))) for k in range(3)] for v in (x, y)
    )
    pairs = (((x1, y2), (x2, y1)), ((x2, y0), (x0, y2)), ((x0, y1), (x1, y0)))
    made = stack([constructors.add([(1, times(*p)), (-1, times(*q))]) for p, q in pairs], -1)
    return moveaxis(made, -1, where[2])


def einsum(subscripts: object, *operands: Operand, optimize: object = False) -> Node:
    if not isinstance(subscripts, str):
        raise NotSupported("einsum takes its subscripts as text here")
    nodes = [node_of(x) for x in operands]
    left, arrow, right = subscripts.replace(" ", "").partition("->")
    terms = left.split(",")
    if len(terms) != len(nodes):
        raise ShapeError(f"einsum has subscripts for {len(terms)} operands, not for {len(nodes)}")
    wide = [_dots(term, len(node.shape)) for term, node in zip(terms, nodes, strict=True)]
    most = max(wide)
    if not arrow:
        letters = sorted({c for c in left if c.isalpha()})
        right = ("..." if most else "") + "".join(c for c in letters if left.count(c) == 1)
    numbers = {letter: most + k for k, letter in enumerate(sorted(set(left) - set(",.")))}
    labels = [_labels(term, dots, most, numbers) for term, dots in zip(terms, wide, strict=True)]
    unknown = [c for c in right if c != "." and c not in numbers]
    plain = right.replace("...", "")
    if unknown or len(set(plain)) < len(plain) or "." in plain or right.count("...") > 1:
        raise ShapeError(f"einsum: '{right}' is no result of '{left}'")
    return contracted(list(zip(nodes, labels, strict=True)), _labels(right, most, most, numbers))


def _dots(term: str, rank: int) -> int:
    """Return the number of axes of an ellipsis."""
    letters = term.replace("...", "", 1)
    if not all(c.isalpha() and c.isascii() for c in letters):
        raise ShapeError(f"einsum: '{term}' must consist of letters and one ellipsis")
    dots = rank - len(letters)
    if dots < 0 or dots and "..." not in term:
        raise ShapeError(f"einsum: '{term}' does not fit an operand of {rank} axes")
    return dots


def _labels(term: str, dots: int, most: int, numbers: dict[str, int]) -> list[int]:
    front, ellipsis, back = term.partition("...")
    middle = list(range(most - dots, most)) if ellipsis else []
    return [numbers[c] for c in front] + middle + [numbers[c] for c in back]


def convolve(a: Operand, v: Operand, mode: str = "full") -> Node:
    x, y = node_of(a), node_of(v)
    if mode != "full":
        raise NotSupported(
            f"convolve with mode={mode!r} is not supported", hint="take a part of the result with mode='full'"
        )
    if len(x.shape) != 1 or len(y.shape) != 1:
        raise ShapeError(f"convolve takes two vectors, not {_shapes(x, y)}")
    m, n = x.shape[0], y.shape[0]
    rule = selector(Selector("conv", (m + n - 1, m, n)))
    return product(1, [(x, (1,)), (y, (2,)), (rule, (0, 1, 2))], (0,))


def diff(a: Operand, n: int = 1, axis: Axes = -1) -> Node:
    node = node_of(a)
    position = axis_of(axis, len(node.shape))
    for _ in range(n):
        length = node.shape[position] - 1
        after, before = (part_of(node, position, Size.of(start), length) for start in (1, 0))
        node = constructors.add([(1, after), (-1, before)])
    return node


def meshgrid(*xi: Operand, indexing: str = "xy") -> list[Node]:
    nodes = [ravel(x) for x in xi]
    shape = [node.shape[0] for node in nodes]
    made = [
        contracted([(node, [k]), (constructors.ones(tuple(shape)), list(range(len(nodes))))], list(range(len(nodes))))
        for k, node in enumerate(nodes)
    ]
    if indexing not in ("xy", "ij"):
        raise ShapeError(f"indexing is 'xy' or 'ij', not {indexing!r}")
    return [swapaxes(m, 0, 1) for m in made] if indexing == "xy" and len(nodes) > 1 else made
