"""Defines the indices that a subscript of several entries selects along an axis, and reads them from Python's values.

Such indices are a run, known integers, or data of kind `index` (with an offset, `c[y + 1]`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, TypeAlias

from matcalc.errors import NotSupported, NoValue, ShapeError
from matcalc.expressions.numpy_bridge.arguments import ONE, check_room, joined, part_of, size_of
from matcalc.expressions.numpy_bridge.runs import Runs
from matcalc.expressions.numpy_bridge.shapes import flip, reshape
from matcalc.expressions.numpy_bridge.triangles import Side
from matcalc.language.identifiers import shown
from matcalc.tensor import constructors
from matcalc.tensor.constructors import selector
from matcalc.tensor.lookups import can_index, looked_up
from matcalc.tensor.nodes.node import Node, Operand, Shape
from matcalc.tensor.sizes.selectors import Selector
from matcalc.tensor.sizes.size import Size, is_nonnegative

MOST_RUNS = 256
"""Most runs of known integers along an axis whose length is not a number."""
MASK_HINT = "write np.where(mask, a, b) for a choice, or pass the mask's places as an argument: i: index(k)"


@dataclass(frozen=True)
class Run:
    """The entries from `start`; `is_one` marks a single entry, whose axis is dropped."""

    start: Size
    length: Size
    is_one: bool = False

    @property
    def shape(self) -> Shape:
        return () if self.is_one else (self.length,)


@dataclass(frozen=True)
class Known:
    """Known indices, in row-major order."""

    shape: Shape
    numbers: tuple[Size, ...]

    def runs(self) -> list[tuple[Size, Size]]:
        """Return the runs of consecutive indices: the start and the length of each."""
        cuts = [0, *(k + 1 for k, (a, b) in enumerate(pairwise(self.numbers)) if b - a != 1), len(self.numbers)]
        return [(self.numbers[a], Size.of(b - a)) for a, b in pairwise(cuts) if b > a]


@dataclass(frozen=True)
class Looked:
    """Indices that are data: the entries of an argument of kind `index`, plus a number."""

    indices: Node
    offset: Size

    @property
    def shape(self) -> Shape:
        return self.indices.shape


@dataclass(frozen=True)
class Marked:
    """One entry, which a vector of 0 and 1 marks; `vector` returns that of an axis of a length."""

    vector: Callable[[Size], Node]

    @property
    def shape(self) -> Shape:
        return ()


Places: TypeAlias = "Run | Runs | Known | Looked | Side | Marked"


def places_of(value: Any) -> Places | None:
    """Return the indices in a list, an array of integers or data of kind `index`; None for a slice or an integer.

    Raises: NoValue for a mask or integers that depend on a symbol; ShapeError for anything else.
    """
    if isinstance(value, (Run, Runs, Known, Looked, Side, Marked)):
        return value
    if isinstance(value, Node):
        if can_index(value):
            return Looked(value, Size.of(0))
        raise NoValue("a subscript that depends on a symbol's values", hint="declare the subscript as i: index(k)")
    if isinstance(value, (list, tuple)) or hasattr(value, "ndim") and value.ndim:
        return _known(value)
    return None


def _known(value: Any) -> Known:
    import numpy as np

    array = np.asarray(value, dtype=object) if isinstance(value, (list, tuple)) else np.asarray(value)
    entries = array.reshape(-1).tolist()
    if any(isinstance(one, float) for one in entries):
        raise ShapeError(f"a subscript is an integer, a size or a range of them, not {shown(value)}")
    return Known(tuple(map(Size.of, array.shape)), tuple(map(size_of, entries)))


def masked(value: Any) -> list[Known] | None:
    """Return the indices of a mask of known truth values, one for each of its axes; None for anything else."""
    import numpy as np

    if isinstance(value, list) and value and all(isinstance(one, (bool, np.bool_)) for one in value):
        value = np.array(value)
    if getattr(getattr(value, "dtype", None), "kind", "") != "b" or not hasattr(value, "ndim") and value.ndim:
        return None
    return [_known(one) for one in np.nonzero(value)]


def from_front(place: Size, length: Size) -> Size:
    """Return an index counted from the start of an axis of this length."""
    if place.is_integer and place.constant < 0 or not is_nonnegative(place) and is_nonnegative(-place):
        if not place.is_integer:
            check_room(-place - 1, f"{place} counts from the end")
        return length + place
    return place


def run_of(at: slice, length: Size) -> Places:
    """Return the indices of a slice of an axis of this length.

    Raises: NotSupported for a step along an axis whose length is not a number.
    """
    step = 1 if at.step is None else int(size_of(at.step))
    if step != 1 or length.is_integer and all(b is None or size_of(b).is_integer for b in (at.start, at.stop)):
        if not length.is_integer:
            raise NotSupported(
                f"a step of {step} along an axis of {length} entries", hint="declare its size as a number"
            )
        start_, stop_ = (None if b is None else int(size_of(b)) for b in (at.start, at.stop))
        numbers = range(int(length))[slice(start_, stop_, step)]
        if step != 1:
            return Known((Size.of(len(numbers)),), tuple(map(Size.of, numbers)))
        return Run(Size.of(numbers.start if len(numbers) else 0), Size.of(len(numbers)))
    start = Size.of(0) if at.start is None else from_front(size_of(at.start), length)
    stop = length if at.stop is None else from_front(size_of(at.stop), length)
    check_room(stop - start, f"the slice {start}:{stop} is empty")
    for room in (start, length - stop):
        check_room(room, f"the slice {start}:{stop} is outside an axis of {length}")
    return Run(start, stop - start)


def one_of(at: object, length: Size) -> Run:
    """Return the run of one entry at an integer or a size.

    Raises: ShapeError for an index outside.
    """
    return Run(_inside(from_front(size_of(at), length), length), ONE, True)


def _inside(place: Size, length: Size) -> Size:
    """Return an index counted from the start, which must lie inside an axis of this length."""
    for room in (place, length - place - 1):
        check_room(room, f"the subscript {place} is outside an axis of {length}")
    return place


def counted(places: Places, length: Size) -> Places:
    """Return indices with all known integers counted from the start, and inside an axis of this length.

    Raises: ShapeError for an index outside.
    """
    if isinstance(places, Runs) or isinstance(places, Run) and not places.is_one:
        runs = places if isinstance(places, Runs) else Runs.of(places.start, places.length)
        return as_run(runs.inside(length))
    if isinstance(places, Side):
        return places.inside(length)
    if not isinstance(places, Known):
        return places
    numbers = tuple(_inside(from_front(one, length), length) for one in places.numbers)
    return Known(places.shape, numbers)


def as_run(places: Places) -> Places:
    """Return consecutive indices as a run."""
    if isinstance(places, Runs) and len(places.pieces) == 1 and not places.pieces[0].reversed:
        return Run(places.pieces[0].start, places.pieces[0].length)
    if isinstance(places, Known) and len(places.shape) == 1 and len(runs := places.runs()) == 1:
        return Run(*runs[0])
    return places


def operands_at(places: Places, length: Size, axis: int, at: Sequence[int], free: int) -> list[Operand]:
    """Return the 0/1 operands of a product that select `places` along an axis with the labels `at`.

    `free` is a label without another use. A side of a triangle is selected by the label of that side.
    """
    if isinstance(places, Run):
        if places.start == 0 and places.length == length and at:
            return [(constructors.eye(length), (axis, *at))]
        rule = selector(Selector("slice", (length, places.length), places.start))
        return [(rule, (axis, at[0] if at else free))]
    if isinstance(places, Side):
        return [places.operand(length, axis, at[0])]
    if isinstance(places, Marked):
        return [(places.vector(length), (axis,))]
    if isinstance(places, Runs):
        return [(parts_at(constructors.eye(length), places, 0), (*at, axis))]
    if isinstance(places, Known):
        return [(_rows(places, length), (*at, axis))]
    if places.offset == 0:
        return [looked_up(places.indices, length, axis, tuple(at))]
    if is_nonnegative(places.offset):
        left = length - places.offset
        rule = selector(Selector("slice", (length, left), places.offset))
        return [(rule, (axis, free)), looked_up(places.indices, left, free, tuple(at))]
    back, identity = -places.offset, constructors.eye(length)
    wrapped = joined([part_of(identity, 0, length - back, back), identity], 0)
    return [(wrapped, (free, axis)), looked_up(places.indices, length + back, free, tuple(at))]


def parts_at(a: Node, runs: Runs, axis: int) -> Node:
    """Return the entries of an array at joined ranges along an axis."""
    parts = [part_of(a, axis, p.start, p.length) for p in runs.pieces]
    return joined([flip(part, axis) if p.reversed else part for p, part in zip(runs.pieces, parts, strict=True)], axis)


def _rows(places: Known, length: Size) -> Node:
    """Return the rows of the identity at known indices."""
    import numpy as np

    if length.is_integer and all(one.is_integer for one in places.numbers):
        rows = np.eye(int(length))[[int(one) for one in places.numbers]]
        return constructors.constant(rows.reshape([*map(int, places.shape), int(length)]))
    runs = places.runs()
    if len(runs) > MOST_RUNS:
        message = "known places along an axis whose length is not a number"
        raise NotSupported(message, hint="declare its size as a number")
    identity = constructors.eye(length)
    found = joined([part_of(identity, 0, start, count) for start, count in runs], 0)
    return found if len(places.shape) == 1 else reshape(found, [*places.shape, length])


def common_shape(shapes: Sequence[Shape]) -> Shape:
    """Return the common shape of several subscripts.

    Raises: ShapeError.
    """
    rank = max(map(len, shapes))
    padded = [(ONE,) * (rank - len(shape)) + shape for shape in shapes]
    found = []
    for sizes in zip(*padded, strict=True):
        others = list(dict.fromkeys(size for size in sizes if size != 1)) or [ONE]
        if len(others) > 1:
            raise ShapeError(f"subscripts of {' and '.join(map(str, others))} entries do not go together")
        found.append(others[0])
    return tuple(found)


def spread(places: Places, shape: Shape) -> tuple[Places, list[int]]:
    """Return indices without axes of length 1 that others repeat, and the axes of the common shape that remain."""
    own = places.shape
    first = len(shape) - len(own)
    held = [k for k, size in enumerate(own) if not (size == 1 and shape[first + k] != 1)]
    if len(held) == len(own):
        return places, [first + k for k in range(len(own))]
    if isinstance(places, Known):
        return Known(tuple(own[k] for k in held), places.numbers), [first + k for k in held]
    if isinstance(places, Run):
        return Run(places.start, ONE, True), []
    raise NotSupported("an index of one entry beside longer subscripts")
