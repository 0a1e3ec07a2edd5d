"""Computes how far around a point the power series of a function is trusted: the bound between a tie and a gap.

A rule's `radius` is the distance to its nearest singularity. A map without `radius` is entire and trusted over its
`scale`, the distance over which it changes by its own size, or over ENTIRE if the rule has no `scale`. In a composite
f(g(x)) the argument may move as far as r while g moves by no more than the radius R of f: with g' and g'' that is
r = R/(|g'| + sqrt(R |g''|)).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from matcalc.calculus import function_bodies
from matcalc.calculus.simplify.simplify import simplify
from matcalc.formula.elaborate.rule_formula import build_formula
from matcalc.rulebook.load import default_rulebook
from matcalc.rulebook.notations import spelled
from matcalc.rulebook.rule import Rule
from matcalc.tensor.nodes.node import Node, toposort
from matcalc.tensor.nodes.signature import PLAIN
from matcalc.tensor.raw_nodes import constant, number, parameter
from matcalc.tensor.sizes.size import Size
from matcalc.tensor.substitute import Batched, instantiate, spread

ENTIRE = 2  # exp and sin change by their own size over 1
EXACT_DEGREE = 12  # a polynomial up to this degree is its own series anywhere


@lru_cache(maxsize=256)
def derivative(body: Node, order: int) -> Node:
    """Return a derivative of a function's body, simplified."""
    return simplify(function_bodies.derivative(body, order))


def radius_at(node: Node) -> Node:
    """Return the trusted radius of a map's function at its operand, as a formula."""
    axes = tuple(range(len(node.shape)))
    bound = {parameter(): Batched(node.args[0], axes)}
    return spread(instantiate(radius(node.params[0]), bound, {}, node.shape), axes, node.shape)


@lru_cache(maxsize=256)
def radius(body: Node) -> Node:
    """Return the radius of a function as a body over the parameter; infinite for a polynomial of low degree."""
    order = toposort(body)
    found = [_of_composite(node) for node in order if node.kind == "map" and parameter() in toposort([node])]
    if not found:
        degree = _degree(order)
        return constant(_infinity()) if degree <= EXACT_DEGREE else formula(f"{spelled('magnitude')}(x)", x=parameter())
    least = found[0]
    for other in found[1:]:
        least = formula(f"{spelled('smaller')}(u, v)", u=least, v=other)
    return least


def _infinity() -> Any:
    import numpy as np

    return np.float64(np.inf)


def _degree(order: Sequence[Node]) -> int:
    degrees: dict[Node, int] = {}
    for node in order:
        if node is parameter():
            degrees[node] = 1
        elif node.kind == "product":
            degrees[node] = sum(degrees[a] for a in node.args)
        else:
            degrees[node] = max((degrees[a] for a in node.args), default=0)
    return degrees[order[-1]]


def _of_composite(node: Node) -> Node:
    own = radius_of_map(node.rule, node.args, node.params)
    found: Node | None = None
    for arg in node.args:
        first = derivative(arg, 1)
        if first.is_zero:
            continue
        moved = own if arg is parameter() else _through(own, first, derivative(arg, 2))
        found = moved if found is None else formula(f"{spelled('smaller')}(u, v)", u=found, v=moved)
    assert found is not None
    return found


def _through(own: Node, first: Node, second: Node) -> Node:
    """Return how far a parameter may move while a function of it moves by `own`, from its first two derivatives."""
    size = spelled("magnitude")
    return formula(f"R ./ ({size}(u) + (R.*{size}(v)).^(1/2))", R=own, u=first, v=second)


def radius_of_map(rule: Rule, args: Sequence[Node], params: Sequence[Any]) -> Node:
    """Return the distance to a map's nearest singularity, or the one over which an entire map changes by its size."""
    text = rule.radius or rule.scale
    if text is None:
        return number(ENTIRE)
    plain = [p.name for p in rule.signature.parameters if p.kind in PLAIN]
    operands = [p.name for p in rule.signature.parameters if p.kind not in PLAIN]
    integer_params = {n: Size.of(p) for n, p in zip(plain, params, strict=False)}
    return build_formula(text, (), default_rulebook(), dict(zip(operands, args, strict=True)), sizes=integer_params)


def formula(text: str, **nodes: Node) -> Node:
    """Return a formula of the language over named nodes."""
    return build_formula(text, (), default_rulebook(), nodes)
