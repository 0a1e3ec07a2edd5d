"""The test of `radius`, how far around a point a function is analytic: no singularity is nearer, and one is there.

Of several operands one moves and the others stay. Where the distance changes as fast as an operand does, it is along
the real line, and there the function must break. Elsewhere the singularity is in the complex plane, where values on a
circle tell whether a function is analytic inside of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from matcalc.evidence.numeric.finding import REFUSED, Finding, place
from matcalc.evidence.numeric.rule_point import Point
from matcalc.evidence.numeric.sampling import Array
from matcalc.formula.elaborate.rule_formula import build_formula

INSIDE = 0.75
"""The part of the disc in which a polynomial through NODES values is as good as the values."""

NODES = 60

SHARP = 1e-6
"""The error of that polynomial beyond which a function is not analytic, in parts of what is not linear in it."""

BESIDE = 0.05
"""Half the width of the interval in which the singularity must lie, in parts of its distance."""

LOOSE = 1.7
"""How much nearer than a complex singularity a bound of its distance may say it is."""

ROUND, ABSENT = 0.05, 1e-4
"""The part in negative powers below which a function is analytic inside of a circle, and above which it is not."""

CIRCLE = 256


def disc(at: Point, value: Mapping[str, Array]) -> Iterator[Finding]:
    """Test the distance to the nearest singularity at each entry, along the operand that meets it first."""
    if at.rule.radius is None:
        return
    node = build_formula(at.rule.radius, (), at.book, at.symbols, sizes=at.numbers)
    shape = next(iter(at.data.values())).shape

    def radius(name: str, step: float) -> Array:
        return np.broadcast_to(at.evaluate([node], {name: at.data[name] + step})[0], shape)

    what, field, where = "`radius`", "radius", place(at)
    first = next(iter(at.data))
    r, unmet = radius(first, 0.0), np.full(shape, True)
    yield Finding(f"{what}, below 0,", field, max(0.0, -float(np.min(r, initial=0.0))), 0.0, where)
    for name in at.data:
        step = 1e-6
        slope = (radius(name, step) - radius(name, -step)) / (2 * step)
        meets = unmet & (np.abs(np.abs(slope) - 1) < 1e-6)
        unmet = unmet & ~meets
        nearer = _roughness(at, name, at.data[name], INSIDE * r)[meets]
        there = _roughness(at, name, at.data[name] - slope * r, BESIDE * r)[meets]
        yield Finding(f"{what}, a singularity nearer,", field, float(np.max(nearer, initial=0.0)), SHARP, where)
        yield Finding(f"{what}, none there,", field, SHARP / float(np.min(there, initial=np.inf)), 1.0, where)
    if not np.any(unmet):
        return
    broken = np.zeros(shape)
    for name in at.data:
        nearer = _roughness(at, name, at.data[name], INSIDE * r)[unmet]
        yield Finding(f"{what}, a singularity nearer,", field, float(np.max(nearer, initial=0.0)), SHARP, where)
        try:
            smooth, further = (_negative_powers(at, name, part * r) for part in (0.9, LOOSE))
        except REFUSED:
            return  # the oracle takes no complex numbers
        yield Finding(f"{what}, a singularity nearer,", field, float(np.max(smooth[unmet])), ROUND, where)
        broken = np.maximum(broken, further)
    least = max(float(np.min(broken[unmet])), 1e-300)
    yield Finding(f"{what}, none there,", field, ABSENT / least, 1.0, where)


def _negative_powers(at: Point, name: str, reach: Array) -> Array:
    """Return how much of a function on circles of these radii is in powers that none analytic inside has."""
    turns = np.exp(2j * np.pi * np.arange(CIRCLE) / CIRCLE)
    with np.errstate(all="ignore"):
        values = np.stack([at.value({name: at.data[name] + reach * turn})[""] for turn in turns])
    parts = np.abs(np.fft.fft(values, axis=0))[-8:].max(axis=0) / CIRCLE
    return np.asarray(parts / np.maximum(np.abs(values).max(axis=0), 1e-300))


def _roughness(at: Point, name: str, middle: Array, reach: Array) -> Array:
    """Return how far a function is from a polynomial between middle - reach and middle + reach, relative to what is
    not linear in it; infinite where it is not finite."""
    nodes = np.polynomial.chebyshev.chebpts1(NODES)
    between = (nodes[1:] + nodes[:-1]) / 2
    known, wanted = (
        np.stack([at.value({name: middle + t * reach})[""] for t in points]) for points in (nodes, between)
    )
    finite = np.all(np.isfinite(known), axis=0) & np.all(np.isfinite(wanted), axis=0)
    known, wanted = np.where(finite, known, 0.0), np.where(finite, wanted, 0.0)
    fit = np.polynomial.chebyshev.chebfit(nodes, known, NODES - 1)
    found = np.polynomial.chebyshev.chebval(between, fit).T
    curved = np.sum(np.abs(fit[2:]), axis=0) + 1e-8 * np.max(np.abs(known), axis=0) + 1e-300
    return np.where(finite, np.max(np.abs(found - wanted), axis=0) / curved, np.inf)
