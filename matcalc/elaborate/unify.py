"""Unknown sizes and the equations between them.

Ranks are known while reading, lengths often not: the lengths of an undeclared symbol, the sizes of a
signature, the length of an index. Each is an unknown, a size named `?1`, `?2`, .... An equation that is
linear in some unknown binds it; one that cannot be solved yet is kept with the error that it would be, and
tried again at the end. Names of declared sizes are rigid: two different ones are never made equal.
Unification by bindings alone keeps a formula of any length linear; no general solver is wanted here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from fractions import Fraction
from itertools import chain, count, product

from matcalc.errors import MatcalcError, NotSupported
from matcalc.sizes import Size

MAX_TEXT, MAX_TERMS = 3000, 400  # of a size: beyond them arithmetic on sizes takes longer than anyone waits
MAX_BITS = 9000  # of an exact number

Fault = Callable[[], MatcalcError]


class Sizes:
    """Bindings of unknown sizes, and the equations that wait."""

    def __init__(self) -> None:
        self._number = 0
        self._bound: dict[str, Size] = {}
        self._waiting: list[tuple[Size, Size, Fault]] = []

    def fresh(self) -> Size:
        """Return a new unknown."""
        self._number += 1
        return Size.of(f"?{self._number}")

    def resolve(self, size: Size) -> Size:
        """Return `size` with everything that is bound put in."""
        if "?" not in size.key:
            return size
        trail: list[str] = []
        while "?" in size.key:
            if size.key in self._bound:
                trail.append(size.key)
                size = self._bound[size.key]
                continue
            known = {name: self._bound[name] for name in size.names if name in self._bound}
            if not known:
                break
            size = bounded(size.substitute(known))
        for name in trail:
            self._bound[name] = size
        return size

    def require(self, a: Size, b: Size, fault: Fault) -> None:
        """Make two sizes equal now or at the end.

        Raises: what `fault` makes where they cannot be.
        """
        if not self.equate(a, b, fault):
            raise fault()

    def equate(self, a: Size, b: Size, fault: Fault) -> bool:
        """Make two sizes equal if they can be, and tell whether; `fault` is for an equation that waits."""
        a, b = self.resolve(a), self.resolve(b)
        if a is b:
            return True
        if is_unknown(b) and a.key != b.key:
            a, b = b, a
        solved: tuple[str, Size] | None
        if is_unknown(a) and a.key not in b.names:
            solved = a.key, b
        else:
            difference = a - b
            if "?" not in difference.key:
                return False
            solved = _solve(difference)
        if solved is None:
            self._waiting.append((a, b, fault))
            return True
        unknown, value = solved
        if not is_length(value):
            return False
        self._bound[unknown] = value
        return True

    def finish(self) -> None:
        """Solve the equations that wait, in as many rounds as that helps.

        Raises: the error of the first that is wrong or still open.
        """
        while self._waiting:
            waiting, self._waiting = self._waiting, []
            for a, b, fault in waiting:
                self.require(a, b, fault)
            if len(self._waiting) == len(waiting):
                raise self._waiting[0][2]()

    def name_unknowns(self, sizes: Iterable[Size], names: Iterator[str]) -> None:
        """Name what is still unknown in `sizes`, in the order of appearance."""
        for size in sizes:
            for unknown in unknowns(self.resolve(size)):
                self._bound[unknown] = Size.of(next(names))


def is_unknown(size: Size) -> bool:
    """Whether a size is an unknown and nothing else."""
    return size.key[0] == "?" and size.key[1:].isdecimal()


def unknowns(size: Size) -> list[str]:
    """Return the unknowns of a size, oldest first."""
    if "?" not in size.key:
        return []
    return sorted((name for name in size.names if name[0] == "?"), key=lambda name: int(name[1:]))


def fresh_names(taken: Iterable[str]) -> Iterator[str]:
    """Yield names for sizes, m, n, k, p, q, ..., that are not taken."""
    used = set(taken)
    letters = "mnkpqrstlhdw"
    spellings = (letter + suffix for suffix in chain([""], map(str, count(1))) for letter in letters)
    return (name for name in spellings if name not in used)


def is_length(size: Size) -> bool:
    """Whether a size can be the length of an axis: an integer for all integers, and not a negative number."""
    if size.is_integer:
        return size.constant >= 0 and size.constant.denominator == 1
    return is_integral(size)


def is_integral(size: Size) -> bool:
    """Whether a size is an integer for all integers: polynomials of degree d are so if they are on 0..d."""
    if all(coefficient.denominator == 1 for _, coefficient in size.terms):
        return True
    degrees: dict[object, int] = {}
    for monomial, _ in size.terms:
        for atom, power in monomial:
            degrees[atom] = max(degrees.get(atom, 0), power)
    if len(degrees) > 4 or max(degrees.values()) > 6:
        return False
    grids = (range(degree + 1) for degree in degrees.values())
    return all(_at(size, dict(zip(degrees, point, strict=True))).denominator == 1 for point in product(*grids))


def bounded(size: Size) -> Size:
    """Return `size` if it is of bearable length.

    Raises: NotSupported otherwise.
    """
    if len(size.key) > MAX_TEXT:
        raise NotSupported(f"a number or size of {len(size.key)} characters, {size.key[:40]}...")
    return size


def times(a: Size, b: Size) -> Size:
    """Return the product of two sizes.

    Raises: NotSupported where it would be too long.
    """
    if len(a.terms) * len(b.terms) > MAX_TERMS:
        raise NotSupported(f"a product of sizes of {len(a.terms)} and {len(b.terms)} terms")
    check_bits(sum(max((bits(c) for _, c in size.terms), default=0) for size in (a, b)))
    return bounded(a * b)


def bits(value: Fraction) -> int:
    """Return the length of an exact number."""
    return max(value.numerator.bit_length(), value.denominator.bit_length())


def check_bits(count: int) -> None:
    """Refuse an exact number that is too long to be computed with.

    Raises: NotSupported.
    """
    if count > MAX_BITS:
        raise NotSupported(f"an exact number of {count} bits")


def _at(size: Size, values: Mapping[object, int]) -> Fraction:
    total = Fraction(0)
    for monomial, coefficient in size.terms:
        for atom, power in monomial:
            coefficient *= values[atom] ** power
        total += coefficient
    return total


def _solve(difference: Size) -> tuple[str, Size] | None:
    """Return an unknown and its value that make `difference` zero, if it is linear in one.

    A solution by other unknowns is taken where it is a polynomial with integer coefficients.
    """
    linear: dict[str, Fraction] = {}
    for monomial, coefficient in difference.terms:
        if len(monomial) == 1 and monomial[0][1] == 1 and isinstance(monomial[0][0], str) and monomial[0][0][0] == "?":
            linear[monomial[0][0]] = coefficient
    candidates = sorted(linear, key=lambda name: (abs(linear[name]) != 1, int(name[1:])))
    for unknown in candidates:
        rest = difference - Size.of(unknown) * linear[unknown]
        if unknown in rest.names:
            continue
        value = rest * (-1 / linear[unknown])
        if "?" not in value.key or all(c.denominator == 1 for _, c in value.terms):
            return unknown, bounded(value)
    return None
