"""Sizes as integers of Code."""

from __future__ import annotations

from functools import lru_cache
from math import lcm

from matcalc.compiler.code.code import ZERO, Call, Expr, Load, Name, Number, Op, chain, negated
from matcalc.tensor.sizes.size import Atom, Size
from matcalc.tensor.sizes.size_tree import ENTRY


@lru_cache(maxsize=1024)
def integer(size: Size, guarded: bool = False) -> Expr:
    """Return a size as an integer; non-integer coefficients become one floor division, which is exact.

    Entries of data are read by a function that allows any index if they are `guarded`.
    """
    scale = lcm(*(c.denominator for _, c in size.terms))
    found: Expr | None = None
    for monomial, coefficient in sorted(size.terms, key=lambda term: term[1] < 0):
        factors = [_atom(atom, guarded) for atom, power in monomial for _ in range(power)]
        count = int(abs(coefficient) * scale)
        term = chain("*", factors if count == 1 and factors else [Number(count), *factors])
        if found is None:
            found = negated(term) if coefficient < 0 else term
        else:
            found = Op("-" if coefficient < 0 else "+", (found, term))
    total = found or ZERO
    return total if scale == 1 else Op("//", (total, Number(scale)))


def _atom(atom: Atom, guarded: bool) -> Expr:
    if isinstance(atom, str):
        return Name(atom)
    if atom.operator == ENTRY:
        data, at = atom.place
        indices = tuple(integer(index, guarded) for index in at)
        return Call("guarded_entries", (Name(data.key), *indices)) if guarded else Load(Name(data.key), indices)
    both = integer(atom.left, guarded), integer(atom.right, guarded)
    return Call(atom.operator, both) if atom.operator in ("min", "max") else Op(atom.operator, both)


def has_fractions(size: Size) -> bool:
    """Whether a part of a size, such as the n/2 of min(n/2, m), need not be an integer."""
    atoms = [atom for monomial, _ in size.terms for atom, _ in monomial if not isinstance(atom, str)]
    parts = [part for atom in atoms for part in (atom.left, atom.right)]
    return any(has_fractions(part) or any(c.denominator != 1 for _, c in part.terms) for part in parts)
