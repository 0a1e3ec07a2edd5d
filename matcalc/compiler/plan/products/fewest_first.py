"""Orders nodes so that products of few operands come first: larger products then find them as parts that exist."""

from __future__ import annotations

from collections.abc import Sequence
from heapq import heapify, heappop, heappush

from matcalc.tensor.nodes.node import Node, toposort


def fewest_operands_first(roots: Sequence[Node]) -> list[Node]:
    """Return all nodes that `roots` reach, operands before users, of possible ones the product of fewest operands."""
    nodes = toposort(roots)
    users: list[list[int]] = [[] for _ in nodes]
    missing = [len(set(node.args)) for node in nodes]
    places = {node: number for number, node in enumerate(nodes)}
    for number, node in enumerate(nodes):
        for arg in set(node.args):
            users[places[arg]].append(number)
    ready = [(_operands(node), number) for number, node in enumerate(nodes) if not node.args]
    heapify(ready)
    order: list[Node] = []
    while ready:
        _, number = heappop(ready)
        order.append(nodes[number])
        for user in users[number]:
            missing[user] -= 1
            if not missing[user]:
                heappush(ready, (_operands(nodes[user]), user))
    return order


def _operands(node: Node) -> int:
    return len(node.args) if node.kind == "product" else 0
