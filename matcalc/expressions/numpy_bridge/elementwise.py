"""NumPy's elementwise arithmetic by its names, on nodes that broadcast."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from matcalc.errors import NotSupported
from matcalc.expressions.numpy_bridge.arguments import common, node_of, times
from matcalc.rulebook.load import default_rulebook
from matcalc.tensor import constructors
from matcalc.tensor.node import Node


def add(x1: Any, x2: Any) -> Node:
    return constructors.add([(1, node) for node in common(node_of(x1), node_of(x2))])


def subtract(x1: Any, x2: Any) -> Node:
    a, b = common(node_of(x1), node_of(x2))
    return constructors.add([(1, a), (-1, b)])


def multiply(x1: Any, x2: Any) -> Node:
    return times(node_of(x1), node_of(x2))


def divide(x1: Any, x2: Any) -> Node:
    return times(node_of(x1), reciprocal(x2))


def power(x1: Any, x2: Any) -> Node:
    a, b = node_of(x1), node_of(x2)
    if b.kind == "number":
        return constructors.power(a, b.value)
    return constructors.apply(default_rulebook().playing("free_power"), common(a, b))


def negative(x: Any) -> Node:
    return constructors.scale(-1, node_of(x))


def positive(x: Any) -> Node:
    return node_of(x)


def reciprocal(x: Any) -> Node:
    return constructors.power(node_of(x), Fraction(-1))


def astype(x: Any, dtype: Any) -> Node:
    if dtype not in (float, "float", "float64"):
        raise NotSupported(f"an array of {dtype}")
    return node_of(x)


def exp2(x: Any) -> Node:
    return power(2, x)


true_divide, pow, float_power = divide, power, power  # noqa: A001 - NumPy's names
conjugate = conj = real = positive
