"""Decides comparisons of scalars with 0 by what is known of them: declarations, numbers, and other comparisons."""

from __future__ import annotations

from collections.abc import Mapping

from matcalc.expressions.numpy_bridge.arguments import Compared, size_in
from matcalc.tensor.broadcasting import broadcast_nodes
from matcalc.tensor.constructors import add, number, zeros
from matcalc.tensor.nodes.node import Node
from matcalc.tensor.sizes.size import is_nonnegative

Key = tuple[str, Node]
"""A relation and a scalar that is compared with 0."""
MIRRORED: Mapping[str, str] = {"<": ">", ">": "<", "<=": ">=", ">=": "<=", "==": "==", "!=": "!="}
"""The relation of the negative of a scalar to 0."""
_HOLDS: Mapping[str, frozenset[str]] = {
    "<": frozenset(("<", "<=", "!=")), "<=": frozenset(("<=",)), "==": frozenset(("==", "<=", ">=")),
    ">": frozenset((">", ">=", "!=")), ">=": frozenset((">=",)), "!=": frozenset(("!=",)),
}  # fmt: skip
"""A relation -> the relations that hold where it does."""
_FAILS: Mapping[str, frozenset[str]] = {
    "<": frozenset((">", ">=", "==")), "<=": frozenset((">",)), "==": frozenset(("<", ">", "!=")),
    ">": frozenset(("<", "<=", "==")), ">=": frozenset(("<",)), "!=": frozenset(("==",)),
}  # fmt: skip
"""A relation -> the relations that do not hold where it does."""


def decided(key: Key) -> bool | None:
    """Return whether a comparison holds for all data that fit the declarations; None if it depends on them.

    Only the declared sign of one symbol decides: a sign that is derived may be lost in rounding.
    """
    relation, gap = key
    sign = _sign_of_size(gap) or _declared_sign(gap)
    return None if sign is None else _follows(relation, sign)


def settled(compared: Compared) -> Compared:
    """Return a comparison of a symbol's entries with 0 as a choice without a condition if its declared sign decides."""
    relation, left, right = compared.sides or ("", number(0), number(0))
    shape, sign = compared.indicator.shape, _sign_of_facts(left)
    is_sign = sign is not None and left.kind == "symbol" and right is zeros(right.shape)
    answer = _follows(relation, sign) if sign is not None and is_sign else None
    if answer is None or not shape:
        return compared

    def choose(yes: Node, no: Node) -> Node:
        shaped = broadcast_nodes([yes if answer else no, no if answer else yes, zeros(shape)])
        return compared.choose(yes, no) if shaped is None else shaped[0]

    return Compared(choose, compared.sides)


def implied(key: Key, known: Key) -> bool | None:
    """Return whether a comparison holds where a comparison of the same value with another number does; else None.

    A comparison that does not hold implies nothing: the value may be NaN.
    """
    for factor, relation in ((1, known[0]), (-1, MIRRORED[known[0]])):
        shift = size_in(add([(1, key[1]), (-factor, known[1])]))
        if shift is None or not shift.is_integer:
            continue
        found = _shifted(relation, (shift.constant > 0) - (shift.constant < 0))
        if found is not None:
            return _follows(key[0], found)
    return None


def _follows(relation: str, known: str) -> bool | None:
    return True if relation in _HOLDS[known] else False if relation in _FAILS[known] else None


def _shifted(relation: str, sign: int) -> str | None:
    """Return the relation to 0 of a value plus a number of a sign; None if it is open."""
    if relation == "==":
        return {-1: "<", 0: "==", 1: ">"}[sign]
    if sign == 0:
        return relation
    outwards = -1 if relation in ("<", "<=") else 1 if relation in (">", ">=") else 0
    return ("<" if sign < 0 else ">") if sign == outwards else None


def _sign_of_size(gap: Node) -> str | None:
    size = size_in(gap)
    if size is None:
        return None
    if size.is_integer:
        return "<" if size.constant < 0 else ">" if size.constant > 0 else "=="
    if is_nonnegative(size - 1) or is_nonnegative(-size - 1):
        return ">" if is_nonnegative(size - 1) else "<"
    return ">=" if is_nonnegative(size) else "<=" if is_nonnegative(-size) else None


def _declared_sign(gap: Node) -> str | None:
    """Return the relation to 0 that a declaration gives to a number times an entry of a symbol."""
    operands = gap.operands if gap.kind == "product" else ((gap, ()),)
    symbols = [(node, indices) for node, indices in operands if node.kind == "symbol"]
    cuts = {indices[0] for node, indices in operands if _is_entry(node)}
    if len(symbols) != 1 or len(cuts) != len(operands) - 1 or not set(symbols[0][1]) <= cuts:
        return None
    relation, factor = _sign_of_facts(symbols[0][0]), gap.coef if gap.kind == "product" else 1
    return relation if relation is None or factor > 0 else MIRRORED[relation]


def _sign_of_facts(node: Node) -> str | None:
    return ">" if "positive" in node.facts else ">=" if "nonnegative" in node.facts else None


def _is_entry(node: Node) -> bool:
    """Whether a selector selects one entry of an axis."""
    return node.kind == "selector" and not node.args and node.data[0].kind == "slice" and node.shape[1] == 1
