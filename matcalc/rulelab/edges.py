"""Tests the edges of an entry: kinks, ties and singular points, with the results that the entry states there."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from matcalc.calculus.derive.conventions import finish, vjps
from matcalc.calculus.evaluate.evaluate import evaluate
from matcalc.calculus.simplify.simplify import simplify
from matcalc.evidence.numeric.sampling import Array
from matcalc.formula.elaborate.rule_formula import build_formula
from matcalc.rulebook.load import Rulebook
from matcalc.rulebook.rule import Rule
from matcalc.rulelab.finding import Finding, shown_along
from matcalc.tensor.constructors import symbol
from matcalc.tensor.nodes.node import Node
from matcalc.tensor.nodes.signature import PLAIN
from matcalc.tensor.sizes.size import Size

LISTED = 1e-12
"""Bound on the error of an array entry, relative to itself and to the largest."""

HUGE = 2.0**1000
"""Represents infinity in the evaluation of a formula, so that 0*inf is 0."""

Edge = Mapping[str, Any]
Run = Callable[[Node, Mapping[str, Array]], Array]
"""A function that returns the value of a node for arrays by name: by evaluation, or compiled."""


def evaluated(node: Node, data: Mapping[str, Array]) -> Array:
    return np.asarray(evaluate([node], data, {})[0])


def edges(book: Rulebook, rule: Rule) -> Iterator[Finding]:
    """Yield the tests of all edges of a rule, by evaluation."""
    for edge in rule.edges:
        yield from edge_findings(book, rule, edge, evaluated)


def edge_findings(book: Rulebook, rule: Rule, edge: Edge, run: Run) -> Iterator[Finding]:
    """Yield the tests of one edge: its value, first and second derivatives, or their absence."""
    symbols, data, node = _call(book, rule, edge)
    where = f" at {', '.join(f'{name} = {text}' for name, text in edge['at'].items())}"
    kind = edge.get("kind", "value")

    def pulled(name: str) -> Node:
        return finish(vjps(node, [symbols[name]], bar))[0]

    def listed(what: str, found: Node, text: str) -> Finding:
        expected = _number(book, text)
        return Finding(what, "edge", _error(_value(run, found, data), expected), LISTED, where)

    if kind == "error":
        refused = _value(run, node, data) is None
        yield Finding("the value, which is none,", "edge", 0.0 if refused else float("inf"), 1.0, where)
        return
    if "value" in edge:
        yield listed("the value", node, edge["value"])
    bar = symbol("G_", node.shape)
    data["G_"] = _number(book, edge["G"]) if "G" in edge else np.ones(())
    texts = {**edge.get("derivative", {}), **edge.get("pullback", {})}
    if kind == "undefined" and not texts:
        for name in symbols:
            found = _value(run, pulled(name), data)
            plausible = found is not None and bool(np.all(np.isfinite(found)))
            error = float("inf") if plausible else 0.0
            yield Finding(f"the derivative in {name}, which is none,", "edge", error, 1.0, where)
    for name, text in texts.items():
        yield listed(f"the derivative in {name}", pulled(name), text)
    along = edge.get("along", {})
    for name, text in edge.get("second", {}).items():
        steps = {symbols[n]: symbol(f"d{n}", symbols[n].shape) for n in along or [name]}
        data |= {s.name: _number(book, along.get(s.name[1:], "1")) for s in steps.values()}
        yield listed(f"the second derivative in {name}", shown_along(simplify(pulled(name)), steps), text)


def _call(book: Rulebook, rule: Rule, edge: Edge) -> tuple[dict[str, Node], dict[str, Array], Node]:
    """Return the symbols of an edge, their values, and the call."""
    others = {p.name for p in rule.parameters if p.kind in PLAIN}
    written: Mapping[str, str] = edge["at"]
    data = {name: _number(book, text) for name, text in written.items() if name not in others}
    facts = {p.name: p.facts for p in rule.parameters}
    symbols = {name: symbol(name, tuple(map(Size.of, a.shape)), facts[name]) for name, a in data.items()}
    arguments = ", ".join(written[name] if name in others else name for name in written)
    name = f"{rule.name}_{edge['part']}" if "part" in edge else rule.name
    return symbols, data, build_formula(f"{name}({arguments})", (), book, symbols, sizes={})


def _value(run: Run, node: Node, data: Mapping[str, Array]) -> Array | None:
    """Return a value, or None if linear algebra fails."""
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return run(node, data)
        except np.linalg.LinAlgError:
            return None


def _error(found: Array | None, expected: Array) -> float:
    """Return the largest error of an entry, relative to itself plus the largest; infinities must be equal."""
    if found is None or found.shape != expected.shape:
        return float("inf")
    finite = np.isfinite(expected)
    if not np.array_equal(np.where(finite, 0.0, found), np.where(finite, 0.0, expected), equal_nan=True):
        return float("inf")
    scale = np.abs(expected) + np.max(np.abs(expected), initial=1e-300, where=finite)
    apart = np.subtract(found, expected, out=np.zeros_like(scale), where=finite)
    error = float(np.max(np.abs(apart) / scale, initial=0.0, where=finite))
    return error if np.isfinite(error) else float("inf")


def _number(book: Rulebook, text: str) -> Array:
    """Return the value of a formula without symbols, which may contain `inf`."""
    node = build_formula(text, (), book, {"inf": symbol("inf", ())}, sizes={})
    found = evaluated(node, {"inf": np.asarray(HUGE)})
    return np.where(np.abs(found) == HUGE, np.copysign(np.inf, found), found)


__all__ = ["Run", "edge_findings", "edges", "evaluated"]
