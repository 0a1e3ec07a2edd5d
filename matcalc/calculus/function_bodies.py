"""Differentiates function arguments: bodies, by the rules of their maps, forward, in one walk.

A body contains its parameter, numbers, sums, products and maps alone. So this module is below the derivatives of
expressions, and a rewrite may use the derivative of a function that it has found.
"""

from __future__ import annotations

from matcalc.calculus.templates import derivative_template
from matcalc.tensor.constructors import add, product
from matcalc.tensor.nodes.node import Node, toposort
from matcalc.tensor.raw_nodes import number, parameter
from matcalc.tensor.substitute import Batched, instantiate


def derivative(body: Node, order: int = 1) -> Node:
    """Return a derivative of a function's body, itself a body.

    Raises: NotDifferentiable for a map without a derivative.
    """
    for _ in range(order):
        body = _slope(body)
    return body


def _slope(body: Node) -> Node:
    slope: dict[Node, Node] = {}
    for node in toposort(body):
        if node is parameter():
            slope[node] = number(1)
        elif all(slope[arg].is_zero for arg in node.args):
            slope[node] = number(0)
        elif node.kind == "sum":
            slope[node] = add([(c, slope[arg]) for c, arg in node.terms])
        else:
            parts = [_of_operand(node, position, slope[arg]) for position, arg in enumerate(node.args)]
            slope[node] = add([(1, part) for part in parts])
    return slope[body]


def _of_operand(node: Node, position: int, inner: Node) -> Node:
    """Return the part of the derivative that comes from one operand of a product or map."""
    if inner.is_zero:
        return inner
    if node.kind == "product":
        others = [arg for k, arg in enumerate(node.args) if k != position]
        return product(node.coef, [(x, ()) for x in (*others, inner)], ())
    template = derivative_template(node, position)
    bound = {s: Batched(arg) for s, arg in zip(template.args, node.args, strict=True)}
    bound.update({y: Batched(node) for y in template.values})
    outer = instantiate(template.node, bound, template.sizes(node), ()).node
    return product(1, [(outer, ()), (inner, ())], ())
