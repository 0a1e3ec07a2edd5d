"""Tests derivatives at equal or nearly equal eigenvalues or singular values.

A value that does not depend on the choice of eigenvectors is differentiable at a tie. Its derivative is finite and is
the limit of nearby derivatives along any direction: from gap 1e-2 down to 1e-16 it changes by at most a multiple of
the gap. A rule that divides by gaps fails here. A convex or concave function may have a kink, where its gradient is the
mean of those nearby. For a norm or a sum of eigenvalues at a tie, or a norm at 0, this is the subgradient g of least
norm, characterised by f'(X; -g) = -|g|^2. A value with a gauge must be right in this sense, or NaN, or an error.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from matcalc.evidence.numeric.sampling import Array, defect, projected
from matcalc.rulelab.finding import (
    FLOOR,
    REFUSED,
    Finding,
    Slope,
    derivative_field,
    distance,
    is_finite,
    is_in_words,
    largest,
    location,
    named,
    norm,
    value_or_none,
)  # fmt: skip
from matcalc.rulelab.rule_point import Point

Spectrum = Callable[[int], Array]
SPECTRA: Mapping[str, Spectrum] = {
    "all equal": lambda k: np.full(k, 0.6),
    "the smallest equal": lambda k: np.where(np.arange(k) == k - 1, 1.2, 0.6),
    "the largest equal": lambda k: np.where(np.arange(k) == 0, 0.6, 1.2),
}
WIDE = (1e-2, 1e-3)
NARROW = (1e-4, 1e-6, 1e-8, 1e-10, 1e-12, 1e-14, 1e-16)
"""Distances from the tie: the wide ones measure how fast the derivative changes, the narrow ones test that bound."""

DIRECTIONS = 3
BEND = 1e-6  # the step of the second difference, which is of this order for a smooth function
LIMIT, LEAST, SLACK = 1e-9, 1e-5, 4.0
CLOSE = 0.83, 0.02
"""The least of close singular values, and their distance; away from 0 and 1, where many domains end."""


def ties(at: Point, value: Mapping[str, Array], found: Sequence[Slope]) -> Iterator[Finding]:
    """Test derivatives in each matrix argument at ties of its spectrum."""
    if at.form.overload or at.form.tangents:
        return
    for s in found:
        if at.rule.curvature is not None and not s.node.shape:
            yield from _least_norm(at, s)
        elif _has_spectrum(at, s.name):
            yield from _limits(at, s)


def _has_spectrum(at: Point, name: str) -> bool:
    array = at.data[name]
    spectral = all(fact in ("symmetric", "psd", "spd", "nonsingular") for fact in at.facts[name])
    return array.ndim == 2 and min(array.shape) > 1 and spectral and at.rule.kind != "map"


def _tied(at: Point, name: str, only: Spectrum | None = None) -> Iterator[tuple[str, Point]]:
    """Yield points with a matrix of equal singular values, symmetric if square."""
    rng = np.random.default_rng([53, *at.rule.name.encode()])
    m, n = at.data[name].shape
    k = min(m, n)
    for words, spectrum in SPECTRA.items() if only is None else [("", only)]:
        U = np.linalg.qr(rng.standard_normal((m, m)))[0]
        V = U if m == n else np.linalg.qr(rng.standard_normal((n, n)))[0]
        X = (U[:, :k] * spectrum(k)) @ V[:, :k].T
        X = projected(X, at.facts[name])
        if all(defect(X, fact) < LIMIT for fact in at.facts[name]):
            yield words, replace(at, data={**at.data, name: X})


def with_close_spectrum(at: Point, name: str) -> Point | None:
    """Return a point with a matrix whose singular values are `CLOSE`; None if the argument has no free spectrum.

    A rule that separates eigenvalues must also separate these.
    """
    if at.form.overload or at.form.tangents or not _has_spectrum(at, name):
        return None
    _, tied = next(_tied(at, name, lambda k: CLOSE[0] + CLOSE[1] * np.arange(k)), ("", None))
    return tied


def _limits(at: Point, s: Slope) -> Iterator[Finding]:
    """Test that the derivative at a tie is the limit of nearby ones; with a gauge it may fail instead."""
    in_words = is_in_words(at)
    findings = [f for words, tied in _tied(at, s.name) if (f := _limit(tied, s, words)) is not None]
    if in_words and any(f.is_right for f in findings):
        return
    yield from findings


def _limit(at: Point, s: Slope, words: str) -> Finding | None:
    value = value_or_none(at)
    if value is None or not is_finite(value):
        return None
    rng = np.random.default_rng([59, *at.rule.name.encode()])
    X, E = at.data[s.name], at.direction(rng, s.name)
    is_ordered = at.rule.gauge is not None and len(s.node.shape) == 1

    def seen(a: Array) -> Array:  # sorted values swap at a tie: use their sum
        return np.sum(a, keepdims=True) if is_ordered else a

    def pushed(Z: Array) -> Array:
        try:
            return np.asarray(seen(s.push(replace(at, data={**at.data, s.name: Z}), E)))
        except REFUSED:
            return np.asarray(np.nan)

    def valued(Z: Array) -> Array:
        found = value_or_none(replace(at, data={**at.data, s.name: Z}))
        return np.asarray(np.nan) if found is None else np.asarray(seen(found[s.output]))

    here = pushed(X)
    steps = [D / max(norm(D), 1e-300) for D in (at.direction(rng, s.name) for _ in range(DIRECTIONS))]
    is_refused = not np.all(np.isfinite(here))
    what = f"the derivative{named('', s.output)} in {s.name} at and near ties, {words},"
    if any(_bends(valued, X, D) for D in steps):  # no derivative exists
        wrong = float("inf") if at.rule.gauge and not is_refused else 0.0
        return Finding(what, derivative_field(at), wrong, LIMIT, location(at))
    scale = max(largest(here), FLOOR * largest(value[s.output]) * largest(E) / largest(X), 1e-300)
    worst = 0.0
    for D in steps:
        speed = max(distance(pushed(X + gap * D), here) / gap for gap in WIDE)
        worst = max(worst, *(distance(pushed(X + gap * D), here) - SLACK * speed * gap for gap in NARROW))
    error = worst / scale
    if at.rule.gauge and is_refused:
        error = 0.0
    return Finding(what, derivative_field(at), error if error == error else float("inf"), LIMIT, location(at))


def _bends(f: Callable[[Array], Array], X: Array, D: Array) -> bool:
    """Whether a value has a jump or a kink along a line, by values alone."""
    middle = f(X)
    bend = distance(f(X + BEND * D) + f(X - BEND * D), 2 * middle) / BEND
    return bend > 1e-3 * max(largest(middle) / max(largest(X), 1e-300), 1e-300)


# ---- kinks


def _kinks(at: Point, name: str) -> Iterator[tuple[str, Point]]:
    """Yield points at which a norm, a maximum or a sum of eigenvalues may have a kink."""
    X = at.data[name]
    for words, changed in (("0", 0.0 * X), ("equal entries", 0.0 * X + 1.0)):
        yield words, replace(at, data={**at.data, name: changed})
    if X.ndim == 1:
        half = np.where(np.arange(len(X)) % 2 == 0, 1.0, 0.0)
        yield "entries 1 and 0", replace(at, data={**at.data, name: half})
    if _has_spectrum(at, name):
        yield from _tied(at, name)
        for words, tied in _tied(at, name):
            first = tied.data[name][:, :1]
            single = first @ first.T if X.shape[0] == X.shape[1] else first @ np.ones((1, X.shape[1]))
            yield f"rank 1 ({words})", replace(at, data={**at.data, name: single})


def _least_norm(at: Point, s: Slope) -> Iterator[Finding]:
    """Test the subgradient of a convex or concave function: its inequality, and the descent of the least norm."""
    sign = 1.0 if at.rule.curvature == "convex" else -1.0
    rng = np.random.default_rng([61, *at.rule.name.encode()])
    for words, here in _kinks(at, s.name):
        value = value_or_none(here)
        if value is None or not is_finite(value) or any(defect(here.data[s.name], f) > LIMIT for f in at.facts[s.name]):
            continue
        X, f = here.data[s.name], sign * float(value[s.output])
        try:
            g = sign * projected(s.pull(here, np.asarray(1.0)), at.facts[s.name])
        except REFUSED:
            g = np.full_like(X, np.nan)
        size = max(norm(g) ** 2, 1e-3)

        def moved(D: Array, here: Point = here, X: Array = X) -> float:
            there = value_or_none(replace(here, data={**here.data, s.name: X + D}))
            return np.nan if there is None else sign * float(there[s.output])

        steps = [at.direction(rng, s.name) for _ in range(DIRECTIONS)]
        above = [f + float(np.sum(g * D)) - moved(D) for D in steps if np.isfinite(moved(D))]
        t = 1e-6
        descent = abs((moved(-t * g) - f) / t + norm(g) ** 2) / size if np.any(g) else 0.0
        error = max([descent, *(max(a, 0.0) for a in above)])
        what = f"the subgradient of least norm in {s.name} at {words}"
        yield Finding(what, derivative_field(at), error if error == error else float("inf"), LEAST, location(at))


__all__ = ["ties", "with_close_spectrum"]
