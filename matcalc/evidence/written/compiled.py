"""Compares a compiled function with the formulas as they were written, by calling it at small random data."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from matcalc.errors import InternalError, MatcalcError, NoReference
from matcalc.evidence.written.claims import ADVICE, DETERMINED, EXACT, NUDGE, NUDGES
from matcalc.evidence.written.points import Point, nudged, points, report
from matcalc.evidence.written.reference import Reference, of_node, values_of
from matcalc.evidence.written.values import Array
from matcalc.tensor.node import Node
from matcalc.tensor.symbols import Names


class Result(NamedTuple):
    """A result of a function: its name, its node, and where its value comes from."""

    label: str
    node: Node
    reference: Reference


KEPT_BLOCKS = 8
"""More than NumPy keeps of the blocks of one size that were freed."""

Function = Callable[[Mapping[str, Any]], Sequence[Any]]
"""A compiled function of data and sizes by name that returns its results in order."""


def compiled_check(
    function: Function, results: Sequence[Result], names: Names, symbols: Sequence[Node], exact: float = EXACT
) -> str:
    """Call a function at random data; return at which, and how far its results are from the references.

    `exact` is the part of the largest entry by which a result may differ.

    Raises: InternalError for a result that is wrong.
    """
    known = [_known(result, names, symbols) for result in results]
    nodes = [result.node for result in results]
    at: list[str] = []
    worst = 0.0
    try:
        for point in points([result.reference for result in known], nodes, names, symbols, larger=True):
            error = _compared(function, known, point, symbols, exact)
            if error is not None:
                at.append(str(point))
                worst = max(worst, error)
    except NoReference as reason:
        return f"not checked: {reason.message}"
    return report(at, worst)


def _known(result: Result, names: Names, symbols: Sequence[Node]) -> Result:
    """Return a result whose reference has a value, if only that of its node."""
    if not result.reference.is_written:
        return result
    try:
        next(points([result.reference], [result.node], names, symbols), None)
    except NoReference:
        return result._replace(reference=of_node(result.node))
    return result


def _compared(
    function: Function, results: Sequence[Result], point: Point, symbols: Sequence[Node], exact: float
) -> float | None:
    """Return the largest relative error of the results at a point; None where they are not determined there.

    Raises: InternalError.
    """
    wanted = _wanted(results, point, point.data)
    if wanted is None:
        return None
    found = _found(function, point, point.data, wanted)
    if found is None:
        return None
    worst = 0.0
    for k, result in enumerate(results):
        error, size = _distance(found[k], wanted[k])
        if error > exact * size and _is_determined(function, results, k, point, symbols, error):
            raise _fault(result, found[k], wanted[k], point)
        worst = max(worst, error / size)
    return worst


def _wanted(results: Sequence[Result], point: Point, data: Mapping[str, Array]) -> list[Array] | None:
    try:
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            values = values_of([result.reference for result in results], data, point.sizes)
    except (np.linalg.LinAlgError, MatcalcError, IndexError):
        return None
    return values if all(np.all(np.isfinite(value)) for value in values) else None


def _spoil(values: Sequence[Array]) -> None:
    """Write NaN where NumPy will place new arrays of these sizes.

    A function that leaves a result unwritten would else return what stood there before, which may be right: the
    reference, or what an earlier call computed.
    """
    spoilt = [np.full(np.shape(value), np.nan) for value in values for _ in range(KEPT_BLOCKS)]
    spoilt.clear()


def _found(function: Function, point: Point, data: Mapping[str, Array], wanted: Sequence[Array]) -> list[Array] | None:
    """Return the results of a function; None where it has none, as where a factorisation fails."""
    _spoil(wanted)
    try:
        return [np.asarray(value, dtype=float) for value in function({**data, **point.sizes})]
    except (np.linalg.LinAlgError, NoReference, IndexError):
        return None


def _distance(found: Array, wanted: Array) -> tuple[float, float]:
    size = max(float(np.max(np.abs(wanted), initial=0.0)), 1e-300)
    if found.shape != wanted.shape:
        return float("inf"), size
    with np.errstate(all="ignore"):
        off = np.abs(found - wanted)
    return float(np.max(np.where(np.isfinite(off), off, np.inf), initial=0.0)), size


def _is_determined(
    function: Function, results: Sequence[Result], k: int, point: Point, symbols: Sequence[Node], error: float
) -> bool:
    """Whether a difference stays where data are nudged, so that it is not of rounding alone."""
    for seed in range(NUDGES):
        data = nudged(point, symbols, NUDGE, seed)
        wanted = _wanted(results, point, data)
        found = None if wanted is None else _found(function, point, data, wanted)
        if wanted is None or found is None:
            return False
        there = _distance(found[k], wanted[k])[0]
        if not (there == error or abs(there - error) <= DETERMINED * error):
            return False
    return True


def _fault(result: Result, found: Array, wanted: Array, point: Point) -> InternalError:
    if found.shape != wanted.shape:
        numbers = f"the shape {found.shape} where the formula as written gives {wanted.shape}"
    else:
        with np.errstate(all="ignore"):
            off = np.abs(found - wanted)
        at = np.unravel_index(int(np.argmax(np.where(np.isfinite(off), off, np.inf))), off.shape)
        numbers = f"{found[at]:.10g} where the formula as written gives {wanted[at]:.10g}"
    where = f" (at {point})" if str(point) else ""
    return InternalError(f"the {result.label} failed its check: {numbers}{where}", hint=ADVICE)
