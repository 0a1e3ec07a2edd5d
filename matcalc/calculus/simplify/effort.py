"""Bounds the work of one simplification, so that a short text cannot take minutes.

The work is estimated from nodes alone: equal inputs get equal results, whatever this process has simplified before.
What is left over when the work is spent stays as it is, which is right and longer to read.
"""

from __future__ import annotations

from matcalc.tensor.node import Node

MOST = 100_000
"""Units of work for one simplification, some 10 us each; textbook formulas take a few thousand."""


class Effort:
    """The units of work that are left."""

    __slots__ = ("left",)

    def __init__(self, most: int = MOST) -> None:
        self.left = most

    def take(self, node: Node) -> bool:
        """Take the work of matching a node; return whether there was so much left."""
        self.left -= work(node)
        return self.left >= 0


def work(node: Node) -> int:
    """Return the units of matching a node: for each product in it as many as its operands have triples.

    A run of operands lies between each pair, and is itself a product that is made to be looked at.
    """
    if node.kind == "product":
        return len(node.args) ** 3
    return 1 + sum(len(arg.args) ** 3 for arg in node.args if arg.kind == "product")
