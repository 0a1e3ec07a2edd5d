"""Data at which two formulas differ: small integers first, within the facts of their symbols.

Both are evaluated by plain NumPy. Where they agree at all points tried, nothing is returned; the search for a
difference begins with random points, which decide, and only then looks for small ones, which can be read. A point at
which the first formula has a value and the second none is a difference of its own kind; it counts only if the same
holds at many digits, where a singular matrix is singular and nothing overflows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import InitVar, dataclass
from functools import partial
from itertools import product
from typing import NamedTuple

import numpy as np

from matcalc.calculus.evaluate.evaluate import evaluate
from matcalc.errors import NotSupported, ShapeError
from matcalc.evidence.explain.size_conditions import conditions
from matcalc.evidence.numeric.sampling import MODES, Array, defect, drawn_for, facts_of, places, shape_at, whole
from matcalc.evidence.precise.values import evaluate_precisely
from matcalc.tensor.lookups import is_index, lengths_of
from matcalc.tensor.node import Node
from matcalc.tensor.sizes_from_shapes import Condition, holds

POINTS = 20
"""Random points at which formulas that cannot be proved equal are compared."""

EQUAL, DIFFERENT = 1e-8, 1e-6
"""Relative differences up to which values are equal, and from which on they differ; between them neither is known."""

NOTHING = 1e-30
"""Values at many digits are held against this part of the data, lest their own rounding counts."""

SMALL = (1, 2, 3)
TRIES = 12
EDGES = (0.0, 1.0, -1.0)

REFUSED = (ArithmeticError, ValueError, IndexError, np.linalg.LinAlgError)


LARGEST = 1e20
"""Beyond it a value at many digits, relative to the data, is that of a singular matrix as rounding left it."""


class Point(NamedTuple):
    """Data with the values of both formulas: the first is finite, the second NaN where it has no value."""

    sizes: Mapping[str, int]
    data: Mapping[str, Array]
    left: Array
    right: Array

    @property
    def is_common(self) -> bool:
        """Whether both have a value."""
        return bool(np.all(np.isfinite(self.right)))

    @property
    def difference(self) -> float:
        """The largest difference of entries, relative to the largest one; infinite where the first alone is finite."""
        if not self.is_common:
            return np.inf
        scale = max(float(np.max(np.abs(a), initial=0.0)) for a in (self.left, self.right))
        off = float(np.max(np.abs(self.left - self.right), initial=0.0))
        return off / scale if scale else 0.0


@dataclass(eq=False)
class Comparer:
    """Two nodes of one shape with the symbols and sizes that they need."""

    left: InitVar[Node]
    right: InitVar[Node]
    symbols: Sequence[Node]
    sizes: Sequence[str]
    conditions: Sequence[Condition] = ()

    def __post_init__(self, left: Node, right: Node) -> None:
        self.nodes = [left, right]
        self.lengths = lengths_of(self.nodes)
        self.asked = [conditions(node) for node in self.nodes]

    def at(self, sizes: Mapping[str, int], data: Mapping[str, Array]) -> Point | None:
        """Return both values; None where the first is not finite or cannot be computed, or the sizes do not fit."""
        if not all(holds(condition, sizes) for condition in self.conditions):
            return None
        left = self._value(0, sizes, data)
        if left is None:
            return None
        right = self._value(1, sizes, data) if self.nodes[1] is not self.nodes[0] else left
        return Point(sizes, data, left, right if right is not None else np.full(left.shape, np.nan))

    def _value(self, which: int, sizes: Mapping[str, int], data: Mapping[str, Array]) -> Array | None:
        """Return a value, None where it is not finite or there is none."""
        if not all(holds(condition, sizes) for condition in self.asked[which]):
            return None
        try:
            found = np.asarray(evaluate([self.nodes[which]], data, sizes)[0])
        except (*REFUSED, ShapeError, NotSupported):
            return None
        return found if np.all(np.isfinite(found)) else None

    def is_real(self, point: Point) -> bool:
        """Whether a difference is more than rounding error: whether it stays at many digits."""
        if not point.is_common:
            return self._is_defined(0, point) and not self._is_defined(1, point)
        try:
            left, right = evaluate_precisely(self.nodes, point.data, point.sizes)
        except (*REFUSED, ShapeError, NotSupported, TypeError):
            return True
        size = max((abs(x) for x in (*left.flat, *right.flat)), default=0) + NOTHING * _largest(point)
        return bool(max((abs(a - b) for a, b in zip(left.flat, right.flat, strict=True)), default=0) > DIFFERENT * size)

    def _is_defined(self, which: int, point: Point) -> bool:
        """Whether a formula has a value at many digits; where none can be had, whether it has one in doubles."""
        try:
            (found,) = evaluate_precisely([self.nodes[which]], point.data, point.sizes)
        except (ShapeError, NotSupported, TypeError):
            return which == 0 or point.is_common
        except REFUSED:
            return False
        return all(abs(x) < LARGEST * _largest(point) for x in found.flat)

    def random(self) -> Iterator[Point]:
        """Yield comparisons at random data with the declared facts, of several sizes, `POINTS` of both values."""
        found = 0
        for trial in range(3 * POINTS):
            sizes = {name: 2 + (trial + 3 * k) % 4 for k, name in enumerate(self.sizes)}
            point = self.at(sizes, self._drawn(sizes, trial))
            if point is not None:
                found += point.is_common
                yield point
            if found == POINTS:
                return

    def _drawn(self, sizes: Mapping[str, int], trial: int) -> dict[str, Array]:
        along, mode = self.lengths, trial % len(MODES)
        return {s.name: drawn_for(s, sizes, along.get(s.name, ()), mode, 23, trial) for s in self.symbols}

    def smallest(self, is_common: bool = True) -> Point | None:
        """Return a difference at the smallest sizes, with the smallest integers that show one.

        Without `is_common`, a point at which the first formula alone has a value.
        """
        for lengths in sorted(product(SMALL, repeat=len(self.sizes)), key=lambda s: (sum(s), s)):
            sizes = dict(zip(self.sizes, lengths, strict=True))
            shows = partial(self._shows, sizes, is_common)
            for data in self._small(sizes, not is_common):
                if shows(data):
                    return self.at(sizes, self.reduced(data, shows))
            if sum(lengths) > 6:
                return None
        return None

    def _shows(self, sizes: Mapping[str, int], is_common: bool, data: Mapping[str, Array]) -> bool:
        point = self.at(sizes, data)
        return point is not None and self._differs(point, is_common)

    def _differs(self, point: Point, is_common: bool) -> bool:
        if point.is_common or is_common:
            return point.is_common and is_common and point.difference > DIFFERENT
        return self.is_real(point)

    def _small(self, sizes: Mapping[str, int], with_edges: bool) -> Iterator[dict[str, Array]]:
        """Yield integer data; with `with_edges` one symbol after the other, and all, at 0, 1 and -1 too."""
        for trial in range(TRIES):
            data = self.integers(sizes, trial)
            if data is None:
                continue
            yield data
            if with_edges and trial < 2:
                for chosen in ([node] for node in self.symbols) if trial else [self.symbols]:
                    yield from self._at_edges(data, chosen)

    def _at_edges(self, data: Mapping[str, Array], chosen: Sequence[Node]) -> Iterator[dict[str, Array]]:
        """Yield data with some symbols at 0, 1 and -1 throughout, where their facts allow it."""
        for level in EDGES:
            moved = {node.name: np.full(data[node.name].shape, level) for node in chosen}
            if not any(defect(moved[node.name], fact) > 0 for node in chosen for fact in facts_of(node)):
                yield {**data, **moved}

    def integers(self, sizes: Mapping[str, int], trial: int) -> dict[str, Array] | None:
        """Return integer data with the declared facts; larger integers in later trials."""
        data = {}
        for node in self.symbols:
            rng = np.random.default_rng([29, trial, *node.name.encode()])
            shape = shape_at(node.shape, sizes)
            if any(length < 0 for length in shape):
                return None
            if is_index(node):
                data[node.name] = places(rng, shape, self.lengths.get(node.name, ()), sizes)
                continue
            drawn = rng.integers(-1 - trial // 4, 2 + trial // 4, shape, endpoint=True).astype(float)
            facts = facts_of(node)
            data[node.name] = whole(drawn, facts)
            if any(defect(data[node.name], fact) > EQUAL for fact in facts):
                return None
        return data

    def reduced(self, data: Mapping[str, Array], shows: Callable[[Mapping[str, Array]], bool]) -> Mapping[str, Array]:
        """Set entries to 0 or 1 one by one, as long as the facts hold and the data still show what they are for."""
        for node in self.symbols:
            for place in np.ndindex(*data[node.name].shape):
                for value in (0.0, 1.0):
                    array = data[node.name].copy()
                    if array[place] == value:
                        break
                    array[place] = value
                    if any(defect(array, fact) > 0 for fact in facts_of(node)):
                        continue
                    smaller = {**data, node.name: array}
                    if shows(smaller):
                        data = smaller
                        break
        return data


def _largest(point: Point) -> float:
    """Return the largest entry of the data, 1 if that is larger."""
    return max((float(np.max(np.abs(a), initial=1.0)) for a in point.data.values()), default=1.0)
