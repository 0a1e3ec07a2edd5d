"""Finds reciprocals that are infinite if an axis is empty, as of a norm or of a sum of squares."""

from __future__ import annotations

from matcalc.tensor.nodes.node import Node, exponent_of
from matcalc.tensor.sizes.size import Size


def is_pole_of_nothing(node: Node, size: Size) -> bool:
    """Whether a node is a negative power of a sum or norm along an axis of this length."""
    base, exponent = exponent_of(node)
    if exponent > 0 or base.range.nonzero:
        return False
    pending, seen = [base], {base}
    while pending:
        inner = pending.pop()
        if inner.kind == "product" and size in inner.index_sizes:
            return True
        if inner.kind == "op" and any(size in arg.shape for arg in inner.args):
            return True
        new = [arg for arg in inner.args if inner.kind in ("map", "sum", "product") and arg not in seen]
        seen.update(new)
        pending += new
    return False
