"""Finds the lengths of the axes that symbols of kind `index` are looked up in."""

from __future__ import annotations

from collections.abc import Iterable

from matcalc.errors import ShapeError
from matcalc.language.kinds import INDEX
from matcalc.tensor.constructors import product
from matcalc.tensor.nodes.node import Indices, Node, Operand, everything
from matcalc.tensor.raw_nodes import lookup
from matcalc.tensor.sizes.size import Size


def is_index(symbol: Node) -> bool:
    """Return whether a symbol is data that are indices along an axis."""
    return symbol.kind == "symbol" and INDEX in symbol.data[1]


def as_number(node: Node) -> Node:
    """Return a node that is used as a number.

    Raises: ShapeError for an index.
    """
    if is_index(node):
        is_named = node.name.isidentifier()  # not the symbol of an entry at a step of a loop
        hint = f"use it in a subscript: x[{node.name}]; " if is_named else ""
        name = node.name if is_named else "an entry of an index"
        raise ShapeError(f"{name} is an index, not a number", hint=f"{hint}to compute with it, declare it a vector")
    return node


def can_index(node: Node) -> bool:
    """Return whether a node is an index, or consists of one and selectors: only such nodes can be looked up."""
    parts = [arg for arg in node.args if arg.kind != "selector"] if node.kind == "product" else [node]
    return len(parts) == 1 and is_index(parts[0]) and (node.kind == "symbol" or node.coef == 1)


def looked_up(indices: Node, length: Size, axis: int, at: Indices) -> Operand:
    """Return the operand of a product that ties an axis of this length to indices that are data, at the labels `at`.

    Axes of data are in the order of the symbol, so that an entry has one form: `J'[k, i]` is `J[i, k]`.
    """
    order = _order(indices)
    if order != sorted(order):
        places = sorted(range(indices.rank), key=order.__getitem__)
        indices = product(1, [(indices, tuple(range(indices.rank)))], tuple(places))
        at = tuple(at[k] for k in places)
    return lookup(indices, length), (axis, *at)


def _order(indices: Node) -> list[int]:
    """Return for each axis of indices the axis of the symbol that it, or a part of it, runs along."""
    if indices.kind == "symbol":
        return list(range(indices.rank))
    (own,) = (at for arg, at in indices.operands if arg.kind != "selector")
    along = {long: short for arg, (long, *shorts) in indices.operands if arg.kind == "selector" for short in shorts[:1]}
    found = [along.get(label, label) for label in own]
    return [found.index(label) if label in found else len(found) for label in indices.out]


def is_lookup(node: Node) -> bool:
    """Return whether a node is a selector at indices that are data."""
    return node.kind == "selector" and bool(node.args)


def lengths_of(nodes: Iterable[Node]) -> dict[str, list[Size]]:
    """Return for the name of each index the lengths of the axes that it, or a part of it, is looked up in."""
    found: dict[str, dict[Size, None]] = {}
    for node in everything(nodes):
        for indices in node.args if node.kind == "selector" else ():
            for symbol in (indices, *indices.args):
                if is_index(symbol):
                    found.setdefault(symbol.name, {})[node.shape[0]] = None
    return {name: list(lengths) for name, lengths in found.items()}
