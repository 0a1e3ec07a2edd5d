"""Converts syntax trees to flat lists of records for pickling, so that depth and sharing cost nothing.

A leaf is stored as its value, without the function that writes it and without its source.
"""

from __future__ import annotations

from typing import Any

from matcalc.language.syntax import Ast, call_keywords, call_name, definition, part_name, value_of_leaf, whole

Record = tuple[str, tuple[int, ...], Any, tuple[int, int], int]


def tree_records(root: Ast) -> tuple[Record, ...]:
    """Return the records of a tree; operands are numbers of earlier records."""
    place: dict[Ast, int] = {}
    records: list[Record] = []
    for node in whole(root):
        if node not in place:
            place[node] = len(records)
            args = tuple(place[arg] for arg in node.args)
            records.append((node.head, args, _value_record(node, place), node.span, node.at))
    return tuple(records)


def _value_record(node: Ast, place: dict[Ast, int]) -> Any:
    if node.head == "leaf":
        return value_of_leaf(node), None, None
    if node.head == "shared":
        return part_name(node), place[definition(node)]
    if node.head == "call":
        return call_name(node), tuple((key, place[value]) for key, value in call_keywords(node))
    return node.value


def tree_of(records: tuple[Record, ...]) -> Ast:
    """Return the tree of records."""
    trees: list[Ast] = []
    for head, places, value, span, at in records:
        if head == "shared":
            value = value[0], trees[value[1]]
        elif head == "call":
            value = value[0], tuple((key, trees[k]) for key, k in value[1])
        trees.append(Ast(head, tuple(trees[k] for k in places), value, span, at))
    return trees[-1]
