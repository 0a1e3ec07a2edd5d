"""Defines `np.arange(n)` in a traced function: numbers of formulas, and subscripts whose integers sizes decide."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

from matcalc.errors import NoValue
from matcalc.expressions.numpy_bridge.index_sets import as_run
from matcalc.expressions.numpy_bridge.operators import Operation
from matcalc.expressions.numpy_bridge.runs import Runs
from matcalc.expressions.numpy_bridge.triangles import Side
from matcalc.expressions.operands.numpy_protocol import ArrayCall
from matcalc.expressions.traced_array import TracedArray, traced_array
from matcalc.expressions.user_code.range_calls import MOVES, computed, part
from matcalc.expressions.user_code.subscript_values import shift_by
from matcalc.tensor.nodes.node import Node
from matcalc.tensor.symbols import Names


class TracedRange(TracedArray):
    """Integers that sizes decide, `np.arange(n)`, also for use in subscripts."""

    __slots__ = ("runs",)

    def __init__(self, node: Node, names: Names, row: bool = False, runs: Runs | None = None, **given: Any) -> None:
        super().__init__(node, names, row, **given)
        self.runs = runs

    @property
    def places(self) -> Any:
        """The integers as a subscript."""
        return None if self.runs is None else as_run(self.runs)

    def _with_other(self, operation: Operation, other: object, swap: bool = False) -> object:
        made = cast("TracedArray", super()._with_other(operation, other, swap))
        pending = ArrayCall(self)
        runs = None if self.runs is None else pending.call(computed, self.runs, operation, other, swap)
        made.names = made.names.joined(pending.names)
        return _ranging(made, runs)

    def __getitem__(self, at: object) -> Any:
        made = super().__getitem__(at)
        return _ranging(made, part(self.runs, at)) if self.runs is not None and isinstance(at, slice) else made

    def __array_function__(
        self, function: Callable[..., object], types: object, args: Sequence[object], kwargs: Mapping[str, object]
    ) -> object:
        made = super().__array_function__(function, types, args, kwargs)
        move = MOVES.get(function.__name__)
        return made if move is None or kwargs else _ranging(made, move(*args))

    def write(self, node: Node, names: Names) -> None:
        """Raise NoValue: its entries are integers, and NumPy would truncate what is written."""
        raise NoValue("an array of integers is not written with a formula", hint="write np.arange(n, dtype=float)")


class TracedSide(TracedArray):
    """The rows or the columns of a triangle's entries, also for use in subscripts."""

    __slots__ = ("places",)

    def __init__(self, node: Node, names: Names, row: bool = False, side: Side | None = None, **given: Any) -> None:
        super().__init__(node, names, row, **given)
        self.places = side

    def _with_other(self, operation: Operation, other: object, swap: bool = False) -> object:
        made = super()._with_other(operation, other, swap)
        by = shift_by(operation.numpy, other, swap)
        if by is None or self.places is None or not isinstance(made, TracedArray):
            return made
        return TracedSide(made.node, made.names, side=replace(self.places, offset=self.places.offset + by))

    write = TracedRange.write


def _ranging(made: object, runs: Runs | None) -> object:
    """Return a result of integers in ranges; any other result as it is."""
    if not isinstance(made, TracedArray) or made.ndim != 1:
        return made
    return traced_array(made) if runs is None else TracedRange(made.node, made.names, runs=runs)
