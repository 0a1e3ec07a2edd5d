"""Derivatives of solutions: F(Y, X) = 0 gives F_Y dY = -F_X dX, at the solution itself.

Templates are, as for any operation, over the symbols of the equation and its unknown, which represents the value. One
linear solve serves the derivatives in all symbols.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

from matcalc.calculus.derive.invert_map import adjoint_map, inverse_image
from matcalc.calculus.simplify.simplify import simplify
from matcalc.calculus.templates import Pull, Template
from matcalc.errors import NotDifferentiable
from matcalc.tensor.constructors import eye, symbol, zeros
from matcalc.tensor.nodes.node import Node
from matcalc.tensor.sums import scale

Push = Callable[..., Node]
START = "#start"


def slope_in(equation: Node, unknown: Node, pull: Pull) -> Node:
    """Return the generalised Jacobian of an equation in its unknown, shape unknown.shape + unknown.shape."""
    return simplify(pull(equation, eye(*unknown.shape), [unknown], unknown.shape)[0])


@lru_cache(maxsize=128)
def implicit_adjoint(node: Node, position: int, pull: Pull) -> Template:
    """Return the adjoint of a solution's differential in argument `position`; `incoming` is the cotangent."""
    equation, unknown = _simple(node)
    cotangent = symbol("#G", node.shape)
    result = zeros(node.args[position].shape)
    if position:
        solved = _solved(node, adjoint_map(slope_in(equation, unknown, pull)), cotangent)
        result = scale(-1, pull(equation, solved, [node.args[position]])[0])
    return Template(result, _arguments(node), (unknown,), cotangent, node.rule)


@lru_cache(maxsize=128)
def implicit_tangent(node: Node, position: int, pull: Pull, push: Push) -> Template:
    """Return the differential of a solution in argument `position`; `incoming` is the tangent."""
    equation, unknown = _simple(node)
    argument = node.args[position]
    tangent = symbol("#d", argument.shape)
    result = zeros(node.shape)
    if position:
        moved = scale(-1, push(equation, {argument: tangent}))
        result = _solved(node, slope_in(equation, unknown, pull), moved)
    return Template(result, _arguments(node), (unknown,), tangent, node.rule)


def _simple(node: Node) -> tuple[Node, Node]:
    equation, unknown = node.params
    return simplify(equation), unknown


def _arguments(node: Node) -> tuple[Node, ...]:
    return (symbol(START, node.args[0].shape), *node.args[1:])


def _solved(node: Node, linear: Node, image: Node) -> Node:
    try:
        return inverse_image(linear, image)
    except NotDifferentiable as fault:
        raise NotDifferentiable(f"{node.rule.spelling}: {fault.message}") from None
