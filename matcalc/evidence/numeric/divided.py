"""The test of `divided`, closed forms of (f(a) - f(b))/(a - b): at pairs of points that are near, far, equal, across 0.

What the quotient is where it cancels is known from the value at many digits, and where that is not known, from the
derivative halfway.
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
from matcalc.evidence.numeric.finding import EXACT, REFUSED, Finding, largest, place, relative
from matcalc.evidence.numeric.properties import elsewhere
from matcalc.evidence.numeric.rule_point import Point
from matcalc.evidence.numeric.sampling import Array
from matcalc.evidence.precise import digits, doubles, numbers
from matcalc.formula.elaborate.rule_formula import build_formula
from matcalc.tensor.constructors import symbol

FACTORS = (0.75, 1.5, 4.0, 0.2, -0.7, -3.0)
NEAR = (1e-12, 1e-9, 1e-6, 1e-3, 0.02, 0.1, 0.3, 3.0, -0.05, -0.5, -0.8)
"""The second point in parts of the first, where the quotient is good, and the relative distances from it."""

DIGITS = 60
SHAKEN = 1e-25
CLOSED = 1e-14
"""Bound on the error of an entry, divided by how much more than the points the quotient itself moves."""

POWERS = (Fraction(1, 1000), Fraction(-1, 3), Fraction(5, 2), Fraction(-3), Fraction(4))
"""What a number parameter stands for."""


def divided(at: Point, value: Mapping[str, Array]) -> Iterator[Finding]:
    """Test the closed forms, where some number parameters have a form of their own."""
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

    def found(b: Array) -> Array:
        return at.evaluate([node], {"a": a, "b": b})[0]

    def value(start: Array, t: Any) -> Array:
        return at.value({x: start + t})[""]

    for b in (a[::-1] if len(a) > 1 else a * 1.5, *(a * factor for factor in FACTORS)):
        with np.errstate(all="ignore"):
            quotient = (at.value({x: a})[""] - at.value({x: b})[""]) / (a - b)
        usable = (np.abs(a - b) > 1e-3) & np.isfinite(quotient)
        yield Finding("`divided`", "divided", relative(found(b)[usable], quotient[usable]), EXACT, place(at))
    for b in (a, a * (1 + 1e-9)):
        halfway = slope(partial(value, (a + b) / 2))
        usable = np.isfinite(halfway.value)
        bound = max(EXACT, 100 * halfway.error / max(1.0, largest(halfway.value[usable])))
        error = relative(found(b)[usable], halfway.value[usable])
        yield Finding("`divided`, points that are close,", "divided", error, bound, place(at))
    try:
        for gap in NEAR:
            b = a * (1 + gap)
            truth, condition = _precise(at, x, b)
            usable = np.isfinite(truth) & np.isfinite(condition) & (np.abs(truth) > 1e-290)
            error = np.abs(found(b) - truth)[usable] / (np.abs(truth) * condition)[usable]
            what = "`divided`, at many digits,"
            yield Finding(what, "divided", float(np.max(error, initial=0.0)), CLOSED, place(at))
    except (NotSupported, *REFUSED):
        return


def _precise(at: Point, x: str, b: Array) -> tuple[Array, Array]:
    """Return the quotient, and how far it moves with either point, relative to that."""

    def quotient(a: Array, b: Array) -> Array:
        return np.asarray((at.precise({x: a})[""] - at.precise({x: b})[""]) / (a - b))

    with digits(DIGITS):
        a, b = numbers(at.data[x]), numbers(b)
        there = quotient(a, b)
        moved = [quotient(a + a * SHAKEN, b), quotient(a, b + b * SHAKEN)]
        moves = [np.abs(doubles((m - there) / there)) / SHAKEN for m in moved]
        return doubles(there), np.maximum(1.0, np.max(moves, axis=0))
