"""Writes sizes as numbers: a rational content times the factors that all terms share and the remaining polynomial."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import gcd, lcm, prod

from matcalc.tensor.nodes.node import Node, Operand
from matcalc.tensor.raw_nodes import size_atom
from matcalc.tensor.sizes.size import COMPOUND, Atom, Size
from matcalc.tensor.sizes.size_equations import quotient

MOST_TERMS = 400  # of the expanded product of sums of sizes; larger ones stay products


def size_factors(size: Size) -> tuple[Fraction, list[Node]]:
    """Return the rational content of a size and its atoms: the factors that all terms share, and the rest."""
    if size.is_integer:
        return size.constant, []
    content = rational_content([c for _, c in size.terms])
    powers = [dict(monomial) for monomial, _ in size.terms]
    shared = {atom: min(p.get(atom, 0) for p in powers) for atom in powers[0]}
    atoms = [size_atom(atom_size(atom)) for atom, power in shared.items() for _ in range(power)]
    left = Size.of(0)
    for (monomial, coef), own in zip(size.terms, powers, strict=True):
        term = Size.of(coef / content)
        for atom, _ in monomial:
            for _ in range(own[atom] - shared.get(atom, 0)):
                term = term * atom_size(atom)
        left = left + term
    return content, atoms if left == 1 else [*atoms, size_atom(left)]


def atom_size(atom: Atom) -> Size:
    """Return the size of a polynomial's atom."""
    return Size.of(atom) if isinstance(atom, str) else COMPOUND[atom.operator](atom.left, atom.right)


def divided(size: Size, by: Size) -> Size | None:
    """Return the quotient of two sizes if its coefficients are integers; only a product of names divides."""
    found = quotient(size, by) if len(by.terms) == 1 else None
    return found if found is not None and all(c.denominator == 1 for _, c in found.terms) else None


def rational_content(values: Sequence[Fraction]) -> Fraction:
    """Return the positive rational c such that values/c are coprime integers, with the sign of the first value."""
    numerator = gcd(*(v.numerator for v in values))
    denominator = lcm(*(v.denominator for v in values))
    content = Fraction(numerator, denominator)
    return -content if values[0] < 0 else content


def multiplied_sizes(operands: list[Operand]) -> tuple[Fraction, list[Operand]]:
    """Expand products of sums of sizes, so that (n + 1)*(n - 1) and n*n - 1 are equal; return content and operands."""
    sums = [node.size for node, _ in operands if node.kind == "size" and len(node.size.terms) > 1]
    if len(sums) < 2 or prod(len(size.terms) for size in sums) > MOST_TERMS:
        return Fraction(1), operands
    coef, atoms = size_factors(prod(sums, start=Size.of(1)))
    rest = [term for term in operands if term[0].kind != "size" or len(term[0].size.terms) == 1]
    return coef, [*rest, *((atom, ()) for atom in atoms)]
