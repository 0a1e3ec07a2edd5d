"""Defines the findings of rule tests, the error measures for them, and their report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from matcalc.calculus.derive.conventions import gradients
from matcalc.calculus.derive.differentiate import pullback, pushforward
from matcalc.calculus.simplify.shortest import shortest_of
from matcalc.rulelab.rule_point import Point, is_worded
from matcalc.tensor.constructors import add, inner, symbol
from matcalc.tensor.nodes.node import Node

Array = np.ndarray[Any, np.dtype[Any]]

EXACT, DOT, TWICE, NUMERIC = 1e-9, 1e-12, 1e-12, 1e-6
"""Bounds on relative errors: of values; of dot tests; of second derivatives' symmetry; against differences."""

FLOOR = 1e-2
"""Errors are relative to at least this part of |Y||dX|/|X|: a derivative that vanishes has only rounding errors."""

REFUSED = (ArithmeticError, ValueError, TypeError, IndexError, np.linalg.LinAlgError)
"""Exceptions of an oracle at a size or point outside of its domain."""


class Finding(NamedTuple):
    """One test of a rule: its description, the tested field, the error and the allowed error."""

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


class Slope(NamedTuple):
    """The derivative of one output in one argument: the pushforward of `tangent` and the pullback of `cotangent`."""

    output: str
    name: str
    node: Node
    tangent: Node
    cotangent: Node
    pushed: Node
    pulled: Node

    def push(self, at: Point, E: Array) -> Array:
        return at.evaluate([self.pushed], {self.tangent.name: E})[0]

    def pull(self, at: Point, G: Array) -> Array:
        return at.evaluate([self.pulled], {self.cotangent.name: G})[0]


def slopes(at: Point) -> list[Slope]:
    """Return the derivatives of a call in all differentiable arguments."""
    if at.rule.opaque is not None:
        return []
    found = []
    for output, node in at.nodes().items():
        bar = symbol("G_", node.shape)
        for name, x in at.symbols.items():
            if name in at.rule.opaque_in:
                continue
            dx = symbol(f"d{name}", x.shape)
            pushed, pulled = pushforward(node, {x: dx}), pullback(node, bar, [x])[0]
            found.append(Slope(output, name, node, dx, bar, pushed, pulled))
    return found


def shown_along(f: Node, steps: Mapping[Node, Node]) -> Node:
    """Return the derivative along tangents in its shown form; for a scalar by its gradient, as in `Expression.jvp`."""
    if f.shape:
        return shortest_of([pushforward(f, steps)])[0].shown
    bars = shortest_of(gradients(f, list(steps), "projected"))
    return add([(1, inner(bar.shown, dx)) for bar, dx in zip(bars, steps.values(), strict=True)])


def value_or_none(at: Point) -> dict[str, Array] | None:
    """Return the oracle's value; None if it raises at the point."""
    try:
        return at.value()
    except REFUSED:
        return None


def is_finite(value: dict[str, Array]) -> bool:
    return all(bool(np.all(np.isfinite(a))) for a in value.values())


def is_in_words(at: Point) -> bool:
    """Whether a rule's domain is stated in words, so that changed arguments may be outside of it."""
    return is_worded(at.rule, at.book)


def relative(a: Array, b: Array) -> float:
    """Return the largest difference of entries, relative to the largest entry and to 1; infinite if shapes differ."""
    if a.shape != b.shape:
        return float("inf")
    if not np.array_equal(np.isnan(a), np.isnan(b)):
        return float("inf")
    scale = max(1.0, float(np.max(np.abs(b), initial=0.0, where=np.isfinite(b))))
    same = np.zeros(a.shape, np.result_type(a, b, 1.0))
    apart = np.subtract(a, b, out=same, where=a != b)  # equal infinities have no difference
    return float(np.max(np.abs(apart), initial=0.0, where=~np.isnan(apart))) / scale


def norm(a: Array) -> float:
    """Return the Euclidean norm, without overflow or underflow of squares."""
    size = largest(a)
    if not size or not np.isfinite(size):
        return size
    return size * float(np.sqrt(np.sum(np.abs(a / size) ** 2)))


def largest(a: Array) -> float:
    return float(np.max(np.abs(a), initial=0.0))


def distance(a: Array, b: Array) -> float:
    """Return the largest difference; infinite if shapes differ or a difference is not finite."""
    if a.shape != b.shape:
        return float("inf")
    found = largest(a - b)
    return found if np.isfinite(found) else float("inf")


def off(a: float, b: float, scale: float) -> float:
    """Return the relative difference of two sums; 0 if they are equal, infinite if one is not finite."""
    if a == b:
        return 0.0
    error = abs(a - b) / max(scale, 1e-300)
    return error if np.isfinite(error) else float("inf")


def derivative_field(at: Point) -> str:
    """Return the field of a rule that defines its derivatives."""
    return {"op": "differential", "map": "derivative", "definition": "definition"}[at.rule.kind]


def slope_field(at: Point, slope: Slope) -> str:
    return "linear" if slope.name in at.rule.linear else derivative_field(at)


def named(what: str, output: str) -> str:
    return f"{what} {output}" if output else what


def location(at: Point) -> str:
    """Return the sizes of a point for a message."""
    shapes = [f"{name}: {'x'.join(map(str, a.shape)) or 'scalar'}" for name, a in at.data.items()]
    return f" at {', '.join(shapes)}" if shapes else ""


HEAD = ("rule", "check", "field", "tests", "error", "allowed", "", "where")


@dataclass(frozen=True, slots=True)
class RuleReport:
    """The findings of checks by rule; true if all are right and every rule was tested."""

    findings: tuple[tuple[str, tuple[Finding, ...]], ...]

    def __bool__(self) -> bool:
        return all(found and all(f.is_right for f in found) for _, found in self.findings)

    @property
    def wrong(self) -> tuple[tuple[str, Finding], ...]:
        """The failed tests with the names of their rules, only the worst of each kind."""
        return tuple((name, f) for name, found in self.findings for f, _ in worst(found) if not f.is_right)

    def __str__(self) -> str:
        rows = [_row(name, f, count) for name, found in self.findings for f, count in worst(found)]
        count = sum(len(found) for _, found in self.findings)
        wrong = len(self.wrong)
        return "\n".join(
            [*table([HEAD, *rows]), f"{wrong} of {len(rows)} checks failed" if wrong else f"all right: {count} tests"]
        )


def table(rows: Sequence[Sequence[str]]) -> list[str]:
    """Return rows as lines with aligned columns."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return ["  ".join(c.ljust(w) for c, w in zip(row, widths, strict=True)).rstrip() for row in rows]


def worst(found: Sequence[Finding]) -> list[tuple[Finding, int]]:
    """Return for each kind of test the finding with the largest error relative to its bound, and their number."""
    kinds: dict[tuple[str, str], list[Finding]] = {}
    for f in found:
        kinds.setdefault((f.what, f.field), []).append(f)
    return [(max(same, key=_excess), len(same)) for same in kinds.values()]


def _excess(f: Finding) -> float:
    return f.error / f.bound if f.bound else f.error * 1e300


def _row(name: str, f: Finding, count: int) -> tuple[str, ...]:
    verdict = "right" if f.is_right else "WRONG"
    where = f.where.removeprefix(" at ")
    return name, f.what.rstrip(","), f.field, str(count), f"{f.error:.1e}", f"{f.bound:.0e}", verdict, where
