"""Pickles nodes: the DAG becomes a flat list of records, so depth and sharing cost nothing.

A record holds the key of the intern table, with operands as numbers of earlier records. Loading interns the records
again, so equal nodes of two pickles are one object.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from matcalc.tensor import raw_nodes
from matcalc.tensor.facts.facts import describe
from matcalc.tensor.nodes.node import Node, intern, toposort
from matcalc.tensor.sums import exchanges_of_sum, symmetry_of_sum

Record = tuple[str, tuple[int, ...], tuple[Any, ...], tuple[Any, ...]]


def pickle_form(node: Node) -> tuple[Callable[..., Node], tuple[Any, ...]]:
    """Return the pickled form of a node: `restore` and its argument."""
    number: dict[Node, int] = {}
    records: list[Record] = []
    for member in toposort(node):
        number[member] = len(records)
        args = tuple(number[arg] for arg in member.args)
        records.append((member.kind, args, member.data, member.shape))
    return restore, (tuple(records),)


def restore(records: tuple[Record, ...]) -> Node:
    """Return the node of a pickle."""
    nodes: list[Node] = []
    for kind, numbers, data, shape in records:
        args = tuple(nodes[number] for number in numbers)
        if kind == "product":
            node = raw_nodes.product_node(data[0], args, *data[1:])
        elif kind == "sum":
            node = raw_nodes.sum_node(data[0], args, symmetry_of_sum, exchanges_of_sum)
        else:
            node = intern(kind, args, data, shape, describe)
        nodes.append(node)
    return nodes[-1]
