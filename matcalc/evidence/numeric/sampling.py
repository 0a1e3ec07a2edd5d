"""Random data with declared facts: the samplers and projections of the rulebook, evaluated by the library."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from matcalc.calculus.evaluate.check_data import applied
from matcalc.rulebook.load import default_rulebook
from matcalc.rulebook.rule import Fact
from matcalc.tensor.size import Size

ROUNDING = 1e-12
"""What counts as 0, relative to the largest entry, where a fact asks for more than 0."""

Array = np.ndarray[Any, np.dtype[Any]]


def sample(rng: np.random.Generator, shape: Sequence[int], facts: Sequence[str] = ()) -> Array:
    """Return normal draws made to have the facts: by the sampler of each, the most particular last."""
    return _made(np.asarray(rng.standard_normal(tuple(shape))), facts, lambda fact: fact.sample)


def places(rng: np.random.Generator, shape: Sequence[int], lengths: Sequence[Size], sizes: Mapping[str, int]) -> Array:
    """Return places of axes of these lengths; where one is empty, places that an evaluation refuses."""
    least = min((size.evaluate(sizes) for size in lengths), default=1)
    return np.asarray(rng.integers(0, max(least, 1), tuple(shape)))


def whole(drawn: Array, facts: Sequence[str]) -> Array:
    """Return integers made to have the facts, by what each says of integers, the most particular last."""
    return _made(drawn, facts, lambda fact: fact.whole)


def _made(drawn: Array, facts: Sequence[str], by: Callable[[Fact], str | None]) -> Array:
    book = default_rulebook()
    for fact in sorted(facts, key=lambda name: (len(book.closure([name])), name)):
        text = by(book.facts[fact])
        if text is not None and drawn.size:
            drawn = applied(book, text, drawn)
    return drawn


def projected(array: Array, facts: Sequence[str]) -> Array:
    """Return a tangent at an array with these facts: projected on their linear hull."""
    book = default_rulebook()
    for fact in book.hull(facts):
        text = book.facts[fact].tangent
        if text is not None and array.size:
            array = applied(book, text, array)
    return array


def defect(array: Array, fact: str) -> float:
    """Return how far a value is from having a fact: 0 where it has it, by the tests of the fact."""
    book = default_rulebook()
    record = book.facts[fact]
    scale = max(1.0, float(np.max(np.abs(array), initial=0.0)))
    found = [defect(array, other) for other in record.implies]
    if array.size:
        if record.zero is not None:
            found.append(float(np.max(np.abs(applied(book, record.zero, array, "X")), initial=0.0)) / scale)
        for text, strict in ((record.nonnegative, False), (record.positive, True)):
            if text is not None:
                least = float(np.min(applied(book, text, array, "X"), initial=np.inf))
                found.append(max(-least / scale, 0.0) if not strict else float(least <= ROUNDING * scale))
    return max(found, default=0.0)
