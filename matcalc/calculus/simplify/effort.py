"""Bounds the work of one simplification, so that a short text cannot take minutes.

The work is estimated from nodes alone: equal inputs get equal results, whatever this process simplified before. Once
the work is used up, the rest remains unsimplified, which is correct but longer.
"""

from __future__ import annotations

from matcalc.tensor.nodes.node import Node

MOST = 100_000
"""Units of work for one simplification, some 10 us each; textbook formulas take a few thousand."""


class Effort:
    """The units of work that are left."""

    __slots__ = ("left",)

    def __init__(self, most: int = MOST) -> None:
        self.left = most

    def take(self, node: Node) -> bool:
        """Subtract the work of matching a node; return whether enough was left."""
        self.left -= work(node)
        return self.left >= 0


def work(node: Node) -> int:
    """Return the units of matching a node: for each product in it the cube of the number of its operands.

    Each pair of operands bounds a run, which is a product that matching builds.
    """
    if node.kind == "product":
        return len(node.args) ** 3
    return 1 + sum(len(arg.args) ** 3 for arg in node.args if arg.kind == "product")
