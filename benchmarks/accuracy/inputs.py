"""Draws the inputs at which errors are measured: random, near-degenerate, graded and scaled, for every rule.

By default they follow from the signature: an argument with facts is drawn by their samplers, near their boundary by
`near`, and with a spectrum over many orders of magnitude. A domain is text, which no program reads; for such rules
formulas in `inputs.toml` replace the defaults.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import numpy as np

from matcalc.calculus.evaluate.evaluate import evaluate
from matcalc.evidence.numeric.sampling import interior, sample
from matcalc.formula.elaborate.rule_formula import build_formula
from matcalc.rulebook.load import Rulebook
from matcalc.rulebook.rule import Rule
from matcalc.rulelab.rule_point import Form, Point, facts_in, forms, lengths_of, point
from matcalc.tensor.nodes.signature import PLAIN
from matcalc.tensor.raw_nodes import symbol
from matcalc.tensor.sizes.size import Size

Array = np.ndarray
Drawn = Callable[[np.random.Generator, tuple[int, ...]], Array]

OWN = tomllib.loads((Path(__file__).parent / "inputs.toml").read_text(encoding="utf-8"))
LENGTHS = ((3, 4, 2), (4, 3, 2), (4, 2))
ENTRIES = 40
GAPS = (1e-8,)
SPREADS = (1e4,)
SCALES = (1e-100, 1e100)


def inputs(book: Rulebook, rule: Rule) -> Iterator[tuple[str, Point]]:
    """Yield (kind of input, use of the rule at such an input) for each use that is measured."""
    for form in forms(rule):
        if form.rank < 2:
            yield from _of_form(book, rule, form)


def _of_form(book: Rulebook, rule: Rule, form: Form) -> Iterator[tuple[str, Point]]:
    made = {}
    regimes = list(_regimes(book, rule))
    if form.tangents:  # slow at many digits, and the code does not depend on the data
        regimes = regimes[:1] + [r for r in regimes if r[0].startswith("near")][:1]
    for seed, (regime, draws) in enumerate(regimes):
        for lengths in LENGTHS:
            known = {**lengths_of(rule, form.overload, lengths), "s_0": ENTRIES}
            known = {**known, **OWN.get(rule.name, {}).get("sizes", {})}
            mode = int(regime[-1]) if regime.startswith("random ") else 0
            found = point(book, rule, form, known, mode, seed, {**_plain(rule), **draws})
            if found.is_inside() and found.is_defined():
                made[regime] = found
                yield regime.rstrip("0123456789 ") if regime.startswith("random") else regime, found
                break
    if rule.degree is not None and "random 0" in made and not form.tangents:
        start = made["random 0"]
        first = next(iter(start.data))
        for scale in SCALES:
            yield f"scaled by {scale:.0e}", _changed(start, {first: scale * start.data[first]})


def _changed(at: Point, data: Mapping[str, Array]) -> Point:
    return Point(**{**vars(at), "data": {**at.data, **data}})


def _plain(rule: Rule) -> dict[str, object]:
    """Return values of parameters that are not arrays."""
    given = OWN.get(rule.name, {}).get("plain", {})
    return {p.name: given[p.name] for p in rule.parameters if p.kind in PLAIN and p.name in given}


def _regimes(book: Rulebook, rule: Rule) -> Iterator[tuple[str, dict[str, Drawn]]]:
    """Yield the kinds of inputs with a sampler of each argument."""
    own = OWN.get(rule.name, {}).get("inputs")
    if own is not None:
        for regime, formulas in own.items():
            yield regime, {name: _formula(text) for name, text in formulas.items()}
        return
    for mode in (0, 1):
        yield f"random {mode}", {}
    tensors = [p for p in rule.parameters if p.kind not in PLAIN and not p.repeated]
    domain = facts_in(rule.domain or "", book)
    facts = {p.name: interior((*p.facts, *domain.get(p.name, ()))) for p in tensors}
    if all(p.kind == "entry" for p in tensors):
        for regime in ("graded", "near 0", "near 1", "tails"):
            yield regime, {p.name: _entries(regime, facts[p.name]) for p in tensors}
        return
    for gap in GAPS:
        yield f"near-degenerate, gap {gap:.0e}", {p.name: _near(book, facts[p.name], gap) for p in tensors}
    for spread in SPREADS:
        yield f"graded over {spread:.0e}", {p.name: _graded(facts[p.name], spread) for p in tensors}


def _entries(regime: str, facts: tuple[str, ...]) -> Drawn:
    positive = bool({"positive", "nonnegative"} & set(facts))

    def draw(rng: np.random.Generator, shape: tuple[int, ...]) -> Array:
        t = Tools(rng, shape)
        sign = 1.0 if positive else t.sign()
        if regime == "near 1":
            return 1.0 + t.sign() * t.powers(-12, -1)
        low, high = {"near 0": (-16, -6), "graded": (-8, 2.5), "tails": (0.5, 2.7)}[regime]
        return sign * t.powers(low, high)

    return draw


def _near(book: Rulebook, facts: tuple[str, ...], gap: float) -> Drawn:
    """Return a sampler of data at a small distance from a tie or a boundary, by the fact's own `near`."""
    text = next((book.facts[f].near for f in facts if book.facts[f].near), None)

    def draw(rng: np.random.Generator, shape: tuple[int, ...]) -> Array:
        if text is None or not shape:
            t = Tools(rng, shape)
            if facts:
                return sample(rng, shape, facts)
            if len(shape) == 1:
                return 1.0 + gap * rng.standard_normal(shape)
            return t.singular(1.0 + gap * np.arange(min(shape))) if shape else np.asarray(1.0 + gap)
        sizes = dict(zip(("m", "n") if len(shape) == 2 else ("n",), map(Size.of, shape), strict=True))
        data = {"M": np.asarray(rng.standard_normal(shape)), "eps": np.asarray(gap)}
        nodes = {"M": symbol("M", [Size.of(k) for k in shape]), "eps": symbol("eps", [])}
        return _exact(np.asarray(evaluate([build_formula(text, (), book, nodes, sizes=sizes)], data, {})[0]), facts)

    return draw


