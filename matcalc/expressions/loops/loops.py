"""Runs a loop of a traced function once, on symbols: a loop over a symbolic number of steps is a recurrence.

A name that the body binds and that has a value before the loop is a state. A list to which the body appends becomes an
array of all steps. What is read at the number of the step, `U[t]`, is a slice of a sequence.
"""

from __future__ import annotations

import builtins
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NoReturn

from matcalc.errors import NotSupported, ShapeError
from matcalc.expressions.loops.bounds import limits_of
from matcalc.expressions.loops.branches import answered, merged
from matcalc.expressions.loops.changes import At, change
from matcalc.expressions.loops.steps import (
    ONE,
    SCAN,
    ZERO,
    Stepping,
    conditions_of,
    is_leaf,
    leaves_of,
    running,
    stepped_names,
    stepping,
)
from matcalc.expressions.loops.symbolic import Symbolic, fewest, fixed
from matcalc.expressions.numpy_bridge.arguments import Compared, is_array, left_open, length_in, node_of
from matcalc.tensor.constructors import add, size_number
from matcalc.tensor.nodes.node import Node
from matcalc.tensor.sizes.size import Size, is_nonnegative
from matcalc.tensor.sizes.sizes_from_shapes import Condition
from matcalc.tensor.steps.one_step import at_all_steps
from matcalc.tensor.symbols import Names

Make = Callable[[Node, Names], Any]
"""Returns a node as an array of the traced function."""


