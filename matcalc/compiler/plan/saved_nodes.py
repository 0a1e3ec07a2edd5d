"""Chooses the nodes that the forward pass of a pullback saves for the backward pass.

Nodes that do not depend on the incoming cotangent are known after the forward pass. The candidates are those that
dependent nodes read. A candidate that needs kernels is saved. An entrywise one is recomputed if its operands exist
anyway, since reading it back costs as much. The operands of a switch are saved, never the switch itself: read back as
numbers, its zeros would multiply entries that must be left out.
"""

from __future__ import annotations

from collections.abc import Sequence

from matcalc.tensor.nodes.node import Node, toposort
from matcalc.tensor.switches import is_switch


def to_save(cotangents: Sequence[Node], inputs: Sequence[Node], incoming: Sequence[Node]) -> list[Node]:
    """Return the nodes that the forward pass saves for the backward pass, operands first."""
    order = toposort(cotangents)
    ends = set(cotangents)
    linear = set(incoming)
    for node in order:
        if any(a in linear for a in node.args):
            linear.add(node)
    border: dict[Node, None] = {}
    for node in order:
        if node in linear:
            border.update(dict.fromkeys(a for a in node.args if a not in linear))
        elif node in ends:
            border[node] = None
    for node in reversed(order):
        if node in border and is_switch(node):
            del border[node]
            border.update(dict.fromkeys(node.args))
    there: set[Node] = set(inputs)
    saved: list[Node] = []
    for node in order:
        if node in border and node not in there and not _is_cheap(node, there):
            saved.append(node)
            there.add(node)
    return saved


def _is_cheap(node: Node, there: set[Node]) -> bool:
    """Whether a node is entrywise in nodes of `there`, numbers and re-indexings included."""
    if node.kind in ("number", "size", "selector", "constant", "symbol"):
        return True
    if node.kind == "op" or (node.kind == "product" and _sums(node)):
        return False
    return all(a in there or a.kind in ("number", "size", "selector", "constant") for a in node.args)


def _sums(node: Node) -> bool:
    return any(i not in node.out for at in node.indices for i in at)
