"""Expands products over sums until every term is a product without sums.

This is the opposite of factoring, used for comparison and on request. Two expressions that differ only by the laws of
addition and multiplication have the same terms, whatever the order and grouping in which they were written.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import product as combinations
from math import inf, prod

from matcalc.calculus.simplify.simplify import simplify_all
from matcalc.errors import NotSupported
from matcalc.tensor.constructors import add, over_terms, product, zeros
from matcalc.tensor.nodes.node import Node, terms_of, toposort
from matcalc.tensor.substitute import remake
from matcalc.tensor.sums import like_terms
from matcalc.tensor.switches import with_masks

MOST_PARTS = 32
"""The most terms into which a tensor of order 3 or more is separated."""

MOST_TERMS = 4096
"""The most terms of an expansion; more raise NotSupported."""

Terms = dict[Node, Fraction]


def expand(root: Node) -> Node:
    """Return an equal node whose products contain no sums, inside functions and operations too.

    Raises: NotSupported for more than `MOST_TERMS` terms.
    """
    return _added(expanded_terms([root])[0], root)


def expanded_terms(roots: Sequence[Node]) -> list[Terms]:
    """Return the expanded terms of each root with their coefficients; none for zero.

    Raises: NotSupported for more than `MOST_TERMS` terms.
    """
    done: dict[Node, Terms] = {}
    for node in toposort(roots):
        done[node] = _settled(_terms(node, done))
    return [done[root] for root in roots]


def _terms(node: Node, done: Mapping[Node, Terms]) -> Terms:
    """Return the terms of a node whose operands are expanded."""
    if node.is_zero:
        return {}
    if node.kind == "sum":
        parts = [(c, done[a]) for c, a in node.terms]
        return like_terms((n, c * k) for c, terms in parts for n, k in terms.items())
    if node.kind == "product":
        choices = [list(done[a].items()) for a in node.args]
        if prod(map(len, choices)) > MOST_TERMS:
            raise NotSupported(f"the expansion has more than {MOST_TERMS} terms")
        made = []
        for chosen in combinations(*choices):
            coef = node.coef * prod((k for _, k in chosen), start=Fraction(1))
            operands = [(n, at) for (n, _), at in zip(chosen, node.indices, strict=True)]
            made.append((product(coef, operands, node.out, node.sizes), Fraction(1)))
        return like_terms(made)
    changed = {a: _added(done[a], a) for a in node.args}
    return {remake(node, changed): Fraction(1)}


def _settled(terms: Terms) -> Terms:
    """Expand terms again while a constructor has returned some of them as sums."""
    while any(_holds_a_sum(n) for n in terms):
        parts = []
        for node, coef in terms.items():
            inner = expanded_terms([node])[0] if _holds_a_sum(node) else {node: Fraction(1)}
            parts += [(n, coef * k) for n, k in inner.items()]
        terms = like_terms(parts)
    return terms


def _holds_a_sum(node: Node) -> bool:
    return node.kind == "sum" or (node.kind == "product" and any(a.kind == "sum" for a in node.args))


def _added(terms: Terms, old: Node) -> Node:
    return add([(c, n) for n, c in terms.items()]) if terms else zeros(old.shape)


def tidied(root: Node) -> Node:
    """Return an expanded node with its terms simplified, `a^2/a` to `a`, if they remain single terms."""
    terms = expanded_terms([root])[0]
    simple = dict(zip(terms, simplify_all(list(terms)), strict=True))
    return _added(like_terms((n if _holds_a_sum(simple[n]) else simple[n], c) for n, c in terms.items()), root)


def separated(root: Node) -> Node:
    """Return a tensor of order 3 or more with its products distributed over sums of such tensors.

    Squares of sums are not multiplied out: the terms of squared differences lose digits.
    A sum with its axes in another order becomes the sum of its terms in that order.
    """
    terms = separated_terms(root, MOST_PARTS)
    return root if terms is None else add(terms)


def separated_terms(root: Node, most: float = inf) -> list[tuple[Fraction, Node]] | None:
    """Return the terms of a node with products distributed over sums of tensors; None if there are more than `most`."""
    settled: list[tuple[Fraction, Node]] = []
    pending = [(Fraction(1), root)]
    while pending:
        coef, node = pending.pop()
        node = with_masks(node)
        position = next(
            (
                k
                for k, a in enumerate(node.args)
                if node.kind == "product" and a.kind == "sum" and a.rank > 2 and node.args.count(a) == 1
            ),
            -1,
        )
        parts = over_terms(node, position) if position >= 0 else terms_of(node)
        if len(parts) < 2:
            settled.append((coef, node))
        else:
            pending += [(coef * c, a) for c, a in reversed(parts)]
        if len(pending) + len(settled) > most:
            return None
    return settled
