"""Finds a pattern in one factor of a larger product: `sin(a*x)/x`, `log(2*pi*besseli(0, k))`.

A quotient such as `sin(x)./x` is matched by its main factor alone, here `sin(x)`. The other factors are then divided
out of the product, and the rewrite applies if some of them cancel: `sin(a*x)/x` is `a*sinc1(a*x)`. A pattern
`log(f)` is matched with each factor of the logarithm's argument; the other factors must be positive.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from functools import lru_cache, partial
from typing import NamedTuple

from matcalc.calculus.simplify.match import match, match_terms
from matcalc.calculus.simplify.pattern_variables import EMPTY, Bindings
from matcalc.tensor.constructors import add, apply, power, product, scale, split_coef
from matcalc.tensor.nodes.canonical_labels import linked
from matcalc.tensor.nodes.named_parts import without_order
from matcalc.tensor.nodes.node import Indices, Node, OpenProduct, Operand, exponent_of, terms_of, toposort
from matcalc.tensor.sums import summands

Bound = Callable[[Node], Node]
"""Returns a node of a pattern with its variables replaced."""


class FactorMatch(NamedTuple):
    """A match of one factor: the bindings, and the function that builds the whole node from the right side."""

    bindings: Bindings
    finish: Callable[[Node, Bound], Iterator[Node]]


def by_factor(left: Node, node: Node | OpenProduct) -> Iterator[FactorMatch]:
    """Yield the matches of a pattern with a factor of `node`, or of the argument of a logarithm."""
    if isinstance(node, OpenProduct) or left.kind == node.kind == "product":
        yield from _in_product(left, node)
    elif _is_logarithm(left) and _is_logarithm(node) and node.args[0].kind == "product":
        yield from _in_logarithm(left, node)


def _in_product(left: Node, node: Node | OpenProduct) -> Iterator[FactorMatch]:
    main = _main(left)
    pattern, at = left.operands[main]
    base, exponent = exponent_of(pattern)
    for position, (factor, indices) in enumerate(node.operands):
        inner, inner_exponent = exponent_of(factor)
        if len(indices) != len(at) or inner_exponent * exponent <= 0 or abs(inner_exponent) < abs(exponent):
            continue
        kept = [o for k, o in enumerate(node.operands) if k != position]
        if inner_exponent != exponent:
            kept.append((power(inner, inner_exponent - exponent), indices))
        for content, bindings in _matches(base, inner):
            if exponent.denominator == 1:
                remainder = Remainder(node, left, main, kept, content**exponent.numerator / left.coef, indices)
                yield FactorMatch(bindings, partial(_cancelled, remainder))


class Remainder(NamedTuple):
    """A product without its main factor: the other operands, and the coefficient and indices of the right side."""

    node: Node | OpenProduct
    left: Node
    main: int
    kept: list[Operand]
    coef: Fraction
    indices: Indices


@lru_cache(maxsize=1024)
def _main(left: Node) -> int:
    """Return the position of a pattern's main factor: one that binds its variables, not an exponential."""

    def weight(position: int) -> tuple[bool, bool, int]:
        base, _ = exponent_of(left.args[position])
        return base.kind != "symbol", not _is_exponential(base), base.length

    return max(range(len(left.args)), key=weight)


def _is_logarithm(node: Node) -> bool:
    return node.kind == "map" and node.rule.role == "logarithm"


def _is_exponential(node: Node) -> bool:
    return node.kind == "map" and node.rule.role == "exponential"


def _matches(pattern: Node, node: Node) -> Iterator[tuple[Fraction, Bindings]]:
    """Yield the matches of a node as a multiple of a pattern: the factor, and the bindings."""
    terms = terms_of(pattern)
    if len(terms) == 1:
        yield from ((Fraction(1), bindings) for bindings in match(pattern, node, EMPTY))
        return
    subject_terms = summands(node)
    if len(subject_terms) < len(terms):
        return
    first = next((c for c, term in terms if term.kind != "symbol"), terms[0][0])
    for content in dict.fromkeys(c / first for c, _ in subject_terms):
        for bindings, left in match_terms(pattern, [(c / content, n) for c, n in subject_terms]):
            if not left:
                yield content, bindings


def _cancelled(remainder: Remainder, right: Node, bound: Bound) -> Iterator[Node]:
    """Yield the product with the right side inserted and the pattern's other factors divided out, if some cancel."""
    at = dict(zip(remainder.left.indices[remainder.main], remainder.indices, strict=True))
    coef, operands, cancels = remainder.node.coef * remainder.coef, list(remainder.kept), 0
    for position, (factor, own) in enumerate(remainder.left.operands):
        if position == remainder.main:
            continue
        base, exponent = exponent_of(factor)
        indices = tuple(at[i] for i in own)
        if _is_exponential(base):
            if not _merge_exponential(operands, base, scale(-exponent, bound(base.args[0])), indices):
                return
            cancels += 1
            continue
        content, core = split_coef(bound(base))
        if exponent.denominator != 1 or not content:
            return
        coef *= content ** (-exponent.numerator)
        for part in _parts(core, indices, operands):
            cancels += _multiply(operands, part, -exponent)
    if cancels:
        sizes = {i: s for i, s in enumerate(remainder.node.index_sizes) if i in remainder.node.out}
        placed = tuple(at[i] for i in remainder.left.out)
        yield product(coef, [*operands, (right, placed)], remainder.node.out, sizes)


