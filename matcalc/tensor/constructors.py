"""Defines the constructors of the normal form, the only functions that make nodes.

`product`, `add`, `apply`, `power` and `operate` suffice; the rest are shorthands for index tuples. One rule needs both
products and sums and is therefore here: if a summed index meets sums of blocks (or slices) at two operands, the
product is distributed, since the cross terms of disjoint blocks vanish.
"""

from __future__ import annotations

import copyreg
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from matcalc.tensor import elementwise
from matcalc.tensor.network import Network, is_closed_scalar
from matcalc.tensor.nodes.node import ONE, Indices, Node, Operand, Shape, exponent_of
from matcalc.tensor.operations import operate
from matcalc.tensor.pickling import pickle_form
from matcalc.tensor.product import finish, gather, remembered, size_number, transposed, zeros
from matcalc.tensor.raw_nodes import constant, number, selector, symbol
from matcalc.tensor.sizes.selectors import Selector, Span, are_apart
from matcalc.tensor.sizes.size import Size, is_nonnegative
from matcalc.tensor.sums import add, scale, split_coef

if TYPE_CHECKING:
    from matcalc.rulebook.rule import Rule

copyreg.pickle(Node, pickle_form)

__all__ = [
    "add", "apply", "broadcast", "constant", "diag_matrix", "entries_of", "eye", "hadamard", "inner", "matmul",
    "number", "ones", "operate", "outer", "over_terms", "power", "product", "scale", "selector", "selector_alone",
    "size_number", "split_coef", "symbol", "take_diag", "total", "trace", "transpose", "transposed", "zeros",
]  # fmt: skip


@remembered
def product(coef: Fraction | int, operands: Sequence[Operand], out: Indices, sizes: Mapping[int, Size]) -> Node:
    """Return coef * the sum over indices not in `out` of the product of operands at their indices.

    Shapes: `sizes` contains the lengths of output indices that no operand measures.
    """
    network = gather(coef, operands, out, sizes)
    if any(_is_map_on_diagonal(node, indices) for node, indices in network.operands):
        return product(network.coef, list(map(_diagonal_inside, network.operands)), network.out, network.sizes)
    position = _met_blocks(network)
    if position is None:
        return _with_squares_settled(finish(network))
    return add(over_terms(network, position))


def over_terms(whole: Node | Network, position: int) -> list[tuple[Fraction, Node]]:
    """Return the terms of a product distributed over one of its operands, a sum."""
    operands = list(whole.operands)
    inner, at = operands.pop(position)
    return [(c, product(whole.coef, [*operands, (term, at)], whole.out, whole.sizes)) for c, term in inner.terms]


def apply(rule: Rule, args: Sequence[Node], params: tuple[Any, ...] = ()) -> Node:
    """Return the map of `rule` on operands of one shape."""
    return _with_squares_settled(elementwise.apply(rule, args, params))


def power(base: Node, exponent: Fraction) -> Node:
    """Return base.^exponent for a rational exponent, elementwise."""
    return _with_squares_settled(elementwise.power(base, exponent))


def _with_squares_settled(node: Node) -> Node:
    """Return a product or its power, distributed over blocks that meet in a square.

    Examples: `flip([x; y]).^2`, `norm2([A; B])^2`, `1/norm2([A; B])^2`.
    """
    base, exponent = exponent_of(node)
    if exponent != 1:
        settled = _distributed(base, base.args) if base.kind == "product" else base
        return node if settled is base else power(settled, exponent)
    if node.kind != "product" or not any(arg.kind == "sum" or _may_hold_square(arg) for arg in node.args):
        return node
    return _distributed(node, [_with_squares_settled(arg) if _may_hold_square(arg) else arg for arg in node.args])


def _may_hold_square(node: Node) -> bool:
    base, exponent = exponent_of(node)
    return is_closed_scalar(node) or (exponent != 1 and base.kind == "product")


def _distributed(node: Node, args: Sequence[Node]) -> Node:
    """Return a product with other operands, distributed over blocks that meet."""
    operands, sizes = list(zip(args, node.indices, strict=True)), node.sizes
    if tuple(args) == node.args:
        met = _met_blocks(Network(node.coef, operands, node.out, sizes)) is not None
        if not met or _met_blocks(gather(node.coef, operands, node.out, sizes)) is None:
            return node
    return product(node.coef, operands, node.out, sizes)


def _is_map_on_diagonal(node: Node, indices: Indices) -> bool:
    return node.kind == "map" and len(set(indices)) < len(indices)


def _diagonal_inside(operand: Operand) -> Operand:
    """Return a map of a matrix, read on its diagonal, as the map of the diagonal."""
    node, indices = operand
    if not _is_map_on_diagonal(node, indices):
        return operand
    own = tuple(dict.fromkeys(indices))
    return apply(node.rule, [product(1, [(arg, indices)], own) for arg in node.args], node.params), own


def _met_blocks(network: Network) -> int | None:
    """Return the position of a sum of blocks whose block axis meets another, if every pair of blocks is settled."""
    if not network.coef or not any(node.kind == "sum" for node, _ in network.operands):
        return None
    meetings: dict[int, list[tuple[int, list[Span]]]] = {}
    for position, (node, indices) in enumerate(network.operands):
        for axis in range(len(indices)):
            parts = block_parts(node, axis)
            if parts:
                meetings.setdefault(indices[axis], []).append((position, parts))
    positions = []
    for index, meeting in meetings.items():
        sums = [position for position, _ in meeting if network.operands[position][0].kind == "sum"]
        if all(_is_matrix_of_numbers(network.operands[position][0]) for position, _ in meeting):
            continue
        if len(meeting) > 1 and sums and index not in network.out and _all_settled([parts for _, parts in meeting]):
            positions.append(sums[0])
    return min(positions) if positions else None


