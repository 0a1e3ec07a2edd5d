"""Sizes of tensors: polynomials in size names with exact coefficients.

The arguments of `matrix(2*n, m - 1)` are sizes. A size is a polynomial over atoms: names, and floor divisions, minima
and maxima that cannot be evaluated. Equal sizes are one object, so shapes compare quickly.
Sizes know arithmetic but not tensors; equations between them are solved where shapes are inferred.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction
from functools import lru_cache, partial
from hashlib import blake2b
from math import prod
from threading import Lock
from typing import NamedTuple, TypeVar

from matcalc.errors import ShapeError
from matcalc.language.exact_numbers import check_bits
from matcalc.language.write import text
from matcalc.locks import held_at_fork
from matcalc.tensor.sizes.size_tree import ENTRY, atom_text, term_tree, tree_of_terms

REMEMBERED = 256  # cached results of each operation: they serve nine of ten calls in a derivation


class Compound(NamedTuple):
    """A non-polynomial part of a size: `//`, `%`, `min` or `max` of two sizes; in an index, an entry of data.

    An entry of a matrix of data is the entry of a row: the left side of `J[i, k]` is `J[i]`.
    """

    operator: str
    left: Size
    right: Size

    @property
    def place(self) -> tuple[Size, tuple[Size, ...]]:
        """The data of an entry, a name, and an index for each of their axes."""
        left, at = self.left, [self.right]
        while not left.is_name:
            row = left.terms[0][0][0][0]
            assert isinstance(row, Compound)
            left, at = row.left, [row.right, *at]
        return left, tuple(at)


Atom = str | Compound
Monomial = tuple[tuple[Atom, int], ...]
Term = TypeVar("Term")
Number = TypeVar("Number", Fraction, int)


class Size:
    """An immutable size; equal sizes are the same object. Compare with `==` to a Size or an int."""

    __slots__ = ("__weakref__", "_hash", "key", "names", "terms")

    key: str
    _hash: int
    terms: tuple[tuple[Monomial, Fraction], ...]
    names: tuple[str, ...]
    """The names that occur, sorted."""

    @staticmethod
    def of(value: int | str | Fraction | Size) -> Size:
        """Return the size of a number or a name."""
        return value if isinstance(value, Size) else _plain(value)

    @property
    def is_integer(self) -> bool:
        """Whether this is a number, without names."""
        return not self.terms or (len(self.terms) == 1 and self.terms[0][0] == ())

    @property
    def constant(self) -> Fraction:
        """The term without names."""
        return next((c for monomial, c in self.terms if monomial == ()), Fraction(0))

    @property
    def parts(self) -> list[Size]:
        """The terms, each as a size."""
        return [polynomial({monomial: coefficient}) for monomial, coefficient in self.terms]

    @property
    def is_name(self) -> bool:
        """Whether this is one name and nothing else."""
        return self.names == (self.key,)

    @property
    def divisors(self) -> list[Size]:
        """The divisors of quotients and remainders at any depth."""
        found: list[Size] = []
        stack = [self]
        while stack:
            for monomial, _ in stack.pop().terms:
                for atom, _ in monomial:
                    if not isinstance(atom, str):
                        stack += [atom.left, atom.right]
                        found += [atom.right] if atom.operator in ("//", "%") else []
        return found

    def substitute(self, values: Mapping[str, Size]) -> Size:
        """Return this size with names replaced by sizes."""
        if self.is_name:
            return values.get(self.key, self)
        if not any(name in values for name in self.names):
            return self

        def value(atom: Atom) -> Size:
            if isinstance(atom, str):
                return values.get(atom) or Size.of(atom)
            return COMPOUND[atom.operator](atom.left.substitute(values), atom.right.substitute(values))

        return self.over(value)

    def over(self, value: Callable[[Atom], Size]) -> Size:
        """Return this polynomial with each atom replaced by a size."""
        total: list[tuple[Monomial, Fraction]] = []
        for monomial, coefficient in self.terms:
            term = ONE
            for atom, power in monomial:
                factor = value(atom)
                for _ in range(power):
                    term = factor if term is ONE else term * factor
            total += term.terms if coefficient == 1 else [(inner, c * coefficient) for inner, c in term.terms]
        return polynomial(collected(total))

    def evaluate(self, values: Mapping[str, int]) -> int:
        """Return the integer value of this size for these values of its names.

        Raises: ShapeError if a name has no value or the result is not an integer.
        """
        if self.names == (self.key,) and type(known := values.get(self.key)) is int:
            return known
        found = self.amount(values)
        if found.denominator != 1:
            raise ShapeError(f"the size {self} is {found}, which is not an integer")
        return int(found)

    def amount(self, values: Mapping[str, int]) -> Fraction:
        """Return the value of this size for these values of its names; not always an integer, for flops (`n*n*n/3`).

        Raises: ShapeError if a name has no value.
        """
        missing = [name for name in self.names if name not in values]
        if missing:
            raise ShapeError(f"the size {self} needs a value for {', '.join(missing)}")
        return self.substitute({name: Size.of(values[name]) for name in self.names}).constant

    def __int__(self) -> int:
        if not self.is_integer or self.constant.denominator != 1:
            raise ShapeError(f"the size {self} is not a known integer")
        return int(self.constant)

    def __add__(self, other: Size | int) -> Size:
        return _total(self, Size.of(other))

    __radd__ = __add__

    def __neg__(self) -> Size:
        return _product(self, Size.of(-1))

    def __sub__(self, other: Size | int) -> Size:
        return self + -Size.of(other)

    def __rsub__(self, other: int) -> Size:
        return Size.of(other) - self

    def __mul__(self, other: Size | int | Fraction) -> Size:
        return _product(self, Size.of(other))

    __rmul__ = __mul__

    def __floordiv__(self, other: Size | int) -> Size:
        return floordiv(self, Size.of(other))

    def __mod__(self, other: Size | int) -> Size:
        return modulo(self, Size.of(other))

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        return isinstance(other, int) and self.is_integer and self.constant == other

    def __hash__(self) -> int:
        return self._hash

    def __reduce__(self) -> tuple[object, ...]:
        return (polynomial, (dict(self.terms),))

    def __str__(self) -> str:
        return self.key

    def __repr__(self) -> str:
        return f"Size({self.key})"


@lru_cache(maxsize=REMEMBERED)
def _plain(value: int | str | Fraction) -> Size:
    return polynomial({((value, 1),): Fraction(1)} if isinstance(value, str) else {(): Fraction(value)})


def collected(terms: Iterable[tuple[Term, Number]]) -> dict[Term, Number]:
    """Return terms with the sums of their coefficients, without those that cancel."""
    found: dict[Term, Number] = {}
    for term, coefficient in terms:
        found[term] = found[term] + coefficient if term in found else coefficient
    return {term: coefficient for term, coefficient in found.items() if coefficient}


def total(sizes: Iterable[Size]) -> Size:
    """Return the sum of sizes, without interning partial sums."""
    return polynomial(collected(term for size in sizes for term in size.terms))


@lru_cache(maxsize=REMEMBERED)
def _total(a: Size, b: Size) -> Size:
    return polynomial(collected(a.terms + b.terms))


@lru_cache(maxsize=REMEMBERED)
def _product(a: Size, b: Size) -> Size:
    return polynomial(collected((_join(left, right), c * d) for left, c in a.terms for right, d in b.terms))


def floordiv(a: Size, b: Size) -> Size:
    """Return a // b, evaluated if possible."""
    if b == 0:
        raise ShapeError(f"the size {a} is divided by zero")
    if a.is_integer and b.is_integer:
        return Size.of(a.constant // b.constant)
    if b.is_integer:
        exact = a * (1 / b.constant)
        if all(c.denominator == 1 for _, c in exact.terms):
            return exact
    return _compound("//", a, b)


def modulo(a: Size, b: Size) -> Size:
    """Return a % b, evaluated if possible."""
    if a.is_integer and b.is_integer and b != 0:
        return Size.of(a.constant % b.constant)
    return _compound("%", a, b)


def is_nonnegative(size: Size) -> bool:
    """Return whether a size is provably >= 0 for names >= 0: no negative coefficient, and min(a, b) <= a, b."""
    pending, tried = [size], 0
    while pending and tried < 16:
        size, tried = pending.pop(), tried + 1
        if not all(_is_nonnegative_atom(atom) for monomial, _ in size.terms for atom, _ in monomial):
            return False
        negative = [(monomial, c) for monomial, c in size.terms if c < 0]
        if not negative:
            return True
        for monomial, c in negative:
            for atom, power in monomial:
                if isinstance(atom, Compound) and atom.operator == "min" and power == 1:
                    rest = polynomial({tuple(a for a in monomial if a[0] != atom): c})
                    without = size - polynomial({monomial: c})
                    pending += [without + rest * atom.left, without + rest * atom.right]
    return False


def _is_nonnegative_atom(atom: Atom) -> bool:
    """Return whether a name, quotient, remainder, minimum or maximum is provably >= 0; differences in it may not be."""
    if isinstance(atom, str):
        return True
    left, right = is_nonnegative(atom.left), is_nonnegative(atom.right)
    return {"%": right, "max": left or right, ENTRY: False}.get(atom.operator, left and right)


def _extremum(operator: str, a: Size, b: Size) -> Size:
    """Return the extremum of the operands of two extrema, sorted, without those that are provably not extreme."""
    remaining: list[Size] = []
    for size in (*_operands(operator, a), *_operands(operator, b)):
        if not any(_decides(operator, other, size) for other in remaining):
            remaining = [*(other for other in remaining if not _decides(operator, size, other)), size]
    first, *rest = sorted(remaining, key=str)
    for size in rest:
        first = _compound(operator, first, size)
    return first


minimum, maximum = partial(_extremum, "min"), partial(_extremum, "max")
"""The smaller and the larger of two sizes, as atoms if their difference has no known sign."""


def _operands(operator: str, size: Size) -> list[Size]:
    """Return the operands of nested minima or maxima."""
    found: list[Size] = []
    pending = [size]
    while pending:
        size = pending.pop()
        atom = size.terms[0][0][0][0] if size.terms and size.terms[0][0] else None
        if isinstance(atom, Compound) and atom.operator == operator and size is polynomial({((atom, 1),): Fraction(1)}):
            pending += [atom.right, atom.left]
        else:
            found.append(size)
    return found


def _decides(operator: str, one: Size, other: Size) -> bool:
    """Return whether the extremum of two sizes is provably the first."""
    return _is_at_most(one, other) if operator == "min" else _is_at_most(other, one)


def _is_at_most(a: Size, b: Size) -> bool:
    """Return whether one size is provably at most another: `min(m, n)` is at most n, and n at most `max(m, n)`."""
    (monomial, c), *others = b.terms or (((), Fraction(0)),)
    atom = monomial[0][0] if len(monomial) == 1 and c == 1 and not others else None
    if isinstance(atom, Compound) and atom.operator == "max" and monomial[0][1] == 1:
        return a in (atom.left, atom.right)
    return is_nonnegative(b - a)


COMPOUND: dict[str, Callable[[Size, Size], Size]] = {
    ENTRY: lambda data, index: _compound(ENTRY, data, index),
    "//": floordiv,
    "%": modulo,
    "min": minimum,
    "max": maximum,
}


def _compound(operator: str, a: Size, b: Size) -> Size:
    return polynomial({((Compound(operator, a, b), 1),): Fraction(1)})


def _join(left: Monomial, right: Monomial) -> Monomial:
    return tuple(sorted(collected(left + right).items(), key=lambda item: atom_text(item[0])))


def volume(shape: Iterable[Size]) -> Size:
    """Return the number of entries of an array."""
    return prod(shape, start=ONE)


@lru_cache(maxsize=REMEMBERED)
def _monomial_text(monomial: Monomial) -> str:
    return text(term_tree(monomial))


def _names(terms: tuple[tuple[Monomial, Fraction], ...]) -> tuple[str, ...]:
    found: set[str] = set()
    for monomial, _ in terms:
        for atom, _ in monomial:
            found.update((atom,) if isinstance(atom, str) else (*atom.left.names, *atom.right.names))
    return tuple(sorted(found))


_interned: weakref.WeakValueDictionary[str, Size] = weakref.WeakValueDictionary()
_by_terms: weakref.WeakValueDictionary[frozenset[tuple[Monomial, Fraction]], Size] = weakref.WeakValueDictionary()
_lock = held_at_fork(Lock())


def polynomial(terms: dict[Monomial, Fraction]) -> Size:
    """Return the one size that has these terms."""
    nonzero = [(monomial, c) for monomial, c in terms.items() if c]
    content = frozenset(nonzero)
    found = _by_terms.get(content)  # a look-up by the text, the key of a size, takes ten times as long
    if found is not None:
        return found
    check_bits(max((max(c.numerator.bit_length(), c.denominator.bit_length()) for _, c in nonzero), default=0))
    nonzero.sort(key=lambda t: (-sum(power for _, power in t[0]), _monomial_text(t[0])))
    canonical = tuple(nonzero)
    key = text(tree_of_terms(canonical))
    with _lock:
        found = _interned.get(key)
        if found is None:
            size = object.__new__(Size)
            size.key, size.terms, size.names = key, canonical, _names(canonical)
            size._hash = int.from_bytes(blake2b(key.encode(), digest_size=8).digest(), "big")
            found = _interned[key] = size
        _by_terms[content] = found
        return found


ONE = Size.of(1)
