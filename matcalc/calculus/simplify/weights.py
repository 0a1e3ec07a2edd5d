"""Removes marks from weights whose zeros switch nothing off.

A weight marks a factor that switches off a singular derivative where it is 0. Beside factors that are finite for all
data it is an ordinary factor, and so is a weight that is known not to be 0.
"""

from __future__ import annotations

from matcalc.tensor.nodes.node import Node
from matcalc.tensor.substitute import remake
from matcalc.tensor.switches import is_weight


def unweighed(node: Node) -> Node:
    """Return a node without marks on those weights among its operands that switch nothing off."""
    weights = [arg for arg in node.args if is_weight(arg)]
    if not weights:
        return node
    is_finite = node.kind != "product" or all(arg.finite for arg in node.args)
    idle = {arg: arg.args[0] for arg in weights if is_finite or arg.args[0].range.nonzero}
    return remake(node, {arg: idle.get(arg, arg) for arg in node.args}) if idle else node