def _is_matrix_of_numbers(node: Node) -> bool:
    """Whether a node is a matrix whose entries are listed: products of such matrices stay as they are written."""
    return node.rank == 2 and node.kind == "sum" and all(map(_is_entry, node.args)) and 1 not in node.shape


def _is_entry(term: Node) -> bool:
    """Whether an array is a number at one place, and 0 elsewhere."""
    return term.kind == "product" and all(not arg.rank or arg.selects("slice") for arg in term.args)


def entries_of(node: Node) -> list[tuple[Fraction, Node]]:
    """Return the terms of an array that lists numbers, each a number at its place; another array is one term."""
    core = node.args[0] if node.kind == "product" and len(node.args) == 1 else node
    if core.kind != "sum" or not all(map(_is_entry, core.args)):
        return [(ONE, node)]
    if core is node:
        return list(core.terms)
    (at,) = node.indices
    return [(node.coef * c, product(1, [(term, at)], node.out, node.sizes)) for c, term in core.terms]


def block_parts(node: Node, axis: int) -> list[Span]:
    """Return (offset, length) of the blocks that slices place along an axis; empty if it does not consist of blocks."""
    if node.kind == "selector":
        return [node.selector.span] if node.selects("slice") and axis == 0 else []
    if node.kind != "sum":
        return []
    parts = [_placed(term, axis) for term in node.args]
    return [part for part in parts if part is not None] if None not in parts else []


def _placed(term: Node, axis: int) -> Span | None:
    if term.kind != "product":
        return None
    index = term.out[axis]
    for arg, at in term.operands:
        if arg.selects("slice") and at[0] == index:
            return arg.selector.span
    return None


def _all_settled(lists: Sequence[list[Span]]) -> bool:
    """Return whether blocks of different operands are all known to be disjoint or nested."""
    return all(
        _settled(a, b) for k, parts in enumerate(lists) for others in lists[k + 1 :] for a in parts for b in others
    )


def _settled(a: Span, b: Span) -> bool:
    (start, length), (other, width) = a, b
    inside = is_nonnegative(other - start) and is_nonnegative(start + length - other - width)
    around = is_nonnegative(start - other) and is_nonnegative(other + width - start - length)
    return are_apart(a, b) or inside or around


def transpose(a: Node) -> Node:
    """Return the matrix with its axes exchanged; scalars and vectors unchanged."""
    return a if len(a.shape) < 2 else product(1, [(a, (0, 1))], (1, 0))


def matmul(*factors: Node) -> Node:
    """Return the chain product of matrices and vectors, as NumPy's `@` reads it."""
    operands: list[Operand] = []
    out: list[int] = []
    index = 0
    for position, factor in enumerate(factors):
        if len(factor.shape) == 1:
            operands.append((factor, (index,)))
            if position:
                index += 1
            continue
        operands.append((factor, (index, index + 1)))
        if position == 0:
            out.append(index)
        index += 1
    if len(factors[-1].shape) == 2:
        out.append(index)
    return product(1, operands, tuple(out))


def hadamard(*factors: Node) -> Node:
    """Return the entrywise product of operands of one shape."""
    axes = tuple(range(len(factors[0].shape)))
    return product(1, [(f, axes) for f in factors], axes, dict(enumerate(factors[0].shape)))


def inner(a: Node, b: Node) -> Node:
    """Return the sum of entrywise products of two operands of one shape."""
    axes = tuple(range(len(a.shape)))
    return product(1, [(a, axes), (b, axes)], ())


def outer(a: Node, b: Node) -> Node:
    """Return the tensor a[i..]*b[j..]."""
    left = tuple(range(len(a.shape)))
    right = tuple(range(len(left), len(left) + len(b.shape)))
    return product(1, [(a, left), (b, right)], left + right)


def eye(*sizes: Size) -> Node:
    """Return the identity on tensors of this shape: axes `sizes + sizes`, a matrix for one size."""
    axes = tuple(range(len(sizes)))
    return product(1, [], axes + axes, dict(enumerate(sizes)))


def selector_alone(rule: Selector) -> Node:
    """Return a selector as a tensor of its own; at some sizes it is the identity or another selector transposed.

    A selector whose axes all have length 1 stays, since a product reads from it which axes are the same.
    """
    raw = selector(rule)
    axes = tuple(range(len(rule.shape)))
    made = product(1, [(raw, axes)], axes)
    return made if made.args else raw


def ones(shape: Shape) -> Node:
    """Return the tensor of ones."""
    return product(1, [], tuple(range(len(shape))), dict(enumerate(shape)))


def broadcast(scalar: Node, shape: Shape) -> Node:
    """Return the tensor of this shape whose entries are all one scalar."""
    return product(1, [(scalar, ())], tuple(range(len(shape))), dict(enumerate(shape)))


def diag_matrix(x: Node) -> Node:
    """Return the diagonal matrix of a vector."""
    return product(1, [(x, (0,))], (0, 0))


def take_diag(a: Node) -> Node:
    """Return the diagonal of a square matrix."""
    return product(1, [(a, (0, 0))], (0,))


def trace(a: Node) -> Node:
    """Return the trace of a square matrix."""
    return product(1, [(a, (0, 0))], ())


def total(a: Node) -> Node:
    """Return the sum of all entries."""
    return product(1, [(a, tuple(range(len(a.shape))))], ())
