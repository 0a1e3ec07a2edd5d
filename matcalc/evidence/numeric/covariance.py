"""How derivatives change with scale and with coordinates: by the declared degree, and by what `equivariant` says.

A rule that compares with an absolute number, or that regularises, is right at data of size 1 and wrong far from
there; so the adjoint is asked for at cotangents from 1e-150 to 1e150, and the derivative at arguments scaled from
1e-100 to 1e100. The factors are powers of two: what is computed without thresholds changes by them alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np

from matcalc.calculus.derive.differentiate import pushforward
from matcalc.evidence.numeric.finding import (
    FLOOR,
    REFUSED,
    Finding,
    Slope,
    distance,
    largest,
    named,
    norm,
    off,
    place,
    slope_field,
    value_or_none,
)  # fmt: skip
from matcalc.evidence.numeric.properties import degree
from matcalc.evidence.numeric.rule_point import Point
from matcalc.evidence.numeric.sampling import Array
from matcalc.formula.elaborate.rule_formula import build_formula
from matcalc.tensor.constructors import symbol
from matcalc.tensor.node import Node
from matcalc.tensor.signature import tensors_of
from matcalc.tensor.size import Size

COTANGENTS = tuple(2.0**k for k in (-498, -27, 27, 53, 498))
ARGUMENTS = tuple(2.0**k for k in (-332, -27, 27, 332))
LINEAR, TURNED, SCALED = 1e-12, 1e-9, 1e-10
"""Bounds: of the adjoint at a scaled cotangent; of derivatives in other coordinates, and at another scale."""

LARGEST = 1e280  # a result beyond it, or below its inverse, may have overflowed on the way

Change = Mapping[str, str]
"""What stands in place of arguments and results, as formulas in them and in O, Z, P and c."""


def homogeneity(at: Point, value: Mapping[str, Array], found: Sequence[Slope]) -> Iterator[Finding]:
    """Test that the adjoint at c*G is c times that at G."""
    rng = np.random.default_rng([29, *at.rule.name.encode()])
    for s in found:
        G = np.asarray(rng.standard_normal(value[s.output].shape))
        here = s.pull(at, G)
        error = max((distance(s.pull(at, c * G) / c, here) for c in COTANGENTS), default=0.0)
        what = f"the adjoint{named('', s.output)} in {s.name} at scaled cotangents"
        yield Finding(what, slope_field(at, s), error / max(largest(here), 1e-300), LINEAR, place(at))


def covariance(at: Point, value: Mapping[str, Array], found: Sequence[Slope]) -> Iterator[Finding]:
    """Test value, tangent and adjoint where the arguments are changed in the ways that the entry declares."""
    if at.form.overload:
        return
    for change, field in _changes(at):
        if not change.keys() <= {*at.symbols, *_results(at)}:
            continue
        for c in ARGUMENTS if any(_mentions(text, "c") for text in change.values()) else (1.0,):
            yield from _changed(at, value, found, change, field, c)


def _changes(at: Point) -> Iterator[tuple[Change, str]]:
    tensors = [p.name for p in tensors_of(at.rule.signature) if not p.repeated]
    if at.rule.degree is not None and tensors and tensors[0] in at.symbols:
        exponent = Fraction(degree(at)) + at.form.tangents
        yield {tensors[0]: f"c*{tensors[0]}", **{name: f"c^({exponent})*{name}" for name in _results(at)}}, "degree"
    for change in at.rule.equivariant:
        yield change, "equivariant"


def _results(at: Point) -> list[str]:
    return [name or "Y" for name in at.rule.outputs]


def _mentions(text: str, name: str) -> bool:
    return re.search(rf"\b{name}\b", text) is not None


def _changed(
    at: Point, value: Mapping[str, Array], found: Sequence[Slope], change: Change, field: str, c: float
) -> Iterator[Finding]:
    """Test one change: f(change of X) is the change of f(X), and so for tangents."""
    frame = _Frame(at, c)
    first = next(iter(at.symbols))
    texts = {name: _text(at, change, name, first) for name in at.symbols}
    moved = replace(at, data={name: frame.moved(texts[name], name, at.data[name]) for name in at.data})
    there = value_or_none(moved)
    if there is None:
        return
    rng = np.random.default_rng([31, *at.rule.name.encode()])
    words = " and ".join(f"{name} into {text}" for name, text in change.items() if name in at.symbols)
    where = f"{place(at)}, {words}" + (f", c = {c:.0e}" if _mentions(words, "c") else "")
    bound = TURNED if c == 1.0 else SCALED
    told = {o: a for o, a in value.items() if (o or "Y") in change}
    wanted = {o: frame.moved(change[o or "Y"], o or "Y", a) for o, a in told.items()}
    if any(not _usable(a) for a in (*wanted.values(), *(there[o] for o in told))):
        return
    for output, a in wanted.items():
        error = distance(there[output], a) / max(largest(a), 1e-300)
        yield Finding(f"the value{named('', output)} elsewhere", field, error, bound, where)
    for s in (s for s in found if s.output in told):
        E = at.direction(rng, s.name)
        G = np.asarray(rng.standard_normal(value[s.output].shape))
        result = s.output or "Y"
        tangent = frame.tangent(texts[s.name], s.name, at.data[s.name], E)
        expected = frame.tangent(change[result], result, value[s.output], s.push(at, E))
        if not _usable(expected) or not _usable(tangent):
            continue
        try:
            pushed, pulled = s.push(moved, tangent), s.pull(moved, G)
        except REFUSED:
            pushed, pulled = np.asarray(np.nan), np.asarray(np.nan)
        floor = FLOOR * largest(wanted[s.output]) * (largest(tangent) / max(largest(moved.data[s.name]), 1e-300))
        error = distance(pushed, expected) / max(largest(expected), floor, 1e-300)
        what = f"{named('', s.output)} in {s.name} elsewhere"
        yield Finding(f"the derivative{what}", field, error, bound, where)
        if not (_usable(pulled) and _usable(pushed)):
            continue
        scale = norm(G) * (norm(pushed) + floor) + norm(pulled) * norm(tangent)
        both = float(np.sum(G * pushed)), float(np.sum(pulled * tangent))
        yield Finding(f"the adjoint{what}", field, off(*both, scale), LINEAR, where)


def _text(at: Point, change: Change, name: str, first: str) -> str:
    """Return the change of an argument; further tangents change as the first argument does."""
    if name in change or first not in change:
        return change.get(name, name)
    slots = tuple(f"{p.name}_" for p in at.rule.signature.parameters if p.repeated)
    return re.sub(rf"\b{first}\b", name, change[first]) if name.startswith(slots) and slots else name


def _usable(a: Array) -> bool:
    size = largest(a)
    return bool(np.isfinite(size)) and (size == 0 or 1 / LARGEST < size < LARGEST)


class _Frame:
    """What O, Z (orthogonal, on the first and last axis), P (a permutation) and c stand for at a point."""

    def __init__(self, at: Point, c: float) -> None:
        self.at = at
        rng = np.random.default_rng([37, *at.rule.name.encode()])
        shape = next((a.shape for a in at.data.values() if a.ndim), (1,))
        self.data = {
            "O": np.linalg.qr(rng.standard_normal((shape[0], shape[0])))[0],
            "Z": np.linalg.qr(rng.standard_normal((shape[-1], shape[-1])))[0],
            "P": np.eye(shape[0])[rng.permutation(shape[0])],
            "c": np.asarray(c),
        }

    def node(self, text: str, name: str, shape: Sequence[int]) -> tuple[Node, Node]:
        """Return the formula and the symbol of what it changes."""
        own = symbol(name, [Size.of(length) for length in shape])
        known = {n: symbol(n, [Size.of(length) for length in a.shape]) for n, a in self.data.items()}
        others = {n: symbol(n, [Size.of(length) for length in a.shape]) for n, a in self.at.data.items()}
        sizes = {n: Size.of(length) for n, length in self.at.lengths.items()}
        return build_formula(text, (), self.at.book, {**known, **others, name: own}, sizes=sizes), own

    def moved(self, text: str, name: str, a: Array) -> Array:
        node, _ = self.node(text, name, a.shape)
        return self.at.evaluate([node], {**self.data, name: a})[0]

    def tangent(self, text: str, name: str, a: Array, E: Array) -> Array:
        node, own = self.node(text, name, a.shape)
        step = symbol("dX_", own.shape)
        pushed = pushforward(node, {own: step})
        return self.at.evaluate([pushed], {**self.data, name: a, "dX_": E})[0]


__all__ = ["covariance", "homogeneity"]
