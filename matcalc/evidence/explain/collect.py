"""Writes a formula as a polynomial in one symbol: collects its terms, and returns coefficients of powers."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import factorial

from matcalc.calculus.derive.differentiate import jacobian
from matcalc.calculus.simplify.expand import Terms, expand, expanded_terms, separated
from matcalc.calculus.simplify.factor import Key, Place, candidates, combined, factor, linked, rest_of
from matcalc.errors import NotSupported
from matcalc.evidence.explain.sentences import written
from matcalc.tensor.constructors import add, product, scale, zeros
from matcalc.tensor.nodes.node import Node, toposort


def collect(root: Node, x: Node) -> Node:
    """Return an equal node in which terms with the same form in a symbol are combined: A*x + B*x is (A + B)*x.

    Terms of different degree in the symbol remain separate.

    Raises: NotSupported if expanding makes too many terms.
    """
    node = expand(root)
    by_degree: dict[int, list[tuple[Fraction, Node]]] = {}
    for term, coef in expanded_terms([node])[0].items():
        by_degree.setdefault(_degree(term, x), []).append((coef, term))
    parts = [(Fraction(1), _collected(add(terms), x)) for _, terms in sorted(by_degree.items(), reverse=True)]
    return add(parts) if parts else node


def _degree(term: Node, x: Node) -> int:
    """Return how often a symbol is a factor of a term; -1 if it also occurs inside a factor."""
    operands = term.args if term.kind == "product" else (term,)
    if any(a is not x and x in toposort(a) for a in operands):
        return -1
    return sum(a is x for a in operands)


def _collected(node: Node, x: Node) -> Node:
    """Return terms of one degree with the symbol factored out as often as possible."""
    while node.kind == "sum" and x in toposort(node):
        best = _widest(node, x)
        if best is None:
            return factor(node)
        node = _take_out(node, *best)
    return node


def _widest(node: Node, x: Node) -> tuple[Key, list[Place]] | None:
    """Return the form of the symbol found in the most terms, and where: operand -1 for a term that is the symbol."""
    found: dict[Key, dict[int, Place]] = {}
    for number, term in enumerate(node.args):
        for place, key in candidates(term):
            if key[0] is x:
                found.setdefault(key, {}).setdefault(number, Place(number, place))
    alone = [k for k, term in enumerate(node.args) if term is x]
    best: tuple[Key, list[Place]] | None = None
    for key, by_term in found.items():
        if _fits_alone(key):
            by_term.update({k: Place(k, -1) for k in alone})
        if len(by_term) > max(1, len(best[1]) if best else 1):
            best = key, [by_term[k] for k in sorted(by_term)]
    return best


def _fits_alone(key: Key) -> bool:
    """Whether the symbol alone can be written as the identity times the symbol."""
    return all(h == 1 + axis or axis in linked(key[1]) for axis, h in enumerate(key[1]))


def _take_out(node: Node, key: Key, places: Sequence[Place]) -> Node:
    x, how = key
    rests = []
    for place in places:
        term, coef = node.args[place.term], node.coefs[place.term]
        rests.append((coef, rest_of(term, place.operand, how) if place.operand >= 0 else _identity(x, how)))
    chosen = {place.term for place in places}
    whole = combined(node, x, how, factor(add(rests)))
    others = [(c, a) for k, (c, a) in enumerate(node.terms) if k not in chosen]
    return add([(Fraction(1), whole), *others])


def _identity(x: Node, how: Sequence[int]) -> Node:
    axes = linked(how)
    return product(1, [], (*axes, *axes), {a: x.shape[a] for a in axes})


# ---- coefficients


def coefficient(root: Node, x: Node, degree: int = 1) -> Node:
    """Return the coefficient of a power of a symbol: the terms of that degree, without the symbol.

    Shapes: root.shape, then x.shape `degree` times: A for A*x, {i,j,k,l: A[i,k]*B[l,j]} for A*X*B. For the second
    degree it is symmetric: (A + A')/2 for x'*A*x.

    Raises: NotSupported if the symbol occurs inside a function, or if there are too many terms.
    """
    chosen: Terms = {}
    for term, coef in expanded_terms([root])[0].items():
        found = _degree(term, x)
        if found < 0:
            raise NotSupported(f"a coefficient of {x.name}: {written(term)} is no polynomial in it")
        if found == degree:
            chosen[term] = coef
    if not chosen:
        return zeros((*root.shape, *x.shape * degree))
    node = add([(c, n) for n, c in chosen.items()])
    for _ in range(degree):
        node = separated(jacobian(node, x))
    return factor(scale(Fraction(1, factorial(degree)), node))
