"""The shortest form: what is shown of an expression, by one measure: the tokens a reader reads, then the operations.

Rewrites and factoring feed each other: a common factor may meet its inverse (`inv(A + B)*A + inv(A + B)*B`), so they
take turns until nothing gets shorter. An operation on a product is tried whole and split (`logdet(A*B)`); what was
given is kept if nothing is shorter. So the result is never larger than what was given, and this ends.
"""

from __future__ import annotations

from collections.abc import Sequence

from matcalc.calculus.expand import separated
from matcalc.calculus.factor import factor_all
from matcalc.calculus.simplify import READABLE, Record, may_split, simplify_all
from matcalc.errors import NotSupported
from matcalc.normal_form.node import Node, toposort
from matcalc.notation.raising import form_of

ROUNDS = 4
"""Of rewriting and factoring; two are rare, more have not been seen."""

Measure = tuple[int, int]


def shortest(node: Node, record: Record | None = None) -> Node:
    """Return the shortest equal form found of a node."""
    split = _settled(node, True, record)
    whole = _settled(node, False) if may_split([node]) else split
    return min([whole, split, node], key=measure) if split is not whole else min([whole, node], key=measure)


def shortest_of(plain: Sequence[Node], nodes: Sequence[Node]) -> list[Node]:
    """Return the shortest forms of nodes that simplify to `plain`, all their operations split.

    What is too large to be read is factored alone, all in one go.
    """
    if len(toposort(plain)) > READABLE:
        return factor_all(plain)
    splits = [_factored(node, True) for node in plain]
    if not may_split(nodes):
        return splits
    wholes = [_factored(node, False) for node in simplify_all(nodes, splits=False)]
    return [
        split if split is whole else min([split, whole], key=measure)
        for split, whole in zip(splits, wholes, strict=True)
    ]


def measure(node: Node) -> Measure:
    """Return the tokens of a formula and its operations: what simplification makes no larger."""
    try:
        tokens = form_of(node).tokens
    except NotSupported:  # a literal array of order 3 has no text
        tokens = node.length
    return tokens, sum(1 for n in toposort([node]) if n.args)


def _settled(node: Node, splits: bool, record: Record | None = None) -> Node:
    return _factored(simplify_all([node], record=record, splits=splits)[0], splits)


def _factored(plain: Node, splits: bool) -> Node:
    """Return a simplified node factored, and simplified and factored again while that shortens it.

    A tensor of order 3 or more, which has no matrix form, is tried term by term too, stacked or not.
    """
    (best,) = factor_all([plain])
    if plain.rank > 2 or any(a.rank > 2 and a.kind == "sum" for a in plain.args):
        parted = separated(plain)
        best = min([best, parted, *_round([parted], splits)], key=measure)
    if best is plain:
        return best
    for _ in range(ROUNDS):
        (again,) = _round([best], splits)
        if again is best or measure(again) >= measure(best):
            break
        best = again
    return best


def _round(nodes: Sequence[Node], splits: bool) -> list[Node]:
    return factor_all(simplify_all(nodes, splits=splits))