def _parts(core: Node, indices: Indices, operands: Sequence[Operand]) -> list[Operand]:
    """Return the factors of a node; the node itself if the product contains it whole or it sums over an index."""
    whole = any(exponent_of(node)[0] is core and at == indices for node, at in operands)
    if whole or core.kind != "product" or not {i for at in core.indices for i in at} <= set(core.out):
        return [(core, indices)]
    at = dict(zip(core.out, indices, strict=True))
    return [(node, tuple(at[i] for i in own)) for node, own in core.operands]


def _multiply(operands: list[Operand], part: Operand, times: Fraction) -> bool:
    """Multiply operands by a power of a node; return whether it cancels with one that contains a symbol."""
    (node, indices), cancels = part, False
    base, exponent = exponent_of(node)
    exponent *= times
    for position, (other, at) in enumerate(operands):
        same, other_exponent = exponent_of(other)
        if same is not base and _is_length(base):
            if exponent > 0 and (vector := _of_direction(other, at, base, indices)):
                operands[position] = vector
                exponent, cancels = exponent - 1, True
                break
            same, other_exponent = (
                (base, 2 * other_exponent) if same is power(base, Fraction(2)) else (same, other_exponent)
            )
        if same is base and at == indices and other_exponent * exponent < 0:
            del operands[position]
            exponent, cancels = exponent + other_exponent, any(n.kind == "symbol" for n in toposort([base]))
            break
    if exponent:
        operands.append((power(base, exponent), indices))
    return cancels


def _is_length(node: Node) -> bool:
    return node.kind == "op" and node.rule.role == "euclidean_length"


def is_direction(node: Node) -> bool:
    """Whether a node is a vector over its length."""
    return node.kind == "op" and node.rule.role == "direction"


def _of_direction(node: Node, at: Indices, length: Node, indices: Indices) -> Operand | None:
    """Return the vector of a direction whose first indices are those of its length, else None."""
    if not is_direction(node) or node.args != length.args:
        return None
    return (node.args[0], at) if node.batches == length.batches and at[: len(indices)] == indices else None


def _merge_exponential(operands: list[Operand], pattern: Node, more: Node, indices: Indices) -> bool:
    """Add `more` to the exponent of an exponential among the operands; return whether that shortens it."""
    for position, (node, at) in enumerate(operands):
        if node.kind == "map" and node.rule == pattern.rule and at == indices:
            total = add([(Fraction(1), node.args[0]), (Fraction(1), more)])
            if not total.is_zero and total.length >= node.args[0].length:
                continue
            operands[position : position + 1] = [] if total.is_zero else [(apply(pattern.rule, [total]), at)]
            return True
    return False


def _in_logarithm(left: Node, node: Node) -> Iterator[FactorMatch]:
    (pattern, axes), whole = without_order(left.args[0]), node.args[0]
    factors = _factors(whole)
    for position, (factor, indices) in enumerate(factors):
        if len(set(indices)) < len(indices) or len(factors) == 1 and whole.coef == 1:
            continue
        inner, exponent = exponent_of(factor)
        if exponent % 2 == 0 and not _is_positive(inner):
            continue
        others = [o for k, o in enumerate(factors) if k != position]
        for content, bindings in _matches(pattern, inner):
            if content != 1 and exponent.denominator != 1:
                continue
            coef = whole.coef * (content**exponent.numerator if content != 1 else 1)
            rest = product(coef, others, whole.out, {i: s for i, s in whole.sizes.items() if i in whole.out})
            if _is_positive(rest):
                at = tuple(indices[axis] for axis in axes)
                yield FactorMatch(bindings, partial(_with_rest, whole, apply(node.rule, [rest]), exponent, at))


def _factors(whole: Node) -> list[Operand]:
    """Return the factors of a product; operands that share a summed index are one, their sum over it."""
    found: list[Operand] = []
    for group in linked(whole.operands, lambda operand: operand[1], whole.out):
        free = tuple(i for i in whole.out if any(i in at for _, at in group))
        is_factor = set(group[0][1]) <= set(free)
        found.append(group[0] if is_factor else (product(1, group, free), free))
    return found


def _with_rest(whole: Node, rest: Node, exponent: Fraction, at: Indices, right: Node, bound: Bound) -> Iterator[Node]:
    """Yield a multiple of the right side, `at` these indices of the whole, plus the logarithm of the rest."""
    sizes = {i: s for i, s in whole.sizes.items() if i in whole.out}
    yield add([(Fraction(1), product(exponent, [(right, at)], whole.out, sizes)), (Fraction(1), rest)])


def _is_positive(node: Node) -> bool:
    return node.range.positive or "positive" in node.facts
