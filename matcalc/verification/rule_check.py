"""The numeric tests of a rule, all generated from its fields: nothing is written for a rule by hand.

At random points the engine's derivatives, compiled from the formulas, are held against the rule's `value`, which
is Python and knows nothing of them: tangents against complex steps or differences, adjoints against tangents,
second derivatives against differences and against each other, and each declared property (facts, degree,
parity, transposition, interval, square) against values. A rule whose domain is given in words is right if it
passes where one of the modes of `rule_point` draws; any other has to pass wherever its value is finite.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from matcalc.calculus.differentiate import pullback, pushforward
from matcalc.errors import MatcalcError, NotDifferentiable, NotSupported
from matcalc.normal_form.node import Node
from matcalc.normal_form.signature_shapes import size_of, tensors_of
from matcalc.normal_form.tensor import symbol
from matcalc.rulebook.load import Rulebook
from matcalc.rulebook.rule import Rule
from matcalc.sizes import Size
from matcalc.verification.differences import slope
from matcalc.verification.rule_point import MODES, SIZES, Draws, Point, facts_in, interior, points
from matcalc.verification.sampling import Array, defect, sample

EXACT, DOT, TWICE, NUMERIC = 1e-9, 1e-12, 1e-10, 1e-6
"""Bounds on relative errors: between values; of dot tests; of second derivatives' symmetry; against differences."""

FLOOR = 1e-2
"""Derivatives that vanish are held against this part of |Y||dX|/|X|, not against their own rounding errors."""

DRAWN = 4
"""How many arguments a fact is tried on; with a domain in words, that any of them may miss, one has to do."""

REFUSED = (ArithmeticError, ValueError, TypeError, IndexError, np.linalg.LinAlgError)
"""What an oracle raises where it cannot be asked: at a size or point outside of its domain."""


class Finding(NamedTuple):
    """One test of a rule: what, the field that it tests, the error found and the error allowed."""

    what: str
    field: str
    error: float
    bound: float
    where: str = ""

    @property
    def is_right(self) -> bool:
        return self.error <= self.bound

    def __str__(self) -> str:
        if not self.bound:
            return f"{self.what}{self.where}"
        return f"{self.what} is off by {self.error:.2g} (allowed {self.bound:.0e}){self.where}"


def findings(book: Rulebook, rule: Rule, draws: Draws = {}, modes: Sequence[int] = ()) -> list[Finding]:  # noqa: B006
    """Return the tests of a rule at the mode that fits its domain; none if its value is finite nowhere."""
    found: list[Finding] = []
    in_words = rule.domain is not None and not facts_in(rule.domain, book)
    for mode in modes or range(len(MODES)):
        here = at_mode(book, rule, mode, draws)
        if here and (not found or _wrong(here) < _wrong(found)):
            found = here
        if found and (not in_words or not _wrong(found)):
            break
    return found


def _wrong(found: Sequence[Finding]) -> int:
    return sum(not f.is_right for f in found)


def at_mode(book: Rulebook, rule: Rule, mode: int, draws: Draws) -> list[Finding]:
    """Return the tests of a rule with arguments drawn in one mode; none where a value is not finite."""
    found: list[Finding] = []
    for at in points(book, rule, mode, draws, (*SIZES, (1,))):
        value = value_or_none(at)
        if value is None or not at.is_defined():
            continue
        if not all(np.all(np.isfinite(a)) for a in value.values()):
            return []
        found += values(at, value)
        if found and found[-1].bound:  # else the shapes are wrong, and nothing can be compared
            found += [*derivatives(at, value), *properties(at, value)]
    return found


def value_or_none(at: Point) -> dict[str, Array] | None:
    """Return the oracle's value, None where it refuses the point."""
    try:
        return at.value()
    except REFUSED:
        return None


def relative(a: Array, b: Array) -> float:
    """Return the largest difference of entries, relative to the largest entry and to 1; infinite if shapes differ."""
    if a.shape != b.shape:
        return float("inf")
    if not np.array_equal(np.isnan(a), np.isnan(b)):
        return float("inf")
    scale = max(1.0, float(np.max(np.abs(b), initial=0.0)))
    return float(np.nanmax(np.abs(a - b), initial=0.0)) / scale


# ---- values and derivatives


def values(at: Point, value: Mapping[str, Array]) -> Iterator[Finding]:
    """Test the value's shape, and what a definition stands for against its value."""
    nodes = at.nodes()
    field = "definition" if at.rule.kind == "definition" else "value"
    for output, found in zip(nodes, at.evaluate(list(nodes.values())), strict=True):
        what, where = named("the value", output), place(at)
        wanted = tuple(s.evaluate(dict(at.lengths)) for s in nodes[output].shape)
        if value[output].shape != wanted:
            shapes = f": {value[output].shape}, not {wanted},{where}"
            yield Finding(f"{what} has the wrong shape", "value", float("inf"), 0.0, shapes)
            continue
        yield Finding(what, field, relative(found, value[output]), EXACT, where)


