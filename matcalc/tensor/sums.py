"""Makes canonical sums: like terms merged, equal re-indexings added first, content extracted, matrices oriented.

A sum node is primitive: its coefficients are coprime integers and the first, in the order of content digests, is
positive. Integers or contents longer than any literal that people write are the exception.
The content is the coefficient of a product around the sum. So `2*x + 2*y` is `2*(x + y)`, and `y - x` shares its node
with `x - y`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import NamedTuple

from matcalc.errors import ShapeError
from matcalc.tensor.axes import axes_permuted_by, exchanges_of, inverse, least_order, with_axes
from matcalc.tensor.nodes.grouping import MOST, full_runs
from matcalc.tensor.nodes.labelling import SKEW, SYMMETRIC
from matcalc.tensor.nodes.node import ONE, Exchange, Indices, Node, Operand, Shape, terms_of, tilt_of
from matcalc.tensor.product import simple_product, size_number, transposed, with_coef, without_coef, zeros
from matcalc.tensor.raw_nodes import number, sum_node
from matcalc.tensor.size_factors import rational_content
from matcalc.tensor.sizes.size import Size, collected

ONE_TO_ONE = ("merge", "slice", "flip", "shift")
"""Selectors that only rename an axis: a sum over one of their indices has one term."""

LONGEST_CONTENT = 100
"""Bits of the longest number in a sum whose content is extracted; 1e-30 and 1e30 are that long."""

SHORTEST_DECIMAL = 1000
"""The least power of ten that counts as the denominator of a decimal."""

ACROSS = (1, 0)
"""The axis order of a transposed matrix."""

Coefs = dict[Node, Fraction]


def add(terms: Sequence[tuple[Fraction | int, Node]]) -> Node:
    """Return the sum of coefficient times node, over at least one term of equal shapes."""
    shape = terms[0][1].shape
    for _, node in terms:
        if node.shape != shape:
            raise ShapeError(f"cannot add shapes {_shown(shape)} and {_shown(node.shape)}")
    merged = _merged([(c if type(c) is Fraction else Fraction(c), node) for c, node in terms], shape)
    if not merged:
        return zeros(shape)
    if len(merged) == 1:
        ((node, coef),) = merged.items()
        return scale(coef, node)
    return _finish(merged)


def _merged(terms: Sequence[tuple[Fraction, Node]], shape: Shape) -> Coefs:
    """Return the merged terms of a sum; nested sums are dissolved while merging frees terms."""
    while True:
        found = _collect(terms)
        merged = found if len(found) < 2 else _add_reindexed(found) if shape else _add_sizes(found)
        if len(merged) == len(found):
            return merged
        terms = [(c, node) for node, c in merged.items()]


def scale(coef: Fraction | int, node: Node) -> Node:
    """Return coef * node."""
    if coef == 1:
        return node
    if node.kind == "number":
        return number(node.value * coef)
    if node.kind == "product" and coef and node.coef:
        return with_coef(coef * node.coef, node)
    indices = tuple(range(len(node.shape)))
    return simple_product(Fraction(coef), [(node, indices)], indices, dict(enumerate(node.shape)))


def split_coef(node: Node) -> tuple[Fraction, Node]:
    """Return the coefficient of a node and the node without it."""
    if node.kind == "number":
        return node.value, number(1)
    if node.kind != "product" or node.coef == 1 or not node.coef:
        return ONE, node
    return node.coef, without_coef(node)


def _shown(shape: Sequence[Size]) -> str:
    return " x ".join(map(str, shape)) or "scalar"


def _collect(terms: Sequence[tuple[Fraction, Node]]) -> Coefs:
    """Return the terms with nested sums dissolved, smallest first, while at most MOST remain, and like terms merged."""
    alike = like_terms((node, coef) for coef, node in terms)
    inside = {node: summands(node) for node in alike}
    nested = [node for node in alike if len(inside[node]) > 1]
    count = len(alike)
    found = [(node, coef) for node, coef in alike.items() if len(inside[node]) < 2]
    for node in sorted(nested, key=lambda node: (len(inside[node]), node.digest)):
        if count - 1 + len(inside[node]) <= MOST:
            count += len(inside[node]) - 1
            found += [(arg, alike[node] * inner) for inner, arg in inside[node]]
        else:
            found.append((node, alike[node]))
    result = collected(found)
    has_room = any(0 < _inner_count(node) <= MOST + 1 - len(result) for node in result)
    return _collect([(c, node) for node, c in result.items()]) if has_room else result


def like_terms(terms: Iterable[tuple[Node, Fraction]]) -> Coefs:
    """Return the nonzero terms without their own coefficients, like ones merged."""
    split = ((split_coef(node), coef) for node, coef in terms if not node.is_zero)
    return collected((rest, coef * factor) for (factor, rest), coef in split)


def _inner_count(node: Node) -> int:
    """Return the number of terms of a sum, with its axes in any order; 0 for any other node."""
    if node.kind == "sum":
        return len(node.args)
    return 0 if axes_permuted_by(node) is None or node.args[0].kind != "sum" else len(node.args[0].args)


def summands(node: Node) -> list[tuple[Fraction, Node]]:
    """Return the terms of `terms_of`, also of a sum with its axes permuted."""
    content, rest = split_coef(node)
    order = axes_permuted_by(rest)
    if order is None or rest.args[0].kind != "sum":
        return terms_of(node)
    terms = {arg: coef for coef, arg in rest.args[0].terms}
    return [(content * coef, arg) for arg, coef in _reordered(terms, order).items()]


def _add_sizes(terms: Coefs) -> Coefs:
    """Merge numbers and sizes among scalar terms into one size polynomial."""
    total = Size.of(0)
    rest: Coefs = {}
    for node, coef in terms.items():
        size = as_size(node)
        if size is None:
            rest[node] = coef
        else:
            total = total + size * coef
    if len(terms) - len(rest) < 2 or total == 0:
        return terms if len(terms) - len(rest) < 2 else rest
    return like_terms([*rest.items(), (size_number(total), Fraction(1))])


def as_size(node: Node) -> Size | None:
    """Return the size polynomial of a scalar node, None if it is not one."""
    if node.kind == "number":
        return Size.of(node.value)
    if node.kind == "size":
        return node.size
    if node.kind != "product" or node.shape or node.index_sizes or any(a.kind != "size" for a in node.args):
        return None
    total = Size.of(node.coef)
    for arg in node.args:
        total = total * arg.size
    return total


def _add_reindexed(terms: Coefs) -> Coefs:
    """Add terms under one re-indexing (selector, broadcast, repeated output) before they are re-indexed."""
    groups: dict[Wrapping, list[tuple[Node, Node, Fraction]]] = {}
    result: list[tuple[Node, Fraction]] = []
    for node, coef in terms.items():
        peeled = peel(node)
        if peeled is None:
            result.append((node, coef))
        else:
            groups.setdefault(peeled[0], []).append((peeled[1], node, coef))
    for wrapping, members in groups.items():
        if len(members) == 1:
            result.append(members[0][1:])
            continue
        result.append((_rewrap(wrapping, add([(coef, inner) for inner, _, coef in members])), Fraction(1)))
    return like_terms(result)


class Wrapping(NamedTuple):
    """An outer re-indexing: its selectors, output indices, number of inner axes, and the size of each index."""

    selectors: tuple[Operand, ...]
    out: Indices
    axes: int
    sizes: Shape


def peel(node: Node) -> tuple[Wrapping, Node] | None:
    """Split a product into its outer re-indexing and the core that is re-indexed; None if there is no re-indexing."""
    if node.kind != "product":
        return None
    outer = [(arg, at) for arg, at in node.operands if arg.kind == "selector"]
    touched = set(node.out)
    selectors = [
        (arg, at)
        for arg, at in outer
        if touched.issuperset(at) or (arg.selector.kind in ONE_TO_ONE and touched.intersection(at))
    ]
    rest = [(arg, at) for arg, at in node.operands if not any(arg is s and at == t for s, t in selectors)]
    inner = {i for _, at in rest for i in at}
    axes = tuple(i for i in dict.fromkeys((*node.out, *(i for _, at in selectors for i in at))) if i in inner)
    if not selectors and len(set(node.out)) == len(node.out) == len(axes):
        return None
    sizes = node.sizes
    core = simple_product(node.coef, rest, axes, sizes)
    number_of = {index: k for k, index in enumerate(axes)}
    for index in (*node.out, *(i for _, at in selectors for i in at)):
        number_of.setdefault(index, len(number_of))
    key_sizes = tuple(node.index_sizes[i] for i in number_of)
    wrapping = Wrapping(
        tuple((arg, tuple(number_of[i] for i in at)) for arg, at in selectors),
        tuple(number_of[i] for i in node.out),
        len(axes),
        key_sizes,
    )
    return wrapping, core


def _rewrap(wrapping: Wrapping, core: Node) -> Node:
    operands = [*wrapping.selectors, (core, tuple(range(wrapping.axes)))]
    return simple_product(1, operands, wrapping.out, dict(enumerate(wrapping.sizes)))


def _finish(terms: Coefs) -> Node:
    """Orient and group the terms, extract the content and intern."""
    order = _order(terms)
    is_straight = order == tuple(range(len(order)))
    reordered = terms if is_straight else _reordered(terms, order)
    node = _primitive(sorted(reordered.items(), key=lambda item: item[0].digest))
    return node if is_straight else with_axes(node, inverse(order))


def _order(terms: Coefs) -> Indices:
    """Return the axis order of a sum's node; of a matrix the order with fewer transposed leaves."""
    nodes = list(terms)
    rank = nodes[0].rank
    if rank > 2:
        return least_order(nodes, lambda order: _reordered(terms, order), _rank)
    if rank < 2:
        return tuple(range(rank))
    against, leaves = tilt_of(nodes)
    transposes = 2 * against > leaves
    if 2 * against == leaves and not all("symmetric" in n.facts for n in nodes):
        transposes = _rank(_reordered(terms, ACROSS)) < _rank(terms)
    return ACROSS if transposes else ACROSS[::-1]


