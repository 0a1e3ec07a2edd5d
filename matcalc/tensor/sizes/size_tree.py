"""Writes sizes as formulas; the text of the formula is also their key."""

from __future__ import annotations

from fractions import Fraction
from typing import Protocol, TypeAlias

from matcalc.language import syntax
from matcalc.language.syntax import Ast
from matcalc.language.write import text

ENTRY = "[]"
"""The operator of an entry of data."""


class Polynomial(Protocol):
    """A size as its formula needs it: monomials and their coefficients."""

    @property
    def terms(self) -> Terms: ...


class Operation(Protocol):
    """An atom of a size that is not a name: an operator and its two operands."""

    @property
    def operator(self) -> str: ...
    @property
    def left(self) -> Polynomial: ...
    @property
    def right(self) -> Polynomial: ...


Monomial: TypeAlias = "tuple[tuple[str | Operation, int], ...]"
Terms: TypeAlias = "tuple[tuple[Monomial, Fraction], ...]"


def tree_of(size: Polynomial) -> Ast:
    """Return the formula of a size, which `signature.size_of` reads back."""
    return tree_of_terms(size.terms)


def tree_of_terms(terms: Terms) -> Ast:
    if not terms:
        return syntax.number(0)
    ordered = sorted(terms, key=lambda term: term[1].numerator < 0)  # positive terms first
    trees = [term_tree(monomial, abs(coefficient)) for monomial, coefficient in ordered]
    signs = [-1 if coefficient.numerator < 0 else 1 for _, coefficient in ordered]
    first = syntax.negate(trees[0]) if signs[0] < 0 else trees[0]
    return syntax.add([first, *trees[1:]], [1, *signs[1:]]) if trees[1:] else first


def term_tree(monomial: Monomial, coefficient: Fraction | int = 1) -> Ast:
    above = [tree for atom, power in monomial for tree in [_atom_tree(atom)] * power]
    if coefficient.numerator != 1 or not above:
        above.insert(0, syntax.number(coefficient.numerator))
    below = [syntax.number(coefficient.denominator)] if coefficient.denominator != 1 else []
    operators = ["*"] * (len(above) - 1) + ["/"] * len(below)
    return syntax.product([*above, *below], operators) if operators else above[0]


def _atom_tree(atom: str | Operation) -> Ast:
    """Return the tree of a name, quotient, remainder, minimum or maximum."""
    if isinstance(atom, str):
        return syntax.name(atom)
    left, right = tree_of(atom.left), tree_of(atom.right)
    if atom.operator == ENTRY:
        return syntax.part(left, right) if left.head == "name" else syntax.part(*left.args, right)
    if atom.operator in ("min", "max"):
        return syntax.call(atom.operator, left, right)
    factors, operators = syntax.factors_of(left)
    return syntax.product([*factors, right], [*operators, atom.operator])


def atom_text(atom: str | Operation) -> str:
    return atom if isinstance(atom, str) else text(_atom_tree(atom))
