"""Defines an array inside a step of a loop that writes one entry of it, `x[t] = ...`, and reads earlier entries.

The entry at the number of the step is what the step computes. Entries that earlier steps wrote are states, by their
distance; all others are as before the loop. So a loop that writes is a recurrence of entries, never one of arrays. An
access of another kind raises `Unfit`, and the whole array becomes a state.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, NoReturn

from matcalc.errors import NotSupported, ShapeError
from matcalc.expressions.loops.numbers import deciding, is_never_negative, numbers_of
from matcalc.expressions.loops.steps import SCAN, Stepping, stepping
from matcalc.expressions.loops.subscripts import Place, check_inside, decides, place_of, places_at_all_steps
from matcalc.expressions.numpy_bridge.arguments import check_room, is_array, node_of, size_in
from matcalc.expressions.numpy_bridge.joining import concatenate
from matcalc.tensor.constructors import add, product, size_number, zeros
from matcalc.tensor.leading_axis import cut, leading, trailing
from matcalc.tensor.nodes.node import Node
from matcalc.tensor.sizes.size import Size, is_nonnegative

Make = Callable[[Node], Any]
"""Returns a node as an array of the traced function."""


class Unfit(NotSupported):
    """The array of a step is used otherwise than by entries at the number of the step."""

    def __init__(self, array: Written, use: str) -> None:
        super().__init__(f"the loop writes to {array.name}, and {use}", hint=SCAN)
        self.array = array


class Access(NamedTuple):
    """Subscripts at a step: the axis and the place of its number, those of outer steps by axis, and the others."""

    axis: int
    place: Place
    fixed: dict[int, Any]
    inner: tuple[Any, ...]

    @property
    def key(self) -> tuple[object, ...]:
        return self.axis, tuple((k, part.node) for k, part in self.fixed.items())


@dataclass
class Slot:
    """Which entry a loop writes, found by running its step, and the largest distance at which it reads entries.

    `window` is the largest distance if the numbers of inner loops decide it: then all these entries are one state.
    """

    written: Access | None = None
    scattered: tuple[Any, ...] | None = None
    depth: int = 0
    window: Size | None = None

    @property
    def found(self) -> tuple[object, ...]:
        """What runs of the step have found."""
        return self.written, self.depth, self.window


class Written:
    """An array inside a step, by the array before the loop and its entries at earlier steps.

    For an inner loop that changes the entry of the step, it is a number: this entry (`entry_of`).
    """

    def __init__(
        self, name: str, before: Any, one: Stepping, slot: Slot, depth: int, lags: Sequence[Any], array: Make
    ) -> None:
        self.name, self.before, self.one, self.slot, self.depth = name, before, one, slot, depth
        self.lags, self.array = lags, array
        self.value: Any = None

    @property
    def shape(self) -> Any:
        """The shape of the array."""
        return self.before.shape

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return int(self.before.ndim)

    @property
    def dtype(self) -> Any:
        """NumPy's type of the entries."""
        return self.before.dtype

    def __getitem__(self, at: Any) -> Any:
        parts = at if isinstance(at, tuple) else (at,)
        found, own = self._access(parts), self.slot.written
        if self.slot.scattered is not None:
            raise Unfit(self, "reads it")
        behind = self._distance(parts) if found is None else None
        if behind is not None:
            return self._in_window(behind, parts[0])
        if found is None:
            return self._elsewhere(parts, own)
        if own is None:
            return self._before(found)
        if found.key != own.key:
            if own.axis == found.axis and self._are_apart(found.fixed, own.fixed):
                return self._before(found)
            raise Unfit(self, "reads it at other subscripts")
        entry = self._entry(found.place, own.place)
        return _locked(entry[found.inner] if found.inner else entry, self.name)

    def __setitem__(self, at: Any, value: Any) -> None:
        parts = at if isinstance(at, tuple) else (at,)
        found, slot = self._access(parts), self.slot
        if found is None:
            self._scatter(parts, value)
            return
        if slot.written is None and slot.scattered is None:
            slot.written = found
        own = slot.written
        if own is None or found.key != own.key or found.place != own.place:
            raise Unfit(self, "writes two entries in a step")
        entry = self._entry(own.place, own.place).copy()
        entry[found.inner or ...] = value
        self.value = entry

    def _access(self, parts: Sequence[Any]) -> Access | None:
        """Return subscripts by their meaning; None without the number of the step, and for an entry at an index."""
        mine = [k for k, part in enumerate(parts) if decides(self.one, part)]
        if not mine:
            return None
        place = place_of(parts[mine[0]].node, self.one)
        if len(mine) > 1 or hasattr(parts[mine[0]], "places") or place is None:
            return None
        if any(one is None or one is Ellipsis for one in parts):
            raise Unfit(self, "has a new axis or an ellipsis in a subscript")
        outer = stepping.get()[: stepping.get().index(self.one)]
        fixed = {k: part for k, part in enumerate(parts) if any(decides(other, part) for other in outer)}
        inner = tuple(part for k, part in enumerate(parts) if k not in fixed and k not in mine)
        return Access(mine[0], place, fixed, inner)

    def row(self, fixed: dict[int, Any], own: Access) -> tuple[Any, int]:
        """Return the part of the array before the loop at subscripts of outer steps, and the axis of the number."""
        if not fixed:
            return (self.before if is_array(self.before) else self.before[:]), own.axis
        at = tuple(fixed.get(k, slice(None)) for k in range(self.ndim))
        return self.before[at], own.axis - sum(k < own.axis for k in fixed)

    def _before(self, found: Access) -> Any:
        """Return entries before the loop."""
        row, axis = self.row(found.fixed, found)
        number = self.array(found.place.number(self.one))
        at: list[Any] = list(found.inner)
        at[axis:axis] = [*[slice(None)] * (axis - len(at)), number]
        return _locked(row[tuple(at)], self.name)

    def _entry(self, place: Place, own: Place) -> Any:
        """Return the entry at a place, relative to the place that the step writes."""
        if place.is_backward != own.is_backward:
            raise Unfit(self, "reads it in another direction")
        gap = place.start - own.start if own.is_backward else own.start - place.start
        if not gap.is_integer:
            raise Unfit(self, f"reads an entry at a distance of {gap}")
        distance = int(gap)
        if distance == 0 and self.value is not None:
            return self.value
        if distance > 0 and self.slot.window is not None:
            if not is_nonnegative(self.slot.window - distance):
                raise Unfit(self, f"reads an entry at a distance of {gap}")
            return self.lags[0][distance - 1] if self.lags and self.lags[0].ndim else self.array(zeros(()))
        written = self.slot.written
        assert written is not None
        if distance <= 0:
            return self._before(written._replace(place=place, inner=()))
        self.slot.depth = max(self.slot.depth, distance)
        if distance > len(self.lags):
            return self._before(written._replace(place=place, inner=()))  # in a first run, for its shape
        return self.lags[distance - 1]

    def _distance(self, parts: Sequence[Any]) -> Node | None:
        """Return how far behind the written entry an entry is that inner steps choose; None for any other.

        For `e[t - j - 1]` that is `j + 1`.
        """
        if self.ndim != 1 or len(parts) != 1 or not decides(self.one, parts[0]) or hasattr(parts[0], "places"):
            return None
        own = self.slot.written
        written = self.one.number if own is None else own.place.number(self.one)
        found = add([(1, written), (-1, parts[0].node)])
        active = stepping.get()
        inner, chosen = active[active.index(self.one) + 1 :], deciding(found)
        is_inner = bool(chosen) and all(one in inner for one in chosen)
        return found if is_inner and (own is None or not own.place.is_backward) else None

    def _in_window(self, distance: Node, part: Any) -> Any:
        """Return an entry of the window behind the entry that the step writes.

        Raises: ShapeError for an entry before the first one, which NumPy would count from the end.
        """
        numbers, slot = numbers_of(distance), self.slot
        if slot.written is None:
            return self.array(zeros(()))  # in a first run, for its shape
        if numbers is None or not is_nonnegative(numbers.least - 1) or slot.window not in (None, numbers.greatest):
            raise Unfit(self, "reads it at other subscripts")
        if not is_never_negative(part.node):
            hint = "begin the loop at the first step with all entries, or read them under  if t - j - 1 >= 0"
            raise ShapeError(f"a step reads entries of {self.name} before the first", hint=hint)
        slot.window = numbers.greatest
        if not self.lags or not self.lags[0].ndim:
            return self.array(zeros(()))
        return self.lags[0][self.array(add([(1, distance), (-1, size_number(Size.of(1)))]))]

    def filled(self, entry: Any) -> Written:
        """Return this array with another value of the entry that the step writes, for an inner loop that changes it."""
        made = Written(self.name, self.before, self.one, self.slot, self.depth, self.lags, self.array)
        made.value = entry
        return made

    def entry_in(self, changed: Any) -> Any:
        """Return the entry of the step after an inner step, which returns this array as it has changed it."""
        if not isinstance(changed, Written) or changed.slot is not self.slot:
            raise Unfit(self, "binds its name")
        return changed.current()

    def bodies(self, states: Sequence[Node]) -> list[Node]:
        """Return the values of the states after the step: earlier entries by their distance, or the window of them."""
        import numpy as np

        if self.slot.window is None or not states:
            return [self.value.node, *states[:-1]]
        whole: Any = np.concatenate([self.value[None], self.lags[0]])
        return [whole[:-1].node]

    def current(self) -> Any:
        """Return the entry that the step writes, as it is now."""
        own = self.slot.written
        if own is None:
            raise Unfit(self, "writes to it under a condition")
        return self._entry(own.place, own.place)

    def starts(self) -> list[Node]:
        """Return the entries before the first step, by their distance from it."""
        own = self.slot.written
        assert own is not None
        row, axis = self.row(own.fixed, own)
        sequence = leading(row.node, axis)
        if self.slot.window is not None:
            return [self._first_window(sequence, own.place.start, self.slot.window)]
        found = []
        for distance in range(1, self.slot.depth + 1):
            at = own.place.start + (distance if own.place.is_backward else -distance)
            message = f"the first step reads entry {at} of {self.name}, of {sequence.shape[0]}"
            if at.is_integer and at.constant < 0:
                hint = "begin the loop at the first step with such an entry; index -1 is the last entry in NumPy"
                raise ShapeError(message, hint=hint)
            check_room(at, message)
            check_room(sequence.shape[0] - at - 1, message)
            part = cut(sequence, at, Size.of(1))
            rest = tuple(range(1, part.rank))
            found.append(product(1, [(part, (0, *rest))], rest, {}))
        return found

    def _first_window(self, sequence: Node, start: Size, width: Size) -> Node:
        """Return the entries before the first step, the last one first; those before the array are 0 and never read."""
        check_room(sequence.shape[0] - start, f"the first step reads entry {start - 1} of {self.name}")
        is_inside = is_nonnegative(start - width)
        whole = sequence if is_inside else concatenate([zeros((width,)), sequence])
        return self.array(cut(whole, start - width if is_inside else start, width))[::-1].node  # type: ignore[no-any-return]

    def finish(self, values: Any, before: int) -> None:
        """Write the entries of all steps, by the number of the step, to the array before the loop.

        `before` entries of before the first step come first.
        """
        slot, own = self.slot, self.slot.written
        if own is None:
            assert slot.scattered is not None
            self.before.put_at(slot.scattered, values)
            return
        length = self.one.length
        start = own.place.start - length + 1 if own.place.is_backward else own.place.start - before
        after = start + length + before
        row, axis = self.row(own.fixed, own)
        count = row.node.shape[axis]
        check_inside(start, length + before, count, f"of {self.name} is written")
        if own.place.is_backward:
            values = values[::-1]
        moved = self.array(trailing(values.node, axis)) if axis else values
        whole = start == 0 and after == count
        at = [own.fixed.get(k, slice(None)) for k in range(self.ndim)]
        at[own.axis] = slice(None) if whole else slice(start, after)
        self.before[tuple(at)] = moved

    def _scatter(self, parts: Sequence[Any], value: Any) -> None:
        """Note a write to an entry at an index of the step."""
        slot = self.slot
        is_own = any(decides(self.one, part) for part in parts)
        if not is_own or not is_array(self.before) or self.value is not None or slot.written is not None:
            raise Unfit(self, "writes two entries in a step")
        found = places_at_all_steps(self.one, parts)
        if found is None:
            raise Unfit(self, "writes a part of it")
        slot.scattered, self.value = found, value.copy() if is_array(value) else self.array(node_of(value))

    def _elsewhere(self, parts: Sequence[Any], own: Access | None) -> Any:
        """Return entries at subscripts without the number of the step, which no step of this loop writes."""
        if any(decides(self.one, part) or part is None or part is Ellipsis for part in parts):
            raise Unfit(self, "reads it at other subscripts")
        if own is not None:
            fixed = {k: parts[k] for k in own.fixed if k < len(parts) and is_array(parts[k])}
            number = parts[own.axis] if own.axis < len(parts) else None
            is_outside = isinstance(number, int) and self._is_outside(Size.of(number), own)
            if not is_outside and not self._are_apart(fixed, own.fixed):
                raise Unfit(self, "reads other entries")
        return _locked(self.before[tuple(parts)], self.name)

    def _is_outside(self, at: Size, own: Access) -> bool:
        """Whether no step writes the entry at a number."""
        first = own.place.start - self.one.length + 1 if own.place.is_backward else own.place.start
        return is_nonnegative(at) and (is_nonnegative(first - at - 1) or is_nonnegative(at - first - self.one.length))

    def _are_apart(self, one: dict[int, Any], other: dict[int, Any]) -> bool:
        """Whether subscripts of outer steps are never equal."""
        if one.keys() != other.keys():
            return False
        gaps = [size_in(add([(1, one[k].node), (-1, other[k].node)])) for k in one]
        return any(gap is not None and gap.is_integer and gap != 0 for gap in gaps)

    def _refuse(self, *_: object, **__: object) -> NoReturn:
        raise Unfit(self, "uses all of it")

    def __getattr__(self, name: str) -> NoReturn:
        if name == "node":
            raise AttributeError(name)
        raise Unfit(self, f"uses its {name}")

    __array_function__ = __array_ufunc__ = __array__ = __iter__ = __len__ = __bool__ = __float__ = _refuse
    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = __rtruediv__ = __pow__ = _refuse
    __matmul__ = __rmatmul__ = __neg__ = __eq__ = __ne__ = __lt__ = __gt__ = __le__ = __ge__ = __contains__ = _refuse
    __hash__ = None  # type: ignore[assignment]


def entry_of(value: Any) -> Any:
    """Return the entry that a step has written to an array, for an inner loop; any other value itself."""
    return value.current() if isinstance(value, Written) else value


def _locked(entry: Any, name: str) -> Any:
    """Return entries that the step reads and may not write through."""
    if is_array(entry) and entry.node.shape:
        entry = entry.copy()
        entry.lock(name)
    return entry