def _rank(terms: Coefs) -> tuple[list[bytes], list[Fraction]]:
    """Return the sort key that decides between a sum and its transpose; their signs alone may differ."""
    ordered = sorted(terms.items(), key=lambda item: item[0].digest)
    sign = -1 if ordered[0][1] > 0 else 1
    return [node.digest for node, _ in ordered], [sign * coef for _, coef in ordered]


def transposed_rank(node: Node) -> tuple[int, bool, bytes]:
    """Return the sort key that decides between a matrix argument and its transpose: K before -K, K + S before S - K."""
    holds_sum = node.kind == "product" and len(node.args) == 1 and node.args[0].kind == "sum"
    return node.length, holds_sum and any("skew" in arg.facts for arg in node.args[0].args), node.digest


def _reordered(terms: Coefs, order: Indices) -> Coefs:
    """Return the terms with their axes in another order."""
    return like_terms((with_axes(node, order), coef) for node, coef in terms.items())


def _primitive(ordered: list[tuple[Node, Fraction]]) -> Node:
    """Return the sum of terms in order; of more than MOST terms, runs are added first."""
    if len(ordered) > MOST:
        return add([(Fraction(1), add([(c, node) for node, c in run])) for run in full_runs(ordered)])
    content = _content([c for _, c in ordered])
    node = sum_node([c / content for _, c in ordered], [n for n, _ in ordered], symmetry_of_sum, exchanges_of_sum)
    return scale(content, node)


