"""Solves for unknown sizes, by unification and linear systems.

Ranks are known while reading, lengths often not: the lengths of an undeclared symbol, the sizes of a signature, the
length of an index. Each is an unknown, a size named `?1`, `?2`, .... An equation that is linear in some unknown binds
it. An equation that cannot be solved yet is stored with its error and tried again at the end; the remaining ones are
then solved together as a linear system. Names of declared sizes are rigid: two different ones are never equated. A
solution holds for all values of the names, in integers: `2*?1 = n` has no solution. Unification by bindings takes time
linear in the length of the formula. Each binding records the tree that caused it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from fractions import Fraction
from itertools import product
from math import gcd

from matcalc.errors import MatcalcError, NotSupported
from matcalc.language.exact_numbers import check_bits
from matcalc.language.syntax import Ast
from matcalc.tensor.sizes.size import Size
from matcalc.tensor.sizes.size_equations import Equation, eliminate, linear_part, quotient, root

MAX_TEXT, MAX_TERMS = 3000, 400  # limits of a size: arithmetic on larger ones is too slow
MOST_TRIED = 200  # numbers tried for an equation in one unknown without another solution
ZERO, ONE = Size.of(0), Size.of(1)

Fault = Callable[[], MatcalcError]


class Sizes:
    """Bindings of unknown sizes, and the waiting (unsolved) equations. `current` is the tree being read.

    guessed: whether a length was set to 1 only because a product requires it (`can_be_one`).
    """

    def __init__(self) -> None:
        self.guessed = False
        self._ones: list[tuple[Size, Fault]] = []
        self._number = 0
        self._bound: dict[str, Size] = {}
        self._met: dict[str, tuple[Size, Ast]] = {}
        self._waiting: list[tuple[Size, Size, Fault]] = []
        self.current: Ast | None = None

    def fresh(self) -> Size:
        """Return a new unknown."""
        self._number += 1
        return Size.of(f"?{self._number}")

    def surely_differ(self, a: Size, b: Size) -> bool:
        """Whether two sizes are known, and are not the same."""
        one, other = self.resolve(a), self.resolve(b)
        return one is not other and "?" not in one.key + other.key

    def resolve(self, size: Size) -> Size:
        """Return `size` with all bound unknowns substituted."""
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

    def met(self, size: Size) -> list[Ast]:
        """Return the trees that determine a size with unknowns, in the order in which one led to the next."""
        found: dict[Ast, None] = {}
        pending, seen = unknowns(size), set[str]()
        while pending:
            name = pending.pop(0)
            if name in self._met and name not in seen:
                seen.add(name)
                value, current = self._met[name]
                found[current] = None
                pending += unknowns(value)
        return list(found)

    def require(self, a: Size, b: Size, fault: Fault) -> None:
        """Equate two sizes now or at the end.

        Raises: the error from `fault` if they cannot be equal.
        """
        if not self.equate(a, b, fault):
            raise fault()

    def equate(self, a: Size, b: Size, fault: Fault) -> bool:
        """Equate two sizes if possible; return whether they can be. `fault` is the error of a waiting equation."""
        a, b = self.resolve(a), self.resolve(b)
        if a is b:
            return True
        if is_unknown(b) and a.key != b.key:
            a, b = b, a
        if is_unknown(a) and a.key not in b.names:
            return self._bind(a.key, b)
        difference = a - b
        if not has_solution(difference):
            return False
        if _all_zero(difference):
            return all(self._bind(name, ZERO) for name in unknowns(difference))
        solved = _solve(difference)
        if solved is not None:
            return self._bind(*solved)
        self._waiting.append((a, b, fault))
        return True

    def can_be_one(self, size: Size, fault: Fault) -> bool:
        """Return whether a length is 1; an unknown length is decided at the end, with the error `fault`."""
        if "?" in self.resolve(size).key:
            self._ones.append((size, fault))
            return True
        return self.resolve(size) == 1

    def _bind(self, unknown: str, value: Size) -> bool:
        """Bind an unknown to its value; return whether that can be a length."""
        if not is_length(value):
            return False
        self._bound[unknown] = value
        if self.current is not None:
            self._met[unknown] = value, self.current
        return True

    def finish(self, guess: bool = False) -> None:
        """Solve the waiting equations, in rounds as long as that helps, then together.

        A length that only `can_be_one` constrains is an error, so that `x*A` is no product with a one-row matrix that
        nobody declared; with `guess` it is set to 1.

        Raises: the error of the first equation that is wrong or still open.
        """
        while self._waiting:
            waiting, self._waiting = self._waiting, []
            for a, b, fault in waiting:
                self.require(a, b, fault)
            if len(self._waiting) == len(waiting) and not (self._solve_together() or self._find()):
                raise self._waiting[0][2]()
        ones, self._ones = self._ones, []
        for size, fault in ones:
            is_open = "?" in self.resolve(size).key
            if (is_open and not guess) or not self.equate(size, ONE, fault):
                raise fault()
            self.guessed |= is_open
        if self._waiting:
            self.finish(guess)

    def _solve_together(self) -> bool:
        """Bind the unknowns that the linear waiting equations determine together; return whether there are any.

        Raises: the error of an equation that contradicts the others, or whose solution is no length.
        """
        rows = [_equation(self.resolve(a) - self.resolve(b), fault) for a, b, fault in self._waiting]
        solved = False
        for coefficients, value, (fault, *_) in eliminate([row for row in rows if row is not None]):
            if not coefficients and value.terms:
                raise fault()
            if len(coefficients) == 1:
                (unknown,) = coefficients
                if not self._bind(unknown, value):
                    raise fault()
                solved = True
        return solved

    def _find(self) -> bool:
        """Bind the unknown of a waiting equation that holds for only one number, as 3 for `(?1*?1 + ?1)//2 = 6`."""
        for a, b, _ in self._waiting:
            difference = self.resolve(a) - self.resolve(b)
            if len(difference.names) != 1:
                continue
            (unknown,) = difference.names
            zeros = [k for k in range(MOST_TRIED) if difference.substitute({unknown: Size.of(k)}) == 0]
            if len(zeros) == 1:
                return self._bind(unknown, Size.of(zeros[0]))
        return False

    def settle(self, lengths: Iterable[Size]) -> bool:
        """Bind unknowns that have only one value for which no length is negative, as 2 in `5 - 2*?1` and `?1 - 2`.

        Returns whether each of them has a value.
        """
        low: dict[str, int] = {}
        high: dict[str, int] = {}
        for size in map(self.resolve, lengths):
            if size.is_integer and size.constant < 0:
                return False
            row = _equation(size)
            if row is None or len(row.left) != 1 or not row.right.is_integer:
                continue
            ((unknown, coefficient),) = row.left.items()
            bound = row.right.constant / coefficient
            if coefficient > 0:
                low[unknown] = max(low.get(unknown, 0), -(-bound.numerator // bound.denominator))
            else:
                most = bound.numerator // bound.denominator
                high[unknown] = min(high.get(unknown, most), most)
        for unknown, most in high.items():
            least = low.get(unknown, 0)
            if least == most:
                self._bound[unknown] = Size.of(least)
        return all(low.get(unknown, 0) <= most for unknown, most in high.items())

    def name_unknowns(self, sizes: Iterable[Size], names: Iterator[str]) -> None:
        """Name the remaining unknowns in `sizes`, in the order of appearance."""
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


def is_length(size: Size) -> bool:
    """Whether a size can be the length of an axis: an integer for all integers, and not negative for all of them."""
    return is_integral(size) and not (size.terms and all(c < 0 for _, c in size.terms))


def is_integral(size: Size) -> bool:
    """Whether a size is an integer for all integers; for degree d, integer values on 0..d suffice."""
    if all(coefficient.denominator == 1 for _, coefficient in size.terms):
        return True
    degrees: dict[object, int] = {}
    for monomial, _ in size.terms:
        for atom, power in monomial:
            degrees[atom] = max(degrees.get(atom, 0), power)
    if len(degrees) > 4 or max(degrees.values(), default=0) > 6:
        return False
    grids = (range(degree + 1) for degree in degrees.values())
    return all(_at(size, dict(zip(degrees, point, strict=True))).denominator == 1 for point in product(*grids))


def bounded(size: Size) -> Size:
    """Return `size` if it is not too long.

    Raises: NotSupported otherwise.
    """
    if len(size.key) > MAX_TEXT:
        raise NotSupported(f"a number or size of {len(size.key)} characters is too long: {size.key[:40]}...")
    return size


def times(a: Size, b: Size) -> Size:
    """Return the product of two sizes.

    Raises: NotSupported if it would be too long.
    """
    if len(a.terms) * len(b.terms) > MAX_TERMS:
        raise NotSupported(f"a product of sizes of {len(a.terms)} and {len(b.terms)} terms is too long")
    check_bits(sum(max((bits(c) for _, c in size.terms), default=0) for size in (a, b)))
    return bounded(a * b)


def bits(value: Fraction) -> int:
    """Return the length of an exact number in bits."""
    return max(value.numerator.bit_length(), value.denominator.bit_length())


def _at(size: Size, values: Mapping[object, int]) -> Fraction:
    total = Fraction(0)
    for monomial, coefficient in size.terms:
        for atom, power in monomial:
            coefficient *= values[atom] ** power
        total += coefficient
    return total


def has_solution(difference: Size) -> bool:
    """Whether unknowns can make `difference` 0, in nonnegative integers, as far as its coefficients show."""
    if "?" not in difference.key:
        return not difference.terms
    row = _equation(difference)
    if row is None or not row.right.is_integer:
        return True
    coefficients, value, _ = row
    scale = value.constant.denominator
    for c in coefficients.values():
        scale = scale * c.denominator // gcd(scale, c.denominator)
    whole = [int(c * scale) for c in coefficients.values()]
    if int(value.constant * scale) % gcd(*whole):
        return False
    one_sign = all(c > 0 for c in whole) or all(c < 0 for c in whole)
    return not one_sign or value.constant * whole[0] >= 0


def _all_zero(difference: Size) -> bool:
    """Whether a difference is a sum of unknowns of one sign, which is 0 only if all of them are."""
    row = _equation(difference)
    return row is not None and not row.right.terms and len({c > 0 for c in row.left.values()}) == 1


def _equation(difference: Size, *faults: Fault) -> Equation[Fault] | None:
    """Return the equation `difference = 0` between unknowns; None if it is not linear in them, or has no unknown."""
    linear = linear_part(difference, unknowns(difference))
    return Equation(linear[0], -linear[1], faults) if linear is not None and linear[0] else None


def _solve(difference: Size) -> tuple[str, Size] | None:
    """Return an unknown and its polynomial value that make `difference` zero, if there is one.

    The equation is linear in the unknown, or in one of its powers. A solution in other unknowns needs integer
    coefficients.
    """
    candidates = []
    for unknown in unknowns(difference):
        found = _factor_of(difference, unknown)
        if found is not None:
            candidates.append((unknown, *found))
    candidates.sort(key=lambda c: (abs(c[2].constant) != 1, not c[2].is_integer, int(c[0][1:])))
    for unknown, degree, factor, rest in candidates:
        value = quotient(-rest, factor)
        value = root(value, degree) if value is not None and degree > 1 and "?" not in value.key else value
        if value is not None and (
            ("?" not in value.key) or (degree == 1 and all(c.denominator == 1 for _, c in value.terms))
        ):
            return unknown, bounded(value)
    return None


def _factor_of(difference: Size, unknown: str) -> tuple[int, Size, Size] | None:
    """Return (degree, factor, rest) of `factor*unknown^degree + rest`; None if a size has another form."""
    degrees = {power for monomial, _ in difference.terms for atom, power in monomial if atom == unknown}
    if len(degrees) != 1:
        return None
    degree = degrees.pop()
    power = Size.of(1)
    for _ in range(degree):
        power = power * Size.of(unknown)
    rest = difference.substitute({unknown: ZERO})
    factor = quotient(difference - rest, power)
    if factor is None or "?" in factor.key or unknown in rest.names:
        return None
    return degree, factor, rest
