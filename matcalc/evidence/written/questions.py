"""Chooses how a claim is compared: along which directions, and with what its value is contracted."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from operator import attrgetter

import numpy as np

from matcalc.calculus.derive import conventions
from matcalc.evidence.written.claim import Claim
from matcalc.evidence.written.points import Point
from matcalc.evidence.written.values import Array


@dataclass(frozen=True, slots=True)
class Question:
    """The comparison of a claim at a point.

    `contract` maps the value of the result, and `truth` the slope of the reference, to the numbers that are compared.
    `first` and `second` are directions by symbol name; without them the value itself is compared. `extra` holds the
    values of new symbols: tangents and cotangents.
    """

    contract: Callable[..., Array]
    truth: Callable[[Array], Array] = lambda slope: slope
    first: Mapping[str, Array] | None = None
    second: Mapping[str, Array] | None = None
    extra: Mapping[str, Array] = field(default_factory=dict)

    @property
    def key(self) -> object:
        """Questions with the same key have the same truth at one point."""
        return tuple(self.first or ()), tuple(self.second or ()), self.second is None


def _inner(a: Array, b: Array) -> Array:
    """Return the inner product over the axes of b, which are the last axes of a."""
    if a.shape == b.shape:
        return np.asarray(np.dot(a.reshape(-1), b.reshape(-1)))
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


def joined(questions: Sequence[Question]) -> Question:
    """Return one question for several: the sum of their contractions, along all their directions at once."""

    def contract(*found: Array) -> Array:
        parts = [question.contract(value) for question, value in zip(questions, found, strict=True)]
        return np.asarray(sum(parts))

    first, extra = (
        {name: array for question in questions for name, array in (of(question) or {}).items()}
        for of in (attrgetter("first"), attrgetter("extra"))
    )
    return Question(contract, questions[0].truth, first, questions[0].second, extra)


JOINED = ("gradient", "vjp", "hvp")
"""Derivatives in several symbols that may be added, because each contraction is a number."""

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
