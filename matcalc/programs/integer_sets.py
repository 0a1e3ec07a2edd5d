"""Systems of polynomial inequalities over integers, and whether they can hold at all.

Every monomial that is no name becomes an unknown of its own, and what is known of products is added as products of
the inequalities: `i <= n - 1` times `m >= 0` says that `i*m <= n*m - m`. That a system is impossible then has a
certificate: a combination of its inequalities, with factors that are not negative, that reads -1 >= 0 (Farkas).
A linear program finds one, and it is checked in exact arithmetic. A linear system without one is asked of the
integer set library (isl), which knows that integers have gaps. So "impossible" is a proof for all sizes, while
"perhaps" says nothing. Floor divisions and remainders by positive sizes become quotients with their two
inequalities; minima and maxima are split into cases.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import lcm
from typing import Any

from matcalc.sizes import Compound, Monomial, Size

OPERATIONS = 100_000  # steps of isl that one question may take
REMEMBERED = 2000  # answers
DENOMINATOR = 1000  # of a factor in a certificate
PRODUCTS = 14  # inequalities that are multiplied with each other, at most
CASES = 32  # of minima and maxima


@dataclass(frozen=True, slots=True)
class System:
    """Inequalities `size >= 0` and equations `size == 0`; every name in them is an integer that is not negative."""

    nonnegative: tuple[Size, ...]
    zero: tuple[Size, ...] = ()

    def also(self, nonnegative: Iterable[Size] = (), zero: Iterable[Size] = ()) -> System:
        return System((*self.nonnegative, *nonnegative), (*self.zero, *zero))

    def substitute(self, values: Mapping[str, Size]) -> System:
        return System(
            tuple(s.substitute(values) for s in self.nonnegative), tuple(s.substitute(values) for s in self.zero)
        )


@lru_cache(REMEMBERED)
def is_impossible(system: System) -> bool:
    """Whether it is proved that no integers satisfy the system."""
    if any(s.is_integer and s.constant < 0 for s in system.nonnegative):
        return True
    if any(s.is_integer and s.constant != 0 for s in system.zero):
        return True
    found = _without_extrema(_relevant(system))
    return found is not None and all(_case_is_impossible(case) for case in found)


def _relevant(system: System) -> System:
    """Drop repeated and trivial conditions."""
    inequalities = dict.fromkeys(s for s in system.nonnegative if not s.is_integer)
    return System(tuple(inequalities), tuple(dict.fromkeys(s for s in system.zero if not s.is_integer)))


def _compounds(sizes: Iterable[Size]) -> list[Compound]:
    """Return the parts that are no polynomials, the innermost first; a remainder counts as its quotient."""
    found: dict[Compound, None] = {}
    stack: list[tuple[Size | Compound, bool]] = [(s, False) for s in sizes]
    while stack:
        top, entered = stack.pop()
        if isinstance(top, Size):
            stack += [(a, False) for m, _ in top.terms for a, _ in m if isinstance(a, Compound)]
        elif entered:
            found.setdefault(_divided(top))
        else:
            stack += [(top, True), (top.left, False), (top.right, False)]
    return list(found)


def _divided(compound: Compound) -> Compound:
    return compound._replace(operator="//") if compound.operator == "%" else compound


def _replaced(size: Size, table: Mapping[Compound, Size]) -> Size:
    """Return a size with compounds replaced, the inner ones too."""
    total = Size.of(0)
    for monomial, coefficient in size.terms:
        term = Size.of(coefficient)
        for atom, power in monomial:
            factor = Size.of(atom) if isinstance(atom, str) else table[_divided(atom)]
            if isinstance(atom, Compound) and atom.operator == "%":
                factor = _replaced(atom.left, table) - _replaced(atom.right, table) * factor
            for _ in range(power):
                term = term * factor
        total = total + term
    return total


@dataclass(frozen=True)
class _Case:
    """What the compounds are in one case, under which conditions, and the quotients with their divisors."""

    table: Mapping[Compound, Size]
    known: System
    quotients: tuple[tuple[Size, Size], ...] = ()


def _without_extrema(system: System) -> list[System] | None:
    """Return systems without compounds, one for each case of them; None for too many."""
    cases = [_Case({}, System(()))]
    for number, compound in enumerate(_compounds((*system.nonnegative, *system.zero))):
        cases = [further for case in cases for further in _meanings(case, compound, f"?{number}")]
        if len(cases) > CASES:
            return None
    return [
        case.known.also(
            (_replaced(s, case.table) for s in system.nonnegative),
            (_replaced(s, case.table) for s in system.zero),
        )
        for case in cases
    ]


def _meanings(case: _Case, compound: Compound, fresh: str) -> list[_Case]:
    """Return what a compound can be, each with the inequalities under which it is that."""
    left, right = (_replaced(s, case.table) for s in (compound.left, compound.right))

    def being(value: Size, *conditions: Size) -> _Case:
        return _Case({**case.table, compound: value}, case.known.also(conditions), case.quotients)

    if compound.operator == "min":
        return [being(left, right - left), being(right, left - right)]
    if compound.operator == "max":
        return [being(left, left - right), being(right, right - left)]
    quotient = Size.of(fresh)
    rest, below = left - right * quotient, left + right * quotient
    found = _compared(being(quotient, right - 1, rest, right - 1 - rest), quotient, right)
    # the quotient of a negative number is negative, and no name is
    found.append(being(-quotient, right - 1, quotient - 1, below, right - 1 - below))
    if not right.is_integer:  # where the divisor may be zero nothing is claimed
        found.append(being(Size.of(f"{fresh}+") - Size.of(f"{fresh}-"), -right))
    return found


def _compared(case: _Case, quotient: Size, divisor: Size) -> list[_Case]:
    """Split a case by whether a quotient is larger than an earlier one by the same divisor."""
    own = (quotient, divisor)
    earlier = next((q for q, d in case.quotients if d is divisor), None)
    quotients = (*case.quotients, own)
    if earlier is None:
        return [_Case(case.table, case.known, quotients)]
    orders = (quotient - earlier - 1, earlier - quotient - 1), (quotient - earlier, earlier - quotient)
    known = [*(case.known.also((s,)) for s in orders[0]), case.known.also((), (orders[1][0],))]
    return [_Case(case.table, k, quotients) for k in known]


def _case_is_impossible(system: System) -> bool:
    if has_certificate(system):
        return True
    if all(_degree(m) < 2 for s in (*system.nonnegative, *system.zero) for m, _ in s.terms):
        return _has_no_integers(system)
    return any(has_certificate(stage) for stage in _stages(system))


def _stages(system: System) -> Iterable[System]:
    """Yield the system with more and more of what follows for products, cheapest first."""
    weighted = system
    for _ in range(2):
        weighted = _weighted(system, weighted)
        yield weighted
    yield _multiplied(weighted)


def _degree(monomial: Monomial) -> int:
    return sum(power for _, power in monomial)


def _weighted(system: System, known: System) -> System:
    """Add the conditions of a system times the names that they are multiplied with in what is known."""
    weights = _weights((*known.nonnegative, *known.zero))
    more = [size * weight for size in system.nonnegative for weight in _weights_of(size, weights)]
    equal = [size * weight for size in system.zero for weight in _weights_of(size, weights)]
    return _relevant(system.also(more, equal))


def _weights_of(size: Size, weights: Mapping[str, list[Size]]) -> Iterable[Size]:
    """Return what the names of a size that stand alone in it are multiplied with."""
    alone = (m[0][0] for m, _ in size.terms if len(m) == 1 and m[0][1] == 1)
    return dict.fromkeys(w for name in alone if isinstance(name, str) for w in weights.get(name, ()))


def _weights(sizes: Sequence[Size]) -> dict[str, list[Size]]:
    """Return for each name what it is multiplied with, as products of names."""
    found: dict[str, dict[Size, None]] = {}
    for size in sizes:
        for monomial, _ in size.terms:
            if not 2 <= _degree(monomial) <= 3:
                continue
            for atom, _ in monomial:
                assert isinstance(atom, str)
                rest = Size.of(1)
                for other, power in monomial:
                    for _ in range(power - (other == atom)):
                        rest = rest * Size.of(other) if isinstance(other, str) else rest
                found.setdefault(atom, {})[rest] = None
    return {name: list(weights) for name, weights in found.items()}


def _multiplied(system: System) -> System:
    """Add the products of any two linear inequalities of which one speaks of a name in a product."""
    linear = [s for s in system.nonnegative if all(_degree(m) < 2 for m, _ in s.terms)]
    busy = {a for s in system.nonnegative + system.zero for m, _ in s.terms if _degree(m) > 1 for a, _ in m}
    chosen = [s for s in linear if set(s.names) <= busy][:PRODUCTS]
    products = [a * b for k, a in enumerate(chosen) for b in chosen[k:]]
    return _relevant(system.also(products))


def has_certificate(system: System) -> bool:
    """Whether a combination of the inequalities and equations, each monomial being not negative, reads -1 >= 0."""
    import numpy as np
    from scipy.optimize import linprog

    sizes = (*system.nonnegative, *system.zero)
    free = len(system.nonnegative)
    rows: dict[Monomial, int] = {(): 0}
    for size in sizes:
        for monomial, _ in size.terms:
            rows.setdefault(monomial, len(rows))
    table = np.zeros((len(rows), len(sizes)))
    for column, size in enumerate(sizes):
        for monomial, coefficient in size.terms:
            table[rows[monomial], column] = float(coefficient)
    # what stands before a monomial may be negative, since the monomial is not; the constant must be
    limits = np.zeros(len(rows))
    limits[0] = -1.0
    bounds = [(0, None)] * free + [(None, None)] * (len(sizes) - free)
    found = linprog(np.ones(len(sizes)) * ([1.0] * free + [0.0] * (len(sizes) - free)), table, limits, bounds=bounds)
    if not found.success:
        return False
    factors = [Fraction(x).limit_denominator(DENOMINATOR) for x in found.x.tolist()]
    total = dict.fromkeys(rows, Fraction(0))
    for factor, size in zip(factors, sizes, strict=True):
        for monomial, coefficient in size.terms:
            total[monomial] += factor * coefficient
    signs = all(factor >= 0 for factor in factors[:free])
    return signs and total.pop(()) < 0 and all(rest <= 0 for rest in total.values())


def _has_no_integers(system: System) -> bool:
    """Whether isl finds no integer point of a linear system, its names being not negative."""
    import islpy

    names = {
        n: f"x{k}" for k, n in enumerate(dict.fromkeys(n for s in system.nonnegative + system.zero for n in s.names))
    }
    lines = [f"{x} >= 0" for x in names.values()]
    for sizes, relation in ((system.nonnegative, ">="), (system.zero, "=")):
        for size in sizes:
            scale = lcm(*(c.denominator for _, c in size.terms))
            terms = [f"{c * scale}{f'*{names[m[0][0]]}' if m else ''}" for m, c in size.terms]  # type: ignore[index]
            lines.append(f"{' + '.join(terms)} {relation} 0")
    context: Any = islpy.Context()
    points = islpy.BasicSet(f"{{ [{', '.join(names.values())}] : {' and '.join(lines)} }}", context=context)
    context.set_max_operations(OPERATIONS)
    try:
        return bool(points.is_empty())
    except islpy.Error:  # too many steps: nothing is proved
        return False
