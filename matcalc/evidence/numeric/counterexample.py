"""Finds data at which two formulas differ, with small integers if possible, within the facts of their symbols.

Both formulas are evaluated by plain NumPy. Random points decide whether there is a difference; only then small data are
searched, which are easier to read. A point at which the first formula has a value and the second has none also counts
as a difference. A difference must remain at many digits, where a singular matrix is singular and nothing overflows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import InitVar, dataclass
from functools import partial
from itertools import chain, product
from typing import Any, NamedTuple

import numpy as np

from matcalc.calculus.evaluate.evaluate import evaluate
from matcalc.errors import NotSupported, ShapeError
from matcalc.evidence.explain.size_conditions import conditions
from matcalc.evidence.numeric.boundary_points import EndPoint, Ends
from matcalc.evidence.numeric.neighbours import is_above_rounding, is_no_choice, roundings
from matcalc.evidence.numeric.sampling import MODES, Array, defect, draws, facts_of, random_indices, shape_at, whole
from matcalc.evidence.precise.arithmetic import digits, mp
from matcalc.evidence.precise.values import evaluate_precisely
from matcalc.tensor.lookups import is_index, lengths_of
from matcalc.tensor.nodes.node import Node, toposort
from matcalc.tensor.sizes.sizes_from_shapes import Condition, holds

POINTS = 20
"""The number of random points at which formulas are compared if no proof is found."""

EQUAL, DIFFERENT = 1e-8, 1e-6
"""Relative differences up to which values are equal, and above which they differ; in between it is undecided."""

NOTHING = 1e-30
"""The part of the largest datum that is added to the scale of values at many digits; their rounding is smaller."""

MORE_DIGITS = (200, 260)
"""Numbers of digits for values at the ends of sets, where powers of 1e30 cancel."""

MODERATE = 1e3
"""The largest data, and the inverse of the least difference, for which doubles are trusted at an end."""

SHOWN_ENDS = 4
"""The number of ends listed in a report."""

SMALL = (1, 2, 3)
TRIES = 12
EDGES = (0.0, 1.0, -1.0)

REFUSED = (ArithmeticError, ValueError, IndexError, np.linalg.LinAlgError)


LARGEST = 1e20
"""A value at many digits above this, relative to the data, comes from a singular matrix with rounding errors."""


class Point(NamedTuple):
    """Data with the values of both formulas: the first is finite, the second NaN if it has no value.

    `end` describes which data are at an end of their set.
    """

    sizes: Mapping[str, int]
    data: Mapping[str, Array]
    left: Array
    right: Array
    end: str = ""

    @property
    def is_common(self) -> bool:
        """Whether both formulas have a value."""
        return bool(np.all(np.isfinite(self.right)))

    @property
    def difference(self) -> float:
        """The largest difference of entries, relative to the largest entry; infinite if only the first is finite."""
        if not self.is_common:
            return np.inf
        scale = max(float(np.max(np.abs(a), initial=0.0)) for a in (self.left, self.right))
        off = float(np.max(np.abs(self.left - self.right), initial=0.0))
        return off / scale if scale else 0.0


class Samples(NamedTuple):
    """The points at which two formulas were compared: the number of random ones, and descriptions of the ends."""

    random: int = 0
    ends: tuple[str, ...] = ()

    @property
    def total(self) -> int:
        """The total number of points."""
        return self.random + len(self.ends)

    def with_point(self, point: Point) -> Samples:
        """Return the samples with one more."""
        return self._replace(ends=(*self.ends, point.end)) if point.end else self._replace(random=self.random + 1)

    def __str__(self) -> str:
        if not self.ends:
            return f"{self.random} random points"
        shown = "; ".join(list(dict.fromkeys(self.ends))[:SHOWN_ENDS])
        return f"{self.random} random points and {len(self.ends)} at the ends of the sets ({shown}; ...; M is normal)"


@dataclass(eq=False)
class Comparer:
    """Two nodes of the same shape, with their symbols and sizes."""

    left: InitVar[Node]
    right: InitVar[Node]
    symbols: Sequence[Node]
    sizes: Sequence[str]
    conditions: Sequence[Condition] = ()

    def __post_init__(self, left: Node, right: Node) -> None:
        self.nodes = [left, right]
        self.lengths = lengths_of(self.nodes)
        self.required = [conditions(node) for node in self.nodes]

    def at(self, sizes: Mapping[str, int], data: Mapping[str, Array]) -> Point | None:
        """Return both values; None if the first is not finite or raises, or if the sizes do not fit."""
        if not all(holds(condition, sizes) for condition in self.conditions):
            return None
        left = self._value(0, sizes, data)
        if left is None:
            return None
        right = self._value(1, sizes, data) if self.nodes[1] is not self.nodes[0] else left
        return Point(sizes, data, left, right if right is not None else np.full(left.shape, np.nan))

    def _value(self, which: int, sizes: Mapping[str, int], data: Mapping[str, Array]) -> Array | None:
        """Return a value; None if it is not finite or raises."""
        if not all(holds(condition, sizes) for condition in self.required[which]):
            return None
        try:
            found = np.asarray(evaluate([self.nodes[which]], data, sizes)[0])
        except (*REFUSED, ShapeError, NotSupported):
            return None
        return found if np.all(np.isfinite(found)) else None

    def is_real(self, point: Point) -> bool:
        """Whether a difference is more than rounding error: it remains at many digits.

        If no value at many digits is available, a difference at random data counts. One at an end of the data counts
        only if doubles suffice: rounding is large there, and a singular matrix may have an inverse.
        """
        first, second = (partial(self._value, which, point.sizes) for which in (0, 1))
        if not point.is_common:
            is_alone = self._is_defined(0, point) and not self._is_defined(1, point)
            return is_alone and all(second(data) is None for data in roundings(self.symbols, point.data))
        if point.end and not (self._is_no_choice(point) and self._stays(point._replace(end=""))):
            return False
        return self._stays(point) and is_above_rounding(self.symbols, point.data, first, second)

    def _is_no_choice(self, point: Point) -> bool:
        return is_no_choice(self.nodes, self.symbols, point.sizes, point.data)

    def _stays(self, point: Point) -> bool:
        """Whether a difference of two values remains at many digits, at an end at even more digits."""
        try:
            left, right = (precisely(node, point) for node in self.nodes)
        except (NotSupported, TypeError):
            return not point.end or _is_moderate(point)
        except (*REFUSED, ShapeError):
            return not point.end
        nothing = NOTHING**2 if point.end else NOTHING
        size = max(map(abs, (*left, *right)), default=0) + nothing * _largest(point)
        return bool(max((abs(a - b) for a, b in zip(left, right, strict=True)), default=0) > DIFFERENT * size)

    def _is_defined(self, which: int, point: Point) -> bool:
        """Whether a formula has a value at many digits or, if these are not available, in doubles."""
        try:
            found = precisely(self.nodes[which], point)
        except (ShapeError, NotSupported, TypeError):
            return which == 0 or point.is_common or bool(point.end)
        except REFUSED:
            return False
        return all(abs(x) < LARGEST * _largest(point) for x in found)

    def random(self) -> Iterator[Point]:
        """Yield comparisons at random data with the declared facts, of several sizes; `POINTS` have both values."""
        found = 0
        for trial in range(3 * POINTS):
            sizes = {name: 2 + (trial + 3 * k) % 4 for k, name in enumerate(self.sizes)}
            point = self.at(sizes, self._drawn(sizes, trial))
            if point is not None:
                found += point.is_common
                yield point
            if found == POINTS:
                return

    def at_ends(self) -> Iterator[Point]:
        """Yield comparisons at the ends of the symbols' sets, and where pieces of the formulas meet."""
        ends = Ends(self.symbols, self.sizes, self.lengths, self.fits)
        for found in chain(filter(self.has_facts, ends.meetings(self.nodes)), ends.points()):
            point = self.at(found.sizes, found.data)
            if point is not None:
                yield point._replace(end=found.words)

    def has_facts(self, at: EndPoint) -> bool:
        """Whether data have the declared facts."""
        return all(defect(at.data[s.name], fact) <= EQUAL for s in self.symbols for fact in facts_of(s))

    def fits(self, sizes: Mapping[str, int]) -> bool:
        """Whether these sizes meet the conditions of both formulas."""
        return all(holds(c, sizes) for group in (self.conditions, *self.required) for c in group)

    def _drawn(self, sizes: Mapping[str, int], trial: int) -> dict[str, Array]:
        return draws(self.symbols, sizes, self.lengths, trial % len(MODES), 23, trial)

    def simplest(self, point: Point) -> Point:
        """Return a difference of the same kind at small integers, if there is one, else the point itself."""
        small = self.smallest(point.is_common)
        if small is not None and (not point.end or self.is_real(small._replace(end=point.end))):
            return small
        return point

    def smallest(self, is_common: bool = True) -> Point | None:
        """Return a difference at the smallest sizes and integers that show one.

        Without `is_common`, return a point at which only the first formula has a value.
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
        """Yield integer data; with `with_edges` also all symbols, and each symbol, at 0, 1 and -1."""
        for trial in range(TRIES):
            data = self.integers(sizes, trial)
            if data is None:
                continue
            yield data
            if with_edges and trial < 2:
                for chosen in ([node] for node in self.symbols) if trial else [self.symbols]:
                    yield from self._at_edges(data, chosen)

    def _at_edges(self, data: Mapping[str, Array], chosen: Sequence[Node]) -> Iterator[dict[str, Array]]:
        """Yield data in which all entries of some symbols are 0, 1 or -1, if their facts allow it."""
        for level in EDGES:
            moved = {node.name: np.full(data[node.name].shape, level) for node in chosen}
            if not any(defect(moved[node.name], fact) > 0 for node in chosen for fact in facts_of(node)):
                yield {**data, **moved}

    def integers(self, sizes: Mapping[str, int], trial: int) -> dict[str, Array] | None:
        """Return integer data with the declared facts, larger in later trials; None if there are none."""
        data = {}
        for node in self.symbols:
            rng = np.random.default_rng([29, trial, *node.name.encode()])
            shape = shape_at(node.shape, sizes)
            if any(length < 0 for length in shape):
                return None
            if is_index(node):
                data[node.name] = random_indices(rng, shape, self.lengths.get(node.name, ()), sizes)
                continue
            drawn = rng.integers(-1 - trial // 4, 2 + trial // 4, shape, endpoint=True).astype(float)
            facts = facts_of(node)
            data[node.name] = whole(drawn, facts)
            if any(defect(data[node.name], fact) > EQUAL for fact in facts):
                return None
        return data

    def reduced(self, data: Mapping[str, Array], shows: Callable[[Mapping[str, Array]], bool]) -> Mapping[str, Array]:
        """Return data with entries set to 0 or 1 one by one, as long as the facts hold and `shows` is true."""
        for node in self.symbols:
            for entry in np.ndindex(*data[node.name].shape):
                for value in (0.0, 1.0):
                    array = data[node.name].copy()
                    if array[entry] == value:
                        break
                    array[entry] = value
                    if any(defect(array, fact) > 0 for fact in facts_of(node)):
                        continue
                    smaller = {**data, node.name: array}
                    if shows(smaller):
                        data = smaller
                        break
        return data


def precisely(node: Node, point: Point) -> list[Any]:
    """Return the entries of a value at many digits.

    Raises: the errors of evaluation. At an end of the data also ArithmeticError, if the value is not finite or changes
    with further digits, or if an operation in it grows with the digits, as the inverse of a singular matrix does.
    """
    if not point.end:
        return _entries(evaluate_precisely([node], point.data, point.sizes)[0])
    found = []
    for count in MORE_DIGITS:
        with digits(count):
            roots = [node, *(n for n in toposort(node) if n.kind == "op")]
            found.append([_entries(array) for array in evaluate_precisely(roots, point.data, point.sizes)])
    (first, *few), (second, *many) = found
    size = max(map(abs, second), default=0) + NOTHING**2 * _largest(point)
    if not all(map(mp.isfinite, second)) or any(abs(a - b) > EQUAL * size for a, b in zip(first, second, strict=True)):
        raise ArithmeticError("no value that further digits keep")
    if any(
        max(map(abs, b), default=0) > LARGEST * (1 + max(map(abs, a), default=0))
        for a, b in zip(few, many, strict=True)
    ):
        raise ArithmeticError("a singular operand")
    return second


def _entries(array: Any) -> list[Any]:
    """Return the entries of an array with many digits; some may be arrays of one number."""
    return [x.item() if isinstance(x, np.ndarray) else x for x in array.flat]


def _is_moderate(point: Point) -> bool:
    """Whether doubles distinguish the difference from rounding, for this size of data and difference."""
    sizes = np.abs(np.concatenate([np.ravel(a) for a in point.data.values()] or [np.zeros(1)]))
    inside = (sizes == 0) | ((sizes >= 1 / MODERATE) & (sizes <= MODERATE))
    return bool(np.all(inside)) and point.difference > 1 / MODERATE


def _largest(point: Point) -> float:
    """Return the largest magnitude of the data, at least 1."""
    return max((float(np.max(np.abs(a), initial=1.0)) for a in point.data.values()), default=1.0)
