"""Compares results with references before they are returned.

A claim says what a node is: the value of a formula, or one of its derivatives. At each point the node is evaluated by
plain NumPy, contracted with random directions, and compared with the slope of the reference along them. A result that
differs where both sides are well determined is a fault of matcalc, and is not returned.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from matcalc.calculus.derive import conventions
from matcalc.calculus.evaluate.evaluate import evaluate
from matcalc.errors import InternalError, MatcalcError, NoReference
from matcalc.evidence.numeric.sampling import projected
from matcalc.evidence.written import truths
from matcalc.evidence.written.claim import Claim
from matcalc.evidence.written.points import Point, nudged, points, report
from matcalc.evidence.written.reference import Reference, of_node
from matcalc.evidence.written.truths import Truth
from matcalc.evidence.written.values import Array
from matcalc.tensor.node import Node
from matcalc.tensor.raw_nodes import symbol
from matcalc.tensor.symbols import Names

EXACT, COARSE = 1e-8, 1e-6
"""What of its scale a result may differ by from a truth; what it must differ by to be refused."""

NOISE, SECOND_NOISE = 1e-13, 1e-10
"""Differences of a function, and second ones, are of rounding below it: numbers near 1 may stand in it and cancel."""

ADVICE = "this is a fault of matcalc: please report it with the formula; check=False skips the check"

NUDGES, NUDGE, DETERMINED = 3, 1e-11, 0.1
"""How often and how far data are nudged to see whether a difference is of rounding alone, and what part of it moves."""


def checked(claims: Sequence[Claim], reference: Reference, names: Names) -> str:
    """Compare what is claimed of a formula with its reference; return at which points, or why at none.

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
    symbols = [names.symbols[name] for name in names.written]
    at: list[str] = []
    worst = 0.0
    confirmed: set[object] = set()
    for point in points([reference], roots, names, symbols):
        _check_origin(reference, point, is_first=not at)
        error = _compared(claims, reference, point, symbols, confirmed)
        if error is not None:
            at.append(str(point))
            worst = max(worst, error)
    return report(at, worst)


def _check_origin(reference: Reference, point: Point, is_first: bool) -> None:
    """Compare a formula as it was read with what the system gives that it was read from, at one point.

    Raises: InternalError.
    """
    if reference.origin is None or not is_first:
        return
    theirs = reference.origin(point.data, point.sizes)
    if theirs is None or theirs.size != point.value.size or not np.all(np.isfinite(theirs)):
        return
    off = float(np.max(np.abs(theirs.reshape(-1) - point.value.reshape(-1)), initial=0.0))
    if off > COARSE * max(1.0, float(np.max(np.abs(theirs), initial=0.0))):
        numbers = f"{point.value.reshape(-1)} where SymPy gives {theirs.reshape(-1)}"
        raise InternalError(f"the formula as read failed its check: {numbers} (at {point})", hint=ADVICE)


def _compared(
    claims: Sequence[Claim], reference: Reference, point: Point, symbols: Sequence[Node], confirmed: set[object]
) -> float | None:
    """Return the largest relative error at a point; None where nothing is determined there.

    `confirmed` are the questions of which complex steps were confirmed by differences.

    Raises: InternalError.
    """
    known: dict[object, Truth | None] = {}
    worst: float | None = None
    for claim in claims:
        kind = KINDS[claim.derivation.what]
        question = kind(claim, point)
        data = {**point.data, **question.extra}
        found = _evaluated(claim.node, data, point.sizes)
        if found is None:
            continue
        _check_hull(claim, found, point)
        _check_tangents(claim, point)
        error = _error(claim, question, found, reference, point, known, symbols, confirmed)
        worst = error if worst is None else worst if error is None else max(worst, error)
    return worst


