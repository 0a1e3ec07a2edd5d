"""Decides whether systems of polynomial inequalities over integers are impossible.

Most systems that cannot be proved impossible hold at a small point, so these are tried first. For the others, every
monomial of higher degree becomes an unknown of its own. Products of inequalities relate these unknowns: `i <= n - 1`
times `m >= 0` implies `i*m <= n*m - m`. An impossible system then has a certificate: a combination of its inequalities
with nonnegative factors that reads -1 >= 0 (Farkas). A linear program finds it, and exact arithmetic checks it. A
linear system without one goes to the integer set library (isl), which also uses that the unknowns are integers. So
"impossible" is a proof for all sizes; "not impossible" proves nothing. Floor divisions and remainders by positive sizes
become quotients with two inequalities each. Minima and maxima are split into cases.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import lcm, prod
from typing import TYPE_CHECKING, Any

from matcalc.tensor.sizes.size import Atom, Compound, Size

if TYPE_CHECKING:
    import numpy as np

OPERATIONS = 100_000  # steps of isl for one question
REMEMBERED = 1024  # cached answers
DENOMINATOR = 1000  # largest denominator of a factor in a certificate
PRODUCTS = 14  # inequalities that are multiplied with each other, at most
CASES = 32  # of minima and maxima
POINTS = 4096  # at which a system is tried
REACH = (2, 4, 8, 16)  # bounds of the coordinates, each for a quarter of the points


@dataclass(frozen=True, slots=True)
class System:
    """Inequalities `size >= 0` and equations `size == 0`; every name is a nonnegative integer."""

    nonnegative: tuple[Size, ...]
    zero: tuple[Size, ...] = ()

    def also(self, nonnegative: Iterable[Size] = (), zero: Iterable[Size] = ()) -> System:
        return System((*self.nonnegative, *nonnegative), (*self.zero, *zero))

    def substitute(self, values: Mapping[str, Size]) -> System:
        return System(
            tuple(s.substitute(values) for s in self.nonnegative), tuple(s.substitute(values) for s in self.zero)
        )


@lru_cache(maxsize=REMEMBERED)
def is_impossible(system: System) -> bool:
    """Whether it is proved that no integers satisfy the system."""
    found = _without_compounds(system)
    return found is not None and all(_case_is_impossible(case) for case in found)


def _compounds(sizes: Iterable[Size]) -> list[Compound]:
    """Return the non-polynomial parts, the innermost first; a remainder counts as its quotient."""
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
    """Return a size with compounds replaced, including nested ones."""

    def value(atom: Atom) -> Size:
        if isinstance(atom, str):
            return Size.of(atom)
        found = table[_divided(atom)]
        is_rest = atom.operator == "%"
        return _replaced(atom.left, table) - _replaced(atom.right, table) * found if is_rest else found

    return size.over(value)


@dataclass(frozen=True)
class _Case:
    """The values of compounds in one case, the conditions of the case, and quotients with their divisors."""

    table: Mapping[Compound, Size]
    known: System
    quotients: tuple[tuple[Size, Size], ...] = ()


def _without_compounds(system: System) -> list[System] | None:
    """Return systems without compounds, one for each case; None if there are too many."""
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
    """Return the possible values of a compound, each as a case with its conditions."""
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
    # the quotient of a negative number is negative, but names are not
    found.append(being(-quotient, right - 1, quotient - 1, below, right - 1 - below))
    if not right.is_integer:  # nothing is claimed if the divisor may be zero
        found.append(being(Size.of(f"{fresh}+") - Size.of(f"{fresh}-"), -right))
    return found


def _compared(case: _Case, quotient: Size, divisor: Size) -> list[_Case]:
    """Split a case by the order of a quotient and an earlier one by the same divisor: larger, smaller or equal."""
    own = (quotient, divisor)
    earlier = next((q for q, d in case.quotients if d is divisor), None)
    quotients = (*case.quotients, own)
    if earlier is None:
        return [_Case(case.table, case.known, quotients)]
    orders = (quotient - earlier - 1, earlier - quotient - 1), (quotient - earlier, earlier - quotient)
    known = [*(case.known.also((s,)) for s in orders[0]), case.known.also((), (orders[1][0],))]
    return [_Case(case.table, k, quotients) for k in known]


# ---- polynomials in names with integer coefficients, with fast products
Monomial = tuple[str, ...]  # sorted names, each repeated as often as its power
Polynomial = Mapping[Monomial, int]


@dataclass(frozen=True)
class _Polynomials:
    """A system without compounds."""

    nonnegative: Sequence[Polynomial]
    zero: Sequence[Polynomial]

    @property
    def all(self) -> tuple[Polynomial, ...]:
        return (*self.nonnegative, *self.zero)


def _polynomial(size: Size) -> Polynomial:
    """Return a size times the common denominator of its coefficients."""
    scale = lcm(*(c.denominator for _, c in size.terms))
    found = {}
    for monomial, coefficient in size.terms:
        names = tuple(sorted(atom for atom, power in monomial for _ in range(power) if isinstance(atom, str)))
        found[names] = int(coefficient * scale)
    return found


def _times(one: Polynomial, other: Polynomial) -> Polynomial:
    product: dict[Monomial, int] = {}
    for left, a in one.items():
        for right, b in other.items():
            monomial = tuple(sorted(left + right))
            product[monomial] = product.get(monomial, 0) + a * b
    return {m: c for m, c in product.items() if c}


def _distinct(polynomials: Iterable[Polynomial]) -> list[Polynomial]:
    return list({frozenset(p.items()): p for p in polynomials if any(p)}.values())


def _case_is_impossible(system: System) -> bool:
    if any(s.is_integer and s.constant < 0 for s in system.nonnegative):
        return True
    if any(s.is_integer and s.constant != 0 for s in system.zero):
        return True
    case = _Polynomials(
        _distinct(map(_polynomial, system.nonnegative)),
        _distinct(map(_polynomial, system.zero)),
    )
    if holds_somewhere(case):
        return False
    if has_certificate(case):
        return True
    if all(len(m) < 2 for p in case.all for m in p):
        return _has_no_integers(case)
    return any(has_certificate(stage) for stage in _stages(case))


def _stages(system: _Polynomials) -> Iterable[_Polynomials]:
    """Yield the system with more and more products of its conditions, cheapest first."""
    weighted = system
    for _ in range(2):
        weighted = _weighted(system, weighted)
        yield weighted
    yield _multiplied(weighted)


def _weighted(system: _Polynomials, known: _Polynomials) -> _Polynomials:
    """Add the conditions of a system multiplied by the factors that one of their names has in `known`."""
    weights = _weights(known.all)
    more = [_times(p, {w: 1}) for p in system.nonnegative for w in _weights_of(p, weights)]
    equal = [_times(p, {w: 1}) for p in system.zero for w in _weights_of(p, weights)]
    return _Polynomials(_distinct((*system.nonnegative, *more)), _distinct((*system.zero, *equal)))


def _weights_of(polynomial: Polynomial, weights: Mapping[str, Mapping[Monomial, None]]) -> Iterable[Monomial]:
    """Return the factors, by `weights`, of the names that are linear terms of a condition."""
    return dict.fromkeys(w for m in polynomial if len(m) == 1 for w in weights.get(m[0], ()))


def _weights(polynomials: Iterable[Polynomial]) -> dict[str, dict[Monomial, None]]:
    """Return for each name the products of names that multiply it."""
    found: dict[str, dict[Monomial, None]] = {}
    for polynomial in polynomials:
        for monomial in polynomial:
            if 2 <= len(monomial) <= 3:
                for k, name in enumerate(monomial):
                    found.setdefault(name, {})[monomial[:k] + monomial[k + 1 :]] = None
    return found


def _multiplied(system: _Polynomials) -> _Polynomials:
    """Add the products of any two linear inequalities in names that occur in products."""
    busy = {name for p in system.all for m in p if len(m) > 1 for name in m}
    linear = [p for p in system.nonnegative if all(len(m) < 2 and busy.issuperset(m) for m in p)][:PRODUCTS]
    products = [_times(a, b) for k, a in enumerate(linear) for b in linear[k:]]
    return _Polynomials(_distinct((*system.nonnegative, *products)), system.zero)


@lru_cache(maxsize=64)
def _points(count: int) -> np.ndarray:
    """Return the points for so many names, always the same ones, as columns."""
    import numpy as np

    below = np.repeat(REACH, POINTS // len(REACH))
    return np.random.default_rng(0).integers(0, below, (count, POINTS)).astype(np.float64)


def holds_somewhere(system: _Polynomials) -> bool:
    """Whether a system holds at one of some small points and so is possible."""
    import numpy as np

    names = {name: row for row, name in enumerate(dict.fromkeys(n for p in system.all for m in p for n in m))}
    points = _points(len(names))
    for k, polynomial in enumerate(system.all):
        values = np.zeros(points.shape[1])
        for monomial, coefficient in polynomial.items():
            values += coefficient * np.prod([points[names[n]] for n in monomial], axis=0)
        points = points[:, values >= 0 if k < len(system.nonnegative) else values == 0]
        if not points.shape[1]:
            return False
    found = {name: int(points[row, 0]) for name, row in names.items()}
    exact = [sum(c * prod(found[n] for n in m) for m, c in p.items()) for p in system.all]
    free = len(system.nonnegative)
    return all(value >= 0 for value in exact[:free]) and not any(exact[free:])


def has_certificate(system: _Polynomials) -> bool:
    """Whether the inequalities and equations combine to -1 >= 0, with nonnegative monomials."""
    import numpy as np
    from scipy.optimize import linprog

    if not system.all:
        return False
    free = len(system.nonnegative)
    rows: dict[Monomial, int] = {(): 0}
    for polynomial in system.all:
        for monomial in polynomial:
            rows.setdefault(monomial, len(rows))
    table = np.zeros((len(rows), len(system.all)))
    for column, polynomial in enumerate(system.all):
        for monomial, coefficient in polynomial.items():
            table[rows[monomial], column] = coefficient
    # coefficients of monomials may be negative, since monomials are not; the constant must be negative
    limits = np.zeros(len(rows))
    limits[0] = -1.0
    cost = np.concatenate([np.ones(free), np.zeros(len(system.zero))])
    bounds = [(0, None)] * free + [(None, None)] * len(system.zero)
    found = linprog(cost, table, limits, bounds=bounds)
    return bool(found.success) and _is_certificate(system, found.x.tolist())


def _is_certificate(system: _Polynomials, numbers: Sequence[float]) -> bool:
    """Whether the factors, as fractions, combine the system to a contradiction in exact arithmetic."""
    factors = [Fraction(x).limit_denominator(DENOMINATOR) for x in numbers]
    total: dict[Monomial, Fraction] = {(): Fraction(0)}
    for factor, polynomial in zip(factors, system.all, strict=True):
        for monomial, coefficient in polynomial.items():
            total[monomial] = total.get(monomial, Fraction(0)) + factor * coefficient
    signs = all(factor >= 0 for factor in factors[: len(system.nonnegative)])
    return signs and total.pop(()) < 0 and all(rest <= 0 for rest in total.values())


def _has_no_integers(system: _Polynomials) -> bool:
    """Whether isl finds no nonnegative integer point of a linear system."""
    import islpy

    names = {n: f"x{k}" for k, n in enumerate(dict.fromkeys(n for p in system.all for m in p for n in m))}
    lines = [f"{x} >= 0" for x in names.values()]
    for polynomials, relation in ((system.nonnegative, ">="), (system.zero, "=")):
        for polynomial in polynomials:
            terms = [f"{c}*{names[m[0]]}" if m else str(c) for m, c in polynomial.items()]
            lines.append(f"{' + '.join(terms)} {relation} 0")
    context: Any = islpy.Context()
    points = islpy.BasicSet(f"{{ [{', '.join(names.values())}] : {' and '.join(lines)} }}", context=context)
    context.set_max_operations(OPERATIONS)
    try:
        return bool(points.is_empty())
    except islpy.Error:  # too many steps: nothing is proved
        return False
