"""Tests derivatives in structured arguments, and pullbacks of several cotangents together.

The gradient in an argument declared symmetric, triangular, diagonal or skew must be exactly in that set: entries
outside the set are 0, not small. A formula must have the same derivative with and without the declaration, although
facts select other rules and kernels.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from matcalc.calculus.derive.conventions import tangent_symbol, vjps
from matcalc.calculus.derive.differentiate import pullback
from matcalc.calculus.simplify.shortest import shortest_of
from matcalc.calculus.simplify.simplify import simplify
from matcalc.evidence.numeric.sampling import Array, defect, projected
from matcalc.rulelab.finding import (
    EXACT,
    FLOOR,
    REFUSED,
    Finding,
    Slope,
    distance,
    is_finite,
    is_in_words,
    largest,
    location,
    named,
    shown_along,
    slope_field,
    value_or_none,
)  # fmt: skip
from matcalc.rulelab.rule_point import Point
from matcalc.tensor.constructors import symbol
from matcalc.tensor.nodes.node import Node
from matcalc.tensor.sizes.size import Size
from matcalc.tensor.substitute import substitute

BATCHES = (0, 1, 3)
NEAR, STEADY = 1e-9, 1e-3
"""A move beside the largest entry, and the share of a value that it may change."""
SAME, ROUNDING = 1e-12, 1e-14
"""Bounds: for several cotangents together; for a symmetric gradient, relative to its largest entry."""


def structure(at: Point, value: Mapping[str, Array], found: Sequence[Slope]) -> Iterator[Finding]:
    """Test derivatives in arguments with linear facts, and batches of cotangents."""
    if at.form.overload:
        return
    for s in found:
        yield from _batches(at, value, s)
        if not at.form.tangents:
            yield from _declared(at, value, s)
            for fact in _further(at, s.name):
                yield from _structured(at, s, fact)


def _further(at: Point, name: str) -> list[str]:
    """Return the linear facts that can be declared for a square argument without linear facts."""
    array = at.data[name]
    if array.ndim != 2 or array.shape[0] != array.shape[1] or at.book.hull(at.facts[name]):
        return []
    in_words = is_in_words(at)
    linear = [f for f in at.book.facts.values() if f.linear]
    return [f.name for f in linear if not (in_words and at.book.facts[f.name].zero == at.book.facts["skew"].zero)]


def _declared(at: Point, value: Mapping[str, Array], s: Slope) -> Iterator[Finding]:
    """Test that the gradient in an argument with linear facts is exactly in their set."""
    hull = at.book.hull(at.facts[s.name])
    if not hull:
        return
    rng = np.random.default_rng([41, *at.rule.name.encode()])
    G = np.asarray(rng.standard_normal(value[s.output].shape))
    pulled = at.evaluate([_pullback(s.node, at.symbols[s.name])], {"G_": G})[0]
    plain = projected(s.pull(at, G), at.facts[s.name])
    yield from _in_set(at, s, hull, pulled, plain)


def _structured(at: Point, s: Slope, fact: str) -> Iterator[Finding]:
    """Compare the derivative in an argument with a further declared fact with the derivative without it."""
    x = at.symbols[s.name]
    own = symbol(s.name, x.shape, (*x.data[1], fact))
    data = projected(at.data[s.name], [fact])
    here = replace(at, data={**at.data, s.name: data}, symbols={**at.symbols, s.name: own})
    if any(defect(data, f) > EXACT for f in at.facts[s.name]):
        return
    value = value_or_none(here)
    if value is None or not is_finite(value) or not _is_steady(here, value, s.name, fact):
        return
    rng = np.random.default_rng([43, *at.rule.name.encode()])
    G = np.asarray(rng.standard_normal(value[s.output].shape))
    E = projected(np.asarray(rng.standard_normal(data.shape)), [fact])
    f = substitute(s.node, {x: own})
    try:
        plain, pushed = s.pull(here, G), s.push(here, E)
    except REFUSED:
        return
    if not (np.all(np.isfinite(plain)) and np.all(np.isfinite(pushed))):
        return
    pulled = here.evaluate([_pullback(f, own)], {"G_": G})[0]
    yield from _in_set(here, s, (fact,), pulled, projected(plain, [fact]), fact)
    moved = here.evaluate([_pushforward(f, own)], {"dX_": E})[0]
    floor = FLOOR * largest(plain) * largest(E) / max(largest(G), 1e-300)
    error = distance(moved, pushed) / max(largest(pushed), floor, 1e-300)
    what = f"the derivative{named('', s.output)} in {fact} {s.name}, against that in any {s.name},"
    yield Finding(what, slope_field(at, s), error, EXACT, location(at))


def _is_steady(at: Point, value: Mapping[str, Array], name: str, fact: str) -> bool:
    """Whether a small move in the set hardly moves the value; it does where rounding decides: inv of a singular X."""
    data = at.data[name]
    noise = np.asarray(np.random.default_rng(53).standard_normal(data.shape))
    moved = value_or_none(replace(at, data={**at.data, name: data + NEAR * projected(noise, [fact]) * largest(data)}))
    if moved is None:
        return False
    return all(distance(moved[key], array) <= STEADY * largest(array) for key, array in value.items())


def _pullback(f: Node, x: Node) -> Node:
    """Return the pullback of a cotangent G_ to x in its shown form."""
    return shortest_of(vjps(simplify(f), [x], symbol("G_", f.shape)))[0].shown


def _pushforward(f: Node, x: Node) -> Node:
    """Return the pushforward of a tangent dX_ of x in its shown form; for a scalar by its gradient."""
    return shown_along(simplify(f), {x: tangent_symbol(x, "dX_")})


def _in_set(
    at: Point, s: Slope, facts: Sequence[str], pulled: Array, plain: Array, kind: str = ""
) -> Iterator[Finding]:
    what = f"the gradient{named('', s.output)} in {f'{kind} ' if kind else ''}{s.name}"
    for fact in facts:
        outside = distance(projected(pulled, [fact]), pulled) / max(largest(pulled), 1e-300)
        bound = 0.0 if _is_mask(fact, pulled.shape) else ROUNDING
        yield Finding(f"{what}, outside of the set '{fact}',", slope_field(at, s), outside, bound, location(at))
    error = distance(pulled, plain) / max(largest(plain), 1e-300)
    yield Finding(f"{what}, against the projection of any,", slope_field(at, s), error, EXACT, location(at))


def _is_mask(fact: str, shape: Sequence[int]) -> bool:
    """Whether the projection on a set only drops entries; then these must be exactly 0."""
    probe = np.arange(1.0, 1.0 + np.prod(shape)).reshape(shape)
    kept = projected(probe, [fact])
    return bool(np.all((kept == 0) | (kept == probe)))


def _batches(at: Point, value: Mapping[str, Array], s: Slope) -> Iterator[Finding]:
    """Compare the pullback of several cotangents together with the pullbacks one by one."""
    rng = np.random.default_rng([47, *at.rule.name.encode()])
    x = at.symbols[s.name]
    for count in BATCHES:
        length = Size.of(count)
        bar: Node = symbol("G_", (length, *s.node.shape))
        together = pullback(s.node, bar, [x], (length,))[0]
        G = np.asarray(rng.standard_normal((count, *value[s.output].shape)))
        found = at.evaluate([together], {"G_": G})[0]
        single = [s.pull(at, g) for g in G]
        expected = np.stack(single) if single else np.zeros((0, *at.data[s.name].shape))
        error = distance(found, expected) / max(largest(expected), 1e-300)
        what = f"the adjoint{named('', s.output)} in {s.name} of {count} cotangents together"
        yield Finding(what, slope_field(at, s), error, SAME, location(at))


__all__ = ["structure"]
