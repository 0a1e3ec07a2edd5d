"""Finds data at which a function is not convex: a point and a direction, with small integers if possible.

The evidence is values alone: at the point, the function is above the mean of its values at equal distances on both
sides. Derivatives only guide the search. All points have the facts of their symbols.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain, islice, product
from typing import NamedTuple

import numpy as np

from matcalc.calculus.derive.differentiate import pushforward
from matcalc.calculus.evaluate.evaluate import evaluate
from matcalc.calculus.simplify.effort import work
from matcalc.calculus.simplify.simplify import simplify
from matcalc.errors import MatcalcError, NotSupported, ShapeError
from matcalc.evidence.numeric.boundary_points import Ends, has_jumps
from matcalc.evidence.numeric.counterexample import EQUAL, REFUSED, SMALL, TRIES, Comparer, Point
from matcalc.evidence.numeric.sampling import Array, defect, facts_of, projected
from matcalc.evidence.precise.values import evaluate_precisely
from matcalc.tensor.constructors import symbol
from matcalc.tensor.nodes.node import Node, toposort
from matcalc.tensor.sizes.size import Size
from matcalc.tensor.substitute import Batched, instantiate, spread

STEPS = tuple(2.0**-k for k in range(11))
"""Distances on both sides at which values are compared, along a direction with entries of about 1."""

KINK_STEPS = (1.0, 0.25)
"""Such distances if no second derivative selects the direction."""

WIDE_STEPS = (2.0, 3.0, 1.0)
"""Such distances that may lead across a pole."""

CLEAR = 1e-7
"""How far the value must be above the mean of the others, relative to the largest of the three."""

MOST_DIRECTIONS = 2000
"""The number of directions of -1, 0 and 1 tried at a point."""

MOST_BESIDE, MOST_ENDS = 6, 40
"""The number of directions tried at a jump, and of points at the ends of the sets, where entries are equal."""

MOST_UNITS = 64
"""The most varying numbers for which all second derivatives are computed."""

Data = Mapping[str, Array]
Direction = tuple[Data, float | None, Sequence[float]]
"""A direction, the second derivative along it or None, and the steps to try."""


class Bend(NamedTuple):
    """A point, a direction, and the values before, at and after the point, at distance `step`."""

    sizes: Mapping[str, int]
    data: Data
    direction: Data
    step: float
    values: tuple[float, float, float]
    curvature: float | None


class Searcher:
    """A scalar function with its varied variables, all its symbols and its sizes."""

    def __init__(self, f: Node, xs: Sequence[Node], symbols: Sequence[Node], sizes: Sequence[str]) -> None:
        self.f = f
        self.xs = xs
        self.comparer = Comparer(f, f, symbols, sizes)
        self.second = _batched_second(f, xs)

    def search(self, by_values: bool = False) -> Bend | None:
        """Return a bend at the smallest sizes and integers that show one; None if no random point has one.

        With `by_values`, no second derivatives are evaluated; only values between random points are compared.

        Raises: ValueError if the function is finite at no random point.
        """
        points = list(self.comparer.random())
        if not points:
            raise ValueError("finite at no random point")
        for is_wide, bends in ((False, self._narrow(points)), (True, self._wide(points))):
            if by_values and not is_wide:
                continue
            found = next(bends, None)
            if found is not None:
                return self._smallest(is_wide) or found
        return next(self._at_jumps(), None)

    def _at_jumps(self) -> Iterator[Bend]:
        """Yield bends at and beside points where the function may jump; none for a function without jumps."""
        comparer = self.comparer
        ends = Ends(comparer.symbols, comparer.sizes, comparer.lengths, comparer.fits)
        if not has_jumps(simplify(self.f)):
            return
        tied = islice(ends.points(), MOST_ENDS)
        for point in chain(filter(comparer.has_facts, ends.meetings([self.f])), tied):
            units = list(islice(self._units(point.data), MOST_UNITS + 1))
            for c in _simple(len(units), MOST_BESIDE):
                along = self._combined(units, c)
                for step in KINK_STEPS:
                    for side in (0.0, step, -step):
                        beside = self._moved(point.data, along, side)
                        yield from self._confirmed(point.sizes, beside, [(along, None, (step,))])

    def _narrow(self, points: Sequence[Point]) -> Iterator[Bend]:
        """Yield bends close to random points."""
        for p in points:
            yield from self._bends(p.sizes, p.data)

    def _wide(self, points: Sequence[Point]) -> Iterator[Bend]:
        """Yield bends between two random points, which may be separated by a pole."""
        for k, p in enumerate(points):
            q = next((q for q in points[k + 1 :] if q.sizes == p.sizes), p)
            middle = {x.name: (p.data[x.name] + q.data[x.name]) / 2 for x in self.xs}
            along = {x.name: (q.data[x.name] - p.data[x.name]) / 2 for x in self.xs}
            yield from self._confirmed(p.sizes, {**p.data, **middle}, [(along, None, (1.0,))])

    def _smallest(self, is_wide: bool) -> Bend | None:
        names = self.comparer.sizes
        for lengths in sorted(product(SMALL, repeat=len(names)), key=lambda s: (sum(s), s)):
            if sum(lengths) > max(6, len(names)):
                return None
            sizes = dict(zip(names, lengths, strict=True))
            shows = partial(self._shows, sizes, is_wide)
            for trial in range(TRIES):
                data = self.comparer.integers(sizes, trial)
                if data is not None and shows(data):
                    return next(self._bends(sizes, self.comparer.reduced(data, shows), is_wide), None)
        return None

    def _shows(self, sizes: Mapping[str, int], is_wide: bool, data: Data) -> bool:
        return next(self._bends(sizes, data, is_wide), None) is not None

    def _bends(self, sizes: Mapping[str, int], data: Data, is_wide: bool = False) -> Iterator[Bend]:
        """Yield directions along which the function bends down at a point, the simplest first."""
        if not is_wide:
            yield from self._confirmed(sizes, data, self._directions(sizes, data))
            return
        units = list(islice(self._units(data), MOST_UNITS + 1))
        directions = ((self._combined(units, c), None, WIDE_STEPS) for c in _simple(len(units), 6))
        yield from self._confirmed(sizes, data, directions)

    def _confirmed(self, sizes: Mapping[str, int], data: Data, directions: Iterable[Direction]) -> Iterator[Bend]:
        """Yield the bends that values show along directions, if they are more than rounding error."""
        for direction, curvature, steps in directions:
            for step in steps:
                values = self._values(sizes, data, direction, step)
                if values is None or not self._is_inside(data, direction, step):
                    continue
                before, here, after = values
                if not self._is_exact(sizes, data, direction, step, here - (before + after) / 2):
                    return
                yield Bend(sizes, data, direction, step, values, curvature)
                break

    def _values(
        self, sizes: Mapping[str, int], data: Data, along: Data, step: float
    ) -> tuple[float, float, float] | None:
        """Return the values before, at and after a point if the middle one is above the mean of the others."""
        points = [self.comparer.at(sizes, self._moved(data, along, t)) for t in (-step, 0.0, step)]
        before, here, after = (float(p.left) if p is not None else np.nan for p in points)
        size = max(abs(before), abs(here), abs(after))
        return (before, here, after) if here - (before + after) / 2 > CLEAR * size else None

    def _moved(self, data: Data, along: Data, t: float) -> Data:
        return {**data, **{x.name: data[x.name] + t * along[x.name] for x in self.xs}}

    def _is_inside(self, data: Data, along: Data, step: float) -> bool:
        """Whether the variables have their facts on both sides."""
        sides = [self._moved(data, along, t) for t in (-step, step)]
        return all(defect(side[x.name], fact) <= EQUAL for side in sides for x in self.xs for fact in facts_of(x))

    def _is_exact(self, sizes: Mapping[str, int], data: Data, along: Data, step: float, bend: float) -> bool:
        """Whether a bend is more than rounding error: most of it remains at many digits."""
        try:
            points = [self._moved(data, along, t) for t in (-step, 0.0, step)]
            before, here, after = (evaluate_precisely([self.f], p, sizes)[0].flat[0] for p in points)
        except (NotSupported, TypeError):
            return True
        except (*REFUSED, ShapeError):
            return False
        exact = float(here - (before + after) / 2)
        return bool(np.isfinite(exact) and exact > bend / 2)

    def _directions(self, sizes: Mapping[str, int], data: Data) -> Iterator[Direction]:
        """Yield directions of negative second derivative with steps to try; without derivatives, a few simple ones."""
        units = list(islice(self._units(data), MOST_UNITS + 1))
        H = self._hessian(units, sizes, data)
        if H is None or not np.any(H):
            yield from ((self._combined(units, c), None, KINK_STEPS) for c in _simple(len(units), 6))
            return
        w, V = np.linalg.eigh(H)
        if not w.size or w[0] >= -CLEAR * max(abs(w[0]), abs(w[-1])):
            return
        least = V[:, 0] / np.max(np.abs(V[:, 0]))
        rounded = (np.round(least * k) for k in (1, 2, 3, 4))
        for c in (*_simple(len(units), MOST_DIRECTIONS), *rounded, least):
            curvature = float(c @ H @ c)
            if curvature < CLEAR * w[0]:
                yield self._combined(units, c), curvature, STEPS

    def _units(self, data: Data) -> Iterator[tuple[str, Array]]:
        """Yield unit tangents of each variable, projected on its linear set."""
        for x in self.xs:
            shape = data[x.name].shape
            seen: list[Array] = []
            for entry in np.ndindex(*shape):
                unit = np.zeros(shape)
                unit[entry] = 1.0
                unit = projected(unit, facts_of(x))
                largest = float(np.max(np.abs(unit), initial=0.0))
                if largest and not any(np.array_equal(np.abs(unit / largest), np.abs(u)) for u in seen):
                    seen.append(unit / largest)
                    yield x.name, unit / largest

    def _combined(self, units: Sequence[tuple[str, Array]], coefficients: Array) -> Data:
        total: dict[str, Array] = {}
        for (name, unit), c in zip(units, coefficients, strict=True):
            total[name] = total.get(name, np.zeros(unit.shape)) + c * unit
        return total

    def _hessian(self, units: Sequence[tuple[str, Array]], sizes: Mapping[str, int], data: Data) -> Array | None:
        """Return second derivatives along all pairs of unit tangents; None if they cannot be computed."""
        if self.second is None or not 0 < len(units) <= MOST_UNITS:
            return None
        more = {}
        for x in self.xs:
            rows = [unit if name == x.name else np.zeros(data[x.name].shape) for name, unit in units]
            more[f"{LEFT}{x.name}"] = more[f"{RIGHT}{x.name}"] = np.stack(rows)
        try:
            H = np.asarray(evaluate([self.second], {**data, **more}, {**sizes, COUNT: len(units)})[0])
        except (*REFUSED, MatcalcError):
            return None
        return (H + H.T) / 2 if np.all(np.isfinite(H)) else None


MOST_WORK = 30_000
"""The work above which a second derivative is too long to be simplified; values are compared instead."""

LEFT, RIGHT, COUNT = "u#", "v#", "d#"
"""Prefixes of the names of directions and of their number; no user's name contains #."""


