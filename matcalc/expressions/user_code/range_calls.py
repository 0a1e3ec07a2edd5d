"""Finds which operators and functions of NumPy map ranges of integers to ranges: `n - 1 - i`, `i % n`, np.append."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

from matcalc.expressions.numpy_bridge.index_sets import Known, Run, places_of, run_of
from matcalc.expressions.numpy_bridge.operators import Operation
from matcalc.expressions.numpy_bridge.runs import Runs, joined_runs
from matcalc.expressions.user_code.subscript_values import shift_by, whole_number


def computed(runs: Runs, operation: Operation, other: object, swap: bool) -> Runs | None:
    """Return the result of an operator; None if it is no range."""
    number, by = whole_number(other), shift_by(operation.numpy, other, swap)
    if by is not None:
        return runs.shifted(by)
    if number is None or swap != (operation.numpy == "subtract"):
        return None
    return runs.subtracted_from(number) if swap else runs.modulo(number) if operation.numpy == "remainder" else None


def part(runs: Runs, at: slice) -> Runs | None:
    """Return the integers of a slice; None if they are no range."""
    if (at.start, at.stop, at.step) == (None, None, -1):
        return runs.backwards()
    found = run_of(at, runs.shape[0]) if at.step in (None, 1) else None
    return runs.part(found.start, found.length) if isinstance(found, Run) else None


def _runs_of(value: Any) -> Runs | None:
    """Return the ranges of an array or list of integers; None for anything else."""
    if hasattr(value, "runs"):
        return cast("Runs | None", value.runs)
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
