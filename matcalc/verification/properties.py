"""Tests of what an entry declares of its values: facts, interval, degree, parity, transposition, square."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

import numpy as np

from matcalc.elaborate.formula import build_formula
from matcalc.language.read import read
from matcalc.normal_form.signature_shapes import size_of, tensors_of
from matcalc.normal_form.tensor import symbol
from matcalc.sizes import Size
from matcalc.verification.finding import EXACT, REFUSED, Finding, place, relative
from matcalc.verification.rule_point import Point, facts_in, interior
from matcalc.verification.sampling import Array, defect, sample

DRAWN = 4
"""How many arguments a fact is tried on; with a domain in words, that any of them may miss, one has to do."""


def properties(at: Point, value: Mapping[str, Array]) -> Iterator[Finding]:
    """Test what the entry says of its values, each field by values alone."""
    if at.form.overload:
        return
    for test in (_facts, _interval, _symmetries, _square, _associative, _course, _divided):
        yield from test(at, value)


def _facts(at: Point, value: Mapping[str, Array]) -> Iterator[Finding]:
    rule = at.rule
    slots = [p.name for p in rule.parameters if p.repeated]
    for number, (conditions, output, fact) in enumerate(rule.fact_rules):
        if at.form.tangents and not any(name in slots for _, name in conditions):
            continue
        given = {name: tuple(f for f, other in conditions if other == name) for _, name in conditions}
        key = "" if output == "Y" and rule.outputs == ("",) else output
        errors = [e for seed in range(DRAWN) if (e := _fact_error(at, given, key, fact, seed)) is not None]
        in_words = rule.domain is not None and not facts_in(rule.domain, at.book)
        if errors:
            error = min(errors) if in_words else max(errors)
            yield Finding(f"the fact '{fact}({output})', number {number + 1},", "facts", error, EXACT, place(at))
    for declared in rule.signature.outputs:
        for fact in declared.facts:
            error = defect(value[declared.name], fact)
            yield Finding(f"the fact '{fact}' of the result", "signature", error, EXACT, place(at))


def _fact_error(at: Point, given: Mapping[str, tuple[str, ...]], key: str, fact: str, seed: int) -> float | None:
    """Return how far the value is from a fact at arguments with the facts given; None if there are none."""
    changed = _with_facts(at, given, seed)
    if changed is None:
        return None
    try:
        found = at.value(changed)[key]
    except REFUSED:
        return None
    return defect(found, fact) if np.all(np.isfinite(found)) else None


def _with_facts(at: Point, given: Mapping[str, tuple[str, ...]], seed: int) -> dict[str, Array] | None:
    """Return arguments that have further facts, None if none of these shapes can have them."""
    rng = np.random.default_rng([11, seed])
    changed = {}
    for name, array in at.data.items():
        facts = given.get(name.partition("_")[0] if name not in given else name, ())
        if not facts:
            continue
        if any(at.book.facts[f].of == "square" for f in facts) and array.shape != array.shape[::-1]:
            return None
        wanted = (*at.facts[name], *facts)
        changed[name] = sample(rng, array.shape, wanted)
        if max(defect(changed[name], f) for f in wanted) > EXACT:
            changed[name] = sample(rng, array.shape, interior(facts))
        if max(defect(changed[name], f) for f in wanted) > EXACT:
            return None
    return changed


def _interval(at: Point, value: Mapping[str, Array]) -> Iterator[Finding]:
    if at.rule.interval is not None and not at.form.tangents:
        low, _, high, _ = at.rule.interval
        for found in value.values():
            below = float(np.max(low - found, initial=0.0)) if np.isfinite(low) else 0.0
            above = float(np.max(found - high, initial=0.0)) if np.isfinite(high) else 0.0
            yield Finding("the interval of the value", "interval", max(below, above), EXACT, place(at))


def _symmetries(at: Point, value: Mapping[str, Array]) -> Iterator[Finding]:
    rule = at.rule
    tensors = [p for p in tensors_of(rule.signature) if not p.repeated]
    if not tensors:
        return
    first = tensors[0].name

    def holds(field: str, changed: Mapping[str, Array], wanted: Callable[[Array], Array]) -> Iterator[Finding]:
        found = at.value(changed)
        for output, before in value.items():
            yield Finding(f"`{field}`", field, relative(found[output], wanted(before)), EXACT, place(at))

    if rule.parity is not None and first in at.data and _may(at, first, "negative"):
        sign = 1.0 if rule.parity == "even" else -1.0
        yield from holds("parity", {first: -at.data[first]}, lambda y: sign * y)
    if rule.degree is not None and first in at.data:
        exponent = degree(at)
        for c in (3.0, -2.0) if rule.homogeneous and _may(at, first, "negative") else (3.0,):
            factor = np.sign(c) ** round(exponent) * abs(c) ** exponent if c < 0 else c**exponent
            yield from holds("degree", {first: c * at.data[first]}, lambda y, factor=factor: factor * y)  # type: ignore[misc]
    if rule.transpose_same and all(a.ndim == 2 and _may(at, n, "transposed") for n, a in at.data.items()):
        yield from holds("transpose", {n: a.T for n, a in at.data.items()}, np.transpose)
    if rule.commutes and len(tensors) == 2:
        swapped = dict(zip(at.data, list(at.data.values())[::-1], strict=True))
        yield from holds("commutes", swapped, lambda y: y)


def degree(at: Point) -> float:
    """Return the degree as a number: one less for each further tangent."""
    declared = at.rule.degree
    if isinstance(declared, str):
        sizes = {n: Size.of(length) for n, length in at.lengths.items()}
        declared = size_of(read(declared), sizes).constant
    assert declared is not None
    return float(declared) - at.form.tangents


def _may(at: Point, name: str, change: str) -> bool:
    """Whether an argument may be negated or transposed and keep its facts."""
    facts = at.facts[name]
    records = [at.book.facts[f] for f in facts]
    return all((f.negated if change == "negative" else f.transposed) == f.name for f in records)


def _square(at: Point, value: Mapping[str, Array]) -> Iterator[Finding]:
    if at.rule.square is None:
        return
    node = build_formula(at.rule.square, (), at.book, at.symbols)
    (found,) = at.evaluate([node])
    for before in value.values():
        yield Finding("`square`", "square", relative(found, before * before), EXACT, place(at))


def _associative(at: Point, value: Mapping[str, Array]) -> Iterator[Finding]:
    """Test f(f(a, b), c) = f(a, f(b, c)) where the result fits the first place and the last."""
    names = list(at.data)
    if not at.rule.associative or len(names) != 2:
        return
    a, b = names
    (output,) = value
    third = np.flip(at.data[b])
    try:
        left = at.value({a: value[output], b: third})[output]
        right = at.value({b: at.value({a: at.data[b], b: third})[output]})[output]
    except REFUSED:
        return
    yield Finding("`associative`", "associative", relative(left, right), EXACT, place(at))


def _course(at: Point, value: Mapping[str, Array]) -> Iterator[Finding]:
    """Test that values grow or fall with the only operand (`monotone`), and that their mean is above or below
    the value at the middle (`curvature`), between the argument and others that are drawn like it."""
    rule, rng = at.rule, np.random.default_rng([23, *at.rule.name.encode()])
    if at.form.tangents or (rule.monotone is None and rule.curvature is None):
        return
    (output,) = value
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
            rise = rise if rule.monotone == "increasing" else -rise
            yield Finding("`monotone`", "monotone", max(0.0, -float(np.min(rise, initial=0.0))), EXACT, place(at))
        if rule.curvature is not None:
            bulge = (there + value[output]) / 2 - between
            bulge = bulge if rule.curvature == "convex" else -bulge
            yield Finding("`curvature`", "curvature", max(0.0, -float(np.min(bulge, initial=0.0))), EXACT, place(at))


def _divided(at: Point, value: Mapping[str, Array]) -> Iterator[Finding]:
    """Test the closed form of (f(a) - f(b))/(a - b) where the quotient itself is good."""
    if at.rule.divided is None:
        return
    (x,) = at.symbols
    a = at.data[x]
    for b in (a[::-1] if len(a) > 1 else a * 1.5, a * 0.75, a * 1.5):
        apart = np.abs(a - b) > 1e-3
        with np.errstate(all="ignore"):
            quotient = (at.value({x: a})[""] - at.value({x: b})[""]) / (a - b)
        symbols = {"a": symbol("a", at.symbols[x].shape), "b": symbol("b", at.symbols[x].shape)}
        numbers = {p.name: Size.of(at.plain[p.name]) for p in at.rule.parameters if p.kind == "number"}
        node = build_formula(at.rule.divided, (), at.book, symbols, sizes=numbers)
        found = at.evaluate([node], {"a": a, "b": b})[0]
        usable = apart & np.isfinite(quotient)
        yield Finding("`divided`", "divided", relative(found[usable], quotient[usable]), EXACT, place(at))
