"""Runs a loop of a traced function once, on symbols: a loop over a symbolic number of steps is a recurrence.

A name that the body binds and that has a value before the loop is a state. A list to which the body appends becomes an
array of all steps. What is read at the number of the step, `U[t]`, is a slice of a sequence.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NoReturn

from matcalc.errors import NotSupported, ShapeError
from matcalc.expressions.loops.body import Body
from matcalc.expressions.loops.branches import Split
from matcalc.expressions.loops.changes import At, change
from matcalc.expressions.loops.run import Run
from matcalc.expressions.loops.steps import (
    ONE,
    SCAN,
    ZERO,
    Appending,
    Stepping,
    is_leaf,
    leaves_of,
    running,
    stepped_names,
    stepping,
)
from matcalc.expressions.loops.subscripts import bounds_of
from matcalc.expressions.loops.writes import Written
from matcalc.expressions.numpy_bridge.arguments import Compared, is_array, length_in, node_of
from matcalc.expressions.numpy_bridge.length import assuming
from matcalc.tensor.constructors import add, size_number
from matcalc.tensor.nodes.node import Node
from matcalc.tensor.recurrence import at_all_steps
from matcalc.tensor.sizes.size import Size, is_nonnegative
from matcalc.tensor.sizes.sizes_from_shapes import Condition
from matcalc.tensor.symbols import Names

Make = Callable[[Node, Names], Any]
"""Returns a node as an array of the traced function."""


Step = Callable[[Any, Mapping[str, Any]], Mapping[str, Any]]
"""Runs the body of a loop for an item and values of names; returns the values after it."""
MOST_APART = 4
"""Most steps that are run one by one where a condition divides a loop."""


def unguarded(item: Any) -> Sequence[Compared]:
    """Return no conditions."""
    return ()


@dataclass
class Symbolic:
    """What a loop over a symbolic number of steps runs over: the number, and the item at a step.

    `entry` is the item at a known position, and `size` a size of the function. `guards` are the conditions under which
    a step is run. `first` is the number of steps before these, and `conditions` are those on sizes.
    """

    loops: Loops
    length: Size
    item: Callable[[Stepping], Any]
    entry: Callable[[Size], Any]
    size: Any
    guards: Callable[[Any], Sequence[Compared]] = unguarded
    first: Size = ZERO
    conditions: tuple[Condition, ...] = ()

    @property
    def is_guarded(self) -> bool:
        """Whether a step is run under conditions."""
        return self.guards is not unguarded

    def __iter__(self) -> NoReturn:
        raise NotSupported(f"a loop over {self.length} steps is not read here", hint=SCAN)

    def run(self, step: Step, values: Mapping[str, Any], bound: Sequence[Sequence[str]]) -> dict[str, Any]:
        """Return the values of names and lists after the loop.

        Raises: NotSupported, ShapeError for a step that is no step of a recurrence.
        """
        body, found, rest = Body(*map(tuple, bound)), dict[str, Any](), [self]
        noted: list[Condition] = []
        while rest:
            part = rest.pop(0)
            states = {name: one for name, one in found.items() if name in values or leaves_of(one) is not None}
            known = {**values, **states}
            if part is not self and part.length.is_integer and part.length.constant <= MOST_APART:
                found |= part.one_by_one(step, {**known, **found}, body, noted)
                continue
            try:
                found |= part.whole(step, known, body)
            except Split as fault:
                if fault.one.depth != len(stepping.get()):
                    raise
                rest = [*part.parts(fault.position, noted), *rest]
        for value in found.values() if noted else ():
            if is_array(value):
                value.names = value.names.under(noted)
        return found

    def one_by_one(self, step: Step, values: Mapping[str, Any], body: Body, noted: list[Condition]) -> dict[str, Any]:
        """Return the values of names and lists after a few steps, each run by itself."""
        found: dict[str, Any] = {}
        token = assuming.set(noted)
        try:
            for k in range(int(self.length)):
                end = step(self.entry(self.first + k), {**values, **found})
                found |= {name: end[name] for name in (*body.names, *body.lists) if name in end}
        finally:
            assuming.reset(token)
        return found

    def parts(self, at: Size, noted: list[Condition]) -> list[Symbolic]:
        """Return the steps before a position, and those from it on; note the conditions for the position."""
        message = f"a condition divides the loop of {self.length} steps at step {at}"
        noted += [Condition(room, message) for room in (at, self.length - at) if not is_nonnegative(room)]
        return [
            replace(self, length=at),
            replace(self, length=self.length - at, first=self.first + at),
        ]

    def whole(self, step: Step, values: Mapping[str, Any], body: Body) -> dict[str, Any]:
        """Return the values of names and lists after steps of one kind."""
        given = {name: values[name] for name in body.names if name in values}
        changed = {name: value for name, value in given.items() if name in body.in_place}
        for name, value in changed.items():
            _check_changed(name, value, values, body)
        own = {name: values[name] for name in body.lists if name in values}
        for name, value in own.items():
            if isinstance(value, Appending):
                hint = "write to an array of two axes:  X[i, j] = ..."
                raise NotSupported(f"an inner loop appends to {name}, a list of a loop around", hint=hint)
            if type(value) is not list:
                raise NotSupported(f"the loop appends to {name}, which is no list of this function", hint=SCAN)
        written = [name for name in body.written if is_array(given.get(name)) or isinstance(given.get(name), Written)]
        run = Run(self, step, given, own, written)
        found = run.result()
        for name, value in changed.items():
            if name not in run.writes:
                found[name] = _changed(value, found[name])
        return found


def _check_changed(name: str, value: Any, values: Mapping[str, Any], body: Body) -> None:
    """Require that a loop may change a value in place, and reads it by no other name.

    Raises: NoValue for an argument, NotSupported.
    """
    if isinstance(value, (Written, dict)) or not getattr(value, "ndim", None) and type(value) is not list:
        return
    if not is_array(value):
        hint = "create it inside the function:  np.zeros(n)"
        raise NotSupported(f"the loop writes to {name}, which is no array of formulas", hint=hint)
    value.check_own()
    for other in body.reads:
        twin = values.get(other)
        if other != name and is_array(twin) and twin.owner is value.owner:  # type: ignore[union-attr]
            raise NotSupported(f"the loop changes {name}, and reads it as {other}", hint="use one name in the loop")


def _changed(value: Any, found: Any) -> Any:
    """Write the value after the loop to the object that the loop changes in place."""
    if is_array(value) and value.ndim:
        value.write(found.node, found.names)
        return value
    if isinstance(value, dict):
        value.update(found)
        return value
    return found


class Loops:
    """The functions that rewritten loops call; `make` returns an array of the function, `listed` one as a list."""

    def __init__(self, make: Make, listed: Callable[[Any], Any]) -> None:
        self.make, self.listed = make, listed

    @staticmethod
    def is_steps(value: object) -> bool:
        """Whether a loop over a value is symbolic."""
        return isinstance(value, Symbolic)

    def over(self, value: Any) -> Any:
        """Return an array of a symbolic number of entries as steps, anything else unchanged."""
        if is_array(value) and value.node.shape and not value.node.shape[0].is_integer:
            node, names, offset = value.node, value.names, getattr(value, "offset", ZERO)
            if not offset.is_integer:
                raise NotSupported("a loop over an index plus a size", hint="loop over range(len(y)), and write y[t]")
            shift, name = int(offset), getattr(value, "argument", "")
            return Symbolic(
                self, node.shape[0],
                lambda one: self._entry(one.entry_of(node), names, shift, name),
                lambda k: value[_plain(k, value.shape[0])], value.shape[0],
            )  # fmt: skip
        return value

    def _entry(self, node: Node, names: Names, shift: int, name: str) -> Any:
        """Return the entry of an array at a step, which is not written."""
        entry = self.array(node, names)
        entry.lock(name)
        return entry + shift if shift else entry

    def plain(self, value: Any, reason: str) -> Any:
        """Return what a loop runs over that is no recurrence.

        Raises: NotSupported if the number of steps is symbolic.
        """
        found = self.over(value)
        if isinstance(found, Symbolic):
            raise NotSupported(f"a loop over {found.length} steps cannot be a recurrence; {reason}", hint=SCAN)
        return value

    def mapped(self, items: Any, step: Callable[[Any], Any], plain: Callable[[Any], Any]) -> Any:
        """Return a comprehension: over a symbolic number of steps as a list of arrays, else what `plain` returns.

        Raises: NotSupported for entries that are no arrays, or another one at each call.
        """
        if not isinstance(items, Symbolic):
            return plain(items)
        found: list[Node] = []
        for _ in range(2):
            one = Stepping(items.length, len(stepping.get()))
            with running(one):
                value = step(items.item(one))
            if not is_leaf(value):
                raise NotSupported("the entries of a comprehension over steps are no arrays", hint=SCAN)
            found += [at_all_steps(node, one.sequences, items.length) for node in leaves_of(value) or ()]
        if found[0] is not found[1]:
            raise NotSupported("a comprehension gives another formula at each call", hint=SCAN)
        return self.listed(self.array(found[0]))

    @property
    def at(self) -> At:
        """Returns the subscripts between its brackets."""
        return At()

    @staticmethod
    def change(array: Any, at: Any, operation: str, value: Any) -> None:
        """Change entries in place, `x[t] += y`."""
        change(array, at, operation, value)

    @staticmethod
    def instead(theirs: Any, ours: Callable[..., Any]) -> Callable[..., Any]:
        """Return our function for Python's, and the user's own function of the same name unchanged."""
        return ours if getattr(theirs, "__module__", None) == "builtins" else theirs

    def array(self, node: Node, names: Names | None = None) -> Any:
        """Return a node as an array; the symbols of steps are among its names."""
        own = stepped_names(node)
        return self.make(node, own if names is None else names.joined(own))

    def range(self, *args: Any) -> Any:
        """Return Python's range, or steps if a bound is a size.

        Raises: NotSupported for a stride other than 1 and -1.
        """
        sizes = [length_in(one) for one in args]
        if any(map(is_array, args)):
            return self._triangular(*args)
        if all(one is None for one in sizes):
            return range(*args)
        bounds = [size if size is not None else Size.of(int(one)) for size, one in zip(sizes, args, strict=True)]
        start, stop = (ZERO, bounds[0]) if len(bounds) == 1 else (bounds[0], bounds[1])
        by = bounds[2] if len(bounds) == 3 else ONE
        if by is not ONE and by is not Size.of(-1):
            raise NotSupported("a loop over a range of sizes has the stride 1 or -1", hint=SCAN)
        sign = 1 if by is ONE else -1
        length = stop - start if sign == 1 else start - stop
        begin, like = (
            args[0] if len(args) > 1 else 0,
            next(x for x, s in zip(args, sizes, strict=True) if s is not None),
        )
        return Symbolic(
            self, length,
            lambda one: self.array(add([(sign, one.number), (1, size_number(start + one.first * sign))])),
            lambda k: begin + sign * _plain(k, like), like,
        )  # fmt: skip

    def _triangular(self, *args: Any) -> Symbolic:
        """Return steps whose bounds are numbers of a step around: all that any step has, each under a condition."""
        start, stop = (0, args[0]) if len(args) == 1 else args[:2]
        by = args[2] if len(args) == 3 else 1
        if by not in (1, -1):
            raise NotSupported("a loop over a range of numbers of steps has the stride 1 or -1", hint=SCAN)
        low, high = (start, stop) if by == 1 else (stop, start)
        least, most = bounds_of(low)[0], bounds_of(high)[1]
        length = most - least
        first = least if by == 1 else most
        is_open = [is_array(low), is_array(high)]

        def guards(item: Any) -> list[Compared]:
            below = item >= low if by == 1 else item > low
            above = item < high if by == 1 else item <= high
            return [one.handed for one, is_own in zip((below, above), is_open, strict=True) if is_own]

        room = () if is_nonnegative(length) else (Condition(length, f"an inner loop has {length} steps"),)
        return Symbolic(
            self, length, lambda one: self.array(add([(by, one.number), (1, size_number(first))])), _no_entry,
            None, guards, conditions=room,
        )  # fmt: skip

    def zip(self, *args: Any, **options: Any) -> Any:
        """Return Python's zip, or steps if an argument has a symbolic number of entries."""
        found = [self.over(one) for one in args]
        length = self._common(found)
        if length is None:
            return zip(*args, **options)  # noqa: B905 - as the function calls it
        return Symbolic(
            self,
            length,
            lambda one: tuple(x.item(one) for x in found),
            lambda k: tuple(x.entry(k) for x in found),
            found[0].size,
        )

    def enumerate(self, value: Any, start: Any = 0) -> Any:
        """Return Python's enumerate, or steps if the argument has a symbolic number of entries."""
        found = self.over(value)
        if not isinstance(found, Symbolic):
            return enumerate(value, start)
        first = node_of(start)
        return Symbolic(
            self, found.length,
            lambda one: (self.array(add([(1, one.number), (1, first), (1, size_number(one.first))])), found.item(one)),
            lambda k: (start + _plain(k, found.size), found.entry(k)), found.size,
        )  # fmt: skip

    def reversed(self, value: Any) -> Any:
        """Return Python's reversed, or steps over an array in the opposite order."""
        found = self.over(value)
        if not isinstance(found, Symbolic):
            return reversed(value)
        if not is_array(value):
            raise NotSupported("reversed of a symbolic range", hint="write range(T - 1, -1, -1)")
        return self.over(value[::-1])

    def _common(self, found: Sequence[Any]) -> Size | None:
        lengths = {one.length for one in found if isinstance(one, Symbolic)}
        if not lengths:
            return None
        if len(lengths) > 1 or not all(isinstance(one, Symbolic) for one in found):
            shown = " and ".join(sorted(str(one.length) if isinstance(one, Symbolic) else "a number" for one in found))
            raise ShapeError(f"zip of {shown} entries stops with the shorter", hint="declare one length for all")
        return lengths.pop()


def _no_entry(position: Size) -> NoReturn:
    raise NotSupported("a step of an inner loop by itself", hint=SCAN)


def _plain(position: Size, like: Any) -> Any:
    """Return a position as an integer, or as a size like another."""
    return int(position) if position.is_integer else type(like)(position, like.number, like.traced)
