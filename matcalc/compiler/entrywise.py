"""Defines the expressions inside a loop, computed at one point of its axes from entries of values."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from matcalc.tensor.sizes.size import Size

if TYPE_CHECKING:
    from matcalc.compiler.lowering_entries import Scalar

Index = str | Size  # the name of an axis, or arithmetic on axes
At = tuple[Index, ...]
Number = Fraction | float
EXACT = 2**53
"""The bound up to which every integer is exactly a float."""


@dataclass(frozen=True, slots=True)
class Literal:
    value: Number | Size


@dataclass(frozen=True, slots=True)
class Read:
    """An entry of a value; a local number if the loop itself computes the value."""

    value: str
    at: At = ()


@dataclass(frozen=True, slots=True)
class Sum:
    terms: tuple[tuple[Number, Expr], ...]


@dataclass(frozen=True, slots=True)
class Product:
    coef: Number
    factors: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class Apply:
    """An elementwise function; `params` fill the template's {p}, {p1}, {p2}."""

    function: Scalar
    args: tuple[Expr, ...]
    params: tuple[Number | Size, ...] = ()


@dataclass(frozen=True, slots=True)
class Guard:
    """The condition `size == 0` or `size >= 0` on axes."""

    relation: str
    size: Size


@dataclass(frozen=True, slots=True)
class Select:
    """`body` where all guards hold, else 0; `body` is not evaluated elsewhere (its reads may be outside).

    Guards are tested in order up to the first that fails: guards of an index stand before those that look it up.
    """

    guards: tuple[Guard, ...]
    body: Expr


Expr = Literal | Read | Sum | Product | Apply | Select


def guards_in_order(guards: Iterable[Guard]) -> tuple[Guard, ...]:
    """Return guards in the order in which they can be tested: those with fewer lookups first."""
    return tuple(sorted(dict.fromkeys(guards), key=lambda guard: guard.size.key.count("[")))


def select(guards: Iterable[Guard], body: Expr) -> Expr:
    """Return `body` under guards, in the order in which they can be tested."""
    ordered = guards_in_order(guards)
    return Select(ordered, body) if ordered else body


def parts(expr: Expr) -> tuple[Expr, ...]:
    """Return the operands of an expression."""
    if isinstance(expr, Sum):
        return tuple(term for _, term in expr.terms)
    if isinstance(expr, Product):
        return expr.factors
    if isinstance(expr, Apply):
        return expr.args
    return (expr.body,) if isinstance(expr, Select) else ()


def within(expr: Expr) -> Iterator[Expr]:
    """Yield an expression and all expressions in it, left to right, each before its operands."""
    stack = [expr]
    while stack:
        top = stack.pop()
        yield top
        stack.extend(reversed(parts(top)))


def reads(expr: Expr) -> Iterator[Read]:
    """Yield the reads of an expression, left to right."""
    found, stack = [], [expr]
    while stack:
        top = stack.pop()
        if isinstance(top, Read):
            found.append(top)
        elif not isinstance(top, Literal):
            stack.extend(reversed(parts(top)))
    return iter(found)


def entry_text(value: str, at: Sequence[object]) -> str:
    """Return the text of an entry of a value, or of the value."""
    return f"{value}[{', '.join(map(str, at))}]" if at else value


def as_quotient(coef: Number) -> tuple[Number, int]:
    """Return a coefficient as a factor and a divisor: 1/3 has no finite decimal and is printed as `x/3`."""
    if not isinstance(coef, Fraction) or max(abs(coef.numerator), coef.denominator) > EXACT:
        return coef, 1
    rest = coef.denominator
    for prime in (2, 5):
        while rest % prime == 0:
            rest //= prime
    return (Fraction(coef.numerator), coef.denominator) if rest > 1 else (coef, 1)
