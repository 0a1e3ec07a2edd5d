"""Tests whether anything can be computed ahead from fixed data, so that a function is not planned twice in vain."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from matcalc.tensor.nodes.node import Node, toposort

MOST_FACTORS = 3
"""The most fixed factors of a product whose entries cost no more to multiply in each call than to read."""


def may_save(roots: Sequence[Node], fixed: Collection[str]) -> bool:
    """Return whether a part of these formulas may depend on fixed symbols alone and cost more than reading them."""
    known: set[Node] = set()
    held: set[Node] = set()
    for node in toposort(roots):
        if node.kind == "symbol":
            own = node.name in fixed
            known.update([node] if own else [])
            held.update([node] if own else [])
            continue
        if all(arg in known for arg in node.args):
            known.add(node)
        if node in known and any(arg in held for arg in node.args):
            held.add(node)
        if node.kind == "product":
            if _saves(node, known, held):
                return True
        elif node in held:
            return True
    return False


def _saves(node: Node, known: Collection[Node], held: Collection[Node]) -> bool:
    """Return whether the fixed factors of a product may be summed over an index, or are many."""
    factors = [arg for arg in node.args if arg in held]
    if len(factors) > MOST_FACTORS:
        return True
    summed = {index for at in node.indices for index in at}.difference(node.out)
    return any(_is_fixed_sum(node.operands, index, known) for index in summed) if factors else False


def _is_fixed_sum(operands: Iterable[tuple[Node, Sequence[int]]], index: int, known: Collection[Node]) -> bool:
    """Return whether all factors with an index are known."""
    return all(arg in known for arg, at in operands if index in at)
