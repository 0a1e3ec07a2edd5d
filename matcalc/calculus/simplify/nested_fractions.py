"""Simplifies denominators: `c*(1 + x/c)` to `c + x`, `1/(1 + x/c)` to `c/(c + x)`, `1/u - x/u^2` to `(u - x)/u^2`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction

from matcalc.tensor.constructors import add, power, product
from matcalc.tensor.nodes.node import Indices, Node, Operand, exponent_of
from matcalc.tensor.switches import is_masked, vanishing_pairs

Divisor = tuple[Node, Indices, Fraction]


def over_common_powers(node: Node) -> Iterator[Node]:
    """Yield a sum over each of its denominators, base^divisor_power times the rest, if powers in the rest are integers.

    Over a root, `x*sqrt(n) - y/sqrt(n)` is `sqrt(n)*(x - y/n)` too.
    """
    if node.kind != "sum":
        return
    out = tuple(range(node.rank))
    found = dict.fromkeys(divisor for term in node.args for divisor in divisors(term))
    roots = ((base, axes, 1 + divisor_power) for base, axes, divisor_power in found if divisor_power > -1)
    for base, axes, divisor_power in dict.fromkeys((*found, *roots)):
        inner = quotient(node, base, axes, divisor_power)
        if inner is not None:
            yield product(1, [(power(base, divisor_power), axes), (inner, out)], out, dict(enumerate(node.shape)))


def cleared(node: Node) -> Iterator[Node]:
    """Yield a product, or a power of a sum, with the denominators of one sum in it multiplied out, for each one."""
    operands: Sequence[Operand]
    if node.kind == "product":
        coef, operands, out, sizes = node.coef, node.operands, node.out, node.sizes
    else:
        coef, out, sizes = Fraction(1), tuple(range(node.rank)), dict(enumerate(node.shape))
        operands = [(node, out)]
    for position, (arg, at) in enumerate(operands):
        inner, exponent = exponent_of(arg)
        if inner.kind != "sum" or exponent.denominator != 1 or (node.kind != "product" and exponent == 1):
            continue
        for base, axes, divisor_power in dict.fromkeys(d for term in inner.args for d in divisors(term)):
            rest = quotient(inner, base, axes, divisor_power)
            if rest is not None:
                new = [(power(base, divisor_power * exponent), tuple(at[a] for a in axes)), (power(rest, exponent), at)]
                yield product(coef, [*operands[:position], *new, *operands[position + 1 :]], out, sizes)


def divisors(term: Node) -> list[Divisor]:
    """Return the negative powers in a term that have output axes alone: base, axes, exponent.

    Powers in a term that is switched off where they are infinite are not returned.
    """
    if term.switches or is_masked(term):
        return []
    if term.kind == "map":
        base, exponent = exponent_of(term)
        return [(base, tuple(range(term.rank)), exponent)] if exponent < 0 else []
    if term.kind != "product" or len(set(term.out)) < len(term.out):
        return []
    found = []
    for arg, at in term.operands:
        base, exponent = exponent_of(arg)
        if exponent < 0 and all(i in term.out for i in at):
            found.append((base, tuple(term.out.index(i) for i in at), exponent))
    return found


def quotient(node: Node, base: Node, axes: Indices, divisor_power: Fraction) -> Node | None:
    """Return a sum divided by base^divisor_power term by term, None if a power in it would be fractional."""
    out = tuple(range(node.rank))
    sizes = dict(enumerate(node.shape))
    terms = []
    for coef, term in node.terms:
        operands: list[Operand]
        exponent = Fraction(0)
        if term.kind == "map" and exponent_of(term)[0] is base and axes == out:
            operands, exponent = [], exponent_of(term)[1]
        elif term.kind == "product" and len(set(term.out)) == len(term.out):
            at = tuple(term.out[a] for a in axes)
            operands = []
            for arg, t in term.operands:
                own, power_of_arg = exponent_of(arg)
                is_whole = power_of_arg < 0 or 1 in (
                    power_of_arg.denominator,
                    (power_of_arg - divisor_power).denominator,
                )
                if own is base and t == at and is_whole:
                    exponent += power_of_arg
                else:
                    operands.append((arg, t))
            if exponent:
                rest = product(term.coef, operands, term.out, term.sizes)
                operands = [(rest, out)]
            else:
                operands = [(term, out)]
        else:
            operands = [(term, out)]
        left = exponent - divisor_power
        if left.denominator != 1 or (left > 0 and vanishing_pairs(base)):
            return None
        factors = [(power(base, left), axes)] if left else []
        terms.append((coef, product(1, [*operands, *factors], out, sizes)))
    return add(terms)
