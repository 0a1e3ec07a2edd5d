"""Finds out whether a tensor stays the same, or changes its sign, if two of its axes are exchanged.

A matrix whose two axes may be exchanged is symmetric, also where no fact of its parts shows it: in a kernel of
differences, `{i,j: sum{k: sin(X[i,k] - X[j,k])^2}}`, the differences change their sign, and their squares do not.
"""

from __future__ import annotations

from collections.abc import Mapping

from matcalc.tensor.constructors import add, product, scale
from matcalc.tensor.nodes.node import Node, Operand, parity_of

Exchange = tuple[Node, int, int]
"""A tensor and two of its axes."""


def exchange_sign(node: Node, first: int, second: int) -> int:
    """Return 1 if the tensor stays the same with two axes exchanged, -1 if it changes its sign, 0 if not known."""
    signs: dict[Exchange, int] = {}
    pending: list[Exchange] = [(node, first, second)]
    while pending:
        missing = [part for part in _parts(pending[-1]) if part not in signs]
        if missing:
            pending.extend(missing)
        else:
            signs[pending[-1]] = _sign(pending[-1], signs)
            pending.pop()
    return signs[node, first, second]


def is_symmetric(node: Node, lead: int) -> bool:
    """Whether a tensor has two axes behind the leading ones, which may be exchanged."""
    return node.rank == lead + 2 and exchange_sign(node, lead, lead + 1) == 1


def _parts(exchange: Exchange) -> list[Exchange]:
    """Return the parts of a tensor in which both axes occur."""
    node, first, second = exchange
    if node.shape[first] is not node.shape[second]:
        return []
    if node.kind in ("map", "sum"):
        return [(arg, first, second) for arg in node.args]
    if node.kind == "product":
        a, b = node.out[first], node.out[second]
        return [(arg, at.index(a), at.index(b)) for arg, at in node.operands if _has_both(at, a, b)]
    return []


def _has_both(at: tuple[int, ...], a: int, b: int) -> bool:
    return at.count(a) == at.count(b) == 1 and a != b


def _sign(exchange: Exchange, signs: Mapping[Exchange, int]) -> int:
    node, first, second = exchange
    if node.shape[first] is not node.shape[second]:
        return 0
    if node.kind == "map":
        return _sign_of_map(exchange, [signs[arg, first, second] for arg in node.args])
    if node.kind == "sum":
        found = [signs[arg, first, second] for arg in node.args]
        terms = [
            (c * s, x) if s else (c, _exchanged(x, first, second)) for (c, x), s in zip(node.terms, found, strict=True)
        ]
        return _compared(node, add(terms))
    return _compared(node, _exchanged_product(exchange, signs) if node.kind == "product" else _exchanged(*exchange))


def _sign_of_map(exchange: Exchange, found: list[int]) -> int:
    node, first, second = exchange
    if all(sign == 1 for sign in found):
        return 1
    if found == [-1] and parity_of(node):
        return 1 if parity_of(node) == "even" else -1
    is_pair = node.rule.commutes and len(node.args) == 2
    return int(is_pair and _exchanged(node.args[0], first, second) is node.args[1])


def _exchanged_product(exchange: Exchange, signs: Mapping[Exchange, int]) -> Node:
    """Return a product with two axes exchanged; parts with a known sign stay as they are."""
    node, first, second = exchange
    a, b = node.out[first], node.out[second]
    swap = {a: b, b: a}
    coef, operands = node.coef, list[Operand]()
    for arg, at in node.operands:
        sign = signs[arg, at.index(a), at.index(b)] if _has_both(at, a, b) else 0
        coef *= sign or 1
        operands.append((arg, at if sign else tuple(swap.get(k, k) for k in at)))
    return product(coef, operands, node.out, node.sizes)


def _exchanged(node: Node, first: int, second: int) -> Node:
    axes = list(range(node.rank))
    axes[first], axes[second] = second, first
    return product(1, [(node, tuple(range(node.rank)))], tuple(axes))


def _compared(node: Node, other: Node) -> int:
    if other is node:
        return 1
    return -1 if other is scale(-1, node) else 0
