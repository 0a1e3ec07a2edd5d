"""Tests the declared shape of a function: monotony, curvature, divided differences, radius of analyticity.

Where a divided difference (f(a) - f(b))/(a - b) cancels, its true value comes from the value at many digits or, without
that, from the derivative halfway. `radius` is the distance to the nearest singularity: none may be nearer, and one must
be there. With several operands, one varies and the others are fixed. If the distance changes as fast as an operand, the
singularity is on the real line, and the function must break there. Otherwise it is in the complex plane, and values on
a circle show whether the function is analytic inside.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np

from matcalc.errors import NotSupported
from matcalc.evidence.numeric.differences import slope
from matcalc.evidence.numeric.sampling import Array, defect
from matcalc.evidence.precise import digits, doubles, numbers
from matcalc.formula.elaborate.rule_formula import build_formula
from matcalc.rulelab.finding import EXACT, REFUSED, Finding, is_in_words, largest, location, relative
from matcalc.rulelab.properties import DRAWN, elsewhere
from matcalc.rulelab.rule_point import Point
from matcalc.tensor.constructors import symbol


def function_shape(at: Point, value: Mapping[str, Array]) -> Iterator[Finding]:
    """Test the fields of an entry about the shape of a function, by values alone."""
    if not at.form.overload:
        for test in (_monotone_and_curved, _difference, divided, disc):
            yield from test(at, value)


def _monotone_and_curved(at: Point, value: Mapping[str, Array]) -> Iterator[Finding]:
    """Test `monotone` and `curvature` between the argument and random others.

    Values must grow or fall with the only operand; their mean must be above or below the value at the middle.
    """
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
    if rule.through is not None and len(at.data) == 1:
        (name, data), (x, y) = next(iter(at.data.items())), rule.through
        errors["through"] = [float(np.max(np.abs(at.value({name: np.full_like(data, x)})[output] - y), initial=0.0))]
    for field, found in errors.items():
        yield Finding(f"`{field}`", field, min(found) if is_in_words(at) else max(found), EXACT, location(at))


def _below(a: Array) -> float:
    """Return how far the least entry is below 0."""
    return max(0.0, -float(np.min(a, initial=0.0)))


def _difference(at: Point, value: Mapping[str, Array]) -> Iterator[Finding]:
    """Test the form of f(a) - f(b) that does not cancel, at points where the plain difference is accurate."""
    if at.rule.difference is None:
        return
    (x,) = at.symbols
    a, shape = at.data[x], at.symbols[x].shape
    symbols = {"a": symbol("a", shape), "b": symbol("b", shape)}
    node = build_formula(at.rule.difference, (), at.book, symbols)
    for factor in (0.2, 4.0, -0.7, -3.0):
        apart = value[""] - at.value({x: a * factor})[""]
        found = at.evaluate([node], {"a": a, "b": a * factor})[0]
        yield Finding("`difference`", "difference", relative(found, apart), EXACT, location(at))


FACTORS = (0.75, 1.5, 4.0, 0.2, -0.7, -3.0)
NEAR = (1e-12, 1e-9, 1e-6, 1e-3, 0.02, 0.1, 0.3, 3.0, -0.05, -0.5, -0.8)
"""Ratios of the second point to the first at which the quotient is accurate, and small relative distances."""

DIGITS = 60
SHAKEN = 1e-25
CLOSED = 1e-14
"""Bound on the error of an entry, divided by the condition number of the quotient."""

POWERS = (Fraction(1, 1000), Fraction(-1, 3), Fraction(5, 2), Fraction(-3), Fraction(4))
"""Values tried for a number parameter."""


def divided(at: Point, value: Mapping[str, Array]) -> Iterator[Finding]:
    """Test the closed forms of divided differences; some values of number parameters have forms of their own."""
    names = [p.name for p in at.rule.parameters if p.kind == "number"]
    for special, text in at.rule.divided.items():
        for number in POWERS if special in names else [special]:
            plain = {name: Fraction(number) for name in names}
            for call in (at, elsewhere(at, {}, at.seed)):
                yield from _form(replace(call, plain={**call.plain, **plain}), text)


def _form(at: Point, text: str) -> Iterator[Finding]:
    (x,) = at.symbols
    a, shape = at.data[x], at.symbols[x].shape
    symbols = {"a": symbol("a", shape), "b": symbol("b", shape)}
    node = build_formula(text, (), at.book, symbols, sizes=at.numbers)

    def found(b: Array, a: Array = a) -> Array:
        return at.evaluate([node], {"a": a, "b": b})[0]

    def value(start: Array, t: Any) -> Array:
        return at.value({x: start + t})[""]

    for b in (a[::-1] if len(a) > 1 else a * 1.5, *(a * factor for factor in FACTORS)):
        with np.errstate(all="ignore"):
            quotient = (at.value({x: a})[""] - at.value({x: b})[""]) / (a - b)
        usable = (np.abs(a - b) > 1e-3) & np.isfinite(quotient)
        yield Finding("`divided`", "divided", relative(found(b)[usable], quotient[usable]), EXACT, location(at))
    zero = np.zeros_like(a)
    for one, other in ((a, zero), (zero, a)):
        with np.errstate(all="ignore"):
            quotient = (at.value({x: one})[""] - at.value({x: other})[""]) / (one - other)
            by_form = found(other, one)
        usable = (np.abs(a) > 1e-3) & np.isfinite(quotient)
        yield Finding("`divided`, at 0,", "divided", relative(by_form[usable], quotient[usable]), EXACT, location(at))
    at_kink = [(zero, zero)] if at.rule.pieces and not at.rule.jumps else []
    for one, b in [(a, a), (a, a * (1 + 1e-9)), *at_kink]:
        with np.errstate(all="ignore"):
            halfway = slope(partial(value, (one + b) / 2))
        usable = np.isfinite(halfway.value)
        bound = max(EXACT, 100 * halfway.error / max(1.0, largest(halfway.value[usable])))
        error = relative(found(b, one)[usable], halfway.value[usable])
        yield Finding("`divided`, points that are close,", "divided", error, bound, location(at))
    try:
        for gap in NEAR:
            b = a * (1 + gap)
            truth, condition = _precise(at, x, b)
            usable = np.isfinite(truth) & np.isfinite(condition) & (np.abs(truth) > 1e-290)
            error = np.abs(found(b) - truth)[usable] / (np.abs(truth) * condition)[usable]
            what = "`divided`, at many digits,"
            yield Finding(what, "divided", float(np.max(error, initial=0.0)), CLOSED, location(at))
    except (NotSupported, *REFUSED):
        return


def _precise(at: Point, x: str, b: Array) -> tuple[Array, Array]:
    """Return the quotient, and its condition number in either point."""

    def quotient(a: Array, b: Array) -> Array:
        return np.asarray((at.precise({x: a})[""] - at.precise({x: b})[""]) / (a - b))

    with digits(DIGITS):
        a, b = numbers(at.data[x]), numbers(b)
        there = quotient(a, b)
        moved = [quotient(a + a * SHAKEN, b), quotient(a, b + b * SHAKEN)]
        moves = [np.abs(doubles((m - there) / there)) / SHAKEN for m in moved]
        return doubles(there), np.maximum(1.0, np.max(moves, axis=0))


INSIDE = 0.75
"""The part of the disc in which a polynomial through NODES values is as accurate as the values."""

NODES = 60

SHARP = 1e-6
"""The error of that polynomial, relative to its nonlinear part, above which a function is not analytic."""

BESIDE = 0.05
"""Half the width of the interval that must contain the singularity, relative to its distance."""

LOOSE = 1.7
"""The factor by which a stated distance may be less than that of a complex singularity."""

ROUND, ABSENT = 0.05, 1e-4
"""The part in negative powers below which a function is analytic inside a circle, and above which it is not."""

CIRCLE = 256


def disc(at: Point, value: Mapping[str, Array]) -> Iterator[Finding]:
    """Test the distance to the nearest singularity for each entry, along the operand that reaches it first."""
    if at.rule.radius is None:
        return
    node = build_formula(at.rule.radius, (), at.book, at.symbols, sizes=at.numbers)
    shape = next(iter(at.data.values())).shape

    def radius(name: str, step: float) -> Array:
        return np.broadcast_to(at.evaluate([node], {name: at.data[name] + step})[0], shape)

    what, field, where = "`radius`", "radius", location(at)
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
            return  # the oracle does not support complex numbers
        yield Finding(f"{what}, a singularity nearer,", field, float(np.max(smooth[unmet])), ROUND, where)
        broken = np.maximum(broken, further)
    least = max(float(np.min(broken[unmet])), 1e-300)
    yield Finding(f"{what}, none there,", field, ABSENT / least, 1.0, where)


def _negative_powers(at: Point, name: str, reach: Array) -> Array:
    """Return the part of a function on circles of these radii in negative powers, 0 for a function analytic inside."""
    unit_circle = np.exp(2j * np.pi * np.arange(CIRCLE) / CIRCLE)
    with np.errstate(all="ignore"):
        values = np.stack([at.value({name: at.data[name] + reach * turn})[""] for turn in unit_circle])
    parts = np.abs(np.fft.fft(values, axis=0))[-8:].max(axis=0) / CIRCLE
    return np.asarray(parts / np.maximum(np.abs(values).max(axis=0), 1e-300))


def _roughness(at: Point, name: str, middle: Array, reach: Array) -> Array:
    """Return the error of a polynomial fit between middle - reach and middle + reach, relative to its nonlinear part.

    It is infinite if the function is not finite there.
    """
    nodes = np.polynomial.chebyshev.chebpts1(NODES)
    between = (nodes[1:] + nodes[:-1]) / 2
    known, expected = (
        np.stack([at.value({name: middle + t * reach})[""] for t in points]) for points in (nodes, between)
    )
    finite = np.all(np.isfinite(known), axis=0) & np.all(np.isfinite(expected), axis=0)
    known, expected = np.where(finite, known, 0.0), np.where(finite, expected, 0.0)
    fit = np.polynomial.chebyshev.chebfit(nodes, known, NODES - 1)
    found = np.polynomial.chebyshev.chebval(between, fit).T
    curved = np.sum(np.abs(fit[2:]), axis=0) + 1e-8 * np.max(np.abs(known), axis=0) + 1e-300
    return np.where(finite, np.max(np.abs(found - expected), axis=0) / curved, np.inf)
