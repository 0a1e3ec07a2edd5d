"""Evaluates the samplers, projections and tests of the rulebook's facts with NumPy."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any

import numpy as np

from matcalc.calculus.evaluate.check_data import applied
from matcalc.rulebook.load import default_rulebook
from matcalc.rulebook.rule import Fact

CLOSE = 1e-12
"""The rounding error allowed in a fact of data, relative to the largest entry."""

CONES = ("any", "nonzero", "positive")
"""Values of the field `scaled` for facts that positive multiples of an array have too."""

ROUNDING = 1e-12
"""Numbers up to this, relative to the largest entry, count as 0 if a fact requires more than 0."""

Array = np.ndarray[Any, np.dtype[Any]]

FactValue = Callable[[str, Array], Array]
"""Evaluates a formula of a fact at an array `M`."""


def by_node(text: str, array: Array) -> Array:
    """Return the value of a formula of a fact at an array, by its node."""
    return applied(default_rulebook(), text, array)


def made(drawn: Array, facts: Sequence[str], by: Callable[[Fact], str | None], value: FactValue = by_node) -> Array:
    """Return draws mapped to have each fact in turn, the most special last."""
    book = default_rulebook()
    for fact in sorted(facts, key=lambda name: (len(book.closure([name])), name)):
        text = by(book.facts[fact])
        if text is not None and drawn.size:
            drawn = value(text, drawn)
    return drawn


def projected(array: Array, facts: Sequence[str], value: FactValue = by_node) -> Array:
    """Return an array projected on the linear hull of facts, as a tangent."""
    book = default_rulebook()
    for fact in book.hull(facts):
        text = book.facts[fact].tangent
        if text is not None and array.size:
            array = value(text, array)
    return array


def defect(array: Array, fact: str) -> float:
    """Return the distance of a value from a fact, by the tests of the fact; 0 if it has the fact."""
    book = default_rulebook()
    record = book.facts[fact]
    found = [defect(array, other) for other in record.implies]
    return max([*found, own_defect(array, fact)])


def own_defect(array: Array, fact: str) -> float:
    """Return the distance of a value from a fact's own requirements, without those of implied facts."""
    book = default_rulebook()
    record = book.facts[fact]
    scale = max(1.0, float(np.max(np.abs(array), initial=0.0)))
    found: list[float] = []
    if array.size:
        if record.zero is not None:
            found.append(float(np.max(np.abs(applied(book, record.zero, array, "X")), initial=0.0)) / scale)
        for text, strict in ((record.nonnegative, False), (record.positive, True)):
            if text is not None:
                least = float(np.min(applied(book, text, array, "X"), initial=np.inf))
                found.append(max(-least / scale, 0.0) if not strict else float(least <= ROUNDING * scale))
    return max(found, default=0.0)


def has_facts(array: Array, facts: Collection[str]) -> bool:
    """Whether a nonempty array has facts up to rounding; facts of a cone are tested at unit scale."""
    book = default_rulebook()
    largest = float(np.max(np.abs(array)))
    for fact in sorted(book.closure(facts), key=lambda f: (book.facts[f].zero is None, f)):
        is_cone = book.facts[fact].scaled in CONES
        if not is_cone and book.facts[fact].thin and 0 < largest < CLOSE:
            return False
        if is_cone and own_defect(array / (largest or 1.0), fact) > CLOSE:
            return False
        if not is_cone and own_defect(array, fact) * max(largest, 1.0) > CLOSE:
            return False
    return True
