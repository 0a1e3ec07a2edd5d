"""Expansion: products distributed over sums until every term is a product of what is no sum.

The opposite of factoring, for comparison and on request. Two expressions that differ by the laws of addition and
multiplication alone have the same terms, whatever the order and grouping in which they were written.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import product as combinations
from math import prod

from matcalc.calculus.simplify.simplify import simplify_all
from matcalc.errors import NotSupported
from matcalc.tensor.constructors import add, product, zeros
from matcalc.tensor.node import Node, toposort
from matcalc.tensor.substitute import remake
from matcalc.tensor.sums import split_coef

MOST_PARTS = 32
"""So many terms at most are made of a tensor of order 3 or more."""

MOST_TERMS = 4096
"""Beyond so many terms an expansion is refused."""

Terms = dict[Node, Fraction]


def expand(root: Node) -> Node:
    """Return an equal node whose products hold no sums, inside functions and operations too.

    Raises: NotSupported for more than `MOST_TERMS` terms.
    """
    return _added(expanded_terms([root])[0], root)


def expanded_terms(roots: Sequence[Node]) -> list[Terms]:
    """Return the expanded terms of each root with their coefficients; none for zero.

    Raises: NotSupported for more than `MOST_TERMS` terms.
    """
    done: dict[Node, Terms] = {}
    for root in roots:
        stack = [root]
        while stack:
            node = stack[-1]
            missing = [a for a in node.args if a not in done]
            if missing and node not in done:
                stack.extend(missing)
                continue
            stack.pop()
            if node not in done:
                done[node] = _settled(_terms(node, done))
    return [done[root] for root in roots]


def _terms(node: Node, done: Mapping[Node, Terms]) -> Terms:
    """Return the terms of a node whose operands are expanded."""
    if node.is_zero:
        return {}
    if node.kind == "sum":
        parts = [(c, done[a]) for c, a in node.terms]
        return merged([(c * k, n) for c, terms in parts for n, k in terms.items()])
    if node.kind == "product":
        choices = [list(done[a].items()) for a in node.args]
        if prod(map(len, choices)) > MOST_TERMS:
            raise NotSupported(f"an expansion of more than {MOST_TERMS} terms")
        made = []
        for chosen in combinations(*choices):
            coef = node.coef * prod((k for _, k in chosen), start=Fraction(1))
            operands = [(n, at) for (n, _), at in zip(chosen, node.indices, strict=True)]
            made.append((Fraction(1), product(coef, operands, node.out, node.sizes)))
        return merged(made)
    changed = {a: _added(done[a], a) for a in node.args}
    return {remake(node, changed): Fraction(1)}


def _settled(terms: Terms) -> Terms:
    """Expand terms that the constructors made sums again, until none is one."""
    while any(_holds_a_sum(n) for n in terms):
        parts = []
        for node, coef in terms.items():
            inner = expanded_terms([node])[0] if _holds_a_sum(node) else {node: Fraction(1)}
            parts += [(coef * k, n) for n, k in inner.items()]
        terms = merged(parts)
    return terms


def _holds_a_sum(node: Node) -> bool:
    return node.kind == "sum" or (node.kind == "product" and any(a.kind == "sum" for a in node.args))


def merged(parts: Sequence[tuple[Fraction, Node]]) -> Terms:
    terms: Terms = {}
    for coef, node in parts:
        factor, rest = split_coef(node)
        if not node.is_zero:
            terms[rest] = terms.get(rest, Fraction(0)) + coef * factor
    return {node: coef for node, coef in terms.items() if coef}


def _added(terms: Terms, old: Node) -> Node:
    return add([(c, n) for n, c in terms.items()]) if terms else zeros(old.shape)


def tidied(root: Node) -> Node:
    """Return an expanded node with its terms simplified, `a^2/a` to `a`, where they stay single terms."""
    terms = expanded_terms([root])[0]
    simple = dict(zip(terms, simplify_all(list(terms)), strict=True))
    return _added(merged([(c, n if _holds_a_sum(simple[n]) else simple[n]) for n, c in terms.items()]), root)


def depends_on_sums(root: Node) -> bool:
    """Whether any product below holds a sum: whether there is something to expand."""
    return any(_holds_a_sum(n) for n in toposort([root]))


def separated(root: Node) -> Node:
    """Return a tensor of order 3 or more with its products distributed over sums of such tensors.

    A sum read in another order of its axes becomes the sum of its terms, each read so.
    """
    settled: list[tuple[Fraction, Node]] = []
    pending = [(Fraction(1), root)]
    while pending:
        coef, node = pending.pop()
        parts = list(node.terms) if node.kind == "sum" else _distributed(node)
        if not parts:
            settled.append((coef, node))
        pending += [(coef * c, a) for c, a in reversed(parts)]
        if len(pending) + len(settled) > MOST_PARTS:
            return root
    return add(settled)


def _distributed(node: Node) -> list[tuple[Fraction, Node]]:
    places = [k for k, a in enumerate(node.args) if a.kind == "sum" and a.rank > 2] if node.kind == "product" else []
    if not places:
        return []
    whole, at = node.operands[places[0]]
    others = [operand for k, operand in enumerate(node.operands) if k != places[0]]
    made = (product(node.coef, [*others, (a, at)], node.out, node.sizes) for a in whole.args)
    return list(zip(whole.coefs, made, strict=True))
