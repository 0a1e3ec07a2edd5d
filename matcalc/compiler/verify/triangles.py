"""Replaces positions in a triangle by axes: `i + j*n - j*(j + 1)/2` with i >= j is a number below n*(n + 1)/2.

Written out, a position is quadratic. Its product with a stride is a polynomial of such a degree that no certificate is
found. As an axis it is a digit like any other: questions about `kron(vech(A), B)` become questions about `kron(x, B)`.
That the number is inside its range is proved separately, without the terms around it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from math import lcm

from matcalc.tensor.sizes.size import COMPOUND, Compound, Size
from matcalc.tensor.sizes.size_equations import linear_in, quotient

Inside = Callable[[Size, Size], bool]
FRESH = "@"  # prefix of names of positions; users' names cannot have it


@dataclass(frozen=True, slots=True)
class Triangle:
    """Two axes that occur only in a position, a named number from zero to below `length`."""

    name: str
    axes: tuple[str, str]
    position: Size
    length: Size


@dataclass(frozen=True, slots=True)
class Folded:
    """Sizes in which positions are names, with the lengths of these."""

    sizes: tuple[Size, ...]
    axes: Mapping[str, Size]
    triangles: tuple[Triangle, ...]


def folded(sizes: Sequence[Size], axes: Mapping[str, Size], count: int, is_inside: Inside) -> Folded | None:
    """Return sizes with positions as names; None if the first `count` sizes have none.

    `is_inside(position, length)` returns whether 0 <= position < length is proved.
    """
    found: list[Triangle] = []
    names = {name for size in sizes[:count] for name in size.names}
    earlier = sum(axis.startswith(FRESH) for axis in axes)
    for pair, position in dict.fromkeys(_positions(sizes, axes)):
        if not names.issuperset(pair) or any(set(pair) & set(t.axes) for t in found):
            continue
        triangle = _measured(f"{FRESH}{earlier + len(found)}", pair, position, axes, is_inside)
        if triangle is not None:
            found.append(triangle)
    if not found:
        return None
    named = tuple(_named(s, found) for s in sizes)
    pairs = list(zip(sizes[:count], named, strict=False))
    if not any(t.axes[1] in old.names and t.axes[1] not in new.names for t in found for old, new in pairs):
        return None
    lengths = {t.name: t.length for t in found}
    return Folded(named, lengths, tuple(found))


# ---- positions


def _positions(sizes: Iterable[Size], axes: Mapping[str, Size]) -> Iterator[tuple[tuple[str, str], Size]]:
    """Yield pairs of axes, the second of which is squared, with their terms in a size divided by the stride."""
    for size in _polynomials(sizes):
        present = [a for a in axes if a in size.names]
        for low in (a for a in present if any((a, 2) in m for m, _ in size.terms)):
            for high in (a for a in present if a != low):
                part = _part(size, (high, low))
                split = linear_in(part, high)
                stride = None if split is None else split[0]
                if stride is None or not stride.terms or not set(axes).isdisjoint(stride.names):
                    continue
                position = quotient(part, stride)
                if position is not None:
                    yield (high, low), position


def _polynomials(sizes: Iterable[Size]) -> Iterator[Size]:
    """Yield sizes, and those inside their quotients, remainders, minima and maxima."""
    stack = list(sizes)
    while stack:
        size = stack.pop()
        yield size
        stack += [side for m, _ in size.terms for a, _ in m if isinstance(a, Compound) for side in (a.left, a.right)]


def _part(size: Size, axes: tuple[str, str]) -> Size:
    """Return the terms of a size in which one of two axes is a factor."""
    return sum((term for term in size.parts if any(atom in axes for atom, _ in term.terms[0][0])), Size.of(0))


def _measured(
    name: str, pair: tuple[str, str], position: Size, axes: Mapping[str, Size], is_inside: Inside
) -> Triangle | None:
    """Return a position counted from its least corner, if it lies between two corners."""
    ends = [(Size.of(0), axes[axis] - 1) for axis in pair]
    for corner in product((0, 1), repeat=len(pair)):
        least = position.substitute({axis: end[k] for axis, end, k in zip(pair, ends, corner, strict=True)})
        last = position.substitute({axis: end[1 - k] for axis, end, k in zip(pair, ends, corner, strict=True)})
        length = last - least + 1
        if is_inside(position - least, length):
            return Triangle(name, pair, position - least, length)
    return None


# ---- substitution


def _named(size: Size, triangles: Sequence[Triangle]) -> Size:
    """Return a size with positions as names, and with exact quotients as polynomials."""
    total = size.over(lambda atom: Size.of(atom) if isinstance(atom, str) else _named_compound(atom, triangles))
    for triangle in triangles:
        total = _without(total, triangle)
    return total


def _without(size: Size, triangle: Triangle) -> Size:
    """Return a size with a position for its two axes, unchanged if these axes would remain in it."""
    high, low = triangle.axes
    if low not in size.names:
        return size
    found = size.substitute({high: Size.of(triangle.name) - (triangle.position - Size.of(high))})
    return found if {high, low}.isdisjoint(found.names) else size


def _named_compound(compound: Compound, triangles: Sequence[Triangle]) -> Size:
    left, right = (_named(side, triangles) for side in (compound.left, compound.right))
    return exact(Compound(compound.operator, left, right)) or COMPOUND[compound.operator](left, right)


def exact(compound: Compound) -> Size | None:
    """Return the polynomial that a quotient by a number equals, as `n*(n + 1)//2` does; None if there is none."""
    if compound.operator != "//" or not compound.right.is_integer or compound.right.constant <= 0:
        return None
    if any(isinstance(atom, Compound) for m, _ in compound.left.terms for atom, _ in m):
        return None
    whole = compound.left * (1 / compound.right.constant)
    return whole if _is_integral(whole) else None


def _is_integral(polynomial: Size) -> bool:
    """Whether a polynomial is an integer for all integers: its fractional parts are periodic."""
    period = lcm(*(c.denominator for _, c in polynomial.terms))
    values = [polynomial]
    for name in polynomial.names:
        if len(values) * period > 256:
            return False
        values = [v.substitute({name: Size.of(k)}) for v in values for k in range(period)]
    return all(v.constant.denominator == 1 for v in values)
