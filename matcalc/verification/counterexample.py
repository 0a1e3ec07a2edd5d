"""Data at which two formulas differ: small integers first, within the facts of their symbols.

Both are evaluated by plain NumPy. Where they agree at all points tried, nothing is returned; the search for a
difference begins with random points, which decide, and only then looks for small ones, which can be read.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import NamedTuple

import numpy as np

from matcalc.calculus.evaluate import evaluate
from matcalc.errors import NotSupported, ShapeError
from matcalc.lengths import Condition, holds
from matcalc.normal_form.node import Node
from matcalc.verification.precise.nodes import evaluate_precisely
from matcalc.verification.rule_point import MODES, interior
from matcalc.verification.sampling import Array, defect, sample, whole

POINTS = 20
"""Random points at which formulas that cannot be proved equal are compared."""

EQUAL, DIFFERENT = 1e-8, 1e-6
"""Relative differences up to which values are equal, and from which on they differ; between them neither is known."""

NOTHING = 1e-30
"""Values at many digits are held against this part of the data, lest their own rounding counts."""

SMALL = (1, 2, 3)
TRIES = 12

REFUSED = (ArithmeticError, ValueError, IndexError, np.linalg.LinAlgError)


class Point(NamedTuple):
    """Data with the values of both formulas."""

    sizes: Mapping[str, int]
    data: Mapping[str, Array]
    left: Array
    right: Array

    @property
    def difference(self) -> float:
        """The largest difference of entries, relative to the largest entry; infinite where one alone is finite."""
        scale = max(float(np.max(np.abs(a), initial=0.0)) for a in (self.left, self.right))
        off = float(np.max(np.abs(self.left - self.right), initial=0.0))
        return off / scale if scale else 0.0


class Comparer:
    """Two nodes of one shape with the symbols and sizes that they need."""

    def __init__(
        self,
        left: Node,
        right: Node,
        symbols: Sequence[Node],
        sizes: Sequence[str],
        conditions: Sequence[Condition] = (),
    ) -> None:
        self.nodes = [left, right]
        self.symbols = symbols
        self.sizes = sizes
        self.conditions = conditions

    def at(self, sizes: Mapping[str, int], data: Mapping[str, Array]) -> Point | None:
        """Return both values; None where they are not finite or cannot be computed, or the sizes do not fit."""
        if not all(holds(condition, sizes) for condition in self.conditions):
            return None
        try:
            left, right = (np.asarray(v) for v in evaluate(self.nodes, data, sizes))
        except (*REFUSED, ShapeError, NotSupported):
            return None
        if not (np.all(np.isfinite(left)) and np.all(np.isfinite(right))):
            return None
        return Point(sizes, data, left, right)

    def is_real(self, point: Point) -> bool:
        """Whether a difference is more than rounding error: whether it stays at many digits."""
        try:
            left, right = evaluate_precisely(self.nodes, point.data, point.sizes)
        except (*REFUSED, ShapeError, NotSupported, TypeError):
            return True
        data = max((float(np.max(np.abs(a), initial=0.0)) for a in point.data.values()), default=1.0)
        size = max((abs(x) for x in (*left.flat, *right.flat)), default=0) + NOTHING * data
        return bool(max((abs(a - b) for a, b in zip(left.flat, right.flat, strict=True)), default=0) > DIFFERENT * size)

    def random(self) -> Iterator[Point]:
        """Yield comparisons at random data with the declared facts, at most `POINTS`, of several sizes."""
        found = 0
        for trial in range(3 * POINTS):
            sizes = {name: 2 + (trial + 3 * k) % 4 for k, name in enumerate(self.sizes)}
            point = self.at(sizes, self._drawn(sizes, trial))
            if point is not None:
                found += 1
                yield point
            if found == POINTS:
                return

    def _drawn(self, sizes: Mapping[str, int], trial: int) -> dict[str, Array]:
        data = {}
        for node in self.symbols:
            rng = np.random.default_rng([23, trial, *node.name.encode()])
            shape = tuple(s.evaluate(dict(sizes)) for s in node.shape)
            facts = facts_of(node)
            mode = trial % len(MODES)
            data[node.name] = sample(rng, shape, interior(facts, mode > 0)) if facts else MODES[mode](rng, shape)
        return data

    def smallest(self) -> Point | None:
        """Return a difference at the smallest sizes, with the smallest integers that show one."""
        for lengths in sorted(product(SMALL, repeat=len(self.sizes)), key=lambda s: (sum(s), s)):
            sizes = dict(zip(self.sizes, lengths, strict=True))
            for trial in range(TRIES):
                data = self.integers(sizes, trial)
                point = self.at(sizes, data) if data is not None else None
                if point is not None and point.difference > DIFFERENT:
                    return self._reduced(point)
            if sum(lengths) > 6:
                return None
        return None

    def integers(self, sizes: Mapping[str, int], trial: int) -> dict[str, Array] | None:
        """Return integer data with the declared facts; larger integers in later trials."""
        data = {}
        for node in self.symbols:
            rng = np.random.default_rng([29, trial, *node.name.encode()])
            shape = tuple(s.evaluate(dict(sizes)) for s in node.shape)
            if any(length < 0 for length in shape):
                return None
            drawn = rng.integers(-1 - trial // 4, 2 + trial // 4, shape, endpoint=True).astype(float)
            facts = facts_of(node)
            data[node.name] = whole(drawn, facts)
            if any(defect(data[node.name], fact) > EQUAL for fact in facts):
                return None
        return data

    def _reduced(self, point: Point) -> Point:
        """Set entries to 0 or 1 one by one, as long as a difference remains and the facts hold."""
        for node in self.symbols:
            for place in np.ndindex(*point.data[node.name].shape):
                for value in (0.0, 1.0):
                    array = point.data[node.name].copy()
                    if array[place] == value:
                        break
                    array[place] = value
                    if any(defect(array, fact) > 0 for fact in facts_of(node)):
                        continue
                    smaller = self.at(point.sizes, {**point.data, node.name: array})
                    if smaller is not None and smaller.difference > DIFFERENT:
                        point = smaller
                        break
        return point


def facts_of(node: Node) -> tuple[str, ...]:
    """Return the declared facts of a symbol that say something of its value."""
    return tuple(sorted(node.data[1] - {"constant"}))
