"""Calls a compiled function at small random data and compares its results with the formulas as written."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from matcalc.errors import InternalError, MatcalcError, NoReference
from matcalc.evidence.written.claims import ADVICE, DETERMINED, EXACT, NUDGE, NUDGES
from matcalc.evidence.written.excuses import (
    evaluated,
    has_no_value_inside,
    jumps_inside,
    rounding_decides,
    rounding_error,
)
from matcalc.evidence.written.points import Point, nudged, points, report, was_evaluated
from matcalc.evidence.written.reference import NodeValue, Reference, of_node, values_of
from matcalc.evidence.written.values import Array, largest
from matcalc.tensor.nodes.node import Node, toposort
from matcalc.tensor.sizes.sizes_from_shapes import Condition
from matcalc.tensor.symbols import Names


class Result(NamedTuple):
    """A result of a function: its name, its node and its reference."""

    label: str
    node: Node
    reference: Reference


BLOCKS_REUSED = 8
"""More freed blocks of one size than NumPy caches."""

Function = Callable[[Mapping[str, Any]], Sequence[Any]]
"""A compiled function of data and sizes by name that returns its results in order."""


def compiled_check(
    function: Function,
    results: Sequence[Result],
    names: Names,
    symbols: Sequence[Node],
    exact: float = EXACT,
    branches: Sequence[Condition] = (),
) -> str:
    """Call a function at random data; return the points compared and the largest error, or why there are none.

    `exact` is the largest permitted error, relative to the largest entry of a result. `branches` are conditions on
    sizes under which the function computes in another form.

    Raises: InternalError for a wrong result.
    """
    known = [_known(result, names, symbols) for result in results]
    nodes = [result.node for result in results]
    at: list[str] = []
    worst = 0.0
    try:
        for point in points(
            [result.reference for result in known], nodes, names, symbols, larger=True, branches=branches
        ):
            error = _compared(function, known, point, symbols, exact)
            if error is not None:
                at.append(str(point))
                worst = max(worst, error)
    except NoReference as reason:
        return f"not checked: {reason.message}"
    return report(at, worst)


def _known(result: Result, names: Names, symbols: Sequence[Node]) -> Result:
    """Return a result with a reference that can be evaluated: its own, else that of its node."""
    if not result.reference.is_written or was_evaluated(result.reference, symbols, names.bound):
        return result
    try:
        next(points([result.reference], [result.node], names, symbols), None)
    except NoReference:
        return result._replace(reference=of_node(result.node))
    return result


def _compared(
    function: Function, results: Sequence[Result], point: Point, symbols: Sequence[Node], exact: float
) -> float | None:
    """Return the largest relative error of the results at a point; None if none of them can be compared there.

    Raises: InternalError.
    """
    expected = _expected(results, point, point.data)
    if expected is None:
        return None
    try:
        found = _found(function, point, point.data, expected)
    except np.linalg.LinAlgError as failure:
        if _fails_alone(function, results, point, symbols):
            raise _failure(results, failure, point) from None
        return None
    if found is None:
        return None
    compared = []
    for k, result in enumerate(results):
        error, size = _distance(found[k], expected[k])
        if error <= exact * size:
            compared.append(error / size)
        elif _is_determined(function, results, k, point, symbols, error):
            raise _fault(result, found[k], expected[k], point)
    return max(compared, default=None)


def _expected(results: Sequence[Result], point: Point, data: Mapping[str, Array]) -> list[Array] | None:
    try:
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            references = [result.reference for result in results]
            is_moved = data is not point.data
            values = values_of(references, data, point.sizes) if is_moved else _at_point(references, point)
    except (np.linalg.LinAlgError, MatcalcError, IndexError):
        return None
    return values if all(np.all(np.isfinite(value)) for value in values) else None


def _at_point(references: Sequence[Reference], point: Point) -> list[Array]:
    """Return the values of references at a point, which has the value of the first one; others may be cached there.

    Raises: as `Reference.value`.
    """
    of_nodes = {one: one.run.node for one in references[1:] if isinstance(one.run, NodeValue)}
    known = dict(zip(of_nodes, point.values_of([*of_nodes.values()]), strict=True)) | {references[0]: point.value}
    return [known[one] if one in known else one.value(point.data, point.sizes) for one in references]


def _spoil(values: Sequence[Array]) -> None:
    """Write NaN to the memory that NumPy will reuse for new arrays of these sizes.

    Otherwise an unwritten result could contain correct numbers of the reference or of an earlier call.
    """
    spoilt = [np.full(np.shape(value), np.nan) for value in values for _ in range(BLOCKS_REUSED)]
    spoilt.clear()


def _found(
    function: Function, point: Point, data: Mapping[str, Array], expected: Sequence[Array]
) -> list[Array] | None:
    """Return the results of a function; None if it has none, for example because an index is outside its axis.

    Raises: LinAlgError if a factorization fails; InternalError if the function changes an argument.
    """
    given = {name: value.copy() for name, value in data.items() if name not in point.fixed}
    _spoil(expected)
    try:
        found = [np.asarray(value, dtype=float) for value in function({**data, **given, **point.sizes})]
    except (NoReference, IndexError):
        return None
    changed = [name for name, value in given.items() if not np.array_equal(value, data[name], equal_nan=True)]
    if changed:
        raise InternalError(
            f"the compiled function failed its check: it changes its argument {changed[0]}", hint=ADVICE
        )
    return found


def _fails_alone(function: Function, results: Sequence[Result], point: Point, symbols: Sequence[Node]) -> bool:
    """Whether a factorization of a function fails at a point, and beside it, where plain evaluation has a value.

    It may fail inside a part that has no value, or that a condition leaves out.
    """
    nodes = [result.node for result in results]
    known = evaluated(toposort(nodes), point.data, point.sizes)
    if known is None or not all(np.all(np.isfinite(value)) for value in known):
        return False
    if any(has_no_value_inside(node, point.data, point.sizes) for node in nodes):
        return False
    for seed in range(NUDGES):
        data = nudged(point, symbols, NUDGE, seed)
        expected = _expected(results, point, data)
        try:
            if expected is None or _found(function, point, data, expected) is not None:
                return False
        except np.linalg.LinAlgError:
            continue
    return True


def _failure(results: Sequence[Result], error: np.linalg.LinAlgError, point: Point) -> InternalError:
    where = f" (at {point})" if str(point) else ""
    label = " and ".join(result.label for result in results)
    return InternalError(f"the {label} failed its check: '{error}' where the formula has a value{where}", hint=ADVICE)


def _distance(found: Array, expected: Array) -> tuple[float, float]:
    size = max(largest(expected), 1e-300)
    if found.shape != expected.shape:
        return float("inf"), size
    with np.errstate(all="ignore"):
        off = np.abs(found - expected)
    return float(np.max(np.where(np.isfinite(off), off, np.inf), initial=0.0)), size


def _is_determined(
    function: Function, results: Sequence[Result], k: int, point: Point, symbols: Sequence[Node], error: float
) -> bool:
    """Whether an error persists when data are perturbed: then it is not rounding alone."""
    if error <= rounding_error(results[k].node, point.data, point.sizes):
        return False
    for seed in range(NUDGES):
        data = nudged(point, symbols, NUDGE, seed)
        expected = _expected(results, point, data)
        try:
            found = None if expected is None else _found(function, point, data, expected)
        except np.linalg.LinAlgError:
            continue  # no right number either
        if expected is None or found is None:
            return False
        there = _distance(found[k], expected[k])[0]
        if not (there == error or abs(there - error) <= DETERMINED * error):
            return False
    node = results[k].node
    if not np.isfinite(error) and has_no_value_inside(node, point.data, point.sizes):
        return False  # plain evaluation does not read the part without a value
    return not (jumps_inside(node, point.data, point.sizes) or rounding_decides(node, point, symbols))


def _fault(result: Result, found: Array, expected: Array, point: Point) -> InternalError:
    if found.shape != expected.shape:
        numbers = f"the shape {found.shape} where the formula as written gives {expected.shape}"
    else:
        with np.errstate(all="ignore"):
            off = np.abs(found - expected)
        at = np.unravel_index(int(np.argmax(np.where(np.isfinite(off), off, np.inf))), off.shape)
        numbers = f"{found[at]:.10g} where the formula as written gives {expected[at]:.10g}"
    where = f" (at {point})" if str(point) else ""
    return InternalError(f"the {result.label} failed its check: {numbers}{where}", hint=ADVICE)
