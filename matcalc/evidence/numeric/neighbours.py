"""Tests whether an observation at a point also holds near it, despite rounded data and arbitrary choices.

The entries of an orthogonal or semidefinite matrix are rounded, so expressions that vanish on the set are not exactly
0 there. At ties of a spectrum, a function of eigenvectors depends on the vectors that the library chose.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np

from matcalc.calculus.evaluate.evaluate import evaluate
from matcalc.errors import MatcalcError
from matcalc.evidence.numeric.sampling import Array, facts_of, projected
from matcalc.rulebook.fields import stated_facts
from matcalc.rulebook.load import default_rulebook
from matcalc.tensor.lookups import is_index
from matcalc.tensor.nodes.node import Node, toposort

ROUNDED = 1e-13
"""The relative perturbation of the entries of rounded data."""

GRID = 64.0

NEAR, CHANGED = 1e-9, 1e-3
"""The relative perturbation of data that reveals a choice, and the least relative change of the value that counts."""

REFUSED = (ArithmeticError, ValueError, IndexError, np.linalg.LinAlgError, MatcalcError)

Data = Mapping[str, Array]
Value = Callable[[Data], Array | None]


def roundings(symbols: Sequence[Node], data: Data) -> Iterator[Data]:
    """Yield data with other possible roundings; none if no fact has a border, or if the data are exact."""
    rounded = [s for s in symbols if any(map(_has_border, facts_of(s))) and not _is_exact(data[s.name])]
    rng = np.random.default_rng(61)
    for _ in range(2) if rounded else ():
        moved = {s.name: data[s.name] * (1 + ROUNDED * rng.standard_normal(data[s.name].shape)) for s in rounded}
        yield {**data, **{s.name: projected(moved[s.name], facts_of(s)) for s in rounded}}


def _has_border(fact: str) -> bool:
    """Whether a fact is an equation or inequality that rounding can violate; not for linear or entrywise facts."""
    record = default_rulebook().facts[fact]
    return record.of != "any" and record.tangent is None and (record.zero or record.nonnegative) is not None


def _is_exact(array: Array) -> bool:
    """Whether entries are small multiples of 1/64, whose sums and products are exact."""
    return bool(np.all(np.abs(array) <= GRID) and np.all(array * GRID == np.round(array * GRID)))


def is_above_rounding(symbols: Sequence[Node], data: Data, left: Value, right: Value) -> bool:
    """Whether two values differ by more than the effect of rounding the data."""
    one, other = left(data), right(data)
    if one is None or other is None:
        return True
    apart = float(np.max(np.abs(one - other), initial=0.0))
    for moved in roundings(symbols, data):
        for value, here in ((left, one), (right, other)):
            there = value(moved)
            if there is None or apart <= float(np.max(np.abs(there - here), initial=0.0)):
                return False
    return True


def is_no_choice(roots: Sequence[Node], symbols: Sequence[Node], sizes: Mapping[str, int], data: Data) -> bool:
    """Whether operations with a gauge, or with a domain in words, keep their value near the data."""
    chosen = [n for n in toposort(roots) if n.kind == "op" and _may_choose(n)]
    if not chosen:
        return True
    rng = np.random.default_rng(67)
    steps = {s.name: _step(s, data[s.name], rng) for s in symbols}
    try:
        here = evaluate(chosen, data, sizes)
        for sign in (1.0, -1.0):
            there = evaluate(chosen, {name: a + sign * steps[name] for name, a in data.items()}, sizes)
            if not all(_is_kept(np.asarray(a), np.asarray(b)) for a, b in zip(here, there, strict=True)):
                return False
    except REFUSED:
        return False
    return True


def _step(node: Node, array: Array, rng: np.random.Generator) -> Array:
    """Return a small step within the linear hull of a symbol; 0 for an index."""
    if is_index(node):
        return np.zeros(array.shape, int)
    largest = float(np.max(np.abs(array), initial=0.0)) or 1.0
    return NEAR * largest * projected(np.asarray(rng.standard_normal(array.shape)), facts_of(node))


def _may_choose(node: Node) -> bool:
    return node.rule.gauge is not None or (node.rule.domain is not None and not list(stated_facts(node.rule.domain)))


def _is_kept(here: Array, there: Array) -> bool:
    off = float(np.max(np.abs(here - there), initial=0.0))
    return off <= CHANGED * float(np.max(np.abs(here), initial=0.0)) or off == 0


__all__ = ["is_above_rounding", "is_no_choice", "roundings"]
