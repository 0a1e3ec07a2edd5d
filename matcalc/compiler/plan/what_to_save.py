"""What the forward pass of a pullback is to save for the backward one.

Whatever the cotangents use without depending on the incoming one is known after the forward pass. At the
border of these nodes it is decided what to save: a node that costs kernels is saved, an entrywise one is
computed again where all that it is made of is there anyway, since reading it back costs as much as computing
it. A switch is never saved but what it is made of: read back, its zeros would multiply what they are to leave out.
"""

from __future__ import annotations

from collections.abc import Sequence

from matcalc.tensor.node import Node, toposort
from matcalc.tensor.switches import is_switch


def to_save(cotangents: Sequence[Node], inputs: Sequence[Node], incoming: Sequence[Node]) -> list[Node]:
    """Return the nodes that backward reads and forward is to keep, operands first."""
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
    """Whether a node is entrywise in what is there, numbers and re-indexings included."""
    if node.kind in ("number", "size", "selector", "constant", "symbol"):
        return True
    if node.kind == "op" or (node.kind == "product" and _sums(node)):
        return False
    return all(a in there or a.kind in ("number", "size", "selector", "constant") for a in node.args)


def _sums(node: Node) -> bool:
    return any(i not in node.out for at in node.indices for i in at)
