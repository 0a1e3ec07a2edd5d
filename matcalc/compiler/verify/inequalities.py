"""Proves facts about the integers of a Program: bounds of indices, and that points map to distinct entries.

Names are sizes and axes; all are integers that are not negative. Most questions are about plain axes, and bounds alone
answer them: an axis is at most its size less one, and a size is at least one if an axis runs over it. Integer sets
(`integer_sets`) decide only the questions that remain open.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from matcalc.compiler.entrywise import At, Guard, Index
from matcalc.compiler.program import Checked
from matcalc.compiler.verify.entries import entries_in, lengths_of, replaced
from matcalc.compiler.verify.integer_sets import REMEMBERED, System, is_impossible
from matcalc.compiler.verify.triangles import Folded, folded
from matcalc.tensor.sizes.size import Compound, Size, is_nonnegative
from matcalc.tensor.sizes.size_equations import linear_in

PRIME = "'"
DATUM = "$"  # prefix of the name of an entry of data as an axis
HOPS = 2  # steps from the names in a question to related facts


@dataclass(frozen=True)
class Known:
    """Sizes known to be nonnegative or zero, axes with lengths (0 <= axis < length), and `data` checked as indices."""

    nonnegative: tuple[Size, ...] = ()
    zero: tuple[Size, ...] = ()
    axes: Mapping[str, Size] = field(default_factory=dict)
    data: tuple[Checked, ...] = ()

    def at(self, axes: Mapping[str, Size], guards: Iterable[Guard] = ()) -> Known:
        """Return the facts at a point of a loop where the guards hold."""
        guards = tuple(guards)
        more = tuple(g.size for g in guards if g.relation == ">=")
        zero = tuple(g.size for g in guards if g.relation == "==")
        return Known((*self.nonnegative, *more), (*self.zero, *zero), {**self.axes, **axes}, self.data)

    def without(self, sizes: Sequence[Size]) -> Known:
        """Return the facts without the assumption that these sizes are not negative."""
        return Known(tuple(s for s in self.nonnegative if s not in sizes), self.zero, self.axes, self.data)

    def plain(self, sizes: Sequence[Size]) -> tuple[Known, list[Size], list[str]]:
        """Return the facts and sizes with entries of data as axes, of the lengths that they were compared with.

        The third result lists the entries that depend on an axis.
        """
        atoms = entries_in((*sizes, *self.nonnegative, *self.zero))
        if not atoms:
            return self, list(sizes), []
        axes, more, names = dict(self.axes), [], {}
        bare = Known(
            tuple(s for s in self.nonnegative if not entries_in([s])),
            tuple(s for s in self.zero if not entries_in([s])),
            self.axes,
            self.data,
        )
        for number, atom in enumerate(atoms):
            name = f"{DATUM}{number}"
            names[atom] = Size.of(name)
            lengths = lengths_of(atom, self.data, bare.is_inside)
            if lengths:
                axes[name] = lengths[0]
                more += [length - 1 - Size.of(name) for length in lengths[1:]]
            else:  # nothing is known, not even its sign
                names[atom] = Size.of(f"{name}+") - Size.of(f"{name}-")
        found = [replaced(s, names) for s in (*sizes, *self.nonnegative, *self.zero)]
        first, last = len(sizes), len(sizes) + len(self.nonnegative)
        known = Known((*found[first:last], *more), tuple(found[last:]), axes)
        varying = [n for atom, size in names.items() if _moves(atom, self.axes) for n in size.names]
        return known, found[:first], varying

    def system(self) -> System:
        """Return all facts as inequalities."""
        inside = [length - 1 - Size.of(axis) for axis, length in self.axes.items()]
        return System((*inside, *self.nonnegative), self.zero)

    def about(self, size: Size) -> System:
        """Return the facts about the names in a size, and about the names in those facts."""
        whole = self.system()
        names = set(size.names)
        for _ in range(HOPS):
            names |= {n for s in (*whole.nonnegative, *whole.zero) if not names.isdisjoint(s.names) for n in s.names}
        return System(
            *(tuple(s for s in sizes if names.issuperset(s.names)) for sizes in (whole.nonnegative, whole.zero))
        )

    # ---- bounds

    def is_nonnegative(self, size: Size) -> bool:
        """Whether it is proved that `size >= 0`."""
        if is_nonnegative(size):
            return True
        known, (size,), _ = self.plain([size])
        return _is_nonnegative(known.nonnegative, known.zero, tuple(known.axes.items()), size)

    def is_positive(self, size: Size, neighbour: Size) -> bool:
        """Whether it is proved that `size >= 1`; entries of data in both sizes count as axes."""
        known, (size, _), _ = self.plain([size, neighbour])
        return known.is_nonnegative(size - 1)

    def is_assumed(self, size: Size) -> bool:
        """Whether an assumption implies that `size >= 0`, perhaps with slack."""
        return any(is_nonnegative(size - assumption) for assumption in self.nonnegative)

    def is_zero(self, size: Size) -> bool:
        """Whether it is proved that `size == 0`."""
        return size == 0 or (self.is_nonnegative(size) and self.is_nonnegative(-size))

    def is_inside(self, index: Index, length: Size) -> bool:
        """Whether it is proved that 0 <= index < length."""
        if isinstance(index, str) and self.axes.get(index) is length:
            return True
        index = Size.of(index)
        return self.is_nonnegative(index) and self.is_nonnegative(length - 1 - index)

    def is_bounded(self, size: Size) -> bool:
        """Whether a size is nonnegative with each axis at the end where the size is least."""
        for axis, length in self.axes.items():
            if axis not in size.names:
                continue
            split = linear_in(size, axis)
            if split is None:
                return False
            slope, rest = split
            if is_nonnegative(slope):
                size = rest
            elif is_nonnegative(-slope):
                size = rest + slope * (length - 1)
            else:
                return False
        return is_nonnegative(size) or is_nonnegative(self._from_one(size))

    def _from_one(self, size: Size) -> Size:
        """Return a size with n + 1 for each name n that is the length of an axis, and so at least one."""
        ones = {s.key: s + 1 for s in self.axes.values() if s.is_name}
        return size.substitute(ones)

    def is_never(self, size: Size) -> bool:
        """Whether `size >= 0` contradicts the facts."""
        known, (size,), _ = self.plain([size])
        return is_impossible(known.about(size).also((size,)))

    # ---- triangles

    def _is_plainly_inside(self, index: Size, length: Size) -> bool:
        return self.is_never(-index - 1) and self.is_never(index - length)

    def folded(self, sizes: Sequence[Size]) -> tuple[Known, Folded] | None:
        """Return the facts and sizes with positions in triangles as axes; None if there are none."""
        count = len(self.nonnegative)
        found = folded((*sizes, *self.nonnegative, *self.zero), self.axes, len(sizes), self._is_plainly_inside)
        if found is None:
            return None
        known = found.sizes[len(sizes) :]
        return Known(known[:count], known[count:], {**self.axes, **found.axes}), found

    # ---- maps of points into entries

    def is_injective(self, at: At, axes: Sequence[str]) -> bool:
        """Whether two points of the axes never share the entry `at`."""
        known, indices, varying = self.plain([Size.of(index) for index in at])
        if known is not self:  # an entry of data may have any value at another point
            moving = [name for name in varying if any(name in index.names for index in indices)]
            return known.axes.keys() >= {*moving} and known.is_injective(tuple(indices), [*axes, *moving])
        if is_evidently_injective(at, axes):
            return True
        if not set(axes) <= {name for index in (*at, *self.zero) for name in _names(index)}:
            return False
        if set(axes) <= {axis for index in at for axis in self._digits(index, axes)}:
            return True
        if self._is_injective_folded(at, axes):
            return True
        other = {axis: Size.of(axis + PRIME) for axis in self.axes}
        there = Known(
            tuple(s.substitute(other) for s in self.nonnegative),
            tuple(s.substitute(other) for s in self.zero),
            {axis + PRIME: length for axis, length in self.axes.items()},
        ).system()
        same = tuple(Size.of(index) - Size.of(index).substitute(other) for index in at)
        both = self.system().also(there.nonnegative, (*there.zero, *same))
        left = list(axes)
        while left:  # an axis proved equal makes the others easier to prove
            agreed = next((a for a in left if is_impossible(both.also((Size.of(a) - other[a] - 1,)))), None)
            if agreed is None:
                return False
            left.remove(agreed)
            both = both.substitute({agreed + PRIME: Size.of(agreed)})
        return True

    def _is_injective_folded(self, at: At, axes: Sequence[str]) -> bool:
        """Whether an entry determines the positions in triangles, and these their axes."""
        inner = self.folded([Size.of(index) for index in at])
        if inner is None:
            return False
        known, found = inner
        indices = found.sizes[: len(at)]
        inside = {axis for t in found.triangles for axis in t.axes}
        if not inside.isdisjoint(name for index in indices for name in index.names) or not inside <= set(axes):
            return False
        if inside == set(axes) and len(found.triangles) == 1:  # the position itself
            return False
        outside = [*(a for a in axes if a not in inside), *(t.name for t in found.triangles)]
        return all(self.is_injective((t.position,), t.axes) for t in found.triangles) and known.is_injective(
            indices, outside
        )

    def _digits(self, index: Index, axes: Sequence[str]) -> list[str]:
        """Return the axes that an index determines, as a number of mixed radix determines its digits."""
        index = Size.of(index)
        weights: dict[str, Size] = {}
        for axis in (a for a in axes if a in index.names):
            split = linear_in(index, axis)
            if split is None or set(axes) & set(split[0].names):
                return []
            weight = split[0]
            weights[axis] = weight if is_nonnegative(weight) else -weight
        left, span = list(weights), Size.of(1)
        while left:
            reach = {a: weights[a] * self.axes[a] for a in left}
            lowest = next(
                (a for a in left if all(self.is_bounded(weights[b] - reach[a]) for b in left if b != a)), None
            )
            if lowest is None or not self.is_bounded(weights[lowest] - span):
                return []
            left.remove(lowest)
            span = reach[lowest]
        return list(weights)


def known_of(assumed: Sequence[Size], data: Sequence[Checked]) -> Known:
    """Return the facts about sizes and data; an index that is a plain name counts as an axis."""
    axes: dict[str, Size] = {}
    more = []
    for checked in data:
        if checked.index.is_name and axes.setdefault(checked.index.key, checked.length) is not checked.length:
            more.append(checked.length - 1 - checked.index)
    return Known((*assumed, *more), (), axes, tuple(data))


@lru_cache(maxsize=REMEMBERED)
def _is_nonnegative(
    nonnegative: tuple[Size, ...], zero: tuple[Size, ...], axes: tuple[tuple[str, Size], ...], size: Size
) -> bool:
    known = Known(nonnegative, zero, dict(axes))
    if known.is_bounded(size) or known.is_assumed(size):
        return True
    inner = known.folded([size])
    if inner is not None and inner[0].is_nonnegative(inner[1].sizes[0]):
        return True
    return known.is_never(-size - 1)


def is_evidently_injective(at: At, axes: Sequence[str]) -> bool:
    """Whether each axis is the only one in some index of `at`, plain or shifted by a size."""
    alone = set()
    for index in at:
        own = [axis for axis in axes if axis in _names(index)]
        if len(own) == 1 and (index == own[0] or _is_shifted(Size.of(index), own[0])):
            alone.add(own[0])
    return alone >= set(axes)


def _moves(atom: Compound, axes: Container[str]) -> bool:
    """Whether an entry of data depends on an axis."""
    return any(name in axes for index in atom.place[1] for name in index.names)


def _is_shifted(size: Size, axis: str) -> bool:
    return any(axis not in rest.names for rest in (size - Size.of(axis), size + Size.of(axis)))


def _names(index: Index) -> tuple[str, ...]:
    return (index,) if isinstance(index, str) else index.names
