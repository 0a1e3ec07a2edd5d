"""Compares results with references before they are returned.

A claim states the meaning of a node: the value of a formula, or one of its derivatives. At each point plain NumPy
evaluates the node. Its value is contracted with random directions and compared with the reference's slope along them.
A result that differs, although both sides are well determined, is a fault of matcalc. It is not returned.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from functools import partial

import numpy as np

from matcalc.calculus.derive import conventions
from matcalc.calculus.simplify.simplify import stable_all
from matcalc.errors import InternalError, MatcalcError, NoReference
from matcalc.evidence.numeric.sampling import projected
from matcalc.evidence.written import truths
from matcalc.evidence.written.claim import Claim
from matcalc.evidence.written.declared import as_written
from matcalc.evidence.written.excuses import (
    attempted,
    differences_cross_jumps,
    evaluated,
    is_excused,
    jumps_inside,
    rounding_decides,
    rounding_error,
)
from matcalc.evidence.written.moves import Moves
from matcalc.evidence.written.points import Point, nudged, points, report
from matcalc.evidence.written.questions import JOINED, KINDS, PROJECTED, SEED_OF_COTANGENTS, Question, joined
from matcalc.evidence.written.reference import Reference, of_node
from matcalc.evidence.written.truths import Truth
from matcalc.evidence.written.values import Array, largest
from matcalc.tensor.nodes.node import Node
from matcalc.tensor.raw_nodes import symbol
from matcalc.tensor.substitute import substitute
from matcalc.tensor.symbols import Names

EXACT, COARSE = 1e-8, 1e-6
"""The relative error below which a result is accepted at once, and the one above which it may be rejected."""

NOISE, SECOND_NOISE = 1e-13, 1e-10
"""Errors that rounding explains in first and second differences: terms near 1 may cancel inside the function."""

MOST_ALONE = 8
"""The number of claims up to which each is compared alone; more claims are compared in this many groups."""

ADVICE = "this is a fault of matcalc: please report it with the formula; check=False skips the check"

NUDGES, NUDGE, DETERMINED = 3, 1e-11, 0.1
"""How often and how far data are perturbed, and the relative change of an error that is attributed to rounding."""

FAR = 1e-5
"""How far data are also perturbed for a form that is only printed: `log(1 + x)/x` loses digits of a small x."""


def checked(claims: Sequence[Claim], reference: Reference, names: Names) -> str:
    """Compare claims with the reference of their formula; return the points compared, or why there are none.

    Raises: InternalError for a result that is wrong.
    """
    if not claims:
        return "not checked: nothing is claimed"
    try:
        return _checked(claims, reference, names)
    except NoReference as reason:
        why = reason.message
        if not reference.is_written:
            return f"not checked: {why}"
    root = claims[0].derivation.root
    try:
        return f"{_checked(claims, of_node(root), names)}, against its own node: {why}"
    except NoReference as reason:
        return f"not checked: {reason.message}"


def _checked(claims: Sequence[Claim], reference: Reference, names: Names) -> str:
    roots = list(dict.fromkeys([claims[0].derivation.root, *(claim.node for claim in claims)]))
    new = {s.name for claim in claims for s in claim.derivation.new_symbols}
    symbols = [names.symbols[name] for name in names.written if name not in new]
    at: list[str] = []
    worst = 0.0
    confirmed: set[object] = set()
    groups = [group for form in _forms(claims) for group in _groups(form)]
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for point in points([reference], roots, names, symbols):
            _check_origin(reference, point, is_first=not at)
            error = _compared(groups, reference, point, symbols, confirmed)
            if error is not None:
                at.append(str(point))
                worst = max(worst, error)
    return report(at, worst)


def _forms(claims: Sequence[Claim]) -> tuple[list[Claim], list[Claim]]:
    """Return the claims about nodes as they are, and those about the forms that calls evaluate, where these differ."""
    forms = stable_all([_with_plain_tangents(claim) for claim in claims])
    pairs = list(zip(claims, forms, strict=True))
    own = [claim._replace(is_called=claim.is_called and form is claim.node) for claim, form in pairs]
    return own, [claim._replace(node=form) for claim, form in pairs if form is not claim.node]


def _with_plain_tangents(claim: Claim) -> Node:
    """Return the node of a claim with its tangents projected where they are used, as a call does."""
    plain = {
        dx: conventions.projected(symbol(dx.name, dx.shape), dx, 0) for dx in claim.derivation.tangents if dx.data[1]
    }
    return substitute(claim.node, plain) if plain else claim.node


def _check_origin(reference: Reference, point: Point, is_first: bool) -> None:
    """Compare a formula at the first point with the value from the system it was read from, such as SymPy.

    Raises: InternalError.
    """
    if reference.origin is None or not is_first:
        return
    expected = reference.origin(point.data, point.sizes)
    if expected is None or expected.size != point.value.size or not np.all(np.isfinite(expected)):
        return
    off = largest(expected.reshape(-1) - point.value.reshape(-1))
    if off > COARSE * max(1.0, largest(expected)):
        numbers = f"{point.value.reshape(-1)}, where SymPy gives {expected.reshape(-1)}"
        raise InternalError(f"the formula as read failed its check: {numbers} (at {point})", hint=ADVICE)


def _compared(
    groups: Sequence[Sequence[Claim]],
    reference: Reference,
    point: Point,
    symbols: Sequence[Node],
    confirmed: set[object],
) -> float | None:
    """Return the largest relative error at a point; None if no claim is determined there.

    `confirmed` holds the keys of questions whose complex steps were confirmed by differences.

    Raises: InternalError.
    """
    worst: float | None = None
    for group in groups:
        errors = [_error_of_all(group, reference, point, confirmed) if len(group) > 1 else None]
        if errors == [None]:
            errors = [_error_of_one(claim, reference, point, symbols, confirmed) for claim in group]
        worst = max((e for e in (worst, *errors) if e is not None), default=None)
    return worst


def _groups(claims: Sequence[Claim]) -> list[Sequence[Claim]]:
    """Return claims in groups that are compared together, so that a formula of n symbols is not evaluated n times.

    Up to MOST_ALONE derivatives of a kind are compared one by one.
    """
    groups: list[Sequence[Claim]] = []
    for what in dict.fromkeys(claim.derivation.what for claim in claims):
        alike = [claim for claim in claims if claim.derivation.what == what]
        count = MOST_ALONE if what in JOINED and len(alike) > MOST_ALONE else len(alike)
        groups += [alike[k::count] for k in range(count)]
    return groups


def _error_of_all(claims: Sequence[Claim], reference: Reference, point: Point, confirmed: set[object]) -> float | None:
    """Return the relative error of the sum of several derivatives; None if the sum does not confirm all of them.

    Raises: InternalError for a wrong projection.
    """
    questions = [KINDS[claim.derivation.what](claim, point) for claim in claims]
    question = joined(questions)
    found = _evaluated([claim.node for claim in claims], question, point)
    truth = _truth(question, reference, point, False, question.key in confirmed)
    if found is None or truth is None:
        return None
    error, size = _distance(question, found, truth)
    if not error <= max(EXACT * size, min(3 * truth.error, COARSE * size)):
        return None
    for claim, value in zip(claims, found, strict=True):
        _check_hull(claim, value, point)
        _check_tangents(claim, point)
    if truth.by_complex_step:
        confirmed.add(question.key)
    return error / size


def _error_of_one(
    claim: Claim,
    reference: Reference,
    point: Point,
    symbols: Sequence[Node],
    confirmed: set[object],
) -> float | None:
    """Return the relative error of one claim at a point; None if it is not determined there.

    Raises: InternalError.
    """
    question = KINDS[claim.derivation.what](claim, point)
    found = _evaluated([claim.node], question, point)
    if found is None:
        return None
    _check_hull(claim, found[0], point)
    _check_tangents(claim, point)
    return _error(claim, question, found, reference, point, symbols, confirmed)


def _evaluated(nodes: Sequence[Node], question: Question, point: Point) -> list[Array] | None:
    """Return the values of nodes at a point; None if one cannot be evaluated there."""
    if question.extra:
        return evaluated(nodes, {**point.data, **question.extra}, point.sizes)
    return attempted(partial(point.values_of, nodes))


def _check_hull(claim: Claim, found: Array, point: Point) -> None:
    """Check that projecting a derivative onto the linear hull of the variable's facts does not change it.

    Directions lie in the hull, so slopes do not see a part outside: a gradient in a symmetric matrix is symmetric.

    Raises: InternalError.
    """
    derivation = claim.derivation
    if (
        derivation.what not in PROJECTED
        or derivation.convention != "projected"
        or conventions.is_vec(derivation.layout)
    ):
        return
    x = derivation.wrt[0] if derivation.what == "hvp" else derivation.wrt[-1]
    if not x.data[1] or len(x.shape) != 2 or not found.size or not np.all(np.isfinite(found)):
        return
    parts, facts = found.reshape(-1, *found.shape[-2:]), tuple(x.data[1])
    off = max((largest(part - projected(part, facts, as_written)) for part in parts), default=0.0)
    if off > NOISE + COARSE * largest(found):
        message = (
            f"{claim.label} failed its check: {off:.10g} of it is outside the linear hull of the facts of {x.name}"
        )
        raise InternalError(f"{message} (at {point})", hint=ADVICE)


def _check_tangents(claim: Claim, point: Point) -> None:
    """Compare the projection that a call applies to a tangent with a numerical projection onto the linear hull.

    Raises: InternalError.
    """
    for x, dx in zip(claim.derivation.wrt, claim.derivation.tangents, strict=False):
        if len(dx.shape) == 2 and dx.data[1]:
            plain = symbol(dx.name, dx.shape)
            drawn = np.random.default_rng([SEED_OF_COTANGENTS]).standard_normal(np.shape(point.data[x.name]))
            found = evaluated([conventions.projected(plain, dx, 0)], {dx.name: drawn}, point.sizes)
            expected = projected(drawn, tuple(x.data[1]), as_written)
            if found is None or not np.allclose(found[0], expected, rtol=COARSE, atol=COARSE):
                raise InternalError(
                    f"{claim.label} failed its check: the projection of {dx.name} is wrong (at {point})", hint=ADVICE
                )


def _error(
    claim: Claim,
    question: Question,
    found: Sequence[Array],
    reference: Reference,
    point: Point,
    symbols: Sequence[Node],
    confirmed: set[object],
) -> float | None:
    known = point.slopes
    for slowly in (False, True):
        key = question.key, slowly
        if key not in known:
            known[key] = _truth(question, reference, point, slowly, question.key in confirmed)
        truth = known[key]
        if truth is None:
            continue
        error, size = _distance(question, found, truth)
        if error <= max(EXACT * size, min(3 * truth.error, COARSE * size)):
            if truth.by_complex_step:
                confirmed.add(question.key)
            return error / size
    truth = known[question.key, True] or known[question.key, False]
    if truth is None:
        return None
    error, size = _distance(question, found, truth)
    if error <= max(COARSE * size, 100 * truth.error):
        return None
    if not _is_determined(claim, question, reference, point, symbols, error):
        return None
    if question.first is None and (
        error <= rounding_error(claim.node, point.data, point.sizes)
        or jumps_inside(claim.derivation.root, point.data, point.sizes)
    ):
        return None
    if any(rounding_decides(node, point, symbols, question.extra) for node in (claim.derivation.root, claim.node)):
        return None
    noise = NOISE if question.second is None else SECOND_NOISE
    by_differences = question.first is not None and not truth.by_complex_step
    if by_differences and (error <= noise or differences_cross_jumps(claim.derivation.root, point, symbols)):
        return None
    if is_excused(claim, question, point, is_infinite=not np.isfinite(error)):
        return None
    raise _fault(claim, question, found, truth, point)


def _distance(question: Question, found: Sequence[Array], truth: Truth) -> tuple[float, float]:
    """Return the largest difference of a result from a truth, and the magnitude of both."""
    contracted, expected = question.contract(*found), question.truth(truth.value)
    if np.shape(contracted) != np.shape(expected):
        return float("inf"), 1.0
    off = largest(contracted - expected)
    size = largest(contracted)
    if not np.isfinite(size):
        size = largest(np.asarray(contracted)[np.isfinite(contracted)])
    return off if np.isfinite(off) else float("inf"), max(truth.scale, size, largest(expected))


def _truth(
    question: Question, reference: Reference, point: Point, slowly: bool, is_confirmed: bool = False
) -> Truth | None:
    if question.first is None:
        size = largest(point.value)
        return None if slowly else Truth(point.value, 1e-12 * size, max(size, 1e-300))
    if question.second is None:
        line = Moves(reference, point, question.first)
        return truths.slowly(line, point.value) if slowly else truths.quickly(line, point.value, is_confirmed)
    plane = Moves(reference, point, question.first, question.second)
    return (
        truths.second_slowly(plane, point.value) if slowly else truths.second_quickly(plane, point.value, is_confirmed)
    )


def _is_determined(
    claim: Claim, question: Question, reference: Reference, point: Point, symbols: Sequence[Node], error: float
) -> bool:
    """Whether an error persists when data are perturbed: then it is not rounding alone."""
    results = []
    distances = [NUDGE] * NUDGES if claim.is_called else [NUDGE, FAR] * NUDGES
    for k, distance in enumerate(distances):
        data = nudged(point, symbols, distance, k)
        found = evaluated([claim.node], {**data, **question.extra}, point.sizes)
        try:
            there = Point(data, point.sizes, reference.value(data, point.sizes), point.fixed)
        except (np.linalg.LinAlgError, MatcalcError, IndexError):
            return False
        truth = _truth(question, reference, there, True) or _truth(question, reference, there, False)
        if found is None or truth is None:
            return False
        results.append(_distance(question, found, truth)[0])
    steady = [abs(one - error) <= DETERMINED * error for one in results]
    return all(steady) or not np.isfinite(error) and all(one == error for one in results)


def _fault(claim: Claim, question: Question, found: Sequence[Array], truth: Truth, point: Point) -> InternalError:
    result, expected = question.contract(*found), question.truth(truth.value)
    if np.shape(result) == np.shape(expected):
        off = np.abs(result - expected)
        worst = np.unravel_index(int(np.argmax(np.where(np.isfinite(off), off, np.inf))), np.shape(off))
        numbers = f"{result[worst]:.10g} where the formula as written gives {expected[worst]:.10g}"
    else:
        numbers = f"the shape {np.shape(result)} where the formula as written gives {np.shape(expected)}"
    along = " along a random direction" if question.first is not None else ""
    where = f" (at {point})" if str(point) else ""
    message = f"{claim.label} failed its check: {numbers}{along}{where}"
    return InternalError(message, hint=ADVICE)
