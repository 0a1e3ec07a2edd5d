"""Treats an entry `k[i]` of an index array that a call compares with a length like an axis of that length.

An entry matches a check, `k[j]` for all j < N, if its index is inside the range of j. Unchecked entries may be any
integers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import reduce

from matcalc.compiler.program import Checked
from matcalc.tensor.sizes.size import COMPOUND, Atom, Compound, Size
from matcalc.tensor.sizes.size_tree import ENTRY

Inside = Callable[[Size, Size], bool]


def entry(data: Size, *at: Size) -> Size:
    """Return the integer in an index array, `k[i]` or `J[i, k]`; a program uses such entries only as indices."""
    return reduce(COMPOUND[ENTRY], at, data)


def entries_in(sizes: Iterable[Size]) -> list[Compound]:
    """Return the entries of data that sizes contain, the outermost of nested ones, in order."""
    found: dict[Compound, None] = {}
    for size in sizes:
        stack = [size] if "[" in size.key else []
        while stack:
            for monomial, _ in stack.pop().terms:
                for atom, _ in monomial:
                    if isinstance(atom, str):
                        continue
                    if atom.operator == ENTRY:
                        found[atom] = None
                    else:
                        stack += [atom.left, atom.right]
    return list(found)


def every_entry(sizes: Iterable[Size]) -> list[Compound]:
    """Return the entries of data that sizes contain, at any depth."""
    found: dict[Compound, None] = {}
    waiting = entries_in(sizes)
    while waiting:
        atom = waiting.pop()
        found[atom] = None
        waiting += entries_in(atom.place[1])
    return list(found)


def replaced(size: Size, names: Mapping[Compound, Size]) -> Size:
    """Return a size with entries of data replaced."""

    def value(atom: Atom) -> Size:
        if isinstance(atom, str):
            return Size.of(atom)
        if atom.operator == ENTRY:
            data, at = atom.place
            return names.get(atom) or entry(data, *(replaced(index, names) for index in at))
        return COMPOUND[atom.operator](replaced(atom.left, names), replaced(atom.right, names))

    return size.over(value) if "[" in size.key else size


def lengths_of(atom: Compound, data: Sequence[Checked], is_inside: Inside) -> list[Size]:
    """Return the lengths that an entry was compared with."""
    found: dict[Size, None] = {}
    for checked in data:
        axes = dict(checked.axes)
        at = _matched(checked.index, entry(atom.left, atom.right), axes)
        if at is not None and all(is_inside(index, axes[axis]) for axis, index in at.items()):
            found[checked.length] = None
    return list(found)


def _matched(pattern: Size, size: Size, axes: Mapping[str, Size]) -> dict[str, Size] | None:
    """Return the point of its axes at which a pattern equals a size; None if there is none."""
    own = [axis for axis in axes if axis in pattern.names]
    if not own:
        return {} if pattern is size else None
    rest = pattern - Size.of(own[0])
    if len(own) == 1 and own[0] not in rest.names:
        return {own[0]: size - rest}
    one, other = entries_in([pattern]), entries_in([size])
    if len(one) != 1 or len(other) != 1:
        return None
    (data, spots), (same, indices) = one[0].place, other[0].place
    if data is not same or pattern is not entry(*one[0][1:]) or size is not entry(*other[0][1:]):
        return None
    found: dict[str, Size] = {}
    for spot, index in zip(spots, indices, strict=True):
        at = _matched(spot, index, axes)
        if at is None or any(found.setdefault(axis, value) is not value for axis, value in at.items()):
            return None
    return found
