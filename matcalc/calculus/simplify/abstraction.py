"""Variables of rewrites for functions and numbers, and abstraction of a node as a function of another.

In a pattern a number variable is an exact number that nobody writes, and a function variable an elementwise rule of its
own. Matching binds them. A function is bound by abstraction: `exp(w).*w` is `x -> exp(x)*x` of w, if it contains
nothing but w, numbers and elementwise functions.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import lru_cache
from typing import Any

from matcalc.rulebook.entry import rule_from_table
from matcalc.tensor.constructors import add, apply, product
from matcalc.tensor.nodes.node import Node, toposort
from matcalc.tensor.raw_nodes import map_node, parameter
from matcalc.tensor.sizes.size import Size
from matcalc.tensor.sums import split_coef

VARIABLE = "a function variable of a rewrite"
NUMBERS = tuple(Fraction(1_000_000_007, 998_244_353 + 2 * k) for k in range(4))
"""The numbers that represent number variables in a pattern, in order."""


@lru_cache(maxsize=64)
def function_variable(name: str) -> Node:
    """Return the body that represents the function `name` in a pattern."""
    rule = rule_from_table(name, {"signature": f"{name}(x: entry) -> entry", "opaque": VARIABLE}, "")
    return map_node(rule, (), (parameter(),))


def is_function_variable(node: Node) -> bool:
    """Whether a node of a pattern is a function variable applied to an argument."""
    return node.kind == "map" and node.rule.opaque == VARIABLE


def bind_others(pattern: Sequence[Any], subject: Sequence[Any], known: Mapping[Any, Any]) -> dict[Any, Any] | None:
    """Return `known` with bindings of number and function variables among parameters; None if parameters differ."""
    found = dict(known)
    for expected, actual in zip(pattern, subject, strict=True):
        if isinstance(expected, Size):
            continue
        is_variable = expected in NUMBERS or (isinstance(expected, Node) and is_function_variable(expected))
        if (found.setdefault(expected, actual) if is_variable else expected) != actual:
            return None
    return found


def abstract(node: Node, variable: Node) -> Node | None:
    """Return the body of the elementwise function of `variable` (a vector or scalar) that equals `node`, else None.

    A function of a vector may contain scalars unchanged.
    """
    bodies: dict[Node, Node | None] = {}
    coef, core = split_coef(variable)
    for n in toposort([node]):
        own, rest = split_coef(n)
        if rest is core and core.kind != "number":
            bodies[n] = product(own / coef, [(parameter(), ())], ())
        else:
            bodies[n] = n if variable.shape and not n.shape else _body(n, bodies)
    return bodies[node]


def _body(node: Node, bodies: Mapping[Node, Node | None]) -> Node | None:
    if node.kind == "number" or (node.kind == "constant" and not node.shape):
        return node
    if node.kind not in ("map", "sum", "product") or len(node.shape) > 1:
        return None
    args = [body for a in node.args if (body := bodies[a]) is not None]
    if len(args) != len(node.args):
        return None
    if node.kind == "map":
        return apply(node.rule, args, node.params)
    if node.kind == "sum":
        return add(list(zip(node.coefs, args, strict=True)))
    if len(node.index_sizes) != len(node.out) or any(at not in ((), node.out) for at in node.indices):
        return None
    return product(node.coef, [(body, ()) for body in args], ())
