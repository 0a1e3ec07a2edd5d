"""Applies operations of the rulebook to arrays of any rank: along some axes, batched over the others.

A call is the index form that a user would write, `{i: f({j: X[i,j]})}`, so nothing here depends on the operation.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import NamedTuple

from matcalc.errors import NotSupported, ShapeError, UnknownName
from matcalc.expressions.numpy_bridge.arguments import common, left_open, node_of, permuted, shape_text, with_axes
from matcalc.formula.elaborate.formulas_of_nodes import build_tree
from matcalc.formula.notation.write_node import formula_of
from matcalc.language import syntax
from matcalc.language.syntax import Ast
from matcalc.rulebook.load import Candidate, default_rulebook
from matcalc.tensor.broadcasting import broadcast_shapes, on_long_axes
from matcalc.tensor.nodes.node import Node
from matcalc.tensor.nodes.signature import PLAIN, core_rank, output_of

RELATIONS = {
    "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge, "==": operator.eq, "!=": operator.ne,
}  # fmt: skip
"""Python's functions of comparisons."""


class Along(NamedTuple):
    """An operand, and the axes of it that the operation takes, in order."""

    node: Node
    axes: tuple[int, ...]


def leaf(node: Node) -> Ast:
    """Return the tree of a node."""
    return syntax.leaf_of(node, lambda: formula_of(node))


def built(tree: Ast) -> Node:
    """Return the node of a tree; add its undecided conditions on sizes to `left_open`."""
    node, conditions = build_tree(tree)
    left_open.get([]).extend(conditions)
    return node


def entrywise(name: str, *operands: Node) -> Node:
    """Return an elementwise operation of operands that broadcast."""
    return on_long_axes(lambda nodes: built(syntax.call(name, *map(leaf, nodes))), common(*operands))


def chosen(relation: str, left: Node, right: Node, a: Node, b: Node) -> Node:
    """Return the entries of `a` where a comparison holds, of `b` elsewhere."""
    if left.kind == right.kind == "number" and a.shape == b.shape:
        return a if RELATIONS[relation](left.value, right.value) else b
    name = default_rulebook().playing("choice").spelling

    def choice(nodes: Sequence[Node]) -> Node:
        x, y, yes, no = map(leaf, nodes)
        return built(syntax.call(name, syntax.compare(x, relation, y), yes, no))

    return on_long_axes(choice, common(left, right, a, b))


def over_axes(name: str, operands: Sequence[Along], **keywords: object) -> Node:
    """Return an operation along axes of its operands; the other axes broadcast, and come first in the result.

    Raises: ShapeError; NotSupported if no such operation takes arrays of these ranks.
    """
    first = operands[0]
    if not first.node.shape:  # for an operation on arrays a number is an array of length 1
        operands = [Along(with_axes(first.node, [0]), (0,)), *operands[1:]]
    named = {key: _parameter(value) for key, value in keywords.items()}
    outer = [tuple(k for k in range(len(x.node.shape)) if k not in x.axes) for x in operands]
    if not any(outer):
        leaves = (leaf(permuted(x.node, x.axes) if x.axes != tuple(sorted(x.axes)) else x.node) for x in operands)
        return built(syntax.call(name, *leaves, **named))
    rank = output_rank(name, [len(x.axes) for x in operands])
    shapes = [tuple(x.node.shape[k] for k in free) for x, free in zip(operands, outer, strict=True)]
    batch = broadcast_shapes(shapes)
    if batch is None:
        raise ShapeError(f"axes in front do not broadcast: {', '.join(map(shape_text, shapes))}")
    trees = [
        _slice_at(x, number, dict(zip(free, targets, strict=True)))
        for number, (x, free, targets) in enumerate(zip(operands, outer, batch.axes, strict=True))
    ]
    before = [f"b{k}" for k in range(len(batch.shape))]
    after = [f"o{k}" for k in range(rank)]
    body = syntax.call(name, *trees, **named)
    if after:
        body = syntax.part(body, *map(syntax.name, after))
    measured = {axis for targets in batch.axes for axis in targets}
    listed = [label for k, label in enumerate(before) if k in measured]
    made = built(syntax.index_form([*listed, *after], body)) if listed or after else built(body)
    return with_axes(made, [k for k in range(len(before)) if k not in measured])


def _parameter(value: object) -> Ast:
    """Return the tree of an argument that is not an array along axes: a number, a size."""
    node = node_of(value)
    return syntax.number(node.value) if node.kind == "number" else leaf(node)


def _slice_at(x: Along, number: int, targets: dict[int, int | None]) -> Ast:
    """Return the tree of an operand at one index of each batch axis."""
    own = {axis: f"c{number}_{k}" for k, axis in enumerate(x.axes)}
    subscripts = []
    for axis in range(len(x.node.shape)):
        if axis in own:
            subscripts.append(syntax.name(own[axis]))
        else:
            target = targets[axis]
            subscripts.append(syntax.number(0) if target is None else syntax.name(f"b{target}"))
    entry = syntax.part(leaf(x.node), *subscripts) if subscripts else leaf(x.node)
    return syntax.index_form([own[axis] for axis in x.axes], entry) if own else entry


def output_rank(name: str, ranks: Sequence[int]) -> int:
    """Return the rank of the result of an operation on arrays of these ranks.

    Raises: NotSupported.
    """
    for candidate in default_rulebook().candidates(name):
        parameters = tensors(candidate)
        if len(parameters) == len(ranks) and all(
            rank is None or rank == r for (_, rank), r in zip(parameters, ranks, strict=True)
        ):
            return core_rank(output_of(candidate.signature, candidate.output), ranks[0])
    raise NotSupported(f"{name} of arrays of {' and '.join(map(str, ranks))} axes is not supported")


def tensors(candidate: Candidate) -> list[tuple[str, int | None]]:
    """Return the parameters of an operation that are arrays, with the rank of each; None for any rank."""
    return [
        (p.name, None if p.kind in ("array", "entry") else len(p.sizes))
        for p in candidate.signature.parameters
        if p.kind not in PLAIN
    ]


def is_entrywise(name: str, count: int) -> bool:
    """Whether a name is that of an elementwise function of `count` operands."""
    try:
        found = default_rulebook().candidates(name)
    except UnknownName:
        return False
    taking = [c.signature.parameters for c in found if len(c.signature.parameters) == count]
    return bool(taking) and all(p.kind == "entry" for parameters in taking for p in parameters)


def core_ranks(name: str, available: Sequence[int]) -> list[int]:
    """Return how many of the last axes of each operand an operation on vectors or matrices takes.

    Raises: NotSupported if it takes no operands of these ranks.
    """
    best: list[int] = []
    for candidate in default_rulebook().candidates(name):
        ranks = [rank for _, rank in tensors(candidate)]
        if len(ranks) != len(available):
            continue
        core = [g if r is None else r for r, g in zip(ranks, available, strict=True)]
        if all(c <= g for c, g in zip(core, available, strict=True)) and (not best or core > best):
            best = core
    if not best:
        raise NotSupported(f"{name} of arrays of {' and '.join(map(str, available))} axes is not supported")
    return best
