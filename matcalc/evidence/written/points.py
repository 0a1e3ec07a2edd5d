"""Draws the points at which results are compared: random data with the declared facts, at two sets of small sizes."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from math import prod
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from matcalc.calculus.evaluate.evaluate import evaluate
from matcalc.errors import InternalError, MatcalcError, NoReference
from matcalc.evidence.explain.size_conditions import conditions
from matcalc.evidence.numeric.sampling import MODES, drawn_for, generator, projected
from matcalc.evidence.written.declared import as_written, check_drawn
from matcalc.evidence.written.reference import Reference
from matcalc.evidence.written.values import Array, largest
from matcalc.tensor.lookups import is_index, lengths_of
from matcalc.tensor.nodes.node import Node, Shape, toposort
from matcalc.tensor.raw_nodes import symbol
from matcalc.tensor.sizes.size import Size
from matcalc.tensor.sizes.sizes_from_shapes import Condition, holds
from matcalc.tensor.symbols import Names, all_sizes

LENGTHS = ((2, 3, 4, 5), (3, 1, 3, 2), (2, 2, 2, 2))
"""Lengths of the size names, in order. The third set replaces one of the first two that has no data."""

LARGER = (9, 10, 11, 8)
"""Lengths of a third point, for compiled functions: kernels have loops over blocks of four or eight entries."""

LONG = (17, 2, 3, 2)
"""Lengths of a further point, for functions that compute in another form where one size is large."""

MOST_AT_LARGER = 5_000
"""The most entries of data and values at the third point."""

MOST_CACHED = 1_000
"""The most entries of data of a point that is cached, and of a value that is cached at it."""

MOST_ENTRIES = 50_000
"""The most entries of data and values that are compared: sizes declared as numbers may have any length."""

MOST_OF_DATA = 1_000_000
"""The most entries of data of a Python function with which results are compared."""

MODERATE = 1e100
"""Points with larger values are avoided if possible, since products of slopes may overflow."""

LARGEST = 1e250
"""The largest value of any point: the slopes of a larger one are beyond the numbers of a computer."""

SEED = 29


@dataclass(frozen=True, slots=True)
class Point:
    """Data by symbol name and lengths by size name; `value` is the reference's value there.

    `fixed` are the names of data that the reference reads itself; they are not moved.
    `slopes` are slopes of the reference that were computed, by the key of the question. `values` are values of nodes at
    these data that were computed: the check of a derivative and that of its compiled function need the same ones.
    """

    data: Mapping[str, Array]
    sizes: Mapping[str, int]
    value: Array
    fixed: frozenset[str] = frozenset()
    slopes: dict[object, Any] = field(default_factory=dict, repr=False)
    values: dict[Node, Array] = field(default_factory=dict, repr=False)

    def values_of(self, nodes: Sequence[Node]) -> list[Array]:
        """Return the values of nodes by plain NumPy; small ones are cached.

        Raises: as `evaluate`.
        """
        new = [node for node in nodes if node not in self.values]
        found = dict(zip(new, map(np.asarray, evaluate(new, self.data, self.sizes)), strict=True)) if new else {}
        self.values.update((node, value) for node, value in found.items() if value.size <= MOST_CACHED)
        return [found[node] if node in found else self.values[node] for node in nodes]

    def direction(self, x: Node, seed: int = 0) -> Array:
        """Return a random direction for a symbol, in the linear hull of its facts."""
        return _direction(x, np.shape(self.data[x.name]), seed).copy()

    def __str__(self) -> str:
        return ", ".join(f"{name}={length}" for name, length in self.sizes.items())


@lru_cache(maxsize=256)
def _direction(x: Node, shape: tuple[int, ...], seed: int) -> Array:
    drawn = generator(SEED, seed, *x.name.encode()).standard_normal(shape)
    return projected(np.asarray(drawn), tuple(x.data[1]), as_written)


class Key(NamedTuple):
    """What the data of a point depend on; `along` are the lengths of the axes that indices select from."""

    symbols: tuple[Node, ...]
    bound: tuple[str, ...]
    sizes: tuple[tuple[str, int], ...]
    along: tuple[tuple[str, tuple[Size, ...]], ...]
    seed: int


Drawn = dict[Key, "Point | None"]
_drawn: WeakKeyDictionary[Reference, Drawn] = WeakKeyDictionary()
"""The points at which references were evaluated: several results of one formula are compared at the same points."""


def points(
    references: Sequence[Reference],
    nodes: Sequence[Node],
    names: Names,
    symbols: Sequence[Node],
    seed: int = 0,
    larger: bool = False,
    branches: Sequence[Condition] = (),
) -> Iterator[Point]:
    """Yield up to two points of different sizes at which the first reference is finite and real.

    A formula without sizes has one point. With `larger` there is a third one if it has few entries and solves no
    equation. With `branches`, conditions under which a function computes in another form, there is one that meets them;
    its numbers and vectors without facts are positive.

    Raises: NoReference if the first reference cannot be evaluated, or data would be too large.
    """
    bound, known = names.bound, all_sizes(nodes, names, symbols)
    drawn = [s for s in symbols if s.name not in bound]
    if sum(np.size(entries) for entries in bound.values()) > MOST_OF_DATA:
        raise NoReference("its data are too large")
    if not all(np.all(np.isfinite(entries)) for entries in bound.values()):
        raise NoReference("its data are not finite")
    required = (*conditions(*nodes), *names.conditions)
    along = lengths_of(nodes) if any(map(is_index, drawn)) else {}
    own, others = [s.shape for s in drawn], [node.shape for node in nodes]
    found: list[Mapping[str, int]] = []
    for lengths in LENGTHS if known else LENGTHS[:1]:
        sizes = fitting(known, lengths, symbols, required)
        if sizes is None or sizes in found:
            continue
        entries = _entries(own, sizes)
        if entries + _entries(others, sizes) > MOST_ENTRIES:
            raise NoReference("its data are too large")
        point = _point(references[0], drawn, bound, sizes, along, seed, entries <= MOST_CACHED)
        if point is not None:
            found.append(sizes)
            yield point
        if len(found) == 2:
            break
    wants = larger and found and known and not any(_is_solution(node) for node in toposort(nodes))
    further = [(LARGER, required, drawn)] if wants else []
    further += [(LONG, (*required, *branches), list(map(_as_positive, drawn)))] if wants and branches else []
    for lengths, conditions_there, symbols_there in further:
        sizes = fitting(known, lengths, symbols, conditions_there)
        entries = _entries(own, sizes) if sizes is not None else 0
        if sizes is not None and entries + _entries(others, sizes) <= MOST_AT_LARGER:
            point = _point(references[0], symbols_there, bound, sizes, along, seed, entries <= MOST_CACHED)
            if point is not None:
                yield point


def was_evaluated(reference: Reference, symbols: Sequence[Node], bound: Collection[str]) -> bool:
    """Whether there is a cached point of a reference with data of these symbols, so that it can be evaluated."""
    drawn = tuple(s for s in symbols if s.name not in bound)
    known = _drawn.get(reference, {})
    return any(point is not None and key.symbols == drawn for key, point in known.items())


def _as_positive(x: Node) -> Node:
    """Return a number or vector without facts as a positive one of its name."""
    return symbol(x.name, x.shape, ("positive",)) if x.rank < 2 and not x.facts else x


def _is_solution(node: Node) -> bool:
    """Whether a node solves an equation, which the reference does by Newton's method, entry by entry."""
    return node.kind == "op" and node.rule.kind == "implicit"


