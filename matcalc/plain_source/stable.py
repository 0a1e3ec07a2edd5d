"""Gives a written formula the stable forms that numeric evaluation uses, and leaves the rest as it is written.

`sum(log(1 + exp(z))) + lam*w'*w` keeps its terms and their order; only `log(1 + exp(z))` becomes `softplus(z)`.
"""

from __future__ import annotations

from collections.abc import Callable

from matcalc.calculus.simplify.simplify import stable_all
from matcalc.calculus.simplify.users_names import named_formula
from matcalc.errors import MatcalcError
from matcalc.language.syntax import BINDERS, Ast, children, definition, exchanged, part_name, rebuild, shared, walk
from matcalc.tensor.nodes.node import Node
from matcalc.tensor.symbols import Names

KEPT = ("number", "name", "word", "empty", "slice", "compare", "row", "function")
"""Heads whose trees have no node of their own."""


def stable_tree(tree: Ast, names: Names, node_of: Callable[[Ast], Node]) -> Ast:
    """Return a tree in which the parts that lose digits have their stable forms."""
    made: dict[Ast, Ast] = {}
    parts: dict[Ast, Ast] = {}
    for own in walk(tree, (*BINDERS, "function")):
        made[own] = _settled(own, made, parts, names, node_of)
    return made[tree]


def _settled(
    own: Ast, made: dict[Ast, Ast], parts: dict[Ast, Ast], names: Names, node_of: Callable[[Ast], Node]
) -> Ast:
    if own.head == "shared":
        inner = definition(own)
        if inner not in parts:
            parts[inner] = stable_tree(inner, names, node_of)
        return own if parts[inner] is inner else shared(part_name(own), parts[inner], own.span)
    if own.head in KEPT:
        return own if own.head != "compare" else exchanged(own, [made[child] for child in own.args])
    new = exchanged(own, [made.get(child, child) for child in children(own)])
    try:
        before, after = node_of(own), node_of(new)
    except MatcalcError:  # a part of an index form, or of a block
        return new
    (target,) = stable_all([before])
    return new if after is target else _rewritten(target, own, made, names, node_of)


def _rewritten(target: Node, own: Ast, made: dict[Ast, Ast], names: Names, node_of: Callable[[Ast], Node]) -> Ast:
    """Return the formula of a node, with the parts of the written tree that it has as they are written."""
    parts: dict[Node, Ast] = {}
    for part in walk(own, (*BINDERS, "function")):
        if part is own or part.head in KEPT or part.head == "shared":
            continue
        try:
            node = node_of(made[part])
        except MatcalcError:
            continue
        if node.args:
            parts.setdefault(node, made[part])
    labels = {node: f"part{k}_" for k, node in enumerate(parts)}
    trees = {labels[node]: tree for node, tree in parts.items()}
    tree = named_formula(target, tuple(names.scope), {**names.named_parts, **labels})
    return rebuild(tree, lambda node: trees.get(part_name(node), node) if node.head == "shared" else node)