class Loops:
    """The functions that rewritten loops call; `make` returns an array of the function, `listed` one as a list."""

    def __init__(self, make: Make, listed: Callable[[Any], Any]) -> None:
        self.make, self.listed = make, listed

    @staticmethod
    def is_steps(value: object) -> bool:
        """Whether a loop over a value is symbolic."""
        return isinstance(value, Symbolic)

    def over(self, value: Any) -> Any:
        """Return an array of a symbolic number of entries, or of many, as steps; anything else unchanged."""
        if isinstance(value, builtins.range) and _is_read(Size.of(len(value))) and abs(value.step) == 1:
            return self._fixed(value)
        if is_array(value) and value.node.shape and _is_read(value.node.shape[0]):
            original = value if value.node.shape[0].is_integer else None
            node, names, offset = value.node, value.names, getattr(value, "offset", ZERO)
            if not offset.is_integer:
                raise NotSupported("a loop over an index plus a size", hint="loop over range(len(y)), and write y[t]")
            shift, name = int(offset), getattr(value, "argument", "")
            return Symbolic(
                self, node.shape[0],
                lambda one: self._entry(one.entry_of(node), names, shift, name),
                lambda k: value[_plain(k, value.shape[0])], value.shape[0], original=original,
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
            if found.original is not None:
                return found.original
            raise NotSupported(f"a loop over {found.length} steps cannot be a recurrence; {reason}", hint=SCAN)
        return value

    def mapped(self, items: Any, step: Callable[[Any], Any], plain: Callable[[Any], Any]) -> Any:
        """Return a comprehension: over a symbolic number of steps as a list of arrays, else what `plain` returns.

        Raises: NotSupported for entries that are no arrays, or another one at each call.
        """
        if not isinstance(items, Symbolic) or not items.is_mapped:
            return plain(items.original if isinstance(items, Symbolic) else items)
        found: list[Node] = []
        for _ in range(2):
            one = Stepping(items.length, len(stepping.get()))
            token = left_open.set([])
            try:
                with running(one):
                    of_step = partial(step, items.item(one))
                    value = answered(one, of_step, partial(merged, states=(), array=self.array))
                conditions = (*left_open.get(), *conditions_of(value), *items.conditions)
            finally:
                left_open.reset(token)
            if not is_leaf(value):
                raise NotSupported("the entries of a comprehension over steps are no arrays", hint=SCAN)
            found += [at_all_steps(node, one.sequences, items.length) for node in leaves_of(value) or ()]
        if found[0] is not found[1]:
            raise NotSupported("a comprehension gives another formula at each call", hint=SCAN)
        return self.listed(self.array(found[0], Names({}, (), conditions=tuple(dict.fromkeys(conditions)))))

    def either(self, condition: Compared, yes: Any, no: Any) -> Any:
        """Return the value of a function where a condition holds, else another.

        Raises: NotSupported for values of other kinds or shapes.
        """
        names = Names({}, (), conditions=tuple(dict.fromkeys([*conditions_of(yes), *conditions_of(no)])))
        return merged(condition, yes, no, (), lambda node: self.array(node, names))

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
            conditions=_enough(length),
            backwards=lambda: self.range(begin + sign * _plain(length, like) - sign, begin - sign, -sign),
        )  # fmt: skip

    def _fixed(self, steps: Sequence[int]) -> Any:
        """Return a range of integers as steps."""
        by, first = steps[1] - steps[0], steps[0]
        return Symbolic(
            self, Size.of(len(steps)),
            lambda one: self.array(add([(by, one.number), (1, size_number(one.first * by + first))])),
            lambda k: steps[int(k)], None, original=steps,
        )  # fmt: skip

    def _triangular(self, *args: Any) -> Symbolic:
        """Return steps whose bounds are numbers of a step around: all that any step has, each under a condition."""
        start, stop = (0, args[0]) if len(args) == 1 else args[:2]
        by = args[2] if len(args) == 3 else 1
        if by not in (1, -1):
            raise NotSupported("a loop over a range of numbers of steps has the stride 1 or -1", hint=SCAN)
        low, high = (start, stop) if by == 1 else (stop, start)
        lower, upper = limits_of(low, ">", self.array), limits_of(high, "<", self.array)

        def guards(item: Any) -> list[Compared]:
            above = [item >= one if by == 1 else item > one for one in lower.deciding]
            below = [item < one if by == 1 else item <= one for one in upper.deciding]
            return [one.handed for one in (*above, *below)]

        def between(least: Size, end: Size) -> Symbolic:
            length, first = end - least, least if by == 1 else end
            return Symbolic(
                self, length, lambda one: self.array(add([(by, one.number), (1, size_number(first))])), _no_entry,
                None, guards, conditions=_enough(length),
            )  # fmt: skip

        found = between(lower.end, upper.end)
        if by == 1 and (lower.is_one_beyond or upper.is_one_beyond):
            found.wider = between(lower.end - lower.is_one_beyond, upper.end + upper.is_one_beyond)
        return found

    def zip(self, *args: Any, **options: Any) -> Any:
        """Return Python's zip, or steps if an argument has a symbolic number of entries."""
        found = [self.over(one) for one in args]
        are_fixed = [not isinstance(one, Symbolic) or one.original is not None for one in found]
        lengths = {one.length if isinstance(one, Symbolic) else None for one in found}
        if all(are_fixed) and (len(lengths) != 1 or None in lengths):
            return zip(*args, **options)  # noqa: B905 - as the function calls it
        length = self._common(found)
        if length is None:
            return zip(*args, **options)  # noqa: B905 - as the function calls it
        return Symbolic(
            self,
            length,
            lambda one: tuple(x.item(one) for x in found),
            lambda k: tuple(x.entry(k) for x in found),
            found[0].size,
            original=zip(*(one.original for one in found), strict=True) if all(are_fixed) else None,
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
            original=None if found.original is None else enumerate(found.original, start),
        )  # fmt: skip

    def reversed(self, value: Any) -> Any:
        """Return Python's reversed, or steps over an array in the opposite order."""
        found = self.over(value)
        if not isinstance(found, Symbolic):
            return reversed(value)
        if found.backwards is not None:
            return found.backwards()
        if not is_array(value) and not isinstance(value, builtins.range):
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


def _is_read(length: Size) -> bool:
    """Whether a loop of this length is read as steps."""
    return not length.is_integer or fixed.get() is not None and length.constant >= fewest.get()


def _enough(length: Size) -> tuple[Condition, ...]:
    """Return the condition that a loop has no negative number of steps."""
    return () if is_nonnegative(length) else (Condition(length, f"a loop has {length} steps"),)


def _no_entry(position: Size) -> NoReturn:
    raise NotSupported("a step of an inner loop by itself", hint=SCAN)


def _plain(position: Size, like: Any) -> Any:
    """Return a position as an integer, or as a size like another."""
    return int(position) if position.is_integer else type(like)(position, like.number, like.traced)
