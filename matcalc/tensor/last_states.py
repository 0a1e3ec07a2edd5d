"""Finds trajectories of which only the last state is read."""

from __future__ import annotations

from collections.abc import Mapping

from matcalc.tensor.constructors import product, symbol
from matcalc.tensor.nodes.node import Node, toposort
from matcalc.tensor.sizes.size import Size
from matcalc.tensor.substitute import remake


def with_last_states(
    roots: Mapping[Node, Node], ends: Mapping[Node, Size]
) -> tuple[dict[Node, Node], dict[Node, Node]]:
    """Return symbols for last states, by the trajectories of which nothing else is read, and the roots over these.

    `ends` are the positions of the last states of trajectories, which are symbols.
    """
    order = toposort(roots.values())
    reads = {node: found for node in order if (found := _last_reads(node, ends))}
    whole = set(roots.values())
    for node in order:
        found = reads.get(node, {})
        whole.update(arg for k, arg in enumerate(node.args) if k not in found)
    lasts = {one: symbol(f"{one.name}_last", one.shape[1:]) for one in ends if one not in whole}
    made: dict[Node, Node] = {}
    for node in order:
        found = {k: rule for k, rule in reads.get(node, {}).items() if node.args[k] in lasts}
        made[node] = _read(node, found, lasts, made) if found else remake(node, made)
    return lasts, {old: made[node] for old, node in roots.items()}


def _last_reads(node: Node, ends: Mapping[Node, Size]) -> dict[int, int]:
    """Return the operands of a product of which it reads the last state, each with the operand that selects it."""
    found: dict[int, int] = {}
    for number, (rule, at) in enumerate(node.operands) if node.kind == "product" else ():
        if not rule.selects("slice") or rule.selector.shape[1] != 1:
            continue
        long, short = at[:2]
        others = [k for k, own in enumerate(node.indices) if long in own and k != number]
        is_single = sum(own.count(short) for own in node.indices) == 1 and not {long, short} & set(node.out)
        if len(others) == 1 and is_single:
            (k,) = others
            arg, own = node.operands[k]
            if arg in ends and own[0] == long and own.count(long) == 1 and rule.selector.offset is ends[arg]:
                found[k] = number
    return found


def _read(node: Node, found: Mapping[int, int], lasts: Mapping[Node, Node], made: Mapping[Node, Node]) -> Node:
    """Return a product over last states instead of trajectories and the selectors of their last entries."""
    rules = set(found.values())
    operands = [
        (lasts[arg], at[1:]) if k in found else (made[arg], at)
        for k, (arg, at) in enumerate(node.operands)
        if k not in rules
    ]
    return product(node.coef, operands, node.out, node.sizes)
