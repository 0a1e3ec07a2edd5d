"""Moves lookups into functions and sums: `exp(X)[i, j]` becomes `exp(X[i, j])`, another plan of the same value.

This is less work if fewer entries are looked up than exist: `sigmoid(U*V')[i, j]` needs only the entries of `U*V'` at
`i, j`. It is more work if entries are looked up often. So both are planned.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from matcalc.tensor.constructors import add, apply, product
from matcalc.tensor.nodes.node import Indices, Node, Operand, toposort
from matcalc.tensor.sizes.size import Size
from matcalc.tensor.substitute import rebuild


def lookups_pushed_inward(roots: Sequence[Node]) -> list[Node]:
    """Return roots with lookups in functions and sums moved to the operands of these."""
    if not any(node.kind == "selector" and node.args for node in toposort(roots)):
        return list(roots)
    return rebuild(roots, _inside)


def _inside(node: Node) -> Node:
    if node.kind != "product":
        return node
    for lookup, at in node.operands:
        if lookup.kind != "selector" or not lookup.args or at[0] in at[1:]:
            continue
        operands = [_looked_up(term, (lookup, at), node.sizes) for term in node.operands]
        if any(new is not old for (new, _), old in zip(operands, node.args, strict=True)):
            return _inside(product(node.coef, operands, node.out, node.sizes))
    return node


def _looked_up(term: Operand, lookup: Operand, sizes: Mapping[int, Size]) -> Operand:
    """Return an operand with the lookup applied to its own operands, if it is a map or a sum.

    This is valid only if the axis is one of the result as well: other entries of the lookup are 0.
    """
    (node, at), (_, (source, *indices)) = term, lookup
    if node.kind not in ("map", "sum") or source not in at:
        return term
    out: Indices = tuple(dict.fromkeys(j for i in at for j in (indices if i == source else (i,))))
    args = [_inside(product(1, [(arg, at), lookup], out, sizes)) for arg in node.args]
    made = apply(node.rule, args, node.params) if node.kind == "map" else add(list(zip(node.coefs, args, strict=True)))
    return made, out