def _graded(facts: tuple[str, ...], spread: float) -> Drawn:
    """Return a sampler of data whose spectrum, rows or entries span many orders of magnitude."""

    def draw(rng: np.random.Generator, shape: tuple[int, ...]) -> Array:
        t, known = Tools(rng, shape), set(facts)
        if len(shape) < 2:
            drawn = rng.standard_normal(shape) * t.orders(spread) if shape else np.asarray(1.0 / spread)
            return np.abs(drawn) if known & {"positive", "nonnegative"} else drawn
        values = t.orders(spread, min(shape))
        if known & {"spd", "psd"}:
            return t.spectrum(values)
        if "symmetric" in known:
            return t.spectrum(values * t.sign(len(values)))
        if known & {"skew", "lower", "upper", "diagonal", "orthogonal", "orthonormal"}:
            scales = t.orders(spread**0.5, shape[0])
            drawn = sample(rng, shape, facts)
            return drawn if "ortho" in " ".join(known) else scales[:, None] * drawn * scales
        return t.singular(values)

    return draw


def _exact(array: Array, facts: tuple[str, ...]) -> Array:
    """Return a matrix whose facts hold exactly."""
    return (array + array.T) / 2 if {"symmetric", "spd", "psd"} & set(facts) else array


class Tools:
    """Functions that formulas of inputs.toml may call, besides NumPy's, for an argument of some shape."""

    def __init__(self, rng: np.random.Generator, shape: tuple[int, ...]) -> None:
        self.rng, self.shape = rng, shape

    def normal(self, size: float = 1.0) -> Array:
        return np.asarray(size * self.rng.standard_normal(self.shape))

    def uniform(self, low: float, high: float) -> Array:
        return np.asarray(self.rng.uniform(low, high, self.shape))

    def powers(self, low: float, high: float) -> Array:
        """Return numbers 10^u with uniform u."""
        return np.asarray(10.0 ** self.rng.uniform(low, high, self.shape))

    def sign(self, count: int | None = None) -> Array:
        return np.where(self.rng.random(self.shape if count is None else count) < 0.5, -1.0, 1.0)

    def orders(self, spread: float, count: int | None = None) -> Array:
        """Return a geometric sequence from 1 down to 1/spread."""
        k = (self.shape[0] if self.shape else 1) if count is None else count
        return np.logspace(0.0, -np.log10(spread), k) if k > 1 else np.ones(k)

    def ties(self, gap: float) -> Array:
        return 1.0 + gap * np.arange(min(self.shape))

    def rotation(self, n: int) -> Array:
        return np.linalg.qr(self.rng.standard_normal((n, n)))[0]

    def spectrum(self, values: Array) -> Array:
        """Return a symmetric matrix with these eigenvalues."""
        Q = self.rotation(len(values))
        S = (Q * values) @ Q.T
        return (S + S.T) / 2

    def singular(self, values: Array) -> Array:
        """Return a matrix with these singular values."""
        k = len(values)
        return (self.rotation(self.shape[0])[:, :k] * values) @ self.rotation(self.shape[1])[:, :k].T

    def similar(self, values: Array, skewness: float = 1.0) -> Array:
        """Return a matrix with these eigenvalues that is not a normal matrix."""
        n = len(values)
        V = np.eye(n) + skewness * np.triu(self.rng.standard_normal((n, n)), 1)
        Q = self.rotation(n)
        return Q @ (V * values) @ np.linalg.inv(V) @ Q.T


def _formula(text: str) -> Drawn:
    def draw(rng: np.random.Generator, shape: tuple[int, ...]) -> Array:
        tools = Tools(rng, shape)
        names = [name for name in dir(tools) if not name.startswith("_")]
        scope = {"np": np, "n": shape[-1] if shape else 1, **{name: getattr(tools, name) for name in names}}
        return np.asarray(np.broadcast_to(eval(text, scope), shape), dtype=float).copy()

    return draw
