"""Solves equations between sizes exactly: linear systems, quotients and roots.

The left side of an equation is unknowns with numbers as coefficients; its right side is a polynomial in known names.
All inference of sizes (from shapes of arrays, from axes of arguments, while reading) uses this form.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from fractions import Fraction
from typing import Generic, NamedTuple, TypeVar

from matcalc.tensor.sizes.size import Monomial, Size, collected, polynomial
from matcalc.tensor.sizes.size_tree import atom_text

Note = TypeVar("Note")


class Equation(NamedTuple, Generic[Note]):
    """The equation sum of coefficient*unknown = size, with `notes` of the equations it derives from, its own first."""

    left: dict[str, Fraction]
    right: Size
    notes: tuple[Note, ...] = ()


def linear_part(size: Size, unknowns: Collection[str]) -> tuple[dict[str, Fraction], Size] | None:
    """Return the coefficients of the unknowns and the rest without them; None if a size is not linear in the unknowns.

    Example:
        >>> coefficients, rest = linear_part(Size.of("n") * 2 + Size.of("k") * Size.of("k"), ["n"])
        >>> print(coefficients["n"], rest)
        2 k*k
    """
    coefficients: dict[str, Fraction] = {}
    rest: dict[Monomial, Fraction] = {}
    for monomial, coefficient in size.terms:
        atom = monomial[0][0] if monomial else None
        if isinstance(atom, str) and atom in unknowns and monomial == ((atom, 1),):
            coefficients[atom] = coefficient
        else:
            rest[monomial] = coefficient
    left = polynomial(rest)
    return None if any(name in unknowns for name in left.names) else (coefficients, left)


def eliminate(equations: Sequence[Equation[Note]]) -> list[Equation[Note]]:
    """Return equivalent equations by Gauss-Jordan elimination: each is solved for an unknown that no other contains.

    Example:
        >>> n = Size.of("n")
        >>> rows = [Equation({"a": Fraction(1), "b": Fraction(c)}, n) for c in (1, -1)]
        >>> [(list(left), str(right)) for left, right, _ in eliminate(rows)]
        [(['a'], 'n'), (['b'], '0')]
    """
    solved = list(equations)
    for k in range(len(solved)):
        left, right, notes = solved[k]
        if not left:
            continue
        pivot = min(left, key=lambda name: (len(name), name))
        scale = 1 / left[pivot]
        solved[k] = Equation({name: c * scale for name, c in left.items()}, right * scale, notes)
        for other, equation in enumerate(solved):
            if other != k and pivot in equation.left:
                solved[other] = _less(equation, equation.left[pivot], solved[k])
    return solved


def _less(equation: Equation[Note], factor: Fraction, other: Equation[Note]) -> Equation[Note]:
    """Return an equation minus a multiple of another."""
    left = collected([*equation.left.items(), *((name, -factor * c) for name, c in other.left.items())])
    notes = tuple(dict.fromkeys(equation.notes + other.notes))
    return Equation(left, equation.right - other.right * factor, notes)


def solved_for(size: Size, known: Collection[str]) -> tuple[str, Fraction, Size] | None:
    """Return (name, factor, offset) if size = factor*name + offset with a known offset, else None."""
    linear = linear_part(size, [name for name in size.names if name not in known])
    if linear is None or len(linear[0]) != 1:
        return None
    ((name, factor),) = linear[0].items()
    return name, factor, linear[1]


def linear_in(size: Size, name: str) -> tuple[Size, Size] | None:
    """Return (slope, rest), without the name, such that a size is slope*name + rest; None if it is not linear."""
    slope: dict[Monomial, Fraction] = {}
    rest: dict[Monomial, Fraction] = {}
    for monomial, coefficient in size.terms:
        others = tuple(factor for factor in monomial if factor[0] != name)
        if any(not isinstance(a, str) and name in (*a.left.names, *a.right.names) for a, _ in others):
            return None
        if len(others) == len(monomial):
            rest[monomial] = coefficient
        elif dict(monomial)[name] == 1:
            slope[others] = coefficient
        else:
            return None
    return polynomial(slope), polynomial(rest)


def quotient(size: Size, other: Size) -> Size | None:
    """Return the polynomial whose product with `other` is `size`; None if there is none."""
    if not other.terms:
        return None
    left, found = dict(size.terms), Size.of(0)
    lead = min((monomial for monomial, _ in other.terms), key=_order)
    factor = dict(other.terms)[lead]
    while left:
        largest = min(left, key=_order)
        monomial = _without(largest, lead)
        if monomial is None:
            return None
        term = polynomial({monomial: left[largest] / factor})
        found = found + term
        left = dict((polynomial(left) - term * other).terms)
    return found


def root(size: Size, degree: int) -> Size | None:
    """Return the root, of this degree, of a size that is a product of numbers and names; None if there is none."""
    if len(size.terms) != 1:
        return size if not size.terms else None
    ((monomial, coefficient),) = size.terms
    parts = [round(part ** (1 / degree)) for part in (abs(coefficient.numerator), coefficient.denominator)]
    base = Fraction(*parts)
    if base**degree != coefficient or any(power % degree for _, power in monomial):
        return None
    return polynomial({tuple((atom, power // degree) for atom, power in monomial): base})


def _without(monomial: Monomial, factor: Monomial) -> Monomial | None:
    """Return a monomial divided by another; None if it does not divide."""
    powers = collected([*monomial, *((atom, -power) for atom, power in factor)])
    return None if any(power < 0 for power in powers.values()) else tuple(powers.items())


def _order(monomial: Monomial) -> tuple[int, list[str]]:
    """Return the sort key of a monomial order that products preserve, the largest first: by degree, then by words."""
    words = [atom_text(atom) for atom, power in monomial for _ in range(power)]
    return -len(words), sorted(words)
