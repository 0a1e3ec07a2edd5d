"""Ties of more than two: `max(max(a, b), c)` shares equally among all three.

The share of `max(a, b)` in its tie with c is 2/3 if a equals b as well. The share of a in `max(a, b)` is 1/2. An
operand of a jump may itself be the larger of several (its rule has `weight`). Then the jump is written with the number
of values on each side (`weighed`).
"""

from __future__ import annotations

from fractions import Fraction

from matcalc.calculus.derive.jumps import entrywise
from matcalc.calculus.templates import weight_template
from matcalc.tensor.constructors import broadcast, number
from matcalc.tensor.nodes.node import Node, toposort


def weighed(node: Node) -> Node:
    """Return a jump with operands weighted by the number of values that they represent."""
    if node.rule.weighed is None or not any(_is_one_of_several(arg) for arg in node.args):
        return node
    one = broadcast(number(Fraction(1)), node.shape)
    found: dict[Node, Node] = {}
    for part in toposort(node.args):
        if part.shape == node.shape:
            more = [found.get(arg, one) for arg in part.args] if _is_one_of_several(part) else []
            found[part] = entrywise(weight_template(part), part, more) if more else one
    return entrywise(weight_template(node), node, [found[arg] for arg in node.args])


def _is_one_of_several(node: Node) -> bool:
    return node.kind == "map" and node.rule.weight is not None