def derivatives(at: Point, value: Mapping[str, Array]) -> Iterator[Finding]:
    """Test tangents, adjoints and second derivatives of each output in each argument that varies."""
    if at.rule.opaque is not None:
        return
    rng = np.random.default_rng([7, *at.rule.name.encode()])
    tangents = {name: at.direction(rng, name) for name in at.symbols}
    for output, node in at.nodes().items():
        shape = value[output].shape
        G = np.asarray(rng.standard_normal(shape))
        for name in at.symbols:
            if name not in at.rule.opaque_in:
                yield from _first(at, output, node, name, tangents[name], G)
        if not at.form.tangents:  # with tangents it would be the third
            yield from _second(at, output, node, tangents, G, rng)


def _first(at: Point, output: str, node: Node, name: str, E: Array, G: Array) -> Iterator[Finding]:
    x = at.symbols[name]
    dx, bar = symbol(f"d{name}", x.shape), symbol("G_", node.shape)
    what, where = named("", output).strip() + f" in {name}", place(at)
    pushed = pushforward(node, {x: dx})
    pulled = pullback(node, bar, [x])[0]
    (jvp, vjp) = at.evaluate([pushed, pulled], {dx.name: E, bar.name: G})

    def along(t: Any) -> Array:
        return at.value({name: at.data[name] + t * E})[output]

    reference = slope(along)
    floor = FLOOR * norm(at.value()[output]) * norm(E) / max(norm(at.data[name]), 1e-300)
    size = max(float(np.max(np.abs(reference.value), initial=0.0)), floor)
    error = distance(jvp, reference.value) / max(size, 1e-300)
    bound = max(1e-12, min(NUMERIC, 100 * reference.error / max(size, 1e-300)))
    if reference.how == "differences":
        bound = max(bound, 1e-9)
    yield Finding(f"the derivative{what}, against {reference.how},", derivative_field(at), error, bound, where)
    left, right = float(np.sum(G * jvp)), float(np.sum(vjp * E))
    scale = norm(G) * (norm(jvp) + floor) + norm(vjp) * norm(E)
    field = "linear" if name in at.rule.linear else derivative_field(at)
    yield Finding(f"the adjoint{what}, <G, dY> = <Xbar, dX>,", field, off(left, right, scale), DOT, where)


def _second(
    at: Point, output: str, node: Node, first: Mapping[str, Array], G: Array, rng: np.random.Generator
) -> Iterator[Finding]:
    """Test d<Xbar, F> along E: symmetric in E and F, and the difference of <Xbar, F>."""
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
    what, where = f"the second derivative{named('', output).rstrip()}", place(at)
    yield Finding(f"{what}, its symmetry,", derivative_field(at), off(one, other, scale), TWICE, where)
    if at.seed:
        return  # differences of derivatives are slow: once for each form
    reference = slope(weighted)
    if np.all(np.isfinite(reference.value)):
        error = off(one, float(reference.value), max(scale, abs(one)))
        bound = max(NUMERIC, 100 * reference.error / max(scale, 1e-300))
        yield Finding(f"{what}, against {reference.how},", derivative_field(at), error, min(bound, 1e-3), where)


def derivative_field(at: Point) -> str:
    return {"op": "differential", "map": "derivative", "definition": "definition"}[at.rule.kind]


def norm(a: Array) -> float:
    return float(np.sqrt(np.sum(np.abs(a) ** 2)))


def distance(a: Array, b: Array) -> float:
    return float(np.max(np.abs(a - b), initial=0.0)) if a.shape == b.shape else float("inf")


def off(a: float, b: float, scale: float) -> float:
    """Return the relative difference of two sums; 0 where both are 0, infinite where one is not finite."""
    if a == b:
        return 0.0
    error = abs(a - b) / max(scale, 1e-300)
    return error if np.isfinite(error) else float("inf")


def named(what: str, output: str) -> str:
    return f"{what} {output}" if output else what


def place(at: Point) -> str:
    """Return the sizes of a point for a message."""
    shapes = [f"{name}: {'x'.join(map(str, a.shape)) or 'scalar'}" for name, a in at.data.items()]
    return f" at {', '.join(shapes)}" if shapes else ""


# ---- declared properties


def properties(at: Point, value: Mapping[str, Array]) -> Iterator[Finding]:
    """Test what the entry says of its values, each field by values alone."""
    if at.form.overload:
        return
    for test in (_facts, _interval, _symmetries, _square):
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
        from matcalc.language.read import read

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
    from matcalc.elaborate.formula import build_formula

    node = build_formula(at.rule.square, (), at.book, at.symbols)
    (found,) = at.evaluate([node])
    for before in value.values():
        yield Finding("`square`", "square", relative(found, before * before), EXACT, place(at))


def faults(book: Rulebook, rule: Rule, draws: Draws = {}) -> list[Finding]:  # noqa: B006
    """Return the tests that a rule fails, the worst of each kind."""
    try:
        found = findings(book, rule, draws)
    except MatcalcError as error:
        return [Finding(f"{type(error).__name__}: {error.message}", "", float("inf"), 0.0)]
    if not found:
        return [Finding("the value is finite at no random point: give data with `at`", "value", float("inf"), 0.0)]
    worst: dict[str, Finding] = {}
    for f in found:
        if not f.is_right and (f.what not in worst or f.error > worst[f.what].error):
            worst[f.what] = f
    return list(worst.values())
