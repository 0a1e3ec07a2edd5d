"""Tests of what an entry declares of the course of a function: monotone, curved, its divided differences, its disc."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from fractions import Fraction

import numpy as np

from matcalc.elaborate.formula import build_formula
from matcalc.normal_form.tensor import symbol
from matcalc.sizes import Size
from matcalc.verification.differences import slope
from matcalc.verification.finding import EXACT, REFUSED, Finding, is_in_words, largest, place, relative
from matcalc.verification.properties import DRAWN, elsewhere
from matcalc.verification.rule_point import Point
from matcalc.verification.sampling import Array, defect

SHARP = 0.05
"""Of a smooth function the slopes on both sides of a point differ by less."""

CLOSE = 1e-9
"""Relative distance of two points between which a quotient of differences keeps seven digits or fewer."""

LOOSE = 1.7
"""How much nearer than the singularity a bound of its distance may say it is."""

ABSENT = 1e-4
"""The part in negative powers, or the error of a polynomial across a point, below which there is no singularity."""

CIRCLE = 256

NODES = 24
"""How many values a polynomial is fitted to: enough inside of the disc in which a function is analytic."""


def course(at: Point, value: Mapping[str, Array]) -> Iterator[Finding]:
    """Test what an entry says of a function as a whole, by values alone."""
    if not at.form.overload:
        for test in (_monotone_and_curved, _divided, _radius):
            yield from test(at, value)


def _monotone_and_curved(at: Point, value: Mapping[str, Array]) -> Iterator[Finding]:
    """Test that values grow or fall with the only operand (`monotone`), and that their mean is above or below
    the value at the middle (`curvature`), between the argument and others that are drawn like it."""
    rule, rng = at.rule, np.random.default_rng([23, *at.rule.name.encode()])
    if at.form.tangents or (rule.monotone is None and rule.curvature is None):
        return
    (output,) = value
    errors: dict[str, list[float]] = {}
    for seed in range(DRAWN):
        other = {name: a + (0.1 + seed / 4) * at.direction(rng, name) for name, a in at.data.items()}
        middle = {name: (a + other[name]) / 2 for name, a in at.data.items()}
        if any(defect(b, fact) > EXACT for name, b in other.items() for fact in at.facts[name]):
            continue
        try:
            there, between = at.value(other)[output], at.value(middle)[output]
        except REFUSED:
            continue
        if not (np.all(np.isfinite(there)) and np.all(np.isfinite(between))):
            continue
        if rule.monotone is not None and len(at.data) == 1:
            (name,) = at.data
            rise = (there - value[output]) * np.sign(other[name] - at.data[name])
            errors.setdefault("monotone", []).append(_below(rise if rule.monotone == "increasing" else -rise))
        if rule.curvature is not None:
            bulge = (there + value[output]) / 2 - between
            errors.setdefault("curvature", []).append(_below(bulge if rule.curvature == "convex" else -bulge))
    for field, found in errors.items():
        yield Finding(f"`{field}`", field, min(found) if is_in_words(at) else max(found), EXACT, place(at))


def _below(a: Array) -> float:
    """Return how far the least entry lies below 0."""
    return max(0.0, -float(np.min(a, initial=0.0)))


def _divided(at: Point, value: Mapping[str, Array]) -> Iterator[Finding]:
    """Test the closed forms of (f(a) - f(b))/(a - b), where some number parameters have a form of their own."""
    names = [p.name for p in at.rule.parameters if p.kind == "number"]
    for special, text in at.rule.divided.items():
        plain = {name: Fraction(special) for name in names if special not in names}
        for call in (at, elsewhere(at, {}, at.seed)):
            yield from _divided_form(replace(call, plain={**call.plain, **plain}), text)


def _divided_form(at: Point, text: str) -> Iterator[Finding]:
    """Test a closed form where the quotient itself is good (near, far, across 0), and so near that the quotient
    cancels, where the derivative halfway is as good."""
    (x,) = at.symbols
    a, shape = at.data[x], at.symbols[x].shape
    symbols = {"a": symbol("a", shape), "b": symbol("b", shape)}
    numbers = {p.name: Size.of(at.plain[p.name]) for p in at.rule.parameters if p.kind == "number"}
    node = build_formula(text, (), at.book, symbols, sizes=numbers)
    for b in (a[::-1] if len(a) > 1 else a * 1.5, *(a * factor for factor in (0.75, 1.5, 4.0, 0.2, -0.7, -3.0))):
        with np.errstate(all="ignore"):
            quotient = (at.value({x: a})[""] - at.value({x: b})[""]) / (a - b)
        found = at.evaluate([node], {"a": a, "b": b})[0]
        usable = (np.abs(a - b) > 1e-3) & np.isfinite(quotient)
        yield Finding("`divided`", "divided", relative(found[usable], quotient[usable]), EXACT, place(at))
    b = a * (1 + CLOSE)
    halfway = slope(lambda t: at.value({x: (a + b) / 2 + t})[""])
    if np.all(np.isfinite(halfway.value)):
        (found,) = at.evaluate([node], {"a": a, "b": b})
        bound = max(EXACT, 100 * halfway.error / max(1.0, largest(halfway.value)))
        error = relative(found, halfway.value)
        yield Finding("`divided`, points that are close,", "divided", error, bound, place(at))


def _radius(at: Point, value: Mapping[str, Array]) -> Iterator[Finding]:
    """Test the distance to the nearest singularity: none is nearer, and one is there.

    Where the distance changes as fast as x does, the singularity is on the real line. Elsewhere it is in the complex
    plane, where values on a circle around x tell whether a function is analytic inside of it.
    """
    if at.rule.radius is None:
        return
    if len(at.symbols) > 1:  # of several operands only that it is a distance: values may jump at a cut that is no end
        (r,) = at.evaluate([build_formula(at.rule.radius, (), at.book, at.symbols)])
        yield Finding("`radius`, below 0,", "radius", max(0.0, -float(np.min(r, initial=0.0))), 0.0, place(at))
        return
    (x,) = at.symbols
    numbers = {p.name: Size.of(at.plain[p.name]) for p in at.rule.parameters if p.kind == "number"}
    node = build_formula(at.rule.radius, (), at.book, at.symbols, sizes=numbers)

    def radius(points: Array) -> Array:
        return np.broadcast_to(at.evaluate([node], {x: points})[0], points.shape)

    a = at.data[x]
    r, step = radius(a), 1e-6
    slope = (radius(a + step) - radius(a - step)) / (2 * step)
    what, field, where = "`radius`", "radius", place(at)
    yield Finding(f"{what}, below 0,", field, max(0.0, -float(np.min(r, initial=0.0))), 0.0, where)
    yield Finding(f"{what}, a singularity nearer,", field, _roughness(at, x, a, 0.9 * r), SHARP, where)
    on_line = bool(np.all(np.abs(np.abs(slope) - 1) < 1e-6))
    try:
        if on_line:
            smooth, broken = (_jump(at, x, a - slope * r * part) for part in (0.9, 1.0))
            broken = np.maximum(broken, _roughness(at, x, a, 1.5 * r))  # of a kink in the slope alone
        else:
            smooth, broken = (_negative_powers(at, x, part * r) for part in (0.9, LOOSE))
    except REFUSED:
        return  # the oracle takes no complex numbers
    yield Finding(f"{what}, a singularity nearer,", field, float(np.max(smooth, initial=0.0)), SHARP, where)
    yield Finding(
        f"{what}, none there,", field, ABSENT / max(float(np.min(broken, initial=np.inf)), 1e-300), 1.0, where
    )


def _negative_powers(at: Point, x: str, reach: Array) -> Array:
    """Return how much of a function on circles of these radii is in powers that none analytic inside has."""
    turns = np.exp(2j * np.pi * np.arange(CIRCLE) / CIRCLE)
    with np.errstate(all="ignore"):
        values = np.stack([at.value({x: at.data[x] + reach * turn})[""] for turn in turns])
    parts = np.abs(np.fft.fft(values, axis=0))[-8:].max(axis=0) / CIRCLE
    return np.asarray(parts / np.maximum(np.abs(values).max(axis=0), 1e-300))


def _roughness(at: Point, x: str, middle: Array, reach: Array) -> float:
    """Return how far a function is from a polynomial between middle - reach and middle + reach."""
    nodes = np.polynomial.chebyshev.chebpts1(NODES)
    between = (nodes[1:] + nodes[:-1]) / 2
    known, wanted = (np.stack([at.value({x: middle + t * reach})[""] for t in points]) for points in (nodes, between))
    if not np.all(np.isfinite(known)):
        return float("inf")
    fit = np.polynomial.chebyshev.chebfit(nodes, known, NODES - 1)
    found = np.polynomial.chebyshev.chebval(between, fit).T
    error = np.max(np.abs(found - wanted), axis=0) / np.maximum(np.max(np.abs(known), axis=0), 1e-300)
    return float(np.max(error, initial=0.0)) if np.all(np.isfinite(error)) else float("inf")


def _jump(at: Point, x: str, points: Array) -> Array:
    """Return how far slopes on both sides of points differ, or how steep the step is; infinite if not finite."""
    h = 1e-6 * np.abs(points - at.data[x])
    with np.errstate(all="ignore"):
        low, here, high = (at.value({x: points + k * h * _unit(points)})[""] for k in (-1, 0, 1))
        size = 1 + np.abs(high) + np.abs(low)
        steps = np.abs(high - here) + np.abs(here - low)
        bend = np.abs(high - 2 * here + low) / np.maximum(steps, 1e-9 * size)
        found = np.maximum(bend, np.abs(high - low) / size)
    return np.where(np.isfinite(found), found, np.inf)


def _unit(points: Array) -> complex:
    return 1j if np.iscomplexobj(points) else 1.0