def _batched_second(f: Node, xs: Sequence[Node]) -> Node | None:
    """Return the matrix of second derivatives along all pairs of directions; None if there is none."""
    count = Size.of(COUNT)
    bound, moved = {}, []
    for number, mark in enumerate((LEFT, RIGHT)):
        tangents = {x: symbol(f"{mark}{x.name}", x.shape) for x in xs}
        moved.append(tangents)
        for x, tangent in tangents.items():
            bound[tangent] = Batched(symbol(tangent.name, (count, *x.shape)), (number,))
    try:
        q = pushforward(simplify(pushforward(simplify(f), moved[0])), moved[1])
        if sum(map(work, toposort([q]))) > MOST_WORK:
            return None
        q = simplify(q)
        return spread(instantiate(q, bound, {}, (count, count)), (0, 1), (count, count))
    except MatcalcError:
        return None


def _simple(count: int, most: int) -> Iterator[Array]:
    """Yield directions of -1, 0 and 1 up to sign, those with fewest nonzero entries first."""
    made = 0
    for weight in range(1, min(count, 4) + 1):
        for entries in product((0, 1, -1), repeat=count) if 3**count <= most * 3 else _sparse(count, weight):
            vector = np.array(entries, dtype=float)
            nonzero = vector[vector != 0]
            if len(nonzero) == weight and nonzero[0] > 0:
                yield vector
                made += 1
                if made == most:
                    return


def _sparse(count: int, weight: int) -> Iterator[tuple[int, ...]]:
    if weight > 2:
        return
    for i in range(count):
        for j in range(i, count) if weight == 1 else range(i + 1, count):
            for sign in (1, -1):
                if weight == 1 and (j > i or sign < 0):
                    continue
                entries = [0] * count
                entries[i] = 1
                entries[j] = sign if weight == 2 else 1
                yield tuple(entries)