def _entries(shapes: Sequence[Shape], sizes: Mapping[str, int]) -> int:
    """Return the number of entries of arrays of these shapes."""
    return sum([prod([size.evaluate(sizes) for size in shape]) for shape in shapes])


def _point(
    reference: Reference,
    symbols: Sequence[Node],
    bound: Mapping[str, Array],
    sizes: Mapping[str, int],
    along: Mapping[str, Sequence[Size]],
    seed: int,
    is_small: bool,
) -> Point | None:
    """Return the point of a reference at these sizes, cached if it is small; None if there is none."""
    lengths = tuple((name, tuple(found)) for name, found in along.items())
    key = Key(tuple(symbols), tuple(bound), tuple(sizes.items()), lengths, seed)
    known = _drawn.setdefault(reference, {})
    if key in known:
        return known[key]
    point = _evaluated(reference, symbols, bound, sizes, along, seed)
    if is_small:
        known[key] = point
    return point


def _evaluated(
    reference: Reference,
    symbols: Sequence[Node],
    bound: Mapping[str, Array],
    sizes: Mapping[str, int],
    along: Mapping[str, Sequence[Size]],
    seed: int,
) -> Point | None:
    """Return the first point with a moderate value, of data in several modes; else the first with a finite value."""
    large = None
    for mode in range(len(MODES)):
        try:
            drawn = {s.name: _drawn_for(s, sizes, along.get(s.name, ()), mode, seed) for s in symbols}
            drawn |= {name: np.array(entries) for name, entries in bound.items()}
            value = reference.value(drawn, sizes)
        except (NoReference, InternalError):
            raise
        except (np.linalg.LinAlgError, ValueError, IndexError, MatcalcError):
            continue
        if not np.iscomplexobj(value) and np.all(np.isfinite(value)):
            if largest(value) <= MODERATE:
                return Point(drawn, sizes, value, frozenset(bound))
            large = large or (Point(drawn, sizes, value, frozenset(bound)) if largest(value) <= LARGEST else None)
    return large


