"""Switches: maps of which a zero annihilates, and where a node is switched off.

A branch that is not taken contributes nothing to a derivative, whatever it holds. So what a derivative selects with
(`when(x > y)`, the slopes of `max`, `clip` and `relu`) is a map whose rule says `annihilates`: a product that holds it
as an operand is 0 where it is 0, at each point of the sum that the product is, even if other operands are infinite or
NaN there. A sum of such products, or one that is summed up, is 0 there as well, but holds no such operand: before it is
multiplied with anything it is given one, made of its `support`.
"""

from __future__ import annotations

from matcalc.rulebook.load import default_rulebook
from matcalc.tensor.elementwise import apply
from matcalc.tensor.network import is_closed_scalar
from matcalc.tensor.node import Node
from matcalc.tensor.product import simple_product
from matcalc.tensor.sums import add


def is_switch(node: Node) -> bool:
    """Whether a node is a map of which a zero annihilates."""
    return node.kind == "map" and node.rule.annihilates


def annihilates(node: Node) -> bool:
    """Whether a zero of a node says that nothing is there: of a switch, of the matrix of a permutation."""
    return node.kind in ("map", "op") and node.rule.annihilates


def switches_of(node: Node) -> list[int]:
    """Return the places of the operands of a product that annihilate."""
    return [k for k, arg in enumerate(node.args) if is_switch(arg)]


def support(node: Node) -> Node:
    """Return a node that is 0 where `node` is switched off, and elsewhere positive or NaN.

    `node` is one that `switches`.
    """
    found: dict[Node, Node] = {}
    stack = [node]
    while stack:
        top = stack[-1]
        inner = [arg for arg in _switching(top) if arg not in found]
        if inner:
            stack.extend(inner)
            continue
        found[stack.pop()] = _support(top, found)
    return found[node]


def _switching(node: Node) -> list[Node]:
    """Return the operands that the support of a node is made of: of a product the switches alone where it has any."""
    if node.kind == "sum":
        return list(node.args)
    if node.kind != "product":
        return []
    return [arg for arg in node.args if is_switch(arg)] or [arg for arg in node.args if arg.switches]


def _support(node: Node, found: dict[Node, Node]) -> Node:
    if node.kind == "sum":
        return add([(1, found[arg]) for arg in node.args])
    if node.kind != "product":
        return node
    kept = set(_switching(node))
    operands = [(found[a], at) for a, at in node.operands if a in kept]
    masks = [(a, at) for a, at in node.operands if a.kind == "selector"]
    return simple_product(1, [*operands, *masks], node.out, {i: node.index_sizes[i] for i in node.out})


def switched(node: Node) -> Node:
    """Return a factor of products so that they are switched off where it is: itself, or with a switch as an operand.

    A scalar that is summed up stays one operand of a product, so its switches do not reach the others.
    """
    if not node.switches or is_switch(node):
        return node
    if node.kind == "product" and not is_closed_scalar(node) and switches_of(node):
        return node
    axes = tuple(range(node.rank))
    return simple_product(1, [(switch_of(support(node)), axes), (node, axes)], axes)


def switch_of(node: Node) -> Node:
    """Return the switch that is 0 where `node` is 0, else 1."""
    axes = tuple(range(node.rank))
    zero = simple_product(0, [], axes, dict(enumerate(node.shape)))
    return apply(default_rulebook().playing("unequal"), [node, zero])
