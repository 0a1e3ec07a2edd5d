"""Cuts, places and moves the leading axis of tensors, along which steps are counted."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from matcalc.tensor.constructors import add, apply, operate, product, selector_alone, zeros
from matcalc.tensor.nodes.node import Node
from matcalc.tensor.raw_nodes import selector
from matcalc.tensor.sizes.selectors import Selector
from matcalc.tensor.sizes.size import Size

ZERO, ONE = Size.of(0), Size.of(1)
Axis = tuple[Node, int]
"""A node and one of its axes."""


def cut(root: Node, first: Size, length: Size) -> Node:
    """Return a range of the leading axis: of the terms of sums, of operands of maps, of factors that have the axis."""
    rule = selector_alone(Selector("slice", (root.shape[0], length), first))
    made: dict[tuple[Node, int], Node] = {}
    stack = [(root, 0)]
    while stack:
        node, axis = stack[-1]
        inner = _sharing(node, axis)
        missing = [place for place in inner if place not in made]
        if missing:
            stack.extend(missing)
            continue
        made[stack.pop()] = _range_of(node, axis, inner, made, rule)
    return made[root, 0]


def _sharing(node: Node, axis: int) -> list[Axis]:
    """Return the operands that share an axis of a node entry by entry, each with that axis."""
    if node.kind in ("sum", "map"):
        return [(arg, axis) for arg in node.args]
    if node.kind == "op" and axis < node.batch_rank:
        return [(a, batch.index(axis)) for a, batch in zip(node.args, node.batches, strict=True) if axis in batch]
    if node.kind != "product" or node.out.count(node.out[axis]) > 1:
        return []
    index = node.out[axis]
    met = [(arg, at) for arg, at in node.operands if index in at]
    if any(at.count(index) > 1 or arg.kind == "selector" for arg, at in met):
        return []
    return [(arg, at.index(index)) for arg, at in met]


def _range_of(node: Node, axis: int, inner: list[Axis], made: Mapping[Axis, Node], rule: Node) -> Node:
    """Return a range of an axis of a node from those of the operands that share the axis."""
    if not inner:
        at = tuple(range(node.rank))
        own = tuple(node.rank if k == axis else k for k in at)
        return product(1, [(node, own), (rule, (node.rank, axis))], at, {})
    if node.kind == "sum":
        return add([(coef, made[arg, axis]) for coef, arg in node.terms])
    if node.kind == "map":
        return apply(node.rule, [made[arg, axis] for arg in node.args], node.params)
    if node.kind == "op":
        ranges = [
            made[arg, batch.index(axis)] if axis in batch else arg
            for arg, batch in zip(node.args, node.batches, strict=True)
        ]
        lengths = [rule.shape[1] if k == axis else size for k, size in enumerate(node.shape[: node.batch_rank])]
        return operate(node.rule, ranges, node.params, node.batches, node.output, lengths)
    index = node.out[axis]
    operands = [(made[arg, at.index(index)] if index in at else arg, at) for arg, at in node.operands]
    return product(node.coef, operands, node.out, {**node.sizes, index: rule.shape[1]})


def placed(node: Node, first: Size, length: Size) -> Node:
    """Return a tensor with `node` at a range of the leading axis, and zeros elsewhere."""
    if node.is_zero:
        return zeros((length, *node.shape[1:]))
    rest = tuple(range(2, node.rank + 1))
    rule = selector_alone(Selector("slice", (length, node.shape[0]), first))
    return product(1, [(node, (1, *rest)), (rule, (0, 1))], (0, *rest), {})


class Range(NamedTuple):
    """A tensor at a range of a leading axis, which begins at `first`."""

    tensor: Node
    first: Size


def between_zeros(node: Node) -> Range | None:
    """Return the tensor that `node` has at a range of its leading axis, with zeros elsewhere; None for another node."""
    if node.kind != "product":
        return None
    lead = node.out[0]
    rules = [(arg, at) for arg, at in node.operands if lead in at and arg.kind == "selector"]
    if len(rules) != 1 or not rules[0][0].selects("slice") or node.out.count(lead) > 1:
        return None
    (rule, (long, short, *_)) = rules[0]
    if long != lead or short in node.out:
        return None
    others = [(arg, at) for arg, at in node.operands if arg is not rule or lead not in at]
    is_read = any(lead in at for _, at in others)
    made = product(node.coef, node.operands if is_read else others, (short, *node.out[1:]), node.sizes)
    return Range(made, rule.selector.offset)


def numbers(length: Size) -> Node:
    """Return the vector of the numbers 0, 1, ..., length - 1: the count of smaller indices."""
    smaller = selector(Selector("mask", (length, length), ONE))
    return product(1, [(smaller, (0, 1))], (0,), {})


def leading(node: Node, axis: int) -> Node:
    """Return a tensor with one of its axes in front."""
    order = (axis, *(k for k in range(node.rank) if k != axis))
    return product(1, [(node, tuple(range(node.rank)))], order, {})


def trailing(node: Node, axis: int) -> Node:
    """Return a tensor with its leading axis behind the next `axis` ones."""
    order = (*range(1, axis + 1), 0, *range(axis + 1, node.rank))
    return product(1, [(node, tuple(range(node.rank)))], order, {})
