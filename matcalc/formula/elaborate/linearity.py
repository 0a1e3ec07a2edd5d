"""Computes the degree of a node in some symbols: a differential must have degree one in its tangents.

The degree is read off the DAG. Products add degrees; sums need equal ones. An operation is linear in the slots that its
rule declares linear. Other slots and nodes must not hold the symbols.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from matcalc.tensor.nodes.node import Node, toposort
from matcalc.tensor.nodes.signature import tensors_of

Degree = int | None
ANY = -1  # the degree of zero, which has every degree


def is_linear(root: Node, symbols: Collection[Node]) -> bool:
    """Whether a node is linear in these symbols together (zero is)."""
    return degree(root, symbols) in (1, ANY)


def degree(root: Node, symbols: Collection[Node]) -> Degree:
    """Return the degree of `root` as a homogeneous polynomial in the symbols; None if it is not one."""
    found: dict[Node, Degree] = {}
    for node in toposort(root):
        degrees = [found[arg] for arg in node.args]
        if node in symbols:
            found[node] = 1
        elif node.is_zero:
            found[node] = ANY
        elif None in degrees:
            found[node] = None
        else:
            found[node] = _combined(node, [d for d in degrees if d is not None])
    return found[root]


def _combined(node: Node, degrees: Sequence[int]) -> Degree:
    if node.kind == "product":
        return ANY if ANY in degrees else sum(degrees)
    if node.kind == "sum":
        distinct = {d for d in degrees if d != ANY}
        return ANY if not distinct else distinct.pop() if len(distinct) == 1 else None
    if node.kind != "op":
        return 0 if all(d in (0, ANY) for d in degrees) else None
    parameters = tensors_of(node.rule.signature)
    total = 0
    for index, one in enumerate(degrees):
        parameter = parameters[min(index, len(parameters) - 1)]
        linear = parameter.repeated or parameter.name in node.rule.linear
        if one and not linear:
            return None
        if linear:
            total = ANY if ANY in (total, one) else total + one
    return total
