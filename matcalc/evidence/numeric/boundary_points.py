"""Builds data at the ends of symbols' sets: together, one by one, mixed, and at the borders between pieces.

The pieces of a formula meet where an operand of a function with a jump is 0, or where two operands are equal (`step`,
`where`). Such a point is found by varying one entry of the data until the operand changes its sign.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from matcalc.calculus.derive.differentiate import template_parameter
from matcalc.calculus.evaluate.evaluate import evaluate
from matcalc.errors import MatcalcError
from matcalc.evidence.numeric.boundary import End, ends
from matcalc.evidence.numeric.sampling import Array, draws, facts_of, least_length, shape_at
from matcalc.tensor.constructors import add
from matcalc.tensor.lookups import is_index
from matcalc.tensor.nodes.node import Node, toposort
from matcalc.tensor.sizes.size import Size

LENGTHS = ((2, 3), (3, 2), (2, 2), (3, 3), (1, 3), (3, 1), (1, 1), (4, 3))
"""Alternating lengths of the sizes."""

MIXED = 24
"""The number of points at which each symbol is at a random end of its own."""

ENTRIES = 12
"""The most entries that are varied to find a border between pieces."""

HALVINGS = 60
GRID = 64.0
"""A border between pieces is also searched among multiples of 1/64, which are exact."""

REFUSED = (ArithmeticError, ValueError, IndexError, np.linalg.LinAlgError, MatcalcError)

MEETING = "where pieces meet"

Sizes = Mapping[str, int]
Data = Mapping[str, Array]


class EndPoint(NamedTuple):
    """Sizes, data by name, and a description of the ends."""

    sizes: Sizes
    data: Data
    words: str


class Ends:
    """The symbols of formulas, the lengths of the axes that indices select from, and the sizes that fit."""

    def __init__(
        self,
        symbols: Sequence[Node],
        sizes: Sequence[str],
        along: Mapping[str, Sequence[Size]],
        fits: Callable[[Sizes], bool],
    ) -> None:
        self.symbols = symbols
        self.along = along
        patterns = [{name: one[k % 2] for k, name in enumerate(sizes)} for one in LENGTHS]
        patterns += [{name: 2 + (trial + 3 * k) % 4 for k, name in enumerate(sizes)} for trial in range(4)]
        self.sizes = [found for found in {str(p): p for p in patterns}.values() if fits(found)]

    def points(self) -> Iterator[EndPoint]:
        """Yield data at ends: of all symbols together, one by one, and mixed."""
        if self.sizes and self.symbols:
            yield from self._together()
            if len(self.symbols) > 1:
                yield from self._one_by_one()
                yield from self._mixed()

    def _together(self) -> Iterator[EndPoint]:
        level, most = 0, 1
        while level < most:
            for sizes in self._two_sizes(level):
                found = {s.name: self.of(s, sizes) for s in self.symbols}
                most = max(most, *map(len, found.values()))
                if all(found.values()):
                    yield _point(sizes, {name: some[level % len(some)] for name, some in found.items()}, {})
            level += 1

    def _two_sizes(self, level: int) -> list[Sizes]:
        """Return two of the sizes: the first, which all levels share, and one that depends on the level."""
        first, second = self.sizes[0], self.sizes[level % len(self.sizes)]
        return [first] if first is second else [first, second]

    def _one_by_one(self) -> Iterator[EndPoint]:
        for s in self.symbols:
            level, most = 0, 1
            while level < most:
                sizes = self.sizes[level % len(self.sizes)]
                found = self.of(s, sizes)
                most = max(most, len(found))
                if level < len(found):
                    yield _point(sizes, {s.name: found[level]}, self._drawn(sizes, level))
                level += 1

    def _mixed(self) -> Iterator[EndPoint]:
        rng = np.random.default_rng(43)
        for trial in range(MIXED):
            sizes = self.sizes[trial % len(self.sizes)]
            found = {s.name: self.of(s, sizes) for s in self.symbols}
            if all(found.values()):
                yield _point(sizes, {name: some[int(rng.integers(len(some)))] for name, some in found.items()}, {})

    def of(self, node: Node, sizes: Sizes) -> tuple[End, ...]:
        """Return the ends of a symbol at these sizes."""
        shape = shape_at(node.shape, sizes)
        if any(length < 0 for length in shape):
            return ()
        if not is_index(node):
            return ends(shape, facts_of(node))
        last = least_length(self.along.get(node.name, ()), sizes)
        found = ends(shape, facts_of(node), max(last, 1))
        return tuple(End(end.words, end.array.astype(int)) for end in found)

    def _drawn(self, sizes: Sizes, trial: int) -> dict[str, Array]:
        return draws(self.symbols, sizes, self.along, trial % 4, 47, trial)

    # ---- where pieces meet

    def meetings(self, roots: Sequence[Node]) -> Iterator[EndPoint]:
        """Yield data at which an entry of a jump's operand is exactly 0."""
        operands = list(jumps(roots))
        for level in range(4) if operands else ():
            for sizes in self.sizes[:3]:
                found = {s.name: self.of(s, sizes) for s in self.symbols}
                if not all(found.values()):
                    continue
                data = {name: some[level % len(some)].array for name, some in found.items()}
                if level == 3:
                    data = self._drawn(sizes, 0)
                for operand in operands:
                    yield from self._met(operand, sizes, data)

    def _met(self, operand: Node, sizes: Sizes, data: Data) -> Iterator[EndPoint]:
        below = {n.name for n in toposort(operand) if n.kind == "symbol"}
        places = [(s, at) for s in self.symbols if s.name in below for at in np.ndindex(*data[s.name].shape)]
        for s, at in places[:ENTRIES] if not any(map(is_index, self.symbols)) else ():

            def value(t: float, s: Node = s, at: tuple[int, ...] = at) -> Array | None:
                return _value(operand, sizes, _moved(data, s, at, t))

            for t in _roots(value):
                yield EndPoint(sizes, _moved(data, s, at, t), MEETING)


