"""Implements NumPy's elementwise arithmetic by its names, on nodes that broadcast."""

from __future__ import annotations

from fractions import Fraction

from matcalc.errors import NotSupported
from matcalc.expressions.numpy_bridge.along_axes import entrywise
from matcalc.expressions.numpy_bridge.arguments import Operand, common, node_of, times
from matcalc.rulebook.load import default_rulebook
from matcalc.tensor import constructors
from matcalc.tensor.broadcasting import on_long_axes
from matcalc.tensor.nodes.node import Node


def add(x1: Operand, x2: Operand) -> Node:
    return plus(1, *common(node_of(x1), node_of(x2)))


def subtract(x1: Operand, x2: Operand) -> Node:
    return plus(-1, *common(node_of(x1), node_of(x2)))


def plus(sign: int, a: Node, b: Node) -> Node:
    """Return a + sign*b of one shape."""
    return on_long_axes(lambda nodes: constructors.add([(1, nodes[0]), (sign, nodes[1])]), [a, b])


def raised(a: Node, b: Node) -> Node:
    """Return a.^b of one shape, or of a number b."""
    if b.kind == "number":
        exponent = b.value
        return on_long_axes(lambda nodes: constructors.power(nodes[0], exponent), [a])
    rule = default_rulebook().playing("free_power")
    return on_long_axes(lambda nodes: constructors.apply(rule, nodes), [a, b])


def multiply(x1: Operand, x2: Operand) -> Node:
    return times(node_of(x1), node_of(x2))


def divide(x1: Operand, x2: Operand) -> Node:
    return times(node_of(x1), reciprocal(x2))


def power(x1: Operand, x2: Operand) -> Node:
    a, b = node_of(x1), node_of(x2)
    return raised(a, b) if b.kind == "number" else raised(*common(a, b))


def negative(x: Operand) -> Node:
    return constructors.scale(-1, node_of(x))


def positive(x: Operand) -> Node:
    return node_of(x)


def reciprocal(x: Operand) -> Node:
    return raised(node_of(x), constructors.number(Fraction(-1)))


def astype(x: Operand, dtype: object) -> Node:
    if dtype not in (float, "float", "float64"):
        raise NotSupported(f"an array of {dtype} is not supported, only of float")
    return node_of(x)


def exp2(x: Operand) -> Node:
    return power(2, x)


def ndtr(x: Operand) -> Node:
    """Return the normal distribution function, by erfc, which is exact in the lower tail."""
    return times(constructors.number(Fraction(1, 2)), entrywise("erfc", times(node_of(x), _root_of_half(-1))))


def _root_of_half(sign: int) -> Node:
    return constructors.scale(sign, constructors.power(constructors.number(2), Fraction(-1, 2)))


true_divide, pow, float_power = divide, power, power  # noqa: A001 - NumPy's names
conjugate = conj = real = positive
