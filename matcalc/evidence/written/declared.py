"""Evaluates the formulas of declared facts as written: samplers, projections, and tests of the data drawn.

A fault of matcalc in these formulas would draw data outside the domain, where nothing would be compared.
"""

from __future__ import annotations

from functools import cache

import numpy as np

from matcalc.errors import InternalError, NoReference
from matcalc.evidence.numeric.samplers import by_node
from matcalc.evidence.numeric.sampling import facts_of
from matcalc.evidence.written.reference import Reference, of_tree
from matcalc.evidence.written.values import Array, largest
from matcalc.formula.elaborate.rule_formula import tree_of
from matcalc.rulebook.load import default_rulebook
from matcalc.tensor.nodes.node import Node

CLOSE = 1e-8
"""The largest violation of a fact by rounding, relative to the largest entry."""


def check_drawn(x: Node, drawn: Array) -> None:
    """Raise InternalError if the data of a symbol with one declared fact do not have it.

    Symbols with several facts are not tested, because their samplers may undo each other.
    """
    declared = facts_of(x)
    if len(declared) != 1 or not drawn.size:
        return
    known: dict[str | None, Array | None] = {None: None}
    for fact in dict.fromkeys([*declared, *sorted(default_rulebook().closure(declared))]):
        if _is_lacking(drawn, fact, known):
            raise InternalError(f"the data failed their check: the data drawn for {x.name} are not {fact}")


def _is_lacking(drawn: Array, name: str, known: dict[str | None, Array | None]) -> bool:
    """Whether data do not have a fact; `known` are the values of tests, which several facts share."""
    fact = default_rulebook().facts[name]
    scale = max(1.0, float(np.max(np.abs(drawn))) ** 2)
    tests = fact.zero, fact.nonnegative, fact.positive
    known.update((text, _tested(text, drawn)) for text in tests if text is not None and text not in known)
    zero, least, positive = map(known.__getitem__, tests)
    return (
        (zero is not None and largest(zero) > CLOSE * scale)
        or (least is not None and float(np.min(least, initial=np.inf)) < -CLOSE * scale)
        or (positive is not None and float(np.min(positive, initial=np.inf)) <= 0)
    )


def _tested(text: str, drawn: Array) -> Array | None:
    """Return the value of a test of a fact at data; None if it has none."""
    try:
        return np.asarray(_value(text, "X", drawn), dtype=float)
    except (NoReference, np.linalg.LinAlgError):
        return None


def as_written(text: str, array: Array) -> Array:
    """Return the value of a sampler or projection of a fact at an array; by its node if it cannot be evaluated."""
    try:
        return _value(text, "M", array)
    except NoReference:
        return by_node(text, array)


def _value(text: str, name: str, array: Array) -> Array:
    sizes = dict(zip(("m", "n") if array.ndim == 2 else ("n",), array.shape, strict=False))
    return _reference(text).value({name: array}, sizes)


@cache
def _reference(text: str) -> Reference:
    return of_tree(tree_of(text))