def _check_hull(claim: Claim, found: Array, point: Point) -> None:
    """Compare a derivative with its projection on the linear hull of a variable's facts, which does not change it.

    Directions are in the hull, so they do not see what stands beside it: a gradient in a symmetric matrix is symmetric.

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
    if len(x.shape) != 2 or not np.all(np.isfinite(found)):
        return
    parts = found.reshape(-1, *found.shape[-2:])
    off = max((float(np.max(np.abs(a - projected(a, tuple(x.data[1]))), initial=0.0)) for a in parts), default=0.0)
    if off > COARSE * float(np.max(np.abs(found), initial=0.0)):
        message = f"{claim.label} failed its check: {off:.10g} of it is not in the linear hull of what {x.name} is"
        raise InternalError(f"{message} (at {point})", hint=ADVICE)


def _check_tangents(claim: Claim, point: Point) -> None:
    """Compare the projection that a call applies to the value of a tangent with that on the linear hull by numbers.

    Raises: InternalError.
    """
    for x, dx in zip(claim.derivation.wrt, claim.derivation.tangents, strict=False):
        if len(dx.shape) == 2 and dx.data[1]:
            plain = symbol(dx.name, dx.shape)
            drawn = np.random.default_rng([SEED_OF_COTANGENTS]).standard_normal(np.shape(point.data[x.name]))
            found = _evaluated(conventions.projected(plain, dx, 0), {dx.name: drawn}, point.sizes)
            wanted = projected(drawn, tuple(x.data[1]))
            if found is None or not np.allclose(found, wanted, rtol=COARSE, atol=COARSE):
                raise InternalError(f"{claim.label} failed its check: the projection of {dx.name}", hint=ADVICE)


@dataclass(frozen=True, slots=True)
class Question:
    """How a claim is tested at a point: along which directions, with which values of new symbols, contracted how.

    `first` and `second` are directions by symbol name; without them the value itself is compared.
    """

    contract: Callable[[Array], Array]
    truth: Callable[[Array], Array] = lambda slope: slope
    first: Mapping[str, Array] | None = None
    second: Mapping[str, Array] | None = None
    extra: Mapping[str, Array] = field(default_factory=dict)

    @property
    def key(self) -> object:
        """What tells truths apart at one point."""
        return tuple(self.first or ()), tuple(self.second or ()), self.second is None


def _error(
    claim: Claim,
    question: Question,
    found: Array,
    reference: Reference,
    point: Point,
    known: dict[object, Truth | None],
    symbols: Sequence[Node],
    confirmed: set[object],
) -> float | None:
    for slowly in (False, True):
        key = question.key, slowly
        if key not in known:
            known[key] = _truth(question, reference, point, slowly, question.key in confirmed)
        truth = known[key]
        if truth is None:
            continue
        error, size = _distance(question, found, truth)
        if error <= max(EXACT * size, 3 * truth.error):
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
    noise = NOISE if question.second is None else SECOND_NOISE
    if question.first is not None and not truth.by_complex_step and error <= noise:
        return None
    raise _fault(claim, question, found, truth, point)


def _distance(question: Question, found: Array, truth: Truth) -> tuple[float, float]:
    """Return how far a result is from a truth, and the size of both."""
    with np.errstate(all="ignore"):
        contracted, wanted = question.contract(found), question.truth(truth.value)
        if np.shape(contracted) != np.shape(wanted):
            return float("inf"), 1.0
        off = np.abs(contracted - wanted)
    off = np.where(np.isfinite(off), off, np.inf)
    finite = np.abs(contracted)[np.isfinite(contracted)]
    size = max(truth.scale, float(np.max(finite, initial=0.0)), float(np.max(np.abs(wanted), initial=0.0)))
    return float(np.max(off, initial=0.0)), size


def _truth(
    question: Question, reference: Reference, point: Point, slowly: bool, is_confirmed: bool = False
) -> Truth | None:
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if question.first is None:
            size = float(np.max(np.abs(point.value), initial=0.0))
            return None if slowly else Truth(point.value, 1e-12 * size, max(size, 1e-300))
        if question.second is None:
            line = truths.moved(reference, point, question.first)
            return truths.slowly(line, point.value) if slowly else truths.quickly(line, point.value, is_confirmed)
        second, first = question.second, question.first

        def plane(s: complex, t: float) -> Array:
            data = truths.along(truths.along(point.data, second, t), first, s)
            return reference.value(data, point.sizes, point.data)

        if slowly:
            return truths.second_slowly(plane, point.value)
        return truths.second_quickly(plane, point.value, is_confirmed)


def _evaluated(node: Node, data: Mapping[str, Array], sizes: Mapping[str, int]) -> Array | None:
    """Return the value of a result by plain NumPy; None where it has none."""
    try:
        return np.asarray(evaluate([node], data, sizes)[0])
    except (np.linalg.LinAlgError, MatcalcError, ValueError, IndexError):
        return None


def _is_determined(
    claim: Claim, question: Question, reference: Reference, point: Point, symbols: Sequence[Node], error: float
) -> bool:
    """Whether a difference stays where data are nudged: neither result nor truth is rounding alone."""
    results = []
    for k in range(NUDGES):
        data = nudged(point, symbols, NUDGE, k)
        found = _evaluated(claim.node, {**data, **question.extra}, point.sizes)
        try:
            there = Point(data, point.sizes, reference.value(data, point.sizes))
        except (np.linalg.LinAlgError, MatcalcError, IndexError):
            return False
        truth = _truth(question, reference, there, True) or _truth(question, reference, there, False)
        if found is None or truth is None:
            return False
        results.append(_distance(question, found, truth)[0])
    steady = [abs(one - error) <= DETERMINED * error for one in results]
    return all(steady) or not np.isfinite(error) and all(one == error for one in results)


def _fault(claim: Claim, question: Question, found: Array, truth: Truth, point: Point) -> InternalError:
    mine, right = question.contract(found), question.truth(truth.value)
    if np.shape(mine) == np.shape(right):
        with np.errstate(all="ignore"):
            off = np.abs(mine - right)
        worst = np.unravel_index(int(np.argmax(np.where(np.isfinite(off), off, np.inf))), np.shape(off))
        numbers = f"{mine[worst]:.10g} where the formula as written gives {right[worst]:.10g}"
    else:
        numbers = f"the shape {np.shape(mine)} where the formula as written gives {np.shape(right)}"
    along = " along a random direction" if question.first is not None else ""
    where = f" (at {point})" if str(point) else ""
    message = f"{claim.label} failed its check: {numbers}{along}{where}"
    return InternalError(message, hint=ADVICE)


# ---- what each kind of derivative is contracted with


def _inner(a: Array, b: Array) -> Array:
    """Return the sum of entries of a product over the axes of b, which are the last of a."""
    return np.tensordot(a, b, b.ndim) if b.ndim else np.asarray(a * b)


def _value(claim: Claim, point: Point) -> Question:
    return Question(lambda found: found)


def _gradient(claim: Claim, point: Point) -> Question:
    (x,) = claim.derivation.wrt
    E = point.direction(x)
    weights = E
    if claim.derivation.convention == "magnus" and "symmetric" in x.facts and "diagonal" not in x.facts:
        weights = np.tril(E)
    return Question(lambda found: _inner(found, weights), first={x.name: E})


def _jacobian(claim: Claim, point: Point) -> Question:
    (x,) = claim.derivation.wrt
    E = point.direction(x)
    if conventions.is_vec(claim.derivation.layout):
        return Question(lambda found: found @ _stacked(E), _stacked, {x.name: E})
    return Question(lambda found: _inner(found, E), first={x.name: E})


def _stacked(array: Array) -> Array:
    return np.reshape(array, -1, order="F")


def _hessian(claim: Claim, point: Point) -> Question:
    x, y = claim.derivation.wrt
    E, F = point.direction(x), point.direction(y, 1)
    first, second = {x.name: E}, {y.name: F}
    if conventions.is_vec(claim.derivation.layout):
        return Question(lambda found: _stacked(E) @ found @ _stacked(F), first=first, second=second)
    return Question(lambda found: _inner(_inner(found, F), E), first=first, second=second)


def _pushed(claim: Claim, point: Point) -> Question:
    pairs = list(zip(claim.derivation.wrt, claim.derivation.tangents, strict=True))
    moves = {x.name: point.direction(x) for x, _ in pairs}
    return Question(lambda found: found, first=moves, extra={dx.name: moves[x.name] for x, dx in pairs})


def _pulled(claim: Claim, point: Point) -> Question:
    (x,), bar = claim.derivation.wrt, claim.derivation.cotangent
    assert bar is not None
    E = point.direction(x)
    G = np.asarray(np.random.default_rng([SEED_OF_COTANGENTS]).standard_normal(point.value.shape))
    return Question(
        lambda found: _inner(found, E), lambda slope: np.asarray(np.sum(G * slope)), {x.name: E}, extra={bar.name: G}
    )


SEED_OF_COTANGENTS = 31


def _product(claim: Claim, point: Point) -> Question:
    x = claim.derivation.wrt[0]
    E = point.direction(x)
    pairs = list(zip(claim.derivation.wrt, claim.derivation.tangents, strict=True))
    moves = {y.name: point.direction(y, 1) for y, _ in pairs}
    extra = {v.name: moves[y.name] for y, v in pairs}
    return Question(lambda found: _inner(found, E), first={x.name: E}, second=moves, extra=extra)


PROJECTED = ("gradient", "jacobian", "hessian", "vjp", "hvp")
"""Derivatives whose last axes are those of a variable."""

KINDS: Mapping[str, Callable[[Claim, Point], Question]] = {
    "value": _value,
    "gradient": _gradient,
    "jacobian": _jacobian,
    "hessian": _hessian,
    "differential": _pushed,
    "vjp": _pulled,
    "hvp": _product,
}
