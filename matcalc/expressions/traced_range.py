"""Defines `np.arange(n)` in a traced function: numbers of formulas, and subscripts whose integers sizes decide."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

from matcalc.errors import NoValue
from matcalc.expressions.numpy_bridge.index_sets import Known, Run, as_run, places_of, run_of
from matcalc.expressions.numpy_bridge.operators import Operation
from matcalc.expressions.numpy_bridge.runs import Runs, joined_runs
from matcalc.expressions.numpy_protocol import ArrayCall
from matcalc.expressions.traced_array import TracedArray, traced_array
from matcalc.expressions.user_code.subscript_values import shift, whole_number
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
        runs = None if self.runs is None else pending.call(_computed, self.runs, operation, other, swap)
        made.names = made.names.joined(pending.names)
        return _ranging(made, runs)

    def __getitem__(self, at: object) -> Any:
        made = super().__getitem__(at)
        return _ranging(made, _part(self.runs, at)) if self.runs is not None and isinstance(at, slice) else made

    def __array_function__(
        self, function: Callable[..., object], types: object, args: Sequence[object], kwargs: Mapping[str, object]
    ) -> object:
        made = super().__array_function__(function, types, args, kwargs)
        move = MOVES.get(function.__name__)
        return made if move is None or kwargs else _ranging(made, move(*args))

    def write(self, node: Node, names: Names) -> None:
        """Raise NoValue: its entries are integers, and NumPy would truncate what is written."""
        raise NoValue("an array of integers is not written with a formula", hint="write np.arange(n, dtype=float)")


def _ranging(made: object, runs: Runs | None) -> object:
    """Return a result of integers in ranges; any other result as it is."""
    if not isinstance(made, TracedArray) or made.ndim != 1:
        return made
    return traced_array(made) if runs is None else TracedRange(made.node, made.names, runs=runs)


def _computed(runs: Runs, operation: Operation, other: object, swap: bool) -> Runs | None:
    """Return the result of an operator; None if it is no range."""
    number, by = whole_number(other), shift(operation, other, swap)
    if by is not None:
        return runs.shifted(by)
    if number is None or swap != (operation.numpy == "subtract"):
        return None
    return runs.subtracted_from(number) if swap else runs.modulo(number) if operation.numpy == "remainder" else None


def _part(runs: Runs, at: slice) -> Runs | None:
    """Return the integers of a slice; None if they are no range."""
    if (at.start, at.stop, at.step) == (None, None, -1):
        return runs.backwards()
    part = run_of(at, runs.shape[0]) if at.step in (None, 1) else None
    return runs.part(part.start, part.length) if isinstance(part, Run) else None


def _runs_of(value: Any) -> Runs | None:
    """Return the ranges of an array or list of integers; None for anything else."""
    if isinstance(value, TracedRange):
        return value.runs
    if isinstance(value, int) and not isinstance(value, bool):
        value = [value]
    is_list = isinstance(value, (list, tuple)) and all(type(one) is int for one in value)
    if not is_list and getattr(getattr(value, "dtype", None), "kind", "") not in "iu":
        return None
    known = places_of(value)
    return joined_runs([Runs.of(*run) for run in known.runs()]) if isinstance(known, Known) else None


def _concatenated(items: Sequence[Any], *others: object) -> Runs | None:
    found = [_runs_of(one) for one in items]
    return None if others or None in found else joined_runs(cast("list[Runs]", found))


def _rolled(a: Any, by: object, *others: object) -> Runs | None:
    """Return the ranges of np.roll by a few entries."""
    runs = _runs_of(a)
    if runs is None or others or not isinstance(by, int):
        return None
    length = runs.shape[0]
    at = length - by if by > 0 else length * 0 - by
    parts = [runs.part(at, length - at), runs.part(length * 0, at)]
    return None if None in parts else Runs(joined_runs(cast("list[Runs]", parts)).pieces, runs.is_apart)


MOVES: Mapping[str, Callable[..., Runs | None]] = {
    "concatenate": _concatenated,
    "hstack": _concatenated,
    "append": lambda *items: _concatenated(items[:2], *items[2:]),
    "roll": _rolled,
    "flip": lambda a, *others: None if others else a.runs and a.runs.backwards(),
}
"""Functions of NumPy whose results of ranges are ranges."""
