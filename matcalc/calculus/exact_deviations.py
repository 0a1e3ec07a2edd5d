"""Makes deviations from a mean, `x - mean(x)`, exactly 0 where all entries are equal.

The sum of 1448 entries 1.81, divided by 1448, is not 1.81. Their standard deviation is then a rounding error, by which
the gradient divides. So before values are computed, a subtracted mean is settled: the mean of the remaining deviations
is added to it. For equal entries all deviations are the same number, a few units in the last place. Their sum is exact,
and the settled mean is the entry itself. For other entries it is the more accurate mean too.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import lru_cache

from matcalc.rulebook.load import default_rulebook
from matcalc.tensor.constructors import add, apply, power, product, size_number, zeros
from matcalc.tensor.nodes.node import Node, Operand, toposort
from matcalc.tensor.product import simple_product
from matcalc.tensor.substitute import rebuild

Term = tuple[Fraction, Node]


def with_exact_deviations(roots: Sequence[Node]) -> list[Node]:
    """Return the roots with each mean settled that is subtracted from its own entries."""
    if not any(node.kind == "sum" and _settled(node) is not node for node in toposort(roots)):
        return list(roots)
    return rebuild(roots, _settled)


def with_original_means(node: Node) -> Node:
    """Return a node with means in their original form."""
    rule = default_rulebook().playing("settled_mean")
    return rebuild([node], lambda made: made.args[0] if made.kind == "map" and made.rule is rule else made)[0]


@lru_cache(maxsize=1024)
def _settled(node: Node) -> Node:
    if node.kind != "sum":
        return node
    left = [part for term in node.terms for part in _spread_terms(term)]
    deviations: list[list[Term]] = []
    while (found := _deviation(left)) is not None:
        (c, entries), replaced, axes = found
        for term in replaced:  # equal entries have equal means: one of them remains for each of the others
            left.remove(term)
        entries = _rounded(entries) if entries.kind == "sum" else entries
        deviations.append([(c, entries), (-c, _mean(entries, axes))])
    if len(deviations) > 1:  # each is 0 where its entries are equal, and so is their sum
        return add([*left, *((Fraction(1), _rounded(add(terms))) for terms in deviations)])
    return add([*left, *deviations[0]]) if deviations else node


def _spread_terms(term: Term) -> list[Term]:
    """Return the terms of a sum that is repeated along axes: the constant in the mean of `f(x) + 1` is apart."""
    c, node = term
    if node.kind != "product" or len(node.args) != 1 or node.args[0].kind != "sum" or not _broadcast(node):
        return [term]
    ((part, at),) = node.operands
    return [(c * node.coef * k, simple_product(1, [(one, at)], node.out, node.sizes)) for k, one in part.terms]


def _deviation(terms: Sequence[Term]) -> tuple[Term, Sequence[Term], tuple[int, ...]] | None:
    """Return c*x, the terms of c*x - c*mean(x), and the axes of the mean. x is a term, or the sum of several."""
    for c, mean in terms:
        along = _broadcast(mean)
        if not along:
            continue
        for (other, entries), own in [*((term, (term,)) for term in terms), *_sums_within(mean, terms)]:
            axes = tuple(sorted(along - _broadcast(entries)))
            replaced = (*own, (c, mean))
            if not axes or Counter(replaced) - Counter(terms):
                continue
            if _scaled(c, mean) is _scaled(-other, _spread(_plain_mean(entries, axes), entries, axes)):
                return (other, entries), replaced, axes
    return None


def _sums_within(mean: Node, terms: Sequence[Term]) -> Iterator[tuple[Term, Sequence[Term]]]:
    """Yield c*x, and its terms, for each sum x in a product if all of c*x are among these terms."""
    parts = mean.args if mean.kind == "product" else ()
    for x in (*parts, *(arg for part in parts if part.kind == "product" for arg in part.args)):
        if x.kind == "sum" and x.shape == mean.shape:
            first, node = x.terms[0]
            for c in [c / first for c, term in terms if term is node]:
                own = [(c * coef, term) for coef, term in x.terms]
                if all(term in terms for term in own):
                    yield (c, x), own


def _broadcast(node: Node) -> frozenset[int]:
    """Return the axes along which all entries of a product are the same, as its indices show."""
    if node.kind != "product":
        return frozenset()
    met = {i for _, at in node.operands for i in at}
    return frozenset(axis for axis, i in enumerate(node.out) if i not in met and node.out.count(i) == 1)


def _scaled(c: Fraction, node: Node) -> Node:
    whole = tuple(range(len(node.shape)))
    return product(c, [(node, whole)], whole, dict(enumerate(node.shape)))


def _plain_mean(entries: Node, axes: Sequence[int]) -> Node:
    """Return the mean along axes, without these axes."""
    whole, sizes = tuple(range(len(entries.shape))), dict(enumerate(entries.shape))
    counts: list[Operand] = [(power(size_number(sizes[axis]), Fraction(-1)), ()) for axis in axes]
    return product(1, [(entries, whole), *counts], tuple(i for i in whole if i not in axes), sizes)


def _spread(mean: Node, entries: Node, axes: Sequence[int]) -> Node:
    """Return a mean in the shape of its entries."""
    whole = tuple(range(len(entries.shape)))
    return product(1, [(mean, tuple(i for i in whole if i not in axes))], whole, dict(enumerate(entries.shape)))


def _mean(entries: Node, axes: Sequence[int]) -> Node:
    """Return the settled mean, in the shape of the entries."""
    mean = _rounded(_plain_mean(entries, axes))
    rest = _plain_mean(add([(Fraction(1), entries), (Fraction(-1), _spread(mean, entries, axes))]), axes)
    return _spread(apply(default_rulebook().playing("settled_mean"), [mean, rest]), entries, axes)


def _rounded(node: Node) -> Node:
    """Return a node that is rounded once: every reader has the same number."""
    return apply(default_rulebook().playing("settled_mean"), [node, zeros(node.shape)])