def jumps(roots: Sequence[Node]) -> Iterator[Node]:
    """Yield the operands at whose zeros functions jump: the functions' derivatives in them are 0 elsewhere."""
    seen: dict[Node, None] = {}
    for node in toposort(roots):
        if node.kind != "map":
            continue
        names = [template_parameter(node, k).name for k in range(len(node.args))]
        switching = [a for a, name in zip(node.args, names, strict=True) if node.rule.derivative.get(name) == "0"]
        if len(switching) == 1:
            seen[switching[0]] = None
        elif len(switching) == 2:
            seen[add([(1, switching[0]), (-1, switching[1])])] = None
    yield from (node for node in seen if any(n.kind == "symbol" for n in toposort(node)))


def has_jumps(root: Node) -> bool:
    """Whether a formula contains a function or operation that jumps."""
    if next(jumps([root]), None) is not None:
        return True
    return any(n.kind == "op" and n.rule.differentials.get(n.output) == "0" for n in toposort(root))


def _moved(data: Data, node: Node, at: tuple[int, ...], t: float) -> Data:
    array = np.array(data[node.name], dtype=float)
    array[at] = t
    return {**data, node.name: array}


def _value(node: Node, sizes: Sizes, data: Data) -> Array | None:
    try:
        found = np.asarray(evaluate([node], data, sizes)[0])
    except REFUSED:
        return None
    return found if np.all(np.isfinite(found)) else None


def _roots(value: Callable[[float], Array | None]) -> Iterator[float]:
    """Yield numbers at which an entry of a value is exactly 0, by linear interpolation and by bisection."""
    sides = {t: value(t) for t in (-100.0, -1.0, 0.0, 1.0, 2.0, 100.0)}
    known = {t: v for t, v in sides.items() if v is not None}
    if len(known) < 2:
        return
    at_zero = {t for t, v in known.items() if np.any(v == 0)}
    found: dict[float, None] = dict.fromkeys(sorted(at_zero)) if len(at_zero) < len(known) else {}
    ordered = sorted(known)
    for low, high in zip(ordered, ordered[1:], strict=False):
        changing = np.argwhere(known[low] * known[high] < 0)
        for entry in map(tuple, changing[:2]):
            t = low - known[low][entry] * (high - low) / (known[high][entry] - known[low][entry])
            found |= dict.fromkeys(_near(float(t)))
            found |= dict.fromkeys(_near(_halved(value, entry, low, high)))
    for t in found:
        here = value(t)
        if here is not None and bool(np.any(here == 0)):
            yield t


def _near(t: float) -> tuple[float, float]:
    return t, round(t * GRID) / GRID


def _halved(value: Callable[[float], Array | None], entry: tuple[int, ...], low: float, high: float) -> float:
    start = value(low)
    assert start is not None
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        here = value(middle)
        if here is None or here[entry] == 0 or middle in (low, high):
            return middle
        low, high = (middle, high) if here[entry] * start[entry] > 0 else (low, middle)
    return low


def _point(sizes: Sizes, chosen: Mapping[str, End], others: Data) -> EndPoint:
    words = ", ".join(f"{name} = {end.words}" for name, end in chosen.items())
    return EndPoint(sizes, {**others, **{name: end.array for name, end in chosen.items()}}, words)


__all__ = ["EndPoint", "Ends", "has_jumps", "jumps"]