def _drawn_for(symbol: Node, sizes: Mapping[str, int], along: Sequence[Size], mode: int, seed: int) -> Array:
    """Return data of a symbol that have its declared facts."""
    own = tuple((name, sizes[name]) for size in (*symbol.shape, *along) for name in size.names)
    return _with_facts(symbol, own, tuple(along), mode, seed).copy()


@lru_cache(maxsize=256)
def _with_facts(
    symbol: Node, sizes: tuple[tuple[str, int], ...], along: tuple[Size, ...], mode: int, seed: int
) -> Array:
    drawn = drawn_for(symbol, dict(sizes), along, mode, SEED, mode, seed, value=as_written)
    check_drawn(symbol, drawn)
    return drawn


def fitting(
    names: Sequence[str], lengths: Sequence[int], symbols: Sequence[Node], required: Sequence[Condition]
) -> dict[str, int] | None:
    """Return lengths by size name that meet all required conditions; None if no rotation of `lengths` does."""
    axes = [size for s in symbols for size in s.shape]
    for first in range(len(lengths)):
        sizes = {name: lengths[(first + k) % len(lengths)] for k, name in enumerate(names)}
        is_negative = any([size.evaluate(sizes) < 0 for size in axes])
        if not is_negative and all(holds(condition, sizes) for condition in required):
            return sizes
    return None


def nudged(point: Point, symbols: Sequence[Node], size: float, seed: int) -> Mapping[str, Array]:
    """Return the data perturbed along random directions that preserve their linear facts.

    `size` is the step, relative to the largest entry of each array.
    """
    return {
        **point.data,
        **{
            s.name: point.data[s.name] + size * largest(point.data[s.name]) * point.direction(s, 100 + seed)
            for s in symbols
            if not is_index(s) and s.name not in point.fixed and np.size(point.data[s.name])
        },
    }


def report(at: Sequence[str], worst: float) -> str:
    """Return the text of `checked`: the points at which results were compared, and the largest relative error."""
    if not at:
        return "not checked: no data at which the formula and its result can be compared"
    *first, last = list(filter(None, at)) or ["the declared sizes"]
    where = f"{'; '.join(first)} and {last}" if first else last
    return f"at {where}, to {max(worst, 1e-16):.0e}"
