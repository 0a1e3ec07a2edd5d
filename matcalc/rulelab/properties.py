"""Tests the declarations of an entry about its values: facts, interval, laws (`covariance`), square, associativity."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from fractions import Fraction

import numpy as np

from matcalc.evidence.numeric.sampling import Array, defect, interior, sample
from matcalc.formula.elaborate.rule_formula import build_formula
from matcalc.rulebook.notations import spelled
from matcalc.rulelab.equivariance import covariance
from matcalc.rulelab.facts_at_boundary import broken_at_ends
from matcalc.rulelab.finding import EXACT, REFUSED, Finding, is_in_words, location, relative
from matcalc.rulelab.rule_point import Point

OTHERS = ("function", "number")
"""Kinds of parameters for which other arguments are tried."""

FARTHER = (4.0, 1e-3)
"""Further scales of the arguments at which an interval must hold."""

LAST_AT_ENDS = 0
"""The number of the last set of lengths at which facts are tested at the ends of the arguments."""

DRAWN = 4
"""The number of random arguments for a fact; with a domain in words, one success is enough."""


def properties(at: Point, value: Mapping[str, Array]) -> Iterator[Finding]:
    """Test the fields of an entry about its values, by values alone."""
    if at.form.overload:
        return
    for test in (_facts, _interval, covariance, _square, _associative):
        yield from test(at, value)


def _facts(at: Point, value: Mapping[str, Array]) -> Iterator[Finding]:
    rule = at.rule
    slots = [p.name for p in rule.parameters if p.repeated]
    for number, (conditions, output, fact) in enumerate(rule.fact_rules):
        if at.form.tangents and not any(name in slots for _, name in conditions):
            continue
        given = {name: tuple(f for f, other in conditions if other == name) for _, name in conditions}
        key = "" if output == "Y" and rule.outputs == ("",) else output
        in_words = is_in_words(at)
        may_leave = not in_words or any(p.kind in OTHERS for p in rule.parameters)
        for moved in (False, True) if may_leave else (False,):
            calls = [elsewhere(at, given, seed) if moved else at for seed in range(DRAWN)]
            errors = [e for k, call in enumerate(calls) if (e := _fact_error(call, given, key, fact, k)) is not None]
            telling = [e for e, is_telling in errors if is_telling] or [e for e, _ in errors]
            if telling:
                error = min(telling) if in_words else max(telling)
                yield Finding(f"the fact '{fact}({output})', number {number + 1},", "facts", error, EXACT, location(at))
                yield from _at_ends(at, given, key, fact, f"the fact '{fact}({output})', number {number + 1},", "facts")
    for declared in rule.signature.outputs:
        for fact in declared.facts:
            error, what = defect(value[declared.name], fact), f"the fact '{fact}' of the result"
            yield Finding(what, "signature", error, EXACT, location(at))
            yield from _at_ends(at, {}, declared.name, fact, what, "signature")


def _at_ends(
    at: Point, given: Mapping[str, tuple[str, ...]], key: str, fact: str, what: str, field: str
) -> Iterator[Finding]:
    """Test a fact at the ends of the arguments' sets, unless the domain is in words and may exclude them."""
    if is_in_words(at) or at.form.tangents or at.seed > LAST_AT_ENDS:
        return
    broken = broken_at_ends(at, given, key, fact)
    error, where = broken or (0.0, "")
    yield Finding(
        f"{what} at the ends of its arguments,", field, error, EXACT, f" at {where}" if where else location(at)
    )


def elsewhere(at: Point, given: Mapping[str, tuple[str, ...]], seed: int) -> Point:
    """Return a call with other arguments: normal draws, a function with values of both signs, an integer as number."""
    rng = np.random.default_rng([13, seed])
    plain, data = dict(at.plain), dict(at.data)
    for p in at.rule.parameters:
        if p.name not in given and p.kind in OTHERS:
            plain[p.name] = spelled("sine") if p.kind == "function" else Fraction(3)
    for name, array in at.data.items():
        if name not in given:
            data[name] = sample(rng, array.shape, at.facts[name])
    return replace(at, plain=plain, data=data)


def _fact_error(
    at: Point, given: Mapping[str, tuple[str, ...]], key: str, fact: str, seed: int
) -> tuple[float, bool] | None:
    """Return the distance of the value from a fact at arguments with further facts, and whether this is significant.

    A diagonal value is not significant, since it has every structure. Return None if there are no such arguments.
    """
    changed = _with_facts(at, given, seed)
    if changed is None:
        return None
    try:
        found = at.value(changed)[key]
    except REFUSED:
        return None
    if at.rule.kind == "map":
        found = found[np.isfinite(found)]
    if not found.size or not np.all(np.isfinite(found)):
        return None
    beside = found * (1 - np.eye(*found.shape)) if found.ndim == 2 else found
    return defect(found, fact), bool(np.any(np.abs(beside) > EXACT * np.max(np.abs(found))))


def _with_facts(at: Point, given: Mapping[str, tuple[str, ...]], seed: int) -> dict[str, Array] | None:
    """Return arguments that have further facts; None if the shapes do not allow them."""
    rng = np.random.default_rng([11, seed])
    changed = {}
    for name, array in at.data.items():
        facts = given.get(name.partition("_")[0] if name not in given else name, ())
        if not facts:
            continue
        if any(at.book.facts[f].of == "square" for f in facts) and array.shape != array.shape[::-1]:
            return None
        required = (*at.facts[name], *facts)
        changed[name] = sample(rng, array.shape, required)
        if max(defect(changed[name], f) for f in required) > EXACT:
            changed[name] = sample(rng, array.shape, interior(facts))
        if max(defect(changed[name], f) for f in required) > EXACT:
            return None
        signed = changed[name] * (1 - 2.0 * (np.arange(array.shape[-1]) % 2)) if array.ndim == 2 and seed % 2 else None
        if signed is not None and max(defect(signed, f) for f in required) <= EXACT:
            changed[name] = signed  # the sampler of triangles draws a positive diagonal, which is not required
    return changed


def _interval(at: Point, value: Mapping[str, Array]) -> Iterator[Finding]:
    if at.rule.interval is not None and not at.form.tangents:
        low, high, *_ = at.rule.interval
        for found in (*value.values(), *_farther(at)):
            below = float(np.max(low - found, initial=0.0)) if np.isfinite(low) else 0.0
            above = float(np.max(found - high, initial=0.0)) if np.isfinite(high) else 0.0
            yield Finding("the interval of the value", "interval", max(below, above), EXACT, location(at))


def _farther(at: Point) -> Iterator[Array]:
    """Yield finite values at larger and smaller arguments that keep their facts."""
    for scale in FARTHER:
        data = {name: scale * a for name, a in at.data.items()}
        if any(defect(a, fact) > EXACT for name, a in data.items() for fact in at.facts[name]):
            continue
        try:
            found = at.value(data)
        except REFUSED:
            continue
        yield from (a[np.isfinite(a)] for a in found.values())


def _square(at: Point, value: Mapping[str, Array]) -> Iterator[Finding]:
    if at.rule.square is None:
        return
    node = build_formula(at.rule.square, (), at.book, at.symbols)
    (found,) = at.evaluate([node])
    for before in value.values():
        yield Finding("`square`", "square", relative(found, before * before), EXACT, location(at))


def _associative(at: Point, value: Mapping[str, Array]) -> Iterator[Finding]:
    """Test f(f(a, b), c) = f(a, f(b, c)) if the result fits both arguments."""
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
    yield Finding("`associative`", "associative", relative(left, right), EXACT, location(at))
