"""Tests how values and derivatives change with coordinates and scale, for every law that an entry declares.

The laws `parity`, `degree`, `transpose` and `commutes` state how results change with arguments, as `equivariant` does;
they are converted to its form. A rule that compares with an absolute number, or that regularises, is right for data of
size 1 and wrong for other scales. Therefore adjoints are tested at cotangents from 1e-150 to 1e150, and values and
derivatives at arguments scaled from 1e-100 to 1e100. The factors are powers of two, so without thresholds they scale
results exactly.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from matcalc.calculus.derive.differentiate import pushforward
from matcalc.evidence.numeric.sampling import Array
from matcalc.formula.elaborate.rule_formula import build_formula
from matcalc.language.read import read
from matcalc.rulelab.finding import (
    FLOOR,
    REFUSED,
    Finding,
    Slope,
    distance,
    largest,
    location,
    named,
    norm,
    off,
    slope_field,
    value_or_none,
)  # fmt: skip
from matcalc.rulelab.rule_point import Point
from matcalc.tensor.constructors import symbol
from matcalc.tensor.nodes.node import Node
from matcalc.tensor.nodes.signature import size_of, tensors_of
from matcalc.tensor.sizes.size import Size

COTANGENTS = tuple(2.0**k for k in (-498, -27, 27, 53, 498))
ARGUMENTS = tuple(2.0**k for k in (-332, -27, 27, 332))
USUAL = 10.0  # factors between 1/USUAL and USUAL cause no overflow

LINEAR, TURNED, SCALED = 1e-12, 1e-9, 1e-10
"""Bounds: for the adjoint at a scaled cotangent; for changed arguments; for another scale."""

LARGEST = 1e280  # a result beyond it, or below its inverse, may have overflowed

Change = Mapping[str, str]
"""Replacements of arguments and results, as formulas in them and in O, Z, P and c."""


class Law(NamedTuple):
    """A declared change and its field; `factors` are the values of c."""

    field: str
    change: Change
    factors: Sequence[float] = (1.0,)


def homogeneity(at: Point, value: Mapping[str, Array], found: Sequence[Slope]) -> Iterator[Finding]:
    """Test that the adjoint at c*G is c times that at G."""
    rng = np.random.default_rng([29, *at.rule.name.encode()])
    for s in found:
        G = np.asarray(rng.standard_normal(value[s.output].shape))
        here = s.pull(at, G)
        error = max((distance(s.pull(at, c * G) / c, here) for c in COTANGENTS), default=0.0)
        what = f"the adjoint{named('', s.output)} in {s.name} at scaled cotangents"
        yield Finding(what, slope_field(at, s), error / max(largest(here), 1e-300), LINEAR, location(at))


def _laws(at: Point, value: Mapping[str, Array]) -> Iterator[Law]:
    """Yield the laws that an entry declares, if the arguments keep their facts under the change."""
    rule, results = at.rule, [_name(output) for output in at.rule.outputs]
    tensors = [p.name for p in tensors_of(rule.signature) if not p.repeated]
    first = tensors[0] if tensors and tensors[0] in at.symbols else ""
    is_signed = bool(first) and _may(at, first, "negative")
    if rule.parity is not None and is_signed:
        sign, same = "" if rule.parity == "even" else "-", {name: name for name in at.symbols}
        yield Law("parity", {**same, first: f"-{first}", **{name: f"{sign}{name}" for name in results}})
    if rule.degree is not None and first:
        power = f"c^({Fraction(degree(at)) + at.form.tangents})"
        factors = (3.0, -2.0, *ARGUMENTS) if rule.homogeneous and is_signed else (3.0, *ARGUMENTS)
        yield Law("degree", {first: f"c*{first}", **{name: f"{power}*{name}" for name in results}}, factors)
    if rule.transpose_same and tensors and all(a.ndim == 2 and _may(at, n, "transposed") for n, a in at.data.items()):
        transposed = {_name(output): _name(output) + "'" * (a.ndim == 2) for output, a in value.items()}
        yield Law("transpose", {**{name: f"{name}'" for name in at.data}, **transposed})
    if rule.commutes and len(tensors) == 2:
        swapped = dict(zip(at.data, list(at.data)[::-1], strict=True))
        yield Law("commutes", {**swapped, **{name: name for name in results}})
    for change in rule.equivariant:
        if change.keys() <= {*at.symbols, *results}:
            is_scale = any(_mentions(text, "c") for text in change.values())
            yield Law("equivariant", change, ARGUMENTS if is_scale else (1.0,))


def covariance(at: Point, value: Mapping[str, Array], found: Sequence[Slope] = ()) -> Iterator[Finding]:
    """Test that f(change of X) is the change of f(X), for every law; with slopes also for tangents and adjoints."""
    if not at.form.overload:
        for law in _laws(at, value):
            for c in law.factors:
                yield from _changed(at, value, found, law, c)


def _changed(at: Point, value: Mapping[str, Array], found: Sequence[Slope], law: Law, c: float) -> Iterator[Finding]:
    """Test one law.

    At factors of usual size, a value that raises or is not finite is wrong; at others it may have overflowed. Slopes
    are tested if the law changes each argument separately and keeps its shape.
    """
    frame, change, field = _Frame(at, c), law.change, law.field
    first = next(iter(at.symbols))
    texts = {name: _text(at, change, name, first) for name in at.symbols}
    moved = replace(at, data={name: frame.moved(texts[name], name, a) for name, a in at.data.items()})
    moved_value = {o: frame.moved(change[_name(o)], _name(o), a) for o, a in value.items() if _name(o) in change}
    there = value_or_none(moved) or {}
    words = " and ".join(f"{name} into {text}" for name, text in texts.items() if text != name)
    where = f"{location(at)}, {words}" + (f", c = {c:.0e}" if _mentions(words, "c") else "")
    is_usual = 1 / USUAL < abs(c) < USUAL
    bound = TURNED if is_usual else SCALED
    is_usable = all(o in there and _usable(a) and _usable(there[o]) for o, a in moved_value.items())
    for output, a in moved_value.items() if is_usual or is_usable else ():
        error = distance(there.get(output, np.asarray(np.nan)), a) / max(largest(a), 1e-300)
        yield Finding(named(f"`{field}`", output), field, error, bound, where)
    if not is_usable or any(moved.data[name].shape != a.shape for name, a in at.data.items()):
        return
    rng = np.random.default_rng([31, *at.rule.name.encode()])
    for s in (s for s in found if s.output in moved_value):
        E = at.direction(rng, s.name)
        G = np.asarray(rng.standard_normal(value[s.output].shape))
        if any(_mentions(text, s.name) for name, text in {**texts, **change}.items() if name != s.name):
            continue
        result = _name(s.output)
        tangent = frame.tangent(texts[s.name], s.name, at.data[s.name], E)
        expected = frame.tangent(change[result], result, value[s.output], s.push(at, E))
        if not _usable(expected) or not _usable(tangent):
            continue
        try:
            pushed, pulled = s.push(moved, tangent), s.pull(moved, G)
        except REFUSED:
            pushed, pulled = np.asarray(np.nan), np.asarray(np.nan)
        floor = FLOOR * largest(moved_value[s.output]) * (largest(tangent) / max(largest(moved.data[s.name]), 1e-300))
        error = distance(pushed, expected) / max(largest(expected), floor, 1e-300)
        what = f"{named('', s.output)} in {s.name} elsewhere"
        yield Finding(f"the derivative{what}", field, error, bound, where)
        if not (_usable(pulled) and _usable(pushed)):
            continue
        scale = norm(G) * (norm(pushed) + floor) + norm(pulled) * norm(tangent)
        both = float(np.sum(G * pushed)), float(np.sum(pulled * tangent))
        yield Finding(f"the adjoint{what}", field, off(*both, scale), LINEAR, where)


def degree(at: Point) -> float:
    """Return the degree as a number, reduced by one for each further tangent."""
    declared = at.rule.degree
    if isinstance(declared, str):
        sizes = {n: Size.of(length) for n, length in at.lengths.items()}
        declared = size_of(read(declared), sizes).constant
    assert declared is not None
    return float(declared) - at.form.tangents


def _may(at: Point, name: str, change: str) -> bool:
    """Whether an argument keeps its facts if it is negated or transposed."""
    records = [at.book.facts[f] for f in at.facts[name]]
    return all((f.negated if change == "negative" else f.transposed) == f.name for f in records)


def _name(output: str) -> str:
    """Return the name of a result in formulas."""
    return output or "Y"


def _mentions(text: str, name: str) -> bool:
    return re.search(rf"\b{name}\b", text) is not None


def _text(at: Point, change: Change, name: str, first: str) -> str:
    """Return the change of an argument; further tangents change like the first argument."""
    if name in change or first not in change:
        return change.get(name, name)
    slots = tuple(f"{p.name}_" for p in at.rule.signature.parameters if p.repeated)
    return re.sub(rf"\b{first}\b", name, change[first]) if name.startswith(slots) and slots else name


def _usable(a: Array) -> bool:
    size = largest(a)
    return bool(np.isfinite(size)) and (size == 0 or 1 / LARGEST < size < LARGEST)


class _Frame:
    """The values of O, Z (orthogonal, on the first and last axis), P (a permutation) and c at a point."""

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
        """Return the node of a change and the symbol that it changes."""
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


__all__ = ["covariance", "degree", "homogeneity"]
