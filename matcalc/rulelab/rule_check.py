"""Runs the numeric tests of a rule, which are all generated from its fields.

At random points, the engine's derivatives are compared with the rule's `value`, independent Python text: tangents with
complex steps or differences, adjoints with tangents, second derivatives with differences and with each other. Other
modules test declared properties, laws of scale and coordinates (equivariance), structured arguments (structure), equal
eigenvalues (eigenvalue_ties), and complex steps of the value (complex_steps). A rule with a domain in words must pass
in one of the modes of `rule_point`. Any other rule must pass wherever its value is finite.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from matcalc.calculus.derive.differentiate import pullback, pushforward
from matcalc.errors import MatcalcError, NotDifferentiable, NotSupported
from matcalc.evidence.numeric.differences import slope
from matcalc.evidence.numeric.sampling import MODES, Array, defect
from matcalc.rulebook.load import NOTHING, Rulebook
from matcalc.rulebook.rule import Rule
from matcalc.rulelab.by_rows import by_rows
from matcalc.rulelab.complex_steps import complex_step, complex_steps
from matcalc.rulelab.edges import edges
from matcalc.rulelab.eigenvalue_ties import ties, with_close_spectrum
from matcalc.rulelab.equivariance import covariance, homogeneity
from matcalc.rulelab.finding import (
    DOT,
    EXACT,
    FLOOR,
    NUMERIC,
    TWICE,
    Finding,
    Slope,
    derivative_field,
    distance,
    is_finite,
    location,
    named,
    norm,
    off,
    relative,
    slope_field,
    slopes,
    value_or_none,
)  # fmt: skip
from matcalc.rulelab.function_shape import function_shape
from matcalc.rulelab.laws import laws
from matcalc.rulelab.properties import properties
from matcalc.rulelab.rule_point import SIZES, SKEW, Draws, Point, is_worded, points, takes_skew
from matcalc.rulelab.structure import structure
from matcalc.tensor.constructors import symbol
from matcalc.tensor.nodes.node import Node


def findings(book: Rulebook, rule: Rule, draws: Draws = NOTHING, modes: Sequence[int] = ()) -> list[Finding]:
    """Return the tests of a rule in the mode that fits its domain; none if its value is finite in no mode."""
    found: list[Finding] = []
    in_words = is_worded(rule, book)
    for mode in modes or range(len(MODES)):
        here = at_mode(book, rule, mode, draws)
        if here and (not found or _wrong(here) < _wrong(found)):
            found = here
        if found and (not in_words or not _wrong(found)):
            break
    return found


def _wrong(found: Sequence[Finding]) -> int:
    return sum(not f.is_right for f in found)


def lengths(rule: Rule) -> tuple[Sequence[int], ...]:
    """Return the sets of lengths at which a rule is tested: unequal, 1, equal, rows; for a map also many entries."""
    further = ((1,), (24,)) if rule.operands else ((1,), (3,), (1, 4))
    return (*SIZES, *further, SKEW) if takes_skew(rule) else (*SIZES, *further)


def at_mode(book: Rulebook, rule: Rule, mode: int, draws: Draws) -> list[Finding]:
    """Return the tests of a rule with arguments drawn in one mode; none if a value is not finite."""
    found: list[Finding] = []
    for at in points(book, rule, mode, draws, lengths(rule)):
        value = value_or_none(at)
        if value is None or not at.is_defined():
            continue
        if not is_finite(value):
            if at.seed < len(SIZES):
                return []
            continue  # such as the variance of one entry, less one degree of freedom
        found += tests(at, value)
        if not found or found[-1].bound:
            found += further_tests(at, value)
    return found


def tests(at: Point, value: dict[str, Array]) -> Iterator[Finding]:
    """Yield the tests of a rule for every point."""
    for finding in values(at, value):
        yield finding
        if not finding.bound:
            return  # the shapes are wrong: nothing can be compared
    yield from derivatives(at, value)
    yield from properties(at, value)
    yield from by_rows(at, value)
    yield from function_shape(at, value)


def further_tests(at: Point, value: dict[str, Array]) -> Iterator[Finding]:
    """Yield the tests of derivatives that run once for each form of a rule; those of scale run at every size."""
    found = slopes(at)
    if at.seed:
        yield from covariance(at, value, found) if at.seed > len(SIZES) else ()
        return
    for test in (homogeneity, covariance, structure, ties, complex_steps):
        yield from test(at, value, found)
    for s in found:
        if (close := with_close_spectrum(at, s.name)) is not None and is_finite(there := value_or_none(close) or {}):
            rng = np.random.default_rng([71, *at.rule.name.encode()])
            G = np.asarray(rng.standard_normal(value[s.output].shape))
            yield from _first(close, s, at.direction(rng, s.name), G) if there else ()


# ---- values and derivatives


def values(at: Point, value: Mapping[str, Array]) -> Iterator[Finding]:
    """Test the shape of the value, and compare the node of the call with the value."""
    nodes = at.nodes()
    field = "definition" if at.rule.kind == "definition" else "value"
    for output, found in zip(nodes, at.evaluate(list(nodes.values())), strict=True):
        what, where = named("the value", output), location(at)
        expected = tuple(s.evaluate(dict(at.lengths)) for s in nodes[output].shape)
        if value[output].shape != expected:
            shapes = f": {value[output].shape}, not {expected},{where}"
            yield Finding(f"{what} has the wrong shape", "value", float("inf"), 0.0, shapes)
            continue
        yield Finding(what, field, relative(found, value[output]), EXACT, where)
    if at.rule.operands and len(at.data) > 1 and not at.form.tangents:  # many entries of the operands are equal
        equal = replace(at, data={name: np.round(2 * a) / 2 for name, a in at.data.items()})
        there = value_or_none(equal)
        if there is not None and is_finite(there) and _keep_facts(equal):
            (found,) = equal.evaluate(list(nodes.values()))
            yield Finding("the value at equal operands", field, relative(found, there[""]), EXACT, location(at))


def _keep_facts(at: Point) -> bool:
    return not any(defect(at.data[name], fact) > EXACT for name in at.data for fact in at.facts[name])


def derivatives(at: Point, value: Mapping[str, Array], found: Sequence[Slope] | None = None) -> Iterator[Finding]:
    """Test tangents, adjoints and second derivatives of each output in each differentiable argument."""
    known = slopes(at) if found is None else found
    rng = np.random.default_rng([7, *at.rule.name.encode()])
    tangents = {name: at.direction(rng, name) for name in at.symbols}
    cotangents: dict[str, Array] = {}
    for s in known:
        G = cotangents.setdefault(s.output, np.asarray(rng.standard_normal(value[s.output].shape)))
        yield from _first(at, s, tangents[s.name], G)
    if known and not at.form.tangents:  # with tangents, it would be a third derivative
        for output, node in at.nodes().items():
            yield from _second(at, output, node, tangents, cotangents[output], rng)


def _first(at: Point, s: Slope, E: Array, G: Array) -> Iterator[Finding]:
    what, where = named("", s.output).strip() + f" in {s.name}", location(at)
    jvp, vjp = at.evaluate([s.pushed, s.pulled], {s.tangent.name: E, s.cotangent.name: G})

    def along(t: Any) -> Array:
        return at.value({s.name: at.data[s.name] + t * E})[s.output]

    reference = slope(along)
    yield from complex_step(at, s, along, reference)
    floor = FLOOR * norm(at.value()[s.output]) * norm(E) / max(norm(at.data[s.name]), 1e-300)
    size = max(float(np.max(np.abs(reference.value), initial=0.0)), floor)
    error = distance(jvp, reference.value) / max(size, 1e-300)
    bound = max(1e-12, min(NUMERIC, 100 * reference.error / max(size, 1e-300)))
    if reference.how == "differences":
        bound = max(bound, 1e-9)
    yield Finding(f"the derivative{what}, against {reference.how},", derivative_field(at), error, bound, where)
    left, right = float(np.sum(G * jvp)), float(np.sum(vjp * E))
    scale = norm(G) * (norm(jvp) + floor) + norm(vjp) * norm(E)
    field = slope_field(at, s)
    yield Finding(f"the adjoint{what}, <G, dY> = <Xbar, dX>,", field, off(left, right, scale), DOT, where)


def _second(
    at: Point, output: str, node: Node, first: Mapping[str, Array], G: Array, rng: np.random.Generator
) -> Iterator[Finding]:
    """Test d<Xbar, F> along E: that it is symmetric in E and F, and equals the difference quotient of <Xbar, F>."""
    xs = [x for name, x in at.symbols.items() if name not in at.rule.opaque_in]
    bar = symbol("G_", node.shape)
    E, F = dict(first), {name: at.direction(rng, name) for name in at.symbols}
    try:
        pulled = pullback(node, bar, xs)
        steps = {x: symbol(f"d{x.name}", x.shape) for x in xs}
        moved = [pushforward(p, steps) for p in pulled]
    except (NotDifferentiable, NotSupported):
        return

    def twice(one: Mapping[str, Array], other: Mapping[str, Array]) -> float:
        found = at.evaluate(moved, {"G_": G, **{f"d{name}": a for name, a in one.items()}})
        return float(sum(np.sum(other[x.name] * a) for x, a in zip(xs, found, strict=True)))

    def weighted(t: Any) -> Array:
        data = {x.name: at.data[x.name] + t * E[x.name] for x in xs}
        found = at.evaluate(pulled, {"G_": G, **data})
        return np.asarray(sum(np.sum(F[x.name] * a) for x, a in zip(xs, found, strict=True)))

    one, other = twice(E, F), twice(F, E)
    size = at.evaluate(moved, {"G_": G, **{f"d{name}": a for name, a in E.items()}})
    scale = sum(norm(a) * norm(F[x.name]) for x, a in zip(xs, size, strict=True)) + abs(other)
    lengths = [norm(E[n]) * norm(F[n]) / max(norm(a), 1e-100) ** 2 for n, a in at.data.items()]
    scale += FLOOR * norm(G) * norm(at.value()[output]) * max(lengths, default=0.0)
    what, where = f"the second derivative{named('', output).rstrip()}", location(at)
    yield Finding(f"{what}, its symmetry,", derivative_field(at), off(one, other, scale), TWICE, where)
    if at.seed:
        return  # differences of derivatives are slow: only once for each form
    reference = slope(weighted)
    if np.all(np.isfinite(reference.value)):
        error = off(one, float(reference.value), max(scale, abs(one)))
        bound = max(NUMERIC, 100 * reference.error / max(scale, 1e-300))
        yield Finding(f"{what}, against {reference.how},", derivative_field(at), error, min(bound, 1e-3), where)


def tested(book: Rulebook, rule: Rule, draws: Draws = NOTHING) -> list[Finding]:
    """Return all tests of a rule; a rule that cannot be tested yields one failed test.

    A rule without failures is also tested in larger tensors, except maps, which act entrywise there too.
    """
    try:
        found = [*findings(book, rule, draws), *edges(book, rule)]
        if found and not _wrong(found) and rule.kind in ("op", "definition"):
            found += laws(book, rule, draws)
    except MatcalcError as error:
        return [Finding(f"{type(error).__name__}: {error.message}", "", float("inf"), 0.0)]
    if not found:
        return [Finding("the value is finite at no random point: give data with `at`", "value", float("inf"), 0.0)]
    return found
