"""Tests of what an entry declares of the course of a function: monotone, curved, its divided differences, its disc."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from matcalc.evidence.numeric.disc import disc
from matcalc.evidence.numeric.divided import divided
from matcalc.evidence.numeric.finding import EXACT, REFUSED, Finding, is_in_words, place, relative
from matcalc.evidence.numeric.properties import DRAWN
from matcalc.evidence.numeric.rule_point import Point
from matcalc.evidence.numeric.sampling import Array, defect
from matcalc.formula.elaborate.rule_formula import build_formula
from matcalc.tensor.constructors import symbol


def course(at: Point, value: Mapping[str, Array]) -> Iterator[Finding]:
    """Test what an entry says of a function as a whole, by values alone."""
    if not at.form.overload:
        for test in (_monotone_and_curved, _difference, divided, disc):
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
    if rule.through is not None and len(at.data) == 1:
        (name, data), (x, y) = next(iter(at.data.items())), rule.through
        errors["through"] = [float(np.max(np.abs(at.value({name: np.full_like(data, x)})[output] - y), initial=0.0))]
    for field, found in errors.items():
        yield Finding(f"`{field}`", field, min(found) if is_in_words(at) else max(found), EXACT, place(at))


def _below(a: Array) -> float:
    """Return how far the least entry lies below 0."""
    return max(0.0, -float(np.min(a, initial=0.0)))


def _difference(at: Point, value: Mapping[str, Array]) -> Iterator[Finding]:
    """Test the form of f(a) - f(b) that does not cancel, where that itself is good."""
    if at.rule.difference is None:
        return
    (x,) = at.symbols
    a, shape = at.data[x], at.symbols[x].shape
    symbols = {"a": symbol("a", shape), "b": symbol("b", shape)}
    node = build_formula(at.rule.difference, (), at.book, symbols)
    for factor in (0.2, 4.0, -0.7, -3.0):
        apart = value[""] - at.value({x: a * factor})[""]
        found = at.evaluate([node], {"a": a, "b": a * factor})[0]
        yield Finding("`difference`", "difference", relative(found, apart), EXACT, place(at))