def _content(coefs: list[Fraction]) -> Fraction:
    """Return the content that is extracted from a sum: rational, or only the sign if numbers would grow too long.

    The content is multiplied by itself wherever the sum is a factor. In `x = x*(3 - a*x^2)/2`, step by step, it would
    be 2^-1093 after seven steps, which underflows to 0.
    """
    content = rational_content(coefs)
    content *= _decimal(max(abs(c / content) for c in coefs), content.denominator)
    numbers = [part for c in (content, *(c / content for c in coefs)) for part in c.as_integer_ratio()]
    longest = max(part.bit_length() for part in numbers)
    return content if longest <= LONGEST_CONTENT else Fraction(1 if coefs[0] > 0 else -1)


def _decimal(number: Fraction, denominator: int) -> int:
    """Return the power of ten that divides an integer and a denominator, 1 if it is below a thousand.

    So `x^2 + 1e-6` does not become `(1e6*x^2 + 1)/1e6`, nor `1000*a + b`, exact for integers, `1000*(a + 0.001*b)`.
    """
    power = 10 ** min(_zeros(number.numerator), _zeros(denominator))
    return power if power >= SHORTEST_DECIMAL else 1


def _zeros(number: int) -> int:
    digits = str(number)
    return len(digits) - len(digits.rstrip("0"))


def symmetry_of_sum(node: Node) -> frozenset[str]:
    """Return whether the terms of a square sum pair by transposition, with equal or with opposite signs.

    A group need not pair with itself; if it does not, its terms are compared with those of the other groups.
    """
    if len(node.shape) != 2 or node.shape[0] != node.shape[1]:
        return frozenset()
    terms = {arg: coef for coef, arg in node.terms}
    found = _pairing(terms)
    if not found and any(len(summands(arg)) > 1 for arg in terms):
        found = _pairing(_opened(terms))
    return found


def _pairing(terms: Coefs) -> frozenset[str]:
    signs = set()
    for arg, coef in terms.items():
        factor, mirrored = split_coef(transposed(arg))
        if abs(terms.get(mirrored, 0)) != abs(coef * factor):
            return frozenset()
        signs.add(terms[mirrored] == coef * factor)
    return frozenset() if len(signs) != 1 else SYMMETRIC if True in signs else SKEW


def _opened(terms: Coefs) -> Coefs:
    """Return the terms of a sum with its groups dissolved."""
    return like_terms((part, coef * inner) for arg, coef in terms.items() for inner, part in summands(arg))


def exchanges_of_sum(node: Node) -> tuple[int, tuple[Exchange, ...]]:
    """Return `Node.commuting` and `Node.exchanges` of a sum of tensors of rank 3 and more."""
    if node.rank < 3:
        return node.rank, ()
    terms = {arg: coef for coef, arg in node.terms}

    def sign_of(order: Indices) -> int:
        reordered = _reordered(terms, order)
        return 1 if reordered == terms else -1 if reordered == {arg: -coef for arg, coef in terms.items()} else 0

    return exchanges_of(node.args, sign_of)
