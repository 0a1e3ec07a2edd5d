"""Finds what a product looks up at an index of the step: a tensor that all steps share, at lookups of its axes."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from matcalc.tensor.constructors import product
from matcalc.tensor.nodes.node import Node, Operand

Test = Callable[[Operand], bool]


def group_of(node: Node, source: int, is_own: Test, is_fixed: Test) -> list[Operand]:
    """Return the operands of a product that a lookup along the index `source` joins; none if a step changes one.

    `is_own` tells the lookups at the step, `is_fixed` what is the same at each step. A lookup alone is no group.
    """
    if source in node.out:
        return []
    lookups = {at[0]: (arg, at) for arg, at in node.operands if is_own((arg, at)) and at[0] not in node.out}
    sources = {source}
    while True:
        others = [o for o in node.operands if not is_own(o) and not sources.isdisjoint(o[1])]
        found = {index for _, at in others for index in at if index in lookups}
        if found <= sources:
            break
        sources |= found
    is_group = bool(others) and all(map(is_fixed, others))
    return [*others, *(lookups[index] for index in sorted(sources))] if is_group else []


def taken_together(node: Node, group: Sequence[Operand], lead: Sequence[int] = ()) -> tuple[Operand, list[Operand]]:
    """Return a group of operands as one, with the indices `lead` in front, and the other operands."""
    rest = [operand for operand in node.operands if operand not in group]
    outside = {*node.out, *(index for _, at in rest for index in at)}
    out = tuple(dict.fromkeys([*lead, *(index for _, at in group for index in at if index in outside)]))
    return (product(1, group, out, {}), out), rest
